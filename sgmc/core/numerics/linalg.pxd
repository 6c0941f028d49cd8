# lower triangle of a (d x d) to its Cholesky factor, in place
cdef void factorise(double *a, Py_ssize_t d) noexcept nogil
