# Energies at fresh momenta, of samplers that draw them.
from libc.stdint cimport int64_t

cdef class Energies:
    cdef double last, mean, scatter, jumps    # the newest, their mean, sums of squares
    cdef int64_t count
    cdef void note(self, double energy) noexcept nogil
