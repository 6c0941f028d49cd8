"""Storage of a table of predictors: dense float64 and float32, CSR; `terms` has coded factors.

Dense tables may live in memory or in a memory map; they are never copied here.  `rotate` is for
tables that the package itself made (the permuted copy), never for a user's.
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from sgmc.core.numerics cimport gram as sums
from sgmc.core.numerics cimport matrices, simd
from sgmc.core.contract cimport OK, Batch, Design, all_rows, fetch_rows, next_tile, row_of
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.designs.terms import Terms

cdef enum:
    AT_ONCE = 32  # rows that are fetched together

FORMS = 1 << 17  # numbers that are looked at together: a megabyte


def dense_forms(X, S, rows):
    """x' S x of rows of a dense table, a piece at a time; see `Dense64.forms`."""
    X = X[rows]
    out, size = np.empty(len(X)), max(FORMS // max(X.shape[1], 1), 1)
    for a in range(0, len(X), size):
        x = X[a:a + size].astype(float, copy=False)
        out[a:a + size] = np.einsum("ij,ij->i", x if S is None else x @ S, x)
    return out


def dense_tile(row):
    """Rows a tile, given a row's bytes: its second read comes from the first cache, and new rows
    are asked for so evenly that memory works while scores are computed.
    """
    return min(max(5120 // row // 16 * 16, 32), 1024)


def gram_rows(d):
    """Rows that sums of products by BLAS should take at a time; 0 where loops make them."""
    return sums.GRAM_ROWS if d >= sums.BLAS_COLUMNS else 0


cdef class Dense64(Design):
    """Row-major float64 table."""

    cdef readonly object table
    cdef const double[:, ::1] X

    def __init__(self, X):
        self.table = self.X = X
        self.n, self.d = X.shape
        self.tile = dense_tile(X.itemsize * max(self.d, 1))

    cdef void fetch(self, const Batch *b) noexcept nogil:
        fetch_rows(b, &self.X[0, 0], self.d * sizeof(double))

    cdef const double *base(self, const Batch *b) noexcept nogil:
        return &self.X[0, 0] + (b.start * self.d if b.rows == NULL else 0)

    cdef int dot(self, const Batch *b, const double *theta, double *eta,
                 double *work) except -1 nogil:
        simd.dot_f64(b.m, self.d, self.base(b), b.rows, theta, eta)
        return OK

    cdef int tdot(self, const Batch *b, const double *r, double *out, double *work) except -1 nogil:
        simd.tdot_f64(b.m, self.d, self.base(b), b.rows, r, out)
        return OK

    cdef int dot_many(self, const Batch *b, Py_ssize_t points, const double *theta,
                      Py_ssize_t stride, double *eta, double *work) except -1 nogil:
        matrices.dot_many(b.m, self.d, self.base(b), points, theta, stride, eta)
        return OK

    cdef int tdot_many(self, const Batch *b, Py_ssize_t points, const double *r, double *out,
                       Py_ssize_t stride, double *work) except -1 nogil:
        matrices.tdot_many(b.m, self.d, self.base(b), points, r, out, stride)
        return OK

    cdef int tdot_sq(self, const Batch *b, const double *r, double *out) except -1 nogil:
        simd.tdot_sq_f64(b.m, self.d, self.base(b), b.rows, r, out)
        return OK

    cdef int gram(self, const Batch *b, const double *w, double *out,
                  Py_ssize_t stride) except -1 nogil:
        if self.d >= sums.BLAS_COLUMNS:
            return sums.gram_wide(b.m, self.d, self.base(b), b.rows, w, out, stride)
        simd.gram_f64(b.m, self.d, self.base(b), b.rows, w, out, stride)
        return OK

    @property
    def gram_rows(self):
        return gram_rows(self.d)

    def forms(self, S, rows=slice(None)):
        """x' S x of each row, or of a slice of them, an array, for S (d, d) or None, the identity.
        """
        return dense_forms(self.table, S, rows)


cdef class Single64(Dense64):
    """The same, its products with many points and its `gram` in float32: they are twice as fast,
    and right to 1e-7 of the largest terms.
    """

    single = True

    cdef Py_ssize_t work_many(self, Py_ssize_t m, Py_ssize_t points) noexcept nogil:
        return (m * self.d + points * (m + self.d)) // 2 + 1

    cdef int dot_many(self, const Batch *b, Py_ssize_t points, const double *theta,
                      Py_ssize_t stride, double *eta, double *work) except -1 nogil:
        cdef float *x = <float *> work
        cdef float *narrow = x + b.m * self.d
        cdef float *found = narrow + points * self.d
        cdef Py_ssize_t k
        simd.narrow(b.m * self.d, self.base(b), x)
        for k in range(points):
            simd.narrow(self.d, theta + k * stride, narrow + k * self.d)
        matrices.dot_many_single(b.m, self.d, x, points, narrow, found)
        simd.widen(b.m * points, found, eta)
        return OK

    cdef int tdot_many(self, const Batch *b, Py_ssize_t points, const double *r, double *out,
                       Py_ssize_t stride, double *work) except -1 nogil:
        cdef float *x = <float *> work
        cdef float *narrow = x + b.m * self.d
        cdef float *found = narrow + points * b.m
        cdef Py_ssize_t k
        simd.narrow(b.m * points, r, narrow)
        matrices.tdot_many_single(b.m, self.d, x, points, narrow, found)
        for k in range(points):
            simd.add_single(self.d, found + k * self.d, out + k * stride)
        return OK

    cdef int gram(self, const Batch *b, const double *w, double *out,
                  Py_ssize_t stride) except -1 nogil:
        return sums.gram_single(b.m, self.d, self.base(b), b.rows, w, out, stride)


cdef class Repeated64(Dense64):
    """The same with columns that many rows have alike, as those of a region's or a time's effects:
    these are read once for all neighbours that share them.

    Parameters
    ----------
    X : array (n, d) of float64
    code : array (n,) of int
        Number of each row among the different ones.
    first, stop : int
        Between which columns these are; columns behind are empty.
    """

    cdef const double[:, ::1] own                 # columns before these
    cdef const double[:, ::1] shared              # a row of each number
    cdef const int32_t[::1] code
    cdef Py_ssize_t p, k

    def __init__(self, X, code, Py_ssize_t first, Py_ssize_t stop):
        Dense64.__init__(self, X)
        at = np.unique(code, return_index=True)[1]
        self.own = np.ascontiguousarray(X[:, :first])
        self.shared, self.code = np.ascontiguousarray(X[at, first:stop]), code
        self.p, self.k = first, stop - first
        self.tile = dense_tile(X.itemsize * (first + 1))

    cdef const double *before(self, const Batch *b) noexcept nogil:
        return &self.own[0, 0] + (b.start * self.p if b.rows == NULL else 0)

    cdef Py_ssize_t end(self, const Batch *b, Py_ssize_t i) noexcept nogil:
        """Where the rows end that have what the i-th has."""
        cdef Py_ssize_t code = self.code[row_of(b, i)]
        while i < b.m and self.code[row_of(b, i)] == code:
            i += 1
        return i

    cdef const double *alike(self, const Batch *b, Py_ssize_t i) noexcept nogil:
        return &self.shared[self.code[row_of(b, i)], 0]

    cdef void fetch(self, const Batch *b) noexcept nogil:
        fetch_rows(b, &self.own[0, 0], self.p * sizeof(double))

    cdef int dot(self, const Batch *b, const double *theta, double *eta,
                 double *work) except -1 nogil:
        return self.dot_many(b, 1, theta, self.d, eta, work)

    cdef int tdot(self, const Batch *b, const double *r, double *out, double *work) except -1 nogil:
        return self.tdot_many(b, 1, r, out, self.d, work)

    cdef int dot_many(self, const Batch *b, Py_ssize_t points, const double *theta,
                      Py_ssize_t stride, double *eta, double *work) except -1 nogil:
        cdef Py_ssize_t i, j, end = 0, k, m = b.m
        cdef double part
        for k in range(points):
            simd.dot_f64(m, self.p, self.before(b), b.rows, theta + k * stride, eta + k * m)
        while end < m:
            i = end
            end = self.end(b, i)
            for k in range(points):
                simd.dot_f64(1, self.k, self.alike(b, i), NULL, theta + k * stride + self.p, &part)
                for j in range(i, end):
                    eta[k * m + j] += part
        return OK

    cdef int tdot_many(self, const Batch *b, Py_ssize_t points, const double *r, double *out,
                       Py_ssize_t stride, double *work) except -1 nogil:
        cdef Py_ssize_t i, j, end = 0, k, m = b.m
        cdef double total
        for k in range(points):
            simd.tdot_f64(m, self.p, self.before(b), b.rows, r + k * m, out + k * stride)
        while end < m:
            i = end
            end = self.end(b, i)
            for k in range(points):
                total = 0
                for j in range(i, end):
                    total += r[k * m + j]
                simd.tdot_f64(1, self.k, self.alike(b, i), NULL, &total, out + k * stride + self.p)
        return OK

    cdef int tdot_sq(self, const Batch *b, const double *r, double *out) except -1 nogil:
        cdef Py_ssize_t i, j, end = 0
        cdef const double *x
        cdef double total
        simd.tdot_sq_f64(b.m, self.p, self.before(b), b.rows, r, out)
        while end < b.m:
            i, total = end, 0
            end = self.end(b, i)
            for j in range(i, end):
                total += r[j] * r[j]
            x = self.alike(b, i)
            for j in range(self.k):
                out[self.p + j] += total * x[j] * x[j]
        return OK

    cdef int gram(self, const Batch *b, const double *w, double *out,
                  Py_ssize_t stride) except -1 nogil:
        cdef Py_ssize_t i, j, l, q, end = 0, p = self.p
        cdef const double *x
        cdef double total
        simd.gram_f64(b.m, p, self.before(b), b.rows, w, out, stride)
        while end < b.m:
            i = end
            end = self.end(b, i)
            x = self.alike(b, i)
            for q in range(p):
                total = 0
                for j in range(i, end):
                    total += w[j] * self.own[row_of(b, j), q]
                for l in range(self.k):
                    out[q * stride + p + l] += total * x[l]
            total = 0
            for j in range(i, end):
                total += w[j]
            for q in range(self.k):
                for l in range(q, self.k):
                    out[(p + q) * stride + p + l] += total * x[q] * x[l]
        return OK

    @property
    def gram_rows(self):
        return 0


cdef class Dense32(Design):
    """Row-major float32 table; sums of a tile in float32, sums of tiles in float64."""

    cdef readonly object table
    cdef const float[:, ::1] X

    def __init__(self, X):
        self.table = self.X = X
        self.n, self.d = X.shape
        self.tile = dense_tile(X.itemsize * max(self.d, 1))

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return self.d                                 # d floats

    cdef void fetch(self, const Batch *b) noexcept nogil:
        fetch_rows(b, &self.X[0, 0], self.d * sizeof(float))

    cdef const float *base(self, const Batch *b) noexcept nogil:
        return &self.X[0, 0] + (b.start * self.d if b.rows == NULL else 0)

    cdef int dot(self, const Batch *b, const double *theta, double *eta,
                 double *work) except -1 nogil:
        cdef Py_ssize_t j
        cdef float *narrow = <float *> work
        for j in range(self.d):
            narrow[j] = <float> theta[j]
        simd.dot_f32(b.m, self.d, self.base(b), b.rows, narrow, eta)
        return OK

    cdef int tdot(self, const Batch *b, const double *r, double *out, double *work) except -1 nogil:
        simd.tdot_f32(b.m, self.d, self.base(b), b.rows, r, out, <float *> work)
        return OK

    cdef Py_ssize_t work_many(self, Py_ssize_t m, Py_ssize_t points) noexcept nogil:
        return m * self.d

    cdef void widen(self, const Batch *b, double *work) noexcept nogil:
        """The rows of a tile in float64."""
        cdef Py_ssize_t i
        cdef const float *x = self.base(b)
        for i in range(b.m * self.d):
            work[i] = x[i]

    cdef int dot_many(self, const Batch *b, Py_ssize_t points, const double *theta,
                      Py_ssize_t stride, double *eta, double *work) except -1 nogil:
        self.widen(b, work)
        matrices.dot_many(b.m, self.d, work, points, theta, stride, eta)
        return OK

    cdef int tdot_many(self, const Batch *b, Py_ssize_t points, const double *r, double *out,
                       Py_ssize_t stride, double *work) except -1 nogil:
        matrices.tdot_many(b.m, self.d, work, points, r, out, stride)
        return OK

    cdef int tdot_sq(self, const Batch *b, const double *r, double *out) except -1 nogil:
        simd.tdot_sq_f32(b.m, self.d, self.base(b), b.rows, r, out)
        return OK

    cdef int gram(self, const Batch *b, const double *w, double *out,
                  Py_ssize_t stride) except -1 nogil:
        if self.d >= sums.BLAS_COLUMNS:
            return sums.gram_wide(b.m, self.d, self.base(b), b.rows, w, out, stride)
        simd.gram_f32(b.m, self.d, self.base(b), b.rows, w, out, stride)
        return OK

    @property
    def gram_rows(self):
        return gram_rows(self.d)

    def forms(self, S, rows=slice(None)):
        """x' S x of each row, or of a slice of them, an array, for S (d, d) or None, the identity.
        """
        return dense_forms(self.table, S, rows)


cdef class CSR(Design):
    """Compressed sparse rows, float64, as scipy.sparse.csr_array; never made dense."""

    cdef readonly object table
    cdef const double[::1] data
    cdef const int32_t[::1] indices
    cdef const int64_t[::1] indptr

    def __init__(self, X):
        self.table = X
        self.data = np.asarray(X.data, dtype=np.float64)
        self.indices = np.asarray(X.indices, dtype=np.int32)
        self.indptr = np.asarray(X.indptr, dtype=np.int64)
        self.n, self.d = X.shape
        self.tile = 128

    cdef int dot(self, const Batch *b, const double *theta, double *eta,
                 double *work) except -1 nogil:
        cdef Py_ssize_t i, q, row
        cdef double total
        for i in range(b.m):
            row = row_of(b, i)
            total = 0
            for q in range(self.indptr[row], self.indptr[row + 1]):
                total += self.data[q] * theta[self.indices[q]]
            eta[i] = total
        return OK

    cdef int tdot(self, const Batch *b, const double *r, double *out, double *work) except -1 nogil:
        cdef Py_ssize_t i, q, row
        for i in range(b.m):
            row = row_of(b, i)
            for q in range(self.indptr[row], self.indptr[row + 1]):
                out[self.indices[q]] += r[i] * self.data[q]
        return OK

    cdef int tdot_sq(self, const Batch *b, const double *r, double *out) except -1 nogil:
        cdef Py_ssize_t i, q, row
        cdef double term
        for i in range(b.m):
            row = row_of(b, i)
            for q in range(self.indptr[row], self.indptr[row + 1]):
                term = r[i] * self.data[q]
                out[self.indices[q]] += term * term
        return OK

    cdef int gram(self, const Batch *b, const double *w, double *out,
                  Py_ssize_t stride) except -1 nogil:
        cdef Py_ssize_t i, p, q, row, j, k
        for i in range(b.m):
            row = row_of(b, i)
            for p in range(self.indptr[row], self.indptr[row + 1]):
                j = self.indices[p]
                for q in range(self.indptr[row], self.indptr[row + 1]):
                    k = self.indices[q]
                    if k >= j:
                        out[j * stride + k] += w[i] * self.data[p] * self.data[q]
        return OK


def design(X, single=False):
    """The storage class for a table: float64 or float32 C-contiguous arrays, a scipy CSR array, or
    a table whose factors are codes; with `single` products of a float64 array with many points are
    in float32.
    """
    if hasattr(X, "indptr"):
        return CSR(X)
    if hasattr(X, "codes"):
        return Terms(X, design(X.numbers))
    if X.dtype == np.float32:
        return Dense32(X)
    return Single64(X) if single else Dense64(X)


def scatter(out, places, block):
    """out[places] = block for rows of C-contiguous tables of the same precision."""
    cdef const Py_ssize_t[::1] to = np.ascontiguousarray(places, dtype=np.intp)
    cdef Py_ssize_t n = len(block), bytes = out.strides[0], i
    cdef unsigned char[:, ::1] into = out.view(np.uint8)
    cdef const unsigned char[:, ::1] rows = block.view(np.uint8)
    with nogil:
        for i in range(n):
            if i % AT_ONCE == 0 and i + 2 * AT_ONCE <= n:  # rows far apart are fetched early
                simd.fetch(&into[0, 0], bytes, 0, AT_ONCE, &to[i + AT_ONCE])
            memcpy(&into[to[i], 0], &rows[i, 0], bytes)


def rotate(X, L):
    """X <- X L in place, the rows in a fixed order and wide tables by one thread of BLAS, so that
    bits are the same for any number of threads.
    """
    cdef const double[:, ::1] left = np.ascontiguousarray(L, dtype=float)
    cdef double[::1] row = np.empty(X.shape[1])
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1]
    cdef double[:, ::1] wide
    cdef float[:, ::1] narrow
    if n == 0 or d == 0:
        return
    if X.dtype == np.float32:
        narrow = X
        with one_blas_thread(), nogil:
            if d >= sums.BLAS_COLUMNS:
                sums.rotate_wide(n, d, &narrow[0, 0], &left[0, 0])
            else:
                simd.rotate_f32(n, d, &narrow[0, 0], &left[0, 0], &row[0])
    else:
        wide = X
        with one_blas_thread(), nogil:
            if d >= sums.BLAS_COLUMNS:
                sums.rotate_wide(n, d, &wide[0, 0], &left[0, 0])
            else:
                simd.rotate_f64(n, d, &wide[0, 0], &left[0, 0], &row[0])


def products(Design X, theta, Py_ssize_t start=0, Py_ssize_t count=-1):
    """X theta, one number a row, as the kernels compute it; of so many rows from one on, or all."""
    cdef Batch some = all_rows(X.n if count < 0 else count), tile
    cdef double[::1] eta = np.empty(some.m), work = np.empty(X.work_size() + 1)
    cdef double[::1] coef = np.ascontiguousarray(theta, dtype=float)
    cdef Py_ssize_t at = 0
    some.start = start
    with nogil:
        while next_tile(&some, X.tile, &at, &tile):
            X.dot(&tile, &coef[0], &eta[tile.start - start], &work[0])
    return np.asarray(eta)
