"""Bouncy particle samplers: at an event the velocity is reflected in the gradient,
or drawn anew.
"""
import numpy as np

from libc.math cimport sqrt

from sgmc.samplers.bases.piecewise.bounces cimport reflected, refreshed
from sgmc.samplers.bases.piecewise.bounces import REFRESHMENT_COST
from sgmc.core.contract cimport BOUND, OK, Gradient, Rng, State, next_exponential
from sgmc.samplers.bases.events cimport TAKEN, Guided, arrival, distance, inner
from sgmc.samplers.bases.events import EventSpec
from sgmc.core.spec import Parameter


cdef class Bouncing(Guided):
    """Velocities on the sphere of radius sqrt(d), drawn anew at rate refresh sqrt(d) / unit:
    `refresh` times in a path of length unit.
    """

    cdef double refresh

    def __init__(self, Py_ssize_t dim, double unit, double refresh):
        Guided.__init__(self, dim, unit)
        self.refresh = refresh

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return self.draw(s, rng)

    cdef double patience(self, Rng rng) noexcept nogil:
        """Time until the velocity is drawn anew."""
        return next_exponential(rng) * self.step_size / (self.refresh * sqrt(<double> self.dim))

    cdef int draw(self, State *s, Rng rng) noexcept nogil:
        refreshed(rng, s.dim, NULL, s.v)
        return OK

    cdef int bounce(self, State *s) noexcept nogil:
        reflected(s.dim, NULL, &self.g[0], s.v, s.v)
        return OK


cdef class BouncyTransition(Bouncing):
    """All rows: along a line the rate is at most max(0, -v . g + kinks + v'Hv t)."""

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t i
        cdef double a, b = 0, wait, patience = self.patience(rng)
        cdef int outcome
        self.guide(s, g, rng)
        a = -inner(s.dim, s.v, &self.g[0])
        for i in range(s.dim):
            a += g.bounds.jump[i] * abs(s.v[i])
            b += s.v[i] * inner(s.dim, &g.bounds.hessian[i, 0], s.v)
        wait = arrival(rng, a, b)
        self.move(s, min(wait, patience))
        g.estimate(s.x, rng, &self.g[0], NULL)
        if patience < wait:
            return self.draw(s, rng)
        outcome = self.thin(rng, -inner(s.dim, s.v, &self.g[0]), a + b * wait, b)
        if outcome == BOUND:
            return BOUND
        return self.bounce(s) if outcome == TAKEN else OK


cdef class LipschitzTransition(Bouncing):
    """Minibatches: the rate is at most |v| (a + b |x - x*|), whatever the rows."""

    cdef double flat, steep
    cdef bint bounded

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef double far, speed = sqrt(<double> s.dim), wait, patience = self.patience(rng)
        cdef int outcome
        if not self.bounded:
            with gil:
                self.flat, self.steep = g.bounds.of_slope()
            self.bounded = True
        far = distance(s.dim, s.x, &g.bounds.centre[0])
        wait = arrival(rng, speed * (self.flat + self.steep * far), speed * speed * self.steep)
        self.move(s, min(wait, patience))
        if patience < wait:
            return self.draw(s, rng)
        g.estimate(s.x, rng, &self.g[0], NULL)
        outcome = self.thin(rng, -inner(s.dim, s.v, &self.g[0]),
                               speed * (self.flat + self.steep * (far + speed * wait)),
                               speed * self.flat)
        if outcome == BOUND:
            return BOUND
        return self.bounce(s) if outcome == TAKEN else OK


class BPS(EventSpec):
    """Bouncy particle sampler with all rows (Bouchard-Cote, Vollmer & Doucet 2018; Pakman et al.
    2017, algorithm 1): exact.

    x moves with velocity v, |v| = sqrt(d), which at rate max(0, v . U'(x)) becomes v - 2 (v . U')
    U' / |U'|^2, U = -log posterior, and is drawn anew from the sphere at rate `refresh` sqrt(d).
    Bounces are proposed at rate max(0, v . U'(x0) + v'Hv t) on the line x0 + v t, where H bounds
    the curvature of U everywhere: an event costs a pass through the data.  The paper's velocities
    have length 1, which is another unit of time.
    """

    name = "bps"
    all_rows = True
    parameters = (
        Parameter("refresh", 0.5, "times that the velocity is drawn anew in a path as long as a "
                                  "posterior sd; less is better for means, more for the distance "
                                  "to the mode", 0.0, 1e6),
    )

    def build(self, dim, step):
        return BouncyTransition(dim, step, self.refresh)

    def events(self, bounds, unit):
        """The wait for v'Hv t, and refreshment."""
        return float(np.sqrt(2 / np.pi * np.trace(bounds.hessian))
                     + self.refresh * np.sqrt(bounds.dim) / unit)

    def memory(self, bounds, unit):
        """On a Gaussian in 1 to 100 dimensions, measured."""
        return 2 * unit * (1 + REFRESHMENT_COST * self.refresh * np.sqrt(bounds.dim))


class LipSBPS(EventSpec):
    """Bouncy particle sampler with subsampling and a Lipschitz bound (Pakman et al. 2017, sections
    6 and 7.1): exact.

    Bounces are those of `bps` for g, an unbiased estimate of U' from one random row, in its place,
    both in the rate max(0, v . g) and in the reflection (their theorem 1).  Proposed at rate |v| N
    max_j |z_j| S_j + the prior's part, S_j the largest |score| of row j, z_j its predictors in the
    sampler's coordinates: what the likelihood of any one row changes by along any line, times N.
    Where scores have no bound (probit) S_j is |s_j*| + K_j |z_j| |x - x*|, K_j that of the
    curvature.
    """

    name = "lipsbps"
    estimator = "simple"
    parameters = (
        Parameter("refresh", 0.5, "times that the velocity is drawn anew in a path as long as a "
                                  "posterior sd, besides noisy bounces",
                  0.0, 1e6),
    )

    def build(self, dim, step):
        return LipschitzTransition(dim, step, self.refresh)

    def events(self, bounds, unit):
        """The bound at a typical distance of the mode, and refreshment."""
        flat, steep = bounds.of_slope()
        root = np.sqrt(bounds.dim)
        return float(root * (flat + steep * unit * root) + self.refresh * root / unit)

    def memory(self, bounds, unit):
        """As of the zig-zag process with such rows, and of `bps` with such refreshment."""
        return 2 * unit * (1 + float(np.max(bounds.noise)) * unit
                           + REFRESHMENT_COST * self.refresh * np.sqrt(bounds.dim))
