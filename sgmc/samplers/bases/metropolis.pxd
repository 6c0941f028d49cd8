# The base of exact samplers: propose, accept or reject, adapt while warming.
from libc.stdint cimport int64_t

from sgmc.samplers.bases.adaptation cimport Preconditioner, StepSearch, WarmupWindows
from sgmc.core.contract cimport Gradient, Rng, Sampler, State

cdef enum:
    # loss of log posterior, or rise of the energy, by which a proposal is divergent (as in Stan)
    MAX_ENERGY_RISE = 1000

cdef class Metropolis(Sampler):
    cdef readonly StepSearch search
    cdef readonly Preconditioner metric
    cdef WarmupWindows windows
    cdef double unit_step, longest  # step to begin with where the metric is known; longest step
    cdef bint first_order                     # proposals use the gradient
    cdef double value, new_value              # log posterior at x and at the proposal y
    cdef double[::1] g, new_g, w, new_w  # gradients there, and in units of the metric: w = L' g
    cdef double[::1] y, u
    # after warmup; proposals where the density is zero are divergent and impossible
    cdef readonly int64_t proposed, accepted, divergent, impossible
    # Fill y by a move of about `h`, evaluate there, and give log [pi(y) q(y, x) / (pi(x) q(x, y))].
    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil
    # new_value, new_g and new_w at y
    cdef int evaluate(self, Gradient g, const double *y) except -1 nogil
    cdef void move(self, const double *x, const double *u, double *y) noexcept nogil  # y = x + L u
    cdef double current_step(self) noexcept nogil
    cdef void learn(self, const State *s, double probability) noexcept nogil
    cdef void accept(self) noexcept nogil  # the proposal becomes the current state
