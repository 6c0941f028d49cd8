"""Counts that are known in part: probabilities of intervals, with their derivatives.

With p the probability of an interval and s, J the scores and curvatures of single counts, the score
of log p is E[s], and its curvature E[J] - Cov[s], both given the interval (Louis 1982, Journal of
the Royal Statistical Society B 44, 226-233).  So one sum over the interval has them all; it goes
from the largest term outwards, until terms are below rounding.
"""
import numpy as np

from libc.math cimport INFINITY, exp, expm1, floor, lgamma, log, log1p, sqrt

from sgmc.models.regression.bases.in_part.interval cimport (
    AFTER, BEFORE, OBSERVED, InPart, Interval, Parts,
)
from sgmc.models.regression.bases.functions.overdispersed cimport (
    LARGEST_LOG, LARGEST_LOG_ALPHA, Count, expected_of, held, overdispersed, share,
)

cdef double NEGLIGIBLE_TERM = 1e-18                # of a sum: what is left of it, about
cdef double REACH = 4.0                       # sds above the mean where a tail is 1 less a sum
cdef double LEAST_TAIL = 1e-6                 # that is known so to ten digits

cdef enum:
    MAX_TERMS = 1 << 22                       # on a side: more belong to steps of a search


cdef Parts single(bint dispersed, double y, double eta, double u) noexcept nogil:
    """log p(y) and its derivatives."""
    cdef Parts p
    cdef Count C
    cdef double mu
    if dispersed:
        C = overdispersed(y, eta, u)
        p.value, p.eta, p.u = C.value - lgamma(y + 1), C.by_eta, C.by_u
        p.eta_eta, p.eta_u, p.u_u = C.eta_eta, C.eta_u, C.u_u
        return p
    eta = held(eta, LARGEST_LOG)
    mu = exp(eta)
    p.value, p.eta, p.eta_eta = y * eta - mu - lgamma(y + 1), y - mu, mu
    p.u = p.eta_u = p.u_u = 0
    return p


cdef Parts summed(bint dispersed, double low, double high, double eta, double u) noexcept nogil:
    """log P(low <= y <= high) and its derivatives."""
    cdef Parts first, p
    cdef double a, odds, mu, q = 0, start, k, w, ratio, slope = 0, bend = 0, by_eta, by_u
    cdef double total = 1, eta1 = 0, u1 = 0, eta2 = 0, both = 0, u2 = 0, bent = 0
    cdef Py_ssize_t side, terms
    eta, u = held(eta, LARGEST_LOG), held(u, LARGEST_LOG_ALPHA)
    a, mu, odds = exp(-u), exp(eta), exp(eta + u)
    start = mu
    if dispersed:
        q, start = share(eta + u), (a - 1) * odds if a > 1 else 0.0
    start = min(max(floor(start), low), high)
    first = single(dispersed, start, eta, u)
    # sums of terms, relative to the first, times differences of their scores and curvatures
    for side in range(2):
        k, w, slope, bend = start, 1, 0, 0
        for terms in range(MAX_TERMS):
            if k == (high if side == 0 else low):
                break
            if side == 0:
                ratio = (q * (a + k) if dispersed else mu) / (k + 1)
                slope += 1 / (a + k)
                bend -= 1 / ((a + k) * (a + k))
                k += 1
            else:
                k -= 1
                ratio = (k + 1) / (q * (a + k) if dispersed else mu)
                slope -= 1 / (a + k)
                bend += 1 / ((a + k) * (a + k))
            w *= ratio
            by_eta = (1 - q) * (k - start)
            by_u = by_eta - a * slope if dispersed else 0.0
            total += w
            eta1 += w * by_eta
            u1 += w * by_u
            eta2 += w * by_eta * by_eta
            both += w * by_eta * by_u
            u2 += w * by_u * by_u
            bent += w * a * (slope + a * bend)
            if w <= NEGLIGIBLE_TERM * total * (1 - ratio):
                break
    eta1, u1, bent = eta1 / total, u1 / total, bent / total
    p.value, p.eta, p.u = first.value + log(total), first.eta + eta1, first.u + u1
    p.eta_eta = first.eta_eta + q * eta1 - (eta2 / total - eta1 * eta1)
    p.eta_u = first.eta_u + q * eta1 - (both / total - eta1 * u1)
    p.u_u = first.u_u - (u2 / total - u1 * u1)
    if dispersed:
        p.u_u += q * eta1 - bent
    else:
        p.eta_u = p.u_u = p.u = 0
    return p


cdef Parts complement(Parts below) noexcept nogil:
    """log(1 - P) and its derivatives, from those of log P."""
    cdef Parts p
    cdef double odds = exp(below.value) / -expm1(below.value), more = odds * (1 + odds)
    p.value = log1p(-exp(below.value))
    p.eta, p.u = -odds * below.eta, -odds * below.u
    p.eta_eta = more * below.eta * below.eta - odds * below.eta_eta
    p.eta_u = more * below.eta * below.u - odds * below.eta_u
    p.u_u = more * below.u * below.u - odds * below.u_u
    return p


cdef Parts between(bint dispersed, double low, double high, double eta, double u) noexcept nogil:
    """log P(low <= y <= high) and its derivatives; `high` may be infinite."""
    cdef Parts below
    cdef double mean, excess
    if high < INFINITY:
        return summed(dispersed, low, high, eta, u)
    mean = exp(held(eta, LARGEST_LOG))
    excess = exp(held(u, LARGEST_LOG_ALPHA)) * mean if dispersed else 0.0
    if low - 1 <= mean + REACH * sqrt(mean * (1 + excess)):
        below = summed(dispersed, 0, low - 1, eta, u)
        if -expm1(below.value) > LEAST_TAIL:
            return complement(below)
    return summed(dispersed, low, high, eta, u)


cdef class CountsInPart(InPart):
    """Counts with mean exp(eta), known in part; both ends belong to an interval."""

    nanoseconds = 50.0

    @staticmethod
    def scaled(y):
        ends = InPart.scaled(y)
        # all counts are at least 0
        ends[:, ::2] = np.where(ends[:, ::2] > 0, np.ceil(ends[:, ::2]), -np.inf)
        ends[:, 1::2] = np.floor(ends[:, 1::2])
        zero = ends[:, 1] == 0
        ends[zero, 0] = 0
        return ends

    cdef Parts parts(self, Interval outcome, double eta, double u) noexcept nogil:
        if outcome.code == OBSERVED:
            return single(self.dispersed, outcome.high, eta, u)
        return between(self.dispersed, max(outcome.low, 0.0), outcome.high, eta, u)

    cdef void expected_row(self, Interval outcome, double eta, double u, double *w) noexcept nogil:
        w[1] = w[2] = w[3] = 0
        if self.dispersed:
            expected_of(eta, u, w, w + 3)
        else:
            w[0] = exp(held(eta, LARGEST_LOG))


cdef class PoissonInPart(CountsInPart):
    """y_i ~ Poisson(exp(eta_i)), known in part; of u, which follows the coefficients, nothing
    depends.
    """


cdef class NegativeBinomialInPart(CountsInPart):
    """Counts with variance mu_i + alpha mu_i^2, u = log alpha, known in part."""

    def __init__(self, X, y, offset=None, weight=None):
        CountsInPart.__init__(self, X, y, offset, weight)
        self.dispersed = True
