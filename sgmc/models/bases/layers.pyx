"""Products of matrices for models with layers: through scipy's BLAS, a tile of rows at a time,
without the interpreter lock.

The first layer reads the table of inputs where it is: rows of a minibatch are gathered, centred and
scaled in scratch memory, so that a table of bytes or of float32 is never copied as a whole.
"""
import numpy as np

from scipy.linalg.cython_blas cimport dgemm, sgemm

from sgmc.core.contract cimport OK, Batch, row_of


cdef void times(Py_ssize_t m, Py_ssize_t k, Py_ssize_t p, double *A, double *B, double keep,
                double *C) noexcept nogil:
    """C (m x p) = A (m x k) B (k x p) + keep C."""
    cdef int rows = <int> m, inner = <int> k, columns = <int> p
    cdef double one = 1
    dgemm(b"N", b"N", &columns, &rows, &inner, &one, B, &columns, A, &inner, &keep, C, &columns)


cdef void add_tdot(Py_ssize_t m, Py_ssize_t k, Py_ssize_t p, double *A, double *B,
                   double *C) noexcept nogil:
    """C (k x p) += A' B for A (m x k), B (m x p)."""
    cdef int rows = <int> m, inner = <int> k, columns = <int> p
    cdef double one = 1
    dgemm(b"N", b"T", &columns, &inner, &rows, &one, B, &columns, A, &inner, &one, C, &columns)


cdef void times_transposed(Py_ssize_t m, Py_ssize_t k, Py_ssize_t p, double *A, double *B,
                           double *C) noexcept nogil:
    """C (m x p) = A (m x k) B' for B (p x k)."""
    cdef int rows = <int> m, inner = <int> k, columns = <int> p
    cdef double one = 1, none = 0
    dgemm(b"T", b"N", &columns, &rows, &inner, &one, B, &inner, A, &inner, &none, C, &columns)


cdef class Inputs:
    """A table of float64, multiplied in float64.

    Parameters
    ----------
    table : array (n, d)
        Row-major; never changed, not copied.
    centre, unit : array (d,)
        x_ij enters as (x_ij - centre_j) unit_j.
    """

    def __init__(self, table, centre, unit):
        self.table = self.X = table
        self.n, self.d = table.shape
        self.centre, self.unit = np.array(centre, dtype=float), np.array(unit, dtype=float)

    cdef Py_ssize_t work_size(self, Py_ssize_t m, Py_ssize_t h) noexcept nogil:
        return m * self.d

    cdef int forward(self, const Batch *tile, const double *W, Py_ssize_t h, double *out,
                     double *work) except -1 nogil:
        cdef Py_ssize_t i, j
        cdef const double *x
        for i in range(tile.m):
            x = &self.X[row_of(tile, i), 0]
            for j in range(self.d):
                work[i * self.d + j] = (x[j] - self.centre[j]) * self.unit[j]
        times(tile.m, self.d, h, work, <double *> W, 1, out)
        return OK

    cdef int backward(self, Py_ssize_t m, const double *delta, Py_ssize_t h, double *grad,
                      double *work) except -1 nogil:
        add_tdot(m, self.d, h, work, <double *> delta, grad)
        return OK

    cdef int backward_squares(self, Py_ssize_t m, const double *delta, Py_ssize_t h, double *square,
                              double *work) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m * self.d):
            work[i] *= work[i]
        return self.backward(m, delta, h, square, work)


cdef class Inputs32(Inputs):
    """A table of float32, multiplied in float32: half the time; sums of tiles are in float64."""

    cdef const float[:, ::1] narrow
    cdef float[::1] centre32, unit32

    def __init__(self, table, centre, unit):
        self.table = table
        self.n, self.d = table.shape
        self.centre32 = np.array(centre, dtype=np.float32)
        self.unit32 = np.array(unit, dtype=np.float32)
        if table.dtype == np.float32:
            self.narrow = table

    cdef Py_ssize_t work_size(self, Py_ssize_t m, Py_ssize_t h) noexcept nogil:
        # of floats: X; its products with W, or delta; W, or the gradient
        return (m * self.d + m * h + self.d * h) // 2 + 1

    cdef int load(self, const Batch *tile, float *out) except -1 nogil:
        """The tile, centred and scaled."""
        cdef Py_ssize_t i, j
        cdef const float *x
        for i in range(tile.m):
            x = &self.narrow[row_of(tile, i), 0]
            for j in range(self.d):
                out[i * self.d + j] = (x[j] - self.centre32[j]) * self.unit32[j]
        return OK

    cdef int forward(self, const Batch *tile, const double *W, Py_ssize_t h, double *out,
                     double *work) except -1 nogil:
        cdef Py_ssize_t i, m = tile.m, d = self.d
        cdef int rows = <int> m, inner = <int> d, columns = <int> h
        cdef float one = 1, none = 0
        cdef float *x = <float *> work
        cdef float *product = x + m * d
        cdef float *weights = product + m * h
        self.load(tile, x)
        for i in range(d * h):
            weights[i] = <float> W[i]
        sgemm(b"N", b"N", &columns, &rows, &inner, &one, weights, &columns, x, &inner, &none,
              product, &columns)
        for i in range(m * h):
            out[i] += product[i]
        return OK

    cdef int backward(self, Py_ssize_t m, const double *delta, Py_ssize_t h, double *grad,
                      double *work) except -1 nogil:
        cdef Py_ssize_t i, d = self.d
        cdef int rows = <int> m, inner = <int> d, columns = <int> h
        cdef float one = 1, none = 0
        cdef float *x = <float *> work
        cdef float *slope = x + m * d
        cdef float *sum = slope + m * h
        for i in range(m * h):
            slope[i] = <float> delta[i]
        sgemm(b"N", b"T", &columns, &inner, &rows, &one, slope, &columns, x, &inner, &none, sum,
              &columns)
        for i in range(d * h):
            grad[i] += sum[i]
        return OK

    cdef int backward_squares(self, Py_ssize_t m, const double *delta, Py_ssize_t h, double *square,
                              double *work) except -1 nogil:
        cdef Py_ssize_t i
        cdef float *x = <float *> work
        for i in range(m * self.d):
            x[i] *= x[i]
        return self.backward(m, delta, h, square, work)


cdef class InputsOfBytes(Inputs32):
    """A table of bytes, such as pixels, multiplied in float32."""

    cdef const unsigned char[:, ::1] bytes

    def __init__(self, table, centre, unit):
        Inputs32.__init__(self, table, centre, unit)
        self.bytes = table

    cdef int load(self, const Batch *tile, float *out) except -1 nogil:
        cdef Py_ssize_t i, j
        cdef const unsigned char *x
        for i in range(tile.m):
            x = &self.bytes[row_of(tile, i), 0]
            for j in range(self.d):
                out[i * self.d + j] = (x[j] - self.centre32[j]) * self.unit32[j]
        return OK


def inputs(table, centre, unit):
    """The `Inputs` for a row-major array, by its type."""
    kinds = {"float64": Inputs, "float32": Inputs32, "uint8": InputsOfBytes}
    return kinds[table.dtype.name](table, centre, unit)
