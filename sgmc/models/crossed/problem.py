"""The posterior of a regression with effects of several factors, effects among its parameters."""

from dataclasses import dataclass

import numpy as np

from sgmc import registry
from sgmc.coordinates.composed import Composed
from sgmc.coordinates.mode import PriorTerms
from sgmc.coordinates.modes import ModeSearch
from sgmc.core.bank import Bank
from sgmc.core.deadline import OutOfTime
from sgmc.core.design import design
from sgmc.core.expansion import row_curvatures
from sgmc.core.rng import seed_sequence
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.fit.problem import DRAWS_MEMORY, SEARCH, Problem
from sgmc.models.crossed.centre import Centre
from sgmc.models.crossed.coordinates import CrossedCoordinates
from sgmc.models.crossed.effects import EffectsPrior, Loaded
from sgmc.models.crossed.gram import Gram
from sgmc.models.crossed.table import crossed_rows
from sgmc.models.mixed.concerns import undecided
from sgmc.models.mixed.effects import (
    Effects,
    loading_of,
    mixed_priors,
    named,
    named_correlations,
)
from sgmc.models.mixed.problem import START, density, nonzero
from sgmc.models.mixed.problem import refuse as refuse_with_groups
from sgmc.models.regression.prepare import dense_moments
from sgmc.models.regression.search import first_guess, moments_of_outcomes, scales

ACCEPTED = 0.9  # of paths: a rotation more costs less than what is rejected
# gradients of a path; paths between draws at most; numbers of the table in all gradients
GRADIENTS, MOST_PATHS, AFFORDABLE = 3, 4, 1.2e10
LARGEST_BORDER = 12_000  # of all parameters but the effects of one factor: a matrix has 1.1 GB
NEAR_ZERO = 3.0  # sds of an sd's coordinate from zero: it may be zero


