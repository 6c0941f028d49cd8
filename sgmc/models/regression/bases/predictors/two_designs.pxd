from sgmc.core.contract cimport Batch, Design, Scratch
from sgmc.models.regression.bases.glm cimport Glm

cdef class TwoDesignsModel(Glm):
    cdef readonly Py_ssize_t[::1] predictor     # of each column
    cdef readonly Py_ssize_t auxiliary           # numbers for all rows
    cdef readonly Py_ssize_t parts              # of predictors
    cdef Design numbers                          # of columns that are no codes, where X has others
    cdef Py_ssize_t[::1] places                 # of these
    cdef int[::1] plain                          # whether a predictor has these alone
    cdef double *spare(self, Scratch *s) noexcept nogil
    cdef const double *place(self, const double *theta, const Batch *tile,
                             Scratch *s) except NULL nogil
    cdef const double *column(self, Py_ssize_t m, Scratch *s, const double *table, Py_ssize_t size,
                              Py_ssize_t k) noexcept nogil
    cdef int part_dot(self, Py_ssize_t part, const double *delta, const Batch *tile, Scratch *s,
                      double *linear) except -1 nogil
    cdef int part_tdot(self, Py_ssize_t part, const Batch *tile, Scratch *s, const double *r,
                       double *grad) except -1 nogil
    cdef double *empty(self, Scratch *s) noexcept nogil
    cdef int add_products(self, const Batch *tile, Scratch *s, const double *w, double *block,
                          double *H) except -1 nogil
    cdef bint pair(self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t p, Py_ssize_t q) noexcept nogil
