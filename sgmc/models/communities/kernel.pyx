"""The assortative mixed-membership stochastic blockmodel, summed over the communities of pairs."""
import numpy as np

from libc.math cimport log, NAN
from libc.string cimport memset

from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK, Batch, Model, Scratch, row_of
from sgmc.errors import NotSupported

cdef double SMALLEST_PROBABILITY = limits.SMALLEST_PROBABILITY

MOST_SUMMED = 1000  # nodes up to which draws are checked by gradients of all pairs

cdef enum:
    KEPT_BACK = 0
    LINKED = 1
    ITSELF = 2
    UNLINKED = 3


cdef class Neighbourhoods(Model):
    """A row is a node a with its pairs, each pair in the rows of both nodes by one half; theta is
    the memberships pi (N x K), row by row, and after them (beta_k, 1 - beta_k).

    With D = sum_k pi_ak pi_bk (beta_k - delta) a link has the probability delta + D (Li, Ahn &
    Welling 2016, eqs. 2-4).  A row adds up all links of a.  Its pairs without a link are cut into
    `parts` equal parts in the order of the nodes, of each of which one is drawn and counts for the
    part (section 3.2 there, with a draw from every stratum at each step).  What is drawn is the
    remainder: of log(1 - delta - D) the linear term -D / (1 - delta) is summed over all pairs, by
    the column sums of pi; each row has the N-th part of that.

    Gradients are those on the simplices, plus `spare`, a number for each row of theta that does
    not matter there.  theta_k times the gradient is then a shape of `scir`, positive where spare is
    at least the expected links of a node in one community and its links together; and the sum of
    the shapes of a row is constant.  Off the simplices the density is that of theta / sum theta,
    row by row, times (sum theta)^spare.

    Parameters
    ----------
    indptr, others, kinds : array of int
        For each node those others that are linked with it or held out, sorted, and itself.
    K : int
    delta : float
    parts : int
        Pairs without a link that a row draws; where there are no more, it has them all.
    spare : array (N + K,)
    """

    cdef const Py_ssize_t[::1] indptr, others
    cdef const signed char[::1] kinds
    cdef Py_ssize_t K, parts
    cdef double delta
    cdef const double[::1] spare
    cdef readonly bint exact                  # nothing is drawn

    def __init__(self, indptr, others, kinds, Py_ssize_t K, double delta, Py_ssize_t parts, spare):
        self.indptr, self.others = (np.array(a, dtype=np.intp) for a in (indptr, others))
        self.kinds, self.spare = np.array(kinds, dtype=np.int8), np.array(spare, dtype=float)
        self.K, self.delta, self.parts = K, delta, parts
        self.n = self.tile = len(indptr) - 1
        self.dim = self.n * K + 2 * K
        self.exact = parts >= self.n - np.diff(indptr).min(initial=1)

    @property
    def nanoseconds(self):
        """Of a node: the pairs that it is in; see `Model`."""
        return 8.0 * self.K * (min(self.parts, self.n) + len(self.others) / self.n)

    @property
    def undrawn(self):
        """The same model with all pairs in each gradient; None where these are too many."""
        if self.exact or self.n > MOST_SUMMED:
            return self if self.exact else None
        return type(self)(self.indptr, self.others, self.kinds, self.K, self.delta, self.n,
                          self.spare)

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return 4 * self.K + (self.dim if self.exact else 0)

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, k, K = self.K
        cdef double *over = s.work            # beta - delta
        cdef double *slope = over + K         # of beta
        cdef const double *strength
        cdef double c, all = 0
        if s.bits == NULL and not self.exact:
            with gil:
                raise NotSupported("pairs without a link are drawn by a chain's random stream; use "
                                   "nonlinks='all' for small networks", because="limit")
        if value != NULL and not self.exact:
            value[0], value = NAN, NULL
        for i in range(b.m):
            all += b.scale * (b.weight[i] if b.weight != NULL else 1)
        if value != NULL:
            value[0] += all / self.n * self.normalise(theta, over + 4 * K)
            theta = over + 4 * K
        strength = theta + self.n * K
        for k in range(K):
            over[k], slope[k] = strength[2 * k] - self.delta, 0
        for i in range(b.m):
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            self.node(row_of(b, i), theta, 0.5 * c, s, value, grad)
        self.everywhere(theta, all / self.n, s, value, grad)
        if grad != NULL:
            grad += self.n * K
            for k in range(K):
                grad[2 * k] += strength[2 * k + 1] * slope[k]
                grad[2 * k + 1] -= strength[2 * k] * slope[k]
        return OK

    cdef double normalise(self, const double *theta, double *shares) noexcept nogil:
        """shares = theta over its sums, row by row; returns sum spare log sum."""
        cdef Py_ssize_t r, k, length
        cdef double total, value = 0
        for r in range(self.n + self.K):
            length, total = self.K if r < self.n else 2, 0
            for k in range(length):
                total += theta[k]
            for k in range(length):
                shares[k] = theta[k] / total
            value += self.spare[r] * log(total)
            theta += length
            shares += length
        return value

    cdef void node(self, Py_ssize_t a, const double *theta, double c, Scratch *s, double *value,
                   double *grad) noexcept nogil:
        """Pairs of a node, with weight c."""
        cdef Py_ssize_t u, i, k, rank, K = self.K, passed = self.indptr[a]
        cdef Py_ssize_t end = self.indptr[a + 1], left = self.n - (end - passed)
        cdef Py_ssize_t m = min(self.parts, left)
        cdef const double *p = theta + a * K
        cdef double *over = s.work
        cdef double *slope = over + K
        cdef double *reach = slope + K        # pi_a (beta - delta)
        cdef double *met = reach + K          # sum t pi_b
        cdef double size = <double> left / max(m, 1), along = 0
        for k in range(K):
            reach[k], met[k] = p[k] * over[k], 0
        for u in range(passed, end):
            if self.kinds[u] != ITSELF:
                self.pair(self.others[u], self.kinds[u], theta, c, reach, met, value, grad)
        for i in range(m):
            rank = i
            if m < left:
                rank = min(<Py_ssize_t> ((i + s.bits.next_double(s.bits.state)) * size), left - 1)
            # of the nodes that are not in the list, the one of that rank
            while passed < end and self.others[passed] <= rank + passed - self.indptr[a]:
                passed += 1
            self.pair(rank + passed - self.indptr[a], UNLINKED, theta, c * size, reach, met, value,
                      grad)
        if grad != NULL:
            for k in range(K):
                along += reach[k] * met[k]
            for k in range(K):
                grad[a * K + k] += over[k] * met[k] - along
                slope[k] += p[k] * met[k]

    cdef void pair(self, Py_ssize_t b, int kind, const double *theta, double c,
                   const double *reach, double *met, double *value, double *grad) noexcept nogil:
        """Adds c (log p + D / (1 - delta)) of a pair with b, and its slopes: those of b, and
        in `met` what those of the other node are made of.
        """
        cdef Py_ssize_t k, K = self.K
        cdef const double *q = theta + b * K
        cdef double D = 0, t = 1 / (1 - self.delta), chance = 1
        for k in range(K):
            D += reach[k] * q[k]
        if value != NULL:
            value[0] += c * D * t
        if kind == LINKED:
            chance = max(self.delta + D, SMALLEST_PROBABILITY)
            t += 1 / chance
        elif kind == UNLINKED:
            chance = max(1 - self.delta - D, SMALLEST_PROBABILITY)
            t -= 1 / chance
        if value != NULL:
            value[0] += c * log(chance)
        if grad == NULL:
            return
        t *= c
        D *= t
        grad += b * K
        for k in range(K):
            met[k] += t * q[k]
            grad[k] += t * reach[k] - D

    cdef void everywhere(self, const double *theta, double c, Scratch *s, double *value,
                         double *grad) noexcept nogil:
        """Adds the linear terms of all pairs, times c, and the same share of `spare`."""
        cdef Py_ssize_t a, k, K = self.K
        cdef const double *over = s.work
        cdef double *slope = s.work + K
        cdef double *sums = slope + K
        cdef double *squares = sums + K
        cdef const double *p = theta
        cdef double t = -c / (1 - self.delta), D
        memset(sums, 0, 2 * K * sizeof(double))
        for a in range(self.n):
            for k in range(K):
                sums[k] += p[k]
                squares[k] += p[k] * p[k]
            p += K
        for k in range(K):
            squares[k] = 0.5 * (sums[k] * sums[k] - squares[k])     # sum over pairs
            slope[k] += t * squares[k]
            if value != NULL:
                value[0] += t * over[k] * squares[k]
        if grad == NULL:
            return
        p = theta
        for a in range(self.n):
            D = 0
            for k in range(K):
                D += p[k] * over[k] * (sums[k] - p[k])
            for k in range(K):
                grad[k] += t * (over[k] * (sums[k] - p[k]) - D) + c * self.spare[a]
            p += K
            grad += K
        for k in range(2 * K):
            grad[k] += c * self.spare[self.n + k // 2]
