"""See small.pxd."""
from libc.math cimport log, sqrt


cdef void multiply(Py_ssize_t q, const double *A, const double *B, double *out) noexcept nogil:
    cdef Py_ssize_t i, j, k
    for i in range(q):
        for j in range(q):
            out[i * q + j] = 0
            for k in range(q):
                out[i * q + j] += A[i * q + k] * B[k * q + j]


cdef void multiply_transposed(Py_ssize_t q, const double *A, const double *B,
                              double *out) noexcept nogil:
    cdef Py_ssize_t i, j, k
    for i in range(q):
        for j in range(q):
            out[i * q + j] = 0
            for k in range(q):
                out[i * q + j] += A[k * q + i] * B[k * q + j]


cdef void times(Py_ssize_t q, const double *A, const double *x, double *out) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(q):
        out[i] = 0
        for j in range(q):
            out[i] += A[i * q + j] * x[j]


cdef void transposed_times(Py_ssize_t q, const double *A, const double *x,
                           double *out) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(q):
        out[i] = 0
        for j in range(q):
            out[i] += A[j * q + i] * x[j]


cdef bint root_of_inverse(Py_ssize_t q, const double *A, double *B, double *log_det) noexcept nogil:
    """B = C^-T for A = C C', column by column; C is kept below B's diagonal, 1 / C_jj on it."""
    cdef Py_ssize_t i, j, k
    cdef double total
    log_det[0] = 0
    for j in range(q):
        total = A[j * q + j]
        for k in range(j):
            total -= B[j * q + k] * B[j * q + k]
        if not total > 0:
            return False
        B[j * q + j] = 1 / sqrt(total)
        log_det[0] -= 0.5 * log(total)
        for i in range(j + 1, q):
            total = A[i * q + j]
            for k in range(j):
                total -= B[i * q + k] * B[j * q + k]
            B[i * q + j] = total * B[j * q + j]
    for j in range(q):                        # C^-1_ji = B_ij, i < j
        for i in range(j - 1, -1, -1):
            total = 0
            for k in range(i, j):
                total -= B[j * q + k] * (B[i * q + k] if k > i else B[i * q + i])
            B[i * q + j] = total * B[j * q + j]
    for j in range(q):
        for k in range(j):
            B[j * q + k] = 0
    return True


cdef void lower_root(Py_ssize_t q, const double *A, double *C) noexcept nogil:
    cdef Py_ssize_t i, j, k
    cdef double total
    for i in range(q):
        for j in range(q):
            C[i * q + j] = 0
        for j in range(i + 1):
            total = A[i * q + j]
            for k in range(j):
                total -= C[i * q + k] * C[j * q + k]
            if i == j:
                C[i * q + i] = sqrt(max(total, 0.0))
            elif C[j * q + j] > 0:
                C[i * q + j] = total / C[j * q + j]
