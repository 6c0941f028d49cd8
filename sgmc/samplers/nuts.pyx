"""The No-U-Turn sampler: Hamiltonian paths that end where they turn back, exact, all rows."""
from sgmc.core.spec import Parameter
from sgmc.samplers.bases.metropolis import MetropolisSpec
from sgmc.samplers.bases.trajectory import Trajectory


class NUTS(MetropolisSpec):
    """No-U-Turn sampler (Hoffman & Gelman 2014, JMLR 15) with multinomial draws: exact.

    From theta and p ~ N(0, I) a path of leapfrog steps p += h/2 g, theta += h p, p += h/2 g
    doubles, forwards or backwards in time at random, until the sum of its momenta points against
    the momentum at one of its ends, for the whole path, for any of the halves that it was doubled
    from, or for a half together with the nearest state of the other (as in Stan).  A state of the
    path is then drawn with probability proportional to exp(-H), H = -log pi + |p|^2/2, within each
    new half; a new half replaces the state of the old one with probability min(1, w_new / w_old), w
    the sum of exp(-H) over the half (Betancourt 2017, arXiv:1701.02434, appendix A.3).

    While warming, h is adapted so that the mean of min(1, exp(H_0 - H)) over the path's states is
    `target_accept`, and the metric is the geometric mean of the draws' covariance and of the
    inverse of the gradients' (Seyboldt, Carlson & Carpenter 2026, arXiv:2603.18845).  `max_depth`
    doublings end a path.  Each path has a step of its own, uniform on (0.9, 1.1) h, as paths of one
    length may come back periodically.
    """

    name = "nuts"
    turning = True
    parameters = (
        Parameter("target_accept", 0.8, "mean acceptance probability along the path that warmup "
                                        "aims at", 0.0, 1.0),
        Parameter("max_depth", 10, "most doublings of a path, of up to 2^max_depth - 1 leapfrog "
                                   "steps", 1, 20, whole=True),
        MetropolisSpec.metric_parameter,
    )

    def build(self, dim, step):
        return Trajectory(dim, step, self.target_accept, self.metric_of(dim),
                          self.from_langevin(self.first_step(dim)), self.max_depth)

    def langevin_time(self, step):
        """A leapfrog step is a Langevin step of time h^2."""
        return step * step

    def from_langevin(self, h):
        """The leapfrog step with that `langevin_time`."""
        return h ** 0.5

    def first_step(self, dim):
        """Of order d^(-1/4) for the leapfrog step (Beskos et al. 2013)."""
        return dim ** -0.5
