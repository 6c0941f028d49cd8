"""Langevin and Hamiltonian dynamics that follow the curvature of the posterior:
sgrld and sgrhmc.
"""
import math

import numpy as np

from libc.math cimport exp, sqrt

from sgmc.core.contract cimport OK, Gradient, Metric, Rng, Sampler, State, normal_fill
from sgmc.coordinates.transforms.fisher import enough_rows
from sgmc.samplers.bases.momentum cimport Momentum
from sgmc.samplers.bases.momentum import Underdamped
from sgmc.samplers.bases.metric_source cimport MetricSource
from sgmc.samplers.bases.metric_source import NaturalCoordinates
from sgmc.core.spec import Parameter, SamplerSpec, langevin_variance
from sgmc.core.stationary import baoab, langevin


cdef class RiemannianLangevinTransition(Sampler):
    """theta <- theta + h/2 (M g + Gamma) + sqrt(h) R xi, all at theta; then back inside,
    where the metric has an edge.
    """

    cdef Metric metric
    cdef MetricSource source
    cdef bint divergence
    cdef double[::1] g, drift, gamma, xi, noise

    def __init__(self, Py_ssize_t dim, double step_size, MetricSource source, bint divergence):
        Sampler.__init__(self, dim, step_size)
        self.source, self.divergence = source, divergence
        self.g, self.drift, self.gamma = np.zeros(dim), np.zeros(dim), np.zeros(dim)
        self.xi, self.noise = np.zeros(dim), np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double half = 0.5 * self.step_size, root = sqrt(self.step_size)
        if self.metric is None:  # the first step, or the first since the chain was restored
            with gil:
                self.metric = self.source.made(g, np.array(<double[:s.dim]> s.x))
        g.estimate(s.x, rng, &self.g[0], NULL)
        normal_fill(rng, s.dim, &self.xi[0])
        self.metric.move(s.x)
        self.metric.apply(&self.g[0], &self.drift[0])
        self.metric.root(&self.xi[0], &self.noise[0])
        if self.divergence:
            self.metric.divergence(&self.gamma[0])
        for j in range(s.dim):
            s.x[j] += half * (self.drift[j] + self.gamma[j]) + root * self.noise[j]
        return self.metric.fold(s.x)

    def state(self):
        """What the metric settled where the chain began."""
        return {**Sampler.state(self), "settled": self.source.state(self.metric)}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        self.source.set_state(state["settled"])
        self.metric = None


