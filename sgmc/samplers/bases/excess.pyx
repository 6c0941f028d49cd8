"""What a gradient has beyond a Gaussian's, in whitened coordinates: for integrators that solve the
Gaussian part exactly.
"""
from libc.math cimport fmax, fmin

# of a coordinate: more would only be rejected
cdef double MAX_EXCESS = 1.0


cdef void excess(Py_ssize_t dim, const double *x, const double *g, double *out) noexcept nogil:
    """g + x, cut at MAX_EXCESS, but for what takes no more than the pull to the centre away (heavy
    tails).
    """
    cdef Py_ssize_t j
    for j in range(dim):
        out[j] = fmin(fmax(g[j] + x[j], fmin(-MAX_EXCESS, x[j])), fmax(MAX_EXCESS, x[j]))
