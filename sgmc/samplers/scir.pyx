"""The stochastic Cox-Ingersoll-Ross process, for probabilities."""
import math

import numpy as np

from libc.math cimport exp, expm1, sqrt

from sgmc.core.numerics import limits
from sgmc.core.contract cimport DIVERGED, OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.core.spec import SamplerSpec
from sgmc.coordinates.transforms.simplices import ExpandedMean
from sgmc.core.random.variates cimport gamma_variate, poisson_variate

# of a gamma variable: those of tiny shapes may be zero in floating point
cdef double SMALLEST_PROBABILITY = limits.SMALLEST_PROBABILITY


cdef class CIRTransition(Sampler):
    """x_k <- a transition of dx = (a_k - x) / 2 dt + sqrt(x) dW over time h, a_k = 1 + theta_k dlog
    p / dtheta_k by a minibatch.

    x is what `ExpandedMean` makes probabilities of; the gradient behind that map is what the
    estimate left in `ahead`, and theta what it left in `natural`.
    """

    cdef double[::1] g

    def __init__(self, Py_ssize_t dim, double step_size):
        Sampler.__init__(self, dim, step_size)
        self.g = np.zeros(dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        """Rows keep their shares, with the sums that they fluctuate around."""
        cdef Py_ssize_t j
        g.estimate(s.x, rng, &self.g[0], NULL)
        with gil:
            shapes = 1 + np.asarray(g.natural) * np.asarray(g.ahead)
            sums = np.repeat(np.add.reduceat(shapes, g.map.at), g.map.length)
            self.g = np.asarray(g.natural) * sums
        for j in range(s.dim):
            s.x[j] = self.g[j]
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double keep = exp(-0.5 * self.step_size), share = -expm1(-0.5 * self.step_size), a, z
        g.estimate(s.x, rng, &self.g[0], NULL)
        for j in range(s.dim):
            a = 1 + g.natural[j] * g.ahead[j]
            if not a > 0:                     # there is no such gamma variable
                s.diverged_index = j
                return DIVERGED
            # a noncentral chi-square number: one normal square, and the rest is central
            if a > 0.5:
                normal_fill(rng, 1, &z)
                z += sqrt(2 * s.x[j] * keep / share)
                s.x[j] = share * (gamma_variate(rng.bits, a - 0.5) + 0.5 * z * z)
            else:
                s.x[j] = share * gamma_variate(rng.bits,
                                               a + poisson_variate(rng.bits, s.x[j] * keep / share))
            s.x[j] = max(s.x[j], SMALLEST_PROBABILITY)
        return OK


class SCIR(SamplerSpec):
    """Stochastic Cox-Ingersoll-Ross process, for probabilities (Baker, Fearnhead, Fox & Nemeth
    2018, section 3).

    theta = x / sum x, row by row, where x_k follows dx = (a_k - x) / 2 dt + sqrt(x) dW, whose law
    is Gamma(a_k, 1), by its exact transitions: with r = exp(-h/2), x_k <- (1 - r) Gamma(a_k + J,
    1), J ~ Poisson(x_k r / (1 - r)).  Steps do not leave the simplex, and have no error at its
    edges, of any size h (in the paper h/2).  The shapes a_k = 1 + theta_k dlog p / dtheta_k are
    estimated by the minibatch: of a Dirichlet prior and counts c they are alpha_k + N/n sum_batch
    c_ik, and with all rows the posterior of such a model is exactly invariant.  Minibatches leave
    means of x right, and add tanh(h/4) Var(a_k) to its variances (section 4 there; solve the
    variance of the linear recursion).  Where counts are expected ones that depend on theta, as
    those of words in topics, the sum of a row's shapes varies with theta, and the posterior is
    invariant but for an error that grows with that variation.

    All parameters must be probabilities, with gradients that leave a_k positive, as those of counts
    of kinds (`sgmc.LDA`); where one is not, the chain has diverged.

    Examples
    --------
    >>> sgmc.SCIR()
    SCIR()
    """

    name = "scir"
    simplex = "expanded-mean"
    probabilities = True
    estimator = "simple"

    def refusal(self, map):
        return "" if isinstance(map, ExpandedMean) else (f"{self.name} moves probabilities alone: "
                                                         "all parameters of the model must be on "
                                                         "simplices; use another sampler, such as "
                                                         "'sgld'")

    def build(self, dim, step):
        return CIRTransition(dim, step)

    def inflation(self, h, noise):
        """Not known: the noise has other effects on each probability."""
        return math.nan
