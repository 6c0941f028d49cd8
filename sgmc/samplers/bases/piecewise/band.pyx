"""Local regression of the noisy rate of events on time,
and proposals of events below its confidence band.

Pakman, Gilboa, Carlson & Paninski (2017), section 4: rates G_i at times t_i since the last event
are b_0 + b_1 t_i + N(0, c_i^2), with a flat prior for b_0 and N(mu, s^2) for b_1; a prediction at t
is normal, of variance rho(t)^2 (their eq. 11-12), and events are proposed at rate max(0, b_0 + b_1
t + k rho(t)).  With w_i = 1/c_i^2 and weighted means T, R of times and rates

    b_1 = (sum w (t - T) (G - R) + mu / s^2) / P,  P = sum w (t - T)^2 + 1/s^2,
    b_0 + b_1 t = R + b_1 (t - T),  rho(t)^2 = 1 / sum w + (t - T)^2 / P + c_m^2.

rho is convex, so that straight lines between its values at KNOTS lie above it.
"""
from libc.math cimport exp, fabs, fmax, fmin, log, sqrt

from sgmc.core.contract cimport Rng, next_exponential

cdef enum:
    KNOTS = 7

# times after the last observation, over the horizon
cdef double[KNOTS] AT = [0.0, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0]
LEARNING_RATE = 0.05                       # of the steps of gradient ascent
# squared standardised error that a step of it takes into account at most
SURPRISE = 9.0
cdef double FIRST_CURVATURE = 0.3            # first q, in sds of the slope
LEAST_WIDTH = 0.01                  # sd and q, of their first values; c, of rates
cdef double LEAST_NOISE = 1e-8         # least c, of rates, where the paper has none


cdef class Band:
    """The band of one particle, as published.

    Parameters
    ----------
    confidence : float
        k.
    unit : float
        Of time: of the stiffest direction, in sds of a posterior that is travelled at speed one a
        coordinate.
    scale : float
        Of rates, in their own units; scale / unit is the first guess of the slope's sd.
    horizon : float
        Units of time after which one looks again where nothing is proposed.
    falling : bool
        Whether a negative slope is extrapolated; else it is replaced by mu, or zero.
    """

    def __init__(self, double confidence, double unit, double scale, double horizon=4,
                 bint falling=True):
        self.confidence, self.unit, self.floor = confidence, unit, LEAST_NOISE * scale
        self.horizon, self.falling = horizon, falling
        self.mean, self.log_sd = 0, log(scale / unit)
        self.least = self.log_sd + log(LEAST_WIDTH)

    cdef void clear(self) noexcept nogil:
        self.weight = self.time = self.rate = self.spread = self.trend = 0
        self.seen = 0

    cdef void add(self, double t, double rate, double noise) noexcept nogil:
        cdef double w, ahead = t - self.time
        self.noise = fmax(noise, self.floor * self.floor)
        if self.seen:
            self.compare(t, rate)
        self.last = t
        w = 1 / self.noise
        self.weight += w
        self.time += w / self.weight * ahead
        self.trend += w * (t - self.time) * (rate - self.rate)
        self.spread += w * (t - self.time) * ahead
        self.rate += w / self.weight * (rate - self.rate)
        self.seen += 1

    cdef double predict(self, double t, double *variance) noexcept nogil:
        """The rate expected at t, and its variance."""
        cdef double belief = exp(-2 * self.log_sd)
        cdef double precision = self.spread + belief, off = t - self.time
        cdef double slope = (self.trend + belief * self.mean) / precision
        variance[0] = 1 / self.weight + off * off / precision + self.noise
        if slope < 0 and not self.falling:
            slope = fmax(self.mean, 0.)
        return self.rate + slope * off

    cdef void compare(self, double t, double rate) noexcept nogil:
        """What is learned from the error of a prediction: nothing."""

    cdef double height(self, double t) noexcept nogil:
        """The band's upper edge."""
        cdef double variance = 0, rate = self.predict(t, &variance)
        return rate + self.confidence * sqrt(variance)

    cdef bint propose(self, Rng rng, double since, double *t) noexcept nogil:
        """The first event after `since`, and its `bound`; false where there is none up to the
        horizon, t, where one is to look anew.
        """
        cdef double e = next_exponential(rng), begin = since
        cdef double low = self.height(since), end, high, area
        cdef Py_ssize_t i
        for i in range(1, KNOTS):
            end = since + AT[i] * self.horizon * self.unit
            high = self.height(end)
            area = under(low, high, end - begin)
            if e < area:
                area = inverted(low, (high - low) / (end - begin), e)
                t[0] = begin + area
                self.bound = low + (high - low) * area / (end - begin)
                return True
            e -= area
            begin, low = end, high
        t[0] = begin
        return False

    cdef void learn(self) noexcept nogil:
        """A step of gradient ascent on the marginal likelihood of the observations,
        that of mu in units of s^2.

        It depends on mu and s through N(B; mu, s^2 + S), B the least-squares slope and S its
        variance.
        """
        cdef double variance = exp(2 * self.log_sd), total, error
        if self.seen < 2 or self.spread <= 0:
            return
        total = variance + 1 / self.spread
        error = self.trend / self.spread - self.mean
        self.mean += LEARNING_RATE * variance / total * fmin(fmax(error, -sqrt(SURPRISE * total)),
                                                    sqrt(SURPRISE * total))
        self.log_sd += (LEARNING_RATE * variance / total
                        * (fmin(error * error / total, SURPRISE) - 1))
        self.log_sd = fmax(self.log_sd, self.least)

    def state(self):
        """Observations, and what was learned."""
        return [self.mean, self.log_sd, self.last, self.weight, self.time,
                self.rate, self.spread, self.trend, self.noise, self.seen]

    def set_state(self, state):
        """Continue from a `state()`."""
        (self.mean, self.log_sd, self.last, self.weight, self.time, self.rate, self.spread,
         self.trend, self.noise, self.seen) = state


