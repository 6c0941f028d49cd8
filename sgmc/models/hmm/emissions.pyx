"""What the states of a hidden Markov chain emit: Gaussian numbers, categories, counts.

Missing outcomes (NaN) say nothing.
"""
import numpy as np

from libc.math cimport exp, log, M_PI
from libc.string cimport memset
from scipy.special import gammaln

from sgmc.models.hmm.chain cimport Hidden
from sgmc.models.hmm.windows cimport Span


cdef class GaussianHidden(Hidden):
    """y_td ~ N(mu_kd, sigma_kd^2), independent under state k; theta: mu (K, D), sigma (K, D)."""

    def __init__(self, y, table, buffer, states, initial):
        # 1/sigma^2, log sigma + log(2 pi)/2; sums of 1, e and e^2
        self.prepared = 5 * states * y.shape[1]
        self.dim = states * (states + 2 * y.shape[1])
        Hidden.__init__(self, y, table, buffer, states, initial)

    def moments(self, theta):
        """Means and variances of outcomes under each state, two arrays (K, D)."""
        K, D = self.states, self.y.shape[1]
        mean, sd = np.reshape(np.asarray(theta, dtype=float)[K * K:], (2, K, D))
        return mean, sd ** 2

    cdef void prepare(self, const double *theta, double *own) noexcept nogil:
        cdef Py_ssize_t j, p = self.states * self.y.shape[1]
        for j in range(p):
            own[j] = 1 / (theta[p + j] * theta[p + j])
            own[p + j] = log(theta[p + j]) + 0.5 * log(2 * M_PI)
        memset(own + 2 * p, 0, 3 * p * sizeof(double))

    cdef void densities(self, const double *theta, const double *own, Py_ssize_t start,
                        Py_ssize_t stop, double *out) noexcept nogil:
        cdef Py_ssize_t K = self.states, D = self.y.shape[1], p = K * D, t, k, d
        cdef double y, e, total
        for t in range(start, stop):
            for k in range(K):
                total = 0
                for d in range(D):
                    y = self.y[t, d]
                    if y == y:
                        e = y - theta[k * D + d]
                        total -= 0.5 * e * e * own[k * D + d] + own[p + k * D + d]
                out[(t - start) * K + k] = total

    cdef void gather(self, const double *theta, double *own, const Span *s,
                     const double *w) noexcept nogil:
        cdef Py_ssize_t K = self.states, D = self.y.shape[1], p = K * D, t, k, d
        cdef double *sums = own + 2 * p
        cdef double y, e, c
        for t in range(s.low, s.high):
            for d in range(D):
                y = self.y[t, d]
                if y != y:
                    continue
                for k in range(K):
                    c, e = s.scale * w[(t - s.low) * K + k], y - theta[k * D + d]
                    sums[k * D + d] += c
                    sums[p + k * D + d] += c * e
                    sums[2 * p + k * D + d] += c * e * e

    cdef void settle(self, const double *theta, const double *own, double *grad) noexcept nogil:
        cdef Py_ssize_t j, p = self.states * self.y.shape[1]
        cdef const double *sums = own + 2 * p
        for j in range(p):
            grad[j] += sums[p + j] * own[j]
            grad[p + j] += (sums[2 * p + j] * own[j] - sums[j]) / theta[p + j]


