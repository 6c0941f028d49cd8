"""Langevin proposals with a position-dependent metric and their exact correction."""
import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int64_t

from sgmc.core.contract cimport OK, Gradient, Metric, Rng, State, normal_fill
from sgmc.samplers.bases.metropolis cimport Metropolis
from sgmc.samplers.bases.metropolis import MetropolisSpec
from sgmc.samplers.bases.metric_source cimport MetricSource
from sgmc.samplers.bases.metric_source import NaturalCoordinates
from sgmc.core.spec import Parameter


cdef class ManifoldLangevinTransition(Metropolis):
    """The model says what its metric is; each chain has one at its place and one at the
    proposal.
    """

    cdef Metric here, there
    cdef MetricSource source
    cdef double[::1] step_here, step_there, xi

    def __init__(self, Py_ssize_t dim, double step_size, double target):
        Metropolis.__init__(self, dim, step_size, target, "identity", step_size)
        self.source = MetricSource()
        self.step_here, self.step_there, self.xi = np.zeros(dim), np.zeros(dim), np.zeros(dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        with gil:
            self.furnish(g, np.array(<double[:s.dim]> s.x))
        Metropolis.start(self, s, g, rng)
        return self.settle(s.x)

    def furnish(self, Gradient g, x):
        """Two metrics of the model, as they were if the chain was restored."""
        self.here, self.there = self.source.made(g, x), self.source.made(g, x)

    cdef int settle(self, const double *x) except -1 nogil:
        """The metric at x, and the drift there."""
        self.here.move(x)
        return self.here.apply(&self.w[0], &self.step_here[0])

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef int64_t touched
        if self.here is None:  # restored: what it was is computed again, and counted once
            touched = g.touched
            with gil:
                self.furnish(g, np.array(<double[:s.dim]> s.x))
            self.settle(s.x)
            g.touched = touched
        return Metropolis.step(self, s, g, rng)

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        cdef Py_ssize_t j
        cdef double root = sqrt(h), forth = 0, back = 0
        normal_fill(rng, s.dim, &self.xi[0])
        self.here.root(&self.xi[0], &self.u[0])
        for j in range(s.dim):
            self.u[j] *= root
            self.y[j] = s.x[j] + 0.5 * h * self.step_here[j] + self.u[j]
        self.here.log_density(&self.u[0], h, &forth)
        self.evaluate(g, &self.y[0])
        self.there.move(&self.y[0])
        self.there.apply(&self.new_w[0], &self.step_there[0])
        for j in range(s.dim):
            self.u[j] = s.x[j] - self.y[j] - 0.5 * h * self.step_there[j]
        self.there.log_density(&self.u[0], h, &back)
        log_ratio[0] = self.new_value - self.value + back - forth
        return OK

    cdef void accept(self) noexcept nogil:
        Metropolis.accept(self)
        with gil:
            self.here, self.there = self.there, self.here
        self.step_here, self.step_there = self.step_there, self.step_here

    def state(self):
        """Also what the metric settled at the start."""
        return {**Metropolis.state(self), "settled": self.source.state(self.here)}

    def set_state(self, state):
        """Continue from a `state()`."""
        Metropolis.set_state(self, state)
        self.source.set_state(state["settled"])
        self.here = self.there = None


class MMALA(NaturalCoordinates, MetropolisSpec):
    """Metropolis-adjusted Langevin algorithm with a position-dependent metric (Girolami &
    Calderhead 2011): exact.

    theta* = theta + h/2 M(theta) g + sqrt(h) M(theta)^(1/2) xi is accepted with the
    Metropolis-Hastings probability for q(theta, theta*) = N(theta*; theta + h/2 M(theta) g, h
    M(theta)) (Welling & Teh 2011, eq. 16-19).  The divergence of M, which the diffusion has in its
    drift, is left out as there: the correction is exact without it.  M is the model's: for
    regressions the inverse of the information at theta, prior included.
    """

    name = "mmala"
    parameters = (Parameter("target_accept", 0.7, "acceptance rate that warmup aims at", 0.0, 1.0),)

    def fitted_to(self, whitened, dim):
        """The same for all coordinates."""
        return self

    def build(self, dim, step):
        return ManifoldLangevinTransition(dim, step, self.target_accept)

    def first_step(self, dim):
        """The optimal step on a Gaussian of many dimensions (Roberts & Rosenthal 1998),
        at most 2.
        """
        return min(1.65 ** 2 * dim ** (-1.0 / 3.0), 2.0)
