"""The posterior of a model that is no regression:
any compiled model, named parameters with priors, constraints.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sgmc.coordinates.approximations.laplace import (
    MAX_CURVATURE_DIM,
    LaplaceApproximation,
    exact_gradient,
    laplace_approximation,
)
from sgmc.coordinates.approximations.modes import ModeSearch, where_finite
from sgmc.coordinates.transforms.layout import Layout
from sgmc.coordinates.transforms.simplices import COORDINATES, Simplices
from sgmc.coordinates.whitened.free import free_coordinates
from sgmc.core.engine import full
from sgmc.core.random.rng import seed_sequence
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit.parts import (
    DRAWS_MEMORY,
    EXACT,
    PATHS,
    QUICK_CELLS,
    Defaults,
    Forms,
    Observations,
    Record,
    Shape,
    Starts,
    is_foreign,
)
from sgmc.fit.problem import ANY_MAP, SEARCH, Problem
from sgmc.models.bases.improper import refuse_improper
from sgmc.models.bases.opening import check_finite, check_opening
from sgmc.models.bases.priors import priors_of
from sgmc.models.bases.refusals import refuse
from sgmc.models.bases.start.derived import local_plan, own_plan
from sgmc.models.bases.start.search import (
    first_place,
    free_start,
    refuse_search,
    several_approximations,
    wide_draw,
)

# of a user's model, from which on differences of row gradients are expanded at the mode
ROWS_TO_EXPAND = 10_000
RECORDED_SAMPLE = 200  # numbers whose draws are kept where none are asked for and all are too many


@dataclass(frozen=True)
class OwnStarts(Starts):
    """Where chains of a model begin that may have no approximation.

    Attributes
    ----------
    usual : callable
        ``usual(rng)`` gives theta.
    wide : callable
        ``wide(rng)`` gives free numbers farther out: see `wide_draw`.
    """

    usual: Callable
    wide: Callable

    def begin(self, problem, settings, k):
        # without an approximation each chain has a start of its own, and with one none starts
        # beyond an end of the density, from where an exact sampler never returns
        where = problem.coordinates
        if where.scaled and not settings.start_given:
            centre = where.from_white(np.zeros(problem.dim))
            return where_finite(problem.is_finite, super().begin(problem, settings, k), centre)
        if problem.searched.found or settings.start_given:
            return super().begin(problem, settings, k)
        random = np.random.Generator(np.random.PCG64(seed_sequence(settings.seed, "start", k)))
        usual = where.from_reported(self.usual(random))
        if not settings.dispersed:
            return usual
        return where_finite(problem.is_finite, where.from_theta(self.wide(random)), usual)


@dataclass(frozen=True)
class SomeRecord(Record):
    """All parameters, or some where those of all are too many; of the others moments.

    Attributes
    ----------
    layout : Layout
    kind : callable
        See `Ingredients.recorder`.
    columns : array of int or None
        Numbers of theta whose draws are kept, where not all are.
    """

    layout: Layout
    kind: Callable
    columns: np.ndarray | None = None

    def settled(self, problem, settings):
        # without an approximation, draws of some parameters are kept where those of all are too
        # many
        size = self.layout.size
        few = settings.keep is None and 8 * settings.draws * settings.chains * size <= DRAWS_MEMORY
        always = getattr(self.kind, "func", self.kind).always
        if problem.coordinates.scaled or few and not always:
            return super().settled(problem, settings)
        if settings.keep is None:
            most = size if few else min(size, RECORDED_SAMPLE)
            columns = np.unique(np.linspace(0, size - 1, most).astype(int))
        else:
            slices = [self.layout.slices[self.layout.known(one, "keep")] for one in settings.keep]
            columns = np.concatenate([np.arange(size)[one] for one in slices])
        if 8 * settings.positions * settings.chains * len(columns) > DRAWS_MEMORY:
            raise ArgumentError(
                f"keep={list(settings.keep or ())!r}: {len(columns)} numbers in "
                f"{settings.chains} chains of {settings.kept_text} are over the limit of 1 GB; "
                "keep fewer, or thin more"
            )
        return replace(self, columns=columns)

    def kept(self, problem, x):
        if self.columns is None:
            return super().kept(problem, x)
        return x, [problem.priors.names[j] for j in self.columns]

    def recorded(self, problem, x):
        return x if self.columns is None else problem.coordinates.natural(x)[..., self.columns]

    def recorder(self, problem, draws, plan):
        if self.columns is None:
            return super().recorder(problem, draws, plan)
        if plan.spaced:
            raise NotSupported(
                "thin='distance' does not apply to moments of draws that are not kept; give a "
                "number of steps",
                because="limit",
            )
        h = plan.schedule(0)
        if plan.weighted and not np.isclose(
            plan.spec.langevin_time(2 * h), 2 * plan.spec.langevin_time(h)
        ):
            raise NotSupported(
                f"decaying steps of {plan.spec.name} with moments of draws that are not kept; use "
                "a constant step_size",
                because="limit",
            )
        map = problem.coordinates.map
        return self.kind(draws, plan.thin, map, self.layout.size, self.columns)


@dataclass(frozen=True)
class FreeForms(Forms):
    """Free numbers in the place of coordinates of probabilities, which end at zero.

    Attributes
    ----------
    layout : Layout
    """

    layout: Layout

    def unbounded(self, problem):
        if not isinstance(problem.coordinates.map, Simplices):
            return problem
        # with a kernel's exact gradients where its own are drawn
        model, map = getattr(problem.model, "undrawn", problem.model), self.layout.map
        if model is None:
            return None
        none = np.zeros(map.dim, dtype=bool)
        where = free_coordinates(map, LaplaceApproximation(np.zeros(map.dim), None), None, none)
        return replace(
            problem,
            model=model,
            coordinates=where,
            free_names=coordinate_names(self.layout, map),
            defaults=replace(problem.defaults, estimator=estimator(where, model)),
        )


def estimator(where, model):
    """Control variates where there is a mode; of second order where the model has curvatures, or a
    user's rows are so many that an expansion at the mode serves them.
    """
    if not where.scaled:
        return "simple"
    return "taylor" if model.width or is_foreign(model) and model.n >= ROWS_TO_EXPAND else "cv"


def step_plan(derived, choice):
    """The model's own, or that of a Gaussian at the mode next to the start."""
    own = derived and derived(choice.spec, choice.settings.batch_size)
    return own_plan(choice, own) or local_plan(choice)


