"""Densities for tests whose exact draws or moments are easy to make,
and their gradient with noise of a known sd.
"""
import numpy as np

from libc.math cimport cos, exp, log, sin
from scipy.special.cython_special cimport log_ndtr

from _ext.toys import Stretch
from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK, Batch, Gradient, Model, Rng, Scratch, normal_fill, row_of
from sgmc.coordinates.transforms.metrics import PositiveMetric, Simplex

cdef double HALF_LOG_2PI = limits.HALF_LOG_2PI


cdef class Density(Model):
    """A model of one row, whose log density is the target's; leaves define `log_p`."""

    def __init__(self, Py_ssize_t dim):
        self.dim, self.n, self.tile = dim, 1, 1

    def metric(self, gradient, start, rows=None):
        """One that depends on the place, though the density has no need of it."""
        return Stretch(self.dim)

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef double c = b.scale * (b.weight[0] if b.weight != NULL else 1) if b.m else 0
        cdef double density = self.log_p(theta, c, grad)
        if value != NULL:
            value[0] += c * density
        return OK

    cdef double log_p(self, const double *x, double c, double *grad) except? -1 nogil:
        """Log density at x; grad (or NULL) += c times its gradient."""
        raise NotImplementedError("log_p")


cdef class Normal(Density):
    """N(0, covariance)."""

    cdef double[:, ::1] precision

    def __init__(self, covariance):
        Density.__init__(self, len(covariance))
        self.precision = np.ascontiguousarray(np.linalg.inv(covariance))

    @staticmethod
    def draw(rng, size, covariance):
        """Independent draws, (size, dim)."""
        return rng.normal(size=(size, len(covariance))) @ np.linalg.cholesky(covariance).T

    cdef double log_p(self, const double *x, double c, double *grad) except? -1 nogil:
        cdef Py_ssize_t j, k
        cdef double slope, value = 0
        for j in range(self.dim):
            slope = 0
            for k in range(self.dim):
                slope -= self.precision[j, k] * x[k]
            value += 0.5 * slope * x[j]
            if grad != NULL:
                grad[j] += c * slope
        return value


cdef class SkewNormal(Density):
    """Independent coordinates of density 2 phi(x) Phi(slant x) (Azzalini 1985)."""

    cdef double slant

    def __init__(self, Py_ssize_t dim, double slant):
        Density.__init__(self, dim)
        self.slant = slant

    @staticmethod
    def draw(rng, size, dim, slant):
        """Independent draws, (size, dim)."""
        delta = slant / np.sqrt(1 + slant ** 2)
        return (delta * abs(rng.normal(size=(size, dim)))
                + np.sqrt(1 - delta ** 2) * rng.normal(size=(size, dim)))

    cdef double log_p(self, const double *x, double c, double *grad) except? -1 nogil:
        cdef Py_ssize_t j
        cdef double t, tail, value = 0
        for j in range(self.dim):
            t = self.slant * x[j]
            tail = log_ndtr(t)
            value += tail - 0.5 * x[j] * x[j]
            if grad != NULL:
                grad[j] += c * (self.slant * exp(-0.5 * t * t - HALF_LOG_2PI - tail) - x[j])
        return value


cdef class Funnel(Density):
    """v ~ N(0, scale^2) and x_j | v ~ N(0, exp v), after Neal (2003); the first coordinate is v."""

    cdef double scale

    def __init__(self, Py_ssize_t dim, double scale):
        Density.__init__(self, dim)
        self.scale = scale

    @staticmethod
    def draw(rng, size, dim, scale):
        """Independent draws, (size, dim)."""
        v = scale * rng.normal(size=(size, 1))
        return np.hstack([v, np.exp(v / 2) * rng.normal(size=(size, dim - 1))])

    cdef double log_p(self, const double *x, double c, double *grad) except? -1 nogil:
        cdef Py_ssize_t j
        cdef double v = x[0] / self.scale, shrink = exp(-x[0])
        cdef double value = -0.5 * v * v, slope = -v / self.scale
        for j in range(1, self.dim):
            value -= 0.5 * (x[j] * x[j] * shrink + x[0])
            slope += 0.5 * (x[j] * x[j] * shrink - 1)
            if grad != NULL:
                grad[j] -= c * x[j] * shrink
        if grad != NULL:
            grad[0] += c * slope
        return value


