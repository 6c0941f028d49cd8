"""Random-walk Metropolis: exact, no gradient."""
from sgmc.core.contract cimport OK, Gradient, Rng, State, normal_fill
from sgmc.samplers.bases.metropolis cimport Metropolis
from sgmc.samplers.bases.metropolis import MetropolisSpec
from sgmc.core.spec import Parameter


cdef class RandomWalkTransition(Metropolis):
    """A normal increment of scale sigma in units of the metric."""

    def __init__(self, Py_ssize_t dim, double step_size, double target, metric, double unit_step):
        Metropolis.__init__(self, dim, step_size, target, metric, unit_step)
        self.first_order = False

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        cdef Py_ssize_t j
        normal_fill(rng, s.dim, &self.u[0])
        for j in range(s.dim):
            self.u[j] *= h
        self.move(s.x, &self.u[0], &self.y[0])
        self.evaluate(g, &self.y[0])
        log_ratio[0] = self.new_value - self.value
        return OK


class RWM(MetropolisSpec):
    """Random-walk Metropolis (Metropolis et al. 1953): exact, all rows at each step;
    the slowest to forget.

    theta* = theta + sigma xi, xi ~ N(0, I), is accepted with probability min(1, pi(theta*) /
    pi(theta)); while warming, sigma is adapted to the acceptance rate that is best in many
    dimensions (Roberts, Gelman & Gilks 1997).
    """

    name = "rwm"
    integrates = False
    parameters = (
        Parameter("target_accept", 0.234, "acceptance rate that warmup aims at", 0.0, 1.0),
        MetropolisSpec.metric_parameter,
    )

    def build(self, dim, step):
        return RandomWalkTransition(dim, step, self.target_accept, self.metric_of(dim),
                                    self.from_langevin(self.first_step(dim)))

    def langevin_time(self, step):
        """E (sigma xi)^2."""
        return step * step

    def from_langevin(self, h):
        """sigma with sigma^2 = h."""
        return h ** 0.5

    def first_step(self, dim):
        """sigma = 2.38 / sqrt(d), the best on a Gaussian (Roberts, Gelman & Gilks 1997)."""
        return 2.38 ** 2 / dim
