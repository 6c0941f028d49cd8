# Weighted sums of products of rows by BLAS: see gram.pyx
cdef enum:
    BLAS_COLUMNS = 64  # columns from which BLAS is faster than loops over single rows
    GRAM_ROWS = 2048  # rows that one call takes at best

ctypedef fused number:
    float
    double

cdef int gram_wide(Py_ssize_t m, Py_ssize_t d, const number *X, const Py_ssize_t *rows,
                   const double *w, double *out, Py_ssize_t stride) except -1 nogil
cdef int gram_single(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                     const double *w, double *out, Py_ssize_t stride) except -1 nogil
cdef int rotate_wide(Py_ssize_t n, Py_ssize_t d, number *X, const double *L) except -1 nogil
