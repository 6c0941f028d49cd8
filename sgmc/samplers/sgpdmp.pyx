"""Stochastic gradient piecewise-deterministic samplers: rates are held for a step of time.

And their sticky forms.
"""
import math

import numpy as np

from libc.math cimport INFINITY, fmax, fmin, sqrt

from sgmc.samplers.bases.piecewise.bounces cimport reflected, refreshed
from sgmc.samplers.bases.piecewise.bounces import REFRESHMENT_COST
from sgmc.core.contract cimport OK, Gradient, Rng, State, next_exponential, next_uniform
from sgmc.samplers.bases.events cimport Guided, inner
from sgmc.samplers.bases.events import EventSpec
from sgmc.core.spec import Parameter
from sgmc.core.stationary import LINE_DEGREES, expanded, normal_nodes
from sgmc.samplers.bases.piecewise.sticky cimport Sticky, signs
from sgmc.samplers.bases.piecewise.sticky import INCLUSION
from sgmc.errors import ArgumentError


cdef class HeldZigZag(Sticky):
    """Flips at rates max(0, -v_i g_i) for a time h, g one minibatch's; then the next one."""

    cdef double left                          # of the time that g is held for

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return signs(s, rng)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t i, which = -1, last = -1
        cdef double total = 0, wait, hit, free, u
        if not self.known:
            self.left = self.step_size
        self.guide(s, g, rng)
        for i in range(s.dim):
            total += fmax(-s.v[i] * self.g[i], 0.)
        wait = next_exponential(rng) / total if total > 0 else INFINITY
        hit, free = self.crossing(s, &which), self.freedom(s, rng)
        self.move(s, fmin(fmin(wait, hit), fmin(free, self.left)))
        self.known = s.dt < self.left
        self.left -= s.dt
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
        """Also the time left."""
        return {**Sticky.state(self), "left": self.left}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sticky.set_state(self, state)
        self.left = state["left"]


cdef class HeldBouncy(Guided):
    """A bounce in g at rate max(0, -v . g) for a path of length h, |v| = sqrt(d), g one
    minibatch's; then the next one.
    """

    cdef public double unit                   # of time, that refreshments are counted in
    cdef double refresh, left

    def __init__(self, Py_ssize_t dim, double step, double refresh):
        Guided.__init__(self, dim, step)
        self.refresh, self.unit = refresh, 1.0

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        refreshed(rng, s.dim, NULL, s.v)
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef double rate
        cdef double wait
        cdef double patience = next_exponential(rng) * self.unit / (self.refresh
                                                                    * sqrt(<double> s.dim))
        if not self.known:
            self.left = self.step_size / sqrt(<double> s.dim)
        self.guide(s, g, rng)
        rate = -inner(s.dim, s.v, &self.g[0])
        wait = next_exponential(rng) / rate if rate > 0 else INFINITY
        self.move(s, fmin(fmin(wait, patience), self.left))
        self.known = s.dt < self.left
        self.left -= s.dt
        if s.dt == patience:
            refreshed(rng, s.dim, NULL, s.v)
        elif s.dt == wait:
            reflected(s.dim, NULL, &self.g[0], s.v, s.v)
        return OK

    def state(self):
        """Also the time left."""
        return {**Guided.state(self), "left": self.left}

    def set_state(self, state):
        """Continue from a `state()`."""
        Guided.set_state(self, state)
        self.left = state["left"]


