"""Quantile regression: a smooth check loss whose draws have the sandwich's covariance."""
from dataclasses import replace

import numpy as np

from libc.math cimport erfc, exp

from sgmc.arguments.numbers import number
from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK, Design
from sgmc.errors import NotSupported
from sgmc.models.regression.bases.family import Continuous
from sgmc.models.regression.bases.glm cimport Glm
from sgmc.models.regression.mode.check_loss import calibration, few_beyond
from sgmc.models.regression.model import Regression
from sgmc.priors import learns

cdef double ROOT_HALF = np.sqrt(0.5), DENSITY_AT_ZERO = exp(-limits.HALF_LOG_2PI)


cdef struct Place:
    # of a row: fitted quantile, residual, tau less the share below
    double quantile, residual, slope


cdef inline double tail(double z) noexcept nogil:
    """Phi(-z)."""
    return 0.5 * erfc(ROOT_HALF * z)


cdef inline double density_of(double z) noexcept nogil:
    """phi(z)."""
    return DENSITY_AT_ZERO * exp(-0.5 * z * z)


cdef inline double rest(double z) noexcept nogil:
    """phi(z) - z Phi(-z): the check loss smoothed by a standard normal kernel, less tau z."""
    return density_of(z) - z * tail(z)


cdef class SmoothCheck(Glm):
    """The smooth check loss around its minimum, a density for sandwiches alone.

    With q a row's fitted quantile, e = y - q its residual, s its share below and t = eta - q, the
    log density is

        a ((tau - s) t + h (2 g(e/h) - g((e - t)/h) - g((e + t)/h)) / 2),

    g(z) = phi(z) - z Phi(-z): the mean of the smooth loss and its mirror image, with the slopes of
    the check loss itself.  Scores are a (tau - s + (Phi(-(e + t)/h) - Phi(-(e - t)/h)) / 2),
    curvatures a (phi((e + t)/h) + phi((e - t)/h)) / (2 h).

    Outcomes of the base are the rows' places in a table of (q, e, tau - s).

    Parameters
    ----------
    X, offset, weight
        As in `Glm`.
    y : array (n,)
        Structured as `check_loss.ROW`; outcomes alone are rows whose fitted quantile is zero.
    tau, bandwidth, scale : float
        tau, h and a.
    """

    nanoseconds = 20.0
    cdef Place *places
    cdef object room
    cdef readonly double tau, bandwidth, scale

    def __init__(self, Design X, y, offset=None, weight=None, double tau=0.5,
                 double bandwidth=1.0, double scale=1.0):
        cdef Py_ssize_t i
        cdef char[::1] room
        cdef const double[::1] outcome, residual, below
        Glm.__init__(self, X, np.arange(len(y), dtype=float), offset, weight)
        self.tau, self.bandwidth, self.scale = tau, bandwidth, scale
        y = np.asarray(y)
        if y.dtype.names is None:
            outcome = residual = np.ascontiguousarray(y, dtype=float)
            below = (np.asarray(outcome) < 0).astype(float)
        else:
            outcome, residual, below = (np.ascontiguousarray(y[name]) for name in y.dtype.names)
        self.room = np.empty(max(len(y), 1) * sizeof(Place), dtype=np.int8)
        room = self.room
        self.places = <Place *> &room[0]
        for i in range(outcome.shape[0]):
            self.places[i].quantile = outcome[i] - residual[i]
            self.places[i].residual = residual[i]
            self.places[i].slope = tau - below[i]

    def row_bounds(self):
        return self.weighed((self.scale * (max(self.tau, 1 - self.tau) + 0.5),
                             self.scale * DENSITY_AT_ZERO / self.bandwidth))

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef Place row
        cdef double h = self.bandwidth, a = self.scale, t, left, right
        for i in range(m):
            row = self.places[<Py_ssize_t> y[i]]
            t = eta[i] - row.quantile
            left, right = (row.residual - t) / h, (row.residual + t) / h
            r[i] = a * (row.slope + 0.5 * (tail(right) - tail(left)))
            if density != NULL:
                density[i] = a * (row.slope * t + h * (rest(row.residual / h)
                                                       - 0.5 * (rest(left) + rest(right))))
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef Place row
        cdef double h = self.bandwidth, t
        for i in range(m):
            row = self.places[<Py_ssize_t> y[i]]
            t = eta[i] - row.quantile
            w[i] = 0.5 * self.scale / h * (density_of((row.residual - t) / h)
                                           + density_of((row.residual + t) / h))
        return OK


