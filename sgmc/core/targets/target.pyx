"""Base classes of what is sampled: defaults for every leaf, refusals for what it must write."""
import numpy as np

from libc.string cimport memcpy

from sgmc.core.numerics cimport simd
from sgmc.core.targets.ridges import Ridges
from sgmc.errors import NotSupported


cdef bint next_tile(const Batch *b, Py_ssize_t size, Py_ssize_t *at, Batch *tile) noexcept nogil:
    """Cut the next piece of at most `size` rows from `b`; False when none is left."""
    if at[0] >= b.m:
        return False
    tile[0] = b[0]
    tile.m = min(size, b.m - at[0])
    if b.rows == NULL:
        tile.start += at[0]
    else:
        tile.rows += at[0]
    if b.weight != NULL:
        tile.weight += at[0]
    at[0] += tile.m
    return True


cdef void apply_weights(const Batch *tile, Py_ssize_t width, double *r) noexcept nogil:
    """r_i *= scale * weight_i"""
    cdef Py_ssize_t i, k
    cdef double c
    if tile.weight == NULL:
        simd.scale(tile.m * width, tile.scale, r)
        return
    for i in range(tile.m):
        c = tile.scale * tile.weight[i]
        for k in range(width):
            r[i * width + k] *= c


cdef void subtract(const Batch *tile, Py_ssize_t width, const double *table,
                   double *r) noexcept nogil:
    """r_i -= table_i, the table holding all rows"""
    cdef Py_ssize_t i, k
    cdef const double *stored
    if tile.rows == NULL:
        simd.subtract(tile.m * width, table + tile.start * width, r)
        return
    for i in range(tile.m):
        stored = table + tile.rows[i] * width
        for k in range(width):
            r[i * width + k] -= stored[k]


cdef Batch all_rows(Py_ssize_t n) noexcept nogil:
    """The batch of all data."""
    cdef Batch b
    b.m = n
    b.start = b.stratum = 0
    b.rows, b.weight, b.scale, b.fpc = NULL, NULL, 1, 0
    return b


cdef void fetch_rows(const Batch *b, const void *table, Py_ssize_t bytes) noexcept nogil:
    """Start to load the first rows of a batch from a table in memory with so many bytes a row."""
    simd.fetch(table, bytes, b.start, b.m, b.rows)


cdef const double *last_predictors(Model model, const double *theta, const Batch *tile,
                        Scratch *s) except NULL nogil:
    """Scratch.eta after `scores` of a tile; where a model sets none, computed behind the scores."""
    cdef Scratch inner = s[0]
    if s.eta != NULL:
        return s.eta
    inner.work += model.tile * model.width
    model.predictors(theta, tile, &inner, s.work)
    return s.work


cdef Py_ssize_t row_of(const Batch *b, Py_ssize_t i) noexcept nogil:
    """Number in the table of the i-th row of a batch."""
    return b.start + i if b.rows == NULL else b.rows[i]


cdef Py_ssize_t scratch_size(Model model) noexcept nogil:
    """Doubles that serve any call on a model: its work, and a tile's scores and curvatures."""
    return model.work_size() + model.tile * (model.width + model.width * model.width) + 1


cdef class Design:
    """Storage of a table; see target.pxd."""

    gram_rows = 0  # that one call of `gram` takes at best, where these may be more than a tile

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return 0

    cdef void fetch(self, const Batch *b) noexcept nogil:
        pass

    cdef int dot(self, const Batch *b, const double *theta, double *eta,
                 double *work) except -1 nogil:
        raise NotImplementedError("dot")

    cdef int tdot(self, const Batch *b, const double *r, double *out, double *work) except -1 nogil:
        raise NotImplementedError("tdot")

    cdef int tdot_sq(self, const Batch *b, const double *r, double *out) except -1 nogil:
        raise NotImplementedError("tdot_sq")

    cdef Py_ssize_t work_many(self, Py_ssize_t m, Py_ssize_t points) noexcept nogil:
        return self.work_size()

    cdef int dot_many(self, const Batch *b, Py_ssize_t points, const double *theta,
                      Py_ssize_t stride, double *eta, double *work) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(points):
            self.dot(b, theta + k * stride, eta + k * b.m, work)
        return OK

    cdef int tdot_many(self, const Batch *b, Py_ssize_t points, const double *r, double *out,
                       Py_ssize_t stride, double *work) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(points):
            self.tdot(b, r + k * b.m, out + k * stride, work)
        return OK

    cdef int gram(self, const Batch *b, const double *w, double *out,
                  Py_ssize_t stride) except -1 nogil:
        raise NotImplementedError("gram")


