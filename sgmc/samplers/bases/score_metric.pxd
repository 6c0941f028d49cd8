# A constant metric from positions and gradients; the base's running sums are of positions.
from sgmc.samplers.bases.adaptation cimport Preconditioner

cdef class ScoreMetric(Preconditioner):
    cdef readonly bint known      # whether it has been estimated, a dense one with correlations
    cdef double[:, ::1] slope_scatter
    cdef double[::1] slope_mean, slope_deviation
    cdef void absorb_slope(self, const double *g) noexcept nogil
    cdef void scale_to(self, const double *g) noexcept nogil
