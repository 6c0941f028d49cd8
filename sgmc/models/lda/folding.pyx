"""Proportions of topics in documents that no topic was learned from, and what they say of the
documents' other words.
"""
import numpy as np

from sgmc.errors import ArgumentError

from libc.math cimport fabs, log
from libc.string cimport memset

from sgmc.core.contract cimport OK, Map
from sgmc.core.partial cimport SubsetRecorder

cdef enum:
    MAX_ITERATIONS = 100                    # iterations
    GROUPS = 10                             # of documents whose predictions are kept draw by draw
cdef double PROPORTION_TOLERANCE = 1e-6          # largest change of a proportion at which they stop


cdef class Folding:
    """Proportions p of documents under topics theta (K x W): the fixed point of

        p_k = (alpha + sum_w n_w r_wk) / (K alpha + n),   r_wk = p_k theta_kw / sum_j p_j theta_jw,

    from equal ones: the mean of p where words belong to topics with the probabilities r (Asuncion
    et al. 2009, section 3.3, "MAP" with the prior's mean in the place of its mode).

    Parameters
    ----------
    documents : CSR array
        Counts of words, by which proportions are inferred.
    alpha : float
    """

    cdef readonly Py_ssize_t n, W
    cdef const Py_ssize_t[::1] indptr, words
    cdef const double[::1] counts
    cdef double alpha

    def __init__(self, documents, double alpha):
        self.indptr, self.words = (np.array(a, dtype=np.intp)
                                   for a in (documents.indptr, documents.indices))
        self.counts, self.alpha, (self.n, self.W) = np.array(documents.data,
                                                             dtype=float), alpha, documents.shape

    def topics(self, given):
        """Topics (K, W) as numbers; ArgumentError where they are of other words."""
        found = np.ascontiguousarray(given, dtype=float)
        if found.ndim != 2 or found.shape[1] != self.W:
            raise ArgumentError(f"topics of shape {found.shape} are not of {self.W} words")
        return found

    cdef void fold(self, Py_ssize_t i, const double *theta, Py_ssize_t K, double *p,
                   double *next) noexcept nogil:
        """p of the i-th document."""
        cdef Py_ssize_t u, k, t
        cdef double total, n, change
        for k in range(K):
            p[k] = 1.0 / K
        for t in range(MAX_ITERATIONS):
            n, change = 0, 0
            memset(next, 0, K * sizeof(double))
            for u in range(self.indptr[i], self.indptr[i + 1]):
                total = 0
                for k in range(K):
                    total += p[k] * theta[k * self.W + self.words[u]]
                n += self.counts[u]
                for k in range(K):
                    next[k] += self.counts[u] * p[k] * theta[k * self.W + self.words[u]] / total
            for k in range(K):
                next[k] = (self.alpha + next[k]) / (K * self.alpha + n)
                change = max(change, fabs(next[k] - p[k]))
                p[k] = next[k]
            if change < PROPORTION_TOLERANCE:
                return

    def proportions(self, topics):
        """p of all documents under topics (K, W), an array (n, K)."""
        cdef const double[:, ::1] theta = self.topics(topics)
        cdef Py_ssize_t i, K = theta.shape[0]
        cdef double[:, ::1] p = np.empty((self.n, K))
        cdef double[::1] next = np.empty(K)
        with nogil:
            for i in range(self.n):
                self.fold(i, &theta[0, 0], K, &p[i, 0], &next[0])
        return np.asarray(p)


