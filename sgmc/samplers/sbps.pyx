"""Stochastic bouncy particle samplers: bounces by minibatches, proposed below a regression of their
noisy rate on time.
"""
import math

import numpy as np

from libc.math cimport fmax, fmin, sqrt
from libc.stdint cimport int64_t

from sgmc.samplers.bases.band cimport Band
from sgmc.samplers.bases.bounces cimport reflected, refreshed
from sgmc.samplers.bases.bounces import REFRESHMENT_COST
from sgmc.core.contract cimport OK, Gradient, Rng, State, next_exponential, next_uniform
from sgmc.samplers.bases.events cimport Events, inner
from sgmc.samplers.bases.events import EventSpec
from sgmc.core.spec import Parameter


cdef class RegressionTransition(Events):
    """A step is a proposed bounce, a refreshment,
    or a look at the rate where the band proposes nothing for long.

    The path has velocity A u; A is the identity unless preconditioned: then it is learned while
    warming, from the gradients of bounces and looks, and renewed where the velocity changes.
    """

    cdef readonly int64_t violated  # proposals whose rate exceeded the bound, after warmup
    # sums over proposals of max(0, rate / bound - 1) and min(1, rate / bound)
    cdef readonly double excess, due
    cdef double refresh, past, floor, age   # age: time since the velocity changed
    cdef bint known, learns
    cdef double[::1] g, u, scale, v           # v: running mean of squared gradients
    cdef Band band

    def __init__(self, Py_ssize_t dim, double unit, double refresh, double confidence,
                 double past=0, double floor=0):
        Events.__init__(self, dim, unit)
        self.refresh, self.past, self.floor, self.learns = refresh, past, floor, past > 0
        self.g, self.u = np.zeros(dim), np.zeros(dim)
        self.scale, self.v = np.ones(dim), np.zeros(dim)
        self.band = Band(confidence, unit, np.sqrt(dim) / unit)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        refreshed(rng, s.dim, &self.scale[0], s.v)
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef double noise = 0, rate, t = 0, wait
        cdef double patience = next_exponential(rng) * self.step_size / (self.refresh
                                                                         * sqrt(<double> s.dim))
        cdef bint proposed
        if not self.known:
            self.begin(self.observe_rate(s, g, rng, &noise), noise)
            self.known = True
        proposed = self.band.propose(rng, self.age, &t)
        wait = t - self.age
        self.move(s, fmin(wait, patience))
        self.age += s.dt
        if patience < wait:
            self.renew()
            refreshed(rng, s.dim, &self.scale[0], s.v)
            self.known = False
            return OK
        rate = self.observe_rate(s, g, rng, &noise)
        self.band.add(self.age, rate, noise)
        if not (proposed and self.happens(rng, rate)):
            return OK
        self.band.learn()
        if not (self.learns and self.warming):
            g.sloped(s.x, &self.g[0])
        self.bounce(s)
        self.begin(-inner(s.dim, s.v, &self.g[0]), noise)
        return OK

    cdef double observe_rate(self, State *s, Gradient g, Rng rng, double *noise) except? -1 nogil:
        """v . U' by a fresh minibatch, and its variance; its gradient only where it is learned
        from."""
        cdef Py_ssize_t j
        cdef double slope = 0
        g.slope(s.x, s.v, rng, &slope, noise, True)
        if self.learns and self.warming:
            g.sloped(s.x, &self.g[0])
            for j in range(s.dim):
                self.v[j] += (1 - self.past) * (self.g[j] * self.g[j] - self.v[j])
        return -slope

    cdef void begin(self, double rate, double noise) noexcept nogil:
        """The velocity has changed: what is known of the line ahead is one rate."""
        self.band.clear()
        self.age = 0
        self.band.add(0, rate, noise)

    cdef bint happens(self, Rng rng, double rate) noexcept nogil:
        """Whether a proposed bounce happens; rates above the bound are counted,
        with what they exceed it by.
        """
        cdef double share = fmax(rate, 0.) / self.band.bound
        if not self.warming:
            self.proposed += 1
            self.violated += share > 1
            self.excess += fmax(share - 1, 0.)
            self.due += fmin(share, 1.)
        if not next_uniform(rng) < share:
            return False
        self.accepted += not self.warming
        return True

    cdef void bounce(self, State *s) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(s.dim):
            self.u[j] = s.v[j] / self.scale[j]
        reflected(s.dim, &self.scale[0], &self.g[0], s.v, &self.u[0])
        if self.learns and self.warming:
            for j in range(s.dim):
                s.v[j] /= self.scale[j]
            self.renew()
            for j in range(s.dim):
                s.v[j] *= self.scale[j]

    cdef void renew(self) noexcept nogil:
        """A_j = (eps + max_i sqrt(v_i)) / (eps + sqrt(v_j)), at least one."""
        cdef Py_ssize_t j
        cdef double most = 0
        if not (self.learns and self.warming):
            return
        for j in range(self.dim):
            most = fmax(most, sqrt(self.v[j]))
        for j in range(self.dim):
            self.scale[j] = (self.floor + most) / (self.floor + sqrt(self.v[j]))

    @property
    def missed(self):
        """Share of the bounces that should have happened which the bound lost, after warmup; NaN
        before there were any.
        """
        return self.excess / (self.due + self.excess) if self.due > 0 else math.nan

    def state(self):
        """Also the band, the preconditioner and what was violated."""
        return {**Events.state(self), "band": self.band.state(), "age": self.age,
                "known": self.known,
                "scale": np.array(self.scale), "v": np.array(self.v),
                "violations": [self.violated, self.excess, self.due]}

    def set_state(self, state):
        """Continue from a `state()`."""
        Events.set_state(self, state)
        self.band.set_state(state["band"])
        self.age, self.known = state["age"], state["known"]
        np.asarray(self.scale)[:], np.asarray(self.v)[:] = state["scale"], state["v"]
        self.violated, self.excess, self.due = state["violations"]