def identity(problem):
    """The log posterior and its gradient at one place say what data there are."""
    centre = problem.coordinates.from_white(np.zeros(problem.dim))
    value, g = full(problem.all_rows(), centre)
    return [np.array([value]), g, *getattr(problem.model, "fingerprint", [])]


def exact_sampler(model, dim):
    """Name of the exact sampler that "auto" takes: the model's own, or of a user's density, by its
    work.
    """
    kernel, named = model.kernel, model.exact_sampler != EXACT
    little = model.compiled and kernel.n * (kernel.reads or dim) <= QUICK_CELLS
    if little and model.foreign and not (named or kernel.refreshes):
        return PATHS
    return model.exact_sampler


def general_problem(model, prior, settings):
    """Priors, mode and coordinates of a model.

    Parameters
    ----------
    model : Ingredients
    prior : None, str, PriorSpec or dict
    settings : Settings
    """
    refuse(model, settings)
    layout, spec = model.layout, settings.sampler
    priors, density = priors_of(model, prior)
    as_they_are = model.own_metric and spec is not None and bool(spec.refusal(ANY_MAP))
    shares = None if as_they_are else simplex_coordinates(layout, priors, spec)
    constraints = None if as_they_are else shares or layout.map_for(spec)
    if model.checked and model.foreign and not model.kernel.refreshes:
        try:
            check_opening(model, density, first_place(model, settings), settings)
        except OutOfTime:  # the draws will be marked
            pass
    start = free_start(model, constraints, settings)
    found, warnings, searched = LaplaceApproximation(start, None), [], ModeSearch()
    free = not model.kernel.refreshes and not as_they_are and shares is None
    wide = wide_draw(model, priors, constraints)
    several = settings.modes == "search"
    if several:
        refuse_search(model, settings, free, len(start))
    if several or model.scaled and free and len(start) <= MAX_CURVATURE_DIM:
        exact = exact_gradient(model.kernel, density, constraints)
        check_finite(exact, start, model, density)
        found, warnings = laplace_approximation(exact, start)
        if found.whole and warnings:  # of a search without an end, or far from it
            refuse_improper(exact, start, coordinate_names(layout, constraints), constraints)
        searched = ModeSearch(1, () if found.precision is None else (1.0,))
    if several and found.whole:
        found, warnings, searched = several_approximations(
            exact, (found, warnings), model, wide, settings.seed
        )
    if not model.scaled:
        found = LaplaceApproximation(start, None)
    where = chosen_coordinates(
        constraints,
        found,
        layout.log_params if shares is None else np.zeros(shares.dim, dtype=bool),
        settings,
    )
    kernel, map = model.kernel, where.map
    dim = kernel.dim if map is None else map.dim
    return Problem(
        model=kernel,
        prior=density,
        coordinates=where,
        priors=priors,
        free_names=coordinate_names(layout, constraints),
        rows=Observations(
            nobs=kernel.n,
            cells=kernel.n * (kernel.reads or dim),
            shuffled=model.shuffled,
            identity=identity,
        ),
        defaults=Defaults(
            estimator=estimator(where, kernel),
            exact_sampler=exact_sampler(model, dim),
            own_sampler=model.own_sampler,
            step_plan=partial(step_plan, model.derived_step),
        ),
        searched=searched,
        stopped="" if found.whole else SEARCH,
        warnings=warnings,
        starts=OwnStarts(model.start, wide),
        record=SomeRecord(layout, model.recorder),
        forms=FreeForms(layout),
        shape=Shape(
            bounded=bool(layout.constraints) and map is None,
            tail_bounds=partial(tails_within, layout),
        ),
        functionals=model.functionals,
        differenced=model.differenced,
        own=layout,
    )


