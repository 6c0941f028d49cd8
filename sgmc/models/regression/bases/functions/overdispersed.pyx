"""Negative binomial counts of mean exp(eta) and variance mu + alpha mu^2, u = log alpha."""
from libc.math cimport exp

from sgmc.models.regression.bases.functions.rising cimport Rising, rising

LARGEST_LOG = 300.0
LARGEST_LOG_ALPHA = 150.0


cdef Count overdispersed(double y, double eta, double u) noexcept nogil:
    """The density without y!, see `NegativeBinomialLog`."""
    cdef Count C
    cdef double a, t, q, e, s
    cdef Rising R
    cdef Odds o
    u = held(u, LARGEST_LOG_ALPHA)
    a, t = exp(-u), held(eta, LARGEST_LOG) + u
    o, R = odds_of(t), rising(a, y)
    q = o.share
    e = o.rest * y - a * q
    s = R.slope - o.softplus
    C.value = R.value - a * o.softplus - y * o.softplus_minus
    C.by_eta, C.by_u = e, e - a * s
    C.eta_eta, C.eta_u = q * o.rest * (a + y), e * q
    C.u_u = e * q - a * s - a * (a * R.curvature + q)
    return C


cdef void expected_of(double eta, double u, double *of_eta, double *of_u) noexcept nogil:
    """The expected curvature by eta, and by u its limit for small alpha, as it has no closed form;
    that by both is 0.
    """
    cdef double q
    u = held(u, LARGEST_LOG_ALPHA)
    q = share(held(eta, LARGEST_LOG) + u)
    of_eta[0], of_u[0] = exp(-u) * q, 0.5 * q * q
