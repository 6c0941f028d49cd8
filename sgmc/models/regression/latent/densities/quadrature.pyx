"""Adaptive Gauss-Hermite quadrature over the effects of a group."""
import numpy as np

from libc.math cimport INFINITY, log
from libc.string cimport memcpy, memset

from sgmc.core.numerics cimport simd
from sgmc.core.contract cimport OK, Batch, all_rows
from sgmc.core.system import deadline
from sgmc.models.regression.latent.densities.information cimport Informed
from sgmc.models.mixed.loading cimport MOST_EFFECTS, Loading
from sgmc.models.regression.latent.densities.marginal cimport Place
from sgmc.models.regression.latent.densities.nodes cimport (
    HALF_LOG_2PI, MOST_SQUARES, TOGETHER, Frame, NodeSums, Room,
)
from sgmc.models.regression.latent.densities.rules import normal_rule
from sgmc.models.regression.latent.densities.small cimport (
    multiply, multiply_transposed, root_of_inverse, times, transposed_times,
)
from sgmc.models.regression.bases.glm cimport Glm

cdef enum:
    STEPS = 50                    # of the search for a group's mode
    GROUPS_BETWEEN_LOOKS = 1024   # at the clock
cdef double NEAR_EFFECTS = 5.0      # sds of effects, beyond which no search begins
cdef double SETTLED_EFFECTS = 1e-4  # change of a group's effects, in sds, at which the search ends

