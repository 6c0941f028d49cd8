"""Linear regression with Student-t errors, which outlying outcomes move little."""
import numpy as np

from libc.math cimport exp, log1p

from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK, Design
from sgmc.models.regression.bases.functions.binet cimport Binet, binet
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.dispersed import rounding_of
from sgmc.models.regression.bases.family import Auxiliary, Continuous
from sgmc.models.regression.bases.known import known_value, with_known
from sgmc.models.regression.distributional import DistributionalRegression
from sgmc.models.regression.model import Regression
from sgmc.priors import exponential, gamma

cdef double HALF_LOG_2PI = limits.HALF_LOG_2PI

cdef struct Tail:  # log Gamma((nu + 1) / 2) / Gamma(nu / 2) - log(pi nu) / 2 and derivatives in nu
    double value, slope, curvature


cdef Tail tail(double nu) noexcept nogil:
    """By Binet's J: x log(1 + 1/(2 x)) - 1/2 + J(x + 1/2) - J(x) - log(2 pi) / 2, x = nu / 2."""
    cdef Tail c
    cdef double x = 0.5 * nu
    cdef Binet low = binet(x), high = binet(x + 0.5)
    c.value = x * log1p(0.5 / x) - 0.5 + (high.value - low.value) - HALF_LOG_2PI
    c.slope = 0.5 * (log1p(0.5 / x) - 1 / (nu + 1) + (high.slope - low.slope))
    c.curvature = 0.25 * (high.curvature - low.curvature - 1 / (x * (nu + 1) * (nu + 1)))
    return c


cdef class StudentT(Dispersed):
    """y_i ~ eta_i + sigma t(nu), u = log sigma; nu known, the density without its constant.

    With z = (y_i - eta_i) / sigma, w = (nu + 1) / (nu + z^2) and b = w (nu - z^2) / (nu + z^2), for
    the first two coordinates

        log p = -u - (nu + 1)/2 log(1 + z^2 / nu),    scores (w z / sigma, w z^2 - 1),

    curvatures (b / sigma^2, (b + w) z / sigma; (b + w) z / sigma, (b + w) z^2), expected
    ((nu + 1) / sigma^2, 0; 0, 2 nu) / (nu + 3) (Lange, Little & Taylor 1989, JASA 84).
    """

    cdef readonly double df

    def __init__(self, Design X, y, offset=None, weight=None, double df=4.0,
                 Py_ssize_t auxiliary=1):
        Dispersed.__init__(self, X, y, offset, weight, auxiliary)
        self.df, self.rounding = df, rounding_of(y, offset)

    def units(self, theta):
        """sigma, and 1 for logs."""
        return np.append(np.exp(theta[self.X.d]), np.ones(self.width - 1))

    def bounds_of_known(self, auxiliary):
        """(nu + 1) / (2 sigma sqrt(nu)) at z^2 = nu; (nu + 1) / (nu sigma^2) at z = 0."""
        sigma, freedom = auxiliary[0], self.df + 1
        return freedom / (2 * sigma * np.sqrt(self.df)), freedom / (self.df * sigma ** 2)

    def third_of_known(self, auxiliary):
        """(nu + 1) / (sqrt(nu) sigma)^3 times 2 u (3 - u^2) / (1 + u^2)^3 at u = z / sqrt(nu) =
        sqrt(2) - 1.
        """
        u = 2 ** 0.5 - 1
        return ((self.df + 1) / (self.df ** 0.5 * auxiliary[0]) ** 3
                * 2 * u * (3 - u * u) / (1 + u * u) ** 3)

    cdef double degrees(self, const double *theta) noexcept nogil:
        return self.df

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, k = self.width
        cdef double u = theta[self.X.d], s = exp(-u), nu = self.degrees(theta), z, w
        for i in range(m):
            z = s * (y[i] - eta[i])
            w = (nu + 1) / (nu + z * z)
            r[k * i] = s * w * z
            r[k * i + 1] = w * z * z - 1
            if density != NULL:
                density[i] = -u - 0.5 * (nu + 1) * log1p(z * z / nu)
        return self.rounded(theta, m, r, density)

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width
        cdef double *row
        cdef double s = exp(-theta[self.X.d]), nu = self.degrees(theta), z, v, p
        for i in range(m):
            row = w + k * k * i
            z = s * (y[i] - eta[i])
            v = 1 / (nu + z * z)
            p = 2 * nu * (nu + 1) * v * v
            row[0] = s * s * (nu + 1) * v * (2 * nu * v - 1)
            row[1] = row[k] = s * p * z
            row[k + 1] = p * z * z
        return self.rounded_information(theta, m, w)

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width
        cdef double *row
        cdef double s = exp(-theta[self.X.d]), nu = self.degrees(theta)
        for i in range(m):
            row = w + k * k * i
            row[0] = s * s * (nu + 1) / (nu + 3)
            row[1] = row[k] = 0
            row[k + 1] = 2 * nu / (nu + 3)
        return OK