cdef class Model:
    """Log-likelihood of exchangeable rows; see target.pxd.

    Attributes
    ----------
    score_bound, curvature_bound, third_bound : float
        Largest |d log p / d eta|, |d^2 log p / d eta^2| and |d^3 log p / d eta^3| of a row of
        weight one, infinite where there is no such number.
    unbounded : str
        Why `curvature_bound` is infinite.
    growth : float
        kappa of `remainder_bounds`.
    """

    score_bound = curvature_bound = third_bound = float("inf")
    growth = 0.0
    unbounded = "it declares no bound of its curvature"

    def units(self, theta):
        """Distances in predictors over which curvatures change by a factor of up to e, (width,), or
        those of each row (n, width).
        """
        return np.ones(self.width)

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return 1

    cdef void fetch(self, const Batch *b) noexcept nogil:
        pass

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        """From the score path: scores of the tile, weighed and summed."""
        cdef Scratch inner = s[0]
        cdef double density = 0
        if self.width == 0:
            raise NotImplementedError("a model needs `add`, or a score path")
        if value != NULL and b.weight != NULL:
            raise NotImplementedError("the value of a weighted batch")
        inner.work += self.tile * self.width
        self.scores(theta, b, &inner, s.work, &density if value != NULL else NULL)
        if value != NULL:
            value[0] += b.scale * density
        if grad != NULL:
            apply_weights(b, self.width, s.work)
            self.add_scores(b, &inner, s.work, grad)
        return OK

    cdef int add_apart(self, const double *theta, const double *centre, const Batch *b, Scratch *s,
                       double *grad) except -1 nogil:
        cdef Batch minus = b[0]
        minus.scale = -b.scale
        self.add(theta, b, s, NULL, grad)
        return self.add(centre, &minus, s, NULL, grad)

    cdef Py_ssize_t size_many(self, Py_ssize_t points) noexcept nogil:
        return 0

    cdef int add_many(self, const double *theta, Py_ssize_t points, Scratch *s, double *work,
                      double *value, double *grad) except -1 nogil:
        """One point after the other on each tile."""
        cdef Batch everything = all_rows(self.n), tile
        cdef Py_ssize_t at = 0, k
        while next_tile(&everything, self.tile, &at, &tile):
            for k in range(points):
                self.add(theta + k * self.dim, &tile, s, value + k,
                         grad + k * self.dim if grad != NULL else NULL)
        return OK

    cdef int add_with_squares(self, const double *theta, const Batch *b, Scratch *s, double *grad,
                              double *square) except -1 nogil:
        raise NotImplementedError("add_with_squares")

    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil:
        raise NotImplementedError("scores")

    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil:
        raise NotImplementedError("add_scores")

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        raise NotImplementedError("add_squares")

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        raise NotImplementedError("predictors")

    cdef int curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                        double *w) except -1 nogil:
        raise NotImplementedError("curvatures")

    cdef int expected_curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                                 double *w) except -1 nogil:
        return self.curvatures(theta, tile, s, w)

    # of a row's terms at one point, products aside, on a core of about 3 GHz: for counting work
    nanoseconds = 15.0
    reads = 0  # numbers of theta that a row's terms are made of; 0: all of them
    # rows that `add_curvatures` takes at best, where these may be more than a tile; else 0
    gram_rows = 0

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        raise NotImplementedError("add_curvatures")

    cdef int refresh(self, double *theta, Scratch *s) except -1 nogil:
        return OK

    def metric(self, gradient, start, rows=None):
        """The model's own `Metric`, for a Gradient's chain that begins at `start`.

        It may use `rows` rows at each place (0: as many as suit it), or all of them (None).
        """
        raise NotSupported(f"{type(self).__name__} has no position-dependent metric; use another "
                           "sampler, such as 'mala'", because="limit")

    def row_bounds(self):
        """Largest |score| and |curvature| of each row, (n,) each, for models with one score a row:
        `score_bound` and `curvature_bound` times the rows' weights."""
        raise NotSupported(f"{type(self).__name__} has no bounds for the rates of events: "
                           f"{self.unbounded}", because="mathematics")

    def remainder_bounds(self, order, eta):
        """B_i, (n,), for models with one score a row: the derivative of order `order` + 1 of the
        i-th log density (weights included) at a predictor eta_i + u is at most B_i exp(kappa |u|)
        in size, kappa being `growth`.
        """
        raise NotSupported(f"{type(self).__name__} has no bounds of its remainders",
                           because="mathematics")


cdef class Prior:
    """Log prior density on natural coordinates.  This base is flat."""

    def __init__(self, Py_ssize_t dim):
        self.dim = dim

    def ridges(self):
        """The prior as a sum of -log densities f_k(r_k . theta), as `Ridges`."""
        return Ridges(np.zeros((0, self.dim)), np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0))

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        return OK


