"""The recipe of Ma, Chen & Fox (2015): any diffusion that leaves the posterior invariant,
by its matrices.
"""
import math
from dataclasses import dataclass

import numpy as np

from libc.math cimport sqrt
from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Gradient, Rng, Sampler, State, normal_fill
from sgmc.core.covariance cimport BatchCovariance
from sgmc.core.numerics.limits import CENTRAL_DIFFERENCE
from sgmc.core.spec import Parameter, SamplerSpec
from sgmc.errors import ArgumentError

# relative departure up to which matrices count as symmetric, skew and semidefinite
MATRIX_TOLERANCE = 1e-8
FULL = "full"  # the covariance of the gradient's noise, not its diagonal


class RecipeMatrices:
    """What a recipe says at a place z = (theta, extra), as arrays;
    ArgumentError where they are of another form.

    Parameters
    ----------
    spec : Recipe
    dim, size : int
        Of theta and of z.
    """

    def __init__(self, spec, dim, size):
        self.spec, self.dim, self.size = spec, dim, size
        self.fixed = not any(callable(value) for value in (spec.D, spec.Q, spec.gamma, spec.slope))

    def matrix(self, name, z):
        """D or Q at z."""
        value = getattr(self.spec, name)
        if value is None:
            return (np.diag(np.arange(self.size) < self.dim).astype(float) if name == "D"
                    else np.zeros((self.size, self.size)))
        return self.array(name, value(z.copy()) if callable(value) else value,
                          (self.size, self.size))

    def array(self, name, value, shape):
        """`value` as an array of that shape."""
        try:
            found = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise ArgumentError(
                f"Recipe: {name} must be numbers, not {type(value).__name__}") from error
        if found.shape != shape:
            raise ArgumentError(f"Recipe: {name} has shape {found.shape}; for {self.dim} "
                                f"parameters and {self.size - self.dim} extra variables it must be "
                                f"{shape}")
        return found

    def divergence(self, z):
        """Gamma_i = sum_j d(D_ij + Q_ij)/dz_j at z."""
        if self.spec.gamma is not None:
            return self.array("gamma", self.spec.gamma(z.copy()), (self.size,))
        total = np.zeros(self.size)
        for j in range(self.size if callable(self.spec.D) or callable(self.spec.Q) else 0):
            step = np.zeros(self.size)
            step[j] = CENTRAL_DIFFERENCE * max(1.0, abs(z[j]))
            rise = [self.matrix(name, z + step)[:, j] - self.matrix(name, z - step)[:, j]
                    for name in ("D", "Q")]
            total += sum(rise) / (2 * step[j])
        return total

    def slope(self, extra):
        """Gradient of the energy of the extra variables."""
        return (extra if self.spec.slope is None
                else self.array("slope", self.spec.slope(extra.copy()), extra.shape))

    def check(self, z, blocks):
        """Refuse what is no recipe where the chain begins."""
        D, Q = self.matrix("D", z), self.matrix("Q", z)
        for name, value in (("D", D), ("Q", Q), ("gamma", self.divergence(z)),
                            ("slope", self.slope(z[self.dim:]))):
            if not np.isfinite(value).all():
                raise ArgumentError(f"Recipe: {name} is not finite where the chain begins")
        size = MATRIX_TOLERANCE * max(abs(D).max(), abs(Q).max())
        if abs(D - D.T).max() > size:
            raise ArgumentError("Recipe: D is not symmetric where the chain begins")
        if np.linalg.eigvalsh(D).min() < -size:
            raise ArgumentError("Recipe: D is not positive semidefinite where the chain begins")
        if abs(Q + Q.T).max() > size:
            raise ArgumentError("Recipe: Q is not skew-symmetric (Q' = -Q) where the chain begins")
        for block in blocks:
            if abs(np.delete(D[block], block, axis=1)).max(initial=0.0) > size:
                raise ArgumentError("Recipe: D has an entry between two blocks, whose noise is "
                                    "drawn apart")