cdef class StudentTLearned(StudentT):
    """The same with v = log nu the second auxiliary parameter.

    With c(nu) = log Gamma((nu + 1) / 2) / Gamma(nu / 2) - log(pi nu) / 2, l = log(1 + z^2 / nu) and
    f = (z^2 - 1) / (nu + z^2)^2,

        log p = c - u - (nu + 1)/2 l,    score of v: nu c' - nu l / 2 + w z^2 / 2,

    its curvatures with eta, u and itself -nu f z / sigma, -nu f z^2 and -nu (c' + nu c'' + (z^2 /
    (nu + z^2) - l + f z^2) / 2), expected 0, -2 nu / ((nu + 1) (nu + 3)) and -nu^2 c'' + (3 - nu) /
    (2 (nu + 1) (nu + 3)).
    """

    def __init__(self, Design X, y, offset=None, weight=None):
        StudentT.__init__(self, X, y, offset, weight, 0.0, 2)

    cdef double degrees(self, const double *theta) noexcept nogil:
        return exp(theta[self.X.d + 1])

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double s = exp(-theta[self.X.d]), nu = self.degrees(theta), z
        cdef Tail c = tail(nu)
        StudentT.family(self, theta, m, eta, y, r, density)
        for i in range(m):
            z = s * (y[i] - eta[i])
            r[3 * i + 2] = (nu * c.slope - 0.5 * nu * log1p(z * z / nu)
                            + 0.5 * (nu + 1) * z * z / (nu + z * z))
            if density != NULL:
                density[i] += c.value
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double *row
        cdef double s = exp(-theta[self.X.d]), nu = self.degrees(theta), z, v, f
        cdef Tail c = tail(nu)
        StudentT.observed_information(self, theta, m, eta, y, w)
        for i in range(m):
            row = w + 9 * i
            z = s * (y[i] - eta[i])
            v = 1 / (nu + z * z)
            f = (z * z - 1) * v * v
            row[2] = row[6] = -s * nu * f * z
            row[5] = row[7] = -nu * f * z * z
            row[8] = -nu * (c.slope + nu * c.curvature
                            + 0.5 * (z * z * v - log1p(z * z / nu) + f * z * z))
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double *row
        cdef double nu = self.degrees(theta), x = 0.5 * nu, both = 1 / ((nu + 1) * (nu + 3))
        # the same, without cancellation
        cdef double last = (x * x * (binet(x).curvature - binet(x + 0.5).curvature)
                            + 0.5 * (5 * nu + 3) * both / (nu + 1))
        StudentT.expected_information(self, theta, m, eta, y, w)
        for i in range(m):
            row = w + 9 * i
            row[2] = row[6] = 0
            row[5] = row[7] = -2 * nu * both
            row[8] = last
        return OK


def log_tail(df):
    """log Gamma((df + 1) / 2) / Gamma(df / 2) - log(pi df) / 2, elementwise."""
    cdef const double[::1] nu = np.ascontiguousarray(df, dtype=float).ravel()
    return np.array([tail(one).value for one in nu]).reshape(np.shape(df))


