"""Sweeps forward and backward through a random partition of the rows."""
import numpy as np

from sgmc.core.random.rng import orders

from sgmc.core.contract cimport Batch, Rng, Subsampler, partial_shuffle


cdef class Symmetric(Subsampler):
    """The k = ceil(N/n) parts of a random partition of the rows, one after the other and then back
    again; then another partition.

    Parts have N/k rows, rounded up or down, and the scale k.  Each batch alone is unbiased, as a
    simple sample is; but the errors of the k batches of a sweep add up to zero at any fixed
    position, so that a chain whose step is short beside a sweep does not see most of the noise: see
    `SamplerSpec.noise_left`.  Back and forth, a sweep is a symmetric splitting of the dynamics,
    whose error is of second order in the step also where the batches' curvatures differ (Paulin,
    Whalley, Chada & Leimkuhler 2024, arXiv:2410.19780).

    Parameters
    ----------
    n, m : int
        Rows in all, and most rows of a batch.
    """

    name = "symmetric"
    sweeps = True
    cdef Batch run                # points into order
    cdef Py_ssize_t[::1] order    # the partition: part b is places b N/k to (b + 1) N/k
    cdef Py_ssize_t[::1] places   # scratch of the shuffle
    cdef Py_ssize_t parts, at     # k, and the step, of 2 k, that comes next

    def __init__(self, Py_ssize_t n, Py_ssize_t m):
        if not 0 < m <= n:
            raise ValueError(f"a batch of {m} of {n} rows without replacement")
        self.n, self.m = n, m
        self.parts, self.at = (n + m - 1) // m, 0
        self.order, self.places = np.arange(n, dtype=np.intp), np.zeros(m, dtype=np.intp)
        self.run.start, self.run.stratum, self.run.weight = 0, 0, NULL
        self.run.scale = self.parts
        self.run.fpc = 1 - 1. / self.parts

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        cdef Py_ssize_t k = self.parts, b, first
        b = self.at if self.at < k else 2 * k - 1 - self.at
        first = b * self.n // k
        self.run.rows, self.run.m = &self.order[first], (b + 1) * self.n // k - first
        if self.at < k - 1:  # the next places of a Fisher-Yates shuffle of all rows
            partial_shuffle(rng, self.n - first, self.run.m, &self.order[first], &self.places[0])
        self.at = (self.at + 1) % (2 * k)
        runs[0] = &self.run
        return 1

    def state(self):
        """The partition, and the step of its sweeps that comes next."""
        return {"order": np.array(self.order), "at": self.at}

    def set_state(self, state):
        """Continue from a `state()`."""
        orders(np.asarray(self.order), state["order"])
        if not 0 <= state["at"] < 2 * self.parts:
            raise ValueError(f"step {state['at']} of {2 * self.parts}")
        self.at = state["at"]
