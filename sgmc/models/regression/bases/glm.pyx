"""The shared base of regressions with one linear predictor: gather, family, scatter.

A family leaf defines `family` (scores and densities from linear predictors) and
`observed_information` (their curvature).
"""
import numpy as np

from sgmc.core.contract cimport (
    OK, Batch, Design, Model, Scratch, all_rows, fetch_next, fetch_rows, next_tile,
)
from sgmc.coordinates.fisher import Fisher

cdef enum:
    MANY_ROWS = 256  # of a tile where many points are computed at once: these stay in the cache


cdef const double *picked(const double *column, const Batch *tile, double *into) noexcept nogil:
    """The numbers of a tile in a column of all rows: where they are, or gathered if listed."""
    cdef Py_ssize_t i
    fetch_next(tile, column, sizeof(double))
    if tile.rows == NULL:
        return column + tile.start
    for i in range(tile.m):
        into[i] = column[tile.rows[i]]
    return into


cdef bint are_opposite(const double *theta, Py_ssize_t points, Py_ssize_t dim) noexcept nogil:
    """Whether the second half of some points are the first with other signs, as are then products
    with them.
    """
    cdef Py_ssize_t i, half = points // 2 * dim
    if points % 2:
        return False
    for i in range(half):
        if theta[half + i] != -theta[i]:
            return False
    return True


