"""The compiled model of counts with zeros of their own: two linear predictors, each of its own
columns of the design.
"""
from libc.math cimport exp, expm1, fmax, hypot, log, log1p
from libc.string cimport memset

from sgmc.core.contract cimport OK, Design
from sgmc.core.numerics cimport simd
from sgmc.models.regression.bases.functions.overdispersed cimport (
    LARGEST_LOG, Count, expected_of, held, overdispersed, share, softplus,
)
from sgmc.models.regression.bases.predictors.two_designs cimport TwoDesignsModel


cdef enum:
    COUNTS_AT_ONCE = 128          # rows whose exponentials and logarithms are taken together

cdef double LOG_TWO = log(2.0)    # a mean from which on f(0) / (1 - f(0)) is at most 1


cdef class CountsWithZeros(TwoDesignsModel):
    """Counts with linear predictors eta_i and zeta_i, each of its own columns, and log alpha behind
    their coefficients where counts are negative binomial; densities without y!.

    With pi = 1 / (1 + exp(-zeta)) and f the Poisson density of mean mu = exp(eta), or the negative
    binomial one of variance mu + alpha mu^2,

        zero-inflated:  p(0) = pi + (1 - pi) f(0),  p(y) = (1 - pi) f(y)   (Lambert 1992)
        hurdle:         p(0) = pi,                  p(y) = (1 - pi) f(y) / (1 - f(0))
                                                                           (Mullahy 1986).

    Parameters
    ----------
    X, y, offset, weight, predictor
        As in `TwoDesignsModel`.
    dispersed : bool
        Negative binomial counts.
    hurdle : bool
    """

    cdef readonly bint hurdle

    def __init__(self, Design X, y, offset=None, weight=None, predictor=None,
                 bint dispersed=False, bint hurdle=False):
        TwoDesignsModel.__init__(self, X, y, offset, weight, predictor, dispersed)
        self.hurdle = hurdle

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, done = 0, width = self.width
        cdef double zeta, odds, l
        cdef Count C, O
        if not self.auxiliary:
            while done < m:
                self.poisson(min(<Py_ssize_t> COUNTS_AT_ONCE, m - done), eta + 2 * done,
                             y + done, r + 2 * done, density + done if density != NULL else NULL)
                done += COUNTS_AT_ONCE
            return OK
        for i in range(m):
            zeta = eta[i * width + 1]
            if self.hurdle and y[i] == 0:
                C.value, C.by_eta, C.by_u = -softplus(-zeta), 0, 0
                r[i * width + 1] = share(-zeta)
            elif y[i] == 0:
                C = self.count(0, eta + i * width)
                odds = share(C.value - zeta)                 # of a zero of the count
                l = -softplus(zeta)
                C.value = fmax(zeta, C.value) + log1p(exp(-abs_of(zeta - C.value))) + l
                C.by_eta, C.by_u = odds * C.by_eta, odds * C.by_u
                r[i * width + 1] = share(-zeta) - odds
            else:
                C = self.count(y[i], eta + i * width)
                C.value -= softplus(zeta)
                r[i * width + 1] = -share(zeta)
                if self.hurdle:
                    O = self.count(0, eta + i * width)
                    odds = 1 / expm1(-O.value)               # f(0) / (1 - f(0))
                    C.value -= log(-expm1(O.value))
                    C.by_eta += odds * O.by_eta
                    C.by_u += odds * O.by_u
            r[i * width] = C.by_eta
            r[i * width + 2] = C.by_u
            if density != NULL:
                density[i] = C.value
        return OK

    cdef void poisson(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                      double *density) noexcept nogil:
        """`family` of up to COUNTS_AT_ONCE rows whose counts are Poisson: the same formulas, all
        exponentials and logarithms row beside row.
        """
        cdef Py_ssize_t i
        cdef double[COUNTS_AT_ONCE] mu, tail, log_tail, odds, log_odds
        cdef double zeta, soft, up, down, value, by_eta, share_of_count
        for i in range(m):
            mu[i], tail[i] = held(eta[2 * i], LARGEST_LOG), -abs_of(eta[2 * i + 1])
        simd.exponential(m, mu, mu)
        simd.exponential(m, tail, tail)
        simd.log1p_unit(m, tail, log_tail)
        for i in range(m):
            odds[i] = -mu[i] if self.hurdle else -abs_of(mu[i] + eta[2 * i + 1])
        simd.exponential(m, odds, odds)
        for i in range(m if self.hurdle else 0):          # f(0) / (1 - f(0))
            odds[i] = odds[i] / (1 - odds[i]) if mu[i] >= LOG_TWO else 0
            odds[i] = odds[i] if odds[i] < 1 else 1
        simd.log1p_unit(m, odds, log_odds)
        for i in range(m):
            zeta = eta[2 * i + 1]
            soft = (zeta if zeta > 0 else 0) + log_tail[i]
            up, down = 1 / (1 + tail[i]), tail[i] / (1 + tail[i])
            if zeta < 0:
                up, down = down, up
            if y[i] > 0:
                value, by_eta = y[i] * eta[2 * i] - mu[i] - soft, y[i] - mu[i]
                r[2 * i + 1] = -up
                if self.hurdle:
                    if mu[i] < LOG_TWO:                   # differences from 1 lose digits
                        odds[i], log_odds[i] = 1 / expm1(mu[i]), -log(-expm1(-mu[i]))
                    value += log_odds[i]
                    by_eta -= odds[i] * mu[i]
            elif self.hurdle:
                value, by_eta = zeta - soft, 0
                r[2 * i + 1] = down
            else:
                share_of_count = (odds[i] if -mu[i] < zeta else 1) / (1 + odds[i])
                value = fmax(zeta, -mu[i]) + log_odds[i] - soft
                by_eta = -share_of_count * mu[i]
                r[2 * i + 1] = down - share_of_count
            r[2 * i] = by_eta
            if density != NULL:
                density[i] = value

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, width = self.width
        cdef double zeta, odds, both
        cdef double *at
        cdef Count C, O
        for i in range(m):
            at, zeta = w + i * width * width, eta[i * width + 1]
            memset(at, 0, width * width * sizeof(double))
            at[width + 1] = share(zeta) * share(-zeta)
            if y[i] == 0:
                if self.hurdle:
                    continue
                C = self.count(0, eta + i * width)
                odds = share(C.value - zeta)
                both = odds * (1 - odds)
                at[width + 1] -= both
                at[1] = at[width] = both * C.by_eta
                if self.auxiliary:
                    at[5] = at[7] = both * C.by_u
                bend(&C, odds, &C, -both)
            else:
                C = self.count(y[i], eta + i * width)
                if self.hurdle:
                    O = self.count(0, eta + i * width)
                    odds = 1 / expm1(-O.value)
                    bend(&O, odds, &O, -odds * (1 + odds))
                    C.eta_eta, C.eta_u, C.u_u = (C.eta_eta + O.eta_eta, C.eta_u + O.eta_u,
                                                 C.u_u + O.u_u)
            at[0] = C.eta_eta
            if self.auxiliary:
                at[2] = at[6] = C.eta_u
                at[8] = C.u_u
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        """Those observed by (eta, zeta), without directions in which a row's density is convex; of
        u those of the counts, were their zeros known.
        """
        cdef Py_ssize_t i, width = self.width
        cdef double odds, of_eta, of_u
        cdef double *at
        cdef Count C
        self.observed_information(theta, m, eta, y, w)
        for i in range(m):
            at = w + i * width * width
            convex_off(at, at + 1, at + width + 1)
            at[width] = at[1]
            if self.auxiliary:
                C = self.count(y[i], eta + i * width)
                odds = 1
                if y[i] == 0:
                    odds = 0 if self.hurdle else share(C.value - eta[i * width + 1])
                expected_of(eta[i * width], eta[i * width + 2], &of_eta, &of_u)
                at[2] = at[5] = at[6] = at[7] = 0
                at[8] = odds * of_u
        return OK

    cdef Count count(self, double y, const double *eta) noexcept nogil:
        """The count's own density at (eta, zeta, u)."""
        cdef Count C
        cdef double mu
        if self.auxiliary:
            return overdispersed(y, eta[0], eta[2])
        mu = exp(held(eta[0], LARGEST_LOG))
        C.value, C.by_eta, C.eta_eta = y * eta[0] - mu, y - mu, mu
        C.by_u = C.eta_u = C.u_u = 0
        return C


cdef void convex_off(double *a, double *b, double *c) noexcept nogil:
    """The matrix (a, b; b, c) without its negative eigenvalues."""
    cdef double middle = 0.5 * (a[0] + c[0]), half = hypot(0.5 * (a[0] - c[0]), b[0])
    cdef double high = middle + half, low = middle - half, share
    if low >= 0:
        return
    share = high / (high - low) if high > 0 else 0
    a[0], b[0], c[0] = share * (a[0] - low), share * b[0], share * (c[0] - low)


cdef inline double abs_of(double t) noexcept nogil:
    """|t|."""
    return -t if t < 0 else t


cdef void bend(Count *C, double times, const Count *O, double squared) noexcept nogil:
    """Curvatures of C times a number, plus the products of the slopes of O times another."""
    C.eta_eta = times * C.eta_eta + squared * O.by_eta * O.by_eta
    C.eta_u = times * C.eta_u + squared * O.by_eta * O.by_u
    C.u_u = times * C.u_u + squared * O.by_u * O.by_u
