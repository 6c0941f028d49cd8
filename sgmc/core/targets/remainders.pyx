"""What remainders of the rows' Taylor polynomials exceed nowhere, computed once: factors of a
Metropolis-Hastings ratio are thinned by them.
"""
import numpy as np

from libc.math cimport exp, fmax, fmin, sqrt
from libc.string cimport memset

from sgmc.core.targets.bounds import MAX_BOUNDED_DIM
from sgmc.core.targets.target cimport (
    Batch, Map, Model, Scratch, all_rows, last_predictors, next_tile, scratch_size,
)
from sgmc.errors import NotSupported


cdef class Remainders(Bounds):
    """Bounds c_i m(x, y) of |r_i(x, y)|, r_i being what the Taylor polynomial at the centre x*
    leaves of l_i(y) - l_i(x), the difference of a row's log-likelihoods at two places.

    With z_i the gradient of the i-th predictor in sampler coordinates, a = x - x*, b = y - x*,
    and B_i exp(kappa |eta - eta_i*|) a bound of the row's derivative of order k + 1 in its
    predictor (`Model.remainder_bounds`, weights included), on the line from x to y

        |d/dt r_i| <= |z_i . (y - x)| B_i exp(kappa |z_i| R) |z_i . (x_t - x*)|^k / k!,

    R = max(|a|, |b|).  Integrated, with |z_i . v| <= |z_i| |v|: c_i = B_i |z_i|^(k + 1) / k!, and
    m = exp(kappa max_j |z_j| R) times

    - order 1: |b - a| (|a| + |b|) / 2, the norm being convex, and (|a|^2 + |b|^2) / 2, Lagrange's
      bound of both remainders;
    - order 2: |b - a| (|a|^2 + a . b + |b|^2) / 3, and (|a|^3 + |b|^3) / 3,

    whichever of the two is less.  m(x, y) = m(y, x).

    Parameters
    ----------
    model : Model
        With one score a row.
    map : Map or None
        Affine.
    centre : array (dim,)
        x*, in sampler coordinates.
    order : {1, 2}

    Raises
    ------
    NotSupported
        Where the model or the map have no such constants.
    """

    def __init__(self, Model model, Map map, centre, int order):
        if map is not None and not map.affine:
            raise NotSupported("bounds of remainders behind a map that bends lines",
                               because="mathematics")
        if model.width != 1:
            raise NotSupported("they are known for rows with one linear predictor each, and not "
                               f"for those of {type(model).__name__}", because="limit")
        self.centre = np.array(centre, dtype=float)
        self.dim, self.order = self.centre.shape[0], order
        if self.dim > MAX_BOUNDED_DIM:
            raise NotSupported(f"bounds of remainders in {self.dim} coordinates: at most "
                               f"{MAX_BOUNDED_DIM}", because="limit")
        norm, eta = lengths(model, map, np.asarray(self.centre))
        sizes = model.remainder_bounds(order, eta) * norm ** (order + 1) / order
        if not np.isfinite(sizes).all():
            raise NotSupported("bounds of remainders that overflow: rescale the predictors",
                               because="limit")
        self.sums = np.cumsum(sizes)
        self.total = self.sums[model.n - 1]
        self.reach = model.growth * norm.max()

    cdef double size(self, const double *a, const double *b) noexcept nogil:
        cdef Py_ssize_t j
        cdef double first = 0, second = 0, both = 0, apart = 0, most
        for j in range(self.dim):
            first += a[j] * a[j]
            second += b[j] * b[j]
            both += a[j] * b[j]
            apart += (b[j] - a[j]) * (b[j] - a[j])
        apart, most = sqrt(apart), exp(self.reach * sqrt(fmax(first, second)))
        if self.order == 1:
            return most * fmin(apart * (sqrt(first) + sqrt(second)), first + second) / 2
        return most * fmin(apart * (first + both + second),
                           first * sqrt(first) + second * sqrt(second)) / 3

    cdef Py_ssize_t row(self, double u) noexcept nogil:
        cdef Py_ssize_t low = 0, high = self.sums.shape[0] - 1, middle
        u *= self.total
        while low < high:
            middle = (low + high) // 2
            if self.sums[middle] > u:
                high = middle
            else:
                low = middle + 1
        return low

    cdef double bound(self, Py_ssize_t i) noexcept nogil:
        return self.sums[i] - (self.sums[i - 1] if i else 0)


cdef lengths(Model model, Map map, centre):
    """|z_i| and eta_i*, (n,) each."""
    cdef double[::1] x = centre, theta = centre if map is None else map(centre)
    cdef double[::1] norm = np.zeros(model.n), eta = np.empty(model.n)
    cdef double[::1] work = np.empty(scratch_size(model)), r = np.empty(model.tile)
    cdef double[::1] row = np.zeros(model.dim), z = np.zeros(x.shape[0])
    cdef double *place = &z[0] if map is None else &row[0]
    cdef const double *predictors
    cdef double unit = 1
    cdef Batch everything = all_rows(model.n), tile, one
    cdef Py_ssize_t at = 0, i, j
    cdef Scratch s
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with nogil:
        while next_tile(&everything, model.tile, &at, &tile):
            model.scores(&theta[0], &tile, &s, &r[0], NULL)
            predictors = last_predictors(model, &theta[0], &tile, &s)
            for i in range(tile.m):
                eta[tile.start + i] = predictors[i]
            one = tile
            one.m = 1
            for i in range(tile.m):
                one.start = tile.start + i
                memset(place, 0, model.dim * sizeof(double))
                model.add_scores(&one, &s, &unit, place)
                if map is not None:
                    memset(&z[0], 0, z.shape[0] * sizeof(double))
                    map.vjp(&x[0], &row[0], &z[0])
                for j in range(z.shape[0]):
                    norm[one.start] += z[j] * z[j]
                norm[one.start] = sqrt(norm[one.start])
    return np.asarray(norm), np.asarray(eta)
