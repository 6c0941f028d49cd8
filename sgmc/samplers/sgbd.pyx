"""Stochastic gradient Barker dynamics: vsgbd, csgbd and esgbd.

A symmetric increment z is drawn for each coordinate; the gradient only decides its sign, so that no
gradient, however large, can throw the chain.  The three differ in the probability of keeping the
sign.
"""
import copy
import math

import numpy as np
from scipy.special import erf, expit

from libc.math cimport exp, fabs, isfinite, sqrt
from libc.stdint cimport int64_t

from sgmc.core.numerics cimport simd
from sgmc.core.contract cimport (
    DIVERGED, OK, Gradient, Rng, Sampler, State, normal_fill, uniform_fill,
)
from sgmc.samplers.bases.noise cimport NoiseTracker
from sgmc.samplers.bases.noise import NOISE_WEIGHT
from sgmc.core.spec import Parameter, SamplerSpec
from sgmc.core.stationary import normal_nodes, side_to_side
from sgmc.errors import ArgumentError

cdef enum:
    VANILLA = 0
    CORRECTED = 1
    EXTREME = 2

PUBLISHED = "published"
BREAKING = 1.702                  # logistic(x) is within 0.0095 of the normal cdf at x / 1.702
MATCHED = 4 / math.sqrt(2 * math.pi)  # and has its slope at zero for this factor, 1.596
TOPPED, BATCH = "topped", "batch"
BIMODAL_QUANTILE = 1.233  # 99 % of bimodal increments are below 1.233 sigma (1 + 0.1 * 2.33)
NORMAL_QUANTILE = 2.576           # and of normal ones
cdef double C_BREAKING = BREAKING, C_QUANTILE = BIMODAL_QUANTILE


cdef class SGBDTransition(Sampler):
    """theta_j <- theta_j + b_j z_j, b_j = +1 with probability p_j, else -1."""

    cdef int rule
    cdef bint bimodal, adaptive, capped
    cdef double floor  # of tau |z|, up to which noise is added
    cdef NoiseTracker noise
    cdef readonly int64_t beyond, corrected  # increments past the breaking point, of so many
    cdef double[::1] g, z, u, p

    def __init__(self, Py_ssize_t dim, double step_size, int rule, bint bimodal, adaptive,
                 double beta, double floor):
        Sampler.__init__(self, dim, step_size)
        self.rule, self.bimodal, self.floor = rule, bimodal, floor
        self.adaptive, self.capped = bool(adaptive), adaptive != PUBLISHED
        self.noise = NoiseTracker(dim, beta)
        self.g, self.z, self.u, self.p = np.zeros(dim), np.zeros(dim), np.zeros(dim), np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef bint noisy = self.adaptive or self.rule == CORRECTED or self.floor > 0
        g.estimate(s.x, rng, &self.g[0], &self.noise.sd[0] if noisy else NULL)
        if noisy:
            self.noise.track()
        self.increments(rng)
        for j in range(s.dim):
            if not isfinite(self.g[j]):
                s.diverged_index = j
                return DIVERGED
            self.p[j] = self.z[j] * self.g[j]
        if self.rule == EXTREME:
            if self.floor > 0:
                self.top_up(rng)
            for j in range(s.dim):
                s.x[j] += self.z[j] if self.p[j] > 0 else -self.z[j]
            return OK
        if self.rule == CORRECTED:
            self.correct()
        simd.expit(s.dim, &self.p[0], &self.p[0])
        uniform_fill(rng, s.dim, &self.u[0])
        for j in range(s.dim):
            s.x[j] += self.z[j] if self.u[j] < self.p[j] else -self.z[j]
        return OK

    cdef void increments(self, Rng rng) noexcept nogil:
        """z_j ~ N(sigma, (0.1 sigma)^2), or N(0, sigma^2); with `adaptive`, sigma_j = 1.702 /
        (1.233 tau_j), where smaller or, uncapped, anywhere.
        """
        cdef Py_ssize_t j
        cdef double sigma = self.step_size
        normal_fill(rng, self.dim, &self.z[0])
        for j in range(self.dim):
            if self.adaptive:
                sigma = C_BREAKING / (C_QUANTILE * max(self.noise.sd[j], 1e-300))
                if self.capped:
                    sigma = min(self.step_size, sigma)
            self.z[j] = sigma * (1 + 0.1 * self.z[j]) if self.bimodal else sigma * self.z[j]

    cdef void top_up(self, Rng rng) noexcept nogil:
        """Normal noise is added to z g, so that its sd tau |z| is at least `floor`."""
        cdef Py_ssize_t j
        cdef double t
        normal_fill(rng, self.dim, &self.u[0])
        for j in range(self.dim):
            t = self.noise.sd[j] * self.z[j]
            self.p[j] += sqrt(max(self.floor * self.floor - t * t, 0.0)) * self.u[j]

    cdef void correct(self) noexcept nogil:
        """z g times alpha = 1.702 / sqrt(1.702^2 - tau^2 z^2);
        beyond the breaking point the extreme rule.
        """
        cdef Py_ssize_t j
        cdef double t
        for j in range(self.dim):
            t = self.noise.sd[j] * fabs(self.z[j])
            if t < C_BREAKING:
                self.p[j] *= C_BREAKING / sqrt(C_BREAKING * C_BREAKING - t * t)
            else:
                self.p[j] = 1000 if self.p[j] > 0 else -1000
                self.beyond += 1
        self.corrected += self.dim

    def state(self):
        """The running mean of the gradient's sd, and how often it was too large."""
        counts = {"counts": [self.beyond, self.corrected]} if self.rule == CORRECTED else {}
        return {**Sampler.state(self), "noise": self.noise.state(), **counts}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        self.noise.set_state(state["noise"])
        self.beyond, self.corrected = state.get("counts", (0, 0))


