"""The covariance of a group's effects: signed standard deviations and canonical partial
correlations.
"""
import numpy as np

from libc.math cimport cosh, sinh, tanh
from libc.string cimport memset

MOST, MOST_ALL = MOST_EFFECTS, MOST_SDS


cdef class Loading:
    """b = Lambda z with z standard normal, Lambda = diag(s) L lower triangular, L L' a correlation
    matrix.

    Standard deviations s may have either sign: the density of the data is the same for s and -s
    where correlations change theirs too, so that zero is no boundary.  L is that of Lewandowski,
    Kurowicka & Joe (2009, section 3; doi:10.1016/j.jmva.2009.04.008):

        L_ij = tanh(xi_ij) prod_{k<j} sech(xi_ik),    L_ii = prod_{k<i} sech(xi_ik).

    phi = (arsinh(s / c), xi), the coordinates xi block by block and row by row: logs of
    sds that are far above c, and sds themselves below it.

    Parameters
    ----------
    blocks : list of (int, bool)
        Effects of each term, and whether they are correlated; terms are independent.
    scale : array (q,), optional
        c; by default phi = (s, xi).
    """

    def __init__(self, blocks, scale=None):
        self.blocks = list(blocks)
        self.q = sum(size for size, _ in blocks)
        self.scale = np.zeros(self.q) if scale is None else np.array(scale, dtype=float)
        if not 0 < self.q <= MOST_SDS or any(size < 1 for size, _ in blocks):
            raise ValueError(f"at most {MOST_SDS} effects")
        if self.scale.shape[0] != self.q:
            raise ValueError(f"{self.scale.shape[0]} scales of {self.q} effects")
        xi = np.full((self.q, self.q), -1, dtype=np.intp)
        first, begins, place = np.zeros(self.q, dtype=np.intp), 0, self.q
        for size, correlated in blocks:
            first[begins:begins + size] = begins if correlated else np.arange(begins, begins + size)
            for i in range(begins, begins + size):
                for j in range(begins, i if correlated else begins):
                    xi[i, j] = place
                    place += 1
            begins += size
        self.xi, self.first, self.size = xi, first, place
        entries = [(i, j) for i in range(self.q) for j in range(i + 1) if i == j or xi[i, j] >= 0]
        self.row, self.column = (np.array(places, dtype=np.intp) for places in zip(*entries))

    def __reduce__(self):
        return Loading, (self.blocks, np.array(self.scale))

    cdef double sd(self, const double *phi, Py_ssize_t i) noexcept nogil:
        return self.scale[i] * sinh(phi[i]) if self.scale[i] > 0 else phi[i]

    cdef double stretch(self, const double *phi, Py_ssize_t i) noexcept nogil:
        return self.scale[i] * cosh(phi[i]) if self.scale[i] > 0 else 1

    cdef double bend(self, const double *phi, Py_ssize_t i) noexcept nogil:
        return self.scale[i] * sinh(phi[i]) if self.scale[i] > 0 else 0

    cdef double unit(self, const double *phi, Py_ssize_t i, Py_ssize_t j, Py_ssize_t k,
                     Py_ssize_t l) noexcept nogil:
        """L_ij, its derivative by xi_ik (l < 0), or by xi_ik and xi_il; by none where k < 0."""
        cdef Py_ssize_t a, order
        cdef double out = 1, t, c
        for a in range(self.first[i], j + 1):
            if a == i or self.xi[i, a] < 0:
                break
            t = tanh(phi[self.xi[i, a]])
            c = 1 / cosh(phi[self.xi[i, a]])
            order = (k == a) + (l == a)
            if a == j:                       # tanh
                out *= t if order == 0 else c * c if order == 1 else -2 * t * c * c
            else:                            # sech
                out *= c if order == 0 else -t * c if order == 1 else c * (t * t - c * c)
        return out

    cdef void fill(self, const double *phi, double *root) noexcept nogil:
        cdef Py_ssize_t e
        memset(root, 0, self.q * self.q * sizeof(double))
        for e in range(self.size):
            root[self.row[e] * self.q + self.column[e]] = (
                self.sd(phi, self.row[e]) * self.unit(phi, self.row[e], self.column[e], -1, -1))

    cdef void slopes(self, const double *phi, double *J) noexcept nogil:
        cdef Py_ssize_t e, i, j, k
        memset(J, 0, self.size * self.size * sizeof(double))
        for e in range(self.size):
            i, j = self.row[e], self.column[e]
            J[e * self.size + i] = self.stretch(phi, i) * self.unit(phi, i, j, -1, -1)
            for k in range(self.first[i], min(j + 1, i)):
                J[e * self.size + self.xi[i, k]] = self.sd(phi, i) * self.unit(phi, i, j, k, -1)

    cdef void add_bends(self, const double *phi, const double *weight, double *out) noexcept nogil:
        cdef Py_ssize_t e, i, j, k, l, n = self.size
        cdef double bend
        for e in range(n):
            i, j = self.row[e], self.column[e]
            out[i * n + i] += weight[e] * self.bend(phi, i) * self.unit(phi, i, j, -1, -1)
            for k in range(self.first[i], min(j + 1, i)):
                bend = weight[e] * self.stretch(phi, i) * self.unit(phi, i, j, k, -1)
                out[i * n + self.xi[i, k]] += bend
                out[self.xi[i, k] * n + i] += bend
                for l in range(self.first[i], min(j + 1, i)):
                    out[self.xi[i, k] * n + self.xi[i, l]] += (
                        weight[e] * self.sd(phi, i) * self.unit(phi, i, j, k, l))

    def correlations(self):
        """Pairs (i, j) of correlated effects, i > j, in the order of their coordinates."""
        pairs = [(i, j) for i in range(self.q) for j in range(i) if self.xi[i, j] >= 0]
        return sorted(pairs, key=lambda pair: self.xi[pair[0], pair[1]])

    def first_of(self, Py_ssize_t i):
        """The effect with which the block of effect i begins."""
        return self.first[i]

    def curved(self, sds):
        """Coordinates of signed standard deviations (..., q)."""
        scale = np.asarray(self.scale)
        return np.where(scale > 0, np.arcsinh(sds / np.where(scale > 0, scale, 1.0)), sds)

    def sds(self, bent):
        """Signed standard deviations of their coordinates (..., q)."""
        scale = np.asarray(self.scale)
        return np.where(scale > 0, scale * np.sinh(np.where(scale > 0, bent, 0.0)), bent)

    def steepness(self, bent):
        """Derivatives of sds by their coordinates (..., q)."""
        scale = np.asarray(self.scale)
        return np.where(scale > 0, scale * np.cosh(np.where(scale > 0, bent, 0.0)), 1.0)

    def times(self, double factor):
        """The same coordinates of sds that are so many times as large."""
        return Loading(self.blocks, np.asarray(self.scale) * factor)

    def coordinates_of(self, sds, correlation):
        """phi of standard deviations (q,) and a correlation matrix (q, q)."""
        L, phi = np.linalg.cholesky(correlation), np.zeros(self.size)
        phi[:self.q] = self.curved(sds)
        for i, j in self.correlations():
            rest = 1 - np.sum(L[i, self.first[i]:j] ** 2)
            phi[self.xi[i, j]] = np.arctanh(L[i, j] / np.sqrt(rest))
        return phi

    def root(self, phi):
        """Lambda of points phi (..., size), an array (..., q, q)."""
        points = np.ascontiguousarray(phi, dtype=float)
        flat = np.reshape(points, (-1, self.size))
        cdef const double[:, ::1] x = flat
        cdef double[:, :, ::1] out = np.empty((len(flat), self.q, self.q))
        cdef Py_ssize_t k
        for k in range(x.shape[0]):
            self.fill(&x[k, 0], &out[k, 0, 0])
        return np.asarray(out).reshape(*points.shape[:-1], self.q, self.q)

    def derivatives(self, phi, weight):
        """Slopes of the entries (size, size) at phi, and the weighted sum of their second
        derivatives.
        """
        cdef const double[::1] x = np.ascontiguousarray(phi, dtype=float)
        cdef const double[::1] w = np.ascontiguousarray(weight, dtype=float)
        if x.shape[0] != self.size or w.shape[0] != self.size:
            raise ValueError(f"{x.shape[0]} coordinates and {w.shape[0]} weights of {self.size}")
        cdef double[:, ::1] J = np.zeros((self.size, self.size))
        cdef double[:, ::1] bends = np.zeros((self.size, self.size))
        self.slopes(&x[0], &J[0, 0])
        self.add_bends(&x[0], &w[0], &bends[0, 0])
        return np.asarray(J), np.asarray(bends)


cdef class UnitLoading(Loading):
    """b = z: effects whose covariance is known, their standard deviations part of Z; no parameters.

    Parameters
    ----------
    q : int
    """

    def __init__(self, Py_ssize_t q=1):
        Loading.__init__(self, [(q, False)])
        self.size = 0
        self.row = self.column = np.empty(0, dtype=np.intp)

    def __reduce__(self):
        return UnitLoading, (self.q,)

    cdef void fill(self, const double *phi, double *root) noexcept nogil:
        cdef Py_ssize_t a
        memset(root, 0, self.q * self.q * sizeof(double))
        for a in range(self.q):
            root[a * self.q + a] = 1

    def root(self, phi):
        return np.ones((*np.shape(phi)[:-1], 1, 1)) * np.eye(self.q)
