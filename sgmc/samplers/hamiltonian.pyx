"""Underdamped Langevin dynamics, Hamiltonian dynamics with friction: sghmc and baoab."""
import math

import numpy as np

from libc.math cimport exp, fmax, sqrt

from sgmc.core.contract cimport OK, Gradient, Rng, State, normal_fill
from sgmc.samplers.bases.momentum cimport Momentum
from sgmc.samplers.bases.momentum import Underdamped, per, sweep_noise
from sgmc.core.spec import Parameter
from sgmc.core.stationary import baoab, composed


cdef enum Order:  # of the drift and the kick of a leapfrog step
    MIDDLE, DRIFT_FIRST, TOGETHER

ORDERS = {"leapfrog": MIDDLE, "published": DRIFT_FIRST, "euler": TOGETHER}


cdef class FrictionTransition(Momentum):
    """L kicks with friction, and a drift for each: half of it before the first kick and after the
    last, or all of it before the kick, or both from the same position and momentum; at first,
    where wanted, p ~ N(0, I).
    """

    cdef Py_ssize_t leapfrog
    cdef double friction
    cdef bint resample, corrected
    cdef Order order
    cdef double[::1] sd

    def __init__(self, Py_ssize_t dim, double step_size, Py_ssize_t leapfrog, double friction,
                 bint resample, bint corrected, Order order):
        Momentum.__init__(self, dim, step_size)
        self.leapfrog, self.friction = leapfrog, friction
        self.resample, self.corrected, self.order = resample, corrected, order
        self.sd = np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double e = self.step_size, keep = 1 - self.step_size * self.friction
        cdef double variance = 2 * self.step_size * self.friction, noise = sqrt(variance)
        if self.resample:
            normal_fill(rng, s.dim, &self.p[0])
        if self.order == MIDDLE:
            for j in range(s.dim):
                s.x[j] += 0.5 * e * self.p[j]
        for k in range(self.leapfrog):
            if self.order == DRIFT_FIRST:
                for j in range(s.dim):
                    s.x[j] += e * self.p[j]
            g.refresh(s.x)  # what is drawn between steps is not to drift within one
            g.estimate(s.x, rng, &self.g[0], &self.sd[0] if self.corrected else NULL)
            normal_fill(rng, s.dim, &self.xi[0])
            for j in range(s.dim):
                if self.corrected:
                    noise = sqrt(fmax(variance - e * e * self.sd[j] * self.sd[j], 0.))
                if self.order == TOGETHER:  # with the momentum before the kick
                    s.x[j] += e * self.p[j]
                self.p[j] = keep * self.p[j] + e * self.g[j] + noise * self.xi[j]
                if self.order == MIDDLE:
                    s.x[j] += (e if k + 1 < self.leapfrog else 0.5 * e) * self.p[j]
        return OK


cdef class BAOABTransition(Momentum):
    """Kick, half a drift, Ornstein-Uhlenbeck on the momentum, half a drift;
    two half kicks by one gradient are one.
    """

    cdef double friction

    def __init__(self, Py_ssize_t dim, double step_size, double friction):
        Momentum.__init__(self, dim, step_size)
        self.friction = friction

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double e = self.step_size, keep = exp(-self.step_size * self.friction)
        cdef double noise = sqrt(1 - keep * keep), p
        g.estimate(s.x, rng, &self.g[0], NULL)
        normal_fill(rng, s.dim, &self.xi[0])
        for j in range(s.dim):
            p = self.p[j] + e * self.g[j]
            self.p[j] = keep * p + noise * self.xi[j]
            s.x[j] += 0.5 * e * (p + self.p[j])
        return OK


FRICTION = Parameter("friction", 2.0, "C, per unit of time; 2 forgets fastest where the curvature "
                                      "is 1", 0.0, 1e6)


