# What exact samplers learn while warming: a step and a constant metric.  They act at fixed step
# numbers.
from libc.stdint cimport int64_t

cdef enum:
    IDENTITY = 0
    DIAGONAL = 1
    DENSE = 2

cdef class StepSearch:                        # dual averaging of a log step factor
    cdef readonly double target
    cdef double base, factor, best, error
    cdef int64_t count
    cdef void learn(self, double probability) noexcept nogil
    cdef void restart(self, double base) noexcept nogil
    cdef double scale(self, bint learning) noexcept nogil

cdef class Preconditioner:  # x = L u; L L' is a running estimate of the covariance
    cdef readonly Py_ssize_t dim
    cdef readonly int kind
    cdef readonly double[:, ::1] L            # lower triangle; a row of scales where diagonal
    cdef double[:, ::1] scatter
    cdef double[::1] mean, deviation
    cdef int64_t count
    cdef void times(self, const double *u, double *x) noexcept nogil          # x = L u
    cdef void transposed(self, const double *g, double *w) noexcept nogil     # w = L' g
    cdef void absorb(self, const double *x) noexcept nogil
    cdef void renew(self) noexcept nogil

# when positions are absorbed and the metric renewed, in a warmup of known length
cdef class WarmupWindows:
    cdef readonly int64_t first
    cdef readonly int64_t[::1] ends
    cdef bint ends_at(self, int64_t t) noexcept nogil
