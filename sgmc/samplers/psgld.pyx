"""Langevin dynamics preconditioned by a running mean of squared gradients."""
import numpy as np

from libc.math cimport fmax, sqrt

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.core.spec import Parameter, SamplerSpec, langevin_variance
from sgmc.core.stationary import langevin
from sgmc.errors import ArgumentError


cdef class RMSPropTransition(Sampler):
    """theta <- theta + h/2 (G g + Gamma) + sqrt(h G)
    xi, G = 1 / (eps + sqrt(v)), v <- a v + (1 - a) g^2.
    """

    cdef double memory, floor
    cdef bint gamma, begun
    cdef double[::1] g, xi, v

    def __init__(self, Py_ssize_t dim, double step_size, double memory, double floor, bint gamma):
        Sampler.__init__(self, dim, step_size)
        self.memory, self.floor, self.gamma = memory, floor, gamma
        self.g, self.xi, self.v = np.zeros(dim), np.zeros(dim), np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double h = self.step_size, newest = 1 - self.memory, root, G, drift
        g.estimate(s.x, rng, &self.g[0], NULL)
        normal_fill(rng, s.dim, &self.xi[0])
        if not self.begun:
            self.begin()
        for j in range(s.dim):
            self.v[j] += newest * (self.g[j] * self.g[j] - self.v[j])
            root = sqrt(self.v[j])
            G = 1 / (self.floor + root)
            drift = G * self.g[j]
            if self.gamma and root > 0:  # dG/dtheta with dg/dtheta = -1, the curvature at the mode
                drift += newest * self.g[j] * G * G / root
            s.x[j] += 0.5 * h * drift + sqrt(h * G) * self.xi[j]
        return OK

    cdef void begin(self) noexcept nogil:
        """v is at first no smaller than 1 and the mean over coordinates:
        small gradients must not throw the chain.
        """
        cdef Py_ssize_t j
        cdef double mean = 0
        for j in range(self.dim):
            mean += self.g[j] * self.g[j] / self.dim
        for j in range(self.dim):
            self.v[j] = fmax(fmax(self.g[j] * self.g[j], mean), 1.)
        self.begun = True

    def state(self):
        """The running mean of squared gradients."""
        return {**Sampler.state(self), "v": np.array(self.v), "begun": self.begun}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        np.asarray(self.v)[:], self.begun = state["v"], state["begun"]


class PSGLD(SamplerSpec):
    """Preconditioned stochastic gradient Langevin dynamics (Li et al. 2016): RMSprop with noise.

    theta <- theta + h/2 (G g + Gamma) + sqrt(h G) xi, G_j = 1 / (eps + sqrt(v_j)), v <- a v + (1 -
    a) g^2.  Gamma_j = dG_j/dtheta_j = -(1 - a) g_j (dg_j/dtheta_j) G_j^2 / sqrt(v_j) is left out
    unless ``gamma=True``, which takes dg_j/dtheta_j = -1: the curvature in coordinates whitened at
    the mode.  Either way v must remember much longer than the chain: with the paper's a = 0.99
    small steps let v follow theta, and draws are too wide by about (1 - a)/h of the variance.
    """

    name = "psgld"
    own_preconditioner = True
    parameters = (
        Parameter("memory", 0.99998, "a, weight of the past in the mean of squared gradients", 0.0,
                  1.0),
        Parameter("floor", 1e-5, "eps, added to the root of that mean", 0.0, 1e10),
        Parameter("gamma", False, "add the Gamma term, in whitened coordinates",
                  choices=(False, True)),
    )

    def build(self, dim, step):
        return RMSPropTransition(dim, step, self.memory, self.floor, self.gamma)

    def fitted_to(self, whitened, dim):
        """The Gamma term knows the curvature of whitened coordinates alone."""
        if self.gamma and not whitened:
            raise ArgumentError("PSGLD: gamma=True applies to coordinates whitened at the mode; "
                                "leave precondition='mode', or gamma=False")
        return self

    def inflation(self, h, noise):
        """That of `sgld` at the step h G, G = 1 / (eps + sqrt(1 + V)), and (1 - a) / (h G (1 + V)),
        measured, for a v that follows.
        """
        G = 1 / (self.floor + (1 + noise) ** 0.5)
        return langevin_variance(1 + h * G * noise / 4,
                                 h * G) - 1 + (1 - self.memory) / (h * G * (1 + noise))

    def recursion(self, h, noise):
        """That of `sgld` at h G for the v that remembers all, v = s^2 + V with s^2 the variance of
        the draws; a v that follows theta is not in it, nor the first 2 / (1 - a) steps or so, in
        which v is not stationary.
        """
        s = 1.0
        for _ in range(50):
            own = h / (self.floor + (s + noise) ** 0.5)
            s = min(langevin_variance(1 + own * noise / 4, own), 1e6)
        return langevin(own, own + own * own * noise / 4)
