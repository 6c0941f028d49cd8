"""A prior times the exponential of a quadratic function: what is known of rows that are not there.
"""
import numpy as np

from sgmc.core.contract cimport OK, Prior
from sgmc.errors import NotSupported


cdef class Tilted(Prior):
    """log p(theta) + slope . (theta - centre) - (theta - centre)' curvature (theta - centre) / 2.

    The curvature need not be positive: it is that of all rows less that of some.

    Parameters
    ----------
    inner : Prior
    centre, slope : array (dim,)
    curvature : array (dim, dim)
    """

    cdef readonly Prior inner
    cdef readonly double[::1] centre, slope
    cdef readonly double[:, ::1] curvature

    def __init__(self, Prior inner not None, centre, slope, curvature):
        Prior.__init__(self, inner.dim)
        self.inner = inner
        self.centre, self.slope = np.array(centre, dtype=float), np.array(slope, dtype=float)
        self.curvature = np.array(curvature, dtype=float, order="C")

    def ridges(self):
        # an indefinite curvature has no bound that events could use
        raise NotSupported("rows that a reservoir stands for, whose curvature has no bound",
                           because="mathematics")

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double bent, moved
        self.inner.add(theta, value, grad)
        for j in range(self.dim):
            moved, bent = theta[j] - self.centre[j], 0
            for k in range(self.dim):
                bent += self.curvature[j, k] * (theta[k] - self.centre[k])
            if value != NULL:
                value[0] += moved * (self.slope[j] - 0.5 * bent)
            if grad != NULL:
                grad[j] += self.slope[j] - bent
        return OK