cdef class Map:
    """From sampler coordinates to natural parameters; see target.pxd.

    Attributes
    ----------
    affine : bool
        Whether it takes straight lines to straight lines.
    """

    affine = False

    def __call__(self, x):
        """theta of points x (..., dim)."""
        points = np.ascontiguousarray(np.reshape(x, (-1, self.dim)), dtype=float)
        out = np.empty((len(points), self.size))
        cdef const double[:, ::1] given = points
        cdef double[:, ::1] made = out
        cdef Py_ssize_t i
        for i in range(made.shape[0]):
            self.forward(&given[i, 0], &made[i, 0], NULL)
        return out.reshape(*np.shape(x)[:-1], self.size)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        raise NotImplementedError("forward")

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        raise NotImplementedError("push")

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        raise NotImplementedError("pull")

    cdef int forward_many(self, const double *x, Py_ssize_t points, double *theta,
                          double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(points):
            self.forward(x + k * self.dim, theta + k * self.size,
                         log_jacobian + k if log_jacobian != NULL else NULL)
        return OK

    cdef int pull_many(self, const double *x, Py_ssize_t points, const double *grad_theta,
                       double *grad_x) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(points):
            self.vjp(x + k * self.dim, grad_theta + k * self.size, grad_x + k * self.dim)
        return OK

    def pulled(self, x, grad_theta):
        """J' grad_theta + d log|J| at a point x, as an array (dim,)."""
        cdef double[::1] point = np.array(x, dtype=float)
        cdef double[::1] grad = np.array(grad_theta, dtype=float), out = np.zeros(self.dim)
        self.vjp(&point[0], &grad[0], &out[0])
        return np.asarray(out)

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        alone = self.pulled(x, np.zeros(self.size))  # d log|J|
        return np.array([self.pulled(x, one) for one in np.eye(self.size)]) - alone

    cdef int pull_sd(self, const double *x, const double *sd_theta, double *sd_x) except -1 nogil:
        raise NotImplementedError("the noise of single coordinates under a map that mixes them")


cdef class Metric:
    """Position-dependent preconditioning; see target.pxd."""

    cdef int move(self, const double *x) except -1 nogil:
        raise NotImplementedError("move")

    cdef int apply(self, const double *g, double *out) except -1 nogil:
        raise NotImplementedError("apply")

    cdef int root(self, const double *z, double *out) except -1 nogil:
        raise NotImplementedError("root")

    cdef int root_transposed(self, const double *g, double *out) except -1 nogil:
        raise NotImplementedError("root_transposed")

    cdef int divergence(self, double *out) except -1 nogil:
        raise NotImplementedError("divergence")

    cdef int root_divergence(self, double *out) except -1 nogil:
        with gil:
            raise NotSupported(f"{type(self).__name__} has no derivative of its root, which "
                               "momenta need; use sampler='sgrld'", because="limit")

    cdef int fold(self, double *x) except -1 nogil:
        return OK

    cdef int log_density(self, const double *v, double h, double *value) except -1 nogil:
        raise NotImplementedError("log_density")

    def state(self):
        """What was fixed where the chain began: nothing, where only the place matters."""
        return {}

    def set_state(self, state):
        """Continue from a `state()`; `move` comes next."""


cdef class Subsampler:
    """Which rows enter an estimate; see target.pxd.  Made by (n, m), with needs (n, m, shared).

    Attributes
    ----------
    needs : tuple of str
        What it must know of the rows: "sizes" (root mean square size of each row's term), "strata"
        (a label a row), "spread" (sd of the row terms in each stratum).
    share : callable or None
        Makes of these, as keyword arguments, what the chains share: an immutable object with
        `weight` (1/(N p_i), or None), `groups` (rows of each stratum, or None), `fewest` (rows of a
        batch) and `factors(m)` (noise of m rows over that of one, for each stratum).
    replaces : bool
        Whether rows may come twice, so that the noise has no finite-population factor.
    sweeps : bool
        Whether the errors of successive batches cancel; those of other schemes are independent.
    """

    room = "subsampling"
    needs = ()
    share = None
    replaces = False
    sweeps = False

    def __cinit__(self):
        self.design_effect = None

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        raise NotImplementedError("draw")

    def set_design_effect(self, effect):
        """Multiply variances by `effect`, a number per coordinate: the scheme's design effect."""
        self.design_effect = None if effect is None else np.array(effect, dtype=float)

    def state(self):
        """What a later draw depends on besides the random stream: for many schemes nothing."""
        return {}

    def set_state(self, state):
        """Continue from a `state()`."""
