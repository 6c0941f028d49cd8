# Trajectories of the No-U-Turn sampler: the tree, its weights and its criterion.
from libc.stdint cimport int64_t

from sgmc.core.contract cimport Gradient, Rng, State
from sgmc.samplers.bases.energies cimport Energies
from sgmc.samplers.bases.metropolis cimport Metropolis
from sgmc.samplers.bases.score_metric cimport ScoreMetric

cdef class Trajectory(Metropolis):
    cdef readonly int max_depth
    cdef readonly int64_t leapfrogs, saturated  # after warmup: gradients; trees of the full depth
    cdef Energies energies
    cdef ScoreMetric scores
    cdef double acceptance, accepted_total, depth_total  # of the newest tree; sums after warmup
    cdef double start_energy
    cdef int64_t states                         # of the newest tree, besides its first
    # both ends, the one before and the one ahead
    cdef double[:, ::1] end_x, end_p, end_w
    cdef double[::1] near, total
    # subtrees, the whole tree in row 0: sum of momenta, first and last momentum in the order of
    # growth, the state chosen, and log sum of weights
    cdef double[:, ::1] momenta, first, last, place, slope
    cdef double[::1] height, weight
    cdef int[::1] level
    cdef int leap(self, Gradient g, Py_ssize_t side, double h) except -1 nogil
    cdef bint grow(self, Gradient g, Rng rng, Py_ssize_t side, Py_ssize_t depth,
                   double h) except? True nogil
    cdef void root(self, const State *s, Rng rng) noexcept nogil
    cdef void take(self, Py_ssize_t row, Py_ssize_t other) noexcept nogil
    cdef bint join(self, Py_ssize_t row) noexcept nogil
    cdef double first_factor(self, const State *s, Gradient g, Rng rng) except? -1 nogil
    # what makes it exact; overridden by tests that plant mistakes
    cdef double log_weight(self, double rise) noexcept nogil
    cdef double log_chance(self, double old, double new) noexcept nogil
    cdef double log_share(self, double old, double new) noexcept nogil
    cdef bint turned(self, const double *momenta, const double *first,
                     const double *last) noexcept nogil
