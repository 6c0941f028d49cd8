cdef enum:
    # a from which four terms of Stirling's series suffice: the first one left out, 1 / (1188 a^9) =
    # 1.2e-14, is 4e-16 of log Gamma(16)
    SERIES_START = 16

cdef struct Binet:
    double value, slope, curvature

cdef Binet binet(double a) noexcept nogil
