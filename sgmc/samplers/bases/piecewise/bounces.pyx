"""What happens to the velocity of a bouncing particle: it is drawn anew, or reflected in a gradient
(Pakman et al. 2017, eq. 4, 16).
"""
from libc.math cimport sqrt

from sgmc.core.contract cimport Rng, normal_fill

# what a refreshment in a path of one sd, over sqrt(d), adds to the autocorrelation time
REFRESHMENT_COST = 0.75


cdef void refreshed(Rng rng, Py_ssize_t dim, const double *scale, double *v) noexcept nogil:
    """v = A u, u uniform on the sphere."""
    cdef Py_ssize_t j
    normal_fill(rng, dim, v)
    stretch(dim, scale, v)


cdef void reflected(Py_ssize_t dim, const double *scale, const double *g, double *v,
                    double *u) noexcept nogil:
    """v = A (u - 2 (u . A g) A g / |A g|^2), put back on the sphere against rounding; `u` is what v
    was of before, or v itself.
    """
    cdef Py_ssize_t j
    cdef double along = 0, size = 0, pulled
    for j in range(dim):
        pulled = g[j] if scale == NULL else scale[j] * g[j]
        along += u[j] * pulled
        size += pulled * pulled
    for j in range(dim):
        pulled = g[j] if scale == NULL else scale[j] * g[j]
        v[j] = u[j] - (2 * along / size * pulled if size > 0 else 0)
    stretch(dim, scale, v)


cdef void stretch(Py_ssize_t dim, const double *scale, double *v) noexcept nogil:
    """v = A v sqrt(d) / |v|."""
    cdef Py_ssize_t j
    cdef double size = 0
    for j in range(dim):
        size += v[j] * v[j]
    size = sqrt(dim / size)
    for j in range(dim):
        v[j] *= size if scale == NULL else size * scale[j]
