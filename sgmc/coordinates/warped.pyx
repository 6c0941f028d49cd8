"""A map after a map: quantile coordinates for storage that cannot be rotated."""
import numpy as np

from libc.string cimport memset

from sgmc.core.contract cimport OK, Map

cdef enum:
    # coordinates: chains share a map, so what lies between is on the stack, 16 kB each
    LONGEST = 2048


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
        If their lengths differ or are over LONGEST.
    """

    cdef readonly Map outer, inner

    def __init__(self, Map outer, Map inner):
        if outer.dim != inner.size or not inner.diagonal or max(inner.dim, inner.size) > LONGEST:
            raise ValueError(f"maps of {outer.dim} and {inner.size} coordinates: equally many, at "
                             f"most {LONGEST}, the inner diagonal")
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
        cdef double[LONGEST] y
        self.inner.forward(x, y, log_jacobian)
        return self.outer.forward(y, theta, log_jacobian)

    cdef int push(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef double[LONGEST] y
        cdef double[LONGEST] w
        self.inner.forward(x, y, NULL)
        self.inner.push(x, v, w)
        return self.outer.push(y, w, v_theta)

    cdef int pull(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef double[LONGEST] y
        cdef double[LONGEST] slope
        self.inner.forward(x, y, NULL)
        memset(slope, 0, self.inner.size * sizeof(double))
        self.outer.pull(y, grad_theta, slope)
        return self.inner.pull(x, slope, grad_x)
