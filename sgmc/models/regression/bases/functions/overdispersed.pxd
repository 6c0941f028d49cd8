# Negative binomial counts with their slopes and curvatures, and functions these are made of.
from libc.math cimport exp, log1p

cdef double LARGEST_LOG           # |log mean| beyond which its square is no number
cdef double LARGEST_LOG_ALPHA     # |u| beyond which products of squares are no numbers

cdef struct Count:
    # log density of a count without its factorial; slopes by eta and u = log alpha; minus the
    # second derivatives
    double value
    double by_eta
    double by_u
    double eta_eta
    double eta_u
    double u_u

cdef Count overdispersed(double y, double eta, double u) noexcept nogil
cdef void expected_of(double eta, double u, double *of_eta, double *of_u) noexcept nogil


cdef inline double softplus(double t) noexcept nogil:
    """log(1 + exp(t))."""
    return t + log1p(exp(-t)) if t > 0 else log1p(exp(t))


cdef inline double share(double t) noexcept nogil:
    """1 / (1 + exp(-t))."""
    return 1 / (1 + exp(-t)) if t > 0 else exp(t) / (1 + exp(t))


cdef struct Odds:
    # 1 / (1 + exp(-t)), its complement, and minus the logs of the complement and of itself
    double share, rest, softplus, softplus_minus


cdef inline Odds odds_by(double t, double e, double log_one) noexcept nogil:
    """The same where e = exp(-|t|) and log(1 + e) are known."""
    cdef Odds o
    cdef double large = 1 / (1 + e), small = e * large
    if t > 0:
        o.share, o.rest, o.softplus, o.softplus_minus = large, small, t + log_one, log_one
    else:
        o.share, o.rest, o.softplus, o.softplus_minus = small, large, log_one, -t + log_one
    return o


cdef inline Odds odds_of(double t) noexcept nogil:
    """`share` and `softplus` at t and at -t, by one exponential."""
    cdef double e = exp(-t) if t > 0 else exp(t)
    return odds_by(t, e, log1p(e))


cdef inline double held(double t, double most) noexcept nogil:
    """The number between -most and most that is nearest to t."""
    return -most if t < -most else most if t > most else t
