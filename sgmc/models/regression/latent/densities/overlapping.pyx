"""The first columns of a term in coordinates in which rows leave them about standard normal,
whatever the sds: for columns that overlap, and whose sds change by factors.

Rows tell of the effects b = D v, D being their sds and v ~ N(0, 1), about exp(h' U'b - |U'b|^2 /
2), U having few columns.  With B = D U and C C' = I + B'B the posterior of v is N(B C^-T C^-1 h,
R R') with R R' = (I + B B')^-1, of which

    R = I - B C^-T (C + I)^-1 B'

is a root: C^-T E + E' C^-1 - C^-T E (C C' - I) E' C^-1 = (C C')^-1 for E = (C + I)^-1, so that all
that depends on D is of the size of C.  Coefficients move along as rows have it, by -A b: where
columns have a level the data tell its sum with an intercept, and hardly either of them.
"""
import numpy as np
from scipy import linalg

from libc.math cimport log
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport ddot, dgemm, dgemv, dsymm, dsyrk, dtrmv, dtrsm, dtrsv
from scipy.linalg.cython_lapack cimport dpotrf

from sgmc.core.contract cimport OK, Map
from sgmc.models.regression.latent.densities.effects_prior cimport Blocks
from sgmc.models.regression.latent.densities.spectrum cimport MOST_SPECTRAL

cdef enum:
    OWN_VECTORS = 12


cdef struct Room:
    # at a place: D, f and the slopes of its log; B', C and C + I, columns one after the other; and
    # B'x, C^-1 h, s = (C + I)^-1 B'x, q = C^-1 h - s, n = C^-T q
    double *sd
    double *ratio
    double *slopes
    double *B
    double *C
    double *E
    double *p
    double *a
    double *s
    double *q
    double *n
    double *more


