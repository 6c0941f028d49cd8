"""A map after a map."""

import numpy as np

from libc.stdlib cimport free, malloc
from libc.string cimport memset

from sgmc.core.contract cimport Map


cdef class Composed(Map):
    """theta = outer(inner(x)): constrained parameters behind a preconditioner.

    Parameters
    ----------
    outer : Constrained
    inner : Affine or Scaling
    """

    cdef readonly Map outer, inner

    def __init__(self, Map outer, Map inner):
        if outer.dim != inner.size:
            raise ValueError(f"maps of {outer.dim} and {inner.size} coordinates")
        self.outer, self.inner = outer, inner
        self.dim, self.size = inner.dim, outer.size
        self.diagonal = outer.diagonal and inner.diagonal

    def __call__(self, x):
        """theta for points x (..., dim)."""
        return self.outer(self.inner(x))

    def inverse(self, theta):
        """x for points theta, as many as either map takes."""
        return self.inner.inverse(self.outer.inverse(theta))

    def slopes(self, x):
        """dtheta_j/dx_j at a point x (dim,), of diagonal maps."""
        return self.outer.slopes(self.inner(x)) * self.inner.slopes(x)

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        inner = np.diag(self.inner.slopes(x)) if self.inner.diagonal else self.inner.jacobian(x)
        return self.outer.jacobian(self.inner(x)) @ inner

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef double *y = room(self.inner.size)
        try:
            self.inner.forward(x, y, log_jacobian)
            return self.outer.forward(y, theta, log_jacobian)
        finally:
            free(y)

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef double *y = room(2 * self.inner.size)
        try:
            self.inner.forward(x, y, NULL)
            self.inner.jvp(x, v, y + self.inner.size)
            return self.outer.jvp(y, y + self.inner.size, v_theta)
        finally:
            free(y)

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t size = self.inner.size
        cdef double *y = room(2 * size)
        try:
            self.inner.forward(x, y, NULL)
            memset(y + size, 0, size * sizeof(double))
            self.outer.vjp(y, grad_theta, y + size)
            return self.inner.vjp(x, y + size, grad_x)
        finally:
            free(y)

    cdef int pull_sd(self, const double *x, const double *sd_theta, double *sd_x) except -1 nogil:
        cdef Py_ssize_t size = self.inner.size
        cdef double *y = room(2 * size)
        try:
            self.inner.forward(x, y, NULL)
            self.outer.pull_sd(y, sd_theta, y + size)
            return self.inner.pull_sd(x, y + size, sd_x)
        finally:
            free(y)


cdef double *room(Py_ssize_t size) except NULL nogil:
    """Numbers between two maps, which chains share and which so have no place of their own."""
    cdef double *y = <double *> malloc((size + 1) * sizeof(double))
    if y == NULL:
        with gil:
            raise MemoryError
    return y
