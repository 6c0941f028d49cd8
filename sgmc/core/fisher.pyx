"""The information of a model with scores as a position-dependent metric."""
import numpy as np

from libc.math cimport log
from libc.string cimport memset

from sgmc.core.adaptation cimport factorise
from sgmc.core.contract cimport OK, Batch, Gradient, Metric, all_rows, next_tile


cdef class Fisher(Metric):
    """G(x) = sum_i J_i' w_i(x) J_i + P with row curvatures w_i (expected information for canonical links) and the prior's P.

    P is diagonal, the size of the prior's curvature where the chain starts: an accept-reject step is exact for any metric.
    Going to a place touches all rows.

    Parameters
    ----------
    gradient : Gradient
        Of a chain, without a map.
    start : array (dim,)
    """

    def __init__(self, Gradient gradient, start):
        self.gradient, self.dim = gradient, gradient.dim
        self.floor, self.C = prior_precision(gradient, np.array(start, dtype=float)), np.zeros((self.dim, self.dim))
        self.curvature = np.zeros(gradient.model.tile * gradient.model.width ** 2)
        self.hold = np.zeros(self.dim)

    cdef int move(self, const double *x) except -1 nogil:
        cdef Batch everything = all_rows(self.gradient.model.n), tile
        cdef Py_ssize_t at = 0, j, k, d = self.dim
        memset(&self.C[0, 0], 0, d * d * sizeof(double))
        while next_tile(&everything, self.gradient.model.tile, &at, &tile):
            self.gradient.model.curvatures(x, &tile, &self.gradient.scratch, &self.curvature[0])
            self.gradient.model.add_curvatures(&tile, &self.gradient.scratch, &self.curvature[0], &self.C[0, 0])
        self.gradient.touched += everything.m
        for j in range(d):
            for k in range(j + 1):
                self.C[j, k] = self.C[k, j]
            self.C[j, j] += self.floor[j]
        factorise(&self.C[0, 0], d)
        return OK

    cdef int apply(self, const double *g, double *out) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double total
        for j in range(self.dim):                             # C hold = g
            total = g[j]
            for k in range(j):
                total -= self.C[j, k] * self.hold[k]
            self.hold[j] = total / self.C[j, j]
        return self.root(&self.hold[0], out)

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
        """The prior's precision."""
        return {"floor": np.array(self.floor)}

    def set_state(self, state):
        """Continue from a `state()`."""
        np.asarray(self.floor)[:] = state["floor"]


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
