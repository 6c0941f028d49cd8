# The base of samplers whose steps are events of a piecewise-deterministic process.
from libc.stdint cimport int64_t

from sgmc.core.contract cimport Gradient, Rng, Sampler, State

cdef enum:
    PASSED = 0                    # verdicts on a proposed event; BOUND is another
    TAKEN = 1

cdef class Events(Sampler):
    # events proposed by the bounds, and those of them that happened, after warmup
    cdef readonly int64_t proposed, accepted
    cdef void move(self, State *s, double dt) noexcept nogil  # x += v dt
    cdef int verdict(self, Rng rng, double rate, double bound, double slack) noexcept nogil

cdef class Guided(Events):
    cdef double[::1] g  # the gradient by which events happen on the line ahead
    cdef bint known                           # whether it has been computed
    # computes it where it is not known
    cdef int guide(self, State *s, Gradient g, Rng rng) except -1 nogil

# first event at rate max(0, a + b t), b >= 0
cdef double arrival(Rng rng, double a, double b) noexcept nogil
cdef double distance(Py_ssize_t dim, const double *x, const double *y) noexcept nogil
cdef double inner(Py_ssize_t dim, const double *x, const double *y) noexcept nogil