cdef class RiemannianFrictionTransition(Momentum):
    """A kick by the metric here; half a drift, Ornstein-Uhlenbeck on the momentum, half a drift by
    the metric in the middle.
    """

    cdef Metric metric
    cdef MetricSource source
    cdef double friction
    cdef bint divergence, by_metric           # diffusion C M of the momentum, in the place of C
    cdef double[::1] middle, velocity, gamma, once, noise

    def __init__(self, Py_ssize_t dim, double step_size, double friction, MetricSource source,
                 bint divergence, bint by_metric):
        Momentum.__init__(self, dim, step_size)
        self.friction, self.source, self.divergence = friction, source, divergence
        self.middle, self.velocity, self.gamma = np.zeros(dim), np.zeros(dim), np.zeros(dim)
        self.by_metric, self.once, self.noise = by_metric, np.zeros(dim), np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double e = self.step_size, keep = exp(-self.step_size * self.friction)
        cdef double noise = sqrt(1 - keep * keep), p
        if self.metric is None:  # the first step, or the first since the chain was restored
            with gil:
                self.metric = self.source.made(g, np.array(<double[:s.dim]> s.x))
        g.estimate(s.x, rng, &self.g[0], NULL)
        normal_fill(rng, s.dim, &self.xi[0])
        self.metric.move(s.x)
        self.metric.root_transposed(&self.g[0], &self.velocity[0])
        if self.divergence:
            self.metric.root_divergence(&self.gamma[0])
        for j in range(s.dim):
            self.p[j] += e * (self.velocity[j] + self.gamma[j])
        self.metric.root(&self.p[0], &self.velocity[0])
        for j in range(s.dim):
            self.middle[j] = s.x[j] + 0.5 * e * self.velocity[j]
        self.metric.move(&self.middle[0])
        if self.by_metric:
            self.forget(e * self.friction)
        for j in range(s.dim if not self.by_metric else 0):
            p = self.p[j]
            self.p[j] = keep * p + noise * self.xi[j]
            self.xi[j] = p + self.p[j]
        self.metric.root(&self.xi[0], &self.velocity[0])
        for j in range(s.dim):
            s.x[j] += 0.5 * e * self.velocity[j]
        return OK

    cdef int forget(self, double b) except -1 nogil:
        """p <- exp(-b M) p + N(0, I - exp(-2 b M)) to second order in b M: p - b M p + b^2/2 M^2 p
        + sqrt(2 b) (I - b/2 M) R xi, which keeps N(0, I) but for b^3 M^3 / 2; xi becomes the sum of
        both p.
        """
        cdef Py_ssize_t j
        cdef double scale = sqrt(2 * b), p
        self.metric.root(&self.xi[0], &self.noise[0])
        self.metric.apply(&self.noise[0], &self.velocity[0])
        for j in range(self.dim):
            self.noise[j] = scale * (self.noise[j] - 0.5 * b * self.velocity[j])
        self.metric.apply(&self.p[0], &self.once[0])
        self.metric.apply(&self.once[0], &self.velocity[0])
        for j in range(self.dim):
            p = self.p[j]
            self.p[j] += -b * self.once[j] + 0.5 * b * b * self.velocity[j] + self.noise[j]
            self.xi[j] = p + self.p[j]
        return OK

    def state(self):
        """Momentum, and what the metric settled where the chain began."""
        return {**Momentum.state(self), "settled": self.source.state(self.metric)}

    def set_state(self, state):
        """Continue from a `state()`."""
        Momentum.set_state(self, state)
        self.source.set_state(state["settled"])
        self.metric = None


class Riemannian(NaturalCoordinates, SamplerSpec):
    """Base of samplers that step in units of the model's metric, whatever the coordinates are."""

    own_units = True
    parameters = (
        Parameter("metric_rows", 0, "rows looked at for the metric at each place; 0: max(50 d, "
                                    "1000); all, if there are fewer",
                  0, 10**9, whole=True),
        Parameter("anchored", True, "for regressions: half of the metric is that of all rows where "
                                    "the chain began; False: all of it is that of metric_rows rows "
                                    "at the place, as published", choices=(True, False)),
        Parameter("divergence", True, "with the metric's divergence in the drift; without it the "
                                      "draws have another law",
                  choices=(True, False)),
    )

    def __init__(self, **values):
        super().__init__(**values)
        if not self.divergence:
            self.distortion = (f"{self.name} without the divergence of its metric has another law "
                               "than the posterior")

    def source(self):
        """Where a chain's metrics come from."""
        return MetricSource(self.metric_rows, self.anchored)

    def rows_besides(self, n, dim):
        """Those that the metric looks at, and again for the derivatives of their curvature in each
        direction.
        """
        return min(self.metric_rows or enough_rows(dim), n) * (1 + 2 * dim * self.divergence)


