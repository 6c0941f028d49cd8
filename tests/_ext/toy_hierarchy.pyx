"""A model for tests whose precision has a conditional update of its own."""
import numpy as np

from libc.math cimport log

from sgmc.core.contract cimport OK, Batch, Model, Scratch, row_of


cdef class NormalPrecision(Model):
    """y_i ~ N(theta_0, 1 / theta_1), theta_1 drawn between steps from its conditional law Gamma(1 +
    n/2, rate 1 + sum_i e_i^2 / 2).

    Parameters
    ----------
    y : array (n,)
        n even, so that draws are sums of exponential ones.
    """

    cdef const double[::1] y

    def __init__(self, y):
        self.y = np.array(y, dtype=float)
        self.n, self.dim, self.tile, self.refreshes = len(y), 2, 64, True

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i
        cdef double e, c
        for i in range(b.m):
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            e = self.y[row_of(b, i)] - theta[0]
            if value != NULL:
                value[0] += c * 0.5 * (log(theta[1]) - theta[1] * e * e)
            if grad != NULL:
                grad[0] += c * theta[1] * e
        return OK

    cdef int refresh(self, double *theta, Scratch *s) except -1 nogil:
        cdef Py_ssize_t i
        cdef double rate = 1, total = 0
        for i in range(self.n):
            rate += 0.5 * (self.y[i] - theta[0]) * (self.y[i] - theta[0])
        for i in range(1 + self.n // 2):
            total -= log(1 - s.bits.next_double(s.bits.state))
        theta[1] = total / rate
        return OK