cdef class OneSignTransition(Sampler):
    """theta <- theta + b z, b = +1 with probability p(z . g), else -1; z_j is symmetric around
    zero.
    """

    cdef int rule
    cdef bint bimodal
    cdef double floor  # of the sd of z . g, up to which noise is added
    cdef readonly int64_t beyond, corrected  # increments past the breaking point, of so many
    cdef double[::1] z, u

    def __init__(self, Py_ssize_t dim, double step_size, int rule, bint bimodal, double floor):
        Sampler.__init__(self, dim, step_size)
        self.rule, self.bimodal, self.floor = rule, bimodal, floor
        self.z, self.u = np.zeros(dim), np.zeros(dim + 1)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double slope = 0, variance = 0, sign, added = 0
        normal_fill(rng, s.dim, &self.z[0])
        uniform_fill(rng, s.dim + 1, &self.u[0])
        for j in range(s.dim):
            if self.bimodal:
                self.z[j] = (1 + 0.1 * self.z[j]) * (1 if self.u[j + 1] < 0.5 else -1)
            self.z[j] *= self.step_size
        g.slope(s.x, &self.z[0], rng, &slope, &variance, False)
        if not isfinite(slope):
            s.diverged_index = 0
            return DIVERGED
        if self.floor > 0:
            normal_fill(rng, 1, &added)
            slope += sqrt(max(self.floor * self.floor - variance, 0.0)) * added
        sign = 1 if self.u[0] < self.chance(slope, variance) else -1
        for j in range(s.dim):
            s.x[j] += sign * self.z[j]
        return OK

    cdef double chance(self, double slope, double variance) noexcept nogil:
        """Of keeping the sign, by an estimate of z . g and of its variance."""
        cdef double limit = C_BREAKING * C_BREAKING
        if self.rule == CORRECTED:
            self.corrected += 1
            self.beyond += variance >= limit
        if self.rule == EXTREME or self.rule == CORRECTED and variance >= limit:
            return 1 if slope > 0 else 0
        if self.rule == CORRECTED:
            slope *= C_BREAKING / sqrt(limit - variance)
        return 1 / (1 + exp(-slope))

    def state(self):
        """How often noise was too large."""
        counts = {"counts": [self.beyond, self.corrected]} if self.rule == CORRECTED else {}
        return {**Sampler.state(self), **counts}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        self.beyond, self.corrected = state.get("counts", (0, 0))


