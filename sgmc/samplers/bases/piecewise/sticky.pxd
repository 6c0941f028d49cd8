# Coordinates that stay at zero for a while: zig-zag processes for spike-and-slab priors.
from sgmc.core.contract cimport Rng, State
from sgmc.samplers.bases.events cimport Guided

cdef class Sticky(Guided):
    # rate at which a coordinate leaves zero (0: never sticks); the velocity it leaves with
    cdef readonly double[::1] release, kept
    # time until one comes to zero
    cdef double crossing(self, State *s, Py_ssize_t *which) noexcept nogil
    cdef double freedom(self, State *s, Rng rng) noexcept nogil  # time until one leaves it
    cdef double held(self, State *s) noexcept nogil
    cdef void stick(self, State *s, Py_ssize_t i) noexcept nogil
    cdef void leave(self, State *s, Rng rng) noexcept nogil  # one of them, by their rates

cdef int signs(State *s, Rng rng) noexcept nogil
