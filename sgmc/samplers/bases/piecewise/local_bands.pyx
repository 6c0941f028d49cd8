"""Bands of rates that are no straight line over long times: regressions in which observations fade,
and Gaussian processes (Pakman, Gilboa, Carlson & Paninski 2017, end of section 4).  As in
`Drifting`, c is at least a hundredth of `scale`.
"""
import numpy as np

from libc.math cimport exp, fmax, fmin, log, sqrt

from sgmc.samplers.bases.piecewise.band cimport LEARNING_RATE, LEAST_WIDTH, SURPRISE, Band

cdef double FIRST_FADING = 0.1          # first r, over the unit of time
cdef double LEAST_FADING = 1e-3
cdef double WIGGLE_TIME = 2.0           # l of a process, in units of time
cdef double FIRST_WIGGLE = 0.1          # first a, of rates
cdef double LEAST_WIGGLE = 1e-3
cdef enum:
    REMEMBERED = 32                           # observations that a process keeps


cdef class Fading(Band):
    """Weights decay: at t an observation has weight exp(-r (t - t_i)) / c_i^2.

    With S_k = sum w_i x_i^k and Y_k = sum w_i x_i^k G_i, x_i = t_i - t and w_i these weights,

        b = A^-1 (Y_0, Y_1 + mu / s^2),  A = [[S_0, S_1], [S_1, S_2 + 1 / s^2]],

    predicts b_0 with variance (A^-1)_00 + c_m^2.  log r takes a step of gradient ascent on the
    likelihood of each prediction; as dS_k/dr = S_k+1 and dY_k/dr = Y_k+1, db_0 and dvariance are
    rows of A^-1 (dY - dA b) and -A^-1 dA A^-1.
    """

    cdef readonly double log_fading              # of r
    cdef double[4] S
    cdef double[3] Y

    def __init__(self, double confidence, double unit, double scale, double horizon=4,
                 bint falling=True):
        Band.__init__(self, confidence, unit, scale, horizon, falling)
        self.floor = LEAST_WIDTH * scale
        self.log_fading = log(FIRST_FADING / unit)

    cdef void clear(self) noexcept nogil:
        cdef Py_ssize_t k
        Band.clear(self)
        for k in range(4):
            self.S[k] = 0
        for k in range(3):
            self.Y[k] = 0

    cdef void add(self, double t, double rate, double noise) noexcept nogil:
        self.noise = fmax(noise, self.floor * self.floor)
        if self.seen:
            self.compare(t, rate)
        moved(3, t - self.last, exp(self.log_fading), self.S, self.S)
        moved(2, t - self.last, exp(self.log_fading), self.Y, self.Y)
        self.S[0] += 1 / self.noise
        self.Y[0] += rate / self.noise
        self.last = t
        self.seen += 1
        # what `learn` needs: least squares with these weights
        self.spread = self.S[2] - self.S[1] * self.S[1] / self.S[0]
        self.trend = self.Y[1] - self.S[1] * self.Y[0] / self.S[0]

    cdef double predict(self, double t, double *variance) noexcept nogil:
        cdef double unused = 0
        return self.fit(t, variance, &unused, &unused)

    cdef double fit(self, double t, double *variance, double *slope_of_rate,
                    double *slope_of_variance) noexcept nogil:
        """The prediction at t, its variance, and the derivatives of both by r."""
        cdef double[4] S
        cdef double[3] Y
        cdef double p = exp(-2 * self.log_sd), det, level, trend, a, b, first, second
        moved(3, t - self.last, exp(self.log_fading), self.S, S)
        moved(2, t - self.last, exp(self.log_fading), self.Y, Y)
        det = S[0] * (S[2] + p) - S[1] * S[1]
        a, b = (S[2] + p) / det, -S[1] / det                  # first column of A^-1
        trend = (S[0] * (Y[1] + p * self.mean) - S[1] * Y[0]) / det
        if trend < 0 and not self.falling:                    # a line through the mean point
            trend = fmax(self.mean, 0.)
            level = (Y[0] - S[1] * trend) / S[0]
        else:
            level = a * Y[0] + b * (Y[1] + p * self.mean)
        first = Y[1] - S[1] * level - S[2] * trend
        second = Y[2] - S[2] * level - S[3] * trend
        slope_of_rate[0] = a * first + b * second
        slope_of_variance[0] = -(a * a * S[1] + 2 * a * b * S[2] + b * b * S[3])
        variance[0] = a + self.noise
        return level

    cdef void compare(self, double t, double rate) noexcept nogil:
        cdef double variance = 0, rising = 0, widening = 0, error, square, step
        error = rate - self.fit(t, &variance, &rising, &widening)
        square = fmin(error * error / variance, SURPRISE)
        error = sqrt(square * variance) * (1 if error > 0 else -1)
        step = (0.5 * widening * (square - 1) + error * rising) / variance * exp(self.log_fading)
        self.log_fading += LEARNING_RATE * fmin(fmax(step, -SURPRISE), SURPRISE)
        self.log_fading = fmax(self.log_fading, log(LEAST_FADING / self.unit))

    def state(self):
        """Also the sums, and r."""
        return [*Band.state(self), self.log_fading, list(self.S), list(self.Y)]

    def set_state(self, state):
        """Continue from a `state()`."""
        *rest, self.log_fading, S, Y = state
        Band.set_state(self, rest)
        for k in range(4):
            self.S[k] = S[k]
        for k in range(3):
            self.Y[k] = Y[k]


