"""Products with a symmetric matrix that is diagonal but for a border.

Curvatures are of that form where a table has a factor of many levels: no row is in two of them.
"""
import numpy as np

from libc.stdlib cimport free, malloc

from sgmc.core.numerics cimport simd
from sgmc.core.targets.target cimport OK

FEWEST_RESTING = 64  # rows outside the border, from which there is less work


cdef class Bordered:
    """A symmetric matrix as its border and the diagonal of the rest.

    Parameters
    ----------
    matrix : array (dim, dim)
        Not copied where all of it is the border.
    """

    def __init__(self, matrix):
        self.dim = len(matrix)
        rest = independent(matrix)
        whole = len(rest) < FEWEST_RESTING
        self.rest = np.empty(0, dtype=np.intp) if whole else rest
        border = np.setdiff1d(np.arange(self.dim), self.rest)
        self.border = border.astype(np.intp)
        self.block = matrix if whole else np.ascontiguousarray(matrix[np.ix_(border, border)])
        self.cross = np.ascontiguousarray(matrix[np.ix_(border, self.rest)])
        self.diagonal = np.diag(matrix)[np.asarray(self.rest)]

    def __matmul__(self, v):
        """The product with a vector (dim,)."""
        cdef double[::1] at = np.array(v, dtype=float), out = np.empty(self.dim)
        self.times(&at[0], &out[0])
        return np.asarray(out)

    cdef int times(self, const double *v, double *out) except -1 nogil:
        cdef Py_ssize_t j, m = self.border.shape[0], left = self.rest.shape[0]
        cdef double *near
        cdef double *far
        cdef double *into
        if left == 0:
            simd.dot_f64(m, m, &self.block[0, 0], NULL, v, out)
            return OK
        near = <double *> malloc(2 * self.dim * sizeof(double))
        if near == NULL:
            with gil:
                raise MemoryError
        far, into = near + m, near + self.dim
        for j in range(m):
            near[j] = v[self.border[j]]
        for j in range(left):
            far[j] = v[self.rest[j]]
        if m:
            simd.dot_f64(m, left, &self.cross[0, 0], NULL, far, into)
        for j in range(left):
            far[j] *= self.diagonal[j]
        if m:
            simd.tdot_f64(m, left, &self.cross[0, 0], NULL, near, far)
        for j in range(left):
            out[self.rest[j]] = far[j]
        if m:
            simd.dot_f64(m, m, &self.block[0, 0], NULL, near, far)
        for j in range(m):
            out[self.border[j]] = into[j] + far[j]
        free(near)
        return OK


def independent(matrix):
    """Rows of a symmetric matrix no two of which have anything but zero in common, as many as are
    easily found: those with the fewest numbers come first.
    """
    joined = np.asarray(matrix) != 0
    counts = joined.sum(axis=1)
    free = np.ones(len(joined), dtype=bool)
    found = []
    for j in np.argsort(counts, kind="stable"):
        if counts[j] == len(joined):
            break
        if free[j]:
            found.append(j)
            free[joined[j]] = False
    return np.sort(np.array(found, dtype=np.intp))
