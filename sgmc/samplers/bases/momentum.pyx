"""What Hamiltonian samplers have in common: a momentum that is part of their state, and the time in
which friction forgets.
"""
import math

import numpy as np

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.core.schedules import Constant
from sgmc.core.spec import Parameter, SamplerSpec
from sgmc.errors import ArgumentError



cdef class Momentum(Sampler):
    """A sampler whose momentum starts at p ~ N(0, I) and is kept from step to step."""

    def __init__(self, Py_ssize_t dim, double step_size):
        Sampler.__init__(self, dim, step_size)
        self.p, self.g, self.xi = np.zeros(dim), np.zeros(dim), np.zeros(dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        normal_fill(rng, s.dim, &self.p[0])
        return OK

    def state(self):
        """The momentum."""
        return {**Sampler.state(self), "p": np.array(self.p)}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        np.asarray(self.p)[:] = state["p"]


def per(name):
    """The row of a parameter that says whether the rate `name` is per unit of time or per step."""
    return Parameter("per", "time", f"what {name} is per: with \"step\" it is e times the rate per "
                                    "unit of time, whatever the step e; that needs a constant "
                                    "step_size", choices=("time", "step"))


class Underdamped(SamplerSpec):
    """Base of specifications with a momentum; the step is that of the leapfrog, e.

    Attributes
    ----------
    rate_name : str
        The parameter that may be given per step, where there is a parameter `per`.
    """

    leapfrog = 1
    per = "time"
    rate_name = ""

    @property
    def damping(self):
        """Friction C of the momentum."""
        raise NotImplementedError

    @property
    def needs_step(self):
        return self.per == "step" or SamplerSpec.needs_step.fget(self)

    def at_step(self, step):
        # rates per step become rates per unit of time
        if self.per == "time":
            return self
        name, given = self.rate_name, getattr(self, self.rate_name)
        if isinstance(step, Constant):
            step = step.h
        if not isinstance(step, float):
            raise self.unknown_step()
        if given >= 1:
            raise ArgumentError(f"{type(self).__name__}: {name}={given!r} with per='step' must be "
                                "below 1: it is the share of the momentum that a step takes")
        return type(self)(**{**self.values(), name: given / step, "per": "time"})

    def unknown_step(self):
        """The error where a rate per step has no constant step that it belongs to."""
        name = self.rate_name
        return ArgumentError(f"{type(self).__name__}({name}={getattr(self, name)!r}, per='step') "
                             f"goes with steps of one size; give a constant step_size, or {name} "
                             "per unit of time")

    @property
    def rate(self):
        """At which dtheta = p dt, dp = -theta dt - C p dt + ... forgets, per unit of time."""
        if self.per == "step":
            raise self.unknown_step()
        C = self.damping
        return C / 2 if C < 2 else (C - math.sqrt(C * C - 4)) / 2

    def langevin_time(self, step):
        """h of a Langevin step that forgets as much: exp(-h/2) = exp(-rate L e)."""
        return 2 * self.rate * self.leapfrog * step

    def from_langevin(self, h):
        """The leapfrog step with that `langevin_time`."""
        return h / (2 * self.rate * self.leapfrog)

    def noise_ratio(self, h, noise):
        """e^2 V over the 2 e C injected into the momentum."""
        return self.from_langevin(h) * noise / (2 * self.damping)


def sweep_noise(e, friction, parts):
    """`SamplerSpec.noise_left` of underdamped Langevin steps with one gradient each.

    Errors of the k batches of a sweep add up to zero: momenta have a Brownian bridge of variance
    e^2 V k t(1 - t), and positions its integral from 0 to t, times T = k e: (T^4 / 30) V / k in the
    mean, where independent errors leave e V / (2 C).  What is left at the ends of sweeps, to be
    forgotten by friction, adds less than T / C times as much.  With k + 1 in the place of k for
    sweeps of few batches the share is T^3 (C + T) / 15: `benchmarks/unadjusted.py` compares it with
    exact variances.
    """
    time = e * (parts + 1)
    return min(1.0, time ** 3 * (friction + time) / 15)
