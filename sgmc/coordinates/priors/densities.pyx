"""Prior densities: independent families on natural parameters,
and their forms in whitened coordinates.
"""
import numpy as np

from libc.math cimport copysign, cosh, exp, fabs, log, log1p, sinh, tanh
from libc.string cimport memset

from sgmc.coordinates.transforms.constraints cimport log_size, slope_of_log
from sgmc.coordinates.transforms.stack cimport MAX_STACKED
from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK, Map, Prior
from sgmc.core.targets.ridges import Ridges
from sgmc.errors import NotSupported

cdef enum:
    FLAT = 0
    NORMAL = 1
    STUDENT_T = 2
    LAPLACE = 3
    GAMMA = 4
    HORSESHOE = 5
    DIRICHLET = 6
    INVERSE_GAMMA = 7
    LKJ = 8
    LOGNORMAL = 9

# a uniform density is constant where coordinates let parameters be
FAMILIES = {"flat": FLAT, "uniform": FLAT, "normal": NORMAL, "student_t": STUDENT_T,
            "laplace": LAPLACE, "gamma": GAMMA,
            "horseshoe": HORSESHOE, "dirichlet": DIRICHLET, "inverse_gamma": INVERSE_GAMMA,
            "lkj": LKJ, "lognormal": LOGNORMAL}
LONGEST_PULLED = MAX_STACKED      # parameters of a pulled prior
cdef double EULER = 0.5772156649015329
cdef double SERIES_END = 1.0            # the series of E1 below, its continued fraction above
cdef double SMALLEST_POSITIVE = limits.SMALLEST_POSITIVE


cdef double integral(double z, double *weight) noexcept nogil:
    """log K, K = exp(z) E1(z), and weight = -d log K / dz = 1/(z K) - 1, for z > 0.

    Above SERIES_END K = 1/(z + c) with c a continued fraction (Abramowitz & Stegun 1964, 5.1.22,
    even part), so that weight = c/z has no cancellation; below, E1 is -gamma - log z -
    sum_k (-z)^k / (k k!) (their 5.1.11).
    """
    cdef double total = 0, term = 1
    cdef Py_ssize_t k
    z = max(z, SMALLEST_POSITIVE)
    if z > SERIES_END:
        for k in range(<Py_ssize_t> min(100 / z, 100.0) + 3, 0, -1):
            total = k * k / (z + 2 * k + 1 - total)
        weight[0] = (1 - total) / z
        return -log(z + 1 - total)
    for k in range(1, 25):
        term *= -z / k
        total += term / k
    total = exp(z) * (-EULER - log(z) - total)
    weight[0] = 1 / (z * total) - 1
    return log(total)


def exponential_integral(z):
    """log(exp(z) E1(z)) and minus its derivative at z > 0, elementwise: the horseshoe's log density
    at z = b^2 / (2 scale^2).
    """
    value, weight = np.array(z, dtype=float), np.empty(np.shape(z))
    cdef double[::1] flat = value.reshape(-1), slope = weight.reshape(-1)
    cdef Py_ssize_t i
    for i in range(flat.shape[0]):
        flat[i] = integral(flat[i], &slope[i])
    return value, weight


