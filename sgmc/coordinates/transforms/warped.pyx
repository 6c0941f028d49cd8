"""A map after a map: quantile coordinates for storage that cannot be rotated."""
import numpy as np

from libc.string cimport memset

from sgmc.coordinates.transforms.stack cimport MAX_STACKED
from sgmc.core.contract cimport OK, Map



cdef class Warped(Map):
    """theta = m + L w(x), w diagonal: the dense preconditioner of CSR arrays and memory maps,
    behind a quantile map.

    Parameters
    ----------
    outer : Affine
    inner : Warp or Scaling

    Raises
    ------
    ValueError
        If their lengths differ or are over MAX_STACKED.
    """

    cdef readonly Map outer, inner

    def __init__(self, Map outer, Map inner):
        if (outer.dim != inner.size or not inner.diagonal
                or max(inner.dim, inner.size) > MAX_STACKED):
            raise ValueError(f"maps of {outer.dim} and {inner.size} coordinates: equally many, at "
                             f"most {MAX_STACKED}, the inner diagonal")
        self.outer, self.inner = outer, inner
        self.dim, self.size = inner.dim, outer.size

    def __call__(self, x):
        """theta for points x (..., dim)."""
        return self.outer(self.inner(x))

    def inverse(self, theta):
        """x for a point theta (size,)."""
        return self.inner.inverse(self.outer.inverse(theta))

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        return self.outer.jacobian(x) * self.inner.slopes(x)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef double[MAX_STACKED] y
        self.inner.forward(x, y, log_jacobian)
        return self.outer.forward(y, theta, log_jacobian)

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef double[MAX_STACKED] y
        cdef double[MAX_STACKED] w
        self.inner.forward(x, y, NULL)
        self.inner.jvp(x, v, w)
        return self.outer.jvp(y, w, v_theta)

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef double[MAX_STACKED] y
        cdef double[MAX_STACKED] slope
        self.inner.forward(x, y, NULL)
        memset(slope, 0, self.inner.size * sizeof(double))
        self.outer.vjp(y, grad_theta, slope)
        return self.inner.vjp(x, slope, grad_x)