cdef class Quadrature(Informed):
    """Effects integrated out by nodes that are placed for each group by a normal approximation:
    nodes^q Gauss-Hermite ones, or points of importance sampling from it.

    Around an anchor theta_0 the log density of a group's outcomes is about h'b - b'K b / 2 as a
    function of its effects b, and h moves by -M (beta - beta_0).  With A = I + Lambda' K Lambda the
    nodes are z_k = A^-1 Lambda' h + A^(-1/2) t_k: smooth functions of theta, standard ones at
    Lambda = 0 (Pinheiro & Bates 1995, section 2.4; doi:10.1080/10618600.1995.10474663).  Gradients
    are those of the sum over nodes, their places included.

    Parameters
    ----------
    glm, starts, Z, loading, unit
        See `Marginal`.
    nodes, rule
        See `Nodes`.
    """

    closed = False

    def __init__(self, Glm glm, starts, Z, Loading loading, unit=None, Py_ssize_t nodes=9,
                 rule=normal_rule):
        Informed.__init__(self, glm, starts, Z, loading, unit, nodes, rule)
        self.centre = np.broadcast_to(0.0, (self.n, self.p))
        self.h, self.K = np.zeros((self.n, self.q)), np.zeros((self.n, self.q * self.q))
        self.M = np.zeros((self.n, self.q * self.p))

    def precisions(self, theta):
        """Precision with which rows tell the effect of each group, of one effect, (groups,)."""
        return np.asarray(self.K)[:, 0]

    def precision(self, theta, Py_ssize_t groups):
        """Mean precision with which rows tell each effect of their group, (q,); by some groups."""
        some = min(self.n, groups)
        curvature = np.asarray(self.anchored(theta, some).K)[:some]
        return curvature.mean(axis=0).reshape(self.q, self.q).diagonal()

    def with_nodes(self, Py_ssize_t nodes):
        """The same at the same anchor with another number of nodes."""
        return self.like(nodes).take(self)

    def like(self, Py_ssize_t nodes):
        """The same, not anchored, with another number of nodes."""
        return Quadrature(self.glm, self.starts, self.Z, self.loading, self.unit, nodes, self.rule)

    def take(self, Quadrature other):
        """Share the anchor of another."""
        self.centre, self.h, self.K, self.M = other.centre, other.h, other.K, other.M
        return self

    def shifted(self, weight):
        """sum_g weight_g M_g of groups with one effect, (p,): how beta moves a sum of theirs."""
        return weight @ np.asarray(self.M)

    def anchored(self, theta, Py_ssize_t groups=0):
        """The same with nodes around theta (dim,), or a theta for each group (n, dim); of the first
        `groups` groups (0: all).
        """
        cdef Quadrature out = self.like(self.nodes)
        own = np.array(theta, dtype=float, order="C")
        cdef const double[:, :] x = np.broadcast_to(own, (self.n, self.dim))
        cdef double[::1] work = np.empty(self.work_size())
        cdef Py_ssize_t g, end, begin = 0, total = groups if groups else self.n
        cdef Place place
        cdef Room room
        cdef Frame f
        cdef double *z
        out.centre = np.asarray(x)[:, :self.p]
        while begin < total:
            deadline.check()
            end = min(begin + GROUPS_BETWEEN_LOOKS, total)
            with nogil:
                for g in range(begin, end):
                    place = self.at(&x[g, 0], &work[0])
                    room = self.divided(self.starts[g + 1] - self.starts[g],
                                        self.room(&work[0]))
                    # modes move little from anchor to anchor: where these nodes are is near
                    z = f.centre if self.frame(&place, g, &room, &f) else NULL
                    out.settle(&place, g, &room, z)
            begin = end
        return out

    cdef bint frame(self, const Place *at, Py_ssize_t group, Room *room, Frame *f) noexcept nogil:
        """Where the nodes of a group are."""
        cdef Py_ssize_t a, j, q = self.q
        cdef double[MOST_SQUARES] A
        cdef double[MOST_EFFECTS] pulled, half
        cdef double delta
        for a in range(q):
            f.score[a] = self.h[group, a]
            for j in range(self.p):
                delta = at.beta[j] - self.centre[group, j]
                f.score[a] -= self.M[group, a * self.p + j] * delta
        multiply(q, &self.K[group, 0], at.root, f.KL)
        multiply_transposed(q, at.root, f.KL, A)
        for a in range(q):
            A[a * q + a] += 1
        if not root_of_inverse(q, A, f.B, &f.log_det):
            return False
        transposed_times(q, at.root, f.score, pulled)
        transposed_times(q, f.B, pulled, half)
        times(q, f.B, half, f.centre)
        return True

    cdef int of_group(self, const Place *at, Py_ssize_t group, double *work, double *value,
                      double *r) except -1 nogil:
        cdef Py_ssize_t start = self.starts[group], m = self.starts[group + 1] - start
        cdef Py_ssize_t i, c, e, width = self.glm.width
        cdef Room room = self.divided(m, work)
        cdef Frame f
        cdef NodeSums sums
        cdef Batch rows = all_rows(m)
        memset(r, 0, self.dim * sizeof(double))
        self.visit(at, group, &f, &room, value)
        if value[0] == -INFINITY:
            return OK
        self.average(m, width, 0, room.t, &room, room.mean)
        for c in range(1, width):
            self.average(m, width, c, room.t, &room, room.mean + c * m)
        rows.start = start
        self.glm.X.tdot(&rows, room.mean, r, room.work)
        for c in range(1, width):
            e = self.p + self.loading.size + c - 1
            for i in range(m):
                r[e] += room.mean[c * m + i]
        self.mean_scores(group, start, m, &room, &sums)
        return self.through_nodes(at, group, &f, &sums, r)

    cdef void average(self, Py_ssize_t m, Py_ssize_t width, Py_ssize_t c, const double *share,
                      const Room *room, double *out) noexcept nogil:
        """out = sum_k share_k r_k of the c-th number of each of m rows."""
        cdef Py_ssize_t i, k
        cdef const double *one = room.r + c
        memset(out, 0, m * sizeof(double))
        if width == 1:
            simd.tdot_f64(self.count, m, one, NULL, share, out)
            return
        for k in range(self.count):
            for i in range(m):
                out[i] += share[k] * one[i * width]
            one += m * width

    cdef void mean_nodes(self, Py_ssize_t group, const double *share,
                         NodeSums *sums) noexcept nogil:
        """Means of t and t t' over nodes."""
        cdef Py_ssize_t a, b, k, q = self.q, own = group % self.sets
        cdef const double *t = &self.t[own, 0, 0]
        cdef double total
        memset(sums.t, 0, q * sizeof(double))
        memset(sums.TT, 0, q * q * sizeof(double))
        for k in range(self.count):
            for a in range(q):
                total = share[k] * t[a]
                sums.t[a] += total
                for b in range(a + 1):
                    sums.TT[a * q + b] += total * t[b]
            t += q
        for a in range(q):
            for b in range(a):
                sums.TT[b * q + a] = sums.TT[a * q + b]

    cdef void mean_scores(self, Py_ssize_t group, Py_ssize_t start, Py_ssize_t m, Room *room,
                          NodeSums *sums) noexcept nogil:
        """Means over nodes by their scores, of which room.mean has the mean."""
        cdef Py_ssize_t a, b, k, q = self.q, own = group % self.sets
        cdef double[MOST_EFFECTS] column
        self.mean_nodes(group, room.t, sums)
        self.collect(start, m, room.mean, 1, sums.R)
        for b in range(q):
            for k in range(self.count):
                room.R[k] = room.t[k] * self.t[own, k, b]
            self.average(m, self.glm.width, 0, room.R, room, room.block)
            self.collect(start, m, room.block, 1, column)
            for a in range(q):
                sums.RT[a * q + b] = column[a]

    cdef void mean_sums(self, Py_ssize_t group, const Room *room, NodeSums *sums) noexcept nogil:
        """Means over nodes by the sums R of each."""
        cdef Py_ssize_t a, b, k, q = self.q, own = group % self.sets
        cdef double total
        self.mean_nodes(group, room.t, sums)
        memset(sums.R, 0, q * sizeof(double))
        memset(sums.RT, 0, q * q * sizeof(double))
        for k in range(self.count):
            for a in range(q):
                total = room.t[k] * room.R[k * q + a]
                sums.R[a] += total
                for b in range(q):
                    sums.RT[a * q + b] += total * self.t[own, k, b]

    cdef int group_value(self, const Place *at, Py_ssize_t group, double *work,
                         double *value) except -1 nogil:
        cdef Room room = self.divided(self.starts[group + 1] - self.starts[group], work)
        cdef Frame f
        return self.visit(at, group, &f, &room, value, False)

    cdef Py_ssize_t size_at(self, Py_ssize_t points) noexcept nogil:
        """Doubles of scratch that `values_at` takes besides that of a group."""
        return (3 + self.glm.width) * TOGETHER + points * self.count

    cdef int values_at(self, const Place *at, Py_ssize_t group, Py_ssize_t first, Py_ssize_t moved,
                       const double *covariates, Py_ssize_t stride, Py_ssize_t points,
                       const double *moves, double *work, double *total) except -1 nogil:
        """Add log densities of a group where `moved` coefficients from the `first` on are off by
        `moves` (points, moved) to total (points,): nodes move with them, but how far they are apart
        does not.  The i-th row of these coefficients' columns begins at covariates + i stride.
        """
        cdef Py_ssize_t start = self.starts[group], m = self.starts[group + 1] - start
        cdef Py_ssize_t i, j, k = 0, l, some, count = self.count
        # points whose nodes are given to the family at once
        cdef Py_ssize_t most = max(TOGETHER // (m * count), 1)
        cdef double *wide = work + self.group_size()
        cdef double *t = wide + (3 + self.glm.width) * TOGETHER
        cdef Room room = self.divided(m, work)
        cdef Frame f
        self.predict(at, start, m, room.eta, room.work)
        memcpy(room.mean, room.eta, m * sizeof(double))
        if not self.frame(at, group, &room, &f):
            for k in range(points):
                total[k] = -INFINITY
            return OK
        while k < points:
            some = min(most, points - k)
            for l in range(some):
                for i in range(m):
                    room.eta[i] = room.mean[i]
                    for j in range(moved):
                        room.eta[i] += covariates[i * stride + j] * moves[(k + l) * moved + j]
                self.recentre(at, group, first, moved, moves + (k + l) * moved, &f)
                if self.constant and most > 1:      # the same without calls
                    self.shift_points(at, group, m, &f, room.eta, wide + l * count * m,
                                      t + (k + l) * count)
                    continue
                self.place_nodes(at, group, &f, &room)
                if most == 1:                       # as many nodes as fit
                    self.score_effects(at, start, m, count, &room, room.t)
                else:
                    for j in range(count):
                        self.shift(start, m, room.eta, room.b + j * self.q,
                                   wide + (l * count + j) * m)
                memcpy(t + (k + l) * count, room.t, count * sizeof(double))
            if most > 1:
                self.score_many(at, start, m, some * count, wide, t + k * count)
            k += some
        self.add_means(points, t, total)
        return OK

    cdef void shift_points(self, const Place *at, Py_ssize_t group, Py_ssize_t m, const Frame *f,
                           const double *eta, double *out, double *t) noexcept nogil:
        """Linear predictors of all nodes of one effect that rows have as it is, and what
        `place_nodes` has for these in the place of log densities.
        """
        cdef Py_ssize_t i, k, own = group % self.sets
        cdef double z, b, same = f.log_det - HALF_LOG_2PI
        for k in range(self.count):
            z = f.B[0] * self.t[own, k, 0] + f.centre[0]
            t[k] = self.weight[own, k] + same - 0.5 * z * z
            b = at.root[0] * z
            for i in range(m):
                out[i] = eta[i] + b
            out += m

    cdef void recentre(self, const Place *at, Py_ssize_t group, Py_ssize_t first, Py_ssize_t moved,
                       const double *move, Frame *f) noexcept nogil:
        """Nodes around where the mode is with coefficients that have moved."""
        cdef Py_ssize_t a, j, q = self.q
        cdef double[MOST_EFFECTS] score, pulled, half
        if q == 1:                                  # the same without calls
            score[0] = f.score[0]
            for j in range(moved):
                score[0] -= self.M[group, first + j] * move[j]
            f.centre[0] = f.B[0] * (f.B[0] * (at.root[0] * score[0]))
            return
        for a in range(q):
            score[a] = f.score[a]
            for j in range(moved):
                score[a] -= self.M[group, a * self.p + first + j] * move[j]
        transposed_times(q, at.root, score, pulled)
        transposed_times(q, f.B, pulled, half)
        times(q, f.B, half, f.centre)

    cdef int score_many(self, const Place *at, Py_ssize_t start, Py_ssize_t m, Py_ssize_t count,
                        double *wide, double *t) except -1 nogil:
        """Add log densities at so many linear predictors of the rows, which `wide` begins with."""
        cdef double *y = wide + TOGETHER
        cdef const double *weight = &self.glm.weight[start] if self.glm.weight.shape[0] else NULL
        cdef Py_ssize_t i, k
        for k in range(count):
            for i in range(m):
                y[k * m + i] = self.glm.y[start + i]
        return self.glm.family_values(at.auxiliary, count, m, wide, y, weight, y + 2 * TOGETHER,
                                      y + TOGETHER, t)

    cdef void add_means(self, Py_ssize_t points, double *t, double *total) noexcept nogil:
        """Add logs of the sums over nodes, whose logs are in t (points, nodes)."""
        cdef Py_ssize_t j, k
        cdef double one
        cdef double *own = t
        for k in range(points):
            one = -INFINITY
            for j in range(self.count):
                one = max(one, own[j])
            total[k] += one
            for j in range(self.count):
                own[j] -= one
            own += self.count
        simd.exponential(points * self.count, t, t)
        for k in range(points):
            one = 0
            for j in range(self.count):
                one += t[k * self.count + j]
            total[k] += log(one)

    cdef int through_nodes(self, const Place *at, Py_ssize_t group, const Frame *f,
                           const NodeSums *sums, double *r) except -1 nogil:
        """The gradient by the entries of Lambda, and what the nodes' places add for beta.

        With G_k = Lambda' R_k - z_k, the slope of the k-th log term by z_k, g = E G,
        W = B' E[G t'], S = E[R z'] (E over nodes) and, for a change dA of A, D = B' dA B, the
        places add g' dcentre - sum_ij W_ij P_ij - tr D / 2, P the upper triangle of D with half
        its diagonal.  As z_k = centre + B t_k, all of these follow from E R, E[R t'], E t and
        E[t t'].
        """
        cdef Py_ssize_t a, b, c, e, j, l, q = self.q
        cdef double[MOST_SQUARES] S, GT, W
        cdef double[MOST_EFFECTS] g, pulled, back, by_t
        cdef double total, product
        multiply_transposed(q, at.root, sums.RT, GT)
        multiply(q, f.B, sums.TT, W)
        transposed_times(q, at.root, sums.R, g)
        times(q, f.B, sums.t, by_t)
        for a in range(q):
            g[a] -= f.centre[a] + by_t[a]
            for b in range(q):
                GT[a * q + b] -= f.centre[a] * sums.t[b] + W[a * q + b]
                total = sums.R[a] * f.centre[b]
                for c in range(q):
                    total += sums.RT[a * q + c] * f.B[b * q + c]
                S[a * q + b] = total
        multiply_transposed(q, f.B, GT, W)
        transposed_times(q, f.B, g, by_t)
        times(q, f.B, by_t, pulled)                       # A^-1 g
        times(q, at.root, pulled, back)
        for j in range(self.p):
            for a in range(q):
                r[j] -= back[a] * self.M[group, a * self.p + j]
        for e in range(self.loading.size):
            a, b = self.loading.row[e], self.loading.column[e]
            total = S[a * q + b] + pulled[b] * f.score[a]
            for l in range(q):                            # dA = e_b y' + y e_b', y = (K Lambda)_a
                total -= f.KL[a * q + l] * (pulled[b] * f.centre[l] + pulled[l] * f.centre[b])
            for c in range(q):                            # y' B
                by_t[c] = 0
                for l in range(q):
                    by_t[c] += f.KL[a * q + l] * f.B[l * q + c]
            for c in range(q):
                product = f.B[b * q + c] * by_t[c]
                total -= product * (1 + W[c * q + c])
                for l in range(c + 1, q):
                    total -= W[c * q + l] * (f.B[b * q + c] * by_t[l] + f.B[b * q + l] * by_t[c])
            r[self.p + e] = total
        return OK

    cdef int settle(self, const Place *at, Py_ssize_t group, Room *room,
                    double *first) except -1 nogil:
        """Find the mode of a group's effects by Newton's method, and expand its log density there:
        curvature K, slope h at zero effects, and M, how beta moves it.  It begins at `first`, or,
        where that is NULL or far out, at zero.
        """
        cdef Py_ssize_t start = self.starts[group], m = self.starts[group + 1] - start
        cdef Py_ssize_t a, step, q = self.q
        cdef double[MOST_SQUARES] A, B, K, KL
        cdef double[MOST_EFFECTS] z, b, R, g, move, half
        cdef double value, last = -INFINITY, length, log_det
        self.predict(at, start, m, room.eta, room.work)
        memset(z, 0, q * sizeof(double))
        memset(move, 0, q * sizeof(double))
        length = 0
        for a in range(q if first != NULL else 0):
            length = max(length, abs(first[a])) if first[a] == first[a] else INFINITY
        if first != NULL and length < NEAR_EFFECTS:
            memcpy(z, first, q * sizeof(double))
        for step in range(STEPS):
            times(q, at.root, z, b)
            value = self.expand_group(at, start, m, b, room, R, K)
            for a in range(q):
                value -= 0.5 * z[a] * z[a]
            if not value >= last - 1e-9 * (1 + abs(last)):              # overshot
                for a in range(q):
                    move[a] *= 0.5
                    z[a] -= move[a]
                continue
            last = value
            multiply(q, K, at.root, KL)
            multiply_transposed(q, at.root, KL, A)
            transposed_times(q, at.root, R, g)
            for a in range(q):
                g[a] -= z[a]
                A[a * q + a] += 1
            root_of_inverse(q, A, B, &log_det)
            transposed_times(q, B, g, half)
            times(q, B, half, move)
            length = 0
            for a in range(q):
                length = max(length, abs(move[a]))
                z[a] += move[a]
            if length < SETTLED_EFFECTS:
                break
        for a in range(q):
            self.h[group, a] = R[a]
        for a in range(q * q):
            self.K[group, a] = K[a]
            self.h[group, a // q] += K[a] * b[a % q]
        return self.cross(start, m, room, &self.M[group, 0])

    cdef double expand_group(self, const Place *at, Py_ssize_t start, Py_ssize_t m,
                             const double *b, Room *room, double *R, double *K) except? -1 nogil:
        """Log density of the rows at effects b, its slope R and minus its Hessian K by b.

        The observed information of each row where all are positive, the expected one elsewhere;
        the rows' own stay in room.density.
        """
        cdef Py_ssize_t i, c, a, d, q = self.q, width = self.glm.width
        cdef double *w = room.r                            # m x width^2: see `group_size`
        cdef double value = 0, weight
        cdef bint positive = True
        self.shift(start, m, room.eta, b, room.block)
        self.glm.family(at.auxiliary, m, room.block, &self.glm.y[start], room.mean, room.density)
        self.glm.observed_information(at.auxiliary, m, room.block, &self.glm.y[start], w)
        for i in range(m):
            positive = positive and w[i * width * width] > 0
        if not positive:
            self.glm.expected_information(at.auxiliary, m, room.block, &self.glm.y[start], w)
        for i in range(m):
            weight = self.glm.weight[start + i] if self.glm.weight.shape[0] else 1
            value += weight * room.density[i]
            for c in range(width):
                room.mean[i * width + c] *= weight
            room.density[i] = weight * max(w[i * width * width], 0.0)
        self.collect(start, m, room.mean, width, R)
        memset(K, 0, q * q * sizeof(double))
        for i in range(m):
            for a in range(q):
                for d in range(q):
                    K[a * q + d] += room.density[i] * self.Z[start + i, a] * self.Z[start + i, d]
        return value

    cdef int cross(self, Py_ssize_t start, Py_ssize_t m, Room *room, double *M) except -1 nogil:
        """M = sum_i w_i z_i x_i' by the information that `expand_group` left."""
        cdef Py_ssize_t i, a
        cdef Batch rows = all_rows(m)
        rows.start = start
        memset(M, 0, self.q * self.p * sizeof(double))
        for a in range(self.q):
            for i in range(m):
                room.mean[i] = room.density[i] * self.Z[start + i, a]
            self.glm.X.tdot(&rows, room.mean, M + a * self.p, room.work)
        return OK
