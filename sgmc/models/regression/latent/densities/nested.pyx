"""Groups within groups: inner effects are integrated out first, then the outer ones."""
import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from sgmc.core.system import deadline
from sgmc.core.contract cimport OK, Batch, all_rows
from sgmc.models.mixed.loading cimport MOST_EFFECTS, Loading
from sgmc.models.regression.latent.densities.marginal cimport Marginal, Place
from sgmc.models.regression.latent.densities.nodes cimport (
    EXACT_NODES, MOST_SQUARES, Frame, NodeSums, Room,
)
from sgmc.models.regression.latent.densities.quadrature cimport Quadrature
from sgmc.models.regression.latent.densities.small cimport (
    multiply, multiply_transposed, root_of_inverse, times, transposed_times,
)
from sgmc.models.regression.bases.glm cimport Glm

cdef enum:
    MEAN_NODES = 2                       # integrate the third moments of a normal law exactly
    NESTED_STEPS = 30                    # of the search for a group's mode
    NESTED_BETWEEN_LOOKS = 64     # at the clock
cdef double NESTED_NEAR = 1e-6           # change of effects, in sds, at which the search ends

cdef class Nested(Marginal):
    """Two levels of groups: eta_i = x_i . beta + z_i . b_g + w_i . c_h, subgroup h within group g.

    Effects b are integrated out by nodes, as `Quadrature` does, of a density that has the effects c
    of all subgroups integrated out before; b are coefficients there, as beta are.  Where the inner
    integrals have a closed form the outer nodes follow from their gradient, which is linear in b:
    they are exact wherever they are, and gradients, of second order in b, take two for each effect.

    Parameters
    ----------
    glm, starts
        See `Marginal`.
    Z : array (n, q)
        Covariates of the outer effects, then of the inner ones.
    loading : Loading
        Of both.
    make : function of (array (n,) or None, int)
        Makes the `Marginal` of subgroups with coefficients (beta, b), from something to be added to
        the linear predictor and a number of nodes.
    outer : Loading
        Of the outer effects.
    subgroups : array (groups + 1,) of int
        First subgroup of each group.
    unit, nodes
        See `Quadrature`.
    """

    def __init__(self, Glm glm, starts, Z, Loading loading, make, Loading outer, subgroups,
                 unit=None, Py_ssize_t nodes=9):
        Marginal.__init__(self, glm, starts, Z, loading, unit)
        self.make, self.inner, self.nodes, self.b = make, make(None, nodes), nodes, outer.q
        self.closed = type(self.inner).closed
        self.at_nodes = isinstance(self.inner, Quadrature) and not self.closed
        self.places = Quadrature(glm, starts, np.asarray(self.Z)[:, :self.b], outer,
                                 nodes=EXACT_NODES if self.closed else nodes)
        self.few = self.places.with_nodes(MEAN_NODES) if self.closed else self.places
        self.subgroups = np.ascontiguousarray(subgroups, dtype=np.intp)
        self.away = np.zeros((self.n, self.b))
        if self.b + self.inner.q != self.q or self.inner.p != self.p + self.b:
            raise ValueError("effects of two levels are those of the outer and of the inner one")

    def like(self, Py_ssize_t nodes):
        """The same, not anchored, with another number of nodes."""
        return Nested(self.glm, self.starts, self.Z, self.loading, self.make, self.places.loading,
                      self.subgroups, self.unit, nodes)

    def with_nodes(self, Py_ssize_t nodes):
        """The same at the same anchor with another number of nodes."""
        cdef Nested out = self.like(nodes)
        out.inner, out.places = self.inner.with_nodes(nodes), self.places.with_nodes(nodes)
        out.few, out.away = out.places, self.away
        return out

    def anchored(self, theta, Py_ssize_t groups=0):
        """The same with nodes around theta (dim,), of the first `groups` groups (0: all).

        Nodes of subgroups are put around the mode of their group's effects, for which they are put
        around zero first.
        """
        if self.closed:
            return self
        cdef Nested out = self.like(self.nodes)
        groups = groups or self.n
        theta = np.ascontiguousarray(theta, dtype=float)
        inner, sizes = self.inner_theta(theta), np.diff(self.starts)
        Z = np.asarray(self.places.Z)
        out.places.centre = np.broadcast_to(theta[:self.p], (self.n, self.p))
        modes = np.zeros((self.n, self.b))
        for _ in range(2):
            out.away = modes
            apart = (Z * np.repeat(modes, sizes, axis=0)).sum(axis=1)
            out.inner = self.make(apart, self.nodes).anchored(inner, self.subgroups[groups])
            modes = out.settled(theta, groups)
        return out

    def inner_theta(self, theta):
        """That of the density of subgroups, at effects b of zero."""
        beta, phi, rest = np.split(theta, [self.p, self.p + self.loading.size])
        second = self.q + self.places.loading.size - self.b     # coordinates of inner correlations
        return np.concatenate([beta, np.zeros(self.b), phi[self.b:self.q], phi[second:], rest])

    def precision(self, theta, Py_ssize_t groups):
        """Mean precision with which rows tell the outer effects, the inner ones integrated out."""
        cdef Nested out = self.anchored(theta, min(self.n, groups))
        groups = min(self.n, groups)
        out.settled(theta, groups)
        outer = np.asarray(out.places.K)[:groups].mean(axis=0).reshape(self.b, self.b).diagonal()
        inner = self.inner.precision(self.inner_theta(theta), self.subgroups[groups])
        return np.append(outer, inner)

    def settled(self, const double[::1] theta, Py_ssize_t groups):
        """The mode of each group's outer effects at theta; the density is expanded there."""
        cdef double[::1] work = np.empty(self.work_size())
        cdef double[:, ::1] modes = np.zeros((self.n, self.b))
        cdef Py_ssize_t g, end, begin = 0
        cdef Place place = self.at(&theta[0], &work[0])
        cdef Space s = self.divided(&place, self.room(&work[0]))
        while begin < groups:
            deadline.check()
            end = min(begin + NESTED_BETWEEN_LOOKS, groups)
            with nogil:
                for g in range(begin, end):
                    self.settle(g, &s, &modes[g, 0])
            begin = end
        return np.asarray(modes)

    cdef void fetch(self, const Batch *b) noexcept nogil:
        cdef Batch rows
        if b.rows == NULL and b.m:
            rows = all_rows(self.starts[b.start + b.m] - self.starts[b.start])
            rows.start = self.starts[b.start]
            self.inner.glm.X.fetch(&rows)

    cdef Py_ssize_t group_size(self) noexcept nogil:
        cdef Py_ssize_t d = self.inner.dim, many = 0
        if self.at_nodes:
            many = (<Quadrature> self.inner).size_at(self.places.count)
        return (many + 2 * d + self.inner.glm.dim + self.q * self.q + self.places.group_size()
                + (self.places.count + 1) * (d + self.dim) + 2 * d * d + self.inner.group_size())

    cdef Space divided(self, const Place *at, double *work) noexcept nogil:
        """The scratch of a group, with what both densities need of theta."""
        cdef Space s
        cdef Py_ssize_t i, j, d = self.inner.dim, b = self.b, c = self.q - self.b
        cdef double *outer = work
        cdef double *inner = work + b * b
        for i in range(b):
            for j in range(b):
                outer[i * b + j] = at.root[i * self.q + j]
        for i in range(c):
            for j in range(c):
                inner[i * c + j] = at.root[(b + i) * self.q + b + j]
        work += self.q * self.q
        s.beta, work = work, work + d
        memcpy(s.beta, at.beta, self.p * sizeof(double))
        memcpy(work + self.p + b, at.auxiliary + self.p, self.auxiliary * sizeof(double))
        s.outer = Place(at.beta, at.auxiliary, outer)
        s.inner = Place(s.beta, work, inner)
        work += self.inner.glm.dim
        s.room, work = self.places.divided(1, work), work + self.places.group_size()
        s.scores, work = work, work + self.places.count * d
        s.one, work = work, work + d
        s.H, work = work, work + 2 * d * d
        s.by_theta, work = work, work + (self.places.count + 1) * self.dim
        s.rest = work
        return s

    cdef double inside(self, Py_ssize_t group, const double *b, Space *s, double *g,
                       bint informed) except? -1 nogil:
        """Log density of a group's subgroups at its effects b, the gradient g, and minus the
        Hessian H where it is asked for.
        """
        cdef Py_ssize_t h, j, d = self.inner.dim
        cdef double value, total = 0
        for j in range(self.b):
            s.beta[self.p + j] = b[j] - self.away[group, j]
        memset(g, 0, d * sizeof(double))
        memset(s.H, 0, d * d * sizeof(double) if informed else 0)
        for h in range(self.subgroups[group], self.subgroups[group + 1]):
            self.inner.of_group(&s.inner, h, s.rest, &value, s.one)
            total += value
            for j in range(d):
                g[j] += s.one[j]
            if informed:
                self.inner.information(&s.inner, h, s.rest, s.H + d * d, s.one)
                for j in range(d * d):
                    s.H[j] += s.H[d * d + j]
        return total

    cdef void curvature(self, const Space *s, double *K) noexcept nogil:
        """The part of H of the effects b."""
        cdef Py_ssize_t i, j, d = self.inner.dim
        for i in range(self.b):
            for j in range(self.b):
                K[i * self.b + j] = s.H[(self.p + i) * d + self.p + j]

    cdef bint frame(self, Py_ssize_t group, Space *s, Frame *f) except -1 nogil:
        """Where the nodes of the outer effects are: as in `Quadrature`, or by the density itself
        where it is normal: its gradient falls by K Lambda e_j from 0 to the effects Lambda e_j.
        """
        cdef Py_ssize_t a, j, b = self.b
        cdef double[MOST_SQUARES] A
        cdef double[MOST_EFFECTS] pulled, half
        if not self.closed:
            return self.places.frame(&s.outer, group, &s.room, f)
        memset(pulled, 0, b * sizeof(double))
        self.inside(group, pulled, s, s.scores, False)
        memcpy(f.score, s.scores + self.p, b * sizeof(double))
        for j in range(b):
            for a in range(b):
                pulled[a] = s.outer.root[a * b + j]
            self.inside(group, pulled, s, s.scores, False)
            for a in range(b):
                f.KL[a * b + j] = f.score[a] - s.scores[self.p + a]
        multiply_transposed(b, s.outer.root, f.KL, A)
        for a in range(b):
            A[a * b + a] += 1
        if not root_of_inverse(b, A, f.B, &f.log_det):
            return False
        transposed_times(b, s.outer.root, f.score, pulled)
        transposed_times(b, f.B, pulled, half)
        times(b, f.B, half, f.centre)
        return True

    cdef double visit(self, Py_ssize_t group, Quadrature rule, Space *s,
                      Frame *f) except? -1 nogil:
        """Probabilities of a rule's nodes and their gradients into s; the log density of the group.
        """
        cdef Py_ssize_t k, d = self.inner.dim
        cdef double value
        cdef double *g
        if not self.frame(group, s, f):
            return -INFINITY
        rule.place_nodes(&s.outer, group, f, &s.room)
        for k in range(rule.count):
            g = s.scores + k * d
            value = self.inside(group, s.room.b + k * self.b, s, g, False)
            if not value > -INFINITY:
                return -INFINITY
            s.room.t[k] += value
            memcpy(s.room.R + k * self.b, g + self.p, self.b * sizeof(double))
        return rule.normalise(&s.room)

    cdef void by_theta(self, const Space *s, Py_ssize_t k, double *out) noexcept nogil:
        """The gradient by (beta, entries of Lambda, auxiliary) at a node that stays where it is."""
        cdef Py_ssize_t e, outer = self.places.loading.size
        cdef const double *g = s.scores + k * self.inner.dim
        memcpy(out, g, self.p * sizeof(double))
        for e in range(outer):
            out[self.p + e] = (g[self.p + self.places.loading.row[e]]
                               * s.room.z[k * self.b + self.places.loading.column[e]])
        memcpy(out + self.p + outer, g + self.p + self.b,
               (self.dim - self.p - outer) * sizeof(double))

    cdef int of_group(self, const Place *at, Py_ssize_t group, double *work, double *value,
                      double *r) except -1 nogil:
        cdef Space s = self.divided(at, work)
        cdef Py_ssize_t j, k
        cdef NodeSums sums
        cdef Frame f
        memset(r, 0, self.dim * sizeof(double))
        value[0] = self.visit(group, self.few, &s, &f)
        if value[0] == -INFINITY:
            return OK
        for k in range(self.few.count):
            self.by_theta(&s, k, s.by_theta)
            for j in range(self.dim):
                r[j] += s.room.t[k] * s.by_theta[j]
        if not self.closed:
            self.places.mean_sums(group, &s.room, &sums)
            self.places.through_nodes(&s.outer, group, &f, &sums, r)
        return OK

    cdef int group_value(self, const Place *at, Py_ssize_t group, double *work,
                         double *value) except -1 nogil:
        """Each subgroup at all nodes of the outer effects in turn."""
        cdef Space s
        cdef Frame f
        cdef Py_ssize_t h, j, k
        if not self.at_nodes:
            return Marginal.group_value(self, at, group, work, value)
        s = self.divided(at, work)
        value[0] = -INFINITY
        if not self.frame(group, &s, &f):
            return OK
        self.places.place_nodes(&s.outer, group, &f, &s.room)
        for j in range(self.b):
            s.beta[self.p + j] = -self.away[group, j]
        for h in range(self.subgroups[group], self.subgroups[group + 1]):
            (<Quadrature> self.inner).values_at(
                &s.inner, h, self.p, self.b, &self.Z[self.inner.starts[h], 0], self.q,
                self.places.count, s.room.b, s.rest, s.room.t)
        for k in range(self.places.count):
            if not s.room.t[k] > -INFINITY:
                return OK
        value[0] = self.places.normalise(&s.room)
        return OK

    cdef int information(self, const Place *at, Py_ssize_t group, double *work, double *w,
                         double *slope) except -1 nogil:
        """By nodes that stay where they are (Louis 1982, eq. 3.2)."""
        cdef Space s = self.divided(at, work)
        cdef Py_ssize_t i, j, k, dim = self.dim
        cdef double *mean = s.by_theta + self.places.count * dim
        cdef double *one
        cdef Frame f
        memset(w, 0, dim * dim * sizeof(double))
        memset(mean, 0, dim * sizeof(double))
        self.visit(group, self.places, &s, &f)
        for k in range(self.places.count):
            self.inside(group, s.room.b + k * self.b, &s, s.scores + k * self.inner.dim, True)
            one = s.by_theta + k * dim
            self.by_theta(&s, k, one)
            for j in range(dim):
                mean[j] += s.room.t[k] * one[j]
            self.add_inner(&s, k, w)
        for k in range(self.places.count):
            one = s.by_theta + k * dim
            for i in range(dim):
                for j in range(dim):
                    w[i * dim + j] -= s.room.t[k] * (one[i] - mean[i]) * (one[j] - mean[j])
        memcpy(slope, mean + self.p, self.loading.size * sizeof(double))
        return OK

    cdef void add_inner(self, const Space *s, Py_ssize_t k, double *w) noexcept nogil:
        """w += the k-th node's probability times T'H T, T the slopes of (beta, b, inner entries,
        auxiliary) by (beta, entries, auxiliary).
        """
        cdef Py_ssize_t i, j, d = self.inner.dim
        cdef double slope
        for i in range(self.dim):
            slope = s.room.t[k] * self.slope(s, k, i)
            for j in range(self.dim):
                w[i * self.dim + j] += (slope * self.slope(s, k, j)
                                        * s.H[self.place(i) * d + self.place(j)])

    cdef Py_ssize_t place(self, Py_ssize_t j) noexcept nogil:
        """Of the coefficient of the inner density that the j-th number moves."""
        cdef Py_ssize_t outer = self.places.loading.size
        if j < self.p:
            return j
        if j < self.p + outer:
            return self.p + self.places.loading.row[j - self.p]
        return j - outer + self.b

    cdef double slope(self, const Space *s, Py_ssize_t k, Py_ssize_t j) noexcept nogil:
        """How far it moves it at a node."""
        cdef Py_ssize_t e = j - self.p
        if 0 <= e < self.places.loading.size:
            return s.room.z[k * self.b + self.places.loading.column[e]]
        return 1

    cdef int settle(self, Py_ssize_t group, Space *s, double *mode) except -1 nogil:
        """Find the mode of a group's effects by Newton's method, and expand the density there: see
        `Quadrature`.
        """
        cdef Py_ssize_t a, j, step, b = self.b, d = self.inner.dim
        cdef double[MOST_SQUARES] A, B, K, KL
        cdef double[MOST_EFFECTS] z, g, move, half
        cdef double value, last = -INFINITY, length, log_det
        memset(z, 0, b * sizeof(double))
        memset(move, 0, b * sizeof(double))
        for step in range(NESTED_STEPS):
            times(b, s.outer.root, z, mode)
            value = self.inside(group, mode, s, s.scores, True)
            for a in range(b):
                value -= 0.5 * z[a] * z[a]
            if not value >= last - 1e-9 * (1 + abs(last)):              # overshot
                for a in range(b):
                    move[a] *= 0.5
                    z[a] -= move[a]
                continue
            last = value
            self.curvature(s, K)
            multiply(b, K, s.outer.root, KL)
            multiply_transposed(b, s.outer.root, KL, A)
            transposed_times(b, s.outer.root, s.scores + self.p, g)
            for a in range(b):
                g[a] -= z[a]
                A[a * b + a] += 1
            if not root_of_inverse(b, A, B, &log_det):
                break
            transposed_times(b, B, g, half)
            times(b, B, half, move)
            length = 0
            for a in range(b):
                length = max(length, abs(move[a]))
            if length < NESTED_NEAR:
                break
            for a in range(b):
                z[a] += move[a]
        for a in range(b):
            self.places.h[group, a] = s.scores[self.p + a]
            for j in range(b):
                self.places.K[group, a * b + j] = K[a * b + j]
                self.places.h[group, a] += K[a * b + j] * mode[j]
            for j in range(self.p):
                self.places.M[group, a * self.p + j] = s.H[(self.p + a) * d + j]
        return OK
