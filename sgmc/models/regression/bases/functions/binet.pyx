"""What Stirling's formula leaves of the log-gamma function: no cancellation where a is large, as
differences of gammas have.
"""
from libc.math cimport log1p


cdef Binet binet(double a) noexcept nogil:
    """J(a) = log Gamma(a) - (a - 1/2) log a + a - log(2 pi) / 2 for a > 0, with J' and J''.

    J(a) = J(a + 1) + (a + 1/2) log(1 + 1/a) - 1 until a is large, and from there the series 1/(12
    a) - 1/(360 a^3) + ...
    """
    cdef Binet J
    cdef double p, p2, both
    J.value = J.slope = J.curvature = 0
    while a < SERIES_START:
        both = 1 / (a * (a + 1))
        J.value += (a + 0.5) * log1p(1 / a) - 1
        J.slope += log1p(1 / a) - (a + 0.5) * both
        J.curvature += 0.5 * both * both
        a += 1
    p = 1 / a
    p2 = p * p
    J.value += p / 12 * (1 - p2 / 30 * (1 - p2 * (2.0 / 7.0) * (1 - 0.75 * p2)))
    J.slope -= p2 / 12 * (1 - p2 / 10 * (1 - p2 * (10.0 / 21.0) * (1 - 1.05 * p2)))
    J.curvature += p * p2 / 6 * (1 - p2 / 5 * (1 - p2 * (5.0 / 7.0) * (1 - 1.4 * p2)))
    return J