class SBPS(EventSpec):
    """Stochastic bouncy particle sampler (Pakman, Gilboa, Carlson & Paninski 2017, section 4).

    Bounces v - 2 (v . g) g / |g|^2 at rate max(0, v . g), g an estimate of U' from a fresh
    minibatch at each look, U = -log posterior: with rates below their bound the posterior is
    invariant whatever the noise (their theorem 1).  The bound is the upper edge of a
    confidence band: rates seen since the last bounce are regressed on time, with noise c^2 = N^2/n
    (1 - n/N) Var_i[v . grad log p_i] (eq. 10-13); `confidence` is their k.  Where a rate exceeds
    its bound, too few bounces happen and draws are too wide.
    """

    name = "sbps"
    exact = False
    needs_bounds = False
    parameters = (
        Parameter("confidence", 3.0, "k, sds by which the bound lies above the rate predicted; 3 "
                                     "to 5", 0.0, 100.0),
        Parameter("refresh", 0.2, "times that the velocity is drawn anew in a path as long as a "
                                  "posterior sd; where bounces are noisy, less is better", 0.0,
                  1e6),
    )

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return RegressionTransition(dim, step, self.refresh, self.confidence)

    def inflation(self, h, noise):
        """Rates G + c Z with c far above G lose 2 P(Z > k) of their difference between v and -v,
        which is what holds x back.
        """
        return math.erfc(self.confidence / math.sqrt(2)) if noise else 0.0

    def widening(self, missed):
        """Relative error of the variance where that share of all bounces is lost.

        Bounces at (1 - loss) times the right rates leave that power of the posterior invariant.
        The loss is `missed` where rates have no noise, and 2 P(Z > k) sqrt(1 / (2 pi)) / E max(0,
        Z - k) times that where they are mostly noise: see `inflation`.
        """
        k = self.confidence
        tail, peak = 0.5 * math.erfc(k / math.sqrt(2)), 1 / math.sqrt(2 * math.pi)
        above = peak * math.exp(-0.5 * k * k) - k * tail
        loss = missed * max(1.0, 2 * tail * peak / above) if above > 0 else missed
        return loss / (1 - loss) if loss < 1 else math.inf

    def expected(self):
        """Share of proposals whose rates exceed the bound if the regression is right."""
        return 0.5 * math.erfc(self.confidence / math.sqrt(2))

    def events(self, bounds, unit):
        """Proposals below a band around G + c Z with G of sd sqrt(d) / unit, and refreshment."""
        root, c = math.sqrt(bounds.dim), math.sqrt(bounds.noise)
        return root / unit * (0.8 + self.confidence * min(c, 1 + c / 2) + self.refresh)

    def memory(self, bounds, unit):
        """As of `bps`; a bounce of noise turns v by as much as 3/d refreshments,
        at rate 0.4 c sqrt(d) / unit.
        """
        turns = self.refresh * math.sqrt(bounds.dim) + 1.2 * math.sqrt(bounds.noise / bounds.dim)
        return 2 * unit * (1 + REFRESHMENT_COST * turns)


class PSBPS(SBPS):
    """Preconditioned stochastic bouncy particle sampler (Pakman, Gilboa, Carlson & Paninski 2017,
    section 5).

    `sbps` for z, x = A z: the path is x + A u t, it bounces at rate max(0, u . A g), u - 2 (u . A
    g) A g / |A g|^2.  A_j is proportional to 1 / (eps + sqrt(v_j)), v_j <- a v_j + (1 - a) g_j^2
    over gradients of looks (eq. 17-18), and scaled so that the smallest is one: the factor is a
    unit of time alone.  A is learned in warmup and constant from then on.  Then it is a linear map,
    which changes nothing that is invariant (eq. 14-16); an A that kept following the chain would
    depend on x, and what the paper leaves out then is a bias of its own.
    """

    name = "psbps"
    parameters = (
        *SBPS.parameters,
        Parameter("past", 0.99, "a, weight of the past in the mean of squared gradients", 0.0, 1.0),
        Parameter("floor", 1e-4, "eps, added to the root of that mean", 0.0, 1e10),
    )

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return RegressionTransition(dim, step, self.refresh, self.confidence, self.past, self.floor)