cdef class PoissonHidden(Hidden):
    """y_td ~ Poisson(exp eta_kd), independent under state k; theta: eta (K, D)."""

    def __init__(self, y, table, buffer, states, initial):
        self.prepared = 3 * states * y.shape[1]                # exp eta; sums of 1 and y
        self.dim = states * (states + y.shape[1])
        self.factorial = np.ascontiguousarray(gammaln(np.asarray(y, dtype=float) + 1))
        Hidden.__init__(self, y, table, buffer, states, initial)

    def moments(self, theta):
        """Means and variances of outcomes under each state, two arrays (K, D)."""
        rate = np.exp(np.reshape(np.asarray(theta, dtype=float)[self.states ** 2:],
                                 (self.states, -1)))
        return rate, rate

    cdef void prepare(self, const double *theta, double *own) noexcept nogil:
        cdef Py_ssize_t j, p = self.states * self.y.shape[1]
        for j in range(p):
            own[j] = exp(theta[j])
        memset(own + p, 0, 2 * p * sizeof(double))

    cdef void densities(self, const double *theta, const double *own, Py_ssize_t start,
                        Py_ssize_t stop, double *out) noexcept nogil:
        cdef Py_ssize_t K = self.states, D = self.y.shape[1], t, k, d
        cdef double y, total
        for t in range(start, stop):
            for k in range(K):
                total = 0
                for d in range(D):
                    y = self.y[t, d]
                    if y == y:
                        total += y * theta[k * D + d] - own[k * D + d] - self.factorial[t, d]
                out[(t - start) * K + k] = total

    cdef void gather(self, const double *theta, double *own, const Span *s,
                     const double *w) noexcept nogil:
        cdef Py_ssize_t K = self.states, D = self.y.shape[1], p = K * D, t, k, d
        cdef double *sums = own + p
        cdef double y, c
        for t in range(s.low, s.high):
            for d in range(D):
                y = self.y[t, d]
                if y != y:
                    continue
                for k in range(K):
                    c = s.scale * w[(t - s.low) * K + k]
                    sums[k * D + d] += c
                    sums[p + k * D + d] += c * y

    cdef void settle(self, const double *theta, const double *own, double *grad) noexcept nogil:
        cdef Py_ssize_t j, p = self.states * self.y.shape[1]
        for j in range(p):
            grad[j] += own[2 * p + j] - own[j] * own[p + j]


cdef class CategoricalHidden(Hidden):
    """P(y_t = c) = p_kc under state k, c from 0 to C - 1; theta: p (K, C).

    `labels` are what users call the categories.
    """

    def __init__(self, y, table, buffer, states, initial, labels):
        self.labels, self.categories = list(labels), len(labels)
        self.prepared = 2 * states * self.categories           # log p and sums of 1, by category
        self.dim = states * (states + self.categories)
        Hidden.__init__(self, y, table, buffer, states, initial)

    @property
    def rest(self):
        return *Hidden.rest.__get__(self), self.labels

    def moments(self, theta):
        """Probabilities of the categories under each state, p, and p (1 - p): two arrays (K, C)."""
        p = np.reshape(np.asarray(theta, dtype=float)[self.states ** 2:], (self.states, -1))
        return p, p * (1 - p)

    cdef void prepare(self, const double *theta, double *own) noexcept nogil:
        cdef Py_ssize_t K = self.states, C = self.categories, k, c
        for k in range(K):
            for c in range(C):
                own[c * K + k] = log(theta[k * C + c])
        memset(own + K * C, 0, K * C * sizeof(double))

    cdef void densities(self, const double *theta, const double *own, Py_ssize_t start,
                        Py_ssize_t stop, double *out) noexcept nogil:
        cdef Py_ssize_t K = self.states, t, k
        cdef double y
        for t in range(start, stop):
            y = self.y[t, 0]
            for k in range(K):
                out[(t - start) * K + k] = own[<Py_ssize_t> y * K + k] if y == y else 0

    cdef void gather(self, const double *theta, double *own, const Span *s,
                     const double *w) noexcept nogil:
        cdef Py_ssize_t K = self.states, t, k
        cdef double *sums = own + K * self.categories
        cdef double y
        for t in range(s.low, s.high):
            y = self.y[t, 0]
            for k in range(K if y == y else 0):
                sums[<Py_ssize_t> y * K + k] += s.scale * w[(t - s.low) * K + k]

    cdef void settle(self, const double *theta, const double *own, double *grad) noexcept nogil:
        cdef Py_ssize_t K = self.states, C = self.categories, k, c
        for k in range(K):
            for c in range(C):
                grad[k * C + c] += own[(C + c) * K + k] / theta[k * C + c]
