"""Hamiltonian Monte Carlo with jittered path lengths: exact, all rows at each leapfrog step."""
import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from sgmc.core.contract cimport OK, Gradient, Rng, State, next_uniform, normal_fill
from sgmc.samplers.bases.metropolis cimport Metropolis
from sgmc.samplers.bases.metropolis import MetropolisSpec
from sgmc.core.spec import Parameter

cdef enum:
    MOST = 1000                   # leapfrog steps of a path
    MOST_WARMING = 25             # while units are still being learned
cdef double LOST = 1000           # rise of the energy at which a path is given up


cdef class HamiltonianKernel(Metropolis):
    """Leapfrog steps of size h in units of the metric; the path's length is uniform on (1/2, 3/2)
    times the given one.
    """

    cdef double length
    cdef double[::1] p, q
    # energies after warmup: the newest, their mean, sums of squares
    cdef double last, mean, scatter, jumps
    cdef int64_t energies

    def __init__(self, Py_ssize_t dim, double step_size, double target, metric, double unit_step,
                 double length):
        Metropolis.__init__(self, dim, step_size, target, metric, unit_step)
        self.length, self.p, self.q = length, np.zeros(dim), np.zeros(dim)

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        cdef double before, most = MOST_WARMING if self.warming else MOST
        cdef Py_ssize_t j
        cdef Py_ssize_t k
        cdef Py_ssize_t steps = <Py_ssize_t> min(self.length * (0.5 + next_uniform(rng)) / h + 0.5,
                                                 most)
        normal_fill(rng, s.dim, &self.p[0])
        before = self.kinetic() - self.value
        if not self.warming:
            self.note(before)
        for j in range(s.dim):
            self.y[j] = s.x[j]
            self.p[j] += 0.5 * h * self.w[j]
        for k in range(max(steps, 1)):
            for j in range(s.dim):
                self.u[j] = h * self.p[j]
                self.q[j] = self.y[j]
            self.move(&self.q[0], &self.u[0], &self.y[0])
            self.look(g, &self.y[0])
            for j in range(s.dim):
                self.p[j] += h * self.new_w[j]
            if not self.new_value > self.value - LOST:        # nor if it is not a number
                log_ratio[0] = -INFINITY
                return OK
        for j in range(s.dim):
            self.p[j] -= 0.5 * h * self.new_w[j]
        log_ratio[0] = before - (self.kinetic() - self.new_value)
        return OK

    cdef double kinetic(self) noexcept nogil:
        """|p|^2 / 2"""
        cdef Py_ssize_t j
        cdef double total = 0
        for j in range(self.dim):
            total += self.p[j] * self.p[j]
        return 0.5 * total

    cdef void note(self, double energy) noexcept nogil:
        """Take the energy of a fresh momentum into the sums of `e_bfmi`."""
        cdef double deviation = energy - self.mean
        if self.energies:
            self.jumps += (energy - self.last) * (energy - self.last)
        self.energies += 1
        self.mean += deviation / self.energies
        self.scatter += deviation * (energy - self.mean)
        self.last = energy

    @property
    def e_bfmi(self):
        """Estimated Bayesian fraction of missing information (Betancourt 2016): below 0.3, momenta
        explore energies too slowly.
        """
        return self.jumps / self.scatter if self.scatter > 0 else float("nan")

    def state(self):
        """Also the sums over energies."""
        return {**Metropolis.state(self), "energies": [self.last, self.mean, self.scatter,
                                                       self.jumps, self.energies]}

    def set_state(self, state):
        """Continue from a `state()`."""
        Metropolis.set_state(self, state)
        self.last, self.mean, self.scatter, self.jumps, self.energies = state["energies"]


class HMC(MetropolisSpec):
    """Hamiltonian Monte Carlo (Duane et al. 1987; Neal 2011) with jittered path lengths: exact.

    From theta and p ~ N(0, I): leapfrog steps p += h/2 g, theta += h p, p += h/2 g over a path of
    length T, T uniform on (1/2, 3/2) `length`; the end is accepted with probability min(1,
    exp(H(theta, p) - H(theta*, p*))), H = -log pi + |p|^2/2.  While warming, h is adapted to the
    target acceptance.  A path of pi/2 makes independent draws of a standard normal law.
    """

    name = "hmc"
    parameters = (
        Parameter("target_accept", 0.8, "acceptance rate that warmup aims at", 0.0, 1.0),
        Parameter("length", 1.5707963267948966, "mean path length, in units of the metric", 0.0,
                  1000.0),
        MetropolisSpec.metric_parameter,
    )

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return HamiltonianKernel(dim, step, self.target_accept, self.metric_of(dim),
                                 self.from_langevin(self.first_step(dim)),
                                 self.length)

    def langevin_time(self, step):
        """A leapfrog step is a Langevin step of time h^2."""
        return step * step

    def from_langevin(self, h):
        """The leapfrog step with that `langevin_time`."""
        return h ** 0.5

    def first_step(self, dim):
        """Of order d^(-1/4) for the leapfrog step (Beskos et al. 2013)."""
        return dim ** -0.5
