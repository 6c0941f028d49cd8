"""The Laplace approximation: independent Gaussian draws around the mode, as an honest baseline."""
from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.core.spec import SamplerSpec


cdef class GaussianKernel(Sampler):
    """x ~ N(0, I): the Laplace approximation in coordinates whitened at the mode."""

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        normal_fill(rng, s.dim, s.x)
        return OK


class Laplace(SamplerSpec):
    """Independent draws from the Gaussian with the posterior's mode and curvature there.

    theta = m + L z, z ~ N(0, I), L L' the inverse of minus the Hessian of the log posterior at its
    mode m.
    """

    name = "laplace"
    uses_gradient = False

    def build(self, dim, step):
        """See `SamplerSpec.build`."""
        return GaussianKernel(dim, step)

    def inflation(self, h, noise):
        """Zero on a Gaussian posterior; how far this one is from Gaussian is measured for each
        fit.
        """
        return 0.0
