"""Coefficients whose prior scales are parameters: their density, and a map in which they and their
scales are about independent.

Parameters are theta = (beta, v, g, u): coefficients, logs of local scales, logs of global
parameters, logs of the family's auxiliary parameters.  Given the scales b_j ~ N(0, s_j^2),

    s_j^2 = 1 / (1 / t_j^2 + 1 / slab_j^2),   t_j^2 = (unit_j FLOOR)^2 + exp(2 A_j),
    A_j = log unit_j + share_j g + v_j + noise_j u_1,

with the slab of Piironen & Vehtari (2017, section 2.3; doi:10.1214/17-EJS1337SI).
"""
import numpy as np

from libc.math cimport INFINITY, cosh, exp, fabs, log, log1p, sqrt, tanh
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Map, Prior

LOCAL_KINDS = {"none": NO_LOCAL, "half_cauchy": HALF_CAUCHY, "root_gamma": ROOT_GAMMA}
# least scale of a coefficient, in its unit: no data tell it from zero, and its square is a number
SMALLEST_SHRUNK = 1e-12
cdef double FLOOR = SMALLEST_SHRUNK


cdef class Shrunk:
    """Which coefficients have learned scales, and how these are made.

    Parameters
    ----------
    d, groups, log_params : int
        Coefficients, global parameters, auxiliary parameters.
    where, group : array (k,) of int
        Places of the coefficients, and the global parameter of each.
    local : array (k,) of int
        Values of `LOCAL_KINDS`.
    shape : array (k,)
        a of local variances that are Gamma(a, 1).
    unit, slab : array (k,)
    share, noise : array (k,)
        What of the log of the global parameter, and of u_1, is in that of the scale.
    """

    def __init__(self, Py_ssize_t d, Py_ssize_t groups, Py_ssize_t log_params, *, where, group,
                 local, shape, unit, slab, share, noise):
        self.d, self.groups, self.log_params, self.k = d, groups, log_params, len(where)
        self.where, self.group = np.array(where, dtype=np.intp), np.array(group, dtype=np.intp)
        self.local = np.array(local, dtype=np.intc)
        has = np.asarray(self.local) != NO_LOCAL
        self.locals = has.sum()
        self.own = np.where(has, d + np.cumsum(has) - 1, -1).astype(np.intp)
        self.size = d + self.locals + groups + log_params
        self.shape, self.unit = np.array(shape, dtype=float), np.array(unit, dtype=float)
        self.slab, self.share = np.array(slab, dtype=float), np.array(share, dtype=float)
        self.noise = np.array(noise, dtype=float)

    def replaced(self, d=None, **changes):
        """The same among so many coefficients, or with other numbers."""
        names = "where", "group", "local", "shape", "unit", "slab", "share", "noise"
        own = {name: np.asarray(getattr(self, name)) for name in names}
        d = self.d if d is None else d
        return Shrunk(d, self.groups, self.log_params, **{**own, **changes})

    @property
    def first_group(self):
        """Place of the first global parameter."""
        return self.d + self.locals

    @property
    def has_local(self):
        """Whether each of the k coefficients has a local scale."""
        return np.asarray(self.own) >= 0

    cdef double variance(self, const double *theta, Py_ssize_t j, double *slope) noexcept nogil:
        """s_j^2, and d log s_j / d A_j."""
        cdef Py_ssize_t g = self.d + self.locals
        cdef double a = self.share[j] * theta[g + self.group[j]], wide, own, total
        if self.own[j] >= 0:
            a += theta[self.own[j]]
        if self.log_params:
            a += self.noise[j] * theta[g + self.groups]
        own = exp(2 * a)
        wide = own + FLOOR * FLOOR
        total = 1 / (wide * self.unit[j] * self.unit[j]) + 1 / (self.slab[j] * self.slab[j])
        slope[0] = own / wide / (wide * self.unit[j] * self.unit[j] * total)
        return 1 / total

    cdef void spread(self, Py_ssize_t j, double by_scale, double *grad) noexcept nogil:
        """Add what a slope by A_j is to those by the parameters in it."""
        cdef Py_ssize_t g = self.d + self.locals
        grad[g + self.group[j]] += self.share[j] * by_scale
        if self.own[j] >= 0:
            grad[self.own[j]] += by_scale
        if self.log_params:
            grad[g + self.groups] += self.noise[j] * by_scale

    cdef double along(self, Py_ssize_t j, const double *v_theta) noexcept nogil:
        """What A_j changes by where the parameters change by v_theta."""
        cdef Py_ssize_t g = self.d + self.locals
        cdef double a = self.share[j] * v_theta[g + self.group[j]]
        if self.own[j] >= 0:
            a += v_theta[self.own[j]]
        if self.log_params:
            a += self.noise[j] * v_theta[g + self.groups]
        return a

    def variances(self, theta):
        """s_j^2 at a point theta (size,), and d log s_j / d A_j: arrays (k,)."""
        cdef double[::1] point = np.array(theta, dtype=float)
        cdef double[::1] out = np.empty(self.k), slope = np.empty(self.k)
        cdef Py_ssize_t j
        for j in range(self.k):
            out[j] = self.variance(&point[0], j, &slope[j])
        return np.asarray(out), np.asarray(slope)


