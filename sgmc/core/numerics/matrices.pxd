# Products of a tile of rows with many vectors at once, by BLAS: see matrices.pyx
cdef void dot_many(Py_ssize_t m, Py_ssize_t d, const double *X, Py_ssize_t points,
                   const double *theta, Py_ssize_t stride, double *eta) noexcept nogil
cdef void tdot_many(Py_ssize_t m, Py_ssize_t d, const double *X, Py_ssize_t points,
                    const double *r, double *out, Py_ssize_t stride) noexcept nogil
cdef void dot_many_single(Py_ssize_t m, Py_ssize_t d, const float *X, Py_ssize_t points,
                          const float *theta, float *eta) noexcept nogil
cdef void tdot_many_single(Py_ssize_t m, Py_ssize_t d, const float *X, Py_ssize_t points,
                           const float *r, float *out) noexcept nogil
