"""What a problem is made of beside its density: rows, defaults, starts, what is kept of draws, and
what the verdict is told.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sgmc import registry
from sgmc.arguments.types import Bools
from sgmc.coordinates.approximations.modes import where_finite
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.recorders import FullRecorder, Spaced
from sgmc.core.system.storage import advise, mapping
from sgmc.errors import ArgumentError
from sgmc.fit.stopping import HAS_SD

DISPERSION, DISPERSION_DF = 2.5, 4  # scale and degrees of freedom of dispersed starts, in sds
EXACT = "mala"  # the exact sampler that "auto" takes where a model names no other
# of users' compiled densities that take little work: paths as long as each place asks for give
# several times as many effective draws a second as steps, and are right at kinks
PATHS = "nuts"
QUICK_CELLS = 2e4  # numbers of the table
DRAWS_MEMORY = 1 << 30  # bytes of kept draws
ACCEPTED = 0.9  # of Hamiltonian paths: a rotation more costs less than what is rejected
# paths between draws at most; numbers of the table in all gradients
MOST_PATHS, AFFORDABLE = 4, 1.2e10


# ---- rows ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Observations:
    """What the rows of the compiled model are to the user.

    Attributes
    ----------
    nobs : float
        Number of observations; with frequency weights, their sum.
    cells : float
        Numbers that a density over all rows is made of.
    repeated : float
        Times as long as that many numbers that it takes, about.
    grid : float
        Times as many nodes as effects have in `cells`, which counts those of one effect.
    row_terms : float
        Times as long as those of a logit that the terms of a row take, where these decide.
    shuffled : bool
        Whether rows are in random order, so that blocks of them are samples.
    unit : str
        What a row of the model is to the user.
    columns : tuple of array
        Of the table, which may lie in files.
    strata : callable or None
        ``strata()`` gives the stratum of each row, (n,), for ``subsample="stratified"``.
    identity : callable
        ``identity(problem)`` gives arrays that tell its data from others, for checkpoints.
    """

    nobs: float
    cells: float
    shuffled: bool
    identity: Callable
    unit: str = "row"
    columns: tuple = ()
    strata: Callable | None = None
    repeated: float = 1.0
    grid: float = 1.0
    row_terms: float = 1.0

    @property
    def grouped(self):
        """Whether rows of the model are groups of the data's rows."""
        return self.unit == "group"

    @property
    def file_bytes(self):
        """Bytes that a pass over the rows reads from a file; 0 where they are in memory."""
        return sum(
            one.nbytes for one in self.columns if one is not None and mapping(one) is not None
        )

    def will_read(self, random):
        """Tell the system whether rows will be read in random places, or in order; only where they
        lie in a file does this matter.
        """
        advise(self.columns, random)


def is_foreign(part):
    """Whether a model or a prior is from outside the package, whose tests do not cover it, or calls
    what is.
    """
    origin = type(part).__module__.partition(".")[0]
    outside = origin not in ("builtins", __name__.partition(".")[0])
    return outside or getattr(part, "foreign", False)


# ---- defaults ------------------------------------------------------------------------------------


def each_step(settings):
    """A draw from every step."""
    return 1


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What is done where settings are left open.

    Attributes
    ----------
    estimator : str
        Name of the gradient estimator; "simple" where there is no mini-batch.
    exact_sampler : str
        What "auto" takes where mini-batches will not do.
    why_exact : str
        What speaks for an exact sampler whatever the work, in words; empty where nothing does.
    unsurveyed : str
        What restricts a fit to exact samplers, in words: no pilot measures gradient noise and
        shape, as it would cost more than it tells.  Empty where one does.
    sampler : SamplerSpec or None
        What "auto" takes without a pilot.
    thinning : callable
        ``thinning(settings)`` gives the steps between draws of the default sampler where no pilot
        tells them; at least so many of an exact one.
    warmup : int or None
        Steps of warmup of the default sampler where no pilot tells them; None: those of its plan.
    nearly_normal : bool
        Whether the posterior is nearly standard normal in its coordinates, so that independent
        draws are looked at first.
    by_laws : callable or None
        ``by_laws(problem)`` gives the problem with proposals whose densities take no rows, where
        independent draws are not those of the posterior; the same where there are none.
    own_sampler : str
        Name of what the model takes without ``sampler=`` where it does not leave that to "auto"'s
        rules; else empty.
    step_plan : callable or None
        ``step_plan(choice)`` gives a plan whose step comes from elsewhere than coordinates without
        a scale, or None.
    """

    estimator: str
    exact_sampler: str = EXACT
    why_exact: str = ""
    unsurveyed: str = ""
    sampler: object = None
    thinning: Callable = each_step
    warmup: int | None = None
    nearly_normal: bool = False
    by_laws: Callable | None = None
    own_sampler: str = ""
    step_plan: Callable | None = None

    def exact(self):
        """The specification of the exact sampler."""
        return registry.room("samplers")[self.exact_sampler]()


# Where no pilot looks, Hamiltonian paths of all parameters at once, in coordinates that make these
# nearly standard normal.


def rotating_paths(walkers=1):
    """The specification of the sampler, with so many walkers a chain."""
    how = dict(walkers=walkers) if walkers > 1 else dict(rotations=2)
    return registry.room("samplers")["hmc"](target_accept=ACCEPTED, **how)


def paths_between_draws(settings, cells, gradients, most=MOST_PATHS):
    """Paths between draws, at most so many: these are nearly independent where so many paths, each
    of so many gradients, cost little.
    """
    work = gradients * settings.draws * settings.chains * cells
    return int(np.clip(AFFORDABLE // work, 1, most))


class Starts:
    """Where chains begin: around the modes that were found."""

    def begin(self, problem, settings, k):
        """Where chain k starts, in the sampler's coordinates."""
        where = problem.coordinates
        if settings.start_given:
            given = np.broadcast_to(settings.init, (settings.chains, len(problem.priors.names)))[k]
            return where.from_reported(given)
        mode, rng = problem.searched.of_chain(k), Rng(seed_sequence(settings.seed, "start", k))
        z = rng.normals(problem.dim)
        if not settings.dispersed:
            return around(problem, mode, z)
        z *= DISPERSION / np.sqrt(np.mean(rng.normals(DISPERSION_DF) ** 2))
        centre = np.zeros(problem.dim)
        z = where_finite(lambda z: problem.is_finite(around(problem, mode, z)), z, centre)
        return around(problem, mode, z)


