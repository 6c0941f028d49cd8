"""A map of some coordinates, all others left as they are."""

import numpy as np

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sgmc.core.contract cimport OK, Map


cdef class PartialMap(Map):
    """theta = x but for some places, which an inner map has.

    Parameters
    ----------
    dim : int
    places : array (k,) of int
    inner : Map
        Of k numbers.
    """

    cdef readonly Map inner
    cdef readonly Py_ssize_t[::1] places

    def __init__(self, Py_ssize_t dim, places, Map inner):
        self.dim = self.size = dim
        self.places, self.inner = np.array(places, dtype=np.intp), inner
        if not inner.dim == inner.size == len(places):
            raise ValueError(f"a map of {inner.dim} coordinates at {len(places)} places")

    def __call__(self, x):
        """theta for points x (..., dim)."""
        theta = np.array(x, dtype=float)
        theta[..., self.places] = self.inner(np.ascontiguousarray(theta[..., self.places]))
        return theta

    def inverse(self, theta):
        """x for points theta (..., dim)."""
        x = np.array(theta, dtype=float)
        x[..., self.places] = self.inner.inverse(np.ascontiguousarray(x[..., self.places]))
        return x

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        out, own = np.eye(self.dim), np.asarray(self.places)
        at = x[own]
        inner = self.inner
        out[np.ix_(own, own)] = np.diag(inner.slopes(at)) if inner.diagonal else inner.jacobian(at)
        return out

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t j, k = self.inner.dim
        cdef double *own = room(2 * k)
        memcpy(theta, x, self.dim * sizeof(double))
        try:
            self.gather(x, own)
            self.inner.forward(own, own + k, log_jacobian)
            for j in range(k):
                theta[self.places[j]] = own[k + j]
        finally:
            free(own)
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t j, k = self.inner.dim
        cdef double *own = room(3 * k)
        memcpy(v_theta, v, self.dim * sizeof(double))
        try:
            self.gather(x, own)
            self.gather(v, own + k)
            self.inner.jvp(own, own + k, own + 2 * k)
            for j in range(k):
                v_theta[self.places[j]] = own[2 * k + j]
        finally:
            free(own)
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j, k = self.inner.dim
        cdef double *own = room(3 * k + self.dim)
        cdef double *rest = own + 3 * k
        try:
            self.gather(x, own)
            self.gather(grad_theta, own + k)
            memset(own + 2 * k, 0, k * sizeof(double))
            self.inner.vjp(own, own + k, own + 2 * k)
            memcpy(rest, grad_theta, self.dim * sizeof(double))
            for j in range(k):
                rest[self.places[j]] = own[2 * k + j]
            for j in range(self.dim):
                grad_x[j] += rest[j]
        finally:
            free(own)
        return OK

    cdef void gather(self, const double *numbers, double *own) noexcept nogil:
        """Those of the places."""
        cdef Py_ssize_t j
        for j in range(self.places.shape[0]):
            own[j] = numbers[self.places[j]]


cdef double *room(Py_ssize_t size) except NULL nogil:
    """Memory of one call: chains share the map."""
    cdef double *own = <double *> malloc((size + 1) * sizeof(double))
    if own == NULL:
        with gil:
            raise MemoryError
    return own
