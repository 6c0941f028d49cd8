# A line through noisy rates of events, and a confidence band above it below which events are
# proposed.
from libc.stdint cimport int64_t

from sgmc.core.contract cimport Rng

cdef double LEARNING_RATE, LEAST_WIDTH, SURPRISE

cdef class Band:
    cdef readonly double confidence, unit, horizon, floor
    cdef bint falling                             # whether a fall is extrapolated
    cdef readonly double mean, log_sd             # of the slope a priori; learned
    cdef double least, last                       # log_sd; time of the last observation
    # of the observations: sums of 1/c^2, their means, weighed sums of squares, products
    cdef double weight, time, rate, spread, trend
    cdef double noise                             # c^2 of the last one
    cdef readonly int64_t seen
    cdef readonly double bound                    # at the last proposal
    cdef void clear(self) noexcept nogil
    cdef void add(self, double t, double rate, double noise) noexcept nogil
    cdef double predict(self, double t, double *variance) noexcept nogil
    cdef void compare(self, double t, double rate) noexcept nogil
    cdef double height(self, double t) noexcept nogil
    cdef bint propose(self, Rng rng, double since, double *t) noexcept nogil
    cdef void learn(self) noexcept nogil

cdef class Drifting(Band):
    cdef readonly double log_drift                # of q; learned
    cdef double drift(self, double t) noexcept nogil
