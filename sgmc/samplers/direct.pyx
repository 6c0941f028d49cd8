"""Independent draws of a posterior by a transport map, for models with normal errors."""
import numpy as np

from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.core.spec import SamplerSpec

cdef enum:
    TRANSPORTED = 256                   # draws made at once, and numbers of these at most
    TRANSPORTED_NUMBERS = 1 << 21


cdef Py_ssize_t at_once(Py_ssize_t dim) noexcept:
    """Draws of so many numbers that are made together."""
    return max(1, min(TRANSPORTED, TRANSPORTED_NUMBERS // dim))


cdef class TransportedTransition(Sampler):
    """x = T(z), z ~ N(0, I): T is the posterior's `Transport`, which the chain is given.

    Attributes
    ----------
    transport : Transport
    """

    cdef public object transport
    cdef Py_ssize_t next            # the draw of `points` that comes next
    cdef double[:, ::1] points

    def __init__(self, Py_ssize_t dim, double step_size):
        Sampler.__init__(self, dim, step_size)
        self.points = np.zeros((at_once(dim), dim))
        self.next = self.points.shape[0]

    cdef int renew(self, Rng rng) except -1 nogil:
        """Draws for the next steps."""
        normal_fill(rng, self.points.shape[0] * self.dim, &self.points[0, 0])
        with gil:
            np.asarray(self.points)[:] = self.transport.draws(np.asarray(self.points))
        self.next = 0
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        if self.next == self.points.shape[0]:
            self.renew(rng)
        memcpy(s.x, &self.points[self.next, 0], s.dim * sizeof(double))
        self.next += 1
        return OK

    def state(self):
        """The draws that are still to come."""
        return {**Sampler.state(self), "points": np.array(self.points[self.next:])}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        self.next = self.points.shape[0] - len(state["points"])
        np.asarray(self.points)[self.next:] = state["points"]


class Direct(SamplerSpec):
    """Independent draws of the posterior, without a chain.

    It applies to linear regressions with normal errors (`ols`) whose coefficients have normal or
    flat priors.  Given log sigma the coefficients are then normal, and integrating them out leaves
    a density of log sigma alone (Gelman et al. 2013, Bayesian Data Analysis, section 14.2).  Its
    quantile function is tabulated, so that standard normal numbers become independent draws.  The
    likelihood is a function of X'WX, X'Wy and y'Wy: two passes over the rows are all that a fit
    needs.  With one effect of each group, or with crossed factors and smooths that have up to three
    sds, the density of log sigma and of the sds is tabulated; each has the quantile of its
    distribution given those before (Rosenblatt 1952, doi:10.1214/aoms/1177729394).  Factors of many
    levels are integrated out at Chebyshev's points of the sds, between which the density is
    interpolated.

    Of other outcomes with effects of groups all parameters are about normal given the sd of one of
    the effects, whose density is tabulated by Laplace approximations (Tierney & Kadane 1986,
    doi:10.1080/01621459.1986.10478240).  Such draws are taken for the posterior's where their log
    weights have an sd of 0.02 at most, which the verdict adds to the errors of means.
    """

    name = "direct"
    exact = all_rows = direct = True
    uses_gradient = False

    def made_at_once(self, dim):
        return at_once(dim)

    def build(self, dim, step):
        return TransportedTransition(dim, step)

    def inflation(self, h, noise):
        """Zero: draws are of the posterior."""
        return 0.0
