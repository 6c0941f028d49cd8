# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""y ~ N(X b, sigma^2) as a compiled model outside of sgmc:
no Python in the loop, no interpreter lock.
"""
import numpy as np

from libc.math cimport log

import sgmc
from sgmc.core.contract import abi
from sgmc.core.contract cimport ABI, OK, Batch, Model, Scratch, row_of

if abi() != ABI:
    raise ImportError(f"line_model was built for contracts number {ABI} of sgmc, this one has "
                      f"{abi()}: build it again")


cdef class LineKernel(Model):
    """Log density and gradient of a batch; theta = (b, sigma)."""

    cdef const double[:, ::1] X
    cdef const double[::1] y

    def __init__(self, X, y):
        self.X, self.y = np.ascontiguousarray(X, dtype=float), np.ascontiguousarray(y, dtype=float)
        # rows, numbers of theta, most rows of a call
        self.n, self.dim, self.tile = len(y), X.shape[1] + 1, 1024

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, j, row, d = self.dim - 1
        cdef double e, c, sigma = theta[d]
        for i in range(b.m):
            row = row_of(b, i)
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            e = self.y[row]
            for j in range(d):
                e -= self.X[row, j] * theta[j]
            e /= sigma
            if value != NULL:
                value[0] -= c * (0.5 * e * e + log(sigma))
            if grad != NULL:
                for j in range(d):
                    grad[j] += c * e * self.X[row, j] / sigma
                grad[d] += c * (e * e - 1) / sigma
        return OK


class Line(sgmc.Model):
    """Linear regression with unknown sigma.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)
    """

    constraints = {"sigma": "positive"}
    prior = {"b": sgmc.normal(0, 2), "sigma": sgmc.exponential(1)}

    def __init__(self, X, y):
        self.X, self.y, self.n = X, y, len(y)
        self.parameters = {"b": X.shape[1], "sigma": ()}

    def kernel(self):
        """The compiled model."""
        return LineKernel(self.X, self.y)
