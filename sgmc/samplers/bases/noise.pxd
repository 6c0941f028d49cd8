# The running mean of the gradient's noise, a coordinate.
cdef class NoiseTracker:
    cdef readonly double beta, decay
    cdef readonly double[::1] sd, mean  # newest estimate in, tracked one out; the average behind it
    cdef void track(self) noexcept nogil
