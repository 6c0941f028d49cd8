"""Groups whose rows have few of the coefficients: scores and curvatures of few numbers."""
import numpy as np

from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Design, Model, Scratch, all_rows, row_of
from sgmc.models.regression.latent.densities.marginal cimport Marginal, Place


cdef class GroupLevel(Model):
    r"""Groups with effects, whose log densities depend on theta = (beta, phi, u) by a few numbers,

        theta_g = J_g theta = (x_g . beta, beta_j of what varies within the group, phi, u).

    x_g are the group-level predictors, columns that are constant within each group; and of a factor
    that varies, coefficients of levels that do not occur in a group do not matter.  So a score
    has as many numbers, and sums of curvatures are cross-tabulations.

    Parameters
    ----------
    inner : Marginal
        Its design has a column of ones, and columns that stand for others in each group.
    X : Design
        A row per group, of all columns of the whole design; those that vary are zero.
    place : array (groups, k) of int
        Which these are; -1: none.
    unit : array (dim,)
        See `Marginal`.
    level : float
        The same of x_g . beta.
    """

    def __init__(self, Marginal inner, Design X, place, unit, double level):
        self.inner, self.X, self.p, self.n = inner, X, X.d, inner.n
        others = inner.dim - inner.p
        ends = np.tile(X.d + np.arange(others), (self.n, 1))
        self.place = np.hstack([place, ends]).astype(np.intp)
        self.unit, self.level = np.array(unit, dtype=float), level
        self.dim, self.width, self.tile = X.d + others, inner.dim, inner.tile
        if X.n != inner.n or np.shape(place) != (inner.n, inner.p - 1):
            raise ValueError("designs of groups and of rows that do not belong together")

    @property
    def count(self):
        """Nodes of each group."""
        return self.inner.count

    @property
    def row_terms(self):
        """See `Marginal`."""
        return self.inner.row_terms

    @property
    def starts(self):
        """First row of each group."""
        return self.inner.starts

    @property
    def offset(self):
        """Of the rows."""
        return self.inner.offset

    @property
    def closed(self):
        """Whether effects are integrated out in closed form."""
        return self.inner.closed

    @property
    def nodes(self):
        """Of each effect."""
        return self.inner.nodes

    @property
    def h(self):
        """Slopes of groups by their effects, at the anchor and effects of zero."""
        return self.inner.h

    def precisions(self, theta):
        """Precision with which rows tell the effect of each group, (groups,)."""
        return self.inner.precisions(theta)

    def row_precision(self, theta):
        """1 / sigma^2."""
        return self.inner.row_precision(theta)

    def units(self, theta):
        # what moves a group's x_g . beta moves its effects the other way, by K / (1 + K) as much
        first = self.level * (1 + self.inner.precisions(theta))
        return np.column_stack([first, self.gathered(np.asarray(self.unit), 1.0)])

    def with_nodes(self, Py_ssize_t nodes):
        """The same at the same anchor with another number of nodes."""
        return self.of(self.inner.with_nodes(nodes))

    def anchored(self, theta, Py_ssize_t groups=0):
        """The same with nodes around theta (dim,), of the first `groups` groups (0: all)."""
        if self.closed:
            return self
        return self.of(self.inner.anchored(self.local(theta), groups))

    def of(self, inner):
        """The same with another inner density; arrays are shared."""
        cdef GroupLevel out = GroupLevel.__new__(GroupLevel)
        out.inner, out.X, out.place = inner, self.X, self.place
        out.unit, out.level, out.p = self.unit, self.level, self.p
        out.n, out.dim, out.width, out.tile = self.n, self.dim, self.width, self.tile
        return out

    def gathered(self, values, otherwise):
        """Of numbers (dim,) those of each group, (groups, width - 1)."""
        place = np.asarray(self.place)
        return np.where(place < 0, otherwise, values[place])

    def local(self, theta):
        """theta_g of all groups, (groups, width)."""
        theta = np.asarray(theta)
        return np.column_stack([self.X.table @ theta[:self.p], self.gathered(theta, 0.0)])

    def shifted(self, weight):
        """sum_g weight_g M_g of groups with one effect, with columns of the groups' own."""
        each = weight[:, None] * np.asarray(self.inner.M)
        place = np.asarray(self.place)[:, :each.shape[1] - 1]
        there = place >= 0
        own = np.bincount(place[there], each[:, 1:][there], self.p)
        return self.X.table.rmatvec(each[:, 0]) + own

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return (self.tile * (self.width + 1) + self.p + self.X.work_size()
                + self.inner.work_size())

    cdef void fetch(self, const Batch *b) noexcept nogil:
        self.X.fetch(b)
        self.inner.fetch(b)

    cdef void locate(self, const double *theta, Py_ssize_t group, double eta,
                     double *local) noexcept nogil:
        cdef Py_ssize_t c, j
        local[0] = eta
        for c in range(1, self.width):
            j = self.place[group, c - 1]
            local[c] = theta[j] if j >= 0 else 0

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        cdef double *first = s.work + self.tile * self.width
        cdef Py_ssize_t i
        self.X.dot(tile, delta, first, first + self.tile)
        for i in range(tile.m):
            self.locate(delta, row_of(tile, i), first[i], eta + i * self.width)
        return OK

    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil:
        cdef double *work = s.work + self.tile * (self.width + 1) + self.p + self.X.work_size()
        cdef double one, total = 0
        cdef Place place
        cdef Py_ssize_t i
        self.predictors(theta, tile, s, s.work)
        for i in range(tile.m):
            place = self.inner.at(s.work + i * self.width, work)
            self.inner.group_score(&place, row_of(tile, i), self.inner.room(work), &one,
                                   r + i * self.width)
            total += one
        s.eta = s.work
        if value != NULL:
            value[0] += total
        return OK

    cdef int curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                        double *w) except -1 nogil:
        cdef double *work = s.work + self.tile * (self.width + 1) + self.p + self.X.work_size()
        cdef Place place
        cdef Py_ssize_t i
        self.predictors(theta, tile, s, s.work)
        for i in range(tile.m):
            place = self.inner.at(s.work + i * self.width, work)
            self.inner.group_curvature(&place, row_of(tile, i), self.inner.room(work),
                                       w + i * self.width * self.width)
        return OK

    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil:
        cdef double *first = s.work + self.tile * self.width
        cdef Py_ssize_t i, c, j
        for i in range(tile.m):
            first[i] = r[i * self.width]
            for c in range(1, self.width):
                j = self.place[row_of(tile, i), c - 1]
                if j >= 0:
                    grad[j] += r[i * self.width + c]
        self.X.tdot(tile, first, grad, first + self.tile)
        return OK

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        cdef double *first = s.work + self.tile * self.width
        cdef Py_ssize_t i, c, j
        for i in range(tile.m):
            first[i] = r[i * self.width]
            for c in range(1, self.width):
                j = self.place[row_of(tile, i), c - 1]
                if j >= 0:
                    square[j] += r[i * self.width + c] * r[i * self.width + c]
        self.X.tdot_sq(tile, first, square)
        return OK

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        cdef double *first = s.work + self.tile * self.width
        cdef double *x = first + self.tile                # x_g
        cdef double unit = 1
        cdef Py_ssize_t i, j, k, c, d, square = self.width * self.width
        cdef Batch one = all_rows(1)
        for i in range(tile.m):
            first[i] = w[i * square]
        self.X.gram(tile, first, H, self.dim)
        for i in range(tile.m if self.width > 1 else 0):
            one.start = row_of(tile, i)
            memset(x, 0, self.p * sizeof(double))
            self.X.tdot(&one, &unit, x, x + self.p)
            for j in range(self.p):
                if x[j] == 0:
                    continue
                for c in range(1, self.width):
                    k = self.place[one.start, c - 1]
                    if k >= 0:
                        H[min(j, k) * self.dim + max(j, k)] += w[i * square + c] * x[j]
            for c in range(1, self.width):
                j = self.place[one.start, c - 1]
                for d in range(c, self.width if j >= 0 else c):
                    k = self.place[one.start, d - 1]
                    if k >= 0:
                        H[min(j, k) * self.dim + max(j, k)] += w[i * square + c * self.width + d]
        return OK
