cdef struct Gammas:
    double rest, slope, curvature

cdef Gammas gammas(double a, double log_a) noexcept nogil