cdef class ShrunkPrior(Prior):
    """N(0, s_j^2) for coefficients with learned scales, densities of their local scales, and for
    all else, global parameters included, a prior of its own.

    Parameters
    ----------
    shrunk : Shrunk
    fixed : Prior
        Of theta, flat where this one speaks.
    """

    cdef readonly Shrunk shrunk
    cdef readonly Prior fixed

    def __init__(self, Shrunk shrunk, Prior fixed):
        Prior.__init__(self, shrunk.size)
        if fixed.dim != shrunk.size:
            raise ValueError("priors of different lengths")
        self.shrunk, self.fixed = shrunk, fixed

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j
        cdef double b, variance, slope, v
        self.fixed.add(theta, value, grad)
        for j in range(self.shrunk.k):
            b, variance = theta[self.shrunk.where[j]], self.shrunk.variance(theta, j, &slope)
            if value != NULL:
                value[0] -= 0.5 * (b * b / variance + log(variance))
            if grad != NULL:
                grad[self.shrunk.where[j]] -= b / variance
                self.shrunk.spread(j, (b * b / variance - 1) * slope, grad)
            if self.shrunk.own[j] < 0:
                continue
            v = theta[self.shrunk.own[j]]
            if self.shrunk.local[j] == HALF_CAUCHY:
                if value != NULL:
                    value[0] -= fabs(v) + log1p(exp(-2 * fabs(v)))
                if grad != NULL:
                    grad[self.shrunk.own[j]] -= tanh(v)
            else:
                if value != NULL:
                    value[0] += 2 * self.shrunk.shape[j] * v - exp(2 * v)
                if grad != NULL:
                    grad[self.shrunk.own[j]] += 2 * (self.shrunk.shape[j] - exp(2 * v))
        return OK


