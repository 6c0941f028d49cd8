"""Langevin dynamics that inject less noise where the gradient brings its own: csgld and msgld;
sgd injects none.
"""
import numpy as np

from libc.math cimport fmax, sqrt

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.samplers.bases.noise cimport NoiseTracker
from sgmc.samplers.bases.noise import NOISE_WEIGHT
from sgmc.core.spec import SamplerSpec, langevin_variance


cdef class CorrectedKernel(Sampler):
    """theta <- theta + h/2 g + s xi, with s^2 = h - h^2 tau^2 / 4, or s = sqrt(h) (1 - h tau^2 / 2)
    as printed for msgld.
    """

    cdef bint printed
    cdef NoiseTracker noise
    cdef double[::1] g, xi

    def __init__(self, Py_ssize_t dim, double step_size, double beta, bint printed):
        Sampler.__init__(self, dim, step_size)
        self.noise, self.printed = NoiseTracker(dim, beta), printed
        self.g, self.xi = np.zeros(dim), np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double h = self.step_size, share
        g.estimate(s.x, rng, &self.g[0], &self.noise.sd[0])
        self.noise.track()
        normal_fill(rng, s.dim, &self.xi[0])
        for j in range(s.dim):
            share = h * self.noise.sd[j] * self.noise.sd[j]
            share = fmax(1 - 0.5 * share, 0.) if self.printed else sqrt(fmax(1 - 0.25 * share, 0.))
            s.x[j] += 0.5 * h * self.g[j] + sqrt(h) * share * self.xi[j]
        return OK

    def state(self):
        """The running mean of the gradient's sd."""
        return {**Sampler.state(self), "noise": self.noise.state()}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        self.noise.set_state(state["noise"])


cdef class DescentKernel(Sampler):
    """theta <- theta + h/2 g."""

    cdef double[::1] g

    def __init__(self, Py_ssize_t dim, double step_size):
        Sampler.__init__(self, dim, step_size)
        self.g = np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        g.estimate(s.x, rng, &self.g[0], NULL)
        for j in range(s.dim):
            s.x[j] += 0.5 * self.step_size * self.g[j]
        return OK


class CSGLD(SamplerSpec):
    """Corrected stochastic gradient Langevin dynamics (Mauri & Zanella, Algorithm 7).

    theta <- theta + h/2 g + N(0, h - h^2 tau^2 / 4), tau_j the running sd of the gradient estimate:
    injected and gradient noise are together h, as long as h tau^2 < 4; beyond, nothing is injected.
    (Their step, written as a standard deviation, stands for the square root of h here.)
    """

    name = "csgld"
    needs_noise = True
    parameters = (NOISE_WEIGHT,)

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return CorrectedKernel(dim, step, self.beta, False)

    def inflation(self, h, noise):
        """max(1, hV/4) / (1 - h/4) - 1, for tau^2 = V: the gradient noise is undone,
        the step's own error stays.
        """
        return langevin_variance(max(1.0, h * noise / 4), h) - 1


class MSGLD(SamplerSpec):
    """Modified stochastic gradient Langevin dynamics (Vollmer et al. 2016; Mauri & Zanella,
    Algorithm 6, as printed).

    theta <- theta + h/2 g + sqrt(h) (1 - h tau^2 / 2) xi, with the variances of single coordinates
    for the covariance.  The noise taken off has variance h^2 tau^2 to first order, four times what
    the gradient adds: draws are too narrow by 3/4 h tau^2 of the variance, where `csgld` is right.
    """

    name = "msgld"
    needs_noise = True
    parameters = (NOISE_WEIGHT,)

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return CorrectedKernel(dim, step, self.beta, True)

    def inflation(self, h, noise):
        """((1 - hV/2)^2 + hV/4) / (1 - h/4) - 1, for tau^2 = V: negative where noise matters."""
        return langevin_variance(max(1 - h * noise / 2, 0.0) ** 2 + h * noise / 4, h) - 1


class SGD(SamplerSpec):
    """Stochastic gradient descent (Robbins & Monro 1951), the extreme of the corrections:
    no noise but the gradient's.

    theta <- theta + h/2 g.

    With ``cov_type="robust"``, ``gradient="simple"``, ``subsample="uniform"`` and h = 4 n/N that
    noise alone gives draws the covariance of the sandwich (as Mandt, Hoffman & Blei 2017, section
    3, for the posterior; see `sgmc.coordinates.sandwich`).
    """

    name = "sgd"
    distortion = ("sgd only climbs: its draws scatter around the mode by the gradient's noise, "
                  "their spread is not the posterior's")

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return DescentKernel(dim, step)

    def inflation(self, h, noise):
        """The rule of `sgld`, for the choice of a default step only."""
        return langevin_variance(1 + h * noise / 4, h) - 1
