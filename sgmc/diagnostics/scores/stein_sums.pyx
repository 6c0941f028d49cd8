"""The Stein kernel: double sums over pairs of draws in O(n) memory,
and values pair by pair, without the GIL.
"""
from cpython.exc cimport PyErr_CheckSignals

import numpy as np

from sgmc.diagnostics.scores.radial cimport DRAW_TILE, Radial, evaluate

cdef extern from "stein.h" nogil:
    void vm_stein(Py_ssize_t d, Py_ssize_t stride, Py_ssize_t begin, Py_ssize_t end,
                  const double *x, const double *s, const double *y, const double *t, double *r2,
                  double *st, double *cross)


def stein_sums(const double[:, ::1] x, const double[:, ::1] s, const double[::1] w, bint gaussian,
               double c, double beta, bint joint):
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


def stein_matrix(const double[:, ::1] x, const double[:, ::1] s, const double[:, ::1] y,
                 const double[:, ::1] t, bint gaussian, double c, double beta):
    """The joint Stein kernel of each x with each y, (m, n).

    Parameters
    ----------
    x, s : ndarray, (m, d)
        Draws and scores.
    y, t : ndarray, (n, d)
        Others.
    gaussian, c, beta
        As in `stein_sums`.
    """
    cdef Py_ssize_t m = x.shape[0], n = y.shape[0], d = x.shape[1], start, size, a
    cdef Radial radial = Radial(gaussian, c * c, beta)
    cdef double[:, ::1] yt = np.zeros((d, DRAW_TILE)), tt = np.zeros((d, DRAW_TILE))
    cdef double[:, ::1] row = np.zeros((1, DRAW_TILE))
    values = np.empty((m, n))
    cdef double[:, ::1] out = values
    for start in range(0, n, DRAW_TILE):
        size = min(<Py_ssize_t> DRAW_TILE, n - start)
        with nogil:
            transpose(y, t, start, size, yt, tt)
            for a in range(m):
                row[:, :] = 0
                add_joint(&radial, d, 0, size, 1, &x[a, 0], &s[a, 0], &yt[0, 0], &tt[0, 0],
                          &row[0, 0])
                out[a, start:start + size] = row[0, :size]
        PyErr_CheckSignals()
    return values


def stein_pairs(const double[:, ::1] x, const double[:, ::1] s, const double[:, ::1] y,
                const double[:, ::1] t, bint gaussian, double c, double beta):
    """The joint Stein kernel of each x with the y of the same row, (n,); see `stein_matrix`."""
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], start, size, b
    cdef Radial radial = Radial(gaussian, c * c, beta)
    cdef double[:, ::1] yt = np.zeros((d, DRAW_TILE)), tt = np.zeros((d, DRAW_TILE))
    values = np.zeros(n)
    cdef double[::1] out = values
    for start in range(0, n, DRAW_TILE):
        size = min(<Py_ssize_t> DRAW_TILE, n - start)
        with nogil:
            transpose(y, t, start, size, yt, tt)
            for b in range(size):
                add_joint(&radial, d, b, b + 1, 1, &x[start + b, 0], &s[start + b, 0], &yt[0, 0],
                          &tt[0, 0], &out[start])
    return values


def stein_diagonal(const double[:, ::1] s, bint gaussian, double c, double beta):
    """The joint Stein kernel of each draw with itself, (n,), from the scores (n, d): |s|^2 f(0) + d
    g(0).
    """
    cdef Radial radial = Radial(gaussian, c * c, beta)
    cdef double zero = 0, f, g, h
    evaluate(&radial, 0, 1, &zero, &f, &g, &h)
    return np.square(s).sum(axis=1) * f + s.shape[1] * g


cdef inline void transpose(const double[:, ::1] x, const double[:, ::1] s, Py_ssize_t start,
                           Py_ssize_t size, double[:, ::1] xt, double[:, ::1] st) noexcept nogil:
    """Coordinates of a tile's draws and scores side by side."""
    cdef Py_ssize_t b, j
    for b in range(size):
        for j in range(x.shape[1]):
            xt[j, b] = x[start + b, j]
            st[j, b] = s[start + b, j]


def _pairs(const double[:, ::1] x, const double[:, ::1] s, const double[::1] w, Radial radial,
           bint joint):
    """The sums over a < b; b runs in tiles, whose coordinates are copied so that they lie side by
    side.
    """
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1]
    cdef Py_ssize_t outputs = 1 if joint else d, start, size, a, b, j
    cdef double[:, ::1] xt = np.zeros((d, DRAW_TILE)), st = np.zeros((d, DRAW_TILE))
    cdef double[:, ::1] row = np.zeros((outputs, DRAW_TILE))
    total = np.zeros(outputs)
    cdef double[::1] sums = total
    for start in range(0, n, DRAW_TILE):
        size = min(<Py_ssize_t> DRAW_TILE, n - start)
        with nogil:
            row[:, :] = 0
            transpose(x, s, start, size, xt, st)
            for a in range(start + size):
                b = max(a + 1 - start, 0)
                if joint:
                    add_joint(&radial, d, b, size, w[a], &x[a, 0], &s[a, 0], &xt[0, 0], &st[0, 0],
                              &row[0, 0])
                else:
                    add_coordinates(&radial, d, b, size, w[a], &x[a, 0], &s[a, 0], &xt[0, 0],
                                    &st[0, 0], &row[0, 0])
            for j in range(outputs):
                for b in range(size):
                    sums[j] += w[start + b] * row[j, b]
        PyErr_CheckSignals()
    return total


cdef void add_joint(const Radial *radial, Py_ssize_t d, Py_ssize_t begin, Py_ssize_t end, double w,
                    const double *x, const double *s, const double *y, const double *t,
                    double *row) noexcept nogil:
    """row[b] += w k0(x, y_b), where k0 = f s.t + g (d + (s - t).(x - y)) + h r^2."""
    cdef double[DRAW_TILE] r2, st, cross, f, g, h
    cdef Py_ssize_t b
    vm_stein(d, DRAW_TILE, begin, end, x, s, y, t, r2, st, cross)
    evaluate(radial, begin, end, r2, f, g, h)
    for b in range(begin, end):
        row[b] += w * (f[b] * st[b] + g[b] * cross[b] + h[b] * r2[b])


cdef void add_coordinates(const Radial *radial, Py_ssize_t d, Py_ssize_t begin, Py_ssize_t end,
                          double w, const double *x, const double *s, const double *y,
                          const double *t, double *row) noexcept nogil:
    """row[j, b] += w k0_j(x, y_b), where k0_j = f s_j t_j + g (1 + (s_j - t_j)(x_j - y_j)) + h
    (x_j - y_j)^2.
    """
    cdef double[DRAW_TILE] r2, f, g, h
    cdef double e, tb
    cdef Py_ssize_t b, j
    for b in range(begin, end):
        r2[b] = 0
    for j in range(d):
        for b in range(begin, end):
            e = x[j] - y[j * DRAW_TILE + b]
            r2[b] += e * e
    evaluate(radial, begin, end, r2, f, g, h)
    for j in range(d):
        for b in range(begin, end):
            e, tb = x[j] - y[j * DRAW_TILE + b], t[j * DRAW_TILE + b]
            row[j * DRAW_TILE + b] += w * (f[b] * s[j] * tb + g[b] * (1 + (s[j] - tb) * e)
                                      + h[b] * e * e)
