"""Densities of y = eta + sigma W and probabilities of intervals of y, for W of three laws, with
their derivatives; y may be the log of a time.
"""
import numpy as np
from scipy.special.cython_special cimport log_ndtr as log_cdf

from libc.math cimport exp, expm1, fmin, log, log1p

from sgmc.arguments.data.limited import limited, numbers_of_ends
from sgmc.core.numerics import limits
from sgmc.models.regression.bases.dispersed import rounding_of, rounding_of_logs
from sgmc.models.regression.bases.in_part.interval cimport (
    AFTER, BEFORE, BETWEEN, OBSERVED, InPart, Interval, Parts,
)

cdef double HALF_LOG_2PI = limits.HALF_LOG_2PI, LARGEST = limits.MAX_LOG_CUBED
# of an interval whose ends differ by less than rounding; its inverse square is a number
cdef double LEAST_LENGTH = 1e-50
cdef double FAR_BELOW = -30.0                 # where 1 - exp(-x), x = exp(z), is x (1 - x / 2)
cdef double FAR_ABOVE = 100.0                 # where Mills' ratio is three terms of its series

cdef enum:
    EXTREME, NORMAL, LOGISTIC

LAWS = {"weibull": EXTREME, "normal": NORMAL, "loglogistic": LOGISTIC}

cdef struct Curve:
    # a logarithm and its two derivatives in z
    double value, slope, bend


cdef inline double softplus(double t) noexcept nogil:
    """log(1 + exp(t))."""
    return t + log1p(exp(-t)) if t > 0 else log1p(exp(t))


cdef Curve density(Py_ssize_t law, double z) noexcept nogil:
    """log g(z)."""
    cdef Curve c
    cdef double x
    if law == EXTREME:
        x = exp(z)
        c.value, c.slope, c.bend = z - x, 1 - x, -x
    elif law == NORMAL:
        c.value, c.slope, c.bend = -0.5 * z * z - HALF_LOG_2PI, -z, -1
    else:
        x = exp(-softplus(-z))
        c.value, c.slope, c.bend = z - 2 * softplus(z), 1 - 2 * x, -2 * x * exp(-softplus(z))
    return c


cdef Curve survival(Py_ssize_t law, double z) noexcept nogil:
    """log P(W > z)."""
    cdef Curve c
    cdef double x
    if law == EXTREME:
        x = exp(z)
        c.value = c.slope = c.bend = -x
    elif law == NORMAL:
        c.value = log_cdf(-z)
        x = exp(-0.5 * z * z - HALF_LOG_2PI - c.value) - z
        if z > FAR_ABOVE:               # logs of so small numbers have too few digits
            x = (1 - (2 - 10 / (z * z)) / (z * z)) / z
        c.slope, c.bend = -(z + x), -(z + x) * x
    else:
        x = exp(-softplus(-z))
        c.value, c.slope, c.bend = -softplus(z), -x, -x * exp(-softplus(z))
    return c


cdef double rise(Py_ssize_t law, double z, Curve tail) noexcept nogil:
    """The slope of log h, h = -`tail.slope` being the hazard."""
    if law == EXTREME:
        return 1
    return -tail.slope - z if law == NORMAL else 1 + tail.slope


cdef Curve distribution(Py_ssize_t law, double z) noexcept nogil:
    """log P(W <= z)."""
    cdef Curve c
    cdef double x, h
    if law != EXTREME:                  # symmetric
        c = survival(law, -z)
        c.slope = -c.slope
        return c
    x = exp(z)
    if z < FAR_BELOW:
        c.value, c.slope, c.bend = z - 0.5 * x, 1 - 0.5 * x, -0.5 * x
        return c
    h = x / expm1(x) if x < LARGEST else 0
    c.value, c.slope, c.bend = log(-expm1(-x)), h, h * (1 - x - h)
    return c


