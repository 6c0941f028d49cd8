"""Normal, gamma and Poisson variates from a chain's stream, for samplers and for models that draw
parts of theta from conditional laws.
"""
import numpy as np

from libc.math cimport M_PI, cos, exp, fabs, floor, lgamma, log, pow, sqrt

from sgmc.core.random.rng cimport Rng, bitgen_t

cdef double MAX_SEARCHED_MEAN = 10         # means up to which probabilities are added up one by one


cdef double uniform(bitgen_t *bits) noexcept nogil:
    """In (0, 1]."""
    return 1 - bits.next_double(bits.state)


cdef double normal_variate(bitgen_t *bits) noexcept nogil:
    """Box & Muller (1958)."""
    return sqrt(-2 * log(uniform(bits))) * cos(2 * M_PI * uniform(bits))


cdef double gamma_variate(bitgen_t *bits, double shape) noexcept nogil:
    """Squeezed rejection from a cubed normal (Marsaglia & Tsang 2000); below one Gamma(a) =
    Gamma(a + 1) U^(1/a) (their section 6).

    Small shapes may give zero: the law has most of its mass below the smallest number.
    """
    cdef double factor = 1, d, z, v, u
    if shape < 1:
        factor = pow(uniform(bits), 1 / shape)
        shape += 1
    d = shape - 1.0 / 3
    while True:
        z = normal_variate(bits)
        v = 1 + z / sqrt(9 * d)
        if v <= 0:
            continue
        v = v * v * v
        u = uniform(bits)
        if u < 1 - 0.0331 * z * z * z * z or log(u) < 0.5 * z * z + d * (1 - v + log(v)):
            return factor * d * v


cdef double poisson_variate(bitgen_t *bits, double mean) noexcept nogil:
    """Sequential search for small means, else transformed rejection with squeeze (Hoermann 1993,
    algorithm PTRS).
    """
    cdef double k = 0, p, u, v, a, b, rest
    if mean < MAX_SEARCHED_MEAN:
        p, u = exp(-mean), uniform(bits)
        while u > p and p > 0:
            u -= p
            k += 1
            p *= mean / k
        return k
    b = 0.931 + 2.53 * sqrt(mean)
    a = 0.02483 * b - 0.059
    while True:
        u, v = uniform(bits) - 0.5, uniform(bits)
        rest = 0.5 - fabs(u)
        if rest <= 0:
            continue
        k = floor((2 * a / rest + b) * u + mean + 0.43)
        if rest >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or rest < 0.013 and v > rest:
            continue
        if log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (rest * rest)
                                                    + b)) <= k * log(mean) - mean - lgamma(k + 1):
            return k


def gammas(Rng rng, double shape, Py_ssize_t n):
    """n variates of Gamma(shape, 1), an array."""
    cdef double[::1] out = np.empty(n)
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = gamma_variate(rng.bits, shape)
    return np.asarray(out)


def poissons(Rng rng, double mean, Py_ssize_t n):
    """n Poisson variates, an array of floats."""
    cdef double[::1] out = np.empty(n)
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = poisson_variate(rng.bits, mean)
    return np.asarray(out)
