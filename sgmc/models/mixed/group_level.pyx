"""Groups whose rows agree in most columns of the design: group-level predictors."""
import numpy as np

from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Design, Model, Scratch, row_of
from sgmc.models.mixed.marginal cimport Marginal, Place

cdef enum:
    TILE = 64                     # groups


cdef class GroupLevel(Model):
    r"""Groups with effects, of which most predictors are constant within each group.

    The log density of a group depends on theta = (beta, phi, u) by a few numbers,

        theta_g = J_g theta = (x_g . beta, beta_j of columns that vary within groups, phi, u),

    x_g being what all rows of the group have in the other columns.  So a score has as many numbers,
    and sums of curvatures are cross-tabulations of the x_g.

    Parameters
    ----------
    inner : Marginal
        Its design has a column of ones, and the columns that vary.
    X : Design
        A row per group, of all columns of the whole design; those that vary are zero.
    varying : array of int
        The columns that vary, in the order of the inner design.
    """

    def __init__(self, Marginal inner, Design X, varying):
        self.inner, self.X, self.p, self.n = inner, X, X.d, inner.n
        others = inner.dim - inner.p
        self.place = np.append(varying, X.d + np.arange(others)).astype(np.intp)
        self.dim, self.width, self.tile = X.d + others, inner.dim, TILE
        if X.n != inner.n or inner.p != len(varying) + 1:
            raise ValueError("designs of groups and of rows that do not belong together")

    @property
    def starts(self):
        """First row of each group."""
        return self.inner.starts

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
        """See `Quadrature`."""
        return self.inner.precisions(theta)

    def units(self, theta):
        """See `Model.units`: what moves a group's x_g . beta moves its effects the other way, by
        K / (1 + K) as much.
        """
        out = np.tile(self.inner.units(theta), (self.n, 1))
        out[:, 0] *= 1 + self.inner.precisions(theta)
        return out

    def with_nodes(self, Py_ssize_t nodes):
        """See `Quadrature`."""
        return self.of(self.inner.with_nodes(nodes))

    def anchored(self, theta, Py_ssize_t groups=0):
        """See `Quadrature`."""
        if self.closed:
            return self
        return self.of(self.inner.anchored(self.local(theta), groups))

    def of(self, inner):
        """The same with another inner density."""
        varying = np.asarray(self.place)[:inner.p - 1]
        return GroupLevel(inner, self.X, varying)

    def local(self, theta):
        """theta_g of all groups, (groups, width)."""
        theta = np.asarray(theta)
        out = np.empty((self.n, self.width))
        out[:, 0] = self.X.table @ theta[:self.p]
        out[:, 1:] = theta[self.place]
        return out

    def moved(self, weight):
        """See `Quadrature`."""
        M = np.asarray(self.inner.M)
        out = self.X.table.rmatvec(weight * M[:, 0])
        out[np.asarray(self.place)[:M.shape[1] - 1]] += weight @ M[:, 1:]
        return out

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return (self.tile * (self.width + 1) + self.p + self.X.work_size()
                + self.inner.work_size())

    cdef void fetch(self, const Batch *b) noexcept nogil:
        self.X.fetch(b)
        self.inner.fetch(b)

    cdef void locate(self, const double *theta, Py_ssize_t m, const double *eta,
                     double *local) noexcept nogil:
        cdef Py_ssize_t i, c
        for i in range(m):
            local[i * self.width] = eta[i]
            for c in range(1, self.width):
                local[i * self.width + c] = theta[self.place[c - 1]]

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        cdef double *first = s.work + self.tile * self.width
        self.X.dot(tile, delta, first, first + self.tile)
        self.locate(delta, tile.m, first, eta)
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
        cdef Py_ssize_t i, c
        for i in range(tile.m):
            first[i] = r[i * self.width]
            for c in range(1, self.width):
                grad[self.place[c - 1]] += r[i * self.width + c]
        self.X.tdot(tile, first, grad, first + self.tile)
        return OK

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        cdef double *first = s.work + self.tile * self.width
        cdef Py_ssize_t i, c
        for i in range(tile.m):
            first[i] = r[i * self.width]
            for c in range(1, self.width):
                square[self.place[c - 1]] += r[i * self.width + c] * r[i * self.width + c]
        self.X.tdot_sq(tile, first, square)
        return OK

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        cdef double *column = s.work + self.tile * self.width
        cdef double *cross = column + self.tile
        cdef Py_ssize_t i, j, k, c, d, square = self.width * self.width
        for i in range(tile.m):
            column[i] = w[i * square]
        self.X.gram(tile, column, H, self.dim)
        for c in range(1, self.width):
            k = self.place[c - 1]
            for i in range(tile.m):
                column[i] = w[i * square + c]
            memset(cross, 0, self.p * sizeof(double))
            self.X.tdot(tile, column, cross, cross + self.p)
            for j in range(self.p):
                H[min(j, k) * self.dim + max(j, k)] += cross[j]
            for d in range(c, self.width):
                j = self.place[d - 1]
                for i in range(tile.m):
                    H[min(j, k) * self.dim + max(j, k)] += w[i * square + c * self.width + d]
        return OK
