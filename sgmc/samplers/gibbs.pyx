"""Draws of parameters in turn, from their distributions given all others."""
import numpy as np

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State
from sgmc.core.spec import SamplerSpec


cdef class GibbsTransition(Sampler):
    """A step is that of the posterior's `Turns`, which the chain is given.

    Attributes
    ----------
    turns : Turns
    """

    cdef public object turns

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        with gil:
            self.turns.step(np.asarray(<double[:s.dim]> s.x), s.t, rng)
        g.touched += g.model.n
        return OK


class Gibbs(SamplerSpec):
    r"""Gibbs sampling (Gelfand & Smith 1990, doi:10.1080/01621459.1990.10476213): exact, all rows.

    It applies to linear regressions with normal errors (`ols`) and a prior with local scales that
    is learned: `horseshoe(learned=True)` or `r2d2()`.  Given sigma and the scales s_j coefficients
    are normal,

    .. math:: b \mid s, \sigma \sim N(A^{-1} X'Wy / \sigma^2, A^{-1}), \quad
        A = X'WX / \sigma^2 + diag(s_j^{-2}).

    A step consists of sweeps and, where it costs little beside them, of a draw of all b at once: by
    Cholesky factor of A, or with more coefficients than rows from u ~ N(0, S), S = diag(s_j^2), and
    e ~ N(0, sigma^2 I) as u + S X' (X S X' + sigma^2 I)^-1 (y - X u - e), in time n^2 p
    (Bhattacharya, Chakraborty & Mallick 2016, doi:10.1093/biomet/asw042).  A sweep draws each local
    scale with its coefficient integrated out, and then that coefficient, given all others; the
    global scale with the products of global and local scales as they are, and with the local scales
    and standardised coefficients as they are where rows tell little of these (an interweaving of
    parametrisations: Yu & Meng 2011, doi:10.1198/jcgs.2011.203main); and sigma.  What is not normal
    is drawn within slices (Neal 2003, doi:10.1214/aos/1056562461): there is no step to adapt.
    """

    name = "gibbs"
    exact = all_rows = conditional = True

    def build(self, dim, step):
        return GibbsTransition(dim, step)

    def inflation(self, h, noise):
        """Zero: draws are of the posterior."""
        return 0.0