cdef class Gamma(Density):
    """Independent Gamma(shape, 1) coordinates, all positive: for a map that has them so."""

    cdef double shape

    def __init__(self, Py_ssize_t dim, double shape):
        Density.__init__(self, dim)
        self.shape = shape

    @staticmethod
    def draw(rng, size, dim, shape):
        """Independent draws, (size, dim)."""
        return rng.gamma(shape, size=(size, dim))

    cdef double log_p(self, const double *x, double c, double *grad) except? -1 nogil:
        cdef Py_ssize_t j
        cdef double value = 0
        for j in range(self.dim):
            value += (self.shape - 1) * log(x[j]) - x[j]
            if grad != NULL:
                grad[j] += c * ((self.shape - 1) / x[j] - 1)
        return value


cdef class Wavy(Density):
    """Independent coordinates of density proportional to exp(-x^2/2 + cos(1.5 x)): curvature
    between -1.25 and 3.25.
    """

    cdef double log_p(self, const double *x, double c, double *grad) except? -1 nogil:
        cdef Py_ssize_t j
        cdef double value = 0
        for j in range(self.dim):
            value += cos(1.5 * x[j]) - 0.5 * x[j] * x[j]
            if grad != NULL:
                grad[j] -= c * (x[j] + 1.5 * sin(1.5 * x[j]))
        return value


cdef class Noisy(Gradient):
    """The exact gradient plus independent N(0, tau_j^2), fresh at each estimate;
    tau is told to who asks for the sd.

    Parameters
    ----------
    tau : array (dim,)
    *args
        Of `Gradient`; all rows are used.
    """

    cdef double[::1] tau, noise

    def __init__(self, tau, *args):
        Gradient.__init__(self, *args)
        self.tau, self.noise = np.array(tau, dtype=float), np.zeros(self.dim)

    cdef int estimate(self, const double *x, Rng rng, double *g, double *sd) except -1 nogil:
        cdef Py_ssize_t j
        cdef double value = 0
        self.full(x, &value, g)
        normal_fill(rng, self.dim, &self.noise[0])
        for j in range(self.dim):
            g[j] += self.tau[j] * self.noise[j]
            if sd != NULL:
                sd[j] = self.tau[j]
        return OK


cdef class Rates(Model):
    """y_ij ~ Poisson(theta_j): with a flat prior theta_j ~ Gamma(1 + sum_i y_ij, n), all
    positive.
    """

    cdef const double[:, ::1] y

    def __init__(self, y):
        self.y, self.tile = np.ascontiguousarray(y, dtype=float), 64
        self.n, self.dim = y.shape

    def metric(self, gradient, start, rows=None):
        """That of positive numbers."""
        return PositiveMetric(self.dim)

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, j
        cdef double c = b.scale, y
        for i in range(b.m):
            for j in range(self.dim):
                y = self.y[row_of(b, i), j]
                if value != NULL:
                    value[0] += c * (y * log(theta[j]) - theta[j])
                if grad != NULL:
                    grad[j] += c * (y / theta[j] - 1)
        return OK


cdef class Categories(Model):
    """Rows are counts of K categories, theta the first K - 1 probabilities:
    Dirichlet(1 + sums) with a flat prior.
    """

    cdef const double[:, ::1] y

    def __init__(self, y):
        self.y, self.tile = np.ascontiguousarray(y, dtype=float), 64
        self.n, self.dim = y.shape[0], y.shape[1] - 1

    def metric(self, gradient, start, rows=None):
        """That of probabilities."""
        return Simplex(self.dim)

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, j, row
        cdef double c = b.scale, rest = 1
        for j in range(self.dim):
            rest -= theta[j]
        for i in range(b.m):
            row = row_of(b, i)
            for j in range(self.dim):
                if value != NULL:
                    value[0] += c * self.y[row, j] * log(theta[j])
                if grad != NULL:
                    grad[j] += c * (self.y[row, j] / theta[j] - self.y[row, self.dim] / rest)
            if value != NULL:
                value[0] += c * self.y[row, self.dim] * log(rest)
        return OK
