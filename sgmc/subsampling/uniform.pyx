"""Rows chosen one by one: without and with replacement; and all rows."""
import numpy as np

from sgmc.core.random.rng import orders

from sgmc.core.contract cimport Batch, Rng, Subsampler, partial_shuffle, next_below


cdef class Listed(Subsampler):
    """Base of schemes whose batch is one list of rows."""

    cdef Batch run                # points into rows, or into an array of the subclass
    cdef Py_ssize_t[::1] rows

    def __init__(self, Py_ssize_t n, Py_ssize_t m):
        self.n, self.m = n, m
        self.rows = np.zeros(m, dtype=np.intp)
        self.run.m, self.run.start, self.run.stratum = m, 0, 0
        self.run.rows, self.run.weight = &self.rows[0], NULL
        self.run.scale = <double> n / m
        self.run.fpc = 1


cdef class Uniform(Listed):
    """n different rows, all sets equally likely:
    the first n places of a partial Fisher-Yates shuffle.

    The order is kept between draws, which leaves every set equally likely and makes a draw cost n,
    not N.

    Parameters
    ----------
    n, m : int
        Rows in all and in a batch.
    """

    name = "uniform"
    cdef Py_ssize_t[::1] order    # to which run.rows points

    def __init__(self, Py_ssize_t n, Py_ssize_t m):
        if not 0 < m <= n:
            raise ValueError(f"a batch of {m} of {n} rows without replacement")
        Listed.__init__(self, n, m)
        self.order = np.arange(n, dtype=np.intp)
        self.run.fpc = <double> (n - m) / n
        self.run.rows = &self.order[0]

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        # `rows` of the base is free: the list is the beginning of the order
        partial_shuffle(rng, self.n, self.m, &self.order[0], &self.rows[0])
        runs[0] = &self.run
        return 1

    def state(self):
        """The order that the next shuffle starts from."""
        return {"order": np.array(self.order)}

    def set_state(self, state):
        """Continue from a `state()`."""
        orders(np.asarray(self.order), state["order"])


cdef class Replacement(Listed):
    """n independent uniform rows; a row may come twice.

    Parameters
    ----------
    n, m : int
        Rows in all and in a batch.
    """

    name = "replacement"
    replaces = True

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.m):
            self.rows[i] = next_below(rng, self.n)
        runs[0] = &self.run
        return 1


cdef class FullBatch(Subsampler):
    """All rows, scale 1: estimates are exact.

    Their `sd` is then N times the sd over rows: sqrt(V1) of the pilot.
    """

    cdef Batch run

    def __init__(self, Py_ssize_t n):
        self.n = self.m = self.run.m = n
        self.run.start = self.run.stratum = 0
        self.run.rows, self.run.weight = NULL, NULL
        self.run.scale, self.run.fpc = 1, n

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        runs[0] = &self.run
        return 1
