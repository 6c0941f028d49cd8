"""Means, sds and quantiles of the draws of many rows, in one pass over each."""
import numpy as np

from libc.math cimport INFINITY, NAN, floor, sqrt
from scipy.special import ndtri


cdef double selected(double *a, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """The k-th smallest of n numbers, which are put in its order as by Hoare (1961): none before
    place k is larger, and none behind it smaller.
    """
    cdef Py_ssize_t left = 0, right = n - 1, i, j
    cdef double pivot, other
    while left < right:
        pivot = a[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                other = a[i]
                a[i], a[j] = a[j], other
                i += 1
                j -= 1
        if k <= j:
            right = j
        elif k >= i:
            left = i
        else:
            break
    return a[k]


cdef double between(double *a, Py_ssize_t n, Py_ssize_t low, double share) noexcept nogil:
    """A share of the way from the number at place `low` of n in ascending order to the next."""
    cdef double below = selected(a, n, low), above
    cdef Py_ssize_t i
    if low + 1 >= n:
        return below
    above = a[low + 1]
    for i in range(low + 2, n):
        if a[i] < above:
            above = a[i]
    # as numpy rounds it
    return below + (above - below) * share if share < 0.5 else above - (above - below) * (1 - share)


cdef void moments_of(const double *x, Py_ssize_t n, double *mean, double *sd) noexcept nogil:
    """Mean and sd of n numbers, by sums of their distances from the first, in lanes that do not
    wait for each other.
    """
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0, aa = 0.0, bb = 0.0, cc = 0.0, dd = 0.0
    cdef double first = x[0], p, q, r, s
    cdef Py_ssize_t t
    for t in range(0, n - 3, 4):
        p, q, r, s = x[t] - first, x[t + 1] - first, x[t + 2] - first, x[t + 3] - first
        a += p
        b += q
        c += r
        d += s
        aa += p * p
        bb += q * q
        cc += r * r
        dd += s * s
    for t in range(n - n % 4, n):
        p = x[t] - first
        a += p
        aa += p * p
    a, aa = (a + b + (c + d)) / n, aa + bb + (cc + dd)
    mean[0] = first + a
    aa -= n * a * a
    sd[0] = sqrt((0.0 if aa < 0 else aa) / (n - 1)) if n > 1 else NAN


cdef Py_ssize_t outside(const double *x, Py_ssize_t n, double low, double high,
                        double *out) noexcept nogil:
    """Copy the numbers up to `low` and from `high` on; return how many there are."""
    cdef Py_ssize_t t, count = 0
    for t in range(n):
        out[count] = x[t]
        count += (x[t] <= low) | (x[t] >= high)
    return count


cdef Py_ssize_t parted(const double *x, Py_ssize_t n, double low, double *out) noexcept nogil:
    """Copy the numbers up to `low`, and behind them the others; return how many the first are."""
    cdef Py_ssize_t t, first = 0, last = n - 1
    for t in range(n):
        out[first] = out[last] = x[t]  # one of both is written over
        first += x[t] <= low
        last -= not x[t] <= low
    return first


def moments_and_ends(values, levels):
    """Mean, sd and quantiles of each row, (row, 2 + k): those of `moments.mean`, `moments.sd` and
    `moments.quantile`, NaN for rows with a NaN.

    Quantiles are looked for among the draws outside of a middle part of each row, and among all
    where these are too few.

    Parameters
    ----------
    values : array (row, draw)
    levels : sequence of float, (k,)
    """
    cdef const double[:, ::1] x = np.ascontiguousarray(values, dtype=float)
    cdef double[::1] q = np.array(levels, dtype=float)
    sides = np.minimum(q, 1 - np.asarray(q))
    tails = np.minimum(1.5 * sides + 3 * np.sqrt(sides / max(x.shape[1], 1)), 0.999)
    below, above = (tails[side] for side in (np.asarray(q) <= 0.5, np.asarray(q) > 0.5))
    cdef double reach_low = ndtri(below.max()) if len(below) else -np.inf
    cdef double reach_high = -ndtri(above.max()) if len(above) else np.inf
    cdef Py_ssize_t n = x.shape[0], m = x.shape[1], k = q.shape[0], i, count, lows, highs, at, low
    cdef double[:, ::1] out = np.empty((n, 2 + k))
    cdef double[::1] some = np.empty(max(m, 1)), tail = np.empty(max(m, 1))
    cdef double mean, sd, place, edge
    with nogil:
        for i in range(n):
            moments_of(&x[i, 0], m, &mean, &sd)
            out[i, 0], out[i, 1] = mean, sd
            edge = mean + reach_low * sd
            count = outside(&x[i, 0], m, edge, mean + reach_high * sd, &some[0])
            lows = parted(&some[0], count, edge, &tail[0])
            highs = count - lows
            for at in range(k):
                place = q[at] * (m - 1)
                low = <Py_ssize_t> floor(place)
                if mean != mean:
                    out[i, 2 + at] = NAN
                elif q[at] <= 0.5 and low + 2 <= lows:
                    out[i, 2 + at] = between(&tail[0], lows, low, place - low)
                elif q[at] > 0.5 and low >= m - highs:
                    out[i, 2 + at] = between(&tail[lows], highs, low - (m - highs), place - low)
                else:
                    outside(&x[i, 0], m, INFINITY, INFINITY, &some[0])
                    out[i, 2 + at] = between(&some[0], m, low, place - low)
    return np.asarray(out)
