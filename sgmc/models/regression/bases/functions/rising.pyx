"""Logarithms of rising factorials, exact also where a is so large that log-gamma functions would
cancel.
"""
import numpy as np

from libc.math cimport log, log1p

from sgmc.models.regression.bases.functions.binet cimport SERIES_START

cdef double MAX_FACTORS = 4.0             # factors that are multiplied one by one
cdef double LARGE_BASE = 1e6              # from here 1 / (a + y) - 1 / a would cancel


cdef Rising rising(double a, double y) noexcept nogil:
    """R(a) = log Gamma(a + y) / Gamma(a) for a > 0, y = 0, 1, 2, ..., with R' and R''.

    Factor by factor, sum_{j < y} log(a + j), until a + j is large, and from there by the difference
    of Stirling's series.
    """
    cdef Rising R
    cdef double b, p, q, p2, q2
    R.value = R.slope = R.curvature = 0
    while y > 0 and (a < SERIES_START or y <= MAX_FACTORS):
        R.value += log(a)
        R.slope += 1 / a
        R.curvature -= 1 / (a * a)
        a += 1
        y -= 1
    if y <= 0:
        return R
    b, p, q = a + y, 1 / a, 1 / (a + y)
    p2, q2 = p * p, q * q
    R.value += ((b - 0.5) * log1p(y * p) + y * (log(a) - 1) + (q - p) / 12 - (q * q2 - p * p2) / 360
                + (q * q2 * q2 - p * p2 * p2) / 1260 - (q * q2 * q2 * q2 - p * p2 * p2 * p2) / 1680)
    R.slope += (log1p(y * p) - (q - p) / 2 - (q2 - p2) / 12 + (q2 * q2 - p2 * p2) / 120
                - (q2 * q2 * q2 - p2 * p2 * p2) / 252
                + (q2 * q2 * q2 * q2 - p2 * p2 * p2 * p2) / 240)
    R.curvature += ((q - p if a < LARGE_BASE else -y * p * q) + (q2 - p2) / 2
                    + (q * q2 - p * p2) / 6 - (q * q2 * q2 - p * p2 * p2) / 30
               + (q * q2 * q2 * q2 - p * p2 * p2 * p2) / 42)
    return R


def log_rising(a, y):
    """log Gamma(a + y) / Gamma(a), elementwise for counts y >= 0 and a > 0, broadcast."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(y))
    cdef const double[::1] base = np.ascontiguousarray(np.broadcast_to(a, shape),
                                                       dtype=float).ravel()
    cdef const double[::1] count = np.ascontiguousarray(np.broadcast_to(y, shape),
                                                        dtype=float).ravel()
    cdef double[::1] out = np.empty(base.shape[0])
    cdef Py_ssize_t i
    with nogil:
        for i in range(base.shape[0]):
            out[i] = rising(base[i], count[i]).value
    return np.asarray(out).reshape(shape)
