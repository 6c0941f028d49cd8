# The metric of regressions: inverse of the information at a place.
from sgmc.core.contract cimport Gradient, Metric

cdef class Fisher(Metric):
    cdef readonly Py_ssize_t dim
    cdef Gradient gradient
    cdef readonly double[::1] floor           # precisions of the prior
    cdef double[:, ::1] C                     # lower Cholesky factor of G
    cdef double[::1] curvature, hold