class SGRLD(Riemannian):
    """Stochastic gradient Riemannian Langevin dynamics (Patterson & Teh 2013; review, table 1).

    theta <- theta + h/2 (M g + Gamma) + sqrt(h) R xi with M = R R' = G(theta)^-1, the model's
    metric, and
    Gamma_i = sum_j dM_ij / dtheta_j.  For regressions G is the information, prior included: one
    half of it that of `metric_rows` rows at theta, which bends the steps; the other half that of
    all rows where the chain began, which bounds them.  As published, G is the information at theta
    alone: ``anchored=False``, with ``metric_rows=N`` for that of all rows.  M then grows without a
    bound where curvatures vanish, as in the tails of separated columns.  A step costs `metric_rows`
    d^2 for G and about ten times as much for Gamma, which the default batch takes into account.
    Where a model's parameters are positive or probabilities, its metric also mirrors at the edges
    those that a step has put outside.  Where all parameters are on simplices, `simplex` names their
    coordinates, each with its own metric.  With ``divergence=False`` Gamma is left out, and in one
    dimension the draws have the density posterior / M.

    Examples
    --------
    >>> sgmc.SGRLD(metric_rows=2000)
    SGRLD(metric_rows=2000)
    """

    name = "sgrld"
    parameters = (*Riemannian.parameters, Parameter(
        "simplex", "expanded-mean", "coordinates of probabilities, where all parameters are such "
                                    "(Patterson & Teh 2013, table 1)",
        choices=("expanded-mean", "expanded-natural", "reduced-mean", "reduced-natural")))

    def refusal(self, map):
        # coordinates of probabilities bring a metric of their own
        return "" if hasattr(map, "metric") else super().refusal(map)

    def build(self, dim, step):
        return RiemannianLangevinTransition(dim, step, self.source(), self.divergence)

    def inflation(self, h, noise):
        """(1 + hV/4) / (1 - h/4) - 1 in units of the metric, exact on a Gaussian whose metric is
        its covariance (as `sgld`).
        """
        return langevin_variance(1 + h * noise / 4, h) - 1

    def recursion(self, h, noise):
        # in units of the metric
        return langevin(h, h + h * h * noise / 4)


class SGRHMC(Riemannian, Underdamped):
    """Stochastic gradient Riemannian Hamiltonian Monte Carlo (Ma, Chen & Fox 2015, section 3.2;
    review, table 1).

    p <- p + e (R' g + Gamma);  theta <- theta + e/2 R p;  p <- exp(-C e) p + sqrt(1 - exp(-2 C e))
    xi;  theta <- theta + e/2 R p, with M = R R' = G^-1 as in `sgrld` and Gamma_i = sum_j dR_ji /
    dtheta_j; the kick has R at theta, the drifts at the middle of their way, so that errors are of
    second order in e.  This is the splitting of `baoab`.  In the terms of `sgmc.Recipe`, Q is [[0,
    -R], [R', 0]] and D is C on the momentum.  The table has D = G^-1 there, a friction of the size
    1/N that hardly forgets and that the noise of minibatches outdoes: ``diffusion="metric"`` takes
    D = C G^-1 (``friction=1`` for the table's), and needs a `step_size`, because what the noise
    does then depends on the scale of G.  ``anchored=False`` as for `sgrld`.
    """

    name = "sgrhmc"
    parameters = (
        Parameter("friction", 2.0, "C, per unit of time; 2 forgets fastest where the metric is the "
                                   "covariance", 0.0, 1e6),
        Parameter("diffusion", "friction", "D of the momentum: C, or 'metric', C G^-1",
                  choices=("friction", "metric")),
        *Riemannian.parameters,
    )

    @property
    def damping(self):
        return self.friction

    def build(self, dim, step):
        return RiemannianFrictionTransition(dim, step, self.friction, self.source(),
                                            self.divergence, self.diffusion == "metric")

    def inflation(self, h, noise):
        """e^2 V (1 + a) / ((1 - a)(4 - e^2)), a = exp(-C e), in units of the metric: exact where
        that is constant, as `baoab`.  Not known for a friction C G^-1.
        """
        if self.diffusion == "metric":
            return math.nan
        e, a = self.from_langevin(h), math.exp(-self.friction * self.from_langevin(h))
        return e * e * noise * (1 + a) / ((1 - a) * (4 - e * e)) if e < 2 else math.inf

    def recursion(self, h, noise):
        # in units of the metric; None for a friction C G^-1
        if self.diffusion == "metric":
            return None
        return baoab(self.from_langevin(h), self.friction, noise)
