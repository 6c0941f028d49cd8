"""Exact samplers: a proposal is accepted with the Metropolis-Hastings probability, so that the
posterior is invariant.
"""
import numpy as np

from libc.math cimport INFINITY, exp, fmin, isfinite, log
from libc.string cimport memcpy

from sgmc.samplers.bases.adaptation cimport IDENTITY
from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, next_uniform
from sgmc.core.spec import Parameter, SamplerSpec
from sgmc.errors import NotSupported

LARGEST_DENSE = 100               # parameters up to which metric="auto" is dense


cdef class Metropolis(Sampler):
    """A leaf writes `propose`; acceptance, the metric and the search for the step are here once.

    Parameters
    ----------
    dim : int
    step_size : float
    target : float
        Acceptance rate aimed at while warming.
    metric : {"identity", "diag", "dense"}
    unit_step : float
        Step to begin with once the metric has been learned.
    """

    def __init__(self, Py_ssize_t dim, double step_size, double target, metric, double unit_step):
        Sampler.__init__(self, dim, step_size)
        self.search = StepSearch(target)
        self.metric, self.unit_step = Preconditioner(dim, metric), unit_step
        self.longest, self.first_order, self.windows = float("inf"), True, WarmupWindows(0)
        self.g, self.new_g = np.zeros(dim), np.zeros(dim)
        self.w, self.new_w = np.zeros(dim), np.zeros(dim)
        self.y, self.u = np.zeros(dim), np.zeros(dim)

    def plan_warmup(self, steps):
        self.windows = WarmupWindows(steps)

    @property
    def adapted_step(self):
        """The step in use: the given one times the factor learned in warmup."""
        return self.current_step()

    cdef double current_step(self) noexcept nogil:
        return fmin(self.step_size * self.search.scale(self.warming), self.longest)

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        raise NotImplementedError("propose")

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        self.evaluate(g, s.x)
        self.accept()
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef double log_ratio = 0, probability
        cdef int status = self.propose(s, g, rng, self.current_step(), &log_ratio)
        if status != OK:
            return status
        probability = (exp(log_ratio) if log_ratio < 0 else 1.) if isfinite(log_ratio) else 0.
        if not self.warming:
            self.proposed += 1
            self.divergent += not log_ratio > -MAX_ENERGY_RISE
            self.impossible += self.new_value == -INFINITY
        if next_uniform(rng) < probability:
            memcpy(s.x, &self.y[0], s.dim * sizeof(double))
            self.accept()
            self.accepted += not self.warming
        if self.warming:
            self.learn(s, probability)
        return OK

    cdef void accept(self) noexcept nogil:
        """Make the proposal the current state."""
        self.g, self.new_g, self.value = self.new_g, self.g, self.new_value
        self.w, self.new_w = self.new_w, self.w

    cdef int evaluate(self, Gradient g, const double *y) except -1 nogil:
        g.full(y, &self.new_value, &self.new_g[0] if self.first_order else NULL)
        if self.first_order:
            self.metric.transposed(&self.new_g[0], &self.new_w[0])
        return OK

    cdef void move(self, const double *x, const double *u, double *y) noexcept nogil:
        cdef Py_ssize_t j
        self.metric.times(u, y)
        for j in range(self.dim):
            y[j] += x[j]

    cdef void learn(self, const State *s, double probability) noexcept nogil:
        """A step of the search; positions into the window, and a new metric at its end."""
        self.search.learn(probability)
        if self.metric.kind == IDENTITY or s.t < self.windows.first:
            return
        self.metric.absorb(s.x)
        if self.windows.ends_at(s.t + 1):
            self.metric.renew()
            self.metric.transposed(&self.g[0], &self.w[0])
            self.search.restart(log(self.unit_step / self.step_size))

    def state(self):
        """Cached value and gradient, counts, and what has been learned."""
        kept = {"g": np.array(self.g)} if self.first_order else {}
        kept |= {"metric": self.metric.state()} if self.metric.kind != IDENTITY else {}
        return {**Sampler.state(self), **kept, "value": self.value,
                "counts": [self.proposed, self.accepted, self.divergent, self.impossible],
                "search": self.search.state()}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        self.value, np.asarray(self.g)[:] = state["value"], state.get("g", 0.0)
        self.proposed, self.accepted, self.divergent, self.impossible = state["counts"]
        self.search.set_state(state["search"])
        if self.metric.kind != IDENTITY:
            self.metric.set_state(state["metric"])
        self.metric.transposed(&self.g[0], &self.w[0])


class MetropolisSpec(SamplerSpec):
    """Base of specifications of exact samplers."""

    exact = True
    all_rows = True
    metric_parameter = Parameter(
        "metric", "auto", "constant metric learned in warmup; auto: none in coordinates whitened "
                          f"at the mode, else dense up to {LARGEST_DENSE} parameters",
        choices=("auto", "identity", "diag", "dense"))
    walkers_parameter = Parameter(
        "walkers", 1, "of each chain, moved together in whitened coordinates", 1, 4096, whole=True)

    def refuse_walkers(self, whitened):
        """NotSupported for several walkers where a metric would be learned, or is asked for."""
        if self.walkers > 1 and not (whitened and self.metric in ("auto", "identity")):
            raise NotSupported(
                f"{self.name} with {self.walkers} walkers needs coordinates that are whitened at "
                "the mode, and no metric; leave precondition='mode' and metric='auto', or use "
                "walkers=1", because="limit")

    def fitted_to(self, whitened, dim):
        """Coordinates that are whitened already need no metric."""
        return (type(self)(**{**self.values(), "metric": "identity"}) if whitened and self.metric
                == "auto" else self)

    def metric_of(self, dim):
        """The metric's kind for that many coefficients."""
        return self.metric if self.metric != "auto" else "dense" if dim <= LARGEST_DENSE else "diag"

    def inflation(self, h, noise):
        """None: the accept-reject step leaves the posterior invariant."""
        return 0.0
