"""The information of a model with scores as a position-dependent metric."""
import numpy as np

from libc.math cimport log
from libc.string cimport memcpy, memset

from sgmc.core.numerics.linalg cimport factorise
from sgmc.core.contract cimport OK, Batch, Gradient, Metric, all_rows, next_tile

# half a difference of curvatures, in units of the metric: float32 tables want no less
cdef double INFORMATION_DIFFERENCE = 1e-3


cdef class Fisher(Metric):
    """G(x) = sum_i J_i' w_i(x) J_i + P with the information w_i of each row
    (`Model.expected_curvatures`) and the prior's P.

    P is diagonal, the size of the prior's curvature where the chain starts: an accept-reject step
    is exact for any metric, and so is the diffusion.  Going to a place touches all rows.

    Or some, for steps without accept-reject: rows evenly spaced in the table, the same for all
    chains.  Their sum times N over their number is half of G (after `release` all of it); the other
    half is the sum of all rows at the chain's first place.  That, too, is a metric like any other,
    a function of x alone, and M is at most twice what it is there: where all w_i vanish, as in the
    tails of a separated column, M grows without bound and so would the steps, and few rows miss
    what few others know, such as a rare level.

    M = G^-1 = R R' with R = C^-T for the Cholesky factor C of G.  With D_c the derivative along the
    c-th column r_c of R, dM = -M dG M and dC = C low(C^-1 dG C^-T), low halving the diagonal
    (Murray 2016, arXiv 1602.07527), give

        sum_j dM_ij/dx_j = -[M sum_c (D_c G) r_c]_i,
        sum_j dR_ji/dx_j = -sum_{c<i} r_i' (D_c G) r_c - r_i' (D_i G) r_i / 2.

    D_c G is a symmetric difference of expected curvatures: 2 d evaluations, which serve models of
    any width, and which count as so many rows touched.

    Parameters
    ----------
    gradient : Gradient
        Of a chain, without a map.
    start : array (dim,)
    rows : int, optional
        Rows of the sum; None: all, 0: `enough_rows`.
    """

    def __init__(self, Gradient gradient, start, rows=None):
        cdef Py_ssize_t n = gradient.model.n, d = gradient.dim, w = gradient.model.width
        cdef Py_ssize_t m = n if rows is None else min(rows or enough_rows(d), n)
        self.gradient, self.dim, self.rows = gradient, d, all_rows(n)
        self.floor = prior_precision(gradient, np.array(start, dtype=float))
        self.C = np.zeros((d, d))
        self.curvature = np.zeros(gradient.model.tile * w * w)
        self.other = np.zeros(gradient.model.tile * w * w)
        self.hold, self.place = np.zeros(d), np.zeros(d)
        self.score = np.zeros(gradient.model.tile * w)
        self.ahead, self.behind = np.zeros(d), np.zeros(d)
        self.columns, self.bent = np.zeros((d, d)), np.zeros((d, d))
        self.base = np.zeros((0 if rows is None else d, d))
        if rows is not None:
            self.listed = np.arange(m) * n // m
            self.rows.m, self.rows.rows, self.rows.scale = (m, &self.listed[0] if m < n else NULL,
                                                            0.5 * n / m)

    def release(self):
        """Let go of the chain's first place: G is that of the listed rows at x alone, at the price
        of an M without a bound.
        """
        self.base = np.zeros((0, self.dim))
        self.rows.scale = <double> self.gradient.model.n / self.rows.m

    cdef int move(self, const double *x) except -1 nogil:
        cdef Batch everything = all_rows(self.gradient.model.n)
        cdef Py_ssize_t j, k, d = self.dim
        memcpy(&self.place[0], x, d * sizeof(double))
        if self.base.shape[0] == 0:
            memset(&self.C[0, 0], 0, d * d * sizeof(double))
        else:
            if not self.based:
                everything.scale, self.based = 0.5, True
                self.expected_information(x, &everything, &self.base[0, 0])
            memcpy(&self.C[0, 0], &self.base[0, 0], d * d * sizeof(double))
        self.expected_information(x, &self.rows, &self.C[0, 0])
        for j in range(d):
            for k in range(j + 1):
                self.C[j, k] = self.C[k, j]
            self.C[j, j] += self.floor[j]
        factorise(&self.C[0, 0], d)
        return OK

    cdef int expected_information(self, const double *x, const Batch *rows,
                                  double *H) except -1 nogil:
        """Upper triangle of H += scale sum_i J_i' w_i J_i."""
        cdef Batch tile
        cdef Py_ssize_t at = 0, i, size = self.gradient.model.width ** 2
        while next_tile(rows, self.gradient.model.tile, &at, &tile):
            self.gradient.model.expected_curvatures(x, &tile, &self.gradient.scratch,
                                                    &self.curvature[0])
            for i in range(tile.m * size if tile.scale != 1 else 0):
                self.curvature[i] *= tile.scale
            self.gradient.model.add_curvatures(&tile, &self.gradient.scratch, &self.curvature[0], H)
        self.gradient.touched += rows.m
        return OK

    cdef int differentiate(self) except -1 nogil:
        """columns and bent at the place."""
        cdef Batch tile
        cdef Py_ssize_t at = 0, c, d = self.dim
        memset(&self.bent[0, 0], 0, d * d * sizeof(double))
        for c in range(d):
            memset(&self.hold[0], 0, d * sizeof(double))
            self.hold[c] = 1
            self.root(&self.hold[0], &self.columns[c, 0])
        while next_tile(&self.rows, self.gradient.model.tile, &at, &tile):
            for c in range(d):
                self.differentiate_tile(&tile, c)
        self.gradient.touched += 2 * d * self.rows.m
        return OK

    cdef int differentiate_tile(self, const Batch *tile, Py_ssize_t c) except -1 nogil:
        """bent_c += scale sum_i J_i' (D_c w_i) J_i r_c over a tile."""
        cdef Py_ssize_t i, j, k, l, w = self.gradient.model.width
        cdef double *eta = &self.gradient.residual[0]
        cdef double factor = tile.scale / (2 * INFORMATION_DIFFERENCE)
        cdef double total
        for j in range(self.dim):
            self.ahead[j] = self.place[j] + INFORMATION_DIFFERENCE * self.columns[c, j]
            self.behind[j] = self.place[j] - INFORMATION_DIFFERENCE * self.columns[c, j]
        self.gradient.model.expected_curvatures(&self.ahead[0], tile, &self.gradient.scratch,
                                                &self.curvature[0])
        self.gradient.model.expected_curvatures(&self.behind[0], tile, &self.gradient.scratch,
                                                &self.other[0])
        self.gradient.model.predictors(&self.columns[c, 0], tile, &self.gradient.scratch, eta)
        for i in range(tile.m):
            for k in range(w):
                total = 0
                for l in range(w):
                    total += (self.curvature[(i * w + k) * w + l]
                              - self.other[(i * w + k) * w + l]) * eta[i * w + l]
                self.score[i * w + k] = factor * total
        return self.gradient.model.add_scores(tile, &self.gradient.scratch, &self.score[0],
                                              &self.bent[c, 0])

    cdef int divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t j, c
        self.differentiate()
        for j in range(self.dim):
            self.ahead[j] = 0
            for c in range(self.dim):
                self.ahead[j] -= self.bent[c, j]
        return self.apply(&self.ahead[0], out)

    cdef int root_divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t i, j, c
        cdef double total
        self.differentiate()
        for i in range(self.dim):
            out[i] = 0
            for c in range(i + 1):
                total = 0
                for j in range(self.dim):
                    total += self.columns[i, j] * self.bent[c, j]
                out[i] -= total if c < i else 0.5 * total
        return OK

    cdef int apply(self, const double *g, double *out) except -1 nogil:
        self.root_transposed(g, &self.hold[0])
        return self.root(&self.hold[0], out)

    cdef int root_transposed(self, const double *g, double *out) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double total
        for j in range(self.dim):                             # C out = g
            total = g[j]
            for k in range(j):
                total -= self.C[j, k] * out[k]
            out[j] = total / self.C[j, j]
        return OK

    cdef int root(self, const double *z, double *out) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double total
        for j in range(self.dim - 1, -1, -1):                 # C' out = z
            total = z[j]
            for k in range(j + 1, self.dim):
                total -= self.C[k, j] * out[k]
            out[j] = total / self.C[j, j]
        return OK

    cdef int log_density(self, const double *v, double h, double *value) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double total
        value[0] = -0.5 * self.dim * log(h)
        for k in range(self.dim):                             # |C' v|^2
            total = 0
            for j in range(k, self.dim):
                total += self.C[j, k] * v[j]
            value[0] += log(self.C[k, k]) - 0.5 * total * total / h
        return OK

    def state(self):
        """The prior's precision, and half the information of all rows where the chain began."""
        return {"floor": np.array(self.floor), "base": np.array(self.base), "based": self.based}

    def set_state(self, state):
        """Continue from a `state()`."""
        np.asarray(self.floor)[:] = state["floor"]
        np.asarray(self.base)[...], self.based = state["base"], state["based"]


def enough_rows(d):
    """Rows whose information is close enough to that of all: about 1 / sqrt(50)
    of it is chance in each direction.
    """
    return max(50 * d, 1000)


def prior_precision(Gradient gradient, double[::1] x):
    """Size of the second derivatives of the log prior at x, by differences of its gradient."""
    cdef Py_ssize_t j, dim = gradient.dim
    cdef double[::1] ahead = np.empty(dim), behind = np.empty(dim), out = np.empty(dim)
    cdef double step, at
    for j in range(dim):
        ahead[:], behind[:], at = 0.0, 0.0, x[j]
        step = 1e-4 * max(1.0, abs(at))
        x[j] = at + step
        gradient.prior.add(&x[0], NULL, &ahead[0])
        x[j] = at - step
        gradient.prior.add(&x[0], NULL, &behind[0])
        x[j] = at
        out[j] = abs(behind[j] - ahead[j]) / (2 * step)
    return out