class SGHMC(Underdamped):
    """Stochastic gradient Hamiltonian Monte Carlo (Chen, Fox & Guestrin 2014, eq. 13; review, table
    1).

    `leapfrog` times: p <- p + e g - e C p + N(0, 2 e C), theta <- theta + e p, with draws read in
    the middle of a drift: there position and momentum are uncorrelated, and the step has no bias of
    its own on a Gaussian (e^2/4 where it ends).  With ``resample=True`` each step begins with p ~
    N(0, I) (their Algorithm 2; at the end of a drift this would cost 1/L of the variance, whatever
    e); with ``corrected=True`` the injected variance is 2 e C - e^2 tau_j^2 for the sd tau_j of
    each gradient estimate (their B-hat).  The gradients of a step are `leapfrog` many.  With
    ``per="step"`` the friction is that of a leapfrog step, alpha = e C (their eq. 15).

    With ``integrator="published"`` each kick follows a whole drift and draws are read after the
    kick, as in Chen, Fox & Guestrin's Algorithm 2: the variance on a Gaussian is 1 + e^2/(4 - 2 e C
    - e^2) times as large.  With ``integrator="euler"`` position and momentum move at once, each by
    the other's former value, as in the software of Coullon, South & Nemeth (2023), which has alpha
    = 0.01 and ``resample=True``.  Without `resample` it needs e < C, and the variance is about 1/(1
    - e/C) times as large.
    """

    name = "sghmc"
    rate_name = "friction"
    parameters = (
        Parameter("leapfrog", 5, "L, leapfrog steps of a step", 1, 1000, whole=True),
        FRICTION,
        Parameter("resample", False, "begin each step with a fresh momentum",
                  choices=(False, True)),
        Parameter("corrected", False, "inject less noise where the gradient brings its own",
                  choices=(False, True)),
        per("friction"),
        Parameter("integrator", "leapfrog", "drift by halves around the kicks, before each kick "
                  "(Chen et al.), or with it (explicit Euler)", choices=tuple(ORDERS)),
    )

    @property
    def damping(self):
        return self.friction

    @property
    def needs_noise(self):
        """Whether tau is used."""
        return self.corrected

    def build(self, dim, step):
        return FrictionTransition(dim, step, self.leapfrog, self.friction, self.resample,
                                  self.corrected, ORDERS[self.integrator])

    def inflation(self, h, noise):
        """eV/(2C), exact on a Gaussian where e^2 + 2eC < 4: theta is an AR(2) process, read as the
        mean of two neighbours.

        With ``corrected`` there is none while e V < 2C.  With ``resample`` theta is
        an AR(1) process: see `resampled_variance`.  Other integrators: by `law`.
        """
        if self.integrator != "leapfrog":
            return self.law(h, noise).variance - 1
        e, C = self.from_langevin(h), self.friction
        if e * e + 2 * e * C >= 4:
            return math.inf
        added = max(e * noise / (2 * C) - 1, 0.0) if self.corrected else e * noise / (2 * C)
        return (resampled_variance(e, C, self.leapfrog, 2 * e * C * (1 + added)) - 1
                if self.resample else added)

    def noise_left(self, h, parts):
        # unknown where noise is corrected for, momenta are drawn anew, or drifts are whole
        if self.corrected or self.resample or self.integrator != "leapfrog":
            return math.nan
        return sweep_noise(self.from_langevin(h), self.friction, parts)

    def recursion(self, h, noise):
        """Of position and momentum after a step: drifts and kicks in the order of `integrator`."""
        e, C = self.from_langevin(h), self.friction
        variance = 2 * e * C
        kick = max(variance, e * e * noise) if self.corrected else variance + e * e * noise
        still = np.zeros((2, 2))
        half, whole = ((np.array([[1, drift], [0, 1]]), still) for drift in (e / 2, e))
        pushed = np.array([[1, 0], [-e, 1 - e * C]]), np.diag([0, kick])
        leap = {
            "leapfrog": [half, pushed, half],
            "published": [whole, pushed],
            "euler": [(np.array([[1, e], [-e, 1 - e * C]]), np.diag([0, kick]))],
        }[self.integrator]
        fresh = [(np.diag([1.0, 0.0]), np.diag([0.0, 1.0]))] if self.resample else []
        return composed([*fresh, *leap * self.leapfrog])


def resampled_variance(e, C, leapfrog, q):
    """Variance of x under N(0, 1) for steps of `SGHMC` that begin with p ~ N(0, 1), kicks having
    noise of variance q.

    After a step x' = a x + b p + noise; the variance is (b^2 + that of the noise) / (1 - a^2).
    """
    a, b, c, d = 1.0, 0.0, 0.0, 1.0  # x' = a x + b p, p' = c x + d p so far
    xx = xp = pp = 0.0                                        # covariance of the noise in them
    for k in range(leapfrog + 1):
        f = e if 0 < k < leapfrog else e / 2
        if k:  # a kick before each drift but the first
            c, d = (1 - e * C) * c - e * a, (1 - e * C) * d - e * b
            xp, pp = ((1 - e * C) * xp - e * xx, (1 - e * C) ** 2 * pp - 2 * e * (1 - e * C) * xp
                      + e * e * xx + q)
        a, b = a + f * c, b + f * d
        xx, xp = xx + 2 * f * xp + f * f * pp, xp + f * pp
    return (b * b + xx) / (1 - a * a) if a * a < 1 else math.inf


class BAOAB(Underdamped):
    """Underdamped Langevin dynamics by the BAOAB splitting,
    with stochastic gradients (Leimkuhler & Matthews 2013).

    p <- p + e g, theta <- theta + e/2 p, p <- exp(-C e) p + sqrt(1 - exp(-2 C e)) xi, theta <-
    theta + e/2 p.  On a Gaussian the step has no bias of its own, for any e < 2; only the gradient
    noise widens the draws.
    """

    name = "baoab"
    parameters = (FRICTION,)

    @property
    def damping(self):
        return self.friction

    def build(self, dim, step):
        return BAOABTransition(dim, step, self.friction)

    def inflation(self, h, noise):
        """e^2 V (1 + a) / ((1 - a)(4 - e^2)), a = exp(-C e), exact on a Gaussian:
        theta is an AR(2) process.
        """
        e = self.from_langevin(h)
        if e >= 2:
            return math.inf
        a = math.exp(-self.friction * e)
        return e * e * noise * (1 + a) / ((1 - a) * (4 - e * e))

    def noise_left(self, h, parts):
        return sweep_noise(self.from_langevin(h), self.friction, parts)

    def recursion(self, h, noise):
        # of position and momentum
        return baoab(self.from_langevin(h), self.friction, noise)
