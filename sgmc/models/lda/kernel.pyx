"""Latent Dirichlet allocation, collapsed over the topic proportions of documents."""
import numpy as np

from libc.math cimport exp, lgamma, log, NAN
from libc.string cimport memset
from sgmc.core.random.rng cimport bitgen_t

from sgmc.core.contract cimport OK, Batch, Model, Scratch, row_of
from sgmc.errors import NotSupported


cdef class Corpus(Model):
    """Documents as lists of words and counts;
    a row is a document, theta is the topics (K x W), row by row.

    dlog p(document | theta) / dtheta_kw = E[n_kw] / theta_kw, n_kw the tokens of word w that belong
    to topic k, expected under the posterior of the assignments z given theta, proportions
    integrated out (Patterson & Teh 2013, section 4).  Subclasses say how it is computed.

    Parameters
    ----------
    indptr, words, counts : array of int
        Documents, as the rows of a CSR array.
    K, W : int
        Topics and words.
    alpha : float
        Concentration of each document's proportions.
    """

    cdef const Py_ssize_t[::1] indptr, words, counts
    cdef Py_ssize_t K, W, most, longest       # most words, and most tokens, of a document
    cdef double alpha
    cdef object tokens                        # of each document

    def __init__(self, indptr, words, counts, Py_ssize_t K, Py_ssize_t W, double alpha):
        self.indptr, self.words, self.counts = (np.array(a, dtype=np.intp)
                                                for a in (indptr, words, counts))
        self.K, self.W, self.alpha = K, W, alpha
        self.n, self.dim, self.tile = len(indptr) - 1, K * W, 1024
        self.most = np.diff(indptr).max(initial=1)
        ends = np.append(0, np.cumsum(counts))
        self.tokens = np.diff(ends[np.asarray(indptr)])
        self.longest = self.tokens.max(initial=1)

    cdef int gather(self, Py_ssize_t row, const double *theta, double *part) noexcept nogil:
        """part = theta of a document's words, word by word: topics of a word side by side."""
        cdef Py_ssize_t u, k, first = self.indptr[row]
        for u in range(self.indptr[row + 1] - first):
            for k in range(self.K):
                part[u * self.K + k] = theta[k * self.W + self.words[first + u]]
        return OK

    cdef int scatter(self, Py_ssize_t row, double c, const double *part, const double *expected,
                     double *grad) noexcept nogil:
        """grad += c expected / theta."""
        cdef Py_ssize_t u, k, first = self.indptr[row]
        for u in range(self.indptr[row + 1] - first):
            for k in range(self.K):
                grad[k * self.W + self.words[first + u]] += c * expected[u * self.K
                                                                         + k] / part[u * self.K + k]
        return OK


cdef class Sampled(Corpus):
    """Expectations by Gibbs sweeps over a document's assignments: each token's z has the
    probabilities (n_k + alpha) theta_kw, n_k the other tokens of the document in topic k, and these
    probabilities are what is averaged.

    Sweeps start afresh at each call, from tokens assigned one after the other; the first half of
    them, rounded down, is not averaged.  The likelihood has no closed form: its value is NaN.

    Parameters
    ----------
    sweeps : int
    """

    cdef Py_ssize_t sweeps

    def __init__(self, indptr, words, counts, K, W, alpha, Py_ssize_t sweeps):
        Corpus.__init__(self, indptr, words, counts, K, W, alpha)
        self.sweeps = sweeps

    @property
    def nanoseconds(self):
        """Of a document: each sweep looks at all topics of each token; see `Model`."""
        return 3.0 * self.tokens.mean() * (self.sweeps + 1) * (self.K + 1)

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return 2 * self.most * self.K + 2 * self.K + self.longest + 1

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, row
        if value != NULL:
            value[0] = NAN
        if grad == NULL:
            return OK
        if s.bits == NULL:
            with gil:
                raise NotSupported("gradients by Gibbs sweeps need a chain's random stream; use "
                                   "sweeps='exact' for short documents", because="limit")
        for i in range(b.m):
            row = row_of(b, i)
            self.expect(row, theta, s.bits, s.work)
            self.scatter(row, b.scale * (b.weight[i] if b.weight != NULL else 1), s.work,
                         s.work + self.most * self.K, grad)
        return OK

    cdef int expect(self, Py_ssize_t row, const double *theta, bitgen_t *bits,
                    double *work) noexcept nogil:
        """work = theta of the document's words,
        and after that the expected tokens of each word in each topic.
        """
        cdef Py_ssize_t u, t, k, sweep, at, first = self.indptr[row]
        cdef Py_ssize_t last = self.indptr[row + 1], K = self.K
        cdef Py_ssize_t unused = self.sweeps // 2
        cdef double *expected = work + self.most * K
        cdef double *n = expected + self.most * K             # tokens in each topic, plus alpha
        cdef double *up = n + K                               # cumulative probabilities
        cdef double *z = up + K
        cdef const double *p
        cdef double total, share, aim
        self.gather(row, theta, work)
        memset(expected, 0, (last - first) * K * sizeof(double))
        for k in range(K):
            n[k] = self.alpha
        for sweep in range(self.sweeps + 1):                  # the first one assigns the tokens
            at = 0
            for u in range(last - first):
                p = work + u * K
                for t in range(self.counts[first + u]):
                    if sweep:
                        n[<Py_ssize_t> z[at]] -= 1
                    total = 0
                    for k in range(K):
                        total += n[k] * p[k]
                        up[k] = total
                    if sweep > unused:
                        share = 1 / (total * (self.sweeps - unused))
                        for k in range(K):
                            expected[u * K + k] += n[k] * p[k] * share
                    aim, k = bits.next_double(bits.state) * total, 0
                    while k < K - 1 and up[k] <= aim:
                        k += 1
                    z[at] = k
                    n[k] += 1
                    at += 1
        return OK


