"""Tamed Langevin dynamics: no step is longer than 1 in any coordinate, noise aside."""
import numpy as np

from libc.math cimport fabs, sqrt

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.core.spec import SamplerSpec


cdef class TamedTransition(Sampler):
    """theta_j <- theta_j + h/2 g_j / (1 + h/2 |g_j|) + sqrt(h) xi_j."""

    cdef double[::1] g, xi

    def __init__(self, Py_ssize_t dim, double step_size):
        Sampler.__init__(self, dim, step_size)
        self.g, self.xi = np.zeros(dim), np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double drift, noise = sqrt(self.step_size)
        g.estimate(s.x, rng, &self.g[0], NULL)
        normal_fill(rng, s.dim, &self.xi[0])
        for j in range(s.dim):
            drift = 0.5 * self.step_size * self.g[j]
            s.x[j] += drift / (1 + fabs(drift)) + noise * self.xi[j]
        return OK


class TULA(SamplerSpec):
    """Tamed unadjusted Langevin algorithm with stochastic gradients.

    theta_j <- theta_j + h/2 g_j / (1 + h/2 |g_j|) + sqrt(h) xi_j,  g an unbiased estimate of the
    gradient of the log posterior.  The drift is at most 1, so that chains do not diverge where the
    gradient grows faster than the distance from the mode.  (TULAc of Brosse, Durmus, Moulines &
    Sabanis 2019, https://doi.org/10.1016/j.spa.2018.10.002, with a minibatch gradient.)

    Examples
    --------
    >>> sgmc.TULA()
    TULA()
    """

    name = "tula"

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return TamedTransition(dim, step)

    def inflation(self, h, noise):
        """h (1 + V) / 4 + h sqrt(2 (1 + V) / pi) to first order in h: the Euler step, and what
        taming takes from the drift, h/2 E x z |z| for z = x + N(0, V).
        """
        return h * (1 + noise) / 4 + h * np.sqrt(2 * (1 + noise) / np.pi)