def tails_within(layout, names):
    """The largest tail indices of parameters, (p,): of those with two ends all moments exist, and
    of others nothing is known (NaN).
    """
    ended = np.isfinite(np.subtract(*layout.bounds()))
    known = dict(zip(layout.names, np.where(ended, 0.0, np.nan)))
    return np.array([known.get(name, np.nan) for name in names])


def simplex_coordinates(layout, priors, spec):
    """Coordinates of probabilities that a sampler wants, where all parameters are such; else None.

    Expanded ones have the sum of the concentrations of a row's Dirichlet prior as their A; flat
    priors have concentrations of one.
    """
    rows = [length for _, (kind, length, *_) in layout.blocks() if kind == "simplex"]
    if spec is None or not spec.simplex or sum(rows) < layout.size:
        return None
    concentrations = [one.df if one.family == "dirichlet" else 1.0 for one in priors.used]
    return COORDINATES[spec.simplex](rows, np.add.reduceat(concentrations, np.cumsum(rows) - rows))


def coordinate_names(layout, constraints):
    """Names of the free numbers behind a map or None: those of the parameters,
    where there are as many.
    """
    return (
        layout.names if constraints is None or constraints.dim == layout.size else layout.free_names
    )


def chosen_coordinates(constraints, found, logged, settings):
    """The coordinates that suit posterior and sampler.

    Parameters
    ----------
    constraints : Constrained or None
    found : Peak
    logged : array of bool
    settings : Settings
    """
    spec, wanted = settings.sampler, settings.precondition
    if found.precision is None:
        if wanted in ("dense", "diag"):
            d = len(found.place)
            why = (
                f"{d} free numbers are more than {MAX_CURVATURE_DIM}"
                if d > MAX_CURVATURE_DIM
                else "this posterior has no mode to precondition at"
            )
            raise NotSupported(
                f"precondition={wanted!r}: {why}; use precondition=None", because="limit"
            )
        wanted = None
    where = free_coordinates(constraints, found, "dense" if wanted == "mode" else wanted, logged)
    if wanted == "mode" and spec is not None and spec.refusal(where.map):
        where = free_coordinates(constraints, found, "diag", logged)
    if (
        spec is not None
        and spec.needs_noise
        and constraints is not None
        and not constraints.diagonal
    ):
        raise NotSupported(
            f"{spec.name} needs the noise of single coordinates, which ordered parameters and "
            "those on a simplex mix; use another sampler, such as 'sgld' or 'mala'",
            because="limit",
        )
    return where