cdef class ShrunkMap(Map):
    """(v', g, z, w) to (beta, v, g, u), for a likelihood that leaves N(place_j, h_j) to each of the
    coefficients with learned scales, h_j = cavity_j exp(2 p (u_1 - c_1)).

    v_j = v'_j - turn_j (g - centre); u = c + width w; with zeta = C z and r_j = s_j^2 / (s_j^2 +
    h_j) the coefficients are b_j = place_j r_j + sqrt(r_j h_j) zeta_j, as they are under prior and
    likelihood if zeta is standard normal.  The others are those that the likelihood expects at
    these, and exp(p (u_1 - c_1)) L z.

    Parameters
    ----------
    shrunk : Shrunk
    place, cavity : array (k,)
    root : array (k, k) or None
        C, lower triangular; None: the identity.
    turn : array (locals,)
    centre : array (groups,)
    rest : array (d - k,) of int
    expected : array (d - k,)
        At the places.
    slope : array (d - k, k)
        What they change with the coefficients at `where`.
    own : array (d - k, d - k)
        L.
    auxiliary : array (logs, 2)
        c and width.
    power : float
        p.
    """

    cdef readonly Shrunk shrunk
    cdef readonly double[::1] place, cavity, turn, centre, expected
    cdef readonly double[:, ::1] root, slope, own, auxiliary
    cdef readonly Py_ssize_t[::1] rest
    cdef readonly double power
    cdef readonly bint rooted
    cdef double log_scale

    def __init__(self, Shrunk shrunk, *, place, cavity, root, turn, centre, rest, expected, slope,
                 own, auxiliary, double power):
        self.shrunk, self.dim, self.size, self.power = shrunk, shrunk.size, shrunk.size, power
        self.place, self.cavity = np.array(place, dtype=float), np.array(cavity, dtype=float)
        self.turn, self.centre = np.array(turn, dtype=float), np.array(centre, dtype=float)
        self.rest, self.expected = np.array(rest, dtype=np.intp), np.array(expected, dtype=float)
        self.rooted, self.slope = root is not None, np.array(slope, order="C")
        self.root = np.array(root, order="C") if self.rooted else np.ones((1, 1))
        self.own, self.auxiliary = np.array(own, order="C"), np.array(auxiliary, order="C")
        self.log_scale = np.log(np.diag(self.root)).sum() + np.log(self.auxiliary[:, 1]).sum()
        if len(rest):
            self.log_scale += np.linalg.slogdet(own)[1]

    def inverse(self, theta):
        """x for points theta (..., size)."""
        of, points = self.shrunk, np.reshape(np.asarray(theta, dtype=float), (-1, self.size))
        x, m, n, k = np.empty_like(points), of.locals, of.locals + of.groups, of.k
        if not self.rooted and len(self.rest) < 2:
            for one, out in zip(points, x):
                self.back(one, out)
            return x.reshape(np.shape(theta))
        g, u = points[:, of.first_group:][:, :of.groups], points[:, self.size - of.log_params:]
        group = np.asarray(of.group)[of.has_local]
        x[:, :m] = points[:, of.d:of.d + m]
        x[:, :m] += np.asarray(self.turn) * (g - np.asarray(self.centre))[:, group]
        x[:, m:n] = g
        x[:, n + of.d:] = (u - np.asarray(self.auxiliary)[:, 0]) / np.asarray(self.auxiliary)[:, 1]
        wide = np.zeros((len(points), 1))
        if of.log_params:
            wide = self.power * (u[:, :1] - self.auxiliary[0, 0])
        variance = np.array([of.variances(one)[0] for one in points]).reshape(-1, k)
        h = np.asarray(self.cavity) * np.exp(2 * wide)
        r, b = variance / (variance + h), points[:, np.asarray(of.where)]
        zeta = (b - np.asarray(self.place) * r) / np.sqrt(r * h)
        x[:, n:n + k] = np.linalg.solve(np.asarray(self.root), zeta.T).T if self.rooted else zeta
        away = points[:, np.asarray(self.rest)] - np.asarray(self.expected)
        away -= (b - np.asarray(self.place)) @ np.asarray(self.slope).T
        x[:, n + k:n + of.d] = np.linalg.solve(np.asarray(self.own), away.T).T / np.exp(wide)
        return x.reshape(np.shape(theta))

    cdef void back(self, const double[::1] theta, double[::1] x) noexcept:
        """`inverse` of a point, without a root, and with one other coefficient at most."""
        cdef Py_ssize_t j, l, d = self.shrunk.d, m = self.shrunk.locals, first = d + m
        cdef Py_ssize_t n = m + self.shrunk.groups, k = self.shrunk.k, logs = self.shrunk.log_params
        cdef double wide = self.log_wide(&theta[0]), spread = exp(2 * wide), away = 0
        cdef double variance, h, r, b, slope
        for j in range(self.shrunk.groups):
            x[m + j] = theta[first + j]
        for j in range(logs):
            l = self.size - logs + j
            x[l] = (theta[l] - self.auxiliary[j, 0]) / self.auxiliary[j, 1]
        for j in range(k):
            if self.shrunk.own[j] >= 0:
                l, b = self.shrunk.own[j] - d, theta[first + self.shrunk.group[j]]
                x[l] = theta[d + l] + self.turn[l] * (b - self.centre[self.shrunk.group[j]])
            variance, h = self.shrunk.variance(&theta[0], j, &slope), self.cavity[j] * spread
            r, b = variance / (variance + h), theta[self.shrunk.where[j]]
            x[n + j] = (b - self.place[j] * r) / sqrt(r * h)
            for l in range(self.rest.shape[0]):
                away += self.slope[l, j] * (b - self.place[j])
        for l in range(self.rest.shape[0]):
            away = theta[self.rest[l]] - self.expected[l] - away
            x[n + k + l] = away / self.own[l, l] / exp(wide)

    cdef double log_wide(self, const double *theta) noexcept nogil:
        """p (u_1 - c_1)."""
        if not self.shrunk.log_params:
            return 0
        return self.power * (theta[self.size - self.shrunk.log_params] - self.auxiliary[0, 0])

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t j, l, m = self.shrunk.locals, n = m + self.shrunk.groups
        cdef Py_ssize_t d = self.shrunk.d, k = self.shrunk.k, q = d - k
        cdef const double *z = x + n
        cdef double wide, variance, h, r, zeta, slope, away, total = 0
        for j in range(self.shrunk.groups):
            theta[d + m + j] = x[m + j]
        for j in range(self.shrunk.log_params):
            theta[d + n + j] = self.auxiliary[j, 0] + self.auxiliary[j, 1] * z[d + j]
        for j in range(k):
            if self.shrunk.own[j] >= 0:
                l = self.shrunk.own[j] - d
                theta[self.shrunk.own[j]] = x[l] - self.turn[l] * (x[m + self.shrunk.group[j]]
                                                          - self.centre[self.shrunk.group[j]])
        wide = self.log_wide(theta)
        for j in range(k):
            zeta = 0 if self.rooted else z[j]
            for l in range(j + 1 if self.rooted else 0):
                zeta += self.root[j, l] * z[l]
            variance, h = self.shrunk.variance(theta, j, &slope), self.cavity[j] * exp(2 * wide)
            r = variance / (variance + h) if variance < INFINITY else 1.0
            theta[self.shrunk.where[j]] = self.place[j] * r + sqrt(r * h) * zeta
            if log_jacobian != NULL:
                total += 0.5 * log(r * h)
        for j in range(q):
            theta[self.rest[j]] = self.expected[j]
            for l in range(k):
                away = theta[self.shrunk.where[l]] - self.place[l]
                theta[self.rest[j]] += self.slope[j, l] * away
            for l in range(q):
                theta[self.rest[j]] += exp(wide) * self.own[j, l] * z[k + l]
        if log_jacobian != NULL:
            log_jacobian[0] += self.log_scale + total + q * wide
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef double *theta = <double *> calloc(self.size, sizeof(double))
        if theta == NULL:
            with gil:
                raise MemoryError
        try:
            self.forward(x, theta, NULL)
            self.push_from(x, theta, v, v_theta)
        finally:
            free(theta)
        return OK

    cdef void push_from(self, const double *x, const double *theta, const double *v,
                        double *v_theta) noexcept nogil:
        """Chain forwards, in the order of `forward`."""
        cdef Py_ssize_t j, l, m = self.shrunk.locals, n = m + self.shrunk.groups
        cdef Py_ssize_t d = self.shrunk.d, k = self.shrunk.k, q = d - k
        cdef const double *z = x + n
        cdef const double *v_z = v + n
        cdef double wide = self.log_wide(theta), by_wide = 0, by_ratio
        cdef double variance, h, r, slope, noise, v_zeta
        for j in range(self.shrunk.groups):
            v_theta[d + m + j] = v[m + j]
        for j in range(self.shrunk.log_params):
            v_theta[d + n + j] = self.auxiliary[j, 1] * v_z[d + j]
        if self.shrunk.log_params:
            by_wide = self.power * v_theta[self.size - self.shrunk.log_params]
        for j in range(k):
            if self.shrunk.own[j] >= 0:
                l = self.shrunk.own[j] - d
                v_theta[self.shrunk.own[j]] = v[l] - self.turn[l] * v[m + self.shrunk.group[j]]
        for j in range(k):
            v_zeta = 0 if self.rooted else v_z[j]
            for l in range(j + 1 if self.rooted else 0):
                v_zeta += self.root[j, l] * v_z[l]
            variance, h = self.shrunk.variance(theta, j, &slope), self.cavity[j] * exp(2 * wide)
            r = variance / (variance + h)
            noise = theta[self.shrunk.where[j]] - self.place[j] * r
            # of log r
            by_ratio = 2 * (1 - r) * (slope * self.shrunk.along(j, v_theta) - by_wide)
            v_theta[self.shrunk.where[j]] = (self.place[j] * r * by_ratio + sqrt(r * h) * v_zeta
                                             + noise * (0.5 * by_ratio + by_wide))
        for j in range(q):
            v_theta[self.rest[j]] = 0
            for l in range(k):
                v_theta[self.rest[j]] += self.slope[j, l] * v_theta[self.shrunk.where[l]]
            for l in range(q):
                v_theta[self.rest[j]] += (exp(wide) * self.own[j, l]
                                          * (v_z[k + l] + by_wide * z[k + l]))

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef double *theta = <double *> calloc(3 * self.size, sizeof(double))
        if theta == NULL:
            with gil:
                raise MemoryError
        try:
            self.forward(x, theta, NULL)
            memcpy(theta + self.size, grad_theta, self.size * sizeof(double))
            self.pull_from(x, theta, theta + self.size, theta + 2 * self.size, grad_x)
        finally:
            free(theta)
        return OK

    cdef void pull_from(self, const double *x, const double *theta, double *grad, double *by_zeta,
                        double *grad_x) noexcept nogil:
        """Chain backwards: the other coefficients, those at `where`, scales, and what these are
        made of; `grad` is changed on the way.
        """
        cdef Py_ssize_t j, l, m = self.shrunk.locals, n = m + self.shrunk.groups
        cdef Py_ssize_t d = self.shrunk.d, k = self.shrunk.k, q = d - k
        cdef const double *z = x + n
        cdef double *grad_z = grad_x + n
        cdef double wide = self.log_wide(theta), by_wide = q, by_scale
        cdef double variance, h, r, slope, b, noise, one
        for j in range(q):
            one = grad[self.rest[j]]
            for l in range(k):
                grad[self.shrunk.where[l]] += self.slope[j, l] * one
            for l in range(q):
                grad_z[k + l] += exp(wide) * self.own[j, l] * one
                by_wide += exp(wide) * self.own[j, l] * one * z[k + l]
        for j in range(k):
            variance, h = self.shrunk.variance(theta, j, &slope), self.cavity[j] * exp(2 * wide)
            r, b = variance / (variance + h), theta[self.shrunk.where[j]]
            noise, one = b - self.place[j] * r, grad[self.shrunk.where[j]]
            by_zeta[j] = one * sqrt(r * h)
            # by log s_j^2 and by log h_j
            by_scale = slope * (1 - r) * (one * (2 * self.place[j] * r + noise) + 1)
            self.shrunk.spread(j, by_scale, grad)
            by_wide += 2 * r * (one * (0.5 * noise - self.place[j] * (1 - r)) + 0.5)
        if self.shrunk.log_params:
            grad[self.size - self.shrunk.log_params] += self.power * by_wide
        for j in range(k):
            if not self.rooted:
                grad_z[j] += by_zeta[j]
            for l in range(j + 1 if self.rooted else 0):
                grad_z[l] += self.root[j, l] * by_zeta[j]
            if self.shrunk.own[j] >= 0:
                l = self.shrunk.own[j] - d
                grad_x[l] += grad[self.shrunk.own[j]]
                grad_x[m + self.shrunk.group[j]] -= self.turn[l] * grad[self.shrunk.own[j]]
        for j in range(self.shrunk.groups):
            grad_x[m + j] += grad[d + m + j]
        for j in range(self.shrunk.log_params):
            grad_z[d + j] += self.auxiliary[j, 1] * grad[d + n + j]
