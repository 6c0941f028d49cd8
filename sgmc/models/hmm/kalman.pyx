"""A linear-Gaussian state-space model with one state:
the Kalman filter and what data say from behind.
"""
import numpy as np

from libc.math cimport log, M_PI
from libc.string cimport memset

from sgmc.models.hmm.windows cimport Span, Windows


cdef class LinearGaussianKernel(Windows):
    """x_t = a x_{t-1} + N(0, q^2) with x_1 ~ N(0, v), v = q^2 / (1 - a^2);
    y_td = l_d + c_d x_t + N(0, r_d^2).

    theta: a, q, r (D,), l (D,).  Forward messages are mean and variance of x_t given y up to t;
    those back are (h, J) with p(y after t | x_t) proportional to exp(h x_t - J x_t^2 / 2), which is
    safe where these data say little.  Missing y say nothing.

    Parameters
    ----------
    y, table, buffer
        See `Windows`.
    loadings : array (D,)
        c.
    """

    cdef const double[::1] c

    def __init__(self, y, table, Py_ssize_t buffer, loadings):
        cdef Py_ssize_t D = len(loadings)
        self.c = np.array(loadings, dtype=float)
        self.dim, self.message, self.slot = 2 + 2 * D, 2, 2
        self.prepared = 4 + 4 * D  # v; sums for v, a, q; 1/r^2; sums for r, l; log r + log(2 pi)/2
        Windows.__init__(self, y, table, buffer)

    @property
    def rest(self):
        return np.asarray(self.c),

    cdef void open(self, const double *theta, double *work) noexcept nogil:
        cdef Py_ssize_t d, D = self.c.shape[0]
        memset(work, 0, (4 + 3 * D) * sizeof(double))
        work[0] = theta[1] * theta[1] / (1 - theta[0] * theta[0])
        for d in range(D):
            work[4 + d] = 1 / (theta[2 + d] * theta[2 + d])
            work[4 + 3 * D + d] = log(theta[2 + d]) + 0.5 * log(2 * M_PI)

    cdef void close(self, const double *theta, double *work, double *grad) noexcept nogil:
        cdef Py_ssize_t d, D = self.c.shape[0]
        cdef double left = 1 - theta[0] * theta[0]
        grad[0] += work[2] + work[1] * 2 * theta[0] * work[0] / left
        grad[1] += work[3] + work[1] * 2 * theta[1] / left
        for d in range(2 * D):
            grad[2 + d] += work[4 + D + d]

    cdef void stationary(self, double *work, double *law) noexcept nogil:
        law[0], law[1] = 0, work[0]

    cdef void nothing(self, double *back) noexcept nogil:
        back[0] = back[1] = 0

    cdef double forward(self, const double *theta, const Span *s, double *law, double *store,
                        double *work) noexcept nogil:
        cdef Py_ssize_t D = self.c.shape[0], t, d
        cdef double m = law[0], P = law[1], q2 = theta[1] * theta[1], density = 0, here, j, h, e
        for t in range(s.start, s.stop):
            m, P = theta[0] * m, theta[0] * theta[0] * P + q2
            if t == s.begin:
                m, P = 0, work[0]
            here = j = h = 0
            for d in range(D):
                e = self.y[t, d] - theta[2 + D + d] - self.c[d] * m
                if e == e:
                    here -= work[4 + 3 * D + d] + 0.5 * e * e * work[4 + d]
                    j += self.c[d] * self.c[d] * work[4 + d]
                    h += self.c[d] * e * work[4 + d]
            here -= 0.5 * log(1 + P * j)
            P /= 1 + P * j
            m += P * h
            if t >= s.low and t < s.high:
                density += here + 0.5 * P * h * h
            store[2 * (t - s.start)], store[2 * (t - s.start) + 1] = m, P
        law[0], law[1] = m, P
        return density

    cdef void backward(self, const double *theta, const Span *s, const double *law, double *back,
                       double *store, double *work) noexcept nogil:
        cdef Py_ssize_t D = self.c.shape[0], t, d
        cdef const double *last
        cdef double a = theta[0], q2 = theta[1] * theta[1], h = back[0]
        cdef double J = back[1], m, P, M, V, c, e, gain, M0, V0
        cdef bint wanted
        for t in range(s.stop - 1, s.start - 1, -1):
            last = law
            if t > s.start:
                last = store + 2 * (t - s.start - 1)
            wanted = t >= s.low and t < s.high
            for d in range(D):
                e = self.y[t, d] - theta[2 + D + d]
                if e == e:
                    J += self.c[d] * self.c[d] * work[4 + d]
                    h += self.c[d] * e * work[4 + d]
            m, P = a * last[0], a * a * last[1] + q2
            if t == s.begin:
                m, P = 0, work[0]
            V = P / (1 + P * J)
            M = (m + P * h) / (1 + P * J)
            if s.kept != NULL:
                s.kept[2 * t], s.kept[2 * t + 1] = M, V
            for d in range(D if wanted else 0):
                c, e = self.c[d], self.y[t, d] - theta[2 + D + d] - self.c[d] * M
                if e == e:
                    work[4 + D + d] += (s.scale * ((e * e + c * c * V) * work[4 + d] - 1)
                                        / theta[2 + d])
                    work[4 + 2 * D + d] += s.scale * e * work[4 + d]
            if t == s.begin:
                if wanted:
                    work[1] += s.scale * 0.5 * ((M * M + V) / P - 1) / P
                continue
            if wanted:  # x_{t-1} given x_t has slope `gain` and variance P_{t-1} q^2 / P
                gain = a * last[1] / P
                M0, V0 = last[0] + gain * (M - m), last[1] * q2 / P + gain * gain * V
                e = M - a * M0
                work[2] += s.scale * (e * M0 + gain * V - a * V0) / q2
                work[3] += s.scale * ((e * e + V + a * a * V0 - 2 * a * gain * V) / q2
                                      - 1) / theta[1]
            c = 1 + q2 * J
            h, J = a * h / c, a * a * J / c
        back[0], back[1] = h, J
