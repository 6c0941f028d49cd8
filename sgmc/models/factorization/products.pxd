"""The C kernels of pairs.c as cimportable functions."""
from libc.stdint cimport int32_t

cdef extern from "pairs.h" nogil:
    ctypedef struct Entry "vm_entry":       # one rating
        int32_t user, item
        double value

cdef void products(Py_ssize_t m, Py_ssize_t d, const Entry *table, const Py_ssize_t *rows,
                   const double *U, const double *V, double *out) noexcept nogil
cdef void add_products(Py_ssize_t m, Py_ssize_t d, const Entry *table, const Py_ssize_t *rows,
                       const double *r, const double *U, const double *V, double *gU,
                       double *gV) noexcept nogil
