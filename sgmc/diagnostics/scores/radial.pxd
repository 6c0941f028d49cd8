"""Radial kernels k(r^2) with the derivatives that Stein kernels are made of, a tile of distances at
a time.
"""
from libc.math cimport exp, pow, sqrt

cdef enum:
    DRAW_TILE = 128  # draws whose sums are carried together, so that the loops over them vectorise


cdef struct Radial:  # a kernel k(r^2), r = |x - y|: exp(-r^2 / 2 c^2) or (c^2 + r^2)^beta
    bint gaussian
    double c2, beta


cdef inline void evaluate(const Radial *radial, Py_ssize_t begin, Py_ssize_t end, const double *r2,
                          double *f, double *g, double *h) noexcept nogil:
    """f = k, g = -2 k', h = -4 k'', the derivatives by r^2; h holds u = 1 / (c^2 + r^2)
    or 1 / c^2 on the way.
    """
    cdef double c2 = radial.c2, beta = radial.beta
    cdef double slope = 1 if radial.gaussian else -2 * beta
    cdef double curve = -1 if radial.gaussian else 2 * (beta - 1)
    cdef Py_ssize_t b
    if radial.gaussian:
        for b in range(begin, end):
            h[b] = 1 / c2
            f[b] = exp(-0.5 * r2[b] / c2)
    elif beta == -0.5:
        for b in range(begin, end):
            h[b] = 1 / (c2 + r2[b])
            f[b] = sqrt(h[b])
    else:
        for b in range(begin, end):
            h[b] = 1 / (c2 + r2[b])
            f[b] = pow(h[b], -beta)
    for b in range(begin, end):
        g[b] = slope * f[b] * h[b]
        h[b] = curve * g[b] * h[b]
