"""Adaptation of exact samplers while warming: a step for an acceptance rate,
and a constant metric.
"""
import numpy as np

from libc.math cimport exp, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from sgmc.core.numerics.linalg cimport factorise

KINDS = {"identity": IDENTITY, "diag": DIAGONAL, "dense": DENSE}


cdef class StepSearch:
    """Nesterov's dual averaging of the log step (Hoffman & Gelman 2014, section 3.2; t0 10, kappa
    0.75).

    Gamma is 0.2, theirs 0.05: the steps tried scatter less, so that acceptance at their average
    overshoots the target less.

    Parameters
    ----------
    target : float
        Acceptance rate aimed at.
    """

    def __init__(self, double target):
        self.target = target

    cdef void learn(self, double probability) noexcept nogil:
        cdef double weight
        self.count += 1
        self.error += (self.target - probability - self.error) / (self.count + 10)
        self.factor = -sqrt(<double> self.count) / 0.2 * self.error
        weight = (<double> self.count) ** -0.75
        self.best += weight * (self.factor - self.best)

    cdef void restart(self, double base) noexcept nogil:
        """Begin anew around exp(base)."""
        self.base, self.factor, self.best, self.error, self.count = base, 0, 0, 0, 0

    cdef double scale(self, bint learning) noexcept nogil:
        """Factor of the given step: the one being tried, or the averaged one."""
        return exp(self.base + (self.factor if learning else self.best))

    def state(self):
        """What has been learned."""
        return [self.base, self.factor, self.best, self.error, self.count]

    def set_state(self, state):
        """Continue from a `state()`."""
        self.base, self.factor, self.best, self.error, self.count = state


cdef class Preconditioner:
    """A constant metric, estimated from the positions of a window: x = L u with u about
    uncorrelated, of variance one.

    Parameters
    ----------
    dim : int
    kind : {"identity", "diag", "dense"}
    """

    def __init__(self, Py_ssize_t dim, kind):
        self.dim, self.kind = dim, KINDS[kind]
        rows = {IDENTITY: 0, DIAGONAL: 1, DENSE: dim}[self.kind]
        self.L, self.scatter = np.zeros((rows, dim)), np.zeros((rows, dim))
        self.mean, self.deviation = np.zeros(dim), np.zeros(dim)
        np.asarray(self.L)[...] = np.eye(dim) if self.kind == DENSE else 1.0

    cdef void times(self, const double *u, double *x) noexcept nogil:
        cdef Py_ssize_t j, k
        cdef double total
        if self.kind == IDENTITY:
            memcpy(x, u, self.dim * sizeof(double))
        elif self.kind == DIAGONAL:
            for j in range(self.dim):
                x[j] = self.L[0, j] * u[j]
        else:
            for j in range(self.dim):
                total = 0
                for k in range(j + 1):
                    total += self.L[j, k] * u[k]
                x[j] = total

    cdef void transposed(self, const double *g, double *w) noexcept nogil:
        cdef Py_ssize_t j, k
        if self.kind != DENSE:
            self.times(g, w)
            return
        for k in range(self.dim):
            w[k] = 0
        for j in range(self.dim):
            for k in range(j + 1):
                w[k] += self.L[j, k] * g[j]

    cdef void absorb(self, const double *x) noexcept nogil:
        """Take a position into the running mean and scatter (Welford 1962)."""
        cdef Py_ssize_t j, k
        cdef double share
        self.count += 1
        share = 1 - 1. / self.count
        for j in range(self.dim):
            self.deviation[j] = x[j] - self.mean[j]
            self.mean[j] += self.deviation[j] / self.count
        if self.kind == DIAGONAL:
            for j in range(self.dim):
                self.scatter[0, j] += share * self.deviation[j] * self.deviation[j]
        else:
            for j in range(self.dim):
                for k in range(j + 1):
                    self.scatter[j, k] += share * self.deviation[j] * self.deviation[k]

    cdef void renew(self) noexcept nogil:
        """L from the window's covariance, its correlations shrunk as by ten uncorrelated positions;
        begin a new window.
        """
        cdef Py_ssize_t j, k
        cdef double shrink = self.count / (self.count + 10.), spread = 1. / (self.count - 1)
        if self.kind == DIAGONAL:
            for j in range(self.dim):
                self.L[0, j] = (sqrt(spread * self.scatter[0, j]) if self.scatter[0, j] > 0
                                else self.L[0, j])
                self.scatter[0, j] = 0
        else:
            for j in range(self.dim):
                for k in range(j + 1):
                    self.L[j, k] = spread * self.scatter[j, k] * (1 if j == k else shrink)
                    self.scatter[j, k] = 0
            factorise(&self.L[0, 0], self.dim)
        for j in range(self.dim):
            self.mean[j] = 0
        self.count = 0

    def state(self):
        """The metric in use and the sums of the window."""
        return {"L": np.array(self.L), "scatter": np.array(self.scatter),
                "mean": np.array(self.mean), "count": self.count}

    def set_state(self, state):
        """Continue from a `state()`."""
        np.asarray(self.L)[...], np.asarray(self.scatter)[...] = state["L"], state["scatter"]
        np.asarray(self.mean)[:], self.count = state["mean"], state["count"]


cdef class WarmupWindows:
    """Windows of doubling length, by default between the first 15 % and the last 10 % of a warmup
    (as in Stan).

    Parameters
    ----------
    warmup : int
        Steps; too few for a window leave the metric as it is.
    first, last : int, optional
        Steps between which windows are.
    length : int
        Of the first window.
    """

    def __init__(self, int64_t warmup, first=None, last=None, length=25):
        self.first = int(0.15 * warmup) if first is None else first
        last = int(0.9 * warmup) if last is None else last
        ends, at = [], self.first
        while at + length <= last:
            at = at + length if at + 3 * length <= last else last
            ends.append(at)
            length *= 2
        self.ends = np.array(ends, dtype=np.int64)

    cdef bint ends_at(self, int64_t t) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.ends.shape[0]):
            if self.ends[k] == t:
                return True
        return False
