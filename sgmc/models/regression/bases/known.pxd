from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.glm cimport Glm

cdef class Known(Glm):
    cdef readonly Dispersed whole
    # the whole model's: own parameters' logs, and coefficients that nobody reads
    cdef double[::1] theta
    cdef int first(self, bint expected, Py_ssize_t m, const double *eta, const double *y,
                   double *w) except -1 nogil
