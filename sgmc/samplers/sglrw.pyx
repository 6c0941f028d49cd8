"""The stochastic gradient lattice random walk: steps of one length,
the gradient decides the side.
"""
import math

import numpy as np

from libc.math cimport fmax, fmin, sqrt

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, uniform_fill
from sgmc.core.spec import SamplerSpec
from sgmc.core.stationary import normal_nodes, side_to_side


cdef class LatticeTransition(Sampler):
    """theta_j <- theta_j + sqrt(h) or - sqrt(h)."""

    cdef double[::1] g, u

    def __init__(self, Py_ssize_t dim, double step_size):
        Sampler.__init__(self, dim, step_size)
        self.g, self.u = np.zeros(dim), np.zeros(dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double root = sqrt(self.step_size)
        g.estimate(s.x, rng, &self.g[0], NULL)
        uniform_fill(rng, s.dim, &self.u[0])
        for j in range(s.dim):
            s.x[j] += (root if 2 * self.u[j] < 1 + fmin(fmax(0.5 * root * self.g[j], -1.), 1.)
                       else -root)
        return OK


class SGLRW(SamplerSpec):
    """Stochastic gradient lattice random walk (arXiv 2602.15925).

    theta_j <- theta_j + sqrt(h) with probability (1 + clip(g_j sqrt(h) / 2, -1, 1)) / 2, else
    theta_j - sqrt(h).  A move has the square h whatever the gradient, so that on a Gaussian neither
    the step nor gradient noise widens the draws until the probability is clipped.  Draws lie on a
    lattice of that width.
    """

    name = "sglrw"
    largest_step = 0.25       # of the lattice: half a posterior sd

    def build(self, dim, step):
        return LatticeTransition(dim, step)

    def inflation(self, h, noise):
        """s^2 - 1 with s^2 P(|g| < 2 / sqrt(h)) = 1, g ~ N(0, s^2 + V): what clipping takes from
        the drift (Stein's lemma).
        """
        variance = 1.0
        for _ in range(50):
            inside = math.erf(2 / math.sqrt(2 * h * (variance + noise)))
            variance = min(1 / max(inside, 1e-6), 1e6)
        return variance - 1

    def law(self, h, noise):
        # by an expansion (`sgmc.core.stationary.side_to_side`)
        root, (nodes, weights) = math.sqrt(h), normal_nodes(40)

        def chance(x, z):
            g = -x[:, None] + math.sqrt(noise) * nodes
            return (1 + np.clip(0.5 * z * g, -1, 1)) @ weights / 2

        scale = math.sqrt(1 + self.inflation(h, noise))
        return side_to_side(([root], [1.0]), chance, scale)
