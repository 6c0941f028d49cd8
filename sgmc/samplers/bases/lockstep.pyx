"""Exact samplers that move many walkers at once, whose densities and gradients are computed by one
pass over the rows: for regressions by products of matrices.

The walkers of a chain are independent of each other but for the step, which they learn together
while warming.  Their positions stand one behind the other in the chain's.
"""
import numpy as np

from libc.math cimport INFINITY, exp, fmin, isfinite
from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, next_uniform
from sgmc.samplers.bases.metropolis cimport MAX_ENERGY_RISE


cdef class Lockstep(Sampler):
    """A leaf writes `propose` for all walkers; acceptance and the search for the step are here.

    Parameters
    ----------
    walkers, each : int
        Walkers, and coordinates of one of them.
    step_size : float
    target : float
        Acceptance rate aimed at while warming.
    """

    def __init__(self, Py_ssize_t walkers, Py_ssize_t each, double step_size, double target):
        Sampler.__init__(self, walkers * each, step_size)
        self.walkers, self.each, self.longest = walkers, each, float("inf")
        self.search = StepSearch(target)
        self.value, self.new_value = np.zeros(walkers), np.zeros(walkers)
        self.log_ratio = np.zeros(walkers)
        self.g, self.new_g, self.y = (np.zeros(walkers * each) for _ in range(3))

    @property
    def adapted_step(self):
        """The step in use: the given one times the factor learned in warmup."""
        return self.current_step()

    cdef double current_step(self) noexcept nogil:
        return fmin(self.step_size * self.search.scale(self.warming), self.longest)

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h) except -1 nogil:
        raise NotImplementedError("propose")

    cdef int evaluate(self, Gradient g) except -1 nogil:
        return g.full_many(&self.y[0], self.walkers, &self.new_value[0], &self.new_g[0])

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return g.full_many(s.x, self.walkers, &self.value[0], &self.g[0])

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        self.propose(s, g, rng, self.current_step())
        return self.judge(s, rng)

    cdef int judge(self, State *s, Rng rng) except -1 nogil:
        """Accept or reject each walker's proposal; the mean probability into the search."""
        cdef Py_ssize_t k, at, size = self.each * sizeof(double)
        cdef double ratio, probability, total = 0
        for k in range(self.walkers):
            ratio, at = self.log_ratio[k], k * self.each
            probability = (exp(ratio) if ratio < 0 else 1.) if isfinite(ratio) else 0.
            total += probability
            if not self.warming:
                self.proposed += 1
                self.divergent += not ratio > -MAX_ENERGY_RISE
                self.impossible += self.new_value[k] == -INFINITY
            if next_uniform(rng) < probability:
                memcpy(s.x + at, &self.y[at], size)
                memcpy(&self.g[at], &self.new_g[at], size)
                self.value[k] = self.new_value[k]
                self.accepted += not self.warming
        if self.warming:
            self.search.learn(total / self.walkers)
        return OK

    def state(self):
        """Cached values and gradients, counts, and the step that has been learned."""
        return {**Sampler.state(self), "value": np.array(self.value), "g": np.array(self.g),
                "counts": [self.proposed, self.accepted, self.divergent, self.impossible],
                "search": self.search.state()}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        np.asarray(self.value)[:], np.asarray(self.g)[:] = state["value"], state["g"]
        self.proposed, self.accepted, self.divergent, self.impossible = state["counts"]
        self.search.set_state(state["search"])
