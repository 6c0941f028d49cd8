# The metric of regressions: inverse of the information at a place.
from sgmc.core.contract cimport Batch, Gradient, Metric

cdef class Fisher(Metric):
    cdef readonly Py_ssize_t dim
    cdef Gradient gradient
    cdef readonly double[::1] floor           # precisions of the prior
    cdef double[:, ::1] C                     # lower Cholesky factor of G
    # half the information of all rows at the first place; empty where G has none of it
    cdef readonly double[:, ::1] base
    cdef bint based
    cdef Batch rows  # those of the information, with their factor; points into `listed`
    cdef Py_ssize_t[::1] listed
    cdef double[::1] place, curvature, hold
    # of the last place, where wanted: rows r_c' = columns of R, bent_c = (derivative of G along
    # r_c) r_c
    cdef double[:, ::1] columns, bent
    cdef double[::1] ahead, behind, other, score
    cdef int expected_information(self, const double *x, const Batch *rows,
                                  double *H) except -1 nogil
    cdef int differentiate(self) except -1 nogil
    cdef int differentiate_tile(self, const Batch *tile, Py_ssize_t c) except -1 nogil
