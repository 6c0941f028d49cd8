"""What slopes and curvatures of a posterior exceed nowhere, computed once: rates of events are
simulated by thinning below them.

In sampler coordinates -log posterior is U(x) = sum_j phi_j(z_j . x) + P(x) with |phi_j'| <= S_j
and |phi_j''| <= K_j (`Model.row_bounds`, row weights included), z_j the j-th row seen through the
map and P made of ridges (`Prior.ridges`).
"""
import numpy as np

from libc.math cimport fabs, fmax, sqrt
from libc.string cimport memset

from sgmc.core.targets.target cimport (
    Batch, Map, Model, Prior, Scratch, all_rows, next_tile, scratch_size,
)
from sgmc.errors import NotSupported

MAX_BOUNDED_DIM = 2048            # coordinates: there are tables of their squares


cdef double inner(Py_ssize_t dim, const double *z) noexcept nogil:
    """|z|^2"""
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(dim):
        total += z[j] * z[j]
    return total


cdef struct Columns:              # a number a row: 1 / (N p_j), S_j, K_j; arrays of the caller
    const double *weight
    const double *steep
    const double *curvature


cdef class Bounds:
    """Constants of each coordinate i, and of the posterior, from one pass over the rows.

    With s_j* the score of row j at the centre x*, for a minibatch estimate of dU/dx_i at x,
    unscaled rows times N:

    - any row by itself: N |z_ji| S_j at most; for scores without bound N |z_ji| (|s_j*| +
      K_j |z_j| |x - x*|);
    - with control values at x*: it differs from dU/dx_i at x* by N K_j |z_ji| |z_j| |x - x*| at
      most (Bierkens, Fearnhead & Roberts 2019, section 4.2, with the bound of their logistic
      example, max_j |z_ji| |z_j| / 4, times N).

    With all rows |v' U'' w| <= sqrt(v' H v) sqrt(w' H w), H = sum_j K_j z_j z_j' + the prior's part
    (Cauchy-Schwarz).

    Parameters
    ----------
    model : Model
    prior : Prior
    map : Map or None
        Affine.
    centre : array (dim,)
        x*, in sampler coordinates.
    hessian : bool
        Whether H is wanted.
    weight : array (n,), optional
        1 / (N p_j) for rows that are drawn with probabilities p_j, by which an estimate
        multiplies them: S_j, s_j* and K_j are to be read so.  p_j proportional to the size of a
        row's term makes of N times a maximum about a sum.

    Raises
    ------
    NotSupported
        Where model, prior or map have no such constants.
    """

    def __init__(self, Model model, Prior prior, Map map, centre, bint hessian=False, weight=None):
        if map is not None and not map.affine:
            raise NotSupported("bounds for rates along straight lines behind a map that bends them",
                               because="mathematics")
        self.centre = np.array(centre, dtype=float)
        self.dim = self.centre.shape[0]
        if self.dim > MAX_BOUNDED_DIM:
            raise NotSupported(f"bounds for rates of events in {self.dim} coordinates: at most "
                               f"{MAX_BOUNDED_DIM}", because="limit")
        jacobian = np.eye(self.dim) if map is None else np.asarray(map.jacobian(None))
        self.add_prior(prior, map, jacobian, hessian)
        self.add_rows(model, map, jacobian,
                      np.ones(model.n) if weight is None else np.array(weight, dtype=float))

    def add_prior(self, Prior prior, Map map, jacobian, hessian):
        """What the prior says, its kinks apart."""
        directions, curvature, constant, jump = prior.ridges()
        directions = directions @ jacobian
        fixed, free = ((directions.T * np.where(some, curvature, 0.0)) @ directions
                       for some in (constant, ~constant))
        largest = float(np.linalg.eigvalsh(free).max()) if free.any() else 0.0
        reached = np.sqrt(np.maximum(np.diag(free), 0.0) * max(largest, 0.0))
        self.prior_curvature = np.sqrt((fixed ** 2).sum(axis=1)) + reached
        self.prior_norm = float(np.linalg.eigvalsh(fixed).max()) + largest if self.dim else 0.0
        self.jump = 2 * jump @ np.abs(directions)
        self.hessian = np.ascontiguousarray(fixed + free) if hessian else np.zeros((0, 0))
        cdef double[::1] theta = (np.asarray(self.centre) if map is None
                                  else map(np.asarray(self.centre)))
        cdef double[::1] grad = np.zeros(theta.shape[0])
        prior.add(&theta[0], NULL, &grad[0])
        self.slope = np.asarray(grad) @ jacobian
        self.prior_slope = np.abs(np.asarray(self.slope))

    def add_rows(self, Model model, Map map, jacobian, weight):
        """What the rows say."""
        steep, curvature = model.row_bounds()
        natural = np.zeros((model.dim, model.dim))
        score, tilt = np.zeros(self.dim), np.zeros(self.dim)
        sharp, whole = np.zeros(self.dim), np.zeros(3)
        self.score, self.tilt, self.curvature = score, tilt, sharp
        self.whole, self.noise = whole, np.zeros(self.dim)
        sweep(self, model, map, (weight, steep, curvature),
              natural if self.hessian.shape[0] else None)
        for one in (score, tilt, sharp, whole):
            one *= model.n
        if not np.isfinite(steep).all():
            score[:] = whole[0] = np.inf
        np.abs(self.slope, out=np.asarray(self.slope))
        if self.hessian.shape[0]:
            full = natural + np.triu(natural, 1).T
            np.asarray(self.hessian)[:] += jacobian.T @ full @ jacobian

    def by_coordinate(self, bint control):
        """(a, b), arrays (dim,): an estimate of |dU/dx_i| is at most a_i + b_i |x - x*|, with or
        without control values at x*.

        The prior enters exactly in an estimate, and here by its slope at x* and its Lipschitz
        constant.
        """
        own = np.asarray(self.prior_slope)
        jump, curvature = np.asarray(self.jump), np.asarray(self.prior_curvature)
        if control:
            return np.asarray(self.slope) + jump, curvature + np.asarray(self.curvature)
        if np.isfinite(self.whole[0]):
            return own + jump + np.asarray(self.score), curvature.copy()
        return own + jump + np.asarray(self.tilt), curvature + np.asarray(self.curvature)

    def of_slope(self):
        """(a, b): |v . estimate of U'| is at most |v| (a + b |x - x*|), without control values."""
        a = np.linalg.norm(self.prior_slope) + np.linalg.norm(self.jump)
        if np.isfinite(self.whole[0]):
            return a + self.whole[0], self.prior_norm
        return a + self.whole[1], self.prior_norm + self.whole[2]


