"""Bouncing particles whose bounces are proposed below a band that predicts their noisy rate."""
import math

import numpy as np

from libc.math cimport fmax, fmin, sqrt
from libc.stdint cimport int64_t

from sgmc.core.contract cimport OK, Gradient, Rng, State, next_exponential, next_uniform
from sgmc.samplers.bases.piecewise.band cimport Band
from sgmc.samplers.bases.piecewise.bounces cimport reflected, refreshed
from sgmc.samplers.bases.events cimport Events, inner


cdef class RegressionTransition(Events):
    """A step is a proposed bounce, a refreshment,
    or a look at the rate where the band proposes nothing for long.

    The path has velocity A u; A is the identity unless preconditioned: then it is learned from the
    gradients of looks, while warming, and renewed where the velocity changes; or always, and
    renewed at each look (`moving`).
    """

    cdef readonly int64_t violated  # proposals whose rate exceeded the bound, after warmup
    # sums over proposals of max(0, rate / bound - 1) and min(1, rate / bound)
    cdef readonly double excess, due
    cdef double refresh, past, floor, age   # age: time since the velocity changed
    cdef bint known, learns, moving
    cdef double[::1] g, u, scale, v           # v: running mean of squared gradients
    cdef Band band

    def __init__(self, Py_ssize_t dim, double unit, double refresh, Band band not None,
                 double past=0, double floor=0, bint moving=False):
        Events.__init__(self, dim, unit)
        self.refresh, self.past, self.floor, self.learns = refresh, past, floor, past > 0
        self.moving, self.band = moving, band
        self.g, self.u = np.zeros(dim), np.zeros(dim)
        self.scale, self.v = np.ones(dim), np.zeros(dim)

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
            self.renew(s.v)
            refreshed(rng, s.dim, &self.scale[0], s.v)
            self.known = False
            return OK
        rate = self.observe_rate(s, g, rng, &noise)
        self.band.add(self.age, rate, noise)
        if not (proposed and self.happens(rng, rate)):
            return OK
        self.band.learn()
        if not self.learning():
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
        if self.learning():
            g.sloped(s.x, &self.g[0])
            for j in range(s.dim):
                self.v[j] += (1 - self.past) * (self.g[j] * self.g[j] - self.v[j])
            if self.moving:
                self.renew(s.v)
                return -inner(s.dim, s.v, &self.g[0])
        return -slope

    cdef bint learning(self) noexcept nogil:
        """Whether the preconditioner takes in gradients."""
        return self.learns and (self.warming or self.moving)

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
        if not self.moving:
            self.renew(s.v)

    cdef void renew(self, double *v) noexcept nogil:
        """v = A u with A_j proportional to 1 / (eps + sqrt(v_j)): at least one, or one on average.
        """
        cdef Py_ssize_t j
        cdef double most = 0, total = 0
        if not self.learning():
            return
        for j in range(self.dim):
            most = fmax(most, sqrt(self.v[j]))
            total += 1 / (self.floor + sqrt(self.v[j]))
        for j in range(self.dim):
            v[j] /= self.scale[j]
            self.scale[j] = ((self.dim / total if self.moving else self.floor + most)
                             / (self.floor + sqrt(self.v[j])))
            v[j] *= self.scale[j]

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
