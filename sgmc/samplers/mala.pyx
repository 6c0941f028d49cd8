"""The Metropolis-adjusted Langevin algorithm: exact, all rows at each step."""
import numpy as np

from libc.math cimport exp, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, next_uniform, normal_fill
from sgmc.core.spec import Parameter, SamplerSpec


cdef double LONGEST = 2.0         # h of the exponential integrator at which proposals no longer depend on the position
cdef double LARGEST = 1.0         # of a coordinate's gradient beyond the Gaussian's: more would only be rejected


cdef class MALAKernel(Sampler):
    """Langevin proposal, accepted with the Metropolis-Hastings probability; step adapted while warming."""

    cdef double[::1] drift, xi, y, back
    cdef double value, target
    cdef double factor, best, error             # log step factors of dual averaging, mean shortfall
    cdef bint exponential
    cdef int64_t adaptations
    cdef readonly int64_t proposed, accepted    # after warmup

    def __init__(self, Py_ssize_t dim, double step_size, double target, bint exponential):
        Sampler.__init__(self, dim, step_size)
        self.target, self.exponential = target, exponential
        self.drift, self.xi, self.y, self.back = np.zeros(dim), np.zeros(dim), np.zeros(dim), np.zeros(dim)

    @property
    def adapted_step(self):
        """The step in use: the given one times the factor learned in warmup."""
        return self.current_step()

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        g.full(s.x, &self.value, &self.drift[0])
        self.tame(s.x, &self.drift[0])
        return OK

    cdef void tame(self, const double *x, double *g) noexcept nogil:
        """Gradient to drift: with the exponential integrator, what exceeds the Gaussian's -x is cut at LARGEST, but for what
        takes no more than the pull to the centre away (heavy tails)."""
        cdef Py_ssize_t j
        if self.exponential:
            for j in range(self.dim):
                g[j] = fmin(fmax(g[j] + x[j], fmin(-LARGEST, x[j])), fmax(LARGEST, x[j])) - x[j]

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double h = self.current_step()
        cdef double root = sqrt(h * (1 - 0.25 * h)) if self.exponential else sqrt(h)
        cdef double value = 0, back, log_ratio = 0, probability
        normal_fill(rng, s.dim, &self.xi[0])
        for j in range(s.dim):
            self.y[j] = s.x[j] + 0.5 * h * self.drift[j] + root * self.xi[j]
        g.full(&self.y[0], &value, &self.back[0])
        self.tame(&self.y[0], &self.back[0])
        for j in range(s.dim):
            back = (s.x[j] - self.y[j] - 0.5 * h * self.back[j]) / root
            log_ratio += 0.5 * (self.xi[j] * self.xi[j] - back * back)
        log_ratio += value - self.value
        probability = (exp(log_ratio) if log_ratio < 0 else 1.) if isfinite(log_ratio) else 0.
        if self.warming:
            self.adapt(probability)
        else:
            self.proposed += 1
        if next_uniform(rng) < probability:
            memcpy(s.x, &self.y[0], s.dim * sizeof(double))
            self.drift, self.back = self.back, self.drift
            self.value = value
            self.accepted += not self.warming
        return OK

    cdef double current_step(self) noexcept nogil:
        """The given step times the factor being learned (in warmup) or learned."""
        cdef double h = self.step_size * exp(self.factor if self.warming else self.best)
        return fmin(h, LONGEST) if self.exponential else h

    cdef void adapt(self, double probability) noexcept nogil:
        """Nesterov's dual averaging of the log step (Hoffman & Gelman 2014, section 3.2; gamma 0.05, t0 10, kappa 0.75)."""
        cdef double weight
        self.adaptations += 1
        self.error += (self.target - probability - self.error) / (self.adaptations + 10)
        self.factor = -sqrt(<double> self.adaptations) / 0.05 * self.error
        weight = (<double> self.adaptations) ** -0.75
        self.best += weight * (self.factor - self.best)

    def state(self):
        """Cached value and gradient, counts, and what adaptation has learned."""
        return {**Sampler.state(self), "drift": np.array(self.drift), "value": self.value, "accepted": self.accepted,
                "proposed": self.proposed, "adaptation": (self.factor, self.best, self.error, self.adaptations)}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        np.asarray(self.drift)[:], self.value = state["drift"], state["value"]
        self.accepted, self.proposed = state["accepted"], state["proposed"]
        self.factor, self.best, self.error, self.adaptations = state["adaptation"]


class MALA(SamplerSpec):
    """Metropolis-adjusted Langevin algorithm (Roberts & Tweedie 1996): exact, all rows at each step.

    theta* = theta + h/2 g + sqrt(h) xi is accepted with probability min(1, pi(theta*) q(theta*, theta) / (pi(theta)
    q(theta, theta*))); while warming, h is adapted to the target acceptance by dual averaging.

    In coordinates whitened at the mode the noise is sqrt(h - h^2/4) xi (``integrator="exponential"``): the
    Ornstein-Uhlenbeck part of the dynamics is solved exactly, so that on a standard normal target every proposal is
    accepted, up to h = 2 where it is independent of the position (Cotter et al. 2013, section 4.3); what the gradient
    adds to that part is cut at 1 a coordinate (Roberts & Tweedie 1996, section 1.4.3), except that it may undo the pull to
    the centre, where tails are heavy.  Other coordinates have the Euler step.
    """

    name = "mala"
    exact = True
    parameters = (
        Parameter("target_accept", 0.574, "acceptance rate that warmup aims at", 0.0, 1.0),
        Parameter("integrator", "exponential", "noise sqrt(h - h^2/4), or sqrt(h)", choices=("exponential", "euler")),
    )

    def fitted_to(self, whitened):
        """The exponential integrator needs whitened coordinates."""
        return self if whitened else MALA(target_accept=self.target_accept, integrator="euler")

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return MALAKernel(dim, step, self.target_accept, self.integrator == "exponential")

    def inflation(self, h, noise):
        """None: the accept-reject step leaves the posterior invariant."""
        return 0.0
