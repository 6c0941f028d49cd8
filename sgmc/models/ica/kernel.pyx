"""Independent component analysis with logistic sources."""
import numpy as np

from libc.math cimport exp, fabs, log, log1p
from libc.string cimport memcpy
from scipy.linalg.cython_lapack cimport dgetrf, dgetri

from sgmc.core.contract cimport OK, Batch, Metric, Model, Scratch
from sgmc.core.numerics.simd cimport expit
from sgmc.models.bases.layers cimport Inputs, add_tdot, times, times_transposed


cdef double invert(Py_ssize_t d, double *W, double *work) noexcept nogil:
    """W becomes its inverse; returns log |det W|, minus infinity for singular ones, which become
    infinite.  work: d^2 + d doubles.
    """
    cdef Py_ssize_t k
    cdef int size = <int> d, length = <int> (d * d), info = 0
    cdef int *pivots = <int *> (work + d * d)
    cdef double total = 0
    dgetrf(&size, &size, W, &size, pivots, &info)
    for k in range(d):
        total += log(fabs(W[k * d + k]))
    if info == 0:
        dgetri(&size, W, &size, pivots, work, &length, &info)
    for k in range(d * d if info else 0):
        W[k] = 1e300
    return total


cdef class LogisticSources(Model):
    """log p(x | W) = log |det W| - sum_k log(4 cosh^2(y_k / 2)), y = W x (Welling & Teh 2011,
    section 5.3).

    dlog p / dW = W^-T - tanh(y / 2) x'.  theta is W, row-major, a source a row.

    Parameters
    ----------
    X : Inputs
        Of float64.
    """

    cdef Inputs X
    cdef Py_ssize_t d

    @property
    def nanoseconds(self):
        """Of a row, a hyperbolic tangent for each source; see `Model`."""
        return 40.0 * self.d

    def __init__(self, Inputs X):
        self.X, self.n, self.d = X, X.n, X.d
        self.dim, self.tile, self.squares = X.d * X.d, 512, True

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return 3 * self.d * self.d + self.d + 2 * self.tile * self.d + self.X.work_size(self.tile,
                                                                                        self.d)

    cdef double prepare(self, const double *W, const Batch *b, Scratch *s) noexcept nogil:
        """The inverse, and W', into the first two squares of work; returns log |det W|."""
        cdef Py_ssize_t j, k, d = self.d
        memcpy(s.work, W, d * d * sizeof(double))
        for j in range(d):
            for k in range(d):
                s.work[d * d + k * d + j] = W[j * d + k]
        return invert(d, s.work, s.work + 2 * d * d)

    cdef int judge(self, const double *W, const Batch *b, Scratch *s, double *value, double *count,
                   double *count2) except -1 nogil:
        """c_i tanh(y_i / 2) into the first tile of work; sums of c_i and of their squares;
        value += sum_i c_i log p_i.
        """
        cdef Py_ssize_t i, k, d = self.d
        cdef double *y = s.work + 3 * d * d + d
        cdef double c, size, log_det = self.prepare(W, b, s)
        for i in range(b.m * d):
            y[i] = 0
        self.X.forward(b, s.work + d * d, d, y, y + 2 * self.tile * d)
        for i in range(b.m):
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            count[0] += c
            count2[0] += c * c
            if value != NULL:
                value[0] += c * log_det
                for k in range(d):
                    size = fabs(y[i * d + k])
                    value[0] -= c * (size + 2 * log1p(exp(-size)))
        expit(b.m * d, y, y)
        for i in range(b.m):
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            for k in range(d):
                y[i * d + k] = c * (2 * y[i * d + k] - 1)
        return OK

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t j, k, d = self.d
        cdef double count = 0, count2 = 0
        cdef double *slope = s.work + 3 * d * d + d
        self.judge(theta, b, s, value, &count, &count2)
        if grad == NULL:
            return OK
        for j in range(b.m * d):
            slope[j] = -slope[j]
        add_tdot(b.m, d, d, slope, slope + 2 * self.tile * d, grad)
        for j in range(d):
            for k in range(d):
                grad[j * d + k] += count * s.work[k * d + j]
        return OK

    cdef int add_with_squares(self, const double *theta, const Batch *b, Scratch *s, double *grad,
                              double *square) except -1 nogil:
        """(c a - c t x)^2 = c^2 a^2 - 2 a (c^2 t x) + (c t)^2 x^2 with a of the inverse, t of
        tanh.
        """
        cdef Py_ssize_t i, j, k, d = self.d
        cdef double count = 0, count2 = 0, c
        cdef double *slope = s.work + 3 * d * d + d
        cdef double *other = slope + self.tile * d
        cdef double *x = other + self.tile * d
        cdef double *cross = s.work + 2 * d * d  # the inverse is made: its work is free
        self.judge(theta, b, s, NULL, &count, &count2)
        for i in range(b.m):
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            for j in range(d):
                other[i * d + j] = c * slope[i * d + j]
        for j in range(d * d):
            cross[j] = 0
        add_tdot(b.m, d, d, other, x, cross)
        for j in range(d):
            for k in range(d):
                square[j * d + k] += (count2 * s.work[k * d + j] ** 2
                                      - 2 * s.work[k * d + j] * cross[j * d + k])
                grad[j * d + k] += count * s.work[k * d + j]
        for i in range(b.m * d):
            other[i], slope[i] = slope[i] * slope[i], -slope[i]
        add_tdot(b.m, d, d, slope, x, grad)
        for i in range(b.m * d):
            x[i] *= x[i]
        add_tdot(b.m, d, d, other, x, square)
        return OK

    def metric(self, gradient, start, rows=None):
        return NaturalGradient(self.d, self.n)


