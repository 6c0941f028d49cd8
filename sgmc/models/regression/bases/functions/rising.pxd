cdef struct Rising:               # log Gamma(a + y) / Gamma(a) and its first two derivatives in a
    double value, slope, curvature

cdef Rising rising(double a, double y) noexcept nogil
