"""Maps from free numbers to constrained parameters, with their log-Jacobians.

log|dtheta/dx| refers, for parameters on the simplex, to all but the last of their K probabilities.
"""
import numpy as np

from libc.math cimport exp, isinf, log, log1p

from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK, Map

cdef enum:
    FREE = 0
    POSITIVE = 1
    INTERVAL = 2
    ORDERED = 3
    SIMPLEX = 4
    MIRRORED = 5
    POSITIVE_ORDERED = 6
    MONOTONE = 7

KINDS = {"free": FREE, "positive": POSITIVE, "interval": INTERVAL, "ordered": ORDERED,
         "simplex": SIMPLEX, "mirrored": MIRRORED, "positive_ordered": POSITIVE_ORDERED,
         "monotone": MONOTONE}
cdef double SMALLEST_POSITIVE = limits.SMALLEST_POSITIVE
cdef double LEAST_TOTAL = 1e-8          # below which a sum of increments counts as this


cdef inline double expit(double x) noexcept nogil:
    return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))


cdef inline double log_expit(double x) noexcept nogil:
    return -log1p(exp(-x)) if x > 0 else x - log1p(exp(x))


cdef class Constrained(Map):
    """theta = c(x), block by block: each block of parameters is a function of its own free numbers.

    positive: theta = exp x.  interval: theta = low + (high - low) / (1 + exp(-x)); with one end
    infinite, low + exp x or high - exp(-x).  ordered:
    theta_0 = x_0, theta_k = theta_{k-1} + exp x_k; or, with a number s as low, theta_k =
    theta_{k-s} + exp x_k where s divides k, and x_k elsewhere.  positive_ordered: theta_0 = exp
    x_0, theta_k = theta_{k-1} + exp x_k.  simplex: of what the first k probabilities leave, theta_k
    takes the share z_k = 1/(1 + exp(log(K - 1 - k) - x_k)), so that x = 0 is the centre; K
    probabilities have K - 1 free numbers.  mirrored: the simplex too,
    by log-ratios to the last probability, theta_k = exp(x_k) / (1 + sum_j exp x_j): the dual
    coordinates of the entropic mirror map, so that Langevin steps of x are mirrored Langevin
    dynamics (Hsieh, Kavis, Rolland & Cevher 2018, section 3.2).  monotone: theta = x_0 z, numbers
    of one sign, with z of the simplex at the other free numbers.

    Parameters
    ----------
    blocks : list of (str, int, float, float)
        Kind, number of parameters, and of intervals low and high; of ordered ones, as low, how far
        apart they are.
    """

    cdef readonly list blocks
    cdef int[::1] kind
    cdef Py_ssize_t[::1] length, at, x_at, stride
    cdef double[::1] low, high

    def __init__(self, blocks):
        self.blocks = [tuple(block) for block in blocks]
        kinds = [KINDS[b[0]] for b in blocks]
        lengths = np.array([b[1] for b in blocks], dtype=np.intp)
        own = lengths - np.isin(kinds, (SIMPLEX, MIRRORED))
        self.kind, self.length = np.array(kinds, dtype=np.intc), lengths
        self.low, self.high = (np.array([b[i] for b in blocks], dtype=float) for i in (2, 3))
        self.stride = np.array([max(b[2], 1) if b[0] == "ordered" else 1 for b in blocks],
                               dtype=np.intp)
        self.at, self.x_at = np.cumsum(lengths) - lengths, np.cumsum(own) - own
        self.size, self.dim = lengths.sum(), own.sum()
        self.diagonal = all(k in (FREE, POSITIVE, INTERVAL) for k in kinds)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t b
        cdef double total = 0
        for b in range(self.kind.shape[0]):
            total += self.ahead(b, x + self.x_at[b], theta + self.at[b])
        if log_jacobian != NULL:
            log_jacobian[0] += total
        return OK

    cdef double ahead(self, Py_ssize_t b, const double *x, double *theta) noexcept nogil:
        """One block of theta; returns its log-Jacobian."""
        cdef Py_ssize_t k, n = self.length[b]
        cdef double total = 0
        if self.kind[b] == SIMPLEX:
            return broken(n, x, theta)
        if self.kind[b] == MONOTONE:
            total = broken(n, x + 1, theta) + (n - 1) * log_size(x[0])
            for k in range(n):
                theta[k] *= x[0]
            return total
        if self.kind[b] == MIRRORED:
            return mirror(n, x, theta)
        for k in range(n):
            if self.kind[b] == FREE:
                theta[k] = x[k]
            elif self.kind[b] == POSITIVE:
                theta[k] = max(exp(x[k]), SMALLEST_POSITIVE)
                total += x[k]
            elif self.kind[b] == INTERVAL:
                total += between(self.low[b], self.high[b], x[k], &theta[k])
            elif self.kind[b] == POSITIVE_ORDERED:
                theta[k] = (theta[k - 1] if k else 0) + max(exp(x[k]), SMALLEST_POSITIVE)
                total += x[k]
            else:
                theta[k] = theta[k - self.stride[b]] + exp(x[k]) if self.linked(b, k) else x[k]
                total += x[k] if self.linked(b, k) else 0
        return total

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t b, k, n
        cdef const double *at
        cdef const double *u
        cdef double *out
        cdef double moved
        for b in range(self.kind.shape[0]):
            at, u, out, n = x + self.x_at[b], v + self.x_at[b], v_theta + self.at[b], self.length[b]
            if self.kind[b] == SIMPLEX:
                push_broken(n, at, u, 1, 0, out)
                continue
            if self.kind[b] == MONOTONE:
                push_broken(n, at + 1, u + 1, at[0], u[0], out)
                continue
            if self.kind[b] == MIRRORED:
                mirror(n, at, out)                             # theta, until the last line
                moved = 0
                for k in range(n - 1):
                    moved += out[k] * u[k]
                for k in range(n):
                    out[k] *= (u[k] if k < n - 1 else 0) - moved
                continue
            for k in range(n):
                out[k] = self.slope(b, k, at[k]) * u[k]
                if self.linked(b, k):
                    out[k] += out[k - self.stride[b]]
        return OK

    cdef bint linked(self, Py_ssize_t b, Py_ssize_t k) noexcept nogil:
        """Whether theta_k is above another one of its block."""
        return (self.kind[b] in (ORDERED, POSITIVE_ORDERED) and k > 0
                and k % self.stride[b] == 0)

    cdef double slope(self, Py_ssize_t b, Py_ssize_t k, double x) noexcept nogil:
        """dtheta_k/dx_k of a block that is no simplex."""
        if self.kind[b] == FREE or self.kind[b] == ORDERED and not self.linked(b, k):
            return 1
        if self.kind[b] == INTERVAL:
            if isinf(self.low[b]):
                return exp(-x)
            if not isinf(self.high[b]):
                return (self.high[b] - self.low[b]) * expit(x) * expit(-x)
        return exp(x)

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t b, k, n
        cdef const double *at
        cdef const double *g
        cdef double *out
        cdef double total
        for b in range(self.kind.shape[0]):
            at, g = x + self.x_at[b], grad_theta + self.at[b]
            out, n = grad_x + self.x_at[b], self.length[b]
            if self.kind[b] == SIMPLEX:
                pull_broken(n, at, g, 1, out)
                continue
            if self.kind[b] == MONOTONE:
                out[0] += pull_broken(n, at + 1, g, at[0], out + 1) + (n - 1) * slope_of_log(at[0])
                continue
            if self.kind[b] == MIRRORED:
                pull_mirrored(n, at, g, out)
                continue
            total = 0
            for k in range(n - 1, -1, -1):
                if self.kind[b] in (ORDERED, POSITIVE_ORDERED) and k % self.stride[b] == 0:
                    total += g[k]                              # of all that are above it
                    out[k] += self.slope(b, k, at[k]) * total
                else:
                    out[k] += self.slope(b, k, at[k]) * g[k]
                if self.kind[b] == INTERVAL:
                    out[k] += (-1 if isinf(self.low[b]) else 1 if isinf(self.high[b])
                               else expit(-at[k]) - expit(at[k]))
                elif self.kind[b] in (POSITIVE, POSITIVE_ORDERED) or self.linked(b, k):
                    out[k] += 1
        return OK

    cdef int pull_sd(self, const double *x, const double *sd_theta, double *sd_x) except -1 nogil:
        if not self.diagonal:
            return Map.pull_sd(self, x, sd_theta, sd_x)
        return self.jvp(x, sd_theta, sd_x)                    # slopes are positive

    def __call__(self, x):
        """theta for points x (..., dim)."""
        cdef double[:, ::1] points = np.array(x, dtype=float, order="C").reshape(-1, self.dim)
        cdef double[:, ::1] out = np.empty((points.shape[0], self.size))
        cdef Py_ssize_t i
        for i in range(points.shape[0]):
            self.forward(&points[i, 0], &out[i, 0], NULL)
        return np.asarray(out).reshape(*np.shape(x)[:np.ndim(x) - 1], self.size)

    def log_jacobian(self, x):
        """log |dtheta/dx| at a point x (dim,)."""
        cdef double[::1] point = np.array(x, dtype=float), theta = np.empty(self.size)
        cdef double total = 0
        self.forward(&point[0], &theta[0], &total)
        return total

    def inverse(self, theta):
        """x for a point theta (size,); ValueError where theta is not inside."""
        cdef Py_ssize_t b, k
        x, given = [], np.asarray(theta, dtype=float)
        for b in range(self.kind.shape[0]):
            part = given[self.at[b]:self.at[b] + self.length[b]]
            with np.errstate(divide="ignore", invalid="ignore"):
                x.append(INVERSES[self.kind[b]](part, self.low[b], self.high[b]))
            if not np.isfinite(x[len(x) - 1]).all():
                raise ValueError(f"{part} is not {self.blocks[b][0]}")
        return np.concatenate(x)

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,), an array (size, dim)."""
        cdef double[::1] point = np.array(x, dtype=float)
        cdef double[::1] unit = np.zeros(self.dim), column = np.empty(self.size)
        cdef Py_ssize_t k
        matrix = np.empty((self.size, self.dim))
        for k in range(self.dim):
            unit[k] = 1
            self.jvp(&point[0], &unit[0], &column[0])
            unit[k] = 0
            matrix[:, k] = column
        return matrix

    def slopes(self, x):
        """dtheta_j/dx_j at a point x (dim,), of diagonal maps."""
        cdef double[::1] point = np.array(x, dtype=float)
        cdef double[::1] ones = np.ones(self.dim), out = np.empty(self.size)
        self.jvp(&point[0], &ones[0], &out[0])
        return np.asarray(out)


cdef double log_size(double total) noexcept nogil:
    """log |total|, smooth where it is zero: log-Jacobians and densities that both have it cancel
    there.
    """
    return 0.5 * log(total * total + LEAST_TOTAL * LEAST_TOTAL)


cdef double slope_of_log(double total) noexcept nogil:
    """The derivative of `log_size`."""
    return total / (total * total + LEAST_TOTAL * LEAST_TOTAL)


cdef double broken(Py_ssize_t n, const double *x, double *theta) noexcept nogil:
    """Shares of a stick that is broken at the left; returns the log-Jacobian."""
    cdef Py_ssize_t k
    cdef double total = 0, left = 0, offset                    # `left`: log of what is left
    for k in range(n - 1):
        offset = log(<double> (n - 1 - k))
        theta[k] = max(exp(left + log_expit(x[k] - offset)), SMALLEST_POSITIVE)
        total += left + log_expit(x[k] - offset)
        left += log_expit(offset - x[k])
        total += log_expit(offset - x[k])
    theta[n - 1] = max(exp(left), SMALLEST_POSITIVE)
    return total


cdef void push_broken(Py_ssize_t n, const double *x, const double *u, double size, double grown,
                      double *out) noexcept nogil:
    """What shares of a stick of such a size change by where x changes by u, and the size has
    `grown`.
    """
    cdef Py_ssize_t k
    cdef double left = size, moved = grown, z, cut
    for k in range(n - 1):
        z = expit(x[k] - log(<double> (n - 1 - k)))
        cut = left * z * (1 - z) * u[k]
        out[k] = moved * z + cut
        moved = moved * (1 - z) - cut
        left *= 1 - z
    out[n - 1] = moved


cdef double pull_broken(Py_ssize_t n, const double *x, const double *g, double size,
                        double *out) noexcept nogil:
    """From the last share of a stick of such a size back, with total = sum over what is left of
    theta_j g_j plus the Jacobian's part; returns the slope by the size.
    """
    cdef Py_ssize_t k
    cdef double left = 0, offset, z, theta, total, own
    for k in range(n - 1):
        left += log_expit(log(<double> (n - 1 - k)) - x[k])
    own = exp(left) * g[n - 1]
    total = size * own
    for k in range(n - 2, -1, -1):
        offset = log(<double> (n - 1 - k))
        z = expit(x[k] - offset)
        left -= log_expit(offset - x[k])                       # the log of what was left before
        theta = exp(left + log_expit(x[k] - offset))
        out[k] += (1 - z) * size * theta * g[k] - z * total + 1 - 2 * z
        total += size * theta * g[k] + 1
        own += theta * g[k]
    return own


cdef double between(double low, double high, double x, double *theta) noexcept nogil:
    """A number between two ends, of which one may be infinite; returns the log of its slope."""
    if isinf(high):
        theta[0] = low + max(exp(x), SMALLEST_POSITIVE)
        return x
    if isinf(low):
        theta[0] = high - max(exp(-x), SMALLEST_POSITIVE)
        return -x
    theta[0] = low + (high - low) * expit(x)
    return log(high - low) + log_expit(x) + log_expit(-x)


cdef double mirror(Py_ssize_t n, const double *x, double *theta) noexcept nogil:
    """Probabilities of log-ratios to the last one; returns the log-Jacobian,
    the sum of their logs.
    """
    cdef Py_ssize_t k
    cdef double top = 0, total, logs = 0
    for k in range(n - 1):
        top = max(top, x[k])
    total = exp(-top)
    for k in range(n - 1):
        total += exp(x[k] - top)
    for k in range(n):
        logs += (x[k] if k < n - 1 else 0) - top - log(total)
        theta[k] = max(exp((x[k] if k < n - 1 else 0) - top) / total, SMALLEST_POSITIVE)
    return logs


cdef void pull_mirrored(Py_ssize_t n, const double *x, const double *g, double *out) noexcept nogil:
    """theta_k (g_k - sum_j theta_j g_j) + 1 - n theta_k, in two passes over the logs of theta."""
    cdef Py_ssize_t k
    cdef double top = 0, total, mean = 0, theta
    for k in range(n - 1):
        top = max(top, x[k])
    total = exp(-top)
    for k in range(n - 1):
        total += exp(x[k] - top)
    for k in range(n):
        mean += exp((x[k] if k < n - 1 else 0) - top) / total * g[k]
    for k in range(n - 1):
        theta = exp(x[k] - top) / total
        out[k] += theta * (g[k] - mean) + 1 - n * theta


def rises(theta, stride):
    """Free numbers of parameters of which every `stride`-th is above the one before."""
    free = theta.copy()
    free[stride::stride] = np.log(np.diff(theta[::stride]))
    return free


def into(theta, low, high):
    """Free numbers of parameters between two ends, of which one may be infinite."""
    above = 0.0 if np.isinf(low) else np.log(theta - low)
    return above - (0.0 if np.isinf(high) else np.log(high - theta))


def log_ratios(theta, low, high):
    """Free numbers of K probabilities, mirrored."""
    last = len(theta) - 1
    return (np.log(theta[:last]) - np.log(theta[last]) if abs(theta.sum() - 1) < 1e-8 and last
            else np.array([np.nan]))


def shares(theta, low, high):
    """Free numbers of K probabilities."""
    if abs(theta.sum() - 1) > 1e-8 or len(theta) < 2:
        return np.array([np.nan])
    last = len(theta) - 1
    left = np.cumsum(theta[::-1])[::-1]
    return np.log(theta[:last]) - np.log(left[1:]) + np.log(np.arange(last, 0, -1))


def signed(theta, low, high):
    """Free numbers of increments of one sign."""
    total = theta.sum()
    return np.append(total, shares(theta / total, low, high))


INVERSES = {FREE: lambda theta, low, high: theta, POSITIVE: lambda theta, low, high: np.log(theta),
            INTERVAL: into, MONOTONE: signed,
            ORDERED: lambda theta, low, high: rises(theta, int(max(low, 1))), SIMPLEX: shares,
            MIRRORED: log_ratios,
            POSITIVE_ORDERED: lambda theta, low, high: np.log(np.diff(theta, prepend=0.0))}
