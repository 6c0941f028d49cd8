"""Linear algebra of small matrices, without the interpreter lock."""
from libc.math cimport sqrt


cdef void factorise(double *a, Py_ssize_t d) noexcept nogil:
    """Lower triangle to its Cholesky factor in place;
    a pivot that rounding made too small is raised.
    """
    cdef Py_ssize_t j, k, l
    cdef double total, least
    for j in range(d):
        least = 1e-10 * a[j * d + j] if a[j * d + j] > 0 else 1e-300
        for k in range(j + 1):
            total = a[j * d + k]
            for l in range(k):
                total -= a[j * d + l] * a[k * d + l]
            a[j * d + k] = total / a[k * d + k] if k < j else sqrt(max(total, least))