cdef class RecipeTransition(Sampler):
    """z <- z + h/2 [-(D + Q) grad H + Gamma] + sqrt(h) N(0, D), block by block."""

    cdef object ingredients, blocks
    cdef bint corrected, full, fixed, evaluated
    cdef BatchCovariance batch
    cdef Py_ssize_t size
    cdef Py_ssize_t[::1] order, ends
    cdef double[::1] z, g, sd, grad, drift, xi, divergence
    cdef double[:, ::1] D, mix, root, V, added

    def __init__(self, Py_ssize_t dim, double step_size, spec, extra, blocks):
        Sampler.__init__(self, dim, step_size)
        self.size, self.blocks = dim + len(extra), blocks
        self.corrected, self.full = bool(spec.corrected), spec.corrected == FULL
        self.ingredients = RecipeMatrices(spec, dim, self.size)
        self.fixed = self.ingredients.fixed
        self.order = np.concatenate(blocks).astype(np.intp)
        self.ends = np.cumsum([len(block) for block in blocks])
        self.z = np.concatenate([np.zeros(dim), extra])
        self.g, self.sd = np.zeros(dim), np.zeros(dim)
        self.grad, self.drift, self.xi, self.divergence = (np.zeros(self.size) for _ in range(4))
        self.D, self.mix, self.root = (np.zeros((self.size, self.size)) for _ in range(3))
        self.V, self.added = np.zeros((dim, dim)), np.zeros((self.size, dim))

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        memcpy(&self.z[0], s.x, self.dim * sizeof(double))
        with gil:
            self.ingredients.check(np.array(self.z), self.blocks)
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t b, j
        memcpy(&self.z[0], s.x, self.dim * sizeof(double))
        self.estimate(s.x, g, rng)
        normal_fill(rng, self.size, &self.xi[0])
        for j in range(self.dim):
            self.grad[j] = -self.g[j]
        for b in range(self.ends.shape[0]):
            self.evaluate_matrices()
            self.move(self.ends[b - 1] if b else 0, self.ends[b])
        memcpy(s.x, &self.z[0], self.dim * sizeof(double))
        return OK

    cdef int estimate(self, const double *x, Gradient g, Rng rng) except -1 nogil:
        """The gradient at x, and its noise where that is wanted."""
        if not self.full:
            g.estimate(x, rng, &self.g[0], &self.sd[0] if self.corrected else NULL)
            return OK
        if self.batch is None:
            with gil:
                self.batch = BatchCovariance(g)
        return self.batch.estimate(g, x, rng, &self.g[0], &self.V[0, 0])

    cdef int evaluate_matrices(self) except -1 nogil:
        """D, D + Q, Gamma and the rest of grad H where z is."""
        cdef Py_ssize_t j
        for j in range(self.dim, self.size):
            self.grad[j] = self.z[j]
        if self.evaluated and self.fixed:
            return OK
        with gil:
            z, d = np.array(self.z), self.dim
            D = self.ingredients.matrix("D", z)
            np.asarray(self.D)[...], np.asarray(self.mix)[...] = D, D + self.ingredients.matrix("Q",
                                                                                                z)
            np.asarray(self.divergence)[:] = self.ingredients.divergence(z)
            np.asarray(self.grad)[d:] = self.ingredients.slope(z[d:])
            self.evaluated = True
        return OK

    cdef int move(self, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
        """The variables order[first:last] by eq. 11, all at once."""
        cdef Py_ssize_t a, b, i, j
        cdef double half = 0.5 * self.step_size, scale = sqrt(self.step_size), noise
        self.add_noise(first, last)
        for a in range(first, last):
            i = self.order[a]
            self.drift[a] = self.divergence[i]
            for j in range(self.size):
                self.drift[a] -= self.mix[i, j] * self.grad[j]
            for b in range(first, a + 1):
                self.root[a, b] = self.variance(i, self.order[b])
        semidefinite_root(self.root, first, last)
        for a in range(first, last):
            noise = 0
            for b in range(first, a + 1):
                noise += self.root[a, b] * self.xi[self.order[b]]
            self.z[self.order[a]] += half * self.drift[a] + scale * noise
        return OK

    cdef void add_noise(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """added = (D + Q) V, in the rows order[first:last], for the whole of V."""
        cdef Py_ssize_t a, k, l
        for a in range(first, last if self.full else first):
            for k in range(self.dim):
                self.added[self.order[a], k] = 0
                for l in range(self.dim):
                    self.added[self.order[a], k] += self.mix[self.order[a], l] * self.V[l, k]

    cdef double variance(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """D_ij, less h times that of the gradient's noise where it is to be taken out: (D + Q)
        V (D + Q)' / 4.
        """
        cdef Py_ssize_t k
        cdef double own = 0
        for k in range(self.dim if self.corrected else 0):
            if self.full:
                own += self.added[i, k] * self.mix[j, k]
            else:
                own += self.mix[i, k] * self.mix[j, k] * self.sd[k] * self.sd[k]
        return self.D[i, j] - 0.25 * self.step_size * own

    def state(self):
        """The extra variables, where there are some."""
        return {**Sampler.state(self),
                **({"extra": np.array(self.z[self.dim:])} if self.size > self.dim else {})}

    def set_state(self, state):
        """Continue from a `state()`."""
        Sampler.set_state(self, state)
        np.asarray(self.z)[self.dim:] = state.get("extra", 0.0)


cdef void semidefinite_root(double[:, ::1] a, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Lower triangle of a diagonal block to its Cholesky factor, in place; where a pivot is not
    positive, a column of zeros.
    """
    cdef Py_ssize_t j, k, l
    cdef double largest = 0, total
    for j in range(first, last):
        largest = max(largest, a[j, j])
    for j in range(first, last):
        for k in range(first, j + 1):
            total = a[j, k]
            for l in range(first, k):
                total -= a[j, l] * a[k, l]
            if k == j:
                a[j, j] = sqrt(total) if total > 1e-14 * largest else 0
            else:
                a[j, k] = total / a[k, k] if a[k, k] > 0 else 0


@dataclass(frozen=True)
class Ingredient(Parameter):
    """A function, None, or where `matrix` a square one of numbers, kept as rows of a tuple."""

    matrix: bool = False

    @property
    def span(self):
        return "None, a function or a matrix" if self.matrix else "None or a function"

    @property
    def annotation(self):
        return ("Callable[..., Any] | ArrayLike | None" if self.matrix
                else "Callable[..., Any] | None")

    def check(self, value, owner):
        if value is None or callable(value):
            return value
        shape = np.shape(value) if self.matrix else ()
        if len(shape) != 2 or shape[0] != shape[1]:
            wanted = "a function, a square matrix or None" if self.matrix else "a function or None"
            found = f"{type(value).__name__}{f' of shape {shape}' if shape else ''}"
            raise ArgumentError(f"{owner}: {self.name} must be {wanted}, not {found}")
        return tuple(tuple(float(x) for x in row) for row in np.asarray(value))

    def shown(self, value):
        """A function by its name: it may have an address in its text."""
        return (f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__")
                else repr(value))


class Recipe(SamplerSpec):
    """A sampler from its matrices: every diffusion that leaves the posterior invariant (Ma, Chen &
    Fox 2015; review, eq. 9-11).

    z <- z + h/2 [-(D(z) + Q(z)) grad H(z) + Gamma(z)] + sqrt(h) N(0, D(z)),  Gamma_i = sum_j
    d(D_ij + Q_ij)/dz_j, for z = (theta, extra) and H = U(theta) + K(extra), U = -log posterior:
    exp(-H) is invariant as h -> 0 for every positive semidefinite D and skew-symmetric Q.  (Eq. 11
    prints Gamma with the sign of grad H; eq. 10 has it as here, which is right.)  grad U is
    estimated from a minibatch, once a step.  theta are the sampler's coordinates, whitened at the
    mode unless ``precondition=None``.

    Functions get z as one array, first the d numbers of theta, and are called at each step with the
    interpreter lock: some 50 microseconds a step, and with Gamma by differences 2 len(z) times as
    many calls; matrices cost next to nothing.  Nothing is known of the errors of a recipe, so that
    `step_size` must be given; the default batch is a hundredth of the rows.  Eq. 11 updates
    everything from the same z; with `blocks` they follow one another, each with what those before
    have become, but grad U stays that of the step's beginning, so that theta belongs behind what it
    moves.

    Parameters
    ----------
    D, Q : function of z, matrix or None
        Default: D the identity on theta and zero on the rest, Q = 0, which is `sgld`.
    extra : function of d, optional
        Where the extra variables begin, as an array; ``numpy.zeros`` gives a momentum.
    slope : function of the extra variables, optional
        Gradient of K; default the variables themselves, as for standard normal ones.
    gamma : function of z, optional
        Default: central differences of D + Q, none if they are matrices.
    blocks : function of d, optional
        Lists of indices of z to be updated one after another.
    corrected : bool or "full"
        N(0, D - h B) with B = (D + Q) V (D + Q)' / 4, V the variance of each gradient estimate:
        of its coordinates, or ``"full"``, its covariance, which costs d^2 for each row; where that
        is not positive semidefinite, what is too much is left out.

    Examples
    --------
    Stochastic gradient Hamiltonian Monte Carlo with friction 2; a step of h is a leapfrog step
    of h/2.

    >>> def D(z):
    ...     return np.diag(np.repeat([0.0, 2.0], len(z) // 2))
    >>> def Q(z):
    ...     d = len(z) // 2
    ...     return np.kron([[0, -1], [1, 0]], np.eye(d))
    >>> def momentum_first(d):
    ...     return range(d, 2 * d), range(d)
    >>> recipe = sgmc.Recipe(D, Q, extra=np.zeros, blocks=momentum_first)
    >>> sgmc.logit("y ~ .", df, sampler=recipe, step_size=0.2)
    """

    name = "recipe"
    by_name = False
    parameters = (
        Ingredient("D", None, "diffusion, symmetric and positive semidefinite; None: the identity "
                              "on theta", matrix=True),
        Ingredient("Q", None, "curl, skew-symmetric; None: zero", matrix=True),
        Ingredient("extra", None, "of d: where extra variables begin; None: there are none"),
        Ingredient("slope", None, "of the extra variables: gradient of their energy; None: they "
                                  "are standard normal"),
        Ingredient("gamma", None, "of z: sum_j d(D_ij + Q_ij)/dz_j; None: by central differences"),
        Ingredient("blocks", None, "of d: indices to be updated one block after another; None: all "
                                   "together"),
        Parameter("corrected", False, "inject less noise where the gradient brings its own, by the "
                                      "variances of its coordinates, or 'full': by its covariance",
                  choices=(False, True, FULL)),
    )

    def __init__(self, D=None, Q=None, **values):
        super().__init__(D=D, Q=Q, **values)

    @property
    def needs_noise(self):
        """Whether the noise of single coordinates is taken out."""
        return self.corrected is True

    def build(self, dim, step):
        extra = np.zeros(0) if self.extra is None else np.asarray(self.extra(dim), dtype=float)
        if extra.ndim != 1 or not np.isfinite(extra).all():
            raise ArgumentError(f"Recipe: extra({dim}) must be finite numbers in one dimension, "
                                f"not {extra!r}")
        size = dim + len(extra)
        blocks = [list(block) for block in ([range(size)] if self.blocks is None
                                            else self.blocks(dim))]
        if sorted(sum(blocks, [])) != list(range(size)):
            raise ArgumentError(f"Recipe: blocks({dim}) must have each of 0 .. {size - 1} once")
        return RecipeTransition(dim, step, self, extra, blocks)

    def inflation(self, h, noise):
        """Not known."""
        return math.nan