class QuantRegFamily(Continuous):
    """Real outcomes with P(y <= x . theta | x) = tau: a quantile, and no law of the outcomes.

    Parameters
    ----------
    tau : float
        Probability of the quantile.
    bandwidth, scale : float
        Of the smooth check loss; a fit takes them from the data, see `check_loss.calibration`.
    """

    name = "quantreg"
    working = True
    graded = False

    def __init__(self, tau=0.5, bandwidth=1.0, scale=1.0):
        self.tau, self.bandwidth, self.scale = float(tau), float(bandwidth), float(scale)
        self.title = f"Quantile (tau {self.tau:g})"

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        return SmoothCheck(X, y, offset, weight, self.tau, self.bandwidth, self.scale)

    def of_trials(self, trials):
        # families of this file are objects
        return self

    def unbounded(self):
        # curvatures have a bound
        return ""

    @staticmethod
    def start(mean, variance):
        return mean, []

    def calibrated(self, table, label):
        """What a fit takes from its data before the mode is searched: the family with bandwidth
        and scale, the table with what the kernel needs of each row, and warnings in a list.
        """
        bandwidth, scale, rows = calibration(table, self.tau, label)
        family = QuantRegFamily(self.tau, bandwidth, scale)
        return family, replace(table, working=rows), few_beyond(table, self.tau)

    @staticmethod
    def remark(model):
        """A line beneath a summary about the compiled model of a fit."""
        return f"Bandwidth of the density at the quantile: {model.bandwidth:.4g}."


class QuantReg(Regression):
    """Bayesian quantile regression: the tau-quantile of y given x is x . theta + offset; draws have
    the sandwich's covariance.

    ``tau`` is an argument of the verb, of the model, and of `from_formula`: a probability between 0
    and 1, both excluded; 0.5, the median, by default.

    Nothing is assumed of the outcomes but their quantile.  The posterior of the asymmetric Laplace
    law (Yu & Moyeed 2001, doi:10.1016/S0167-7152(01)00124-9) has the right centre, and a width that
    means nothing.  Draws here have the covariance H^-1 (V + P) H^-1 of ``cov_type="robust"``, which
    with a flat prior is the calibrated one of Yang, Wang & He (2016, doi:10.1111/insr.12114), V the
    sum of (tau - 1(y < x . theta))^2 x x', on average tau (1 - tau) X'X.  ``"HC3"`` and
    ``"cluster"`` do what they do elsewhere; ``"nonrobust"`` is refused.

    The log density is that of the check loss rho, smoothed by a normal kernel of bandwidth h
    (Fernandes, Guerre & Horta 2021, doi:10.1080/07350015.2019.1660177; He, Pan, Tan & Zhou 2023,
    doi:10.1016/j.jeconom.2021.07.010) and written around the minimum theta* of sum_i rho(r_i): a
    sum_i ((tau - s_i) t_i - (rho_h(r_i - t_i) + rho_h(r_i + t_i)) / 2), with t_i = x_i . (theta -
    theta*), r_i the residual at theta* and s_i = 1(r_i < 0), the dual variable where r_i = 0.  Its
    maximum is theta* whatever h, so that smoothing has no bias, and its curvature there Powell's
    estimate H = a sum_i phi(r_i / h) / h x_i x_i'.  Third derivatives, which so few rows near the
    quantile do not tell, are zero by symmetry.  h = 1.06 n^(-1/5) min(sd, IQR / 1.349) of the
    residuals, and a = f / (tau (1 - tau)), f their density at zero: H is near V then, and the prior
    counts against data of the calibrated width, as in the other families.  Where errors do not
    depend on x draws have the law of that prior times the normal law of the estimator.
    """

    family = QuantRegFamily()
    options = {"tau": 0.5}
    defaults = {"cov_type": "robust"}

    @classmethod
    def chosen_family(cls, tau):
        return QuantRegFamily(number("tau", tau, 0.0, 1.0))

    @classmethod
    def table_of(cls, formula, data, scope, inputs):
        table, grouping, partly = super().table_of(formula, data, scope, inputs)
        if grouping is not None:
            raise NotSupported(
                "quantreg has neither group terms nor smooths, as its likelihood is a working one: "
                f"leave {grouping.labels[0]} out; for rows that depend on others of their group "
                "use cov_type='cluster' with groups=, for curves ns() or poly()",
                because="mathematics",
            )
        return table, grouping, partly

    def suited(self, prior, checked):
        if not checked.robust:
            raise NotSupported(
                "cov_type='nonrobust' with quantreg: the width of a posterior by the check loss "
                "means nothing; leave cov_type='robust', or use 'HC3' or 'cluster'",
                because="mathematics",
            )
        if learns(prior):
            raise NotSupported(
                f"prior={prior} has scales that are learned, which quantreg does not take: use "
                "sgmc.normal(0, 2.5), or another prior with known scales",
                because="mathematics",
            )
        return self