@dataclass(kw_only=True)
class CrossedProblem(Problem):
    """See `Problem`; rows of the model are rows.

    Attributes
    ----------
    rows : CrossedRows
    effects : Effects
    """

    rows: object
    effects: object

    surveyed, partial = False, True
    exact_sampler = "hmc"

    @property
    def table(self):
        """Rows as the compiled model reads them."""
        return self.rows.table

    @property
    def columns(self):
        """See `Problem`: all parameters but the effects."""
        return self.rows.blocks.places

    @property
    def nobs(self):
        """See `Problem`."""
        weight = self.table.weight
        return self.model.n if weight is None else float(weight.sum())

    @property
    def cells(self):
        """See `Problem`: a row has few numbers."""
        return self.model.n * (self.rows.blocks.d + self.rows.Z.shape[1])

    @property
    def least_noise(self):
        """See `Problem`: there is no mini-batch."""
        return "simple"

    @property
    def free_names(self):
        """See `Problem`."""
        return self.priors.names

    @property
    def fingerprint(self):
        """See `Problem`."""
        table, where = self.table, self.coordinates.map.inner
        return [
            *table.X.arrays,
            table.y,
            table.trials,
            table.offset,
            table.weight,
            np.asarray(where.centre),
            where.roots,
        ]

    def default_sampler(self):
        """See `Problem`."""
        return registry.room("samplers")["hmc"](rotations=True, target_accept=ACCEPTED)

    def thinning(self, settings):
        """See `Problem`: draws are nearly independent where so many paths cost little."""
        work = GRADIENTS * settings.draws * settings.chains * self.cells
        return int(np.clip(AFFORDABLE // work, 1, MOST_PATHS))

    def kept(self, x):
        """See `Problem`."""
        return self.coordinates.printed(x), self.priors.names

    def recorded(self, x):
        """See `Problem`."""
        return self.coordinates.natural(x)[..., self.columns]

    def recorder(self, draws, plan):
        """See `Problem`; means of all effects, and some whole draws."""
        if plan.spaced:
            raise NotSupported(
                "thin='distance' does not apply to crossed factors; give a number of steps"
            )
        return Bank(draws, plan.thin, self.coordinates.map, self.dim, self.columns)

    def check_draws(self, settings):
        """See `Problem`."""
        if settings.start_given:
            raise NotSupported(
                "init: numbers for the coefficients and standard deviations do not tell where the "
                "effects of crossed factors begin; leave it, or give init='dispersed'"
            )
        size = 8 * settings.draws * settings.chains * len(self.columns)
        if size > DRAWS_MEMORY:
            raise ArgumentError(
                f"draws={settings.draws} in {settings.chains} chains of {len(self.columns)} "
                f"parameters are {size / 2**30:.1f} GB, over the limit of 1 GB; keep fewer and "
                "thin more"
            )

    def strata(self):
        """See `Problem`."""
        raise NotSupported("subsample='stratified' with crossed factors; leave subsample='block'")


def effects_of_crossing(crossing, scale=None):
    """The `Effects` of a `Crossing`; `scale` is that of `Loading`."""
    columns, factors, sds = named(crossing.terms, "of crossed factors")
    loading = loading_of(crossing.terms, scale)
    names = [one.name for one in crossing.factors]
    cors = named_correlations(loading, columns, factors)
    spans = [[j for j, one in enumerate(factors) if one == name] for name in names]
    return CrossedEffects(names, columns, loading, None, None, sds, cors, spans)


@dataclass(frozen=True)
class CrossedEffects(Effects):
    """`Effects` of several factors.

    Attributes
    ----------
    of_factor : list of list of int
        The effects of each.
    """

    of_factor: list

    def spans(self):
        """Which effects are those of each factor, slices where they are neighbours."""
        return [slice(own[0], own[-1] + 1) for own in self.of_factor]


def crossed_problem(data, family, crossing, prior, settings):
    """Table, centre, coordinates, model and prior of a regression with effects of several factors.

    Parameters
    ----------
    data : RegressionData
        Of the fixed part.
    family : Family
    crossing : Crossing
    prior : None, str, PriorSpec or dict
    settings : Settings
    """
    refuse_with_groups(settings, len(crossing.codes))
    refuse(data, crossing, settings)
    effects, logs = effects_of_crossing(crossing), len(family.auxiliary)
    rows = crossed_rows(data, crossing, effects.loading, logs, settings.dtype, True)
    table, d = rows.fixed, data.d
    outcome = moments_of_outcomes(table)
    spread = dense_moments(rows.Z, table.weight)[1]
    units = scales(table.sd, family, *outcome)
    priors = mixed_priors(prior, data, family, units, effects, spread)
    shift = (table.mean if priors.centred else np.zeros(d)) - table.shift
    if data.intercept is not None:
        shift[data.intercept] = 0.0
    model = family.kernel(design(rows.table.X), table.response, table.offset, table.multiplicity)
    gram = Gram(rows)
    start = first_guess(priors, family, table.offset, *outcome)
    sds = START * units.unit / nonzero(spread)
    effects = effects_of_crossing(crossing, scale_of(rows, gram, model, start, sds))
    loading = effects.loading
    start[d : d + loading.q] = loading.bent(sds)
    rows = rows.with_blocks(loading=loading)
    bent = np.zeros(len(priors.names))
    bent[d : d + loading.q] = loading.scale
    terms = PriorTerms(priors, shift, bent=bent)
    core = EffectsPrior(rows.blocks, density(priors, shift, bent))
    random = np.random.Generator(np.random.PCG64(seed_sequence(settings.seed, "modes")))
    search = Centre(rows, gram, model, core, terms, Loaded(rows.blocks), random)
    place = np.zeros(rows.blocks.size)
    place[rows.blocks.places] = start
    stopped, near = "", []
    try:
        found, covariance = search.search(place)
        rows = rows.with_blocks(**search.informative(found))
        loaded = Loaded(rows.blocks)
        arrow = search.joint(found, covariance, loaded).arrow(found.place)
        phi = found.place[rows.blocks.phi][: loading.q]
        sd = np.sqrt(np.diag(covariance)[: loading.q])
        near = [int(j) for j in np.flatnonzero(np.abs(phi) < NEAR_ZERO * sd)]
    except OutOfTime:
        stopped, loaded, arrow = SEARCH, search.loaded, search.reached.map
    where = CrossedCoordinates(
        Composed(loaded, arrow), rows.blocks, table.shift, data.intercept, logs
    )
    return CrossedProblem(
        model=model,
        prior=core,
        coordinates=where,
        priors=priors,
        concerns=undecided(near, effects),
        stopped=stopped,
        searched=ModeSearch(1, (1.0,), can_search=False),
        shuffled=False,
        rows=rows,
        effects=effects,
    )


def refuse(data, crossing, settings):
    """NotSupported or DataError for what is not there, or too large."""
    if settings.precondition not in ("mode", "dense"):
        raise NotSupported(
            f"precondition={settings.precondition!r} with crossed factors; leave "
            "precondition='mode'"
        )
    levels = np.array([len(one.index) for one in crossing.factors])
    names = [one.name for one in crossing.factors]
    for term in crossing.terms:
        if len(crossing.factors[names.index(term.factor)].index) < 2:
            raise DataError(
                f"group terms: {term.factor!r} has a single level among the rows used; leave "
                f"({term.label}) out"
            )
    width = [sum(len(t.columns) for t in crossing.terms if t.factor == name) for name in names]
    border = data.d + (levels * width).sum() - (levels * width)[np.argmax(levels)]
    if border > LARGEST_BORDER:
        second = np.argsort(levels)[-2]
        raise NotSupported(
            f"group terms: {names[second]!r} has {levels[second]:,} levels, and with "
            f"{names[np.argmax(levels)]!r} it crosses one that has more; of all factors but the "
            f"largest at most {LARGEST_BORDER:,} effects and coefficients can be fitted. Leave it "
            "out, or join its rare levels"
        )


def scale_of(rows, gram, model, start, sds):
    """The sds (q,) above which coordinates of effects' sds turn into logs: what rows of a level
    tell of its effects, see `Loading`.
    """
    theta = np.zeros(rows.blocks.size)
    theta[rows.blocks.places] = start
    w = row_curvatures(model, theta, True)[:, 0, 0]
    out = np.empty(len(sds))
    for k, own in enumerate(gram.effects):
        mean = np.diagonal(gram.within(w, k), axis1=1, axis2=2).mean(axis=0)
        out[own] = np.where(mean > 0, 1 / np.sqrt(np.where(mean > 0, mean, 1.0)), sds[own])
    return out