cdef Parts parts_of(Py_ssize_t law, Interval row, double eta, double u) noexcept nogil:
    """log p(row | eta, u) and its derivatives.

    L(z, w) being the log density, or probability, of the ends of the row, z and w their (y - eta) /
    sigma: scores -(L_z + L_w) / sigma and -z L_z - w L_w, less 1 for a density, which is
    divided by sigma.
    """
    cdef Parts p
    cdef Curve c, late
    cdef double s = exp(-u), z = (row.low - eta) * s, w = 0, a, b = 0, aa, ab = 0, bb = 0, turn
    cdef double length, beyond
    if row.code == BEFORE:
        z = (row.high - eta) * s
    if law == EXTREME:
        z = fmin(z, LARGEST)
    if row.code == BETWEEN:
        w = (row.high - eta) * s
        if law == EXTREME:
            w = fmin(w, LARGEST)
        turn = -1 if law != EXTREME and z + w < 0 else 1   # to where tails are exact
        if turn < 0:
            z, w = -w, -z
        c = survival(law, z)
        late = survival(law, w)
        length = max(-expm1(late.value - c.value), LEAST_LENGTH)
        beyond = exp(late.value - c.value) / length
        p.value = c.value + log(length)
        # with the hazard h, log h' + h beyond is the slope of log g less that of L
        a, b = c.slope / length, -late.slope * beyond
        aa = a * (rise(law, z, c) - c.slope * beyond)
        bb = b * (rise(law, w, late) + late.slope / length)
        ab = -a * b
        if turn < 0:
            z, w, a, b, aa, bb = -w, -z, -b, -a, bb, aa
    else:
        if row.code == OBSERVED:
            c = density(law, z)
        elif row.code == AFTER:
            c = survival(law, z)
        else:
            c = distribution(law, z)
        p.value, a, aa = c.value, c.slope, c.bend
    p.eta, p.u = -(a + b) * s, -z * a - w * b
    p.eta_eta = -(aa + 2 * ab + bb) * s * s
    p.eta_u = -(z * (aa + ab) + w * (ab + bb) + a + b) * s
    p.u_u = -(z * z * aa + 2 * z * w * ab + w * w * bb + z * a + w * b)
    if row.code == OBSERVED:
        p.value -= u
        p.u -= 1
    return p


cdef class Censored(InPart):
    """y_i = eta_i + sigma W_i, u = log sigma, of outcomes that are observed, or known to lie in an
    interval.

    For curvatures of single rows see `parts_of`.

    Parameters
    ----------
    X, y, offset, weight
        As in `InPart`.
    """

    law_name = "normal"
    nanoseconds = 20.0

    def __init__(self, X, y, offset=None, weight=None):
        y = limited(y)
        InPart.__init__(self, X, y, offset, weight)
        self.law, self.rounding = LAWS[self.law_name], self.rounding_of_outcomes(y, offset)
        one = 1 - np.euler_gamma
        constants = {EXTREME: (1, one, np.pi ** 2 / 6 + one ** 2), NORMAL: (1, 0, 2),
                     LOGISTIC: (1.0 / 3, 0, (3 + np.pi ** 2) / 9)}[self.law]
        self.information[0], self.information[1], self.information[2] = constants

    @staticmethod
    def rounding_of_outcomes(y, offset):
        """See `Dispersed.rounding`."""
        return rounding_of(numbers_of_ends(y), offset)

    def units(self, theta):
        """sigma, and 1 for its log."""
        return np.array([np.exp(theta[self.X.d]), 1.0])

    cdef Parts parts(self, Interval outcome, double eta, double u) noexcept nogil:
        return parts_of(self.law, outcome, eta, u)

    cdef void expected_row(self, Interval outcome, double eta, double u, double *w) noexcept nogil:
        cdef double s = exp(-u)
        w[0] = self.information[0] * s * s
        w[1] = w[2] = self.information[1] * s
        w[3] = self.information[2]


cdef class CensoredTimes(Censored):
    """log T_i = eta_i + sigma W_i; the density without -log t_i of times T_i that are observed."""

    law_name = "weibull"

    @staticmethod
    def scaled(y):
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(InPart.scaled(y), 0.0))

    @staticmethod
    def rounding_of_outcomes(y, offset):
        return rounding_of_logs(numbers_of_ends(y), offset)
