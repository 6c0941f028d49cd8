"""Overdamped Langevin dynamics: sgld and lmsgld.

On N(0, s^2) with gradient noise of variance V both have a closed-form stationary variance (see
`inflation`).
"""
import numpy as np

from libc.math cimport sqrt

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.core.spec import SamplerSpec, langevin_variance, sweep_noise
from sgmc.core.stationary import langevin


cdef class EulerTransition(Sampler):
    """theta <- theta + h/2 g + sqrt(h) xi."""

    cdef double[::1] g, xi

    def __init__(self, Py_ssize_t dim, double step_size):
        Sampler.__init__(self, dim, step_size)
        self.g, self.xi = np.zeros(dim), np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double half = 0.5 * self.step_size, noise = sqrt(self.step_size)
        g.estimate(s.x, rng, &self.g[0], NULL)
        normal_fill(rng, s.dim, &self.xi[0])
        for j in range(s.dim):
            s.x[j] += half * self.g[j] + noise * self.xi[j]
        return OK


cdef class LeimkuhlerMatthewsTransition(Sampler):
    """theta <- theta + h/2 g + sqrt(h)/2 (xi_k + xi_{k+1}): each normal serves two steps."""

    cdef double[::1] g, xi
    cdef double *old              # the halves of xi, in turn
    cdef double *new

    def __init__(self, Py_ssize_t dim, double step_size):
        Sampler.__init__(self, dim, step_size)
        self.g, self.xi = np.zeros(dim), np.zeros(2 * dim)
        self.old, self.new = &self.xi[0], &self.xi[dim]

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        normal_fill(rng, s.dim, self.old)
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double half = 0.5 * self.step_size, noise = 0.5 * sqrt(self.step_size)
        g.estimate(s.x, rng, &self.g[0], NULL)
        normal_fill(rng, s.dim, self.new)
        for j in range(s.dim):
            s.x[j] += half * self.g[j] + noise * (self.old[j] + self.new[j])
        self.old, self.new = self.new, self.old
        return OK

    def state(self):
        """The normals that the next step uses again."""
        return {**Sampler.state(self), "old": np.array(<double[:self.dim]> self.old)}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        np.asarray(<double[:self.dim]> self.old)[:] = state["old"]


class SGLD(SamplerSpec):
    """Stochastic gradient Langevin dynamics (Welling & Teh 2011, eq. 4).

    theta <- theta + h/2 g + sqrt(h) xi,  xi ~ N(0, I), g an unbiased estimate of the gradient of
    the log posterior.

    Examples
    --------
    >>> sgmc.SGLD()
    SGLD()
    """

    name = "sgld"

    def build(self, dim, step):
        return EulerTransition(dim, step)

    def inflation(self, h, noise):
        """(1 + hV/4) / (1 - h/4) - 1, exact on a Gaussian (solve the variance of the linear
        recursion).
        """
        return langevin_variance(1 + h * noise / 4, h) - 1

    def noise_left(self, h, parts):
        return sweep_noise(h, parts)

    def recursion(self, h, noise):
        return langevin(h, h + h * h * noise / 4)


class ULA(SGLD):
    """Unadjusted Langevin algorithm (Roberts & Tweedie 1996):
    the step of `sgld` with the gradient of all rows.

    theta <- theta + h/2 g + sqrt(h) xi,  g the exact gradient; no accept-reject step, so that the
    draws are too wide by h/4 of the variance to first order.
    """

    name = "ula"
    all_rows = True


class LMSGLD(SamplerSpec):
    """Leimkuhler-Matthews Langevin dynamics with stochastic gradients.

    theta <- theta + h/2 g + sqrt(h)/2 (xi_k + xi_{k+1}).  On a Gaussian target the step has no bias
    of its own, for any h < 4; only the gradient noise widens the draws.  (Leimkuhler & Matthews
    2013, eq. 5, with a minibatch gradient.)
    """

    name = "lmsgld"

    def build(self, dim, step):
        return LeimkuhlerMatthewsTransition(dim, step)

    def inflation(self, h, noise):
        """(hV/4) / (1 - h/4), exact on a Gaussian."""
        return langevin_variance(h * noise / 4, h)

    def noise_left(self, h, parts):
        return sweep_noise(h, parts)

    def recursion(self, h, noise):
        """Of the position and the normal that the next step uses again."""
        half = 0.5 * np.sqrt(h)
        return (np.array([[1 - h / 2, half], [0, 0]]),
                np.array([[h / 4 + h * h * noise / 4, half], [half, 1]]))
