"""What a gradient has beyond a Gaussian's, in whitened coordinates: for integrators that solve the
Gaussian part exactly.
"""
from libc.math cimport fmax, fmin


cdef void excess(Py_ssize_t dim, const double *x, const double *g, double most,
                 double *out) noexcept nogil:
    """g + x, cut at `most`, but for what takes no more than the pull to the centre away (heavy
    tails).
    """
    cdef Py_ssize_t j
    for j in range(dim):
        out[j] = fmin(fmax(g[j] + x[j], fmin(-most, x[j])), fmax(most, x[j]))
