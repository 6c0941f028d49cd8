# The base of samplers whose steps are events of a piecewise-deterministic process.
from libc.stdint cimport int64_t

from sgmc.core.contract cimport Gradient, Rng, Sampler, State

cdef enum:
    PASSED = 0                    # verdicts on a proposed event; BOUND is another
    TAKEN = 1

cdef class Events(Sampler):
    cdef readonly int64_t proposed, accepted  # events proposed by the bounds, and those of them that happened, after warmup
    cdef void move(self, State *s, double dt) noexcept nogil                               # x += v dt
    cdef int verdict(self, Rng rng, double rate, double bound, double slack) noexcept nogil

cdef double arrival(Rng rng, double a, double b) noexcept nogil               # first event at rate max(0, a + b t), b >= 0
cdef double distance(Py_ssize_t dim, const double *x, const double *y) noexcept nogil
cdef double inner(Py_ssize_t dim, const double *x, const double *y) noexcept nogil
