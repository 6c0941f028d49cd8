"""Gamma variables from a chain's stream, for models that draw parts of theta from their conditional laws."""
import numpy as np

from libc.math cimport cos, log, sqrt, M_PI

from sgmc.core.rng cimport Rng


cdef double gamma(bitgen_t *bits, double shape) noexcept nogil:
    """A draw of Gamma(shape, 1) by rejection (Marsaglia & Tsang 2000); shapes below one by way of shape + 1."""
    cdef double d = (shape if shape >= 1 else shape + 1) - 1.0 / 3.0
    cdef double c = 1 / sqrt(9 * d), z, v, u, factor = 1
    if shape < 1:
        factor = (1 - bits.next_double(bits.state)) ** (1 / shape)
    while True:
        z = sqrt(-2 * log(1 - bits.next_double(bits.state))) * cos(2 * M_PI * bits.next_double(bits.state))
        v = 1 + c * z
        if v <= 0:
            continue
        v = v * v * v
        u = 1 - bits.next_double(bits.state)
        if log(u) < 0.5 * z * z + d * (1 - v + log(v)):
            return factor * d * v


def gammas(Rng rng, double shape, Py_ssize_t n):
    """n draws, an array."""
    out = np.empty(n)
    cdef double[::1] drawn = out
    cdef Py_ssize_t i
    for i in range(n):
        drawn[i] = gamma(rng.bits, shape)
    return out