def around(problem, mode, z):
    """The point of a standard normal draw z (d,) around a mode, by its number."""
    where, searched = problem.coordinates, problem.searched
    if mode == 0 and where.scaled or not searched.gaussians:
        return where.from_white(z)
    place, root = searched.gaussians[mode]
    return where.from_theta(place + root @ z)


# ---- what is kept of draws -----------------------------------------------------------------------


class Record:
    """What is kept of draws: all parameters of each."""

    columns = None  # places of the parameters that are kept, where not all are

    def settled(self, problem, settings):
        """The record for settings; ArgumentError for more draws than memory should hold."""
        if settings.keep is not None:
            raise ArgumentError(
                "keep does not apply here: it is for models of so many parameters that draws of "
                "all are too many"
            )
        refuse_too_many(settings, problem.dim)
        return self

    def kept(self, problem, x):
        """Draws (chain, draw, parameter) as they are reported, and their names, of what a recorder
        kept.
        """
        return problem.coordinates.reported(x), problem.priors.printed

    def theta(self, problem, x):
        """Draws in the user's coordinates, (..., p), of what a recorder kept."""
        return problem.coordinates.theta(x)

    def recorded(self, problem, x):
        """What a recorder keeps of positions (..., dim)."""
        return x

    def recorder(self, problem, draws, plan):
        """What keeps the draws of one chain."""
        if plan.spaced:
            return Spaced(draws, problem.dim, plan.time_power)
        return FullRecorder(draws, problem.dim, plan.thin)


def refuse_too_many(settings, numbers):
    """ArgumentError where draws of so many numbers are over the limit of memory."""
    size = 8 * settings.positions * settings.chains * numbers
    if size > DRAWS_MEMORY:
        raise ArgumentError(
            f"{settings.kept_text} in {settings.chains} chains of {numbers} parameters are "
            f"{size / 2**30:.1f} GB, over the limit of 1 GB; keep fewer and thin more"
        )


# ---- other coordinates ---------------------------------------------------------------------------


class Forms:
    """The same posterior in other coordinates; itself where its own will do."""

    def nearest(self, problem):
        """The problem in coordinates whitened by the Gaussian nearest to it, for samplers that
        propose from there.
        """
        return problem

    def unbounded(self, problem):
        """The problem in coordinates that end nowhere; None where there are no exact scores."""
        return problem


# ---- what the verdict is told --------------------------------------------------------------------


def unknown_tails(names):
    """Tails of which no bound is known."""
    return np.full(len(names), np.nan)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What is known of a density beside what draws show.

    Attributes
    ----------
    unimodal : bool
        Whether there is one mode alone.
    bounded : bool
        Whether the sampler's coordinates end somewhere.
    tail_index : float
        Of every parameter, see `diagnostics.tail_index`; 0 if unknown.
    tail_by_priors : float
        The largest that priors leave to coefficients of separated outcomes; 0 where none are.
    tail_bounds : callable
        ``tail_bounds(names)`` says how large tail indices of printed parameters can be, (p,); NaN
        where that is unknown.
    flat_below : dict
        Sds of effects below which their densities are nearly flat.
    settled : collection of str
        Parameters whose tails are those that `tail_bounds` says, and no shorter than these at any
        distance.
    """

    unimodal: bool = False
    bounded: bool = False
    tail_index: float = 0.0
    tail_by_priors: float = 0.0
    tail_bounds: Callable = unknown_tails
    flat_below: Mapping[str, float] = field(default_factory=dict)
    settled: tuple[str, ...] = ()

    def without_sd(self, names: list[str]) -> Bools:
        """Return which of some parameters are known to have no sd, by model and prior."""
        settled = np.array([name in self.settled for name in names], dtype=bool)
        return settled & (self.tail_bounds(names) >= HAS_SD * (1 - 1e-9))


class Signs:
    """What is printed without the sign that it is sampled with; nothing here."""

    names = ()  # of what is printed of which scores tell nothing, wherever draws are

    def of(self, x):
        """Signs (chain, draw), by the parameter's name, at draws x."""
        return {}

    def untold(self, x):
        """Names of what scores at draws x cannot tell the errors of."""
        return self.names

    def folded(self, x, entropy):
        """Draws (chain, draw, dim), each possibly in the place of another of the same density that
        means the same.
        """
        return x


class Evidence:
    """What is known against draws of a density that is itself off; nothing here."""

    def extra_checks(self, fit):
        """Warnings about the posterior itself that its draws give rise to."""
        return []

    def error_allowance(self, fit):
        """How far the density is off, (posterior sds, in words), for the verdict; None if exact."""
        return


class Functionals(NamedTuple):
    """Numbers that a draw says something by, whatever the labels and signs of its parameters.

    Attributes
    ----------
    what : str
        In words, such as "predictions of 50 rows".
    of : callable
        ``of(results)`` gives their names (k,) and draws (chain, draw, k); None where what they need
        was not kept.
    why : str
        Why single parameters mean nothing.
    """

    what: str
    of: object
    why: str
