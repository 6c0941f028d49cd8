"""The posterior of a model that is no regression:
any compiled model, named parameters with priors, constraints.
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc import registry
from sgmc.coordinates.free import free_coordinates
from sgmc.coordinates.layout import Layout
from sgmc.coordinates.modes import ModeSearch, where_finite
from sgmc.coordinates.peak import MAX_CURVATURE_DIM, Peak, peak
from sgmc.coordinates.simplices import COORDINATES, Simplices
from sgmc.core.contract import Prior
from sgmc.core.engine import full
from sgmc.core.partial import Partial
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit.functionals import Functionals
from sgmc.fit.problem import ANY_MAP, DRAWS_MEMORY, Problem
from sgmc.fit.rows import scheme
from sgmc.models.bases.callbacks import AddressKernel, PythonKernel, PythonPrior
from sgmc.models.bases.priors import priors_of
from sgmc.models.bases.search import own_start, peaks, refuse_search, wide_draw
from sgmc.subsampling.uniform import Everything

RECORDED_SAMPLE = 200  # numbers whose draws are kept where none are asked for and all are too many


@dataclass(frozen=True)
class Ingredients:
    """What a model that is no regression brings.

    Attributes
    ----------
    kernel : Model
    layout : Layout
    prior : Prior or None
        A compiled one, in the place of independent ones by name.
    start : callable
        ``start(rng)`` with a numpy Generator gives theta, (size,).
    scaled : bool
        Whether a Gaussian approximation is to be looked for.
    shuffled : bool
        Whether rows are in random order, so that blocks of them are minibatches.
    recorder : callable
        Makes a `Partial`, or what else sums up draws that are not kept.
    own_metric : bool
        Whether the kernel's metric keeps parameters within their constraints.
    own_starts : bool
        Whether each start is one of the model's own making, and not near one place.
    differenced : bool
        Whether the kernel's gradients are differences of its density.
    functionals
        See `Problem`.
    """

    kernel: object
    layout: Layout
    prior: Prior | None
    start: object
    scaled: bool
    shuffled: bool
    recorder: object = Partial
    own_metric: bool = False
    own_starts: bool = False
    differenced: bool = False
    functionals: Functionals | None = None


@dataclass(kw_only=True)
class GeneralProblem(Problem):
    """See `Problem`.

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
    model_recorder, differenced
        See `Ingredients`.
    """

    layout: Layout = None
    starts: object = None
    wide: object = None
    free_names: list = None
    columns: np.ndarray | None = None
    model_recorder: object = Partial
    differenced: bool = False

    @property
    def foreign(self):
        """See `Problem`; callbacks run code of users."""
        callbacks, own = (PythonKernel, PythonPrior, AddressKernel), (self.model, self.prior)
        return super().foreign or any(isinstance(part, callbacks) for part in own)

    @property
    def least_noise(self):
        """See `Problem`: control variates where there is a mode;
        of second order where the model has the curvatures.
        """
        if not self.coordinates.scaled:
            return "simple"
        return "taylor" if self.model.width else "cv"

    @property
    def fingerprint(self):
        """See `Problem`: the log posterior and its gradient at one place say what data there
        are.
        """
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
        """See `Problem`."""
        return self.columns is not None

    def kept(self, x):
        """See `Problem`."""
        return (
            (x, [self.priors.names[j] for j in self.columns]) if self.partial else super().kept(x)
        )

    @property
    def bounded(self):
        """See `Problem`."""
        return bool(self.layout.constraints) and self.coordinates.map is None

    def unbounded(self):
        """See `Problem`: in free numbers, where coordinates of probabilities end at zero."""
        if not isinstance(self.coordinates.map, Simplices):
            return self
        map, free_names = self.layout.map, self.layout.free_names
        start = Peak(np.zeros(map.dim), None)
        where = free_coordinates(map, start, None, np.zeros(map.dim, dtype=bool))
        return replace(self, coordinates=where, free_names=free_names)

    def check_draws(self, settings):
        """See `Problem`; without an approximation, draws of some parameters are kept where those of
        all are too many.
        """
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
        if 8 * settings.draws * settings.chains * len(self.columns) > DRAWS_MEMORY:
            raise ArgumentError(
                f"keep={list(settings.keep or ())!r}: {len(self.columns)} numbers in "
                f"{settings.chains} chains of {settings.draws} draws are over the limit of 1 GB; "
                "keep fewer, or thin more"
            )

    def recorder(self, draws, plan):
        """See `Problem`."""
        if self.columns is None:
            return super().recorder(draws, plan)
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

    def begin(self, settings, k):
        """See `Problem`; without an approximation each chain has a start of its own, and with one
        none starts beyond an end of the density, from where an exact sampler never returns.
        """
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
    constraints = None if as_they_are else shares or layout.map
    start = free_start(model, constraints, settings)
    found, concerns, searched = Peak(start, None), [], ModeSearch()
    free = not model.kernel.refreshes and not as_they_are and shares is None
    wide = wide_draw(model, priors, constraints)
    several = settings.modes == "search"
    if several:
        refuse_search(model, settings, free, len(start))
    if several or model.scaled and free and len(start) <= MAX_CURVATURE_DIM:
        exact = exact_gradient(model.kernel, density, constraints)
        check_finite(exact, start, layout)
        found, concerns = peak(exact, start)
        searched = ModeSearch(1, () if found.precision is None else (1.0,))
    if several:
        found, concerns, searched = peaks(exact, (found, concerns), model, wide, settings.seed)
    if not model.scaled:
        found = Peak(start, None)
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


def free_start(model, constraints, settings):
    """Where the search for the mode begins, in free numbers; from a stream that no chain has."""
    sequence = seed_sequence(settings.seed, "start", settings.chains)
    return own_start(model, constraints, np.random.Generator(np.random.PCG64(sequence)))


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


def exact_gradient(kernel, prior, map):
    """The gradient over all rows, behind a map or None."""
    cls = registry.lookup("gradients", "simple", "gradient")
    return cls(kernel, prior, Everything(kernel.n), Rng(seed_sequence(0, "pilot")), map=map)


def refuse(model, settings):
    """NotSupported for arguments that do not go together with the model."""
    kernel, rows = model.kernel, scheme(settings)
    if model.layout.size != kernel.dim:
        raise ArgumentError(
            f"parameters are {model.layout.size} numbers, the model has {kernel.dim}"
        )
    if rows.name == "block" and not model.shuffled:
        raise NotSupported(
            "subsample='block' takes rows that are neighbours, and nobody knows whether this "
            "model's are in random order; use subsample='uniform', or say so (shuffled = True)"
        )
    if "strata" in rows.needs:
        raise NotSupported(
            f"subsample={rows.name!r} needs the outcomes of a regression, or its strata; use "
            "subsample='uniform'"
        )
    if rows.needs and not kernel.width:
        raise NotSupported(
            f"subsample={rows.name!r} needs the rows' scores, of which this model has none; use "
            "subsample='uniform'"
        )
    if kernel.refreshes and (
        model.layout.constraints or settings.precondition in ("dense", "diag")
    ):
        raise NotSupported(
            "a model with conditional updates of its own takes no other coordinates; use "
            "precondition=None"
        )
    if kernel.refreshes and (settings.sampler is None or settings.sampler.exact):
        name = "auto" if settings.sampler is None else settings.sampler.name
        raise NotSupported(
            f"sampler={name!r} remembers the log posterior of where it is, which this model's own "
            "updates change; use one of minibatches, such as 'sgld'"
        )
    if settings.sampler is not None and settings.sampler.sticky:
        raise NotSupported(
            f"sampler={settings.sampler.name!r} lets slopes of regressions stick to zero; this "
            "model has none"
        )
    if settings.gradient == "taylor" and not kernel.width:
        raise NotSupported(
            "gradient='taylor' needs the rows' curvatures, of which this model has none; use "
            "gradient='cv'"
        )
    if str(settings.dtype) != "float64":
        raise NotSupported(
            "dtype='float32' belongs to designs of regressions; this model's numbers are its own"
        )


def check_finite(gradient, u, layout):
    """Refuse a start where the log posterior or its gradient is not finite."""
    value, g = full(gradient, u)
    if not np.isfinite(value):
        raise ArgumentError(
            f"the log posterior is {value} at the start; give another start, e.g. init="
        )
    if not np.isfinite(g).all():
        name = layout.free_names[int(np.flatnonzero(~np.isfinite(g))[0])]
        raise ArgumentError(
            f"the gradient of the log posterior is not finite at the start, for {name!r} first; "
            "sgmc.check_model says more"
        )