class LearnedRlmFamily(Continuous):
    """Real outcomes with Student-t errors, y = x . theta + sigma t(df),
    whose degrees of freedom are a parameter.

    The prior of df, gamma(2, scale=10) by default, is that of Juarez & Steel (2010, JBES 28).  With
    df <= 2 the variance is infinite, and Pearson residuals are 0; with df <= 1 there is no mean,
    and x . theta is the median.
    """

    log_concave = False
    clusters = True
    name = "rlm(df=None)"
    title = "Student-t linear"
    kernel = StudentTLearned
    auxiliary = (Auxiliary("sigma", exponential(1.0, autoscale=True), power=1.0),
           Auxiliary("df", gamma(2.0, scale=10.0), proper=True))

    def of_trials(self, trials):
        # families of this file are objects
        return self

    def parameters(self, extra):
        """(sigma, df) from the draws of the auxiliary parameters."""
        return extra[0], extra[1]

    def start(self, mean, variance):
        return mean, [0.5 * np.log(variance), np.log(10.0)]

    def units(self, mean, variance):
        """The outcomes' sd, and 1."""
        return [np.sqrt(variance), 1.0]

    def log_density(self, y, eta, extra=None):
        sigma, df = self.parameters(extra)
        return log_tail(df) - np.log(sigma) - (df + 1) / 2 * np.log1p(((y - eta) / sigma) ** 2 / df)

    def variance(self, eta, extra=None):
        """sigma^2 df / (df - 2), infinite for df <= 2."""
        sigma, df = self.parameters(extra)
        spread = np.divide(df, df - 2.0, out=np.full(np.shape(df), np.inf),
                           where=np.asarray(df) > 2)
        return np.broadcast_to(sigma ** 2 * spread, np.shape(eta))

    def simulate(self, eta, rng, extra=None):
        """Numbers with t errors."""
        sigma, df = self.parameters(extra)
        return eta + sigma * rng.standard_t(np.broadcast_to(df, np.shape(eta)))

    def deviance(self, y, mean, extra=None):
        """(df + 1) log(1 + ((y - mean) / sigma)^2 / df)."""
        sigma, df = self.parameters(extra)
        return (df + 1) * np.log1p(((np.asarray(y) - mean) / sigma) ** 2 / df)


class RlmFamily(LearnedRlmFamily):
    """Real outcomes with Student-t errors, y = x . theta + sigma t(df),
    of given degrees of freedom.

    Parameters
    ----------
    df : float
        With df <= 2 the variance is infinite, and Pearson residuals are 0; with df <= 1 there is no
        mean, and x . theta is the median.
    """

    name = "rlm"
    auxiliary = LearnedRlmFamily.auxiliary[:1]
    clusters = False
    bounded_if_known = True

    def __init__(self, df=4.0):
        self.df = float(df)
        self.title = f"Student-t linear (df {self.df:g})"

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        return StudentT(X, y, offset, weight, self.df)

    def parameters(self, extra):
        """(sigma, df) from the draws of sigma."""
        return extra[0], self.df

    def start(self, mean, variance):
        return mean, [0.5 * np.log(variance)]

    def units(self, mean, variance):
        """The outcomes' sd."""
        return [np.sqrt(variance)]


class RLM(Regression):
    """Bayesian linear regression with Student-t errors: y = x . theta + offset + sigma t(df);
    df=None learns the degrees of freedom.

    ``df`` is an argument of the verb, of the model, and of `from_formula`: a positive number, 4 by
    default, or None.  So is ``sigma``: a known scale, None to learn it, or a formula ``"~ z"`` with
    predictors of its log, beside which df may be learned, too.
    """

    family = RlmFamily()
    options = {"df": 4.0, "sigma": None}

    @classmethod
    def chosen_family(cls, df, sigma):
        df = known_value("df", df)
        return with_known(LearnedRlmFamily() if df is None else RlmFamily(df), {"sigma": sigma})


class DistributionalRLM(DistributionalRegression, RLM):
    """The regression with predictors of sigma, see `RLM`."""
