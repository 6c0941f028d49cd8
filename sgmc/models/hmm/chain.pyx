"""Hidden Markov chains with finitely many states:
forward and backward messages, whatever the outcomes.
"""
import numpy as np

from libc.math cimport log
from libc.string cimport memcpy, memset

from sgmc.core.numerics cimport simd
from sgmc.models.hmm.windows cimport Span, Windows


cdef double SMALLEST_PRODUCT = 1e-100  # of a product before its log is taken


cdef class Hidden(Windows):
    """p(x_t = k | x_{t-1} = j) = A_jk, with K states; theta is A by rows, then what the outcomes'
    densities b_k(y_t) have.

    Messages are scaled to probabilities (Rabiner 1989, section V.A).  Forward: a_t(k) = p(x_t = k |
    y up to t).  Back: beta_t(k) is p(y after t | x_t = k) over its mean under a_t.  With u_t = b_t
    beta_t / c_t, c_t = p(y_t | y before t),

        d log p / dA_jk = sum_t a_{t-1}(j) u_t(k),
        d log p / db_k(y_t) = a_t(k) beta_t(k) / b_k(y_t).

    The stationary law is pi = 1' M, M = (I - A + 11')^-1, and rho . dpi = pi' dA M rho.

    Parameters
    ----------
    y, table, buffer
        See `Windows`.
    states : int
        K.
    initial : array (K,) or None
        Law of a sequence's first state; None: the stationary one.
    """

    def __init__(self, y, table, Py_ssize_t buffer, Py_ssize_t states, initial):
        cdef Py_ssize_t K = states
        self.states, self.initial = K, None if initial is None else np.array(initial, dtype=float)
        self.message, self.slot = K, 3 * K + 1                  # a, b, weights of the states, c
        self.own = 2 * K * K + 4 * K  # M, dA; pi, first law, rho, a row to work in
        self.prepared += self.own                              # a leaf has set its part
        Windows.__init__(self, y, table, buffer)

    @property
    def rest(self):
        return self.states, None if self.initial is None else np.asarray(self.initial)

    def log_densities(self, theta):
        """log b_k(y_t), an array (T, K)."""
        cdef double[::1] at = np.array(theta, dtype=float), work = np.empty(self.size)
        cdef double[:, ::1] out = np.empty((self.y.shape[0], self.states))
        self.prepare(&at[self.states * self.states], &work[self.own])
        self.densities(&at[self.states * self.states], &work[self.own], 0, self.y.shape[0],
                       &out[0, 0])
        return np.asarray(out)

    def first_law(self, theta):
        """The law of a sequence's first state, (K,)."""
        cdef double[::1] at = np.array(theta, dtype=float), work = np.empty(self.size)
        self.open(&at[0], &work[0])
        at_first = 2 * self.states ** 2 + self.states
        return np.array(work[at_first:at_first + self.states])

    def path(self, theta):
        """The likeliest states of all sequences, (T,): Viterbi's algorithm."""
        cdef double[:, ::1] b = self.log_densities(theta)
        cdef Py_ssize_t K = self.states, i, t, j, k, T = self.y.shape[0]
        cdef double[:, ::1] logA = np.log(np.reshape(np.asarray(theta, dtype=float)[:K * K],
                                                     (K, K)))
        cdef int[:, ::1] origin = np.empty((T, K), dtype=np.intc)
        cdef int[::1] states = np.empty(T, dtype=np.intc)
        cdef double[::1] best = np.empty(K), after = np.empty(K)
        with np.errstate(divide="ignore"):                     # a first state may be impossible
            first = np.log(self.first_law(theta))
        for i in range(self.sequences.shape[0]):
            best = first + b[self.sequences[i, 0]]
            for t in range(self.sequences[i, 0] + 1, self.sequences[i, 1]):
                for k in range(K):
                    origin[t, k] = 0
                    for j in range(1, K):
                        if best[j] + logA[j, k] > best[origin[t, k]] + logA[origin[t, k], k]:
                            origin[t, k] = j
                    after[k] = best[origin[t, k]] + logA[origin[t, k], k] + b[t, k]
                best, after = after, best
            states[self.sequences[i, 1] - 1] = np.argmax(best)
            for t in range(self.sequences[i, 1] - 1, self.sequences[i, 0], -1):
                states[t - 1] = origin[t, states[t]]
        return np.asarray(states)

    cdef void open(self, const double *theta, double *work) noexcept nogil:
        cdef Py_ssize_t K = self.states, j, k
        cdef double *pi = work + 2 * K * K
        invert(K, theta, work)
        memset(work + K * K, 0, (K * K + 3 * K) * sizeof(double))
        for j in range(K):
            for k in range(K):
                pi[k] += work[j * K + k]
        for k in range(K):
            pi[K + k] = pi[k] if self.initial is None else self.initial[k]
        self.prepare(theta + K * K, work + self.own)

    cdef void close(self, const double *theta, double *work, double *grad) noexcept nogil:
        cdef Py_ssize_t K = self.states, j, k
        cdef const double *pi = work + 2 * K * K
        cdef const double *rho = pi + 2 * K
        cdef double *M_rho = work + 2 * K * K + 3 * K
        for j in range(K):
            M_rho[j] = 0
            for k in range(K):
                M_rho[j] += work[j * K + k] * rho[k]
        for j in range(K):
            for k in range(K):
                grad[j * K + k] += work[K * K + j * K + k] + pi[j] * M_rho[k]
        self.settle(theta + K * K, work + self.own, grad + K * K)

    cdef void stationary(self, double *work, double *law) noexcept nogil:
        memcpy(law, work + 2 * self.states * self.states, self.states * sizeof(double))

    cdef void nothing(self, double *back) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.states):
            back[k] = 1

    cdef double forward(self, const double *theta, const Span *s, double *law, double *store,
                        double *work) noexcept nogil:
        cdef Py_ssize_t K = self.states, m = s.stop - s.start, i, j, k
        cdef const double *last = law
        cdef const double *first = work + 2 * K * K + K
        cdef double *a = store
        cdef double *b = store + self.chunk * K
        cdef double *c = store + 3 * self.chunk * K
        cdef double top, total, share, product = 1, density = 0
        self.densities(theta + K * K, work + self.own, s.start, s.stop, b)
        for i in range(m):
            top = b[i * K]
            for k in range(1, K):
                top = max(top, b[i * K + k])
            for k in range(K):
                b[i * K + k] -= top
            if s.start + i >= s.low and s.start + i < s.high:
                density += top
        simd.exponential(m * K, b, b)
        for i in range(m):
            if s.start + i == s.begin:
                memcpy(a, first, K * sizeof(double))
            else:
                share = last[0]
                for k in range(K):
                    a[k] = share * theta[k]
                for j in range(1, K):
                    share = last[j]
                    for k in range(K):
                        a[k] += share * theta[j * K + k]
            total = 0
            for k in range(K):
                a[k] *= b[k]
                total += a[k]
            c[i] = 1 / total
            for k in range(K):
                a[k] *= c[i]
            if s.start + i >= s.low and s.start + i < s.high:
                if product * total < SMALLEST_PRODUCT:  # one log for many factors, each at most 1
                    density += log(product) + log(total)
                    product = 1
                else:
                    product *= total
            last = a
            a += K
            b += K
        density += log(product)
        memcpy(law, last, K * sizeof(double))
        return density

    cdef void backward(self, const double *theta, const Span *s, const double *law, double *back,
                       double *store, double *work) noexcept nogil:
        cdef Py_ssize_t K = self.states, low = s.low - s.start, high = s.high - s.start, i, j, k
        cdef const double *a
        cdef const double *b
        cdef const double *last
        cdef const double *c = store + 3 * self.chunk * K
        cdef double *weights = store + 2 * self.chunk * K
        cdef double *dA = work + K * K
        cdef double *rho = work + 2 * K * K + 2 * K
        cdef double *u = rho + K
        cdef double share
        for i in range(s.stop - s.start - 1, -1, -1):
            a, b = store + i * K, store + (self.chunk + i) * K
            last = law
            if i:
                last = a - K
            for k in range(K):
                weights[i * K + k] = a[k] * back[k]
                u[k] = b[k] * back[k] * c[i]
            if s.start + i == s.begin:
                for k in range(K if self.initial is None and i >= low else 0):
                    rho[k] += s.scale * u[k]
                continue
            if i >= low and i < high:
                for j in range(K):
                    share = s.scale * last[j]
                    for k in range(K):
                        dA[j * K + k] += share * u[k]
            for j in range(K):
                share = 0
                for k in range(K):
                    share += theta[j * K + k] * u[k]
                back[j] = share
        self.gather(theta + K * K, work + self.own, s, weights + low * K)
        if s.kept != NULL:
            memcpy(s.kept + s.start * K, weights, (s.stop - s.start) * K * sizeof(double))

    cdef void prepare(self, const double *theta, double *own) noexcept nogil:
        pass

    cdef void densities(self, const double *theta, const double *own, Py_ssize_t start,
                        Py_ssize_t stop, double *out) noexcept nogil:
        pass

    cdef void gather(self, const double *theta, double *own, const Span *s,
                     const double *w) noexcept nogil:
        pass

    cdef void settle(self, const double *theta, const double *own, double *grad) noexcept nogil:
        pass


cdef void invert(Py_ssize_t K, const double *A, double *M) noexcept nogil:
    """M = (I - A + 11')^-1 by Gauss and Jordan in place, without pivoting: all leading minors are
    positive, as A_S 1 <= 1.
    """
    cdef Py_ssize_t i, j, p
    cdef double pivot, factor
    for i in range(K):
        for j in range(K):
            M[i * K + j] = 1 - A[i * K + j] + (i == j)
    for p in range(K):
        pivot = 1 / M[p * K + p]
        M[p * K + p] = 1
        for j in range(K):
            M[p * K + j] *= pivot
        for i in range(K):
            if i == p:
                continue
            factor = M[i * K + p]
            M[i * K + p] = 0
            for j in range(K):
                M[i * K + j] -= factor * M[p * K + j]
