"""Second derivatives of a group's log density, by sums over nodes."""
from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, all_rows
from sgmc.models.regression.latent.densities.marginal cimport Place
from sgmc.models.regression.latent.densities.nodes cimport Frame, Nodes, Room


cdef inline void spread(Py_ssize_t q, Py_ssize_t size, Py_ssize_t at, double value,
                        const double *z, double *sums) noexcept nogil:
    """value (1, z, z z') added to the number `at` of parts of that size."""
    cdef Py_ssize_t a, b
    sums[at] += value
    for a in range(q):
        sums[(1 + a) * size + at] += value * z[a]
        for b in range(q):
            sums[(1 + q + a * q + b) * size + at] += value * z[a] * z[b]


cdef class Informed(Nodes):
    """`Nodes`, with the observed information of a group."""

    cdef int information(self, const Place *at, Py_ssize_t group, double *work, double *w,
                         double *slope) except -1 nogil:
        """By nodes that stay where they are (Louis 1982, eq. 3.2): the posterior mean of the
        observed information less the covariance of the scores, over nodes.
        """
        cdef Py_ssize_t start = self.starts[group], m = self.starts[group + 1] - start
        cdef Py_ssize_t i, k, c, e, dim = self.dim, p = self.p, q = self.q
        cdef Py_ssize_t width = self.glm.width, size = self.loading.size
        cdef Room room = self.divided(m, work)
        cdef double *score = room.rest                    # (count + 1) x dim, and p numbers
        cdef double *inner = score + (self.count + 1) * dim + p           # width^2 a row
        cdef double *sums = inner + m * width * width     # (1 + q + q^2) width^2 a row
        cdef double *column = room.mean
        cdef double *one
        cdef Batch rows = all_rows(m)
        cdef Frame f
        cdef double value
        self.visit(at, group, &f, &room, &value)
        self.collect_nodes(start, m, &room)
        memset(w, 0, dim * dim * sizeof(double))
        memset(score, 0, self.count * dim * sizeof(double))
        memset(slope, 0, size * sizeof(double))
        memset(sums, 0, m * width * width * (1 + q + q * q) * sizeof(double))
        rows.start = start
        for k in range(self.count):
            one = score + k * dim
            if width == 1:
                self.glm.X.tdot(&rows, room.r + k * m, one, room.work)
            for c in range(width if width > 1 else 0):
                for i in range(m):
                    column[i] = room.r[(k * m + i) * width + c]
                if c == 0:
                    self.glm.X.tdot(&rows, column, one, room.work)
                else:
                    for i in range(m):
                        one[p + size + c - 1] += column[i]
            for e in range(size):
                one[p + e] = (room.R[k * q + self.loading.row[e]]
                              * room.z[k * q + self.loading.column[e]])
                slope[e] += room.t[k] * one[p + e]
            self.shift(start, m, room.eta, room.b + k * q, room.block)
            self.glm.observed_information(at.auxiliary, m, room.block, &self.glm.y[start], inner)
            self.sum_up(start, m, room.t[k], room.z + k * q, inner, sums)
        self.less_covariance(&room, score, w)
        return self.add_information(start, m, sums, &room, w)

    cdef void sum_up(self, Py_ssize_t start, Py_ssize_t m, double share, const double *z,
                     const double *inner, double *sums) noexcept nogil:
        """sums += share inner_i (1, z, z z'), part by part, each m x width^2."""
        cdef Py_ssize_t i, c, width = self.glm.width, size = m * width * width
        cdef double weight, value
        if self.q == 1 and width == 1:                    # the same sums, in loops over rows alone
            for i in range(m):
                weight = share * self.glm.weight[start + i] if self.glm.weight.shape[0] else share
                value = weight * inner[i]
                sums[i] += value
                value = value * z[0]
                sums[m + i] += value
                sums[2 * m + i] += value * z[0]
            return
        for i in range(m):
            weight = share * (self.glm.weight[start + i] if self.glm.weight.shape[0] else 1)
            for c in range(i * width * width, (i + 1) * width * width):
                spread(self.q, size, c, weight * inner[c], z, sums)

    cdef void less_covariance(self, const Room *room, double *score, double *w) noexcept nogil:
        """w -= the covariance of the scores over nodes (upper triangle)."""
        cdef Py_ssize_t j, k, l, dim = self.dim
        cdef double *mean = score + self.count * dim
        memset(mean, 0, dim * sizeof(double))
        for l in range(self.count):
            for j in range(dim):
                mean[j] += room.t[l] * score[l * dim + j]
        for l in range(self.count):
            for j in range(dim):
                score[l * dim + j] -= mean[j]
            for j in range(dim):
                for k in range(j, dim):
                    w[j * dim + k] -= room.t[l] * score[l * dim + j] * score[l * dim + k]

    cdef int add_information(self, Py_ssize_t start, Py_ssize_t m, const double *sums,
                             const Room *room, double *w) except -1 nogil:
        """w += the mean information by the `sums` of `sum_up`, and the lower triangle."""
        cdef Py_ssize_t i, j, k, c, d, e, f, dim = self.dim, p = self.p, q = self.q
        cdef Py_ssize_t width = self.glm.width, square = width * width, size = m * square
        cdef Py_ssize_t entries = self.loading.size
        cdef double *column = room.mean
        cdef double *cross = room.work + self.glm.X.work_size() + (self.count + 1) * dim
        cdef const double *part
        cdef Batch rows = all_rows(m)
        rows.start = start
        for i in range(m):
            column[i] = sums[i * square]
        self.glm.X.gram(&rows, column, w, dim)
        for k in range(entries + width - 1):
            c = k - entries + 1                           # an auxiliary parameter, if positive
            for i in range(m):
                column[i] = (sums[i * square + c] if c > 0
                             else self.Z[start + i, self.loading.row[k]]
                             * sums[(1 + self.loading.column[k]) * size + i * square])
            memset(cross, 0, p * sizeof(double))
            self.glm.X.tdot(&rows, column, cross, room.work)
            for j in range(p):
                w[j * dim + p + k] += cross[j]
        for e in range(entries):
            for f in range(e, entries):
                part = sums + (1 + q + self.loading.column[e] * q + self.loading.column[f]) * size
                for i in range(m):
                    w[(p + e) * dim + p + f] += (self.Z[start + i, self.loading.row[e]]
                                                 * self.Z[start + i, self.loading.row[f]]
                                                 * part[i * square])
            part = sums + (1 + self.loading.column[e]) * size
            for c in range(1, width):
                for i in range(m):
                    w[(p + e) * dim + p + entries + c - 1] += (
                        self.Z[start + i, self.loading.row[e]] * part[i * square + c])
        for c in range(1, width):
            for d in range(c, width):
                for i in range(m):
                    w[(p + entries + c - 1) * dim + p + entries + d - 1] += (
                        sums[i * square + c * width + d])
        for j in range(dim):
            for k in range(j):
                w[j * dim + k] = w[k * dim + j]
        return OK