class BarkerDynamics(SamplerSpec):
    """Base of the three rules; the step is sigma, the scale of the increments."""

    parameters = (
        Parameter("increment", "bimodal", "law of z: N(sigma, (0.1 sigma)^2) or N(0, sigma^2)",
                  choices=("bimodal", "normal")),
        Parameter("adaptive", False, "sigma_j = min(step, 1.702 / (1.233 tau_j)), tau_j the "
                                     "gradient's sd; 'published': 1.702 / (1.233 tau_j), without a "
                                     "step", choices=(False, True, PUBLISHED)),
        Parameter("sign", "coordinates", "one for each coordinate; 'global': one for all of z, "
                                         "decided by z . g", choices=("coordinates", "global")),
        NOISE_WEIGHT,
    )
    rule = VANILLA
    dim = math.nan  # of what it is fitted to, where that matters

    def __init__(self, **values):
        super().__init__(**values)
        if self.adaptive and self.one_sign:
            raise ArgumentError(f"{type(self).__name__}: adaptive={self.adaptive!r} sets the size "
                                "of each coordinate by its own noise; sign='global' has one sign "
                                "for all, so leave adaptive=False")

    @property
    def one_sign(self):
        """Whether all coordinates have the same sign."""
        return self.sign == "global"

    @property
    def floor(self):
        """The sd of z g up to which noise is added to it."""
        return 0.0

    @property
    def needs_noise(self):
        """Whether the noise of single coordinates is used."""
        noisy = self.rule == CORRECTED or self.floor > 0
        return bool(self.adaptive) or noisy and not self.one_sign

    def build(self, dim, step):
        bimodal = self.increment == "bimodal"
        if self.one_sign:
            return OneSignTransition(dim, step, self.rule, bimodal, self.floor)
        return SGBDTransition(dim, step, self.rule, bimodal, self.adaptive, self.beta, self.floor)

    def fitted_to(self, whitened, dim):
        """With one sign the error grows with the number of coordinates."""
        fitted = copy.copy(self)
        fitted.dim = dim
        return fitted

    def implied_time(self, noise):
        """E z^2 for sigma = 1.702 / (1.233 tau), where the noise alone settles sigma."""
        if self.adaptive != PUBLISHED:
            return None
        return self.langevin_time(BREAKING / BIMODAL_QUANTILE) / noise if noise else math.inf

    def langevin_time(self, step):
        """E z^2: 1.01 sigma^2 for bimodal increments."""
        return (1.01 if self.increment == "bimodal" else 1.0) * step * step

    def from_langevin(self, h):
        """sigma with E z^2 = h."""
        return (h / (1.01 if self.increment == "bimodal" else 1.0)) ** 0.5

    def breaking_point(self, step):
        """tau* = 1.702 / |z| (Mauri & Zanella, eq. 42) for an increment longer than 99 % of them,
        or where noise is topped up to less, that; none where they follow tau, or coordinates share
        a sign.
        """
        if self.adaptive or self.one_sign:
            return math.inf
        quantile = BIMODAL_QUANTILE if self.increment == "bimodal" else NORMAL_QUANTILE
        return (self.floor or BREAKING) / (quantile * step)

    @property
    def kurtosis(self):
        """k, by which errors of first order grow: E z^4 / (E z^2)^2; with one sign for d
        coordinates E |z|^4 / (d (E z^2)^2) = d - 1 + E z^4 / (E z^2)^2.
        """
        own = (1 + 6 * 0.1 ** 2 + 3 * 0.1 ** 4) / 1.01 ** 2 if self.increment == "bimodal" else 3.0
        return own + self.dim - 1 if self.one_sign else own

    def law(self, h, noise):
        """The stationary law by an expansion, with tau^2 = V known; one sign for all coordinates
        has none.

        The chance of z is E p(z g), g ~ N(-x, V): Phi(-x |z| / t) for the sign of g alone, t the
        noise of z g with what is added.
        """
        if self.one_sign:
            return super().law(h, noise)
        tau, sigma = math.sqrt(noise), self.from_langevin(h)
        if self.adaptive and tau:
            limit = BREAKING / (BIMODAL_QUANTILE * tau)
            sigma = limit if self.adaptive == PUBLISHED else min(sigma, limit)
        nodes, weights = normal_nodes(30)
        u, w = normal_nodes(9) if self.increment == "bimodal" else normal_nodes(30)
        z = sigma * (1 + 0.1 * u) if self.increment == "bimodal" else sigma * u

        def chance(x, z):
            beyond = self.rule == CORRECTED and tau * abs(z) >= BREAKING
            if self.rule == EXTREME or beyond:
                t = max(tau * abs(z), self.floor) * math.sqrt(2)
                return 0.5 * (1 + (erf(-x * z / t) if t else np.sign(-x * z)))
            alpha = 1.0
            if self.rule == CORRECTED:
                alpha = BREAKING / math.sqrt(BREAKING ** 2 - (tau * z) ** 2)
            return expit(alpha * z * (-x[:, None] + tau * nodes)) @ weights

        scale = math.sqrt(1 + min(self.first_order(h, noise), 1.0))
        return side_to_side((z, w), chance, scale)

    def first_order(self, h, noise):
        """Relative error of the variance of `vsgbd`, to first order: k (h/4)(1 + V), k = E z^4 /
        h^2: z tanh(zg/2) = z^2 g/2 - z^4 g^3/24, E g^3 = -theta^3 - 3 V theta.
        """
        return self.kurtosis * h / 4 * (1 + noise)


