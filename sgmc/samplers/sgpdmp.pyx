"""Stochastic gradient piecewise-deterministic samplers: rates are held for a step of time.  And their sticky forms."""
import math

import numpy as np

from libc.math cimport INFINITY, fmax, fmin, sqrt

from sgmc.core.bounces cimport reflected, refreshed
from sgmc.core.contract cimport BOUND, DIVERGED, OK, Gradient, Rng, State, next_exponential, next_uniform
from sgmc.core.events cimport TAKEN, Events, arrival, inner
from sgmc.core.events import EventSpec
from sgmc.core.spec import Parameter
from sgmc.core.sticky cimport Sticky, signs

REFRESHED = 0.75          # what a refreshment in a path of one sd, over sqrt(d), adds to the autocorrelation time
INCLUSION = Parameter("inclusion", 0.5, "prior probability that a slope is not zero", 0.0, 1.0)


cdef class HeldZigZag(Sticky):
    """Flips at rates max(0, -v_i g_i) for a time h, g one minibatch's; then the next one."""

    cdef double left                          # of the time that g is held for
    cdef double[::1] g

    def __init__(self, Py_ssize_t dim, double step):
        Sticky.__init__(self, dim, step)
        self.g = np.zeros(dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return signs(s, rng)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t i, which = -1, last = -1
        cdef double total = 0, wait, hit, free, u
        if self.left <= 0:
            g.estimate(s.x, rng, &self.g[0], NULL)
            self.left = self.step_size
        for i in range(s.dim):
            total += fmax(-s.v[i] * self.g[i], 0.)
        wait = next_exponential(rng) / total if total > 0 else INFINITY
        hit, free = self.crossing(s, &which), self.freedom(s, rng)
        self.move(s, fmin(fmin(wait, hit), fmin(free, self.left)))
        self.left = 0 if s.dt == self.left else self.left - s.dt
        if which >= 0 and s.dt == hit:
            self.stick(s, which)
        elif s.dt == free:
            self.leave(s, rng)
        elif s.dt == wait:
            u = next_uniform(rng) * total
            for i in range(s.dim):
                if s.v[i] * self.g[i] < 0:
                    last = i
                    u += s.v[i] * self.g[i]
                    if u < 0:
                        break
            s.v[last] = -s.v[last]
        return OK

    def state(self):
        """Also the gradient that is held."""
        return {**Sticky.state(self), "g": np.array(self.g), "left": self.left}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sticky.set_state(self, state)
        np.asarray(self.g)[:], self.left = state["g"], state["left"]


cdef class HeldBouncy(Events):
    """A bounce in g at rate max(0, -v . g) for a path of length h, |v| = sqrt(d), g one minibatch's; then the next one."""

    cdef public double unit                   # of time, that refreshments are counted in
    cdef double refresh, left
    cdef double[::1] g

    def __init__(self, Py_ssize_t dim, double step, double refresh):
        Events.__init__(self, dim, step)
        self.refresh, self.unit, self.g = refresh, 1.0, np.zeros(dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        refreshed(rng, s.dim, NULL, s.v)
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef double rate, wait, patience = next_exponential(rng) * self.unit / (self.refresh * sqrt(<double> s.dim))
        if self.left <= 0:
            g.estimate(s.x, rng, &self.g[0], NULL)
            self.left = self.step_size / sqrt(<double> s.dim)
        rate = -inner(s.dim, s.v, &self.g[0])
        wait = next_exponential(rng) / rate if rate > 0 else INFINITY
        self.move(s, fmin(fmin(wait, patience), self.left))
        self.left = 0 if s.dt == self.left else self.left - s.dt
        if s.dt == patience:
            refreshed(rng, s.dim, NULL, s.v)
        elif s.dt == wait:
            reflected(s.dim, NULL, &self.g[0], s.v, s.v)
        return OK

    def state(self):
        """Also the gradient that is held."""
        return {**Events.state(self), "g": np.array(self.g), "left": self.left}

    def set_state(self, state):
        """Continue from a `state()`."""
        Events.set_state(self, state)
        np.asarray(self.g)[:], self.left = state["g"], state["left"]


cdef class StickyKernel(Sticky):
    """All rows, as the exact zig-zag process: bounds are those of the coordinates that move."""

    cdef double[::1] g, root
    cdef bint known, bounded

    def __init__(self, Py_ssize_t dim, double unit):
        Sticky.__init__(self, dim, unit)
        self.g = np.zeros(dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return signs(s, rng)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t i, flip = 0, which = -1
        cdef double wait, first = INFINITY, bound, swing = 0, hit, free
        cdef int verdict
        if not self.bounded:
            with gil:
                self.root = np.sqrt(np.diag(g.bounds.hessian))
            self.bounded = True
        if not self.known:
            g.estimate(s.x, rng, &self.g[0], NULL)
            self.known = True
        for i in range(s.dim):
            swing += s.v[i] * inner(s.dim, &g.bounds.hessian[i, 0], s.v)
        swing = sqrt(fmax(swing, 0.))
        for i in range(s.dim):
            wait = arrival(rng, g.bounds.jump[i] - s.v[i] * self.g[i], self.root[i] * swing) if s.v[i] != 0 else INFINITY
            if wait < first:
                first, flip = wait, i
        bound = g.bounds.jump[flip] - s.v[flip] * self.g[flip] + self.root[flip] * swing * first
        hit, free = self.crossing(s, &which), self.freedom(s, rng)
        self.move(s, fmin(first, fmin(hit, free)))
        if s.dt == INFINITY:                                  # nothing moves, or nothing holds it
            return DIVERGED
        if s.dt == hit:
            self.stick(s, which)
        g.estimate(s.x, rng, &self.g[0], NULL)
        if s.dt == free:
            self.leave(s, rng)
        if s.dt == hit or s.dt == free:
            return OK
        verdict = self.verdict(rng, -s.v[flip] * self.g[flip], bound, self.root[flip] * swing)
        if verdict == BOUND:
            return BOUND
        if verdict == TAKEN:
            s.v[flip] = -s.v[flip]
        return OK

    def state(self):
        """Also the gradient where the next line begins."""
        return {**Sticky.state(self), "g": np.array(self.g) if self.known else None}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sticky.set_state(self, state)
        self.known = state["g"] is not None
        np.asarray(self.g)[:] = state["g"] if self.known else 0.0


class SGPDMP(EventSpec):
    """Stochastic gradient piecewise-deterministic sampler (Fearnhead, Grazzi, Nemeth & Roberts 2024): rates held over a step.

    At the beginning of a step g, an estimate of the gradient of log posterior, comes from a minibatch and is held.  ``"zigzag"``: for a
    time h each v_i is reversed at rate max(0, -v_i g_i).  ``"bouncy"``: for a path of length h, |v| = sqrt(d), v becomes
    v - 2 (v . g) g / |g|^2 at rate max(0, -v . g), and is drawn anew at rate `refresh` sqrt(d) / sd.  A step costs a minibatch, needs no
    bounds and has none to exceed; rates lag behind by half a step, which makes draws too wide, to first order in h.
    """

    name = "sgpdmp"
    exact = False
    needs_bounds = False
    holds = True
    parameters = (
        Parameter("dynamics", "zigzag", "what moves", choices=("zigzag", "bouncy")),
        Parameter("refresh", 0.5, "bouncy: times that the velocity is drawn anew in a path as long as a posterior sd", 0.0, 1e6),
    )

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return HeldZigZag(dim, step) if self.dynamics == "zigzag" else HeldBouncy(dim, step, self.refresh)

    def inflation(self, h, noise):
        """h sqrt((1 + V) / (2 pi)) in zig-zag form; in bouncy form 2 + 4 / (1 + V)^2 times that, measured; less in few dimensions.

        At a time t into a step rates know the place t ago, and by then velocities whose noise was against them have gone: on N(0, 1) the
        difference of the rates of v and -v at x is x - t (1 + V) (2 Phi(x / sqrt V) - 1).  With t = h/2 on average this changes
        -log density by -(1 + V) h/2 int_0^|x| (2 Phi(u / sqrt V) - 1) du, whose covariance with x^2 is the error (Stein's identity).
        A bounce off the g of a while ago also turns v by less than it should: the same again; and without noise |x| forgets slowly.
        """
        own = h * math.sqrt((1 + noise) / (2 * math.pi))
        return own if self.dynamics == "zigzag" else own * (2 + 4 / (1 + noise) ** 2)

    def noise_ratio(self, h, noise):
        """None: a step injects no noise that the gradient's could be compared with."""
        return 0.0

    def events(self, bounds, unit):
        """Steps, and flips or bounces on a Gaussian."""
        root = math.sqrt(bounds.dim)
        turns = 0.4 * math.sqrt(1 + bounds.noise) / unit
        if self.dynamics == "zigzag":
            return 1 / (bounds.step * unit) + turns * bounds.dim
        return root / (bounds.step * unit) + root * (turns + self.refresh / unit)

    def memory(self, bounds, unit):
        """As of `zzss` and `sbps`."""
        if self.dynamics == "zigzag":
            return 2 * unit * (1 + 0.8 * math.sqrt(bounds.noise))
        turns = self.refresh * math.sqrt(bounds.dim) + 1.2 * math.sqrt(bounds.noise / bounds.dim)
        return 2 * unit * (1 + REFRESHED * turns)


class StickySGPDMP(SGPDMP):
    """`sgpdmp` in zig-zag form for spike-and-slab priors: which slopes are zero, and how large the others are.

    Each slope is zero with probability 1 - `inclusion` a priori, else it has the prior of the fit, its slab f.  A slope that comes to zero
    stays there for an exponential time with rate w / (1 - w) f(0) |v|, w = `inclusion` (Bierkens, Grazzi, van der Meulen & Schauer
    2023, section 2.3; Fearnhead, Grazzi, Nemeth & Roberts 2024, section 5); `Results.inclusion` has the posterior probabilities.
    It moves natural coordinates, at most scaled one by one: in mixtures of them zero is no place.
    """

    name = "stickysgpdmp"
    sticky = True
    parameters = (INCLUSION,)
    dynamics = "zigzag"


class StickyZigZag(EventSpec):
    """Sticky zig-zag process with all rows (Bierkens, Grazzi, van der Meulen & Schauer 2023, section 2.3): exact, for spike and slab.

    `zigzag` whose slopes stay at zero as those of `stickysgpdmp` do; while one does, bounds of the others' rates are lower.
    """

    name = "stickyzigzag"
    all_rows = True
    sticky = True
    parameters = (INCLUSION,)

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return StickyKernel(dim, step)

    def events(self, bounds, unit):
        """As of `zigzag`, where nothing sticks."""
        diagonal = np.diag(bounds.hessian)
        return float(np.sqrt(2 / np.pi * np.sqrt(diagonal).sum() * np.sqrt(diagonal.sum())))