cdef class NaturalGradient(Metric):
    """M G = G W'W / N (Amari, Cichocki & Yang 1996; Welling & Teh 2011, section 5.3, without
    the N): steps relative to W.

    M = R R' with R Z = Z W / sqrt(N); its divergence is (d + 1) W / N, that of R' is d I / sqrt(N).
    The density of N(0, h M) at V is proportional to |det W|^-d exp(-N |V W^-1|^2 / (2 h)).

    Parameters
    ----------
    d, n : int
        Channels; rows.
    """

    cdef Py_ssize_t d
    cdef double n, root_n, log_det
    cdef bint inverted
    cdef double[:, ::1] W, hold, inverse
    cdef double[::1] work

    def __init__(self, Py_ssize_t d, Py_ssize_t n):
        self.d, self.n, self.root_n = d, n, np.sqrt(n)
        self.W, self.hold, self.inverse = np.eye(d), np.zeros((d, d)), np.eye(d)
        self.work = np.zeros(d * d + d)

    cdef int move(self, const double *x) except -1 nogil:
        memcpy(&self.W[0, 0], x, self.d * self.d * sizeof(double))
        self.inverted = False
        return OK

    cdef int root(self, const double *z, double *out) except -1 nogil:
        cdef Py_ssize_t j
        times(self.d, self.d, self.d, <double *> z, &self.W[0, 0], 0, out)
        for j in range(self.d * self.d):
            out[j] /= self.root_n
        return OK

    cdef int root_transposed(self, const double *g, double *out) except -1 nogil:
        cdef Py_ssize_t j
        times_transposed(self.d, self.d, self.d, <double *> g, &self.W[0, 0], out)
        for j in range(self.d * self.d):
            out[j] /= self.root_n
        return OK

    cdef int apply(self, const double *g, double *out) except -1 nogil:
        self.root_transposed(g, &self.hold[0, 0])
        return self.root(&self.hold[0, 0], out)

    cdef int divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.d * self.d):
            out[j] = (self.d + 1) * (&self.W[0, 0])[j] / self.n
        return OK

    cdef int root_divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.d * self.d):
            out[j] = self.d / self.root_n if j % (self.d + 1) == 0 else 0
        return OK

    cdef int log_density(self, const double *v, double h, double *value) except -1 nogil:
        cdef Py_ssize_t j
        cdef double total = 0
        if not self.inverted:
            self.inverse[:, :] = self.W
            self.log_det, self.inverted = invert(self.d, &self.inverse[0, 0], &self.work[0]), True
        times(self.d, self.d, self.d, <double *> v, &self.inverse[0, 0], 0, &self.hold[0, 0])
        for j in range(self.d * self.d):
            total += (&self.hold[0, 0])[j] ** 2
        value[0] += (-0.5 * self.n * total / h - 0.5 * self.d * self.d * log(h / self.n)
                     - self.d * self.log_det)
        return OK