cdef class Enumerated(Corpus):
    """Expectations, and the likelihood, exactly: for short documents and few topics.

    Tokens come one after the other; f_t(m) = sum_k theta_{k, w_t} f_{t-1}(m - e_k) sums over the
    assignments of the first t tokens with m_k of them in topic k, b_t(m) over those of the others,
    and with m of all tokens come the weights prod_k Gamma(alpha + m_k) of the proportions.  Counts
    m of K - 1 topics are the digits of a state, to the base of one more than the tokens.
    """

    cdef Py_ssize_t states
    cdef const Py_ssize_t[::1] step           # of a state, for a token more in topic k

    def __init__(self, indptr, words, counts, K, W, alpha):
        Corpus.__init__(self, indptr, words, counts, K, W, alpha)
        base = self.longest + 1
        self.states = base ** (K - 1)
        self.step = np.append(base ** np.arange(K - 1), 0).astype(np.intp)

    @property
    def nanoseconds(self):
        """Of a document: each token goes through all states, forward and back; see `Model`."""
        return 5.0 * self.tokens.mean() * self.states * self.K

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return 2 * self.most * self.K + (self.longest + 3) * self.states + 1

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, row
        cdef double c, found
        for i in range(b.m):
            row, c = row_of(b, i), b.scale * (b.weight[i] if b.weight != NULL else 1)
            found = self.expect(row, theta, s.work)
            if value != NULL:
                value[0] += c * found
            if grad != NULL:
                self.scatter(row, c, s.work, s.work + self.most * self.K, grad)
        return OK

    cdef double expect(self, Py_ssize_t row, const double *theta, double *work) noexcept nogil:
        """As of `Sampled`; returns the log-likelihood."""
        cdef Py_ssize_t u, t, k, m, at = 0, first = self.indptr[row]
        cdef Py_ssize_t last = self.indptr[row + 1], K = self.K, S = self.states
        cdef double *expected = work + self.most * K
        cdef double *f = expected + self.most * K             # (longest + 1) x S
        cdef double *back = f + (self.longest + 1) * S
        cdef double *next = back + S
        cdef double scale = 0, total, joint
        self.gather(row, theta, work)
        memset(expected, 0, (last - first) * K * sizeof(double))
        memset(f, 0, S * sizeof(double))
        f[0] = 1
        for u in range(last - first):
            for t in range(self.counts[first + u]):
                scale += self.forward(f + at * S, f + (at + 1) * S, work + u * K)
                at += 1
        total = 0
        for m in range(S):
            back[m] = self.proportions(m, at) if f[at * S + m] > 0 else 0
            total += f[at * S + m] * back[m]
        scale += log(total)
        for u in range(last - first - 1, -1, -1):
            for t in range(self.counts[first + u]):
                at -= 1
                total = 0
                for m in range(S):
                    next[m] = 0
                    for k in range(K if f[at * S + m] > 0 else 0):
                        joint = work[u * K + k] * back[m + self.step[k]]
                        next[m] += joint
                        total += f[at * S + m] * joint
                for m in range(S):
                    for k in range(K if f[at * S + m] > 0 else 0):
                        expected[u * K + k] += (f[at * S + m] * work[u * K + k]
                                                * back[m + self.step[k]] / total)
                for m in range(S):
                    back[m] = next[m] / total
        return scale

    cdef double forward(self, const double *old, double *new, const double *p) noexcept nogil:
        """The next f, of sum one; returns the log of what its sum was."""
        cdef Py_ssize_t m, k
        cdef double total = 0
        memset(new, 0, self.states * sizeof(double))
        for m in range(self.states):
            for k in range(self.K if old[m] > 0 else 0):
                new[m + self.step[k]] += old[m] * p[k]
                total += old[m] * p[k]
        for m in range(self.states):
            new[m] /= total
        return log(total)

    cdef double proportions(self, Py_ssize_t m, Py_ssize_t tokens) noexcept nogil:
        """prod_k Gamma(alpha + m_k) / Gamma(alpha) times Gamma(K alpha) / Gamma(K alpha +
        tokens).
        """
        cdef Py_ssize_t k, digit, left = tokens, base = self.longest + 1
        cdef double value = lgamma(self.K * self.alpha) - lgamma(self.K * self.alpha + tokens)
        for k in range(self.K):
            digit = m % base if k < self.K - 1 else left
            value += lgamma(self.alpha + digit) - lgamma(self.alpha)
            left -= digit
            m //= base
        return exp(value)
