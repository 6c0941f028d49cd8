"""Contiguous blocks of rows that were permuted once."""

from sgmc.core.contract cimport Batch, Rng, Subsampler, next_below


cdef class CircularBlock(Subsampler):
    """n consecutive rows of the circle of N rows, start uniform on 0..N-1;
    a block over the end is two runs.

    Every row is in exactly n of the N blocks, so that the sum, scaled by N/n, is unbiased; a start
    on 0..N-n would not be.  The rows must be in random order.

    Parameters
    ----------
    n, m : int
        Rows in all and in a batch.
    """

    name = "block"
    cdef Batch run[2]

    def __init__(self, Py_ssize_t n, Py_ssize_t m):
        if not 0 < m <= n:
            raise ValueError(f"a batch of {m} of {n} rows")
        self.n, self.m = n, m
        for k in range(2):
            self.run[k].rows = NULL
            self.run[k].weight = NULL
            self.run[k].scale = <double> n / m
            self.run[k].stratum = 0
            self.run[k].fpc = <double> (n - m) / n
        self.run[1].start = 0

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        return self.place(next_below(rng, self.n), runs)

    cdef Py_ssize_t place(self, Py_ssize_t start, const Batch **runs) noexcept nogil:
        self.run[0].start = start
        self.run[0].m = min(self.m, self.n - start)
        self.run[1].m = self.m - self.run[0].m
        runs[0] = &self.run[0]
        return 1 if self.run[1].m == 0 else 2
