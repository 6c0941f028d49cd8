"""Sums of w_i x_i x_i' over rows of a wide table, and tables times a matrix, by scipy's BLAS.

Rows are scaled by sqrt |w_i| into a buffer, those of negative weight behind the others, so that
only the triangle that is wanted is computed.
"""
from libc.math cimport fabs, sqrt
from libc.stdlib cimport calloc, free, malloc
from scipy.linalg.cython_blas cimport dgemm, dsyrk, ssyrk

cdef enum:
    PART = 512  # rows in the buffer at a time


cdef Py_ssize_t scaled(Py_ssize_t m, Py_ssize_t d, const number *X, const Py_ssize_t *rows,
                       const double *w, double *wide, float *narrow,
                       Py_ssize_t *negative) noexcept nogil:
    """Rows times sqrt |w_i| into `wide` or `narrow` (the other is NULL): how many of positive
    weight, from the front, and of `negative`, from the back of `m`.  Rows of weight zero are left
    out, so that what they hold does not matter.
    """
    cdef Py_ssize_t i, j, front = 0, at
    cdef double root
    cdef const number *x
    negative[0] = 0
    for i in range(m):
        if w[i] == 0:
            continue
        if w[i] < 0:
            negative[0] += 1
            at = m - negative[0]
        else:  # also where it is not a number, which the sum has to show
            at = front
            front += 1
        x = X + (i if rows == NULL else rows[i]) * d
        root = sqrt(fabs(w[i]))
        if wide != NULL:
            for j in range(d):
                wide[at * d + j] = root * x[j]
        else:
            for j in range(d):
                narrow[at * d + j] = <float> (root * x[j])
    return front


cdef int gram_wide(Py_ssize_t m, Py_ssize_t d, const number *X, const Py_ssize_t *rows,
                   const double *w, double *out, Py_ssize_t stride) except -1 nogil:
    """Upper triangle of `out` (rows `stride` apart) += sum w_i x_i x_i', in float64."""
    cdef Py_ssize_t a, k, size, behind
    cdef int order = <int> d, count, apart = <int> stride
    cdef double plus = 1, minus = -1
    cdef double *part = <double *> malloc(min(m, PART) * d * sizeof(double))
    if part == NULL:
        with gil:
            raise MemoryError
    for k in range((m + PART - 1) // PART):
        a = k * PART
        size = min(m - a, PART)
        count = <int> scaled(size, d, X if rows != NULL else X + a * d,
                             NULL if rows == NULL else rows + a, w + a, part, NULL, &behind)
        dsyrk(b"L", b"N", &order, &count, &plus, part, &order, &plus, out, &apart)
        if behind:
            count = <int> behind
            dsyrk(b"L", b"N", &order, &count, &minus, part + (size - behind) * d, &order, &plus,
                  out, &apart)
    free(part)
    return 0


cdef int gram_single(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                     const double *w, double *out, Py_ssize_t stride) except -1 nogil:
    """The same with products and the sum of these rows in float32: twice as fast, and right to
    about 1e-6 of the diagonal.
    """
    cdef Py_ssize_t a, j, k, size, behind
    cdef int order = <int> d, count
    cdef float plus = 1, minus = -1
    cdef float *part = <float *> malloc(min(m, PART) * d * sizeof(float))
    cdef float *total = <float *> calloc(d * d, sizeof(float))
    if part == NULL or total == NULL:
        free(part)
        free(total)
        with gil:
            raise MemoryError
    for k in range((m + PART - 1) // PART):
        a = k * PART
        size = min(m - a, PART)
        count = <int> scaled(size, d, X if rows != NULL else X + a * d,
                             NULL if rows == NULL else rows + a, w + a, NULL, part, &behind)
        ssyrk(b"L", b"N", &order, &count, &plus, part, &order, &plus, total, &order)
        if behind:
            count = <int> behind
            ssyrk(b"L", b"N", &order, &count, &minus, part + (size - behind) * d, &order, &plus,
                  total, &order)
    for j in range(d):
        for k in range(j, d):
            out[j * stride + k] += total[j * d + k]
    free(part)
    free(total)
    return 0


cdef int rotate_wide(Py_ssize_t n, Py_ssize_t d, number *X, const double *L) except -1 nogil:
    """X <- X L in place, products in float64."""
    cdef Py_ssize_t a, i, k, size
    cdef int order = <int> d, count
    cdef double one = 1, none = 0
    cdef double *before = <double *> malloc(min(n, PART) * d * sizeof(double))
    cdef double *after = <double *> malloc(min(n, PART) * d * sizeof(double))
    if before == NULL or after == NULL:
        free(before)
        free(after)
        with gil:
            raise MemoryError
    for k in range((n + PART - 1) // PART):
        a = k * PART
        size = min(n - a, PART)
        count = <int> size
        for i in range(size * d):
            before[i] = X[a * d + i]
        dgemm(b"N", b"N", &order, &count, &order, &one, <double *> L, &order, before, &order,
              &none, after, &order)
        for i in range(size * d):
            X[a * d + i] = <number> after[i]
    free(before)
    free(after)
    return 0
