"""The Metropolis-adjusted Langevin algorithm: exact, all rows at each step."""
import numpy as np

from libc.math cimport sqrt
from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Gradient, Rng, State, normal_fill
from sgmc.samplers.bases.excess cimport excess
from sgmc.samplers.bases.lockstep cimport Lockstep
from sgmc.samplers.bases.metropolis cimport Metropolis
from sgmc.samplers.bases.metropolis import MetropolisSpec
from sgmc.core.spec import Parameter

# h of the exponential integrator at which proposals no longer depend on the position
cdef double MAX_STEP = 2.0
# of a coordinate's gradient beyond the Gaussian's: more would only be rejected
cdef double MAX_EXCESS = 1.0


cdef class MALATransition(Metropolis):
    """A Langevin step, Euler's or the exponential integrator's."""

    cdef bint exponential
    cdef double[::1] drift, xi

    def __init__(self, Py_ssize_t dim, double step_size, double target, metric, double unit_step,
                 bint exponential):
        Metropolis.__init__(self, dim, step_size, target, metric, unit_step)
        self.exponential, self.drift, self.xi = exponential, np.zeros(dim), np.zeros(dim)
        if exponential:
            self.longest = MAX_STEP

    cdef void truncate_drift(self, const double *x, const double *w) noexcept nogil:
        """Gradient to drift, of the integrator in use."""
        if self.exponential:
            truncated(self.dim, x, w, &self.drift[0])
        else:
            memcpy(&self.drift[0], w, self.dim * sizeof(double))

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        cdef Py_ssize_t j
        cdef double back, root = sqrt(h * (1 - 0.25 * h)) if self.exponential else sqrt(h)
        normal_fill(rng, s.dim, &self.xi[0])
        self.truncate_drift(s.x, &self.w[0])
        for j in range(s.dim):
            self.u[j] = 0.5 * h * self.drift[j] + root * self.xi[j]
        self.move(s.x, &self.u[0], &self.y[0])
        self.evaluate(g, &self.y[0])
        self.truncate_drift(&self.y[0], &self.new_w[0])
        log_ratio[0] = self.new_value - self.value
        for j in range(s.dim):
            back = (self.u[j] + 0.5 * h * self.drift[j]) / root
            log_ratio[0] += 0.5 * (self.xi[j] * self.xi[j] - back * back)
        return OK


cdef void truncated(Py_ssize_t dim, const double *x, const double *w, double *drift) noexcept nogil:
    """Gradient to drift of the exponential integrator."""
    cdef Py_ssize_t j
    excess(dim, x, w, MAX_EXCESS, drift)
    for j in range(dim):
        drift[j] -= x[j]


cdef class LockstepMALA(Lockstep):
    """The exponential integrator's step of many walkers, in whitened coordinates."""

    cdef double[::1] drift, u, xi

    def __init__(self, Py_ssize_t walkers, Py_ssize_t each, double step_size, double target):
        Lockstep.__init__(self, walkers, each, step_size, target)
        self.drift, self.u, self.xi = (np.zeros(self.dim) for _ in range(3))
        self.longest = MAX_STEP

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double back, root = sqrt(h * (1 - 0.25 * h))
        normal_fill(rng, s.dim, &self.xi[0])
        truncated(s.dim, s.x, &self.g[0], &self.drift[0])
        for j in range(s.dim):
            self.u[j] = 0.5 * h * self.drift[j] + root * self.xi[j]
            self.y[j] = s.x[j] + self.u[j]
        self.evaluate(g)
        truncated(s.dim, &self.y[0], &self.new_g[0], &self.drift[0])
        for k in range(self.walkers):
            self.log_ratio[k] = self.new_value[k] - self.value[k]
            for j in range(k * self.each, (k + 1) * self.each):
                back = (self.u[j] + 0.5 * h * self.drift[j]) / root
                self.log_ratio[k] += 0.5 * (self.xi[j] * self.xi[j] - back * back)
        return OK


class MALA(MetropolisSpec):
    """Metropolis-adjusted Langevin algorithm (Roberts & Tweedie 1996):
    exact, all rows at each step.

    theta* = theta + h/2 g + sqrt(h) xi is accepted with probability min(1, pi(theta*) q(theta*,
    theta) / (pi(theta) q(theta, theta*))); while warming, h is adapted to the target acceptance by
    dual averaging.

    In coordinates whitened at the mode the noise is sqrt(h - h^2/4)
    xi (``integrator="exponential"``): the Ornstein-Uhlenbeck part of the dynamics is solved
    exactly, so that on a standard normal target every proposal is accepted, up to h = 2 where it is
    independent of the position (Cotter et al. 2013, section 4.3); what the gradient adds to that
    part is cut at 1 a coordinate (Roberts & Tweedie 1996, section 1.4.3), except that it may undo
    the pull to the centre, where tails are heavy.  Other coordinates have the Euler step, and a
    metric learned in warmup.

    With ``walkers`` above 1 each chain has so many walkers, whose gradients are computed by one
    pass over the rows, for regressions by products of matrices; its draws are those of the first
    walker, then of the second, and so on.  Walkers share the step that they learn.
    """

    name = "mala"
    parameters = (
        Parameter("target_accept", 0.574, "acceptance rate that warmup aims at", 0.0, 1.0),
        Parameter("integrator", "exponential", "noise sqrt(h - h^2/4), or sqrt(h)",
                  choices=("exponential", "euler")),
        MetropolisSpec.metric_parameter,
        MetropolisSpec.walkers_parameter,
    )

    def fitted_to(self, whitened, dim):
        """The exponential integrator needs whitened coordinates and no other metric."""
        self.refuse_walkers(whitened)
        fitted = MetropolisSpec.fitted_to(self, whitened, dim)
        if whitened and fitted.metric == "identity":
            return fitted
        return MALA(target_accept=self.target_accept, integrator="euler", metric=fitted.metric)

    def build(self, dim, step):
        if self.walkers > 1:
            return LockstepMALA(self.walkers, dim, step, self.target_accept)
        return MALATransition(dim, step, self.target_accept, self.metric_of(dim),
                              self.first_step(dim),
                              self.integrator == "exponential")

    def first_step(self, dim):
        """The optimal step on a Gaussian of many dimensions (Roberts & Rosenthal 1998),
        at most 2.
        """
        return min(1.65 ** 2 * dim ** (-1.0 / 3.0), 2.0)
