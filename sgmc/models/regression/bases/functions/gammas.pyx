"""The log-gamma function and its derivatives for arguments from 0 to very large ones, in pieces
that cancel nowhere when a density adds several of them up.
"""
from libc.math cimport log

from sgmc.models.regression.bases.functions.binet cimport SERIES_START, Binet, binet


cdef Gammas gammas(double a, double log_a) noexcept nogil:
    """J(a) = log Gamma(a) - (a - 1/2) log a + a - log(2 pi) / 2, a (psi(1 + a) - log a) and
    a^2 psi'(1 + a) for a >= 0; `log_a` is a number also where a is 0 by underflow.

    Below SERIES_START by the recursion from a + 1, a + 2, ..., its factors multiplied before a
    logarithm is taken; above by Stirling's series.
    """
    cdef Gammas out
    cdef Binet J
    cdef double z = a, product = 1, sum_of_ones = 0, sum_of_squares = 0
    cdef double p
    if a >= SERIES_START:
        J = binet(a)
        out.rest = J.value
        out.slope = a * J.slope + 0.5
        out.curvature = a + a * a * J.curvature - 0.5
        return out
    while z < SERIES_START:
        z += 1  # psi(1 + a) = psi(1 + a + k) - 1 / (1 + a) - ... - 1 / (k + a)
        p = 1 / z
        product *= z
        sum_of_ones += p
        sum_of_squares += p * p
    J = binet(z)
    p = log(z)
    # log Gamma(1 + a) = log Gamma(1 + z) - log((1 + a) (2 + a) ... z)
    out.rest = (z + 0.5) * p - z + J.value - log(product) - (a + 0.5) * log_a + a
    out.slope = a * (p + 0.5 / z + J.slope - sum_of_ones - log_a)
    out.curvature = a * a * (1 / z - 0.5 / (z * z) + J.curvature + sum_of_squares)
    return out
