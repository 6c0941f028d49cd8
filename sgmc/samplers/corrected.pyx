"""Langevin dynamics that inject less noise where the gradient brings its own: csgld and msgld;
sgd injects none.
"""
import numpy as np

from libc.math cimport fmax, sqrt
from scipy.linalg.cython_lapack cimport dsyev

from sgmc.core.contract cimport (
    DIVERGED, OK, Gradient, Rng, Sampler, State, normal_fill,
)
from sgmc.samplers.bases.noise cimport CovarianceTracker, NoiseTracker
from sgmc.samplers.bases.noise import NOISE_WEIGHT
from sgmc.core.spec import Parameter, SamplerSpec, langevin_variance
from sgmc.core.stationary import langevin


cdef double kept(double share, bint printed) noexcept nogil:
    """Of the injected sd sqrt(h), for noise of h tau^2 = `share`: sqrt(1 - share / 4), or 1 - share
    / 2 as printed for msgld; nothing where that is negative.
    """
    return fmax(1 - 0.5 * share, 0.) if printed else sqrt(fmax(1 - 0.25 * share, 0.))


cdef class CorrectedTransition(Sampler):
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
            share = kept(h * self.noise.sd[j] * self.noise.sd[j], self.printed)
            s.x[j] += 0.5 * h * self.g[j] + sqrt(h) * share * self.xi[j]
        return OK

    def state(self):
        """The running mean of the gradient's sd."""
        return {**Sampler.state(self), "noise": self.noise.state()}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        self.noise.set_state(state["noise"])


cdef class FullyCorrectedTransition(Sampler):
    """The same with the covariance C of the noise in the place of tau^2: s is then the symmetric
    root of h I - h^2 C / 4, or sqrt(h) (I - h C / 2), by the eigenvectors of C.
    """

    cdef bint printed
    cdef CovarianceTracker noise
    cdef double[::1] g, xi, values, injected, work
    cdef double[:, ::1] vectors           # eigenvectors, one a row

    def __init__(self, Py_ssize_t dim, double step_size, double beta, bint printed):
        Sampler.__init__(self, dim, step_size)
        self.noise, self.printed = CovarianceTracker(dim, beta), printed
        self.g, self.xi, self.values = np.zeros(dim), np.zeros(dim), np.zeros(dim)
        self.injected, self.vectors = np.zeros(dim), np.zeros((dim, dim))
        self.work = np.zeros(4 * dim)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double h = self.step_size, along
        self.noise.estimate(g, s.x, rng, &self.g[0])
        normal_fill(rng, s.dim, &self.xi[0])
        if not self.decompose():
            s.diverged_index = 0
            return DIVERGED
        for j in range(s.dim):
            self.injected[j] = 0
        for k in range(s.dim):
            along = 0
            for j in range(s.dim):
                along += self.vectors[k, j] * self.xi[j]
            along *= sqrt(h) * kept(h * fmax(self.values[k], 0.), self.printed)
            for j in range(s.dim):
                self.injected[j] += along * self.vectors[k, j]
        for j in range(s.dim):
            s.x[j] += 0.5 * h * self.g[j] + self.injected[j]
        return OK

    cdef bint decompose(self) noexcept nogil:
        """Eigenvalues and vectors of C; False where it is not finite."""
        cdef int d = <int> self.dim, size = <int> self.work.shape[0], info = 0
        cdef char vectors = b"V", triangle = b"U"
        self.vectors[...] = self.noise.covariance
        dsyev(&vectors, &triangle, &d, &self.vectors[0, 0], &d, &self.values[0], &self.work[0],
              &size, &info)
        return info == 0

    def state(self):
        """The running mean of the gradient's covariance."""
        return {**Sampler.state(self), "noise": self.noise.state()}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        self.noise.set_state(state["noise"])


cdef class DescentTransition(Sampler):
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


class Corrected(SamplerSpec):
    """Base of Langevin dynamics that take off what the gradient's noise adds."""

    parameters = (
        NOISE_WEIGHT,
        Parameter("covariance", "diagonal", "of the noise: variances of coordinates, or 'full', "
                                            "which costs d^2 a row and d^3 a step",
                  choices=("diagonal", "full")),
    )
    printed = False

    @property
    def needs_noise(self):
        """Whether the noise of single coordinates is all that is known of it."""
        return self.covariance == "diagonal"

    def build(self, dim, step):
        made = CorrectedTransition if self.needs_noise else FullyCorrectedTransition
        return made(dim, step, self.beta, self.printed)

    def recursion(self, h, noise):
        # tau^2 = V is known
        injected = h * kept(h * noise, self.printed) ** 2
        return langevin(h, injected + h * h * noise / 4)


class CSGLD(Corrected):
    """Corrected stochastic gradient Langevin dynamics (Mauri & Zanella, Algorithm 7).

    theta <- theta + h/2 g + N(0, h - h^2 tau^2 / 4), tau_j the running sd of the gradient estimate:
    injected and gradient noise are together h, as long as h tau^2 < 4; beyond, nothing is injected.
    (Their step, written as a standard deviation, stands for the square root of h here.)  With
    ``covariance="full"``, N(0, h I - h^2 C / 4) for the running mean C of the estimate's
    covariance, which undoes correlated noise too.
    """

    name = "csgld"

    def inflation(self, h, noise):
        """max(1, hV/4) / (1 - h/4) - 1, for tau^2 = V: the gradient noise is undone,
        the step's own error stays.
        """
        return langevin_variance(max(1.0, h * noise / 4), h) - 1


class MSGLD(Corrected):
    """Modified stochastic gradient Langevin dynamics (Vollmer et al. 2016; Mauri & Zanella,
    Algorithm 6, as printed).

    theta <- theta + h/2 g + sqrt(h) (I - h C / 2) xi, C the running mean of the estimate's
    covariance with ``covariance="full"``, as printed; by default the variances tau^2 of single
    coordinates stand for it.  The noise taken off has variance h^2 C to first order, four times
    what the gradient adds: draws are too narrow by 3/4 h tau^2 of the variance, where `csgld` is
    right.
    """

    name = "msgld"
    printed = True

    def inflation(self, h, noise):
        """((1 - hV/2)^2 + hV/4) / (1 - h/4) - 1, for tau^2 = V: negative where noise matters."""
        return langevin_variance(max(1 - h * noise / 2, 0.0) ** 2 + h * noise / 4, h) - 1


class SGD(SamplerSpec):
    """Stochastic gradient descent (Robbins & Monro 1951), the extreme of the corrections:
    no noise but the gradient's.

    theta <- theta + h/2 g.

    With ``cov_type="robust"``, ``gradient="simple"``, ``subsample="uniform"`` and h = 4 n/N that
    noise alone gives draws the covariance of the sandwich (as Mandt, Hoffman & Blei 2017, section
    3, for the posterior; see `sgmc.coordinates.whitened.sandwich`).
    """

    name = "sgd"
    distortion = ("sgd only climbs: its draws scatter around the mode by the gradient's noise, "
                  "their spread is not the posterior's")

    def build(self, dim, step):
        return DescentTransition(dim, step)

    def inflation(self, h, noise):
        """The rule of `sgld`, for the choice of a default step only."""
        return langevin_variance(1 + h * noise / 4, h) - 1

    def recursion(self, h, noise):
        # the gradient's noise alone
        return langevin(h, h * h * noise / 4)