class SGPDMP(EventSpec):
    """Stochastic gradient piecewise-deterministic sampler (Fearnhead, Grazzi, Nemeth &
    Roberts 2024): rates held over a step.

    At the beginning of a step g, an estimate of the gradient of log posterior, comes from a
    minibatch and is held.  ``"zigzag"``: for a time h each v_i is reversed at rate max(0, -v_i
    g_i).  ``"bouncy"``: for a path of length h, |v| = sqrt(d), v becomes
    v - 2 (v . g) g / |g|^2 at rate max(0, -v . g), and is drawn anew at rate `refresh` sqrt(d) /
    sd.  A step costs a minibatch, needs no bounds and has none to exceed; rates lag behind by half
    a step, which makes draws too wide, to first order in h.
    """

    name = "sgpdmp"
    exact = False
    needs_bounds = False
    holds = True
    parameters = (
        Parameter("dynamics", "zigzag", "what moves", choices=("zigzag", "bouncy")),
        Parameter("refresh", 0.5, "bouncy: times that the velocity is drawn anew in a path as long "
                                  "as a posterior sd", 0.0, 1e6),
    )

    def __init__(self, **values):
        super().__init__(**values)
        changed = [p.name for p in self.parameters if getattr(self, p.name) != p.default]
        if self.dynamics == "zigzag" and "refresh" in changed:
            raise ArgumentError(f"{type(self).__name__}: refresh={self.refresh:g} does not apply "
                                "to dynamics='zigzag', whose velocities are never drawn anew; "
                                "leave it out, or use dynamics='bouncy'")

    def build(self, dim, step):
        return (HeldZigZag(dim, step) if self.dynamics == "zigzag"
                else HeldBouncy(dim, step, self.refresh))

    def inflation(self, h, noise):
        """h sqrt((1 + V) / (2 pi)) in zig-zag form; in bouncy form 2 + 4 / (1 + V)^2 times that,
        measured; less in few dimensions.

        At a time t into a step rates know the place t ago, and by then velocities whose noise was
        against them have gone: on N(0, 1) the difference of the rates of v and -v at x is x - t
        (1 + V) (2 Phi(x / sqrt V) - 1).  With t = h/2 on average this changes -log density by -(1 +
        V) h/2 int_0^|x| (2 Phi(u / sqrt V) - 1) du, whose covariance with x^2 is the error (Stein's
        identity).  A bounce off the g of a while ago also turns v by less than it should: the same
        again; and without noise |x| forgets slowly.
        """
        own = h * math.sqrt((1 + noise) / (2 * math.pi))
        return own if self.dynamics == "zigzag" else own * (2 + 4 / (1 + noise) ** 2)

    def law(self, h, noise):
        """The stationary law of the place at the ends of steps, in zig-zag form, by an expansion in
        y = v x; bounces have none.

        y grows by h unless v is reversed after a time t, at rate max(0, y + sqrt(V) xi): then it
        becomes h - 2 t - y.
        """
        if self.dynamics != "zigzag":
            return super().law(h, noise)
        nodes, weights = normal_nodes(60 if noise else 1)
        at, share = np.polynomial.legendre.leggauss(5)
        times, shares = 0.5 * h * (1 + at), 0.5 * h * share

        def moves(states):
            rate = np.maximum(states + math.sqrt(noise) * nodes, 0.0)
            yield np.exp(-h * rate) @ weights, states + h, 1.0
            for t, dt in zip(times, shares):
                yield dt * (rate * np.exp(-t * rate)) @ weights, h - 2 * t - states, -1.0

        scale = math.sqrt(1 + min(self.inflation(h, noise), 1.0))
        return expanded(moves, [0.0], [scale], (40, *LINE_DEGREES))

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
        return 2 * unit * (1 + REFRESHMENT_COST * turns)


class StickySGPDMP(SGPDMP):
    """`sgpdmp` in zig-zag form for spike-and-slab priors: which slopes are zero,
    and how large the others are.

    Each slope is zero with probability 1 - `inclusion` a priori, else it has the prior of the fit,
    its slab f.  A slope that comes to zero stays there for an exponential time with rate w / (1 -
    w) f(0) |v|, w = `inclusion` (Bierkens, Grazzi, van der Meulen & Schauer 2023, section 2.3;
    Fearnhead, Grazzi, Nemeth & Roberts 2024, section 5); `Results.inclusion` has the posterior
    probabilities.  It moves natural coordinates, at most scaled one by one: in mixtures of them
    zero is no place.
    """

    name = "stickysgpdmp"
    sticky = True
    parameters = (INCLUSION,)
    dynamics = "zigzag"
