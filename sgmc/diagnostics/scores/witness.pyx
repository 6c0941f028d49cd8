"""The Stein witness function at test locations, and the gradient of its size, in O(n) time and
memory without the GIL.
"""
from cpython.exc cimport PyErr_CheckSignals

import numpy as np

from sgmc.diagnostics.scores.radial cimport DRAW_TILE, Radial, evaluate


def witness(const double[:, ::1] x, const double[:, ::1] s, const double[::1] w,
            const double[:, ::1] v, bint gaussian, double c, double beta):
    """The witness g(v_j) = sum_a w_a tau(x_a, v_j), tau(x, v) = s k + grad_x k, and sum_a w_a^2
    sum_j |tau(x_a, v_j)|^2.

    Parameters
    ----------
    x, s : ndarray, (n, d)
        Draws and scores.
    w : ndarray, (n,)
        Weights.
    v : ndarray, (m, d)
        Locations.
    gaussian : bool
        exp(-r^2 / 2 c^2) instead of (c^2 + r^2)^beta.
    c, beta : float

    Returns
    -------
    g : ndarray, (m, d)
    squares : float
    """
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], m = v.shape[0], start, size, i, j, b
    cdef Radial radial = Radial(gaussian, c * c, beta)
    cdef double[DRAW_TILE] r2, f, g, h, squares
    cdef double t
    cdef double[:, ::1] e = np.zeros((d, DRAW_TILE)), st = np.zeros((d, DRAW_TILE))
    lanes = np.zeros((m, d, DRAW_TILE))
    cdef double[:, :, ::1] sums = lanes
    for b in range(DRAW_TILE):
        squares[b] = 0
    for start in range(0, n, DRAW_TILE):
        size = min(<Py_ssize_t> DRAW_TILE, n - start)
        with nogil:
            for j in range(m):
                apart(x, s, v, start, size, j, e, st, r2)
                evaluate(&radial, 0, size, r2, f, g, h)
                for i in range(d):
                    for b in range(size):
                        t = w[start + b] * (f[b] * st[i, b] - g[b] * e[i, b])
                        sums[j, i, b] += t
                        squares[b] += t * t
        PyErr_CheckSignals()
    return lanes.sum(axis=2), float(np.sum(<double[:DRAW_TILE]> squares))


def along(const double[:, ::1] x, const double[:, ::1] s, const double[:, ::1] v,
          const double[:, ::1] at, bint gaussian, double c, double beta):
    """sum_j tau(x_a, v_j) . at_j of each draw, (n,); see `witness`."""
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], m = v.shape[0], start, size, i, j, b
    cdef Radial radial = Radial(gaussian, c * c, beta)
    cdef double[DRAW_TILE] r2, f, g, h
    cdef double[:, ::1] e = np.zeros((d, DRAW_TILE)), st = np.zeros((d, DRAW_TILE))
    values = np.zeros(n)
    cdef double[::1] out = values
    for start in range(0, n, DRAW_TILE):
        size = min(<Py_ssize_t> DRAW_TILE, n - start)
        with nogil:
            for j in range(m):
                apart(x, s, v, start, size, j, e, st, r2)
                evaluate(&radial, 0, size, r2, f, g, h)
                for i in range(d):
                    for b in range(size):
                        out[start + b] += (f[b] * st[i, b] - g[b] * e[i, b]) * at[j, i]
        PyErr_CheckSignals()
    return values


def ascent(const double[:, ::1] x, const double[:, ::1] s, const double[::1] w,
           const double[:, ::1] v, const double[:, ::1] at, bint gaussian, double c, double beta):
    """Gradient of sum_j g(v_j) . at_j by the locations, (m, d), `at` held fixed; see `witness`.

    sum_a w_a [(g (s_a . at_j) + h (e_a . at_j)) e_a + g at_j] with e = x - v and the g and h of
    `evaluate`.
    """
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], m = v.shape[0], start, size, i, j, b
    cdef Radial radial = Radial(gaussian, c * c, beta)
    cdef double[DRAW_TILE] r2, f, g, h, slope
    cdef double[:, ::1] e = np.zeros((d, DRAW_TILE)), st = np.zeros((d, DRAW_TILE))
    lanes = np.zeros((m, d, DRAW_TILE))
    cdef double[:, :, ::1] sums = lanes
    for start in range(0, n, DRAW_TILE):
        size = min(<Py_ssize_t> DRAW_TILE, n - start)
        with nogil:
            for j in range(m):
                apart(x, s, v, start, size, j, e, st, r2)
                evaluate(&radial, 0, size, r2, f, g, h)
                for b in range(size):
                    slope[b] = 0
                for i in range(d):
                    for b in range(size):
                        slope[b] += (g[b] * st[i, b] + h[b] * e[i, b]) * at[j, i]
                for i in range(d):
                    for b in range(size):
                        sums[j, i, b] += w[start + b] * (slope[b] * e[i, b] + g[b] * at[j, i])
        PyErr_CheckSignals()
    return lanes.sum(axis=2)


cdef inline void apart(const double[:, ::1] x, const double[:, ::1] s, const double[:, ::1] v,
                       Py_ssize_t start, Py_ssize_t size, Py_ssize_t j, double[:, ::1] e,
                       double[:, ::1] st, double *r2) noexcept nogil:
    """x - v_j and scores of a tile, coordinates side by side, and the squared distances."""
    cdef Py_ssize_t b, i
    for b in range(size):
        r2[b] = 0
        for i in range(x.shape[1]):
            e[i, b] = x[start + b, i] - v[j, i]
            st[i, b] = s[start + b, i]
    for i in range(x.shape[1]):
        for b in range(size):
            r2[b] += e[i, b] * e[i, b]
