# The running mean of the gradient's noise, a coordinate, or between all of them.
from sgmc.core.contract cimport Gradient, Rng
from sgmc.core.covariance cimport BatchCovariance

cdef class NoiseTracker:
    cdef readonly double beta, decay
    cdef readonly double[::1] sd, mean  # newest estimate in, tracked one out; the average behind it
    cdef void track(self) noexcept nogil

cdef class CovarianceTracker:
    cdef readonly double beta, decay
    cdef readonly double[:, ::1] covariance, mean  # as above
    cdef BatchCovariance batch
    # g, and the tracked covariance of its noise
    cdef int estimate(self, Gradient gradient, const double *x, Rng rng,
                      double *g) except -1 nogil