cdef void moved(Py_ssize_t last, double ahead, double fading, const double *sums,
                double *out) noexcept nogil:
    """Sums of w x^k, k = 0 .. last <= 3, from an origin that is `ahead` of theirs, so much later;
    `out` may be `sums`."""
    cdef double f = exp(-fading * ahead), h = ahead
    if last > 2:
        out[3] = f * (sums[3] - 3 * h * sums[2] + 3 * h * h * sums[1] - h * h * h * sums[0])
    out[2] = f * (sums[2] - 2 * h * sums[1] + h * h * sums[0])
    out[1] = f * (sums[1] - h * sums[0])
    out[0] = f * sums[0]


cdef class Process(Band):
    """G(t) = b_0 + b_1 t + f(t), f a Gaussian process of covariance a^2 exp(-(t - u)^2 / (2 l^2)).

    The paper names no covariance.  Here l is two units of time, over which the slope of a rate may
    change, and log a takes a step of gradient ascent on the likelihood of each prediction by its
    variance, as q of `Drifting`; it takes effect at the next bounce.  With a = 0 this is the band
    as published.  At most REMEMBERED observations are kept, the last ones.
    """

    cdef readonly double log_wiggle, log_next        # a, and what was learned of it since
    cdef double least_wiggle
    cdef Py_ssize_t kept
    cdef double[::1] times, rates, noises, k
    cdef double[::1] ones, error                     # L^-1 1 and L^-1 (G - mu t)
    cdef double[:, ::1] L                            # L L' is the covariance of observations

    def __init__(self, double confidence, double unit, double scale, double horizon=4):
        Band.__init__(self, confidence, unit, scale, horizon)
        self.floor = LEAST_WIDTH * scale
        self.log_wiggle = self.log_next = log(FIRST_WIGGLE * scale)
        self.least_wiggle = log(LEAST_WIGGLE * scale)
        self.times, self.rates, self.noises, self.ones, self.error, self.k = np.zeros(
            (6, REMEMBERED))
        self.L = np.zeros((REMEMBERED, REMEMBERED))

    cdef void clear(self) noexcept nogil:
        Band.clear(self)
        self.kept, self.log_wiggle = 0, self.log_next

    cdef double wiggle(self, double t, double u) noexcept nogil:
        """Covariance of f at two times."""
        cdef double off = (t - u) / (WIGGLE_TIME * self.unit)
        return exp(2 * self.log_wiggle - 0.5 * off * off)

    cdef void add(self, double t, double rate, double noise) noexcept nogil:
        cdef Py_ssize_t i
        Band.add(self, t, rate, noise)
        if self.kept == REMEMBERED:                         # forget the older half
            self.kept = 0
            for i in range(REMEMBERED // 2, REMEMBERED):
                self.append(self.times[i], self.rates[i], self.noises[i])
        self.append(t, rate, self.noise)

    cdef void append(self, double t, double rate, double noise) noexcept nogil:
        """A row of L."""
        cdef Py_ssize_t j, i = self.kept
        cdef double left = self.whiten(t, &self.L[i, 0]) + noise, one = 1
        cdef double rest = rate - self.mean * t
        for j in range(i):
            left -= self.L[i, j] * self.L[i, j]
            one -= self.L[i, j] * self.ones[j]
            rest -= self.L[i, j] * self.error[j]
        self.L[i, i] = sqrt(fmax(left, self.floor * self.floor))
        self.ones[i], self.error[i] = one / self.L[i, i], rest / self.L[i, i]
        self.times[i], self.rates[i], self.noises[i] = t, rate, noise
        self.kept += 1

    cdef double whiten(self, double t, double *k) noexcept nogil:
        """k = L^-1 times the covariances with observations; the variance a priori, but for b_0."""
        cdef Py_ssize_t i, j
        cdef double slope = exp(2 * self.log_sd) * t
        for i in range(self.kept):
            k[i] = slope * self.times[i] + self.wiggle(t, self.times[i])
            for j in range(i):
                k[i] -= self.L[i, j] * k[j]
            k[i] /= self.L[i, i]
        return slope * t + self.wiggle(t, t)

    cdef double predict(self, double t, double *variance) noexcept nogil:
        cdef Py_ssize_t i
        cdef double left = self.whiten(t, &self.k[0]), one = 1, total = 0, level = 0, rate
        for i in range(self.kept):
            total += self.ones[i] * self.ones[i]
            level += self.ones[i] * self.error[i]
        level /= total
        rate = level + self.mean * t
        for i in range(self.kept):
            left -= self.k[i] * self.k[i]
            one -= self.k[i] * self.ones[i]
            rate += self.k[i] * (self.error[i] - level * self.ones[i])
        variance[0] = left + one * one / total + self.noise
        for i in range(self.kept):                    # for `compare`: whitened weights
            self.k[i] += one / total * self.ones[i]
        return rate

    cdef void compare(self, double t, double rate) noexcept nogil:
        """Its variance is that of f(t) - sum_j alpha_j f(t_j), and more; alpha = L'^-1 k."""
        cdef Py_ssize_t i, j, m = self.kept
        cdef double variance = 0, error = rate - self.predict(t, &variance), own
        own = self.wiggle(t, t)
        for i in range(m - 1, -1, -1):
            for j in range(i + 1, m):
                self.k[i] -= self.L[j, i] * self.k[j]
            self.k[i] /= self.L[i, i]
        for i in range(m):
            own -= 2 * self.k[i] * self.wiggle(t, self.times[i])
            for j in range(m):
                own += self.k[i] * self.k[j] * self.wiggle(self.times[i], self.times[j])
        self.log_next += (LEARNING_RATE * own / variance
                          * (fmin(error * error / variance, SURPRISE) - 1))
        self.log_next = fmax(self.log_next, self.least_wiggle)

    def state(self):
        """Also the observations, and a."""
        rows = np.asarray(self.times), np.asarray(self.rates), np.asarray(self.noises)
        return [*Band.state(self), self.log_wiggle, self.log_next,
                np.array([row[:self.kept] for row in rows])]

    def set_state(self, state):
        """Continue from a `state()`."""
        *rest, self.log_wiggle, self.log_next, rows = state
        Band.set_state(self, rest)
        self.kept = 0
        for t, rate, noise in rows.T:
            self.append(t, rate, noise)
