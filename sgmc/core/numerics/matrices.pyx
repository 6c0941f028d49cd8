"""Products of a tile of rows with many vectors at once, by scipy's BLAS, without the interpreter
lock.

One vector at a time is bound by memory; 64 of them share what is read of the table, and run at the
processor's speed.
"""
from scipy.linalg.cython_blas cimport dgemm, sgemm


cdef void dot_many(Py_ssize_t m, Py_ssize_t d, const double *X, Py_ssize_t points,
                   const double *theta, Py_ssize_t stride, double *eta) noexcept nogil:
    """eta (points x m) = theta X' for X (m x d) and rows of theta that are `stride` apart."""
    cdef int rows = <int> m, inner = <int> d, columns = <int> points, apart = <int> stride
    cdef double one = 1, none = 0
    dgemm(b"T", b"N", &rows, &columns, &inner, &one, <double *> X, &inner, <double *> theta,
          &apart, &none, eta, &rows)


cdef void tdot_many(Py_ssize_t m, Py_ssize_t d, const double *X, Py_ssize_t points,
                    const double *r, double *out, Py_ssize_t stride) noexcept nogil:
    """out (points x d, rows `stride` apart) += r X for r (points x m) and X (m x d)."""
    cdef int rows = <int> m, inner = <int> d, columns = <int> points, apart = <int> stride
    cdef double one = 1
    dgemm(b"N", b"N", &inner, &columns, &rows, &one, <double *> X, &inner, <double *> r, &rows,
          &one, out, &apart)


cdef void dot_many_single(Py_ssize_t m, Py_ssize_t d, const float *X, Py_ssize_t points,
                          const float *theta, float *eta) noexcept nogil:
    """Compute `dot_many` in single precision, for theta (points x d)."""
    cdef int rows = <int> m, inner = <int> d, columns = <int> points
    cdef float one = 1, none = 0
    sgemm(b"T", b"N", &rows, &columns, &inner, &one, <float *> X, &inner, <float *> theta, &inner,
          &none, eta, &rows)


cdef void tdot_many_single(Py_ssize_t m, Py_ssize_t d, const float *X, Py_ssize_t points,
                           const float *r, float *out) noexcept nogil:
    """out (points x d) = r X; see `tdot_many`."""
    cdef int rows = <int> m, inner = <int> d, columns = <int> points
    cdef float one = 1, none = 0
    sgemm(b"N", b"N", &inner, &columns, &rows, &one, <float *> X, &inner, <float *> r, &rows,
          &none, out, &inner)
