"""What is kept of the draws of a network: probabilities of pairs that were held out, and a few
draws of everything.
"""
import numpy as np

from sgmc.core.bank cimport ThinnedDraws
from sgmc.core.contract cimport OK


cdef class Linked(ThinnedDraws):
    """A `ThinnedDraws` that also averages the probabilities of links of some pairs over the draws,
    one by one.

    Parameters
    ----------
    draws, thin, map, dim, columns
        See `ThinnedDraws`.
    pairs : Pairs
    K : int
    delta : float
    """

    always = True
    cdef const Py_ssize_t[::1] first, second
    cdef Py_ssize_t K
    cdef double delta
    cdef readonly double[::1] probabilities

    def __init__(self, draws, thin, map, dim, columns, *, pairs, Py_ssize_t K, double delta):
        ThinnedDraws.__init__(self, draws, thin, map, dim, columns)
        self.first = np.array(pairs.first, dtype=np.intp)
        self.second = np.array(pairs.second, dtype=np.intp)
        self.K, self.delta, self.probabilities = K, delta, np.zeros(len(pairs.first))

    cdef int accumulate(self, const double *theta, double weight) except -1 nogil:
        cdef Py_ssize_t i, k, K = self.K
        cdef const double *p
        cdef const double *q
        cdef const double *strength = theta + self.theta.shape[0] - 2 * K
        cdef double chance, share = weight / self.total
        ThinnedDraws.accumulate(self, theta, weight)
        for i in range(self.first.shape[0]):
            p, q, chance = theta + self.first[i] * K, theta + self.second[i] * K, self.delta
            for k in range(K):
                chance += p[k] * q[k] * (strength[2 * k] - self.delta)
            self.probabilities[i] += share * (chance - self.probabilities[i])
        return OK

    def state(self):
        """Also the mean probabilities so far."""
        return {**ThinnedDraws.state(self), "probabilities": np.array(self.probabilities)}

    def set_state(self, state):
        """Continue from a `state()`."""
        ThinnedDraws.set_state(self, state)
        np.asarray(self.probabilities)[:] = state["probabilities"]
