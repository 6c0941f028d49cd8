"""The compiled base of models with several linear predictors, each of columns of its own."""
import numpy as np

from libc.stdlib cimport calloc, free
from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Design, Model, Scratch
from sgmc.models.regression.bases.glm cimport Glm, picked


cdef class TwoDesignsModel(Glm):
    """Outcomes with linear predictors eta_i, which has the offset, and zeta_i, or more, each of its
    own columns; theta has a coefficient for each column and, behind them, numbers u for all
    rows.

    A leaf defines `family`, `observed_information` and `expected_information` for the predictors,
    and u, `width` or `width` x `width` numbers a row.

    Parameters
    ----------
    X, y, offset, weight
        As in `Glm`.
    predictor : array (d,) of int
        Of each column, or -1 where it is in none; by default the first half is in eta.
    auxiliary : int
        How many u there are.
    parts : int
        Predictors.
    """

    products = False
    gram_rows = 0
    unbounded = "its rows have a score for each of two predictors, for which there are no bounds"

    def __init__(self, Design X, y, offset=None, weight=None, predictor=None,
                 Py_ssize_t auxiliary=0, Py_ssize_t parts=2):
        Glm.__init__(self, X, y, offset, weight)
        if predictor is None:
            predictor = np.arange(X.d) >= (X.d + 1) // 2
        self.predictor = np.array(predictor, dtype=np.intp)
        if len(self.predictor) != X.d:
            raise ValueError("predictor has to have a number for each column")
        self.auxiliary, self.parts = auxiliary, parts
        self.width, self.dim = parts + auxiliary, X.d + auxiliary
        # products of a predictor without coded columns need not read these
        self.numbers = getattr(X, "inner", None)
        self.places = np.array(X.table.places if self.numbers else [], dtype=np.intp)
        coded = np.setdiff1d(np.arange(X.d), self.places)
        self.plain = np.array([self.numbers is not None and (predictor[coded] != part).all()
                               for part in range(parts)], dtype=np.intc)

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return (4 + self.width) * self.tile + self.X.work_size() + 2 * self.X.d

    cdef double *spare(self, Scratch *s) noexcept nogil:
        """Work behind that of the base: a tile of `width` numbers a row, a tile, d and d more."""
        return s.work + 3 * self.tile + self.X.work_size()

    cdef Py_ssize_t size_many(self, Py_ssize_t points) noexcept nogil:
        return 0

    cdef int add_many(self, const double *theta, Py_ssize_t points, Scratch *s, double *work,
                      double *value, double *grad) except -1 nogil:
        return Model.add_many(self, theta, points, s, work, value, grad)

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        """All predictors, and u, of each row, without the offset."""
        cdef Py_ssize_t i, k, part, width = self.width
        cdef double *linear = self.spare(s) + width * self.tile
        for part in range(self.parts):
            self.part_dot(part, delta, tile, s, linear)
            for i in range(tile.m):
                eta[i * width + part] = linear[i]
        for k in range(self.auxiliary):
            for i in range(tile.m):
                eta[i * width + self.parts + k] = delta[self.X.d + k]
        return OK

    cdef int part_dot(self, Py_ssize_t part, const double *delta, const Batch *tile, Scratch *s,
                      double *linear) except -1 nogil:
        """A predictor of each row."""
        cdef Py_ssize_t j, own
        cdef double *alone = linear + self.tile
        if self.plain[part]:
            for j in range(self.places.shape[0]):
                own = self.places[j]
                alone[j] = delta[own] if self.predictor[own] == part else 0
            return self.numbers.dot(tile, alone, linear, s.work + 3 * self.tile)
        for j in range(self.X.d):
            alone[j] = delta[j] if self.predictor[j] == part else 0
        return self.X.dot(tile, alone, linear, s.work + 3 * self.tile)

    cdef int part_tdot(self, Py_ssize_t part, const Batch *tile, Scratch *s, const double *r,
                       double *grad) except -1 nogil:
        """Add the products of a predictor's columns with a number of each row."""
        cdef Py_ssize_t j, own
        cdef double *sums = self.empty(s)
        if self.plain[part]:
            self.numbers.tdot(tile, r, sums, s.work + 3 * self.tile)
            for j in range(self.places.shape[0]):
                own = self.places[j]
                if self.predictor[own] == part:
                    grad[own] += sums[j]
            return OK
        self.X.tdot(tile, r, sums, s.work + 3 * self.tile)
        for j in range(self.X.d):
            if self.predictor[j] == part:
                grad[j] += sums[j]
        return OK

    cdef const double *place(self, const double *theta, const Batch *tile,
                             Scratch *s) except NULL nogil:
        """Predictors with the offset into spare work; outcomes of the tile."""
        cdef Py_ssize_t i
        cdef double *eta = self.spare(s)
        cdef const double *offset
        self.predictors(theta, tile, s, eta)
        if self.offset.shape[0]:
            offset = picked(&self.offset[0], tile, s.work + self.tile)
            for i in range(tile.m):
                eta[i * self.width] += offset[i]
        s.eta = eta
        return picked(&self.y[0], tile, s.work + self.tile)

    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil:
        cdef Py_ssize_t i
        cdef double *density = s.work + 2 * self.tile
        cdef const double *y = self.place(theta, tile, s)
        self.family(theta, tile.m, s.eta, y, r, density)
        self.weigh_rows(tile, s, self.width, r)
        self.weigh_rows(tile, s, 1, density)
        for i in range(tile.m if value != NULL else 0):
            value[0] += density[i]
        return OK

    cdef int curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                        double *w) except -1 nogil:
        cdef const double *y = self.place(theta, tile, s)
        self.observed_information(theta, tile.m, self.spare(s), y, w)
        return self.weigh_rows(tile, s, self.width * self.width, w)

    cdef int expected_curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                                 double *w) except -1 nogil:
        cdef const double *y = self.place(theta, tile, s)
        self.expected_information(theta, tile.m, self.spare(s), y, w)
        return self.weigh_rows(tile, s, self.width * self.width, w)

    cdef const double *column(self, Py_ssize_t m, Scratch *s, const double *table, Py_ssize_t size,
                              Py_ssize_t k) noexcept nogil:
        """The k-th of `size` numbers of each row, together."""
        cdef Py_ssize_t i
        cdef double *out = self.spare(s) + self.width * self.tile
        for i in range(m):
            out[i] = table[i * size + k]
        return out

    cdef double *empty(self, Scratch *s) noexcept nogil:
        """d zeros in spare work."""
        cdef double *out = self.spare(s) + (self.width + 1) * self.tile + self.X.d
        memset(out, 0, self.X.d * sizeof(double))
        return out

    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil:
        cdef Py_ssize_t i, k, part
        for part in range(self.parts):
            self.part_tdot(part, tile, s, self.column(tile.m, s, r, self.width, part), grad)
        for k in range(self.auxiliary):
            for i in range(tile.m):
                grad[self.X.d + k] += r[i * self.width + self.parts + k]
        return OK

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        cdef Py_ssize_t i, j, k, part
        cdef double *sums
        for part in range(self.parts):
            sums = self.empty(s)
            self.X.tdot_sq(tile, self.column(tile.m, s, r, self.width, part), sums)
            for j in range(self.X.d):
                if self.predictor[j] == part:
                    square[j] += sums[j]
        for k in range(self.auxiliary):
            for i in range(tile.m):
                square[self.X.d + k] += r[i * self.width + self.parts + k] ** 2
        return OK

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        cdef Py_ssize_t d = self.X.d
        cdef double *block = <double *> calloc(d * d, sizeof(double))
        if block == NULL:
            with gil:
                raise MemoryError
        try:
            return self.add_products(tile, s, w, block, H)
        finally:
            free(block)

    cdef int add_products(self, const Batch *tile, Scratch *s, const double *w, double *block,
                          double *H) except -1 nogil:
        """H += X' W X of each pair of predictors, into d x d numbers first; of u the sums."""
        cdef Py_ssize_t i, j, k, l, p, q, at, d = self.X.d, size = self.width * self.width
        cdef double *sums
        for p in range(self.parts):
            for q in range(p, self.parts):
                memset(block, 0, d * d * sizeof(double))
                self.X.gram(tile, self.column(tile.m, s, w, size, p * self.width + q), block, d)
                for i in range(d):
                    for j in range(i, d):
                        if self.pair(i, j, p, q):
                            H[i * self.dim + j] += block[i * d + j]
            for k in range(self.auxiliary):
                sums = self.empty(s)
                at = p * self.width + self.parts + k
                self.X.tdot(tile, self.column(tile.m, s, w, size, at), sums,
                            s.work + 3 * self.tile)
                for j in range(d):
                    if self.predictor[j] == p:
                        H[j * self.dim + d + k] += sums[j]
        for k in range(self.auxiliary):
            for l in range(k, self.auxiliary):
                for i in range(tile.m):
                    H[(d + k) * self.dim + d + l] += w[
                        i * size + (self.parts + k) * self.width + self.parts + l]
        return OK

    cdef bint pair(self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t p, Py_ssize_t q) noexcept nogil:
        """Whether of two columns one is in predictor p, the other in q."""
        cdef Py_ssize_t a = self.predictor[i], b = self.predictor[j]
        return (a == p and b == q) or (a == q and b == p)