def reach(Model model, Map map, dim, bint control):
    """What a row's estimate is bounded by, up to what all have in common: K_j |z_j|^2 with control
    values, else S_j |z_j|, (n,).

    Scores without bound are read with that of their curvature.  Drawn with probabilities
    proportional to it, rows have the least bounds.
    """
    steep, curvature = model.row_bounds()
    cdef double[::1] size = np.zeros(model.n), work = np.empty(scratch_size(model))
    cdef double[::1] row = np.zeros(model.dim), z = np.zeros(dim)
    cdef double[::1] zero = np.zeros(dim)
    cdef double unit = 1
    cdef Batch one = all_rows(model.n)
    cdef Scratch s
    cdef Py_ssize_t i
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    one.m = 1
    with nogil:
        for i in range(model.n):
            one.start = i
            row[:] = 0
            z[:] = 0
            model.add_scores(&one, &s, &unit, &row[0])
            if map is None:
                size[i] = sqrt(inner(model.dim, &row[0]))
            else:
                map.vjp(&zero[0], &row[0], &z[0])
                size[i] = sqrt(inner(z.shape[0], &z[0]))
    norm = np.asarray(size)
    return curvature * norm ** 2 if control or not np.isfinite(steep).all() else steep * norm


cdef int sweep(Bounds self, Model model, Map map, columns, natural) except -1:
    """Maxima over the rows, the gradient at the centre,
    and the upper triangle of sum_j K_j x_j x_j' (or None).

    `columns` are the rows' weights, S_j and K_j.
    """
    cdef const double[::1] weight = columns[0], steep = columns[1], curvature = columns[2]
    cdef Batch everything = all_rows(model.n), tile
    cdef Scratch s
    cdef Py_ssize_t at = 0
    cdef double[::1] work = np.empty(scratch_size(model)), r = np.empty(model.tile)
    cdef double[::1] theta = (np.asarray(self.centre) if map is None
                              else map(np.asarray(self.centre)))
    cdef double[::1] row = np.zeros(model.dim), z = np.zeros(self.dim)
    cdef double[:, ::1] gram
    cdef double *H = NULL
    cdef Columns of
    of.weight, of.steep, of.curvature = &weight[0], &steep[0], &curvature[0]
    if natural is not None:
        gram = natural
        H = &gram[0, 0]
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with nogil:
        while next_tile(&everything, model.tile, &at, &tile):
            model.scores(&theta[0], &tile, &s, &r[0], NULL)
            one_by_one(self, model, map, &tile, &s, &r[0], of, &row[0], &z[0])
            if H != NULL:
                model.add_curvatures(&tile, &s, &curvature[tile.start], H)
    return 0


cdef int one_by_one(Bounds self, Model model, Map map, const Batch *tile, Scratch *s,
                    const double *r, Columns of, double *row, double *z) except -1 nogil:
    """The rows of a tile, each as the gradient of its predictor in sampler coordinates."""
    cdef Batch one = tile[0]
    cdef Py_ssize_t i, j, k
    cdef double norm, size, unit = 1
    cdef double *place = row if map is not None else z
    one.m = 1
    for i in range(tile.m):
        one.start = tile.start + i
        k = one.start
        memset(place, 0, model.dim * sizeof(double))
        model.add_scores(&one, s, &unit, place)
        if map is not None:
            memset(z, 0, self.dim * sizeof(double))
            map.vjp(&self.centre[0], row, z)
        norm = sqrt(inner(self.dim, z))
        for j in range(self.dim):
            size = fabs(z[j])
            self.slope[j] += r[i] * z[j]
            self.noise[j] += size * fabs(r[i])
            self.score[j] = fmax(self.score[j], size * of.weight[k] * of.steep[k])
            self.tilt[j] = fmax(self.tilt[j], size * of.weight[k] * fabs(r[i]))
            self.curvature[j] = fmax(self.curvature[j],
                                     size * of.weight[k] * norm * of.curvature[k])
        self.whole[0] = fmax(self.whole[0], norm * of.weight[k] * of.steep[k])
        self.whole[1] = fmax(self.whole[1], norm * of.weight[k] * fabs(r[i]))
        self.whole[2] = fmax(self.whole[2], norm * norm * of.weight[k] * of.curvature[k])
    return 0
