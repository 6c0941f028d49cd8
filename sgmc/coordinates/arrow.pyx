"""Whitening of a posterior whose precision is an arrow: one large diagonal block, a factor's levels
(the tips), and the border of all other parameters.

With precision H = [[D, B'], [B, S]], tips first, and R R' = S - B D^-1 B', the Schur complement,

    theta_border = R^-T x_border,    theta_tips = D^-1/2 x_tips - D^-1 B' theta_border

has covariance H^-1 for x ~ N(0, I).  It costs the numbers in B and R, not d^2.
"""
import numpy as np
from scipy import linalg, sparse

from libc.stdlib cimport free, malloc
from libc.string cimport memset

from sgmc.core cimport simd
from sgmc.core.contract cimport OK, Map
from sgmc.errors import DataError

FEWEST_TIPS = 128  # with which it is less work than a matrix
FULL = 0.25  # share of numbers of D^-1 B' that are not zero, from which all are stored


cdef class Arrow(Map):
    """theta = m + L x with L L' = H^-1, for a precision H that is an arrow.

    Parameters
    ----------
    centre : array (dim,)
    precision : array (dim, dim)
        What it has between tips is not looked at.
    tips : array of int
        Places of the parameters whose block is diagonal.

    Raises
    ------
    DataError
        If the precision is not positive definite.
    """

    affine = True
    cdef readonly double[::1] centre
    cdef Py_ssize_t[::1] tips, border, ends, across
    cdef double[::1] scale, cross                 # D^-1/2; D^-1 B', a row a tip, stored as CSR
    cdef bint full                                # or, where it is hardly sparse, row by row
    cdef double[:, ::1] root                      # R^-T, upper triangular
    cdef double log_scale

    def __init__(self, centre, precision, tips):
        self.centre = np.array(centre, dtype=float)
        self.dim = self.size = self.centre.shape[0]
        self.tips = np.array(tips, dtype=np.intp)
        self.border = np.setdiff1d(np.arange(self.dim), tips).astype(np.intp)
        border, diagonal = np.asarray(self.border), np.diag(precision)[tips]
        B = precision[np.ix_(border, tips)]
        schur = precision[np.ix_(border, border)] - (B / diagonal) @ B.T
        unit = np.sqrt(np.maximum(np.diag(schur), 0.0))
        try:
            if not ((diagonal > 0).all() and (unit > 0).all()):
                raise linalg.LinAlgError
            R = linalg.cholesky(schur / np.outer(unit, unit), lower=True) * unit[:, None]
        except linalg.LinAlgError:
            raise DataError(
                "the posterior's precision is singular to rounding: predictors are collinear, or "
                "fit the outcome exactly; drop some of them"
            ) from None
        self.root = np.ascontiguousarray(np.linalg.inv(R).T)
        self.scale = 1 / np.sqrt(diagonal)
        self.full = B.size > 0 and np.count_nonzero(B) >= FULL * B.size
        cross = sparse.csr_array((B / diagonal).T)
        self.ends, self.across = (np.array(part, dtype=np.intp)
                                  for part in (cross.indptr, cross.indices))
        self.cross = (np.ascontiguousarray((B / diagonal).T).ravel() if self.full
                      else np.array(cross.data, dtype=float))
        self.log_scale = np.log(self.scale).sum() - np.log(np.diag(R)).sum()

    def __call__(self, x):
        """theta for points x (..., dim)."""
        border, tips = np.asarray(self.border), np.asarray(self.tips)
        theta = np.empty_like(x)
        theta[..., border] = x[..., border] @ np.asarray(self.root).T
        theta[..., tips] = (np.asarray(self.scale) * x[..., tips]
                            - (self.across_tips() @ theta[..., border].reshape(-1, len(border)).T)
                            .T.reshape(*x.shape[:-1], len(tips)))
        return theta + np.asarray(self.centre)

    def inverse(self, theta):
        """x for a point theta (dim,)."""
        border, tips = np.asarray(self.border), np.asarray(self.tips)
        away, x = theta - np.asarray(self.centre), np.empty(self.dim)
        x[border] = linalg.solve_triangular(np.asarray(self.root), away[border])
        x[tips] = (away[tips] + self.across_tips() @ away[border]) / np.asarray(self.scale)
        return x

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        return (self(np.eye(self.dim)) - np.asarray(self.centre)).T

    def across_tips(self):
        """D^-1 B', an array or a CSR array (tips, border)."""
        shape = len(self.tips), len(self.border)
        if self.full:
            return np.asarray(self.cross).reshape(shape)
        parts = (np.asarray(self.cross), np.asarray(self.across), np.asarray(self.ends))
        return sparse.csr_array(parts, shape=shape)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t j
        self.push(x, x, theta)
        for j in range(self.dim):
            theta[j] += self.centre[j]
        if log_jacobian != NULL:
            log_jacobian[0] += self.log_scale
        return OK

    cdef int push(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t j, m = self.border.shape[0]
        cdef double *near = self.room()
        cdef double *moved = near + self.dim
        for j in range(m):
            near[j] = v[self.border[j]]
        if m:
            simd.dot_f64(m, m, &self.root[0, 0], NULL, near, moved)
        self.over_tips(moved, near)
        for j in range(self.tips.shape[0]):
            v_theta[self.tips[j]] = self.scale[j] * v[self.tips[j]] - near[j]
        for j in range(m):
            v_theta[self.border[j]] = moved[j]
        free(near)
        return OK

    cdef int pull(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j, m = self.border.shape[0]
        cdef double *slope = self.room()
        cdef double *near = slope + self.dim
        memset(near, 0, m * sizeof(double))
        for j in range(self.tips.shape[0]):
            slope[j] = -grad_theta[self.tips[j]]
            grad_x[self.tips[j]] -= self.scale[j] * slope[j]
        self.under_tips(slope, near)
        for j in range(m):
            near[j] += grad_theta[self.border[j]]
            slope[j] = 0
        if m:
            simd.tdot_f64(m, m, &self.root[0, 0], NULL, near, slope)
        for j in range(m):
            grad_x[self.border[j]] += slope[j]
        free(slope)
        return OK

    cdef double *room(self) except NULL nogil:
        """Twice as many numbers as there are parameters; the caller frees them."""
        cdef double *made = <double *> malloc((2 * self.dim + 1) * sizeof(double))
        if made == NULL:
            with gil:
                raise MemoryError
        return made

    cdef void over_tips(self, const double *near, double *out) noexcept nogil:
        """out (tips) = D^-1 B' near (border)."""
        cdef Py_ssize_t j, q, m = self.border.shape[0]
        if self.full:
            simd.dot_f64(self.tips.shape[0], m, &self.cross[0], NULL, near, out)
            return
        for j in range(self.tips.shape[0]):
            out[j] = 0
            for q in range(self.ends[j], self.ends[j + 1]):
                out[j] += self.cross[q] * near[self.across[q]]

    cdef void under_tips(self, const double *slope, double *out) noexcept nogil:
        """out (border) += B D^-1 slope (tips)."""
        cdef Py_ssize_t j, q, m = self.border.shape[0]
        if self.full:
            simd.tdot_f64(self.tips.shape[0], m, &self.cross[0], NULL, slope, out)
            return
        for j in range(self.tips.shape[0]):
            for q in range(self.ends[j], self.ends[j + 1]):
                out[self.across[q]] += self.cross[q] * slope[j]
