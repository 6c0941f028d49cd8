"""Hamiltonian Monte Carlo with jittered path lengths: exact, all rows at each leapfrog step."""
import numpy as np

from libc.math cimport INFINITY, ceil, cos, fmax, fmin, sin
from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Gradient, Rng, State, next_uniform, normal_fill
from sgmc.samplers.bases.energies cimport Energies
from sgmc.samplers.bases.excess cimport excess
from sgmc.samplers.bases.lockstep cimport Lockstep
from sgmc.samplers.bases.metropolis cimport MAX_ENERGY_RISE, Metropolis
from sgmc.errors import NotSupported
from sgmc.samplers.bases.metropolis import MetropolisSpec
from sgmc.core.spec import Parameter

cdef enum:
    MAX_LEAPFROG = 1000                   # leapfrog steps of a path
    MAX_LEAPFROG_WARMING = 25             # while units are still being learned

# of a coordinate's gradient beyond the Gaussian's: over a path it moves by as many sds; in a
# thousand dimensions the third derivatives together give one or two of them more than one
cdef double MAX_KICK = 4.0


cdef class HamiltonianTransition(Metropolis):
    """Leapfrog steps of size h in units of the metric; the path's length is uniform on (1/2, 3/2)
    times the given one.
    """

    cdef double length
    cdef double[::1] p, q
    cdef Energies energies

    def __init__(self, Py_ssize_t dim, double step_size, double target, metric, double unit_step,
                 double length):
        Metropolis.__init__(self, dim, step_size, target, metric, unit_step)
        self.length, self.p, self.q = length, np.zeros(dim), np.zeros(dim)
        self.energies = Energies()

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        cdef double before, most = MAX_LEAPFROG_WARMING if self.warming else MAX_LEAPFROG
        cdef Py_ssize_t j
        cdef Py_ssize_t k
        cdef Py_ssize_t steps = leapfrogs(self.length, h, most, rng)
        normal_fill(rng, s.dim, &self.p[0])
        before = self.kinetic() - self.value
        if not self.warming:
            self.energies.note(before)
        for j in range(s.dim):
            self.y[j] = s.x[j]
            self.p[j] += 0.5 * h * self.w[j]
        for k in range(steps):
            for j in range(s.dim):
                self.u[j] = h * self.p[j]
                self.q[j] = self.y[j]
            self.move(&self.q[0], &self.u[0], &self.y[0])
            self.evaluate(g, &self.y[0])
            for j in range(s.dim):
                self.p[j] += h * self.new_w[j]
            if not self.new_value > self.value - MAX_ENERGY_RISE:        # nor if it is not a number
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

    @property
    def e_bfmi(self):
        """Estimated Bayesian fraction of missing information."""
        return self.energies.bfmi

    def state(self):
        """Also the sums over energies."""
        return {**Metropolis.state(self), "energies": self.energies.state()}

    def set_state(self, state):
        """Continue from a `state()`."""
        Metropolis.set_state(self, state)
        self.energies.set_state(state["energies"])


cdef Py_ssize_t leapfrogs(double length, double h, double most, Rng rng) noexcept nogil:
    """Leapfrog steps of a path whose length is jittered, at least one."""
    return max(<Py_ssize_t> min(length * (0.5 + next_uniform(rng)) / h + 0.5, most), 1)


cdef class LockstepHamiltonian(Lockstep):
    """Rotations of many walkers, all of them on paths of the same length; kicks between them are by
    what the gradient has beyond the Gaussian's.
    """

    cdef double length
    cdef double[::1] p, kick, before

    def __init__(self, Py_ssize_t walkers, Py_ssize_t each, double step_size, double target,
                 double length):
        Lockstep.__init__(self, walkers, each, step_size, target)
        self.length = self.longest = length
        self.before = np.zeros(walkers)
        self.p, self.kick = np.zeros(self.dim), np.zeros(self.dim)

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h) except -1 nogil:
        cdef Py_ssize_t k, steps = rotations(self.length, h)
        # of a fixed angle some directions might come back to where they were (Neal 2011, 3.2)
        cdef double angle = self.length * (0.9 + 0.2 * next_uniform(rng)) / steps
        normal_fill(rng, s.dim, &self.p[0])
        memcpy(&self.y[0], s.x, s.dim * sizeof(double))
        for k in range(self.walkers):
            self.before[k] = self.kinetic(k) - self.value[k]
        self.push(0.5 * angle, &self.g[0])
        for k in range(steps):
            self.rotate(angle)
            self.evaluate(g)
            self.push(angle if k < steps - 1 else 0.5 * angle, &self.new_g[0])
        for k in range(self.walkers):
            self.log_ratio[k] = self.before[k] - (self.kinetic(k) - self.new_value[k])
        return OK

    cdef void push(self, double time, const double *gradient) noexcept nogil:
        """p += time * (gradient + y), the sum truncated."""
        cdef Py_ssize_t j
        excess(self.dim, &self.y[0], gradient, MAX_KICK, &self.kick[0])
        for j in range(self.dim):
            self.p[j] += time * self.kick[j]

    cdef void rotate(self, double angle) noexcept nogil:
        """The motion of a standard normal law: y'' = -y."""
        cdef Py_ssize_t j
        cdef double y, c = cos(angle), s = sin(angle)
        for j in range(self.dim):
            y = self.y[j]
            self.y[j] = c * y + s * self.p[j]
            self.p[j] = c * self.p[j] - s * y

    cdef double kinetic(self, Py_ssize_t k) noexcept nogil:
        """|p|^2 / 2 of a walker."""
        cdef Py_ssize_t j
        cdef double total = 0
        for j in range(k * self.each, (k + 1) * self.each):
            total += self.p[j] * self.p[j]
        return 0.5 * total


