"""The Barker proposal with its acceptance ratio: exact, all rows at each step."""
import numpy as np

from libc.math cimport exp, fabs, fmax, log1p

from sgmc.core.contract cimport OK, Gradient, Rng, State, next_uniform, normal_fill
from sgmc.samplers.bases.metropolis cimport Metropolis
from sgmc.samplers.bases.metropolis import MetropolisSpec
from sgmc.core.spec import Parameter


cdef inline double softplus(double t) noexcept nogil:
    """log(1 + exp(t)) without overflow."""
    return fmax(t, 0.) + log1p(exp(-fabs(t)))


cdef class BarkerTransition(Metropolis):
    """In units of the metric: u_j = b_j z_j, b_j = +1 with probability 1 / (1 + exp(-z_j w_j)),
    else -1.
    """

    cdef bint bimodal
    cdef double[::1] z

    def __init__(self, Py_ssize_t dim, double step_size, double target, metric, double unit_step,
                 bint bimodal):
        Metropolis.__init__(self, dim, step_size, target, metric, unit_step)
        self.bimodal, self.z = bimodal, np.zeros(dim)

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        cdef Py_ssize_t j
        cdef double z
        normal_fill(rng, s.dim, &self.z[0])
        for j in range(s.dim):
            z = h * (1 + 0.1 * self.z[j]) if self.bimodal else h * self.z[j]
            self.u[j] = z if next_uniform(rng) * (1 + exp(-z * self.w[j])) < 1 else -z
        self.move(s.x, &self.u[0], &self.y[0])
        self.evaluate(g, &self.y[0])
        log_ratio[0] = self.new_value - self.value
        for j in range(s.dim):
            log_ratio[0] += softplus(-self.u[j] * self.w[j]) - softplus(self.u[j] * self.new_w[j])
        return OK


class Barker(MetropolisSpec):
    """Metropolis-Hastings with the Barker proposal (Livingstone & Zanella 2022): exact, robust to
    scales and skewness.

    theta_j* = theta_j + b_j z_j, z_j ~ N(sigma, (0.1 sigma)^2) (or N(0, sigma^2)), b_j = +1 with
    probability 1 / (1 + exp(-z_j g_j)), else -1; accepted with probability min(1, pi(theta*) /
    pi(theta) prod_j (1 + exp(-(theta_j* - theta_j) g_j(theta))) / (1 + exp((theta_j* - theta_j)
    g_j(theta*)))), their section 4.
    """

    name = "barker"
    parameters = (
        Parameter("target_accept", 0.65, "acceptance rate that warmup aims at; 0.574 is best in "
                                         "many dimensions (Vogrinc, Livingstone & Zanella 2023), "
                                         "but loses most of the spread's effective size in two",
                  0.0, 1.0),
        Parameter("increment", "bimodal", "law of z: N(sigma, (0.1 sigma)^2) or N(0, sigma^2)",
                  choices=("bimodal", "normal")),
        MetropolisSpec.metric_parameter,
    )

    def build(self, dim, step):
        return BarkerTransition(dim, step, self.target_accept, self.metric_of(dim),
                                self.from_langevin(self.first_step(dim)),
                                self.increment == "bimodal")

    def langevin_time(self, step):
        """E z^2: 1.01 sigma^2 for bimodal increments."""
        return (1.01 if self.increment == "bimodal" else 1.0) * step * step

    def from_langevin(self, h):
        """sigma with E z^2 = h."""
        return (h / (1.01 if self.increment == "bimodal" else 1.0)) ** 0.5

    def first_step(self, dim):
        """Of order d^(-1/3), as for Langevin proposals."""
        return min(1.65 ** 2 * dim ** (-1.0 / 3.0), 2.0)
