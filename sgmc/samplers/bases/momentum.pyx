"""What Hamiltonian samplers have in common: a momentum that is part of their state, and the time in
which friction forgets.
"""
import math

import numpy as np

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.core.spec import SamplerSpec


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


class Underdamped(SamplerSpec):
    """Base of specifications with a momentum; the step is that of the leapfrog, e."""

    leapfrog = 1

    @property
    def damping(self):
        """Friction C of the momentum."""
        raise NotImplementedError

    @property
    def rate(self):
        """At which dtheta = p dt, dp = -theta dt - C p dt + ... forgets, per unit of time."""
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