class VSGBD(BarkerDynamics):
    """Vanilla stochastic gradient Barker dynamics (Mauri & Zanella, Algorithm 2).

    b_j = +1 with probability 1 / (1 + exp(-z_j g_j)), else -1; theta_j <- theta_j + b_j z_j.  With
    ``sign="global"`` (their section 3) one b for all, +1 with probability 1 / (1 + exp(-z . g)):
    errors grow with the number of coordinates, and steps have to be so much smaller.

    ``adaptive="published"`` takes sigma_j = 1.702 / (1.233 tau_j) as printed (section 4.2),
    whatever the posterior's scale: with tau_j^2 = V this is a Langevin time of 1.92 / V in whitened
    coordinates, so that draws are too wide by 0.5 (1 + 1/V) of the variance to first order
    (`csgbd`: by 0.15 + 0.5 / V), for any batch.
    """

    name = "vsgbd"

    def inflation(self, h, noise):
        """k (h/4)(1 + V): see `BarkerDynamics.first_order`; `law` has the higher orders."""
        return self.first_order(h, noise)


class CSGBD(BarkerDynamics):
    """Corrected stochastic gradient Barker dynamics (Mauri & Zanella, Algorithm 3).

    As `vsgbd` with z g replaced by alpha z g, alpha = 1.702 / sqrt(1.702^2 - tau^2 z^2) where
    tau |z| < 1.702, and by its sign beyond; tau_j is the running sd of the scaled gradient
    estimate.  With ``sign="global"`` tau |z| is the sd of z . g in the batch, whatever the
    correlation of its coordinates' noise.
    """

    name = "csgbd"
    rule = CORRECTED

    def inflation(self, h, noise):
        """k (h/4)(1 + V (1 - 2/1.702^2)) to first order: alpha = 1 + tau^2 z^2 / (2 1.702^2)
        undoes most of the noise.
        """
        return self.kurtosis * h / 4 * (1 + noise * (1 - 2 / BREAKING ** 2))


class ESGBD(BarkerDynamics):
    r"""Extreme stochastic gradient Barker dynamics (Mauri & Zanella, Algorithm 4), at the breaking
    point.

    b_j = sign(z_j g_j): each coordinate moves up the estimated gradient.  Where the gradient has
    normal noise of sd tau_j, the sign of z_j is kept with probability Phi(G_j |z_j| / t), G_j the
    exact gradient and t = tau_j \|z_j\|; at t = 1.702, their breaking point, that is about the
    logistic function of G_j z_j, Barker's rule.  So noise is topped up: with `noise="topped"`
    z_j g_j gets normal noise of variance max(c^2 - tau_j^2 z_j^2, 0), c = 4 / sqrt(2 pi) = 1.596,
    for which Phi(x / c) has the slope of the logistic function at zero.  Draws are then the
    posterior's, for any batch whose own noise is below c.

    With ``noise="batch"`` the noise is that of mini-batches alone, as published, and always with
    ``adaptive="published"``: a stochastic optimiser, whose draws are as wide as the posterior only
    where that noise happens to be c.  With ``sign="global"`` tau |z| is the sd of z . g.
    """

    name = "esgbd"
    rule = EXTREME
    parameters = (
        *BarkerDynamics.parameters,
        Parameter("noise", TOPPED, "normal noise is added up to tau |z| = 4 / sqrt(2 pi); 'batch': "
                                   "that of mini-batches alone, as published",
                  choices=(TOPPED, BATCH)),
    )

    @property
    def floor(self):
        return MATCHED if self.noise == TOPPED and self.adaptive != PUBLISHED else 0.0

    @property
    def distortion(self):
        return "" if self.floor else (
            "esgbd without added noise always moves uphill: its draws scatter around the mode, "
            "their spread is not the posterior's")

    def inflation(self, h, noise):
        """k h / (2 c^2) to first order, whatever the noise is below c: z (2 Phi(zg/c) - 1) =
        z^2 g/2 - z^4 g^3 / (12 c^2); beyond c the variance is tau |z| / c of it.  Where no noise is
        added, the rule of `vsgbd`, for the choice of a default step only.
        """
        if not self.floor:
            return self.first_order(h, noise)
        beyond = max(math.sqrt(noise) * self.from_langevin(h) / self.floor, 1.0)
        return beyond * (1 + self.kurtosis * h / (2 * self.floor ** 2)) - 1
