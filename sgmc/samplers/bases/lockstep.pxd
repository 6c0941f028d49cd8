# The base of exact samplers that move many walkers at once: see lockstep.pyx
from libc.stdint cimport int64_t

from sgmc.samplers.bases.adaptation cimport StepSearch
from sgmc.core.contract cimport Gradient, Rng, Sampler, State

cdef class Lockstep(Sampler):
    cdef readonly Py_ssize_t walkers, each    # and the coordinates of each
    cdef readonly StepSearch search
    cdef double longest                       # longest step
    # log posterior and its gradient (walkers x each) at the positions, and at the proposals y
    cdef double[::1] value, new_value, g, new_g, y, log_ratio
    cdef readonly int64_t proposed, accepted, divergent, impossible       # of all walkers
    # Fill y by a move of about `h`, evaluate there, and give each walker's log [pi(y) q(y, x) /
    # (pi(x) q(x, y))].
    cdef int propose(self, const State *s, Gradient g, Rng rng, double h) except -1 nogil
    cdef int evaluate(self, Gradient g) except -1 nogil                    # new_value, new_g at y
    cdef double current_step(self) noexcept nogil
    cdef int judge(self, State *s, Rng rng) except -1 nogil