cdef class Completion(Folding):
    """Probabilities that documents' other words have by proportions inferred from the first ones:
    sum_k p_k theta_kw.

    Parameters
    ----------
    documents, others : CSR array
        Counts of words, rows being the same documents.
    alpha : float
    """

    cdef readonly object others
    cdef const Py_ssize_t[::1] ends, scored

    def __init__(self, documents, others, double alpha):
        Folding.__init__(self, documents, alpha)
        if others.shape != documents.shape:
            raise ArgumentError(f"documents of shapes {documents.shape} and {others.shape}")
        self.others = others
        self.ends = np.array(others.indptr, dtype=np.intp)
        self.scored = np.array(others.indices, dtype=np.intp)

    cdef void add(self, const double *theta, Py_ssize_t K, double share, double *place,
                  double *out) noexcept nogil:
        """out += share (the probabilities - out), other word by other word;
        place has room for 2 K.
        """
        cdef Py_ssize_t i, u, k
        cdef double total
        for i in range(self.n):
            self.fold(i, theta, K, place, place + K)
            for u in range(self.ends[i], self.ends[i + 1]):
                total = 0
                for k in range(K):
                    total += place[k] * theta[k * self.W + self.scored[u]]
                out[u] += share * (total - out[u])

    def probabilities(self, topics):
        """Of the other words under topics (K, W), an array with one number for each count of
        `others`.
        """
        cdef const double[:, ::1] theta = self.topics(topics)
        cdef double[::1] place = np.empty(2 * theta.shape[0]), out = np.zeros(len(self.scored) + 1)
        self.add(&theta[0, 0], theta.shape[0], 1.0, &place[0], &out[0])
        return np.asarray(out)[:len(self.scored)]

    def perplexity(self, probabilities):
        """exp of minus the mean log probability of the other words."""
        counts = self.others.data
        return float(np.exp(-(counts @ np.log(probabilities)) / counts.sum()))

    @property
    def groups(self):
        """First count of each of GROUPS groups of documents, and the end of the last: those with
        words to predict.
        """
        edges = np.linspace(0, self.n, min(GROUPS, self.n) + 1).astype(int)
        return np.unique(self.others.indptr[edges])

    def scores(self, probabilities):
        """Mean log probability of the other words of each group of documents."""
        counts, first = self.others.data, self.groups[:-1]
        return (np.add.reduceat(counts * np.log(probabilities), first)
                / np.add.reduceat(counts, first))


cdef class Completed(SubsetRecorder):
    """Also averages the probabilities of other words over the draws, one by one, and keeps each
    draw's mean logs of them by group of documents.

    Parameters
    ----------
    draws, thin, map, dim, columns
        See `SubsetRecorder`.
    test : Completion
    """

    always = True
    cdef readonly Completion test
    cdef readonly double[::1] probabilities
    cdef readonly double[:, ::1] scores
    cdef double[::1] place, here
    cdef const Py_ssize_t[::1] groups
    cdef const double[::1] counts
    cdef Py_ssize_t K

    def __init__(self, Py_ssize_t draws, Py_ssize_t thin, Map map, Py_ssize_t dim, columns, *,
                 Completion test):
        SubsetRecorder.__init__(self, draws, thin, map, dim, columns)
        self.test, self.K = test, dim // test.W
        self.probabilities, self.place = np.zeros(len(test.scored) + 1), np.empty(2 * self.K)
        self.here, self.groups = np.zeros(len(test.scored) + 1), test.groups.astype(np.intp)
        self.counts = np.append(test.others.data, 0.0)
        self.scores = np.zeros((draws, len(self.groups) - 1))

    cdef int accumulate(self, const double *theta, double weight) except -1 nogil:
        cdef Py_ssize_t i, u
        cdef double total, tokens, share = weight / self.total
        memset(&self.here[0], 0, self.here.shape[0] * sizeof(double))
        self.test.add(theta, self.K, 1.0, &self.place[0], &self.here[0])
        for u in range(self.here.shape[0] - 1):
            self.probabilities[u] += share * (self.here[u] - self.probabilities[u])
        for i in range(self.scores.shape[1]):
            total = tokens = 0
            for u in range(self.groups[i], self.groups[i + 1]):
                total += self.counts[u] * log(self.here[u])
                tokens += self.counts[u]
            self.scores[self.kept, i] = total / tokens
        return OK

    def state(self):
        return {**SubsetRecorder.state(self), "probabilities": np.array(self.probabilities),
                "scores": np.array(self.scores[:self.kept])}

    def set_state(self, state):
        SubsetRecorder.set_state(self, state)
        np.asarray(self.probabilities)[:] = state["probabilities"]
        np.asarray(self.scores)[:self.kept] = state["scores"]


cdef class CompletedWhereMany(Completed):
    """The same where there is no room for the draws of all parameters."""

    always = False