cdef class Drifting(Band):
    """The band with room for rates that are no straight line, where the posterior is no Gaussian:

    rho(t)^2 has the further term q^2 (t - t_m)^2, and c is at least a hundredth of `scale`.  q, by
    which the slope may have changed since the last observation, is learned from the errors of
    predictions, as the paper learns mu and s^2; the least c is for batches of nearly all rows,
    where two observations without noise would leave the band no width.
    """

    def __init__(self, double confidence, double unit, double scale, double horizon=4,
                 bint falling=True):
        Band.__init__(self, confidence, unit, scale, horizon, falling)
        self.floor = LEAST_WIDTH * scale
        self.log_drift = self.log_sd + log(FIRST_CURVATURE)

    cdef double drift(self, double t) noexcept nogil:
        """q^2 (t - t_m)^2."""
        return exp(2 * self.log_drift) * (t - self.last) * (t - self.last)

    cdef double predict(self, double t, double *variance) noexcept nogil:
        cdef double rate = Band.predict(self, t, variance)
        variance[0] += self.drift(t)
        return rate

    cdef void compare(self, double t, double rate) noexcept nogil:
        """A step of gradient ascent on the likelihood of a prediction, by log q."""
        cdef double variance = 0, error = rate - self.predict(t, &variance)
        self.log_drift += (LEARNING_RATE * self.drift(t) / variance
                           * (fmin(error * error / variance, SURPRISE) - 1))
        self.log_drift = fmax(self.log_drift, self.least + log(FIRST_CURVATURE))

    def state(self):
        """Also q."""
        return [*Band.state(self), self.log_drift]

    def set_state(self, state):
        """Continue from a `state()`."""
        *rest, self.log_drift = state
        Band.set_state(self, rest)


cdef double under(double low, double high, double span) noexcept nogil:
    """Integral of the positive part of a line from low to high over a time span."""
    if low >= 0 and high >= 0:
        return 0.5 * (low + high) * span
    if low <= 0 and high <= 0:
        return 0
    return 0.5 * span * fmax(low, high) ** 2 / fabs(high - low)


cdef double inverted(double a, double b, double e) noexcept nogil:
    """t with integral e of max(0, a + b t) up to it, where there is one."""
    if a <= 0:
        return (sqrt(2 * b * e) - a) / b
    return 2 * e / (a + sqrt(fmax(a * a + 2 * b * e, 0.)))


def height(Band band, times, rates, noises, double mean, double sd, at):
    """The band's edge at a time after some observations, for tests: slopes N(mean, sd^2) a priori.
    """
    band.mean, band.log_sd = mean, log(sd)
    band.clear()
    for t, rate, noise in zip(times, rates, noises):
        band.add(t, rate, noise)
    return band.height(at)
