from sgmc.core.contract cimport Batch

# C (m x p) = A B + keep C and the same with a factor transposed, all row-major
cdef void times(Py_ssize_t m, Py_ssize_t k, Py_ssize_t p, double *A, double *B, double keep,
                double *C) noexcept nogil
cdef void add_tdot(Py_ssize_t m, Py_ssize_t k, Py_ssize_t p, double *A, double *B,
                   double *C) noexcept nogil
cdef void times_transposed(Py_ssize_t m, Py_ssize_t k, Py_ssize_t p, double *A, double *B,
                           double *C) noexcept nogil

# rows x_i of a table, each column centred and divided: what a first layer of h units sees
cdef class Inputs:
    cdef readonly object table
    cdef readonly Py_ssize_t n, d
    cdef const double[:, ::1] X
    cdef double[::1] centre, unit             # x_ij enters as (x_ij - centre_j) unit_j
    # doubles, for a tile of m rows
    cdef Py_ssize_t work_size(self, Py_ssize_t m, Py_ssize_t h) noexcept nogil
    # out (m x h) += X W; the tile stays in work for `backward`
    cdef int forward(self, const Batch *tile, const double *W, Py_ssize_t h, double *out,
                     double *work) except -1 nogil
    # grad (d x h) += X' delta, of the tile met last
    cdef int backward(self, Py_ssize_t m, const double *delta, Py_ssize_t h, double *grad,
                      double *work) except -1 nogil
    # square (d x h) += (X * X)' delta, for squares delta; X is written over
    cdef int backward_squares(self, Py_ssize_t m, const double *delta, Py_ssize_t h, double *square,
                              double *work) except -1 nogil
