"""Whitening of a posterior whose precision is an arrow: one large block-diagonal part, a factor's
levels (the tips), and the border of all other parameters.

With precision H = [[D, B'], [B, C]], tips first, D = P P' block by block and R R' = C - B D^-1 B',
the Schur complement,

    theta_border = R^-T x_border,    theta_tips = P^-T x_tips - D^-1 B' theta_border

has covariance H^-1 for x ~ N(0, I).  It costs the numbers in B and R, not d^2.
"""
import numpy as np
from scipy import linalg, sparse

from libc.stdlib cimport free, malloc
from scipy.linalg.cython_blas cimport dtrmv

from sgmc.core.numerics cimport simd
from sgmc.core.contract cimport OK, Map
from sgmc.errors import DataError

FEWEST_TIPS = 128  # with which it is less work than a matrix
SINGULAR = (
    "the posterior's precision is singular to rounding: predictors are collinear, or fit the "
    "outcome exactly; drop some of them"
)
HARDLY_SPARSE = 0.25  # share of numbers of D^-1 B' that are not zero, from which all are stored


cdef class Arrow(Map):
    """theta = m + L x with L L' = H^-1, for a precision H that is an arrow.

    Parameters
    ----------
    centre : array (dim,)
    tips : array (levels, q) of int
        Places of the parameters of each level.
    blocks : array (levels, q, q)
        D, a block a level.
    cross : CSR array (levels * q, border)
        B', the border being all other parameters in their order.
    border : array (border, border)
        C.
    kept : array of int
        Places of the border that are coordinates themselves: theta = x there, and all others are
        what they are expected to be given these, and what x adds.

    Raises
    ------
    DataError
        If the precision is not positive definite.
    """

    affine = True
    cdef readonly double[::1] centre
    cdef readonly Py_ssize_t q                    # parameters of a level
    cdef Py_ssize_t[::1] tips, border, ends, across
    cdef double[:, ::1] scale                     # P^-T of each level, q x q: upper triangular
    cdef double[::1] cross                        # D^-1 B', a row a tip, stored as CSR
    cdef bint full                                # or, where it is hardly sparse, row by row
    cdef readonly double[:, ::1] root             # R^-T, upper triangular
    cdef readonly double log_scale

    def __init__(self, centre, tips, blocks, cross, border, kept=()):
        self.centre = np.array(centre, dtype=float)
        self.dim = self.size = self.centre.shape[0]
        self.tips, self.q = np.array(tips, dtype=np.intp).ravel(), tips.shape[1]
        self.border = np.setdiff1d(np.arange(self.dim), tips).astype(np.intp)
        if len(kept):  # last, so that they depend on no other
            order = np.argsort(np.isin(self.border, kept), kind="stable")
            self.border = np.asarray(self.border)[order]
            cross, border = sparse.csr_array(cross)[:, order], border[np.ix_(order, order)]
        inverse = inverse_roots(blocks)
        half = by_level(inverse, cross)
        R = unit_cholesky(less_squares(border, half))
        down = linalg.lapack.dtrtri(R, lower=1)[0] if len(R) else R
        self.root = np.ascontiguousarray(down.T)
        first = len(R) - len(kept)
        if len(kept):
            root = np.asarray(self.root)
            root[:first, first:] = linalg.solve_triangular(
                root[first:, first:], root[:first, first:].T, trans=1).T
            root[first:, first:] = np.eye(len(kept))
        upper = np.swapaxes(inverse, 1, 2)
        self.scale = np.ascontiguousarray(upper.reshape(-1, self.q * self.q))
        across = by_level(upper, half)
        size = len(self.tips) * len(self.border)
        self.full = 0 < HARDLY_SPARSE * size <= across.nnz
        self.ends, self.across = (np.array(part, dtype=np.intp)
                                  for part in (across.indptr, across.indices))
        self.cross = np.array(across.toarray().ravel() if self.full else across.data, dtype=float)
        diagonals = np.diagonal(inverse, axis1=1, axis2=2)
        self.log_scale = np.log(diagonals).sum() - np.log(np.diag(R)[:first]).sum()
        if len(kept):
            at, nowhere = np.asarray(self.border)[first:], np.zeros(self.dim)
            nowhere[at] = -np.asarray(self.centre)[at]
            self.centre = self(nowhere)
            np.asarray(self.centre)[at] = 0.0

    @classmethod
    def of_matrix(cls, centre, precision, tips):
        """The same from a dense precision; what it has between tips is not looked at."""
        border = np.setdiff1d(np.arange(len(precision)), tips)
        return cls(
            centre,
            np.reshape(tips, (-1, 1)),
            np.diag(precision)[tips].reshape(-1, 1, 1),
            sparse.csr_array(precision[np.ix_(tips, border)]),
            precision[np.ix_(border, border)],
        )

    def __call__(self, x):
        """theta for points x (..., dim)."""
        border, tips = np.asarray(self.border), np.asarray(self.tips)
        theta = np.empty_like(x)
        theta[..., border] = x[..., border] @ np.asarray(self.root).T
        points = x.size // self.dim
        own = x[..., tips].reshape(points, len(self.scale), self.q)
        across = (self.across_tips() @ theta[..., border].reshape(-1, len(border)).T).T
        found = np.einsum("lab,klb->kla", self.roots, own).reshape(points, len(tips)) - across
        theta[..., tips] = found.reshape(x[..., tips].shape)
        return theta + np.asarray(self.centre)

    def inverse(self, theta):
        """x for points theta (..., dim)."""
        border, tips = np.asarray(self.border), np.asarray(self.tips)
        away = (theta - np.asarray(self.centre)).reshape(-1, self.dim)
        x, rest = np.empty(away.shape), away[:, border].T
        # draws of chains that diverged are no numbers
        x[:, border] = linalg.solve_triangular(np.asarray(self.root), rest, check_finite=False).T
        own = away[:, tips] + (self.across_tips() @ rest).T
        if self.q == 1:  # a system of one equation is a ratio
            x[:, tips] = own / self.roots[:, 0, 0]
            return x.reshape(np.shape(theta))
        own = own.reshape(len(away), len(self.scale), self.q, 1)
        x[:, tips] = np.linalg.solve(self.roots, own).reshape(len(away), len(tips))
        return x.reshape(np.shape(theta))

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        return (self(np.eye(self.dim)) - np.asarray(self.centre)).T

    @property
    def roots(self):
        """P^-T of each level, (levels, q, q)."""
        return np.asarray(self.scale).reshape(-1, self.q, self.q)

    def across_tips(self):
        """D^-1 B', an array or a CSR array (tips, border)."""
        shape = len(self.tips), len(self.border)
        if self.full:
            return np.asarray(self.cross).reshape(shape)
        parts = (np.asarray(self.cross), np.asarray(self.across), np.asarray(self.ends))
        return sparse.csr_array(parts, shape=shape)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t j
        self.jvp(x, x, theta)
        for j in range(self.dim):
            theta[j] += self.centre[j]
        if log_jacobian != NULL:
            log_jacobian[0] += self.log_scale
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t j, a, c, q = self.q, n = self.border.shape[0]
        cdef double *rest = room(self.dim)
        cdef double *near = rest + n
        cdef double total
        for j in range(n):
            rest[j] = v[self.border[j]]
        self.by_root(b"T", rest)
        self.over_tips(rest, near)
        for j in range(self.scale.shape[0]):
            for a in range(q):
                total = 0
                for c in range(a, q):
                    total += self.scale[j, a * q + c] * v[self.tips[j * q + c]]
                near[j * q + a] = total - near[j * q + a]
        for j in range(n):
            v_theta[self.border[j]] = rest[j]
        for j in range(self.tips.shape[0]):
            v_theta[self.tips[j]] = near[j]
        free(rest)
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j, a, c, q = self.q, n = self.border.shape[0]
        cdef double *rest = room(self.dim)
        cdef double *slope = rest + n
        for j in range(n):
            rest[j] = 0
        for j in range(self.tips.shape[0]):
            slope[j] = -grad_theta[self.tips[j]]
        self.under_tips(slope, rest)
        for j in range(self.scale.shape[0]):
            for a in range(q):
                for c in range(a, q):
                    grad_x[self.tips[j * q + c]] -= self.scale[j, a * q + c] * slope[j * q + a]
        for j in range(n):
            rest[j] += grad_theta[self.border[j]]
        self.by_root(b"N", rest)
        for j in range(n):
            grad_x[self.border[j]] += rest[j]
        free(rest)
        return OK

    cdef void over_tips(self, const double *near, double *out) noexcept nogil:
        """out (tips) = D^-1 B' near (border)."""
        cdef Py_ssize_t j, k, n = self.border.shape[0]
        if self.full:
            simd.dot_f64(self.tips.shape[0], n, &self.cross[0], NULL, near, out)
            return
        for j in range(self.tips.shape[0]):
            out[j] = 0
            for k in range(self.ends[j], self.ends[j + 1]):
                out[j] += self.cross[k] * near[self.across[k]]

    cdef void under_tips(self, const double *slope, double *out) noexcept nogil:
        """out (border) += B D^-1 slope (tips)."""
        cdef Py_ssize_t j, k, n = self.border.shape[0]
        if self.full:
            simd.tdot_f64(self.tips.shape[0], n, &self.cross[0], NULL, slope, out)
            return
        for j in range(self.tips.shape[0]):
            for k in range(self.ends[j], self.ends[j + 1]):
                out[self.across[k]] += self.cross[k] * slope[j]

    cdef void by_root(self, char transposed, double *v) noexcept nogil:
        """R^-T v, or its transpose (b"N"), in place: BLAS reads the rows of `root` as columns."""
        cdef int n = <int> self.border.shape[0], one = 1
        cdef char lower = b"L", whole = b"N"
        if n:
            dtrmv(&lower, &transposed, &whole, &n, &self.root[0, 0], &n, v, &one)


