"""The shared base of regressions with one linear predictor: gather, family, scatter.

A family leaf defines `family` (scores and densities from linear predictors) and
`observed_information` (their curvature).
"""
import numpy as np

from libc.math cimport fabs
from libc.string cimport memcpy, memset

from sgmc.core.contract cimport (
    OK, Batch, Design, Model, Scratch, all_rows, fetch_rows, next_tile, scratch_size,
)
from sgmc.coordinates.transforms.fisher import Fisher
from sgmc.core.system.blas import one_blas_thread

cdef enum:
    MANY_ROWS = 256  # of a tile where many points are computed at once: these stay in the cache

cdef double REFLECTED = 1e-12  # relative error of coordinates that maps may make


cdef const double *picked(const double *column, const Batch *tile, double *into) noexcept nogil:
    """The numbers of a tile in a column of all rows: where they are, or gathered if listed."""
    cdef Py_ssize_t i
    if tile.rows == NULL:
        return column + tile.start
    for i in range(tile.m):
        into[i] = column[tile.rows[i]]
    return into


cdef bint are_opposite(const double *theta, Py_ssize_t points, Py_ssize_t dim,
                       double *twice) noexcept nogil:
    """Whether the second half of some points are the first reflected in a centre, to rounding;
    twice that centre is written.  Products with the one half are then told by those with the other.
    """
    cdef Py_ssize_t i, j, half = points // 2
    cdef double one, other
    if points % 2:
        return False
    for j in range(dim):
        twice[j] = theta[j] + theta[half * dim + j]
    for i in range(half):
        for j in range(dim):
            one, other = theta[i * dim + j], theta[(half + i) * dim + j]
            if not fabs(one + other - twice[j]) <= REFLECTED * (fabs(one) + fabs(twice[j])):
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
        self.single = getattr(X, "single", False)
        self.y = np.ascontiguousarray(y, dtype=float)
        self.offset = np.ascontiguousarray(() if offset is None else offset, dtype=float)
        self.weight = np.ascontiguousarray(() if weight is None else weight, dtype=float)

    products = True  # many points at once are products of matrices

    @property
    def gram_rows(self):
        # those of the table; a tile where scratch holds numbers of several scores
        return self.X.gram_rows if self.width == 1 else 0

    def metric(self, gradient, start, rows=None):
        """The information of the rows and the prior, inverted."""
        return Fisher(gradient, start, rows)

    def row_bounds(self):
        return self.weighed((self.score_bound, self.curvature_bound))

    def remainder_bounds(self, order, eta):
        return self.weighed(((self.curvature_bound, self.third_bound)[order - 1],))[0]

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

    cdef int family_values(self, const double *theta, Py_ssize_t nodes, Py_ssize_t m, double *eta,
                           const double *y, const double *weight, double *r, double *density,
                           double *total) except -1 nogil:
        """`family_sums`; a family that has densities without scores leaves r as it is."""
        return self.family_sums(theta, nodes, m, eta, y, weight, r, density, total)

    cdef int family_total(self, const double *theta, Py_ssize_t m, double *eta, const double *y,
                          const double *weight, double *r, double *density,
                          double *total) except -1 nogil:
        return self.family_sums(theta, 1, m, eta, y, weight, r, density, total)

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
        return ((2 * points + 2 + self.width) * MANY_ROWS + self.dim
                + self.X.work_many(MANY_ROWS, points))

    cdef int add_many(self, const double *theta, Py_ssize_t points, Scratch *s, double *work,
                      double *value, double *grad) except -1 nogil:
        """One product of the tile with all points, the family's terms, one product back."""
        cdef Batch everything = all_rows(self.n), tile
        cdef Py_ssize_t at = 0, k, i, half
        cdef double *eta = work
        cdef double *r = eta + points * MANY_ROWS
        cdef double *own = r + points * MANY_ROWS
        cdef double *central = own + (1 + self.width) * MANY_ROWS
        cdef double *twice = central + MANY_ROWS
        cdef double *inner = twice + self.dim
        half = points // 2 if are_opposite(theta, points, self.dim, twice) else 0
        while next_tile(&everything, MANY_ROWS, &at, &tile):
            self.X.dot_many(&tile, points - half + (half > 0), theta, self.dim, eta, inner)
            for i in range(tile.m if half else 0):
                central[i] = eta[i] + eta[half * tile.m + i]  # of a point and its reflection
            for k in range(half):
                for i in range(tile.m):
                    eta[(half + k) * tile.m + i] = central[i] - eta[k * tile.m + i]
            for k in range(points):
                self.row_terms(theta + k * self.dim, &tile, eta + k * tile.m, own, value + k,
                               r + k * tile.m,
                               grad + k * self.dim + self.X.d if grad != NULL else NULL)
            if grad != NULL:
                self.X.tdot_many(&tile, points, r, grad, self.dim, inner)
        return OK

    def squared_lengths(self, matrix):
        """|x_i' A|^2 of each row, (n,), for A (d, k)."""
        cdef double[:, ::1] columns = np.ascontiguousarray(np.asarray(matrix).T)
        cdef Py_ssize_t at = 0, i, k, count = columns.shape[0]
        cdef double[::1] square = np.zeros(self.n)
        cdef double[::1] eta = np.empty(count * MANY_ROWS)
        cdef double[::1] work = np.empty(self.X.work_many(MANY_ROWS, count) + 1)
        cdef Batch everything = all_rows(self.n), tile
        with one_blas_thread(), nogil:
            while next_tile(&everything, MANY_ROWS, &at, &tile):
                self.X.dot_many(&tile, count, &columns[0, 0], self.X.d, &eta[0], &work[0])
                for k in range(count):
                    for i in range(tile.m):
                        square[tile.start + i] += eta[k * tile.m + i] * eta[k * tile.m + i]
        return np.asarray(square)

    def expected(self, theta, sds, nodes, weights):
        """Expected gradient and observed information of the log-likelihood where the i-th linear
        predictor is normal with mean x_i . theta + offset_i and a given sd.

        Parameters
        ----------
        theta : array (d,)
        sds : array (n,)
        nodes, weights : array (k,)
            Of a quadrature for the standard normal law.

        Returns
        -------
        gradient : array (d,)
        hessian : array (d, d)
        """
        cdef Py_ssize_t at = 0, inside, i, k, d = self.X.d
        cdef Py_ssize_t most = max(self.gram_rows, self.tile)
        cdef double[::1] at_theta = np.array(theta, dtype=float), sd = sds
        cdef double[::1] places = nodes, shares = weights, grad = np.zeros(d)
        cdef double[:, ::1] hessian = np.zeros((d, d))
        cdef double[::1] work = np.empty(scratch_size(self)), curvature = np.empty(most)
        cdef double[::1] mean = np.empty(self.tile), moved = np.empty(self.tile)
        cdef double[::1] part = np.empty(self.tile), score = np.empty(self.tile)
        cdef Batch everything = all_rows(self.n), block, tile
        cdef const double *y
        cdef double *w
        cdef Scratch s
        s.work, s.bits, s.eta = &work[0], NULL, NULL
        with one_blas_thread(), nogil:
            while next_tile(&everything, most, &at, &block):
                inside = 0
                while next_tile(&block, self.tile, &inside, &tile):
                    w = &curvature[tile.start - block.start]
                    y = self.gather(&at_theta[0], &tile, &s)
                    memcpy(&mean[0], s.work, tile.m * sizeof(double))
                    memset(&score[0], 0, tile.m * sizeof(double))
                    memset(w, 0, tile.m * sizeof(double))
                    for k in range(places.shape[0]):
                        for i in range(tile.m):
                            moved[i] = mean[i] + places[k] * sd[tile.start + i]
                        self.family(&at_theta[0], tile.m, &moved[0], y, &part[0], NULL)
                        for i in range(tile.m):
                            score[i] += shares[k] * part[i]
                        self.observed_information(&at_theta[0], tile.m, &moved[0], y, &part[0])
                        for i in range(tile.m):
                            w[i] += shares[k] * part[i]
                    self.weigh_rows(&tile, &s, 1, &score[0])
                    self.weigh_rows(&tile, &s, 1, w)
                    self.X.tdot(&tile, &score[0], &grad[0], &work[3 * self.tile])
                self.add_curvatures(&block, &s, &curvature[0], &hessian[0, 0])
        full = np.asarray(hessian)
        return np.asarray(grad), full + np.triu(full, 1).T

    cdef int row_terms(self, const double *theta, const Batch *tile, double *eta, double *own,
                       double *value, double *r, double *beyond) except -1 nogil:
        """value += log densities of a tile's rows with products eta; the predictors' scores into r,
        sums of the auxiliary parameters' added to `beyond` (NULL: no gradient is wanted).
        """
        cdef Py_ssize_t i, j, m = tile.m, width = self.width
        cdef double *scores = r if width == 1 else own + MANY_ROWS
        cdef const double *y = &self.y[tile.start]
        cdef const double *weight = &self.weight[tile.start] if self.weight.shape[0] else NULL
        for i in range(m if self.offset.shape[0] else 0):
            eta[i] += self.offset[tile.start + i]
        if beyond == NULL:
            return self.family_total(theta, m, eta, y, weight, scores, own, value)
        self.family_sums(theta, 1, m, eta, y, weight, scores, own, value)
        for i in range(m if width > 1 else 0):
            r[i] = scores[i * width]
            for j in range(1, width):
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
