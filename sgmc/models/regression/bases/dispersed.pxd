from sgmc.core.contract cimport Scratch
from sgmc.models.regression.bases.glm cimport Glm

cdef class Dispersed(Glm):
    cdef double *spare(self, Scratch *s) noexcept nogil
    cdef int join(self, const double *theta, Py_ssize_t m, const double *linear,
                  double *eta) except -1 nogil
    cdef const double *column(self, Py_ssize_t m, Scratch *s, const double *table, Py_ssize_t size,
                              Py_ssize_t k) noexcept nogil
