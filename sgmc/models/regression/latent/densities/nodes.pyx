"""Sums over nodes of a group's effects, wherever these are placed."""
import numpy as np

from libc.math cimport INFINITY, M_PI, log
from libc.string cimport memcpy, memset

from sgmc.core.numerics cimport simd
from sgmc.core.contract cimport OK
from sgmc.models.mixed.loading cimport Loading
from sgmc.models.regression.latent.densities.marginal cimport Marginal, Place
from sgmc.models.regression.latent.densities.small cimport times
from sgmc.models.regression.bases.glm cimport Glm
from sgmc.models.regression.latent.densities.rules import normal_rule

HALF_LOG_2PI = 0.5 * log(2 * M_PI)


cdef enum:
    SHORT_GROUP = 16                 # of a group, that loops over its nodes are longer than


cdef void repeat(Py_ssize_t m, Py_ssize_t times, const double *y, double *out) noexcept nogil:
    """So many copies of m numbers, by copies of those that are there."""
    cdef Py_ssize_t done = m, size = m * times, some
    memcpy(out, y, m * sizeof(double))
    while done < size:
        some = min(done, size - done)
        memcpy(out + done, out, some * sizeof(double))
        done += some


cdef class Nodes(Marginal):
    """Effects integrated out by sums over nodes z_k = centre + B t_k, t_k those of a rule.

    Parameters
    ----------
    glm, starts, Z, loading, unit
        See `Marginal`.
    nodes : int
        Of each effect, or as `rule` counts them.
    rule : function of (int, int)
        Makes t and log weights of numbers of nodes and of effects, or several sets of them: then
        each group has one in its turn.
    """

    def __init__(self, Glm glm, starts, Z, Loading loading, unit=None, Py_ssize_t nodes=9,
                 rule=normal_rule):
        Marginal.__init__(self, glm, starts, Z, loading, unit)
        self.nodes, self.rule = nodes, rule
        t, weight = rule(nodes, self.q)
        self.weight = np.atleast_2d(weight)
        self.sets, self.count = self.weight.shape[0], self.weight.shape[1]
        self.t = np.reshape(t, (self.sets, self.count, self.q))
        largest = np.maximum.reduceat(np.abs(self.Z).max(axis=1), np.asarray(self.starts)[:self.n])
        self.idle = (largest == 0).astype(np.int8)

    cdef Py_ssize_t group_size(self) noexcept nogil:
        cdef Py_ssize_t width = self.glm.width, m = self.longest, q = self.q
        cdef Py_ssize_t block = max(m, min(TOGETHER, m * self.count))
        return (m * (1 + width + width * width + (1 + q + q * q) * width * width
                     + max(self.count, width) * width)
                + 3 * block + self.count * (1 + 3 * q)
                + (self.count + 1) * self.dim + self.glm.X.work_size() + self.p + 1)

    cdef Room divided(self, Py_ssize_t m, double *work) noexcept nogil:
        """The scratch of a group of m rows."""
        cdef Room room
        cdef Py_ssize_t width = self.glm.width, block = max(m, min(TOGETHER, m * self.count))
        room.eta, work = work, work + m
        room.block, work = work, work + block
        room.y, work = work, work + block
        room.density, work = work, work + block
        room.r, work = work, work + m * max(self.count, width) * width
        room.mean, work = work, work + m * width
        room.t, work = work, work + self.count
        room.z, work = work, work + self.count * self.q
        room.b, work = work, work + self.count * self.q
        room.R, work = work, work + self.count * self.q
        room.work, work = work, work + self.glm.X.work_size()
        room.rest = work
        return room

    cdef bint frame(self, const Place *at, Py_ssize_t group, Room *room, Frame *f) noexcept nogil:
        return False

    cdef int place_nodes(self, const Place *at, Py_ssize_t group, const Frame *f,
                         Room *room) noexcept nogil:
        """z, b = Lambda z, and log weights with the normal density of z."""
        cdef Py_ssize_t a, k, q = self.q, own = group % self.sets
        cdef double *z = room.z
        cdef const double *t = &self.t[own, 0, 0]
        cdef const double *weight = &self.weight[own, 0]
        cdef double first, second, same = f.log_det - q * HALF_LOG_2PI
        if q == 1:                                        # the same, without calls
            for k in range(self.count):
                first = f.B[0] * t[k] + f.centre[0]
                z[k] = first
                room.t[k] = weight[k] + same - 0.5 * first * first
                room.b[k] = at.root[0] * first
            return OK
        if q == 2:
            for k in range(self.count):
                first = f.B[0] * t[2 * k] + f.B[1] * t[2 * k + 1] + f.centre[0]
                second = f.B[2] * t[2 * k] + f.B[3] * t[2 * k + 1] + f.centre[1]
                z[2 * k], z[2 * k + 1] = first, second
                room.t[k] = weight[k] + same - 0.5 * (first * first + second * second)
                room.b[2 * k] = at.root[0] * first + at.root[1] * second
                room.b[2 * k + 1] = at.root[2] * first + at.root[3] * second
            return OK
        for k in range(self.count):
            times(q, f.B, &self.t[own, k, 0], z)
            room.t[k] = weight[k] + same
            for a in range(q):
                z[a] += f.centre[a]
                room.t[k] -= 0.5 * z[a] * z[a]
            times(q, at.root, z, room.b + k * q)
            z += q
        return OK

    cdef void shift(self, Py_ssize_t start, Py_ssize_t m, const double *eta, const double *b,
                    double *out) noexcept nogil:
        """Linear predictors of rows whose group has effects b."""
        cdef Py_ssize_t i, a, q = self.q
        cdef double first = b[0], second, total
        cdef const double *z
        if self.constant:
            for i in range(m):
                out[i] = eta[i] + first
            return
        z = &self.Z[start, 0]
        if q == 1:
            for i in range(m):
                out[i] = eta[i] + z[i] * first
            return
        second = b[1]
        if q == 2:
            for i in range(m):
                out[i] = eta[i] + z[2 * i] * first + z[2 * i + 1] * second
            return
        for i in range(m):
            total = eta[i]
            for a in range(q):
                total += z[i * q + a] * b[a]
            out[i] = total

    cdef void shift_many(self, Py_ssize_t start, Py_ssize_t m, Py_ssize_t count,
                         const double *eta, const double *b, double *out) noexcept nogil:
        """`shift` by so many effects, one after the other."""
        cdef Py_ssize_t i, k
        cdef double same, first, second
        if self.q != 2 or m > SHORT_GROUP:
            for k in range(count):
                self.shift(start, m, eta, b + k * self.q, out + k * m)
            return
        for i in range(m):                                # longer loops than over the rows
            same, first, second = eta[i], self.Z[start + i, 0], self.Z[start + i, 1]
            for k in range(count):
                out[k * m + i] = same + first * b[2 * k] + second * b[2 * k + 1]

    cdef void collect(self, Py_ssize_t start, Py_ssize_t m, const double *r, Py_ssize_t width,
                      double *out) noexcept nogil:
        """out = sum_i z_i r_i of the first of `width` numbers a row."""
        cdef Py_ssize_t i, a, q = self.q
        cdef const double *z = &self.Z[start, 0]
        cdef double total = 0, second = 0
        if self.constant:
            if width == 1:
                for i in range(m):
                    total += r[i]
            else:
                for i in range(m):
                    total += r[i * width]
            out[0] = total
            return
        if self.q == 1 and width == 1:
            simd.dot_f64(1, m, r, NULL, z, out)
            return
        if q == 2:
            for i in range(m):
                total += z[2 * i] * r[i * width]
                second += z[2 * i + 1] * r[i * width]
            out[0], out[1] = total, second
            return
        memset(out, 0, q * sizeof(double))
        for i in range(m):
            for a in range(q):
                out[a] += z[i * q + a] * r[i * width]

    cdef void collect_nodes(self, Py_ssize_t start, Py_ssize_t m, Room *room) noexcept nogil:
        """R = sum_i z_i r_i of each node."""
        cdef Py_ssize_t k, width = self.glm.width
        for k in range(self.count):
            self.collect(start, m, room.r + k * m * width, width, room.R + k * self.q)

    cdef int score_effects(self, const Place *at, Py_ssize_t start, Py_ssize_t m, Py_ssize_t count,
                           Room *room, double *total, bint scored=True) except -1 nogil:
        """Scores at the first `count` effects of room.b into r where they are asked for, log
        densities added to `total`; as many effects at once as fit.
        """
        cdef Py_ssize_t k = 0, l, some, width = self.glm.width
        cdef Py_ssize_t most = max(TOGETHER // m, 1)
        cdef const double *y = &self.glm.y[start]
        cdef const double *weight = &self.glm.weight[start] if self.glm.weight.shape[0] else NULL
        if most > 1:
            repeat(m, min(most, count), y, room.y)
            y = room.y
        while k < count:
            some = min(most, count - k)
            self.shift_many(start, m, some, room.eta, room.b + k * self.q, room.block)
            if scored:
                self.glm.family_sums(at.auxiliary, some, m, room.block, y, weight,
                                     room.r + k * m * width, room.density, total + k)
            else:
                self.glm.family_values(at.auxiliary, some, m, room.block, y, weight,
                                       room.r + k * m * width, room.density, total + k)
            k += some
        return OK

    cdef double normalise(self, Room *room) noexcept nogil:
        """Posterior probabilities of the nodes in place of their log terms; log of the sum."""
        cdef Py_ssize_t k
        cdef double top = -INFINITY, total = 0
        for k in range(self.count):
            top = max(top, room.t[k])
        for k in range(self.count):
            room.t[k] -= top
        simd.exponential(self.count, room.t, room.t)
        for k in range(self.count):
            total += room.t[k]
        simd.scale(self.count, 1 / total, room.t)
        return top + log(total)

    cdef int visit(self, const Place *at, Py_ssize_t group, Frame *f, Room *room,
                   double *value, bint scored=True) except -1 nogil:
        cdef Py_ssize_t k, start = self.starts[group], m = self.starts[group + 1] - start
        cdef Py_ssize_t width = self.glm.width
        cdef double same = 0
        self.predict(at, start, m, room.eta, room.work)
        value[0] = -INFINITY
        if not self.frame(at, group, room, f):
            return OK
        self.place_nodes(at, group, f, room)
        if self.idle[group]:                              # nodes do not differ
            self.score_effects(at, start, m, 1, room, &same)
            for k in range(self.count):
                memcpy(room.r + k * m * width, room.r, m * width * sizeof(double) if k else 0)
                room.t[k] += same
            value[0] = self.normalise(room)
            return OK
        self.score_effects(at, start, m, self.count, room, room.t, scored)
        value[0] = self.normalise(room)
        return OK