cdef class Separable(Prior):
    """Independent priors on theta_j, but for pivots that may be linear functions of the
    coefficients of their equation.

    The pivots serve the intercepts: their prior may speak of theta_p + c . theta, the intercept at
    centred predictors.  The last parameters may be logs: their priors then are densities of
    exp(theta_j), and the Jacobian exp(theta_j) belongs to them.

    Parameters
    ----------
    family : array (dim,) of int
        Values of `FAMILIES`.
    location, scale, df : array (dim,)
        df is the shape of a gamma or inverse gamma density, of a lognormal one, whose median is
        the scale, the sd of the log, of a horseshoe the sd of its slab over
        its scale, and of the inverse hyperbolic tangent of a correlation b in (1 - rho^2)^(b - 1).
    pivots : array of int
        Indices p.
    shift : array (d,), or (pivots, d)
        c, for equations of d coefficients one after the other, the same for all pivots or a row
        for each; its entry at the pivot is zero.
    log_params : int, or array (dim,) of bool
        Number of logs; or which are logs, where other numbers stand between them.
    bent : array (dim,), optional
        c where theta_j = arsinh(b / c) of the number b that the prior is of, 0 elsewhere.
    """

    cdef readonly int[::1] family
    cdef readonly double[::1] location, scale, df, bent
    cdef readonly double[:, ::1] shift    # a row for each pivot, or one for all
    cdef readonly Py_ssize_t[::1] row     # of a parameter in shift; -1 of those that are no pivots
    cdef readonly int[::1] logged

    def __init__(self, family, location, scale, df, pivots=(), shift=None, log_params=0, bent=None):
        Prior.__init__(self, len(family))
        self.family = np.array(family, dtype=np.intc)
        self.location, self.scale = np.array(location, dtype=float), np.array(scale, dtype=float)
        self.df = np.array(df, dtype=float)
        if np.ndim(log_params) == 0:
            log_params = np.arange(self.dim) >= self.dim - log_params
        self.logged = np.array(log_params, dtype=np.intc)
        shift = np.zeros(self.dim) if shift is None else np.array(shift, dtype=float)
        self.shift = np.atleast_2d(shift)
        row = np.full(self.dim, -1, dtype=np.intp)
        row[list(pivots)] = np.arange(len(pivots)) if self.shift.shape[0] > 1 else 0
        self.row = row
        self.bent = np.zeros(self.dim) if bent is None else np.array(bent, dtype=float)

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j, k, first = 0, d = self.shift.shape[1]
        cdef const double *shift = NULL
        cdef double e, slope, unit
        for j in range(self.dim):
            unit = 1
            if self.logged[j]:
                unit = exp(theta[j])
                if value != NULL:
                    value[0] += theta[j]
                if grad != NULL:
                    grad[j] += 1
            if self.bent[j] > 0:
                unit = self.bent[j] * cosh(theta[j])
                if value != NULL:
                    value[0] += log(cosh(theta[j]))
                if grad != NULL:
                    grad[j] += tanh(theta[j])
            if self.family[j] == FLAT:
                continue
            e = (unit if self.logged[j] else theta[j]) - self.location[j]
            if self.bent[j] > 0:
                e = self.bent[j] * sinh(theta[j]) - self.location[j]
            if self.row[j] >= 0:
                first, shift = j - j % d, &self.shift[self.row[j], 0]
                for k in range(d):
                    e += shift[k] * theta[first + k]
            slope = unit * self.slope(j, e / self.scale[j], value) / self.scale[j]
            if grad == NULL:
                continue
            grad[j] += slope
            if self.row[j] >= 0:
                for k in range(d):
                    grad[first + k] += shift[k] * slope
        return OK

    def ridges(self):
        # the curvature of a Student-t density is at most (nu + 1) / (nu scale^2), in its centre
        family, scale = np.asarray(self.family), np.asarray(self.scale)
        nu, d, shift = np.asarray(self.df), self.shift.shape[1], np.asarray(self.shift)
        if (np.any(self.logged) or np.any(self.bent) or (family == HORSESHOE).any()
            or np.isin(family, (GAMMA, INVERSE_GAMMA, LKJ, LOGNORMAL)).any()):
            raise NotSupported("a prior whose log density has no bounded slope or curvature, such "
                               "as a horseshoe with its pole at zero", because="mathematics")
        directions = np.eye(self.dim)
        for p in np.flatnonzero(np.asarray(self.row) >= 0):
            directions[p, p - p % d:p - p % d + d] += shift[self.row[p]]
        peak = np.where(family == NORMAL, 1.0, np.where(family == STUDENT_T, (nu + 1) / nu, 0.0))
        return Ridges(directions, peak / scale ** 2, family != STUDENT_T,
                      (family == LAPLACE) / scale)

    cdef double slope(self, Py_ssize_t j, double e, double *value) noexcept nogil:
        """d log p / de of the j-th family at the standardised residual e;
        its log density is added to value.
        """
        cdef double nu = self.df[j], log_value, weight
        if self.family[j] == NORMAL:
            if value != NULL:
                value[0] -= 0.5 * e * e
            return -e
        if self.family[j] == STUDENT_T:
            if value != NULL:
                value[0] -= 0.5 * (nu + 1) * log1p(e * e / nu)
            return -(nu + 1) * e / (nu + e * e)
        if self.family[j] == GAMMA:
            if value != NULL:
                value[0] += (nu - 1) * log(e) - e
            return (nu - 1) / e - 1
        if self.family[j] == DIRICHLET:
            if value != NULL:
                value[0] += (nu - 1) * log(e)
            return (nu - 1) / e
        if self.family[j] == INVERSE_GAMMA:
            if value != NULL:
                value[0] -= (nu + 1) * log(e) + 1 / e
            return (1 / e - nu - 1) / e
        if self.family[j] == LOGNORMAL:
            log_value = log(e) / nu
            if value != NULL:
                value[0] -= 0.5 * log_value * log_value + log(e)
            return -(log_value / nu + 1) / e
        if self.family[j] == LKJ:             # e = atanh of a partial correlation; 1 / cosh(e)^2 nu
            if value != NULL:
                value[0] -= 2 * nu * (fabs(e) + log1p(exp(-2 * fabs(e))))
            return -2 * nu * tanh(e)
        if self.family[j] == HORSESHOE:
            log_value = integral(0.5 * e * e, &weight)
            if value != NULL:
                value[0] += log_value - 0.5 * (e / nu) ** 2
            return 0 if e == 0 else -e * (weight + 1 / (nu * nu))
        if value != NULL:
            value[0] -= fabs(e)
        return 0 if e == 0 else -copysign(1, e)