cdef double *room(Py_ssize_t n) except NULL nogil:
    """So many numbers, which the caller frees; chains share the map, which has no place for any."""
    cdef double *numbers = <double *> malloc((n + 1) * sizeof(double))
    if numbers == NULL:
        with gil:
            raise MemoryError
    return numbers


def inverse_roots(blocks):
    """P^-1 of each block P P', (levels, q, q)."""
    try:
        return np.linalg.inv(np.linalg.cholesky(blocks))
    except np.linalg.LinAlgError:
        raise DataError(SINGULAR) from None


def by_level(blocks, rows):
    """Products of each level's block with its rows of a CSR array."""
    if not len(blocks):  # there are no tips: searches of smooths come here hundreds of times
        return rows
    if blocks.shape[1] == 1:
        return sparse.csr_array(sparse.diags_array(blocks[:, 0, 0]) @ rows)
    parts = (blocks, np.arange(len(blocks)), np.arange(len(blocks) + 1))
    return sparse.csr_array(sparse.bsr_array(parts) @ rows)


def unit_cholesky(matrix):
    """The lower root of a matrix whose lower triangle is given and overwritten, found with a
    diagonal of ones; DataError where it has none.
    """
    unit = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    try:
        if not (unit > 0).all():
            raise linalg.LinAlgError
        matrix /= unit
        matrix /= unit[:, None]
        root = linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        root *= unit[:, None]
        return root
    except linalg.LinAlgError:
        raise DataError(SINGULAR) from None


def less_squares(matrix, rows):
    """The lower triangle of matrix - rows' rows for a CSR array of rows, whose products are added
    up number by number.
    """
    cdef double[:, ::1] out = np.array(matrix, dtype=float, order="C")
    if not rows.nnz:
        return np.asarray(out)
    sorted_rows = sparse.csr_array(rows)
    sorted_rows.sort_indices()
    cdef const double[::1] value = sorted_rows.data
    cdef const Py_ssize_t[::1] column = sorted_rows.indices.astype(np.intp)
    cdef const Py_ssize_t[::1] ends = sorted_rows.indptr.astype(np.intp)
    cdef Py_ssize_t i, j, k
    with nogil:
        for i in range(ends.shape[0] - 1):
            for j in range(ends[i], ends[i + 1]):
                for k in range(ends[i], j + 1):
                    out[column[j], column[k]] -= value[j] * value[k]
    return np.asarray(out)
