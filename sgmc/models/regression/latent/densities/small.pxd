# Linear algebra of a few effects: q x q matrices, row by row
cdef void multiply(Py_ssize_t q, const double *A, const double *B, double *out) noexcept nogil
cdef void multiply_transposed(Py_ssize_t q, const double *A, const double *B,
                              double *out) noexcept nogil                     # A' B
cdef void times(Py_ssize_t q, const double *A, const double *x, double *out) noexcept nogil
cdef void transposed_times(Py_ssize_t q, const double *A, const double *x,
                           double *out) noexcept nogil                        # A' x
# B upper triangular with A^-1 = B B'; log |B|.  False where A is not positive definite
cdef bint root_of_inverse(Py_ssize_t q, const double *A, double *B, double *log_det) noexcept nogil
# C lower triangular with A = C C', singular A allowed
cdef void lower_root(Py_ssize_t q, const double *A, double *C) noexcept nogil
