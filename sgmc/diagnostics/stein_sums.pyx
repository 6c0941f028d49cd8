"""Double sums of the Stein kernel over pairs of draws, in O(n) memory and without the GIL."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport exp, pow, sqrt

import numpy as np

cdef enum:
    TILE = 128  # draws whose sums are carried together, so that the loops over them vectorise


cdef struct Radial:  # a kernel k(r^2), r = |x - y|: exp(-r^2 / 2 c^2) or (c^2 + r^2)^beta
    bint gaussian
    double c2, beta


def stein_sums(const double[:, ::1] x, const double[:, ::1] s, const double[::1] w, bint gaussian, double c,
               double beta, bint joint):
    """Sums of w_a w_b k0_j(x_a, x_b) over the pairs a < b and over the diagonal a = b.

    Parameters
    ----------
    x, s : ndarray, (n, d)
        Draws and scores.
    w : ndarray, (n,)
        Weights.
    gaussian : bool
        exp(-r^2 / 2 c^2) instead of (c^2 + r^2)^beta.
    c, beta : float
    joint : bool
        Sum over the coordinates j also.

    Returns
    -------
    pairs, diagonal : ndarray, (d,), or (1,) where joint
    """
    cdef Radial radial = Radial(gaussian, c * c, beta)
    cdef double zero = 0, f, g, h
    evaluate(&radial, 0, 1, &zero, &f, &g, &h)
    diagonal = np.sum(np.square(w)[:, None] * (np.square(s) * f + g), axis=0)
    return _pairs(x, s, w, radial, joint), np.sum(diagonal, keepdims=True) if joint else diagonal


def _pairs(const double[:, ::1] x, const double[:, ::1] s, const double[::1] w, Radial radial, bint joint):
    """The sums over a < b; b runs in tiles, whose coordinates are copied so that they lie side by side."""
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], outputs = 1 if joint else d, start, size, a, b, j
    cdef double[:, ::1] xt = np.zeros((d, TILE)), st = np.zeros((d, TILE)), row = np.zeros((outputs, TILE))
    total = np.zeros(outputs)
    cdef double[::1] sums = total
    for start in range(0, n, TILE):
        size = min(<Py_ssize_t> TILE, n - start)
        with nogil:
            row[:, :] = 0
            for b in range(size):
                for j in range(d):
                    xt[j, b] = x[start + b, j]
                    st[j, b] = s[start + b, j]
            for a in range(start + size):
                b = max(a + 1 - start, 0)
                if joint:
                    add_joint(&radial, d, b, size, w[a], &x[a, 0], &s[a, 0], &xt[0, 0], &st[0, 0], &row[0, 0])
                else:
                    add_coordinates(&radial, d, b, size, w[a], &x[a, 0], &s[a, 0], &xt[0, 0], &st[0, 0], &row[0, 0])
            for j in range(outputs):
                for b in range(size):
                    sums[j] += w[start + b] * row[j, b]
        PyErr_CheckSignals()
    return total


cdef void add_joint(const Radial *radial, Py_ssize_t d, Py_ssize_t begin, Py_ssize_t end, double w, const double *x,
                    const double *s, const double *y, const double *t, double *row) noexcept nogil:
    """row[b] += w k0(x, y_b), where k0 = f s.t + g (d + (s - t).(x - y)) + h r^2."""
    cdef double[TILE] r2, st, cross, f, g, h
    cdef double e
    cdef Py_ssize_t b, j
    for b in range(begin, end):
        r2[b] = st[b] = 0
        cross[b] = d
    for j in range(d):
        for b in range(begin, end):
            e = x[j] - y[j * TILE + b]
            r2[b] += e * e
            st[b] += s[j] * t[j * TILE + b]
            cross[b] += (s[j] - t[j * TILE + b]) * e
    evaluate(radial, begin, end, r2, f, g, h)
    for b in range(begin, end):
        row[b] += w * (f[b] * st[b] + g[b] * cross[b] + h[b] * r2[b])


cdef void add_coordinates(const Radial *radial, Py_ssize_t d, Py_ssize_t begin, Py_ssize_t end, double w,
                          const double *x, const double *s, const double *y, const double *t,
                          double *row) noexcept nogil:
    """row[j, b] += w k0_j(x, y_b), where k0_j = f s_j t_j + g (1 + (s_j - t_j)(x_j - y_j)) + h (x_j - y_j)^2."""
    cdef double[TILE] r2, f, g, h
    cdef double e, tb
    cdef Py_ssize_t b, j
    for b in range(begin, end):
        r2[b] = 0
    for j in range(d):
        for b in range(begin, end):
            e = x[j] - y[j * TILE + b]
            r2[b] += e * e
    evaluate(radial, begin, end, r2, f, g, h)
    for j in range(d):
        for b in range(begin, end):
            e, tb = x[j] - y[j * TILE + b], t[j * TILE + b]
            row[j * TILE + b] += w * (f[b] * s[j] * tb + g[b] * (1 + (s[j] - tb) * e) + h[b] * e * e)


cdef void evaluate(const Radial *radial, Py_ssize_t begin, Py_ssize_t end, const double *r2,
                   double *f, double *g, double *h) noexcept nogil:
    """f = k, g = -2 k', h = -4 k'', the derivatives by r^2; h holds u = 1 / (c^2 + r^2) or 1 / c^2 on the way."""
    cdef double c2 = radial.c2, beta = radial.beta
    cdef double slope = 1 if radial.gaussian else -2 * beta, curve = -1 if radial.gaussian else 2 * (beta - 1)
    cdef Py_ssize_t b
    if radial.gaussian:
        for b in range(begin, end):
            h[b] = 1 / c2
            f[b] = exp(-0.5 * r2[b] / c2)
    elif beta == -0.5:
        for b in range(begin, end):
            h[b] = 1 / (c2 + r2[b])
            f[b] = sqrt(h[b])
    else:
        for b in range(begin, end):
            h[b] = 1 / (c2 + r2[b])
            f[b] = pow(h[b], -beta)
    for b in range(begin, end):
        g[b] = slope * f[b] * h[b]
        h[b] = curve * g[b] * h[b]