cdef Py_ssize_t rotations(double length, double h) noexcept nogil:
    """Equal steps of at most h that a path is made of; rounding errors make no further one."""
    return <Py_ssize_t> fmin(fmax(ceil(length / h - 1e-9), 1), MAX_LEAPFROG)


class HMC(MetropolisSpec):
    """Hamiltonian Monte Carlo (Duane et al. 1987; Neal 2011) with jittered path lengths: exact.

    From theta and p ~ N(0, I): leapfrog steps p += h/2 g, theta += h p, p += h/2 g over a path of
    length T, T uniform on (1/2, 3/2) `length`; the end is accepted with probability min(1,
    exp(H(theta, p) - H(theta*, p*))), H = -log pi + |p|^2/2.  While warming, h is adapted to the
    target acceptance.  A path of pi/2 makes independent draws of a standard normal law.

    With ``walkers`` above 1 each chain has so many walkers, whose gradients are computed by one
    pass over the rows, for regressions by products of matrices; its draws are those of the first
    walker, then of the second, and so on.  Walkers share the step, and the lengths of their paths.
    They are in coordinates whitened at the mode, where the motion under the Gaussian part of log pi
    is a rotation of (theta, p), which is done exactly: p += h/2 (g + theta), rotation by the angle
    h, p += h/2 (g + theta) (Shahbaba et al. 2014, arXiv:1106.5941).  Each component of g + theta is
    truncated as in `MALA`, at 4.  A path has the least number of equal steps of at most h, where h
    is at most `length`, and its length is uniform on (0.9, 1.1) `length`.

    With ``rotations`` above 0 a single walker moves in the same way; h begins at `length` over it.
    """

    name = "hmc"
    parameters = (
        Parameter("target_accept", 0.8, "acceptance rate that warmup aims at", 0.0, 1.0),
        Parameter("length", 1.5707963267948966, "mean path length, in units of the metric", 0.0,
                  1000.0),
        Parameter("rotations", 0, "of a path before the step is adapted, as with several walkers: "
                                  "exact motion under the Gaussian part of the density, in "
                                  "whitened coordinates; 0: leapfrog steps", 0, 1000, whole=True),
        MetropolisSpec.metric_parameter,
        MetropolisSpec.walkers_parameter,
    )

    def fitted_to(self, whitened, dim):
        self.refuse_walkers(whitened)
        if self.rotations and not whitened:
            raise NotSupported(
                "hmc with rotations needs coordinates that are whitened at the mode; leave "
                "precondition='mode', or use rotations=0", because="limit")
        return MetropolisSpec.fitted_to(self, whitened, dim)

    def build(self, dim, step):
        if self.walkers > 1 or self.rotations:
            return LockstepHamiltonian(self.walkers, dim, step, self.target_accept, self.length)
        return HamiltonianTransition(dim, step, self.target_accept, self.metric_of(dim),
                                     self.from_langevin(self.first_step(dim)),
                                     self.length)

    def langevin_time(self, step):
        """A leapfrog step is a Langevin step of time h^2."""
        return step * step

    def from_langevin(self, h):
        """The leapfrog step with that `langevin_time`."""
        return h ** 0.5

    def first_step(self, dim):
        """Of order d^(-1/4) for the leapfrog step (Beskos et al. 2013); two rotations a path."""
        if self.walkers == 1 and not self.rotations:
            return dim ** -0.5
        return self.langevin_time(self.length / (self.rotations or 2))
