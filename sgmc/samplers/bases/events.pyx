"""Piecewise-deterministic samplers: straight lines between random events,
at which the velocity changes.

An event is a step.  Its rate along a line is bounded by an affine function of time, below which
events are proposed; a proposed one happens with probability rate / bound (thinning, Lewis & Shedler
1979).  The rate may be that of a fresh unbiased estimate of the gradient: then it is the mean over
estimates that counts (Bierkens, Fearnhead & Roberts 2019, section 4; Pakman et al. 2017, theorem
1).
"""
import numpy as np

from libc.math cimport INFINITY, sqrt

from sgmc.core.contract cimport (
    BOUND, OK, Gradient, Rng, Sampler, State, next_exponential, next_uniform,
)
from sgmc.core.spec import SamplerSpec

cdef double RATE_ROUNDING = 1e-6       # by which a rate may exceed its bound, relatively


cdef double arrival(Rng rng, double a, double b) noexcept nogil:
    """By inversion of the integrated rate: a t + b t^2 / 2 from where the rate is positive is a
    standard exponential E.
    """
    cdef double e = next_exponential(rng)
    if b <= 0:
        return e / a if a > 0 else INFINITY
    if a > 0:
        return 2 * e / (a + sqrt(a * a + 2 * b * e))
    return (sqrt(2 * b * e) - a) / b


cdef double distance(Py_ssize_t dim, const double *x, const double *y) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(dim):
        total += (x[j] - y[j]) * (x[j] - y[j])
    return sqrt(total)


cdef double inner(Py_ssize_t dim, const double *x, const double *y) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(dim):
        total += x[j] * y[j]
    return total


cdef class Events(Sampler):
    """A leaf writes `start`, which sets the velocity, and `step`, one proposed event."""

    cdef void move(self, State *s, double dt) noexcept nogil:
        cdef Py_ssize_t j
        s.dt = dt
        for j in range(s.dim):
            s.x[j] += s.v[j] * dt

    cdef int thin(self, Rng rng, double rate, double bound, double slack) noexcept nogil:
        """Whether an event proposed at rate `bound` happens; BOUND where its own rate is larger,
        by more than rounding.
        """
        if rate > bound * (1 + RATE_ROUNDING) + slack * RATE_ROUNDING:
            return BOUND
        self.proposed += not self.warming
        if not next_uniform(rng) * bound < rate:
            return PASSED
        self.accepted += not self.warming
        return TAKEN

    def state(self):
        """Also the counts of events."""
        return {**Sampler.state(self), "counts": [self.proposed, self.accepted]}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        self.proposed, self.accepted = state["counts"]


cdef class Guided(Events):
    """Events by a gradient that is kept between them: that where the line begins,
    or one that is held.
    """

    def __init__(self, Py_ssize_t dim, double step):
        Events.__init__(self, dim, step)
        self.g = np.zeros(dim)

    cdef int guide(self, State *s, Gradient g, Rng rng) except -1 nogil:
        if not self.known:
            g.estimate(s.x, rng, &self.g[0], NULL)
            self.known = True
        return OK

    def state(self):
        """Also the gradient."""
        return {**Events.state(self), "g": np.array(self.g) if self.known else None}

    def set_state(self, state):
        """Continue from a `state()`."""
        Events.set_state(self, state)
        self.known = state["g"] is not None
        np.asarray(self.g)[:] = state["g"] if self.known else 0.0


class EventSpec(SamplerSpec):
    """Base of specifications of piecewise-deterministic samplers; `build` gets the unit of length
    in the place of a step.

    Attributes
    ----------
    batch : int
        Rows of a minibatch, where none are asked for.
    """

    batch = 1
    continuous = True
    exact = True
    needs_bounds = True

    def derived(self, terms, share):
        """This specification with what it leaves open: for such terms (`fit.unbounded_paths`), and
        the least sd of a direction over the largest.
        """
        return self

    def inflation(self, h, noise):
        """None: the process leaves the posterior invariant."""
        return 0.0

    def events(self, bounds, unit):
        """Events proposed in a unit of time, roughly, where coordinates have sds of `unit`;
        `sgmc.fit` plans warmup by it.
        """
        raise NotImplementedError

    def memory(self, bounds, unit):
        """Autocorrelation time of the path, roughly, in the same case: that of a line there and
        back, without noise.
        """
        return 2 * unit