cdef class Correlated(Prior):
    """A prior, and a normal one of some parameters together on top of it: log p = inner - e'P e / 2
    with e = theta[places] - location.

    Parameters
    ----------
    inner : Prior
    places : array (k,) of int
    location : array (k,)
    precision : array (k, k)
        P.
    """

    cdef readonly Prior inner
    cdef readonly Py_ssize_t[::1] places
    cdef readonly double[::1] location
    cdef readonly double[:, ::1] precision

    def __init__(self, Prior inner, places, location, precision):
        Prior.__init__(self, inner.dim)
        self.inner, self.places = inner, np.array(places, dtype=np.intp)
        self.location = np.array(location, dtype=float)
        self.precision = np.array(precision, dtype=float, order="C")

    def ridges(self):
        # along the axes of the precision
        inner, (weights, axes) = self.inner.ridges(), np.linalg.eigh(self.precision)
        directions = np.zeros((len(weights), self.dim))
        directions[:, np.asarray(self.places)] = axes.T
        more = directions, weights, np.ones(len(weights), dtype=bool), np.zeros(len(weights))
        return Ridges(*(np.concatenate(pair) for pair in zip(inner, more)))

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t i, j, k = self.places.shape[0]
        cdef double pull, e
        self.inner.add(theta, value, grad)
        for i in range(k):
            pull = 0
            for j in range(k):
                pull += self.precision[i, j] * (theta[self.places[j]] - self.location[j])
            e = theta[self.places[i]] - self.location[i]
            if value != NULL:
                value[0] -= 0.5 * e * pull
            if grad != NULL:
                grad[self.places[i]] -= pull
        return OK


cdef class Increments(Prior):
    """A prior, and one of increments of one sign on top of it: log p = inner + log p(b) - (D - 1)
    log |b| with b = c_1 + ... + c_D, which is that of c = b z for z ~ Dirichlet(1) (Bürkner &
    Charpentier 2020, doi:10.1111/bmsp.12195).

    Parameters
    ----------
    inner : Prior
    places : array (D,) of int
        Of c.
    total : Prior
        Of b, one number.
    """

    cdef readonly Prior inner, total
    cdef readonly Py_ssize_t[::1] places

    def __init__(self, Prior inner, places, Prior total):
        Prior.__init__(self, inner.dim)
        self.inner, self.total, self.places = inner, total, np.array(places, dtype=np.intp)

    def ridges(self):
        raise NotSupported("a prior of increments of one sign, with a pole where all are zero",
                           because="mathematics")

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j, k = self.places.shape[0]
        cdef double b = 0, slope = 0
        self.inner.add(theta, value, grad)
        for j in range(k):
            b += theta[self.places[j]]
        self.total.add(&b, value, &slope if grad != NULL else NULL)
        if value != NULL:
            value[0] -= (k - 1) * log_size(b)
        if grad != NULL:
            slope -= (k - 1) * slope_of_log(b)
            for j in range(k):
                grad[self.places[j]] += slope
        return OK


cdef class Quadratic(Prior):
    """A Gaussian prior in coordinates where its precision is diagonal: log p = -sum_j (lambda_j
    x_j^2 / 2 + b_j x_j).

    Parameters
    ----------
    precision, slope : array (dim,)
        lambda and b.
    """

    cdef readonly double[::1] precision, slope

    def __init__(self, precision, slope):
        Prior.__init__(self, len(precision))
        self.precision, self.slope = np.array(precision, dtype=float), np.array(slope, dtype=float)

    def ridges(self):
        return Ridges(np.eye(self.dim), np.array(self.precision), np.ones(self.dim, dtype=bool),
                      np.zeros(self.dim))

    cdef int add(self, const double *x, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j
        if value != NULL:
            for j in range(self.dim):
                value[0] -= x[j] * (0.5 * self.precision[j] * x[j] + self.slope[j])
        if grad != NULL:
            for j in range(self.dim):
                grad[j] -= self.precision[j] * x[j] + self.slope[j]
        return OK


cdef class Pulled(Prior):
    """A prior on theta = map(x), as a function of x; the Jacobian is left to whoever needs it.

    Chains share a prior, so nothing is stored: theta and its gradient live on the stack of `add`,
    hence at most `MAX_STACKED` parameters.
    """

    cdef readonly Prior inner
    cdef readonly Map map

    def __init__(self, Prior inner, Map map):
        Prior.__init__(self, map.dim)
        if inner.dim != map.size:
            raise ValueError("prior and map differ in length")
        if inner.dim > MAX_STACKED:
            raise ValueError(f"at most {MAX_STACKED} parameters")
        self.inner, self.map = inner, map

    def ridges(self):
        # for maps that are affine
        if not self.map.affine:
            raise NotSupported("a prior seen through a map that bends straight lines",
                               because="mathematics")
        inner = self.inner.ridges()
        return inner._replace(directions=inner.directions @ self.map.jacobian(None))

    cdef int add(self, const double *x, double *value, double *grad) except -1 nogil:
        cdef double[MAX_STACKED] theta
        cdef double[MAX_STACKED] slope
        memset(slope, 0, self.inner.dim * sizeof(double))
        self.map.forward(x, theta, NULL)
        self.inner.add(theta, value, slope if grad != NULL else NULL)
        return self.map.vjp(x, slope, grad) if grad != NULL else OK