cdef class Overlapping(Map):
    """(beta, v, psi), in which v = x + B n, n = C^-T (C^-1 h - (C + I)^-1 B'x), for the first
    columns of one term, and beta = x - A D v.

    Parameters
    ----------
    blocks : Blocks
    term : int
        Whose levels are columns; all but the first `columns` stay as they are.
    U : array (columns, r)
    h : array (r,)
    A : array (d, columns)
    """

    cdef readonly Blocks blocks
    cdef readonly Py_ssize_t term, first, k, r
    cdef readonly double[:, ::1] U, A
    cdef readonly double[::1] h

    def __init__(self, Blocks blocks, Py_ssize_t term, U, h, A):
        self.blocks, self.term, self.first = blocks, term, blocks.first[term]
        self.U, self.h = np.array(U, dtype=float, order="C"), np.array(h, dtype=float)
        self.A = np.array(A, dtype=float, order="C")
        self.k, self.r = self.U.shape[0], self.U.shape[1]
        self.dim = self.size = blocks.size
        known = self.h.shape[0] == self.r and np.shape(A) == (blocks.d, self.k)
        if blocks.width[term] != 1 or self.k > blocks.levels[term] or not known:
            raise ValueError("columns, or what rows tell of them, do not match")

    @property
    def places(self):
        """Of coefficients and the columns, (d + k,)."""
        return np.append(np.arange(self.blocks.d), self.first + np.arange(self.k))

    def sds(self, theta):
        """D at a point (dim,)."""
        blocks = self.blocks
        own = blocks.loading.sds(theta[blocks.phi][:blocks.loading.q])[blocks.start[self.term]]
        return own * blocks.ratios(theta)[self.first - blocks.d:][:self.k]

    def parts(self, theta):
        """B, C and C^-1 h at a point (dim,)."""
        B = self.sds(theta)[:, None] * np.asarray(self.U)
        C = np.linalg.cholesky(np.eye(self.r) + B.T @ B)
        return B, C, linalg.solve_triangular(C, self.h, lower=True)

    def root(self, theta):
        """Derivatives of (beta, v) by x at a point (dim,)."""
        (B, C, _), d = self.parts(theta), self.blocks.d
        inner = linalg.solve_triangular(C + np.eye(self.r), B.T, lower=True)
        out = np.eye(d + self.k)
        out[d:, d:] -= B @ linalg.solve_triangular(C, inner, trans=1, lower=True)
        out[:d, d:] = -(np.asarray(self.A) * self.sds(theta)) @ out[d:, d:]
        return out

    def inverse(self, theta):
        """x of points (..., dim)."""
        x = np.array(theta, dtype=float, order="C")
        for one in x.reshape(-1, self.dim):
            B, C, a = self.parts(one)
            v, plus = one[self.first:self.first + self.k].copy(), C + np.eye(self.r)
            # (C + I)' s = C' B'v - (C'C - I) a
            given = C.T @ (B.T @ v) - C.T @ (C @ a) + a
            s = linalg.solve_triangular(plus, given, trans=1, lower=True)
            one[:self.blocks.d] += np.asarray(self.A) @ (self.sds(one) * v)
            one[self.first:self.first + self.k] -= B @ linalg.solve_triangular(
                C, a - s, trans=1, lower=True)
        return x

    cdef Room *rent(self) except NULL nogil:
        """Memory of one call: chains share the map."""
        cdef Py_ssize_t k = self.k, r = self.r
        cdef Py_ssize_t count = 2 * k * r + 4 * r * r + (OWN_VECTORS + MOST_SPECTRAL) * (r + k)
        cdef Room *room = <Room *> malloc(sizeof(Room) + count * sizeof(double))
        if room == NULL:
            with gil:
                raise MemoryError
        room.sd = <double *> (room + 1)
        room.ratio = room.sd + k
        room.slopes = room.ratio + k
        room.B = room.slopes + MOST_SPECTRAL * k
        room.C = room.B + k * r
        room.E = room.C + r * r
        room.p = room.E + r * r
        room.a, room.s = room.p + r, room.p + 2 * r
        room.q, room.n, room.more = room.p + 3 * r, room.p + 4 * r, room.p + 5 * r
        return room

    cdef void settle(self, const double *x, Room *room) noexcept nogil:
        cdef Py_ssize_t j, l, t = self.term, i = self.blocks.start[t]
        cdef int k = <int> self.k, r = <int> self.r, status = 0, one = 1
        cdef double unit = 1, zero = 0
        cdef double own = self.blocks.loading.sd(x + self.blocks.d + self.blocks.effects, i)
        for l in range(self.k):
            room.ratio[l] = self.blocks.ratio(x, t, l, room.slopes + l * MOST_SPECTRAL)
            room.sd[l] = own * room.ratio[l]
            for j in range(self.r):
                room.B[l * self.r + j] = room.sd[l] * self.U[l, j]
        dsyrk("L", "N", &r, &k, &unit, room.B, &r, &zero, room.C, &r)
        for j in range(self.r):
            room.C[j * (self.r + 1)] += 1
        dpotrf("L", &r, room.C, &r, &status)       # 1 or more on the diagonal: there is a root
        memcpy(room.E, room.C, self.r * self.r * sizeof(double))
        for j in range(self.r):
            room.E[j * (self.r + 1)] += 1
        self.times(room.B, x + self.first, room.p)
        memcpy(room.a, &self.h[0], self.r * sizeof(double))
        dtrsv("L", "N", "N", &r, room.C, &r, room.a, &one)
        memcpy(room.s, room.p, self.r * sizeof(double))
        dtrsv("L", "N", "N", &r, room.E, &r, room.s, &one)
        for j in range(self.r):
            room.q[j] = room.n[j] = room.a[j] - room.s[j]
        dtrsv("L", "T", "N", &r, room.C, &r, room.n, &one)

    cdef void times(self, const double *B, const double *x, double *out) noexcept nogil:
        """B'x, (r,)."""
        cdef int k = <int> self.k, r = <int> self.r, one = 1
        cdef double unit = 1, zero = 0
        dgemv("N", &r, &k, &unit, <double *> B, &r, <double *> x, &one, &zero, out, &one)

    cdef void add(self, const double *B, const double *n, double *out) noexcept nogil:
        """out (k,) += B n."""
        cdef int k = <int> self.k, r = <int> self.r, one = 1
        cdef double unit = 1
        dgemv("T", &r, &k, &unit, <double *> B, &r, <double *> n, &one, &unit, out, &one)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Room *room = self.rent()
        cdef Py_ssize_t j, l
        memcpy(theta, x, self.dim * sizeof(double))
        self.settle(x, room)
        self.add(room.B, room.n, theta + self.first)
        for j in range(self.blocks.d):
            for l in range(self.k):
                theta[j] -= self.A[j, l] * room.sd[l] * theta[self.first + l]
        if log_jacobian != NULL:
            for j in range(self.r):
                log_jacobian[0] -= log(room.C[j * (self.r + 1)])
        free(room)
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Room *room = self.rent()
        cdef Py_ssize_t b, c, j, l, i = self.blocks.start[self.term]
        cdef Py_ssize_t phi = self.blocks.d + self.blocks.effects
        cdef int k = <int> self.k, r = <int> self.r, one = 1
        cdef double unit = 1, zero = 0, entry, slope, by_sd = 0
        cdef const double *v = x + self.first
        # slopes by b of the coefficients, by v, by q, by p, by C C' and by B', and products of U
        # with n and with that by p
        cdef double *moved = room.more
        cdef double *g = moved + self.k
        cdef double *q = g + self.k
        cdef double *p = q + self.r
        cdef double *M = p + self.r
        cdef double *Y = M + self.r * self.r
        cdef double *across = Y + self.k * self.r
        cdef double *along = across + self.k
        self.settle(x, room)
        for l in range(self.k):
            moved[l] = 0
            for j in range(self.blocks.d):
                moved[l] -= self.A[j, l] * grad_theta[j]
            g[l] = grad_theta[self.first + l] + room.sd[l] * moved[l]
        for j in range(self.dim):
            grad_x[j] += grad_theta[j]
        for l in range(self.k):
            grad_x[self.first + l] += room.sd[l] * moved[l]
        self.times(room.B, g, q)
        dtrsv("L", "N", "N", &r, room.C, &r, q, &one)
        for j in range(self.r):
            p[j] = -q[j]
        dtrsv("L", "T", "N", &r, room.E, &r, p, &one)
        self.add(room.B, p, grad_x + self.first)
        # C'times the slope by C, below the diagonal, of which all but the log's has rank one
        for b in range(self.r):
            for c in range(b + 1):
                entry = (q[b] + p[b]) * room.s[c] - room.q[b] * q[c] - q[b] * room.a[c] - (b == c)
                M[b * self.r + c] = M[c * self.r + b] = 0.5 * entry
        dtrsm("L", "L", "T", "N", &r, &r, &unit, room.C, &r, M, &r)
        dtrsm("R", "L", "N", "N", &r, &r, &unit, room.C, &r, M, &r)
        dsymm("L", "L", &r, &k, &unit, M, &r, room.B, &r, &zero, Y, &r)
        memset(across, 0, 2 * self.k * sizeof(double))
        self.add(&self.U[0, 0], room.n, across)
        self.add(&self.U[0, 0], p, along)
        for l in range(self.k):
            slope = g[l] * across[l] + v[l] * along[l] + 2 * ddot(
                &r, Y + l * self.r, &one, &self.U[l, 0], &one)
            slope += moved[l] * (v[l] + room.sd[l] * across[l])
            by_sd += slope * room.ratio[l]
            self.blocks.spectrum.add_slopes(
                self.term, room.slopes + l * MOST_SPECTRAL, slope * room.sd[l],
                grad_x + phi + self.blocks.loading.size)
        grad_x[phi + i] += by_sd * self.blocks.loading.stretch(x + phi, i)
        free(room)
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Room *room = self.rent()
        cdef Py_ssize_t b, c, j, l, i = self.blocks.start[self.term]
        cdef Py_ssize_t phi = self.blocks.d + self.blocks.effects
        cdef int k = <int> self.k, r = <int> self.r, one = 1
        cdef double unit = 1, zero = 0, stretch
        # of B', of C C' and of C; of B'x, of s and of n; of D, and of D v
        cdef double *B = room.more
        cdef double *M = B + self.k * self.r
        cdef double *p = M + self.r * self.r
        cdef double *a = p + self.r
        cdef double *n = a + self.r
        cdef double *changes = n + self.r
        cdef double *made = changes + self.k
        self.settle(x, room)
        memcpy(v_theta, v, self.dim * sizeof(double))
        stretch = self.blocks.loading.stretch(x + phi, i) * v[phi + i]
        for l in range(self.k):
            changes[l] = room.ratio[l] * stretch + room.sd[l] * self.blocks.spectrum.along(
                self.term, room.slopes + l * MOST_SPECTRAL, v + phi + self.blocks.loading.size)
            for j in range(self.r):
                B[l * self.r + j] = changes[l] * self.U[l, j]
        dgemm("N", "T", &r, &r, &k, &unit, B, &r, room.B, &r, &zero, M, &r)
        for b in range(self.r):
            for c in range(b + 1):
                M[b * self.r + c] = M[c * self.r + b] = M[b * self.r + c] + M[c * self.r + b]
        dtrsm("L", "L", "N", "N", &r, &r, &unit, room.C, &r, M, &r)
        dtrsm("R", "L", "T", "N", &r, &r, &unit, room.C, &r, M, &r)
        for c in range(self.r):                  # the part below the diagonal, and half of that
            M[c * (self.r + 1)] *= 0.5
            for b in range(c):
                M[c * self.r + b] = 0
        # C^-1 dC is M now
        self.times(B, x + self.first, p)
        self.times(room.B, v + self.first, a)
        for j in range(self.r):
            p[j] += a[j]
        self.lower_times(M, room.s, a)
        dtrmv("L", "N", "N", &r, room.C, &r, a, &one)
        for j in range(self.r):
            p[j] -= a[j]
        dtrsv("L", "N", "N", &r, room.E, &r, p, &one)             # ds
        self.lower_times(M, room.a, a)                            # -da
        memcpy(n, room.q, self.r * sizeof(double))
        dtrmv("L", "T", "N", &r, M, &r, n, &one)                  # dC'n = M'C'n = M'q
        for j in range(self.r):
            n[j] = -a[j] - p[j] - n[j]
        dtrsv("L", "T", "N", &r, room.C, &r, n, &one)
        self.add(B, room.n, v_theta + self.first)
        self.add(room.B, n, v_theta + self.first)
        # d (D v), v being B n beyond x
        memcpy(made, x + self.first, self.k * sizeof(double))
        self.add(room.B, room.n, made)
        for l in range(self.k):
            made[l] = changes[l] * made[l] + room.sd[l] * v_theta[self.first + l]
        for j in range(self.blocks.d):
            for l in range(self.k):
                v_theta[j] -= self.A[j, l] * made[l]
        free(room)
        return OK

    cdef void lower_times(self, const double *L, const double *given, double *out) noexcept nogil:
        """L given, (r,), of a lower triangle."""
        cdef int r = <int> self.r, one = 1
        memcpy(out, given, self.r * sizeof(double))
        dtrmv("L", "N", "N", &r, <double *> L, &r, out, &one)
