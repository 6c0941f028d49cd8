"""The posterior of a model that is no regression:
any compiled model, named parameters with priors, constraints.
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.coordinates.free import free_coordinates
from sgmc.coordinates.laplace import (
    MAX_CURVATURE_DIM,
    LaplaceApproximation,
    exact_gradient,
    laplace_approximation,
)
from sgmc.coordinates.layout import Layout
from sgmc.coordinates.modes import ModeSearch, where_finite
from sgmc.coordinates.simplices import COORDINATES, Simplices
from sgmc.core.deadline import OutOfTime
from sgmc.core.engine import full
from sgmc.core.partial import SubsetRecorder
from sgmc.core.rng import seed_sequence
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit.problem import ANY_MAP, DRAWS_MEMORY, SEARCH, Problem
from sgmc.models.bases.callbacks import PythonKernel, PythonPrior
from sgmc.models.bases.derived import local_plan, own_plan
from sgmc.models.bases.ingredients import is_foreign
from sgmc.models.bases.opening import check_finite, check_opening
from sgmc.models.bases.priors import priors_of
from sgmc.models.bases.refusals import refuse
from sgmc.models.bases.search import (
    first_place,
    free_start,
    refuse_search,
    several_approximations,
    wide_draw,
)

RECORDED_SAMPLE = 200  # numbers whose draws are kept where none are asked for and all are too many


@dataclass(kw_only=True)
class GeneralProblem(Problem):
    """The posterior of a model that is no regression.

    Attributes
    ----------
    layout : Layout
    starts : callable
        ``starts(rng)`` gives theta.
    wide : callable
        ``wide(rng)`` gives free numbers farther out: see `wide_draw`.
    free_names : list of str
        Of the free numbers: positive parameters are there as their logs, K probabilities as K - 1
        or, expanded, K.
    columns : array of int or None
        Numbers of theta whose draws are kept, where not all are.
    model_recorder, differenced, derived_step
        See `Ingredients`.
    inquiry : callable or None
        ``inquiry(fit)`` gives the warnings of `extra_checks`.
    """

    layout: Layout = None
    starts: object = None
    wide: object = None
    free_names: list = None
    columns: np.ndarray | None = None
    model_recorder: object = SubsetRecorder
    differenced: bool = False
    derived_step: object = None
    inquiry: object = None

    @property
    def foreign(self):
        # callbacks run code of users
        return is_foreign(self.model) or is_foreign(self.prior)

    @property
    def undefined(self):
        parts = [p for p in (self.model, self.prior) if isinstance(p, (PythonKernel, PythonPrior))]
        calls = [getattr(call, "undefined", None) for p in parts for call in (p.slope, p.value)]
        return [one for one in calls if one is not None]

    @property
    def least_noise(self):
        # control variates where there is a mode; of second order where the model has the curvatures
        if not self.coordinates.scaled:
            return "simple"
        return "taylor" if self.model.width else "cv"

    def extra_checks(self, fit):
        return [] if self.inquiry is None else self.inquiry(fit)

    @property
    def fingerprint(self):
        # the log posterior and its gradient at one place say what data there are
        where = self.coordinates
        value, g = full(self.all_rows(), where.from_white(np.zeros(self.dim)))
        own = getattr(self.model, "fingerprint", [])
        return [
            np.array([value]),
            g,
            where.centre,
            np.empty(0) if where.precision is None else where.precision,
            *own,
        ]

    @property
    def partial(self):
        return self.columns is not None

    def kept(self, x):
        return (
            (x, [self.priors.names[j] for j in self.columns]) if self.partial else super().kept(x)
        )

    def recorded(self, x):
        return self.coordinates.natural(x)[..., self.columns] if self.partial else x

    @property
    def bounded(self):
        return bool(self.layout.constraints) and self.coordinates.map is None

    def unbounded(self):
        # free numbers in the place of coordinates of probabilities, which end at zero; with a
        # kernel's exact gradients where its own are drawn
        if not isinstance(self.coordinates.map, Simplices):
            return self
        model = getattr(self.model, "undrawn", self.model)
        map = self.layout.map
        none = np.zeros(map.dim, dtype=bool)
        where = free_coordinates(map, LaplaceApproximation(np.zeros(map.dim), None), None, none)
        names = coordinate_names(self.layout, map)
        return (
            None
            if model is None
            else replace(
                self,
                model=model,
                coordinates=where,
                free_names=names,
                anchors={},
                shared={},
                limits={},
            )
        )

    def check_draws(self, settings):
        # without an approximation, draws of some parameters are kept where those of all are too
        # many
        size = self.layout.size
        few = settings.keep is None and 8 * settings.draws * settings.chains * size <= DRAWS_MEMORY
        if (
            self.coordinates.scaled
            or few
            and not getattr(self.model_recorder, "func", self.model_recorder).always
        ):
            super().check_draws(settings)
            return
        most = size if few else min(size, RECORDED_SAMPLE)
        self.columns = (
            np.unique(np.linspace(0, size - 1, most).astype(int))
            if settings.keep is None
            else np.concatenate(
                [
                    np.arange(size)[self.layout.slices[self.layout.known(name, "keep")]]
                    for name in settings.keep
                ]
            )
        )
        if 8 * settings.positions * settings.chains * len(self.columns) > DRAWS_MEMORY:
            raise ArgumentError(
                f"keep={list(settings.keep or ())!r}: {len(self.columns)} numbers in "
                f"{settings.chains} chains of {settings.kept_text} are over the limit of 1 GB; "
                "keep fewer, or thin more"
            )

    def recorder(self, draws, plan):
        if self.columns is None:
            return super().recorder(draws, plan)
        if plan.spaced:
            raise NotSupported(
                "thin='distance' does not apply to moments of draws that are not kept; give a "
                "number of steps"
            )
        h = plan.schedule(0)
        if plan.weighted and not np.isclose(
            plan.spec.langevin_time(2 * h), 2 * plan.spec.langevin_time(h)
        ):
            raise NotSupported(
                f"decaying steps of {plan.spec.name} with moments of draws that are not kept; use "
                "a constant step_size"
            )
        return self.model_recorder(
            draws, plan.thin, self.coordinates.map, self.layout.size, self.columns
        )

    def step_plan(self, spec, gradient, settings):
        # the model's own, or that of a Gaussian at the mode next to the start
        own = self.derived_step and self.derived_step(spec, settings.batch_size)
        return own_plan(self, spec, gradient, settings, own) or local_plan(self, spec, settings)

    def begin(self, settings, k):
        # without an approximation each chain has a start of its own, and with one none starts
        # beyond an end of the density, from where an exact sampler never returns
        if self.coordinates.scaled and not settings.start_given:
            centre = self.coordinates.from_white(np.zeros(self.dim))
            return where_finite(self.is_finite, super().begin(settings, k), centre)
        if self.searched.found or settings.start_given:
            return super().begin(settings, k)
        random = np.random.Generator(np.random.PCG64(seed_sequence(settings.seed, "start", k)))
        usual = self.coordinates.from_reported(self.starts(random))
        if not settings.dispersed:
            return usual
        return where_finite(self.is_finite, self.coordinates.from_theta(self.wide(random)), usual)


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
    found, concerns, searched = LaplaceApproximation(start, None), [], ModeSearch()
    free = not model.kernel.refreshes and not as_they_are and shares is None
    wide = wide_draw(model, priors, constraints)
    several = settings.modes == "search"
    if several:
        refuse_search(model, settings, free, len(start))
    if several or model.scaled and free and len(start) <= MAX_CURVATURE_DIM:
        exact = exact_gradient(model.kernel, density, constraints)
        check_finite(exact, start, model, density)
        found, concerns = laplace_approximation(exact, start)
        searched = ModeSearch(1, () if found.precision is None else (1.0,))
    if several and found.whole:
        found, concerns, searched = several_approximations(
            exact, (found, concerns), model, wide, settings.seed
        )
    if not model.scaled:
        found = LaplaceApproximation(start, None)
    where = chosen_coordinates(
        constraints,
        found,
        layout.logs if shares is None else np.zeros(shares.dim, dtype=bool),
        settings,
    )
    return GeneralProblem(
        model=model.kernel,
        prior=density,
        coordinates=where,
        priors=priors,
        concerns=concerns,
        searched=searched,
        shuffled=model.shuffled,
        layout=layout,
        starts=model.start,
        wide=wide,
        free_names=coordinate_names(layout, constraints),
        model_recorder=model.recorder,
        differenced=model.differenced,
        functionals=model.functionals,
        exact_sampler=model.exact_sampler,
        derived_step=model.derived_step,
        stopped="" if found.whole else SEARCH,
    )


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
            raise NotSupported(f"precondition={wanted!r}: {why}; use precondition=None")
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
            "those on a simplex mix; use another sampler, such as 'sgld' or 'mala'"
        )
    return where
