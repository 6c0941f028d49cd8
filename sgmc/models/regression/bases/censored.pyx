"""Densities of log T = eta + sigma W and probabilities of intervals of T, for W of three laws, with
their derivatives.
"""
import numpy as np
from scipy.special.cython_special cimport log_ndtr as log_cdf

from libc.math cimport exp, expm1, fmin, log, log1p

from sgmc.core import limits
from sgmc.core.contract cimport OK
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.dispersed import rounding_of_logs

cdef double HALF_LOG_2PI = limits.HALF_LOG_2PI, LARGEST = limits.MAX_LOG_CUBED
# of an interval whose ends differ by less than rounding; its inverse square is a number
cdef double LEAST_LENGTH = 1e-50
cdef double FAR_BELOW = -30.0                 # where 1 - exp(-x), x = exp(z), is x (1 - x / 2)

cdef enum:
    EXTREME, NORMAL, LOGISTIC
    OBSERVED, AFTER, BEFORE, BETWEEN

LAWS = {"weibull": EXTREME, "lognormal": NORMAL, "loglogistic": LOGISTIC}

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
        x = exp(-0.5 * z * z - HALF_LOG_2PI - c.value)
        c.slope, c.bend = -x, -x * (x - z)
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


cdef Parts parts(Py_ssize_t law, Place row, double eta, double u) noexcept nogil:
    """log p(row | eta, u) but for -log t of a time that was observed, and its derivatives.

    L(z, w) being the log density, or probability, of the ends of the row, z and w their (log t -
    eta) / sigma: scores -(L_z + L_w) / sigma and -z L_z - w L_w, less 1 for a density, which is
    divided by sigma.
    """
    cdef Parts p
    cdef Curve c, late
    cdef double s = exp(-u), z = (row.time - eta) * s, w = 0, a, b = 0, aa, ab = 0, bb = 0, turn
    cdef double length, beyond
    if law == EXTREME:
        z = fmin(z, LARGEST)
    if row.code == BETWEEN:
        w = (row.end - eta) * s
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


cdef Place place_of(double complex y) noexcept nogil:
    """What is known of a time, see `sgmc.formula.survival.Surv`."""
    cdef Place row
    row.time, row.end = log(y.real), 0
    row.code = OBSERVED if y.imag == 0 else AFTER if y.imag == -1 else BEFORE
    if y.imag > 0:
        row.code, row.end = BETWEEN, log(y.imag)
    return row


cdef class Censored(Dispersed):
    """log T_i = eta_i + sigma W_i, u = log sigma, of times T_i that are observed, or known to lie
    in an interval; the density without -log t_i of those observed.

    Outcomes of the base are the rows' places in a table of what is known of each.  For curvatures
    of single rows see `parts`; expected ones are those of times that are observed, and products of
    scores where they are censored, as it is not known which others would have been.

    Parameters
    ----------
    X, y, offset, weight
        As in `Glm`; y as `Surv` has it.
    """

    law_name = "weibull"
    nanoseconds = 20.0

    def __init__(self, X, y, offset=None, weight=None):
        cdef const double complex[::1] times = np.ascontiguousarray(y, dtype=complex)
        cdef Py_ssize_t i
        cdef char[::1] room
        Dispersed.__init__(self, X, np.arange(len(times), dtype=float), offset, weight)
        self.law, self.rounding = LAWS[self.law_name], rounding_of_logs(y.real, offset)
        self.room = np.empty(max(len(times), 1) * sizeof(Place), dtype=np.int8)
        room = self.room
        self.places = <Place *> &room[0]
        for i in range(times.shape[0]):
            self.places[i] = place_of(times[i])
        one = 1 - np.euler_gamma
        constants = {EXTREME: (1, one, np.pi ** 2 / 6 + one ** 2), NORMAL: (1, 0, 2),
                     LOGISTIC: (1.0 / 3, 0, (3 + np.pi ** 2) / 9)}[self.law]
        self.information[0], self.information[1], self.information[2] = constants

    def units(self, theta):
        """sigma, and 1 for its log."""
        return np.array([np.exp(theta[self.X.d]), 1.0])

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d]
        cdef Parts p
        for i in range(m):
            p = parts(self.law, self.places[<Py_ssize_t> y[i]], eta[i], u)
            r[2 * i], r[2 * i + 1] = p.eta, p.u
            if density != NULL:
                density[i] = p.value
        return self.rounded(theta, m, r, density)

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d]
        cdef Parts p
        for i in range(m):
            p = parts(self.law, self.places[<Py_ssize_t> y[i]], eta[i], u)
            w[4 * i] = p.eta_eta
            w[4 * i + 1] = w[4 * i + 2] = p.eta_u
            w[4 * i + 3] = p.u_u
        return self.rounded_information(theta, m, w)

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d], s = exp(-u)
        cdef Place row
        cdef Parts p
        for i in range(m):
            row = self.places[<Py_ssize_t> y[i]]
            if row.code == OBSERVED:
                w[4 * i] = self.information[0] * s * s
                w[4 * i + 1] = w[4 * i + 2] = self.information[1] * s
                w[4 * i + 3] = self.information[2]
            else:
                p = parts(self.law, row, eta[i], u)
                w[4 * i] = p.eta * p.eta
                w[4 * i + 1] = w[4 * i + 2] = p.eta * p.u
                w[4 * i + 3] = p.u * p.u
        return OK


def log_densities(law, y, eta, sigma):
    """log p(y | eta, sigma) with every constant, elementwise and broadcast; `law` is of LAWS."""
    shape = np.broadcast_shapes(np.shape(y), np.shape(eta), np.shape(sigma))
    cdef const double complex[::1] times = flat(y, shape, complex)
    cdef const double[::1] at = flat(eta, shape, float), scale = flat(sigma, shape, float)
    cdef double[::1] out = np.empty(times.shape[0])
    cdef Py_ssize_t code = LAWS[law]
    cdef Py_ssize_t i
    cdef Place row
    with nogil:
        for i in range(times.shape[0]):
            row = place_of(times[i])
            out[i] = parts(code, row, at[i], log(scale[i])).value
            if row.code == OBSERVED:
                out[i] -= row.time
    return np.asarray(out).reshape(shape)


def flat(numbers, shape, dtype):
    """Numbers of a shape, one after the other."""
    return np.ascontiguousarray(np.broadcast_to(numbers, shape), dtype=dtype).ravel()
