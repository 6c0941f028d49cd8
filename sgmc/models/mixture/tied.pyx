"""Gaussian mixtures."""
import numpy as np

from libc.math cimport exp, log, log1p, M_PI

from sgmc.core.contract cimport OK, Batch, Model, Scratch, row_of


cdef class TiedMeansKernel(Model):
    """y_i ~ 1/2 N(theta_1, v) + 1/2 N(theta_1 + theta_2, v) (Welling & Teh 2011, section 5.1).

    With p_i the probability of the second component, dlog p_i = ((y_i - theta_1 - p_i theta_2) / v,
    p_i (y_i - theta_1 - theta_2) / v).

    Parameters
    ----------
    y : array (n,)
    variance : float
        v.
    """

    cdef const double[::1] y
    cdef double variance

    def __init__(self, y, double variance):
        self.y, self.variance = np.array(y, dtype=float), variance
        self.n, self.dim, self.tile = len(y), 2, 1024

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, row
        cdef double first, second, gap, p, c, tail
        for i in range(b.m):
            row = row_of(b, i)
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            first = self.y[row] - theta[0]
            second = first - theta[1]
            # log of the second density over the first
            gap = 0.5 * (first * first - second * second) / self.variance
            tail = exp(-gap if gap > 0 else gap)
            p = 1 / (1 + tail) if gap > 0 else tail / (1 + tail)
            if value != NULL:
                value[0] += c * (log1p(tail) - 0.5 * (second * second if gap > 0 else first * first)
                                 / self.variance
                                 - 0.5 * log(8 * M_PI * self.variance))
            if grad != NULL:
                grad[0] += c * (first - p * theta[1]) / self.variance
                grad[1] += c * p * second / self.variance
        return OK
