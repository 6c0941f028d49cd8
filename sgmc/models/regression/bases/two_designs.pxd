from sgmc.core.contract cimport Batch, Scratch
from sgmc.models.regression.bases.glm cimport Glm

cdef class TwoDesignsModel(Glm):
    cdef readonly Py_ssize_t first
    cdef readonly bint dispersed
    cdef double *spare(self, Scratch *s) noexcept nogil
    cdef Py_ssize_t begins(self, Py_ssize_t part) noexcept nogil
    cdef const double *place(self, const double *theta, const Batch *tile,
                             Scratch *s) except NULL nogil
    cdef const double *column(self, Py_ssize_t m, Scratch *s, const double *table, Py_ssize_t size,
                              Py_ssize_t k) noexcept nogil
    cdef double *empty(self, Scratch *s) noexcept nogil