cdef class Glm(Model):
    """y_i ~ family(eta_i), eta_i = x_i . theta + offset_i, the i-th log density times weight_i.

    Parameters
    ----------
    X : Design
    y : array (n,)
    offset, weight : array (n,), optional
    """

    def __init__(self, Design X, y, offset=None, weight=None):
        self.X, self.n, self.dim, self.width, self.tile = X, X.n, X.d, 1, X.tile
        self.y = np.ascontiguousarray(y, dtype=float)
        self.offset = np.ascontiguousarray(() if offset is None else offset, dtype=float)
        self.weight = np.ascontiguousarray(() if weight is None else weight, dtype=float)

    products = True  # many points at once are products of matrices

    @property
    def gram_rows(self):
        """See `Model`: those of the table; a tile where scratch holds numbers of several scores."""
        return self.X.gram_rows if self.width == 1 else 0

    def metric(self, gradient, start, rows=None):
        """The information of the rows and the prior, inverted."""
        return Fisher(gradient, start, rows)

    def row_bounds(self):
        """See `Model.row_bounds`."""
        return self.weighed((self.score_bound, self.curvature_bound))

    def weighed(self, bounds):
        """Bounds of rows of weight one, numbers or arrays, times the rows' weights,
        as arrays (n,).
        """
        weight = np.asarray(self.weight) if self.weight.shape[0] else np.ones(self.n)
        return tuple(np.multiply(bound, weight, where=weight > 0, out=np.zeros(self.n))
                     for bound in bounds)

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return 3 * self.tile + self.X.work_size()

    cdef void fetch(self, const Batch *b) noexcept nogil:
        self.X.fetch(b)
        fetch_rows(b, &self.y[0], sizeof(double))
        if self.offset.shape[0]:
            fetch_rows(b, &self.offset[0], sizeof(double))
        if self.weight.shape[0]:
            fetch_rows(b, &self.weight[0], sizeof(double))

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        raise NotImplementedError("family")

    cdef int family_sums(self, const double *theta, Py_ssize_t nodes, Py_ssize_t m, double *eta,
                         const double *y, const double *weight, double *r, double *density,
                         double *total) except -1 nogil:
        cdef Py_ssize_t k, i, c, width = self.width
        cdef double one
        self.family(theta, nodes * m, eta, y, r, density)
        for k in range(nodes):
            one = 0
            for i in range(m):
                if weight != NULL:
                    density[k * m + i] *= weight[i]
                    for c in range(width):
                        r[(k * m + i) * width + c] *= weight[i]
                one += density[k * m + i]
            total[k] += one
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        raise NotImplementedError("observed_information")

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        return self.observed_information(theta, m, eta, y, w)

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        return self.X.dot(tile, delta, eta, s.work)

    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil:
        cdef Py_ssize_t i
        cdef double *eta = s.work
        cdef double *density = eta + 2 * self.tile
        cdef const double *y = self.gather(theta, tile, s)
        s.eta = eta
        self.family(theta, tile.m, eta, y, r, density if value != NULL else NULL)
        self.weigh_rows(tile, s, self.width, r)
        if value == NULL:
            return OK
        self.weigh_rows(tile, s, 1, density)
        for i in range(tile.m):
            value[0] += density[i]
        return OK

    cdef Py_ssize_t size_many(self, Py_ssize_t points) noexcept nogil:
        return (2 * points + 1 + self.width) * MANY_ROWS + self.X.work_many(MANY_ROWS, points)

    cdef int add_many(self, const double *theta, Py_ssize_t points, Scratch *s, double *work,
                      double *value, double *grad) except -1 nogil:
        """One product of the tile with all points, the family's terms, one product back."""
        cdef Batch everything = all_rows(self.n), tile
        cdef Py_ssize_t at = 0, k
        cdef double *eta = work
        cdef double *r = eta + points * MANY_ROWS
        cdef double *own = r + points * MANY_ROWS
        cdef double *inner = own + (1 + self.width) * MANY_ROWS
        cdef Py_ssize_t half = points // 2 if are_opposite(theta, points, self.dim) else 0, i
        while next_tile(&everything, MANY_ROWS, &at, &tile):
            self.X.dot_many(&tile, points - half, theta, self.dim, eta, inner)
            for i in range(half * tile.m):
                eta[half * tile.m + i] = -eta[i]
            for k in range(points):
                self.row_terms(theta + k * self.dim, &tile, eta + k * tile.m, own, value + k,
                               r + k * tile.m,
                               grad + k * self.dim + self.X.d if grad != NULL else NULL)
            if grad != NULL:
                self.X.tdot_many(&tile, points, r, grad, self.dim, inner)
        return OK

    cdef int row_terms(self, const double *theta, const Batch *tile, double *eta, double *own,
                       double *value, double *r, double *beyond) except -1 nogil:
        """value += log densities of a tile's rows with products eta; the predictors' scores into r,
        sums of the auxiliary parameters' added to `beyond` (NULL: no gradient is wanted).
        """
        cdef Py_ssize_t i, j, m = tile.m, width = self.width
        cdef double *scores = own + MANY_ROWS
        cdef const double *weight = &self.weight[tile.start] if self.weight.shape[0] else NULL
        for i in range(m if self.offset.shape[0] else 0):
            eta[i] += self.offset[tile.start + i]
        self.family_sums(theta, 1, m, eta, &self.y[tile.start], weight,
                         r if width == 1 else scores, own, value)
        for i in range(m if width > 1 else 0):
            r[i] = scores[i * width]
            for j in range(1, width if beyond != NULL else 1):
                beyond[j - 1] += scores[i * width + j]
        return OK

    cdef int curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                        double *w) except -1 nogil:
        cdef const double *y = self.gather(theta, tile, s)
        self.observed_information(theta, tile.m, s.work, y, w)
        return self.weigh_rows(tile, s, self.width * self.width, w)

    cdef int expected_curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                                 double *w) except -1 nogil:
        cdef const double *y = self.gather(theta, tile, s)
        self.expected_information(theta, tile.m, s.work, y, w)
        return self.weigh_rows(tile, s, self.width * self.width, w)

    cdef int weigh_rows(self, const Batch *tile, Scratch *s, Py_ssize_t size,
                        double *r) except -1 nogil:
        """The i-th `size` numbers of r times weight_i; the second tile of work is written over."""
        cdef Py_ssize_t i, k
        cdef const double *weight
        if self.weight.shape[0] == 0:
            return OK
        weight = picked(&self.weight[0], tile, s.work + self.tile)
        for i in range(tile.m):
            for k in range(size):
                r[i * size + k] *= weight[i]
        return OK

    cdef const double *gather(self, const double *theta, const Batch *tile,
                              Scratch *s) except NULL nogil:
        """Linear predictors into the first tile of work;
        outcomes of the tile, gathered into the second if listed.
        """
        cdef Py_ssize_t i
        cdef double *eta = s.work
        cdef const double *offset
        self.X.dot(tile, theta, eta, eta + 3 * self.tile)
        if self.offset.shape[0]:
            offset = picked(&self.offset[0], tile, eta + self.tile)
            for i in range(tile.m):
                eta[i] += offset[i]
        return picked(&self.y[0], tile, eta + self.tile)

    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil:
        # the predictors, told of in Scratch.eta, stay
        return self.X.tdot(tile, r, grad, s.work + 3 * self.tile)

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        return self.X.tdot_sq(tile, r, square)

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        return self.X.gram(tile, w, H, self.dim)
