"""The search for a regression's posterior mode: priors, a first guess, and the method that suits
the family and the priors.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from sgmc.coordinates.approximations.mode import PriorTerms, posterior_mode
from sgmc.coordinates.approximations.modes import (
    LocalMode,
    ModeSearch,
    search_modes,
    where_finite,
    wide_starts,
)
from sgmc.coordinates.identification.collinearity import collinearity, overruled
from sgmc.coordinates.identification.separation import separation
from sgmc.coordinates.priors.prior_table import Scales, density_of, resolve
from sgmc.coordinates.shapes.dispersion import dispersed_mode, exact_fit, exact_fit_of_rows
from sgmc.coordinates.shapes.shrinkage import without_poles
from sgmc.coordinates.whitened.whitening import whitener
from sgmc.core.designs.design import design
from sgmc.core.expansion import expand
from sgmc.core.random.rng import seed_sequence
from sgmc.core.system.deadline import OutOfTime
from sgmc.core.system.storage import Computed, made, mean_and_variance
from sgmc.errors import DataError, NotSupported
from sgmc.formula.designs.spreads import of_array
from sgmc.models.regression.mode.recession import Likelihood
from sgmc.models.regression.mode.trimmed import LEAST_SCALE, MOST_ROWS, trimmed
from sgmc.models.regression.rows.data import PriorUnits
from sgmc.models.regression.rows.narrow import rounded
from sgmc.models.regression.rows.summed import resolved, summed_model

CLUSTERS = 6  # fits to parts of the rows, two of each share, from which modes are looked for


@dataclass(frozen=True)
class RegressionMode:
    """A table's posterior, with its mode.

    Attributes
    ----------
    table : Table
    priors : PriorTable
    shift : array (d,)
        From the table's columns to those of which the intercept's prior speaks.
    model : Model
    likelihood : Likelihood
        What it bounds.
    terms : PriorTerms
    mode : Mode
    cavities : list of Cavity
        Of the horseshoes.
    power : float
        `Auxiliary.power` of the family's first auxiliary parameter, or 0.
    warnings : list of SGMCWarning
    modes : ModeSearch
        In phi.
    between : Between, optional
        Where priors have ends.
    summed : Model or None
        The model of few rows by which the mode was found, see `summed_model`.
    """

    table: object
    priors: object
    shift: np.ndarray
    model: object
    likelihood: object
    terms: object
    mode: object
    cavities: list
    power: float
    warnings: list
    modes: ModeSearch
    between: object = None
    summed: object = None

    @property
    def kernel(self):
        """The model of the rows, or of few that have their sums."""
        return self.model if self.summed is None else self.summed

    def density_of(self, priors):
        """Priors of phi, compiled."""
        return density_of(priors, self.shift)

    def terms_of(self, priors):
        """The `PriorTerms` of priors of phi."""
        return PriorTerms(priors, self.shift)

    def density(self):
        """The compiled prior of phi."""
        return self.density_of(self.priors)

    def trouble(self, data, family):
        """Walls, and all that is to be warned of."""
        walls, warnings = self.separated(data, family)
        if self.between is not None:  # coordinates know ends, and no walls beside them
            walls = []
        priors = self.priors
        unseen = getattr(data.source, "unseen", None)  # of a table that a formula was read against
        alone = collinearity(
            self.mode, priors.names, data.n, priors.auxiliary, priors.chosen, unseen
        )
        hidden = overruled(self.mode, priors, self.terms.slope_of(self.mode.theta, priors.defaults))
        # directions that data do tell are no matter of collinearity
        return walls, self.warnings + warnings + (hidden or alone)

    def separated(self, data, family):
        """Walls, and what to warn of where outcomes are separated."""
        table, walls, warned = self.table, [], []
        if family.outcome == "binary":
            outcomes = [Computed(len(table.y), partial(counted, table, k)) for k in (True, False)]
            walls, warned = separation(table.X, outcomes, data.names, data.intercept)
        warnings = self.likelihood.separation(self.mode, walls)
        return walls, [*warnings, *warned]


def counted(table, success, rows):
    """Successes, or failures, of a slice of the rows; none where the weight is 0."""
    y, trials, weight = table.y[rows], table.trials, table.weight
    found = y if success else (1 if trials is None else trials[rows]) - y
    return found if weight is None else found * (weight[rows] > 0)


def resolve_priors(prior, table, data, family, outcome, every_kind=False):
    """The `PriorTable` of what the user wrote; `outcome` as in `find_regression_mode`,
    `every_kind` as in `resolve`.
    """
    units = scales(data, table.sd, family, *outcome)
    return resolve(prior, data, family, units, bounded=every_kind, joint=every_kind)


def find_regression_mode(table, data, family, priors, settings, outcome, summing=False):
    """Look for the mode, or for several.

    Parameters
    ----------
    table : Table
    data : RegressionData
    family : Family
    priors : PriorTable
    settings : Settings
    outcome : (float, float)
        Of `moments_of_outcomes`.
    summing : bool
        Whether the model of few rows may be searched in the place of that of all, where there is
        one.
    """
    shift = (table.mean if priors.centred else np.zeros(data.d)) - table.shift
    shift[data.intercepts] = 0.0
    shift = priors.shifts(shift)
    model = family.kernel(design(table.X), table.response, table.offset, table.multiplicity)
    likelihood = Likelihood(table, data, family, priors, model, shift)
    likelihood.refuse_improper()
    guess = first_guess(priors, family, table.offset, *outcome)
    if len(priors.shrunk):
        priors = priors.guessed(alone(model, guess, priors.intercepts))
    terms, power = PriorTerms(priors, shift), power_of(family)

    summed = summed_model(model, table, family) if summing else None
    search = search_of(summed or model, terms, table, family)

    with explained(family):
        found = None if summed is None else by_sums(search, guess, data.d)
        if found is None:
            summed, search = None, search_of(model, terms, table, family)
        mode, warnings = found or search(guess, not table.given)
    modes = ModeSearch(1, (1.0,))
    if settings.modes == "search":
        refuse_search(priors, settings)
    wide = settings.modes == "search"
    if mode.whole and (wide or may_have_clusters(table, family, priors, settings)):
        draw = trimmed(table, family, len(priors.names)) if family.identity else None
        random = np.random.Generator(np.random.PCG64(seed_sequence(settings.seed, "modes")))
        look = with_noise(search, family, outcome[1]) if family.clusters else search
        usual, likelihood_of = (mode, warnings), partial(expand, model)
        mode, warnings, modes = several(likelihood_of, terms, look, usual, random, draw, wide)
    mode, cavities = without_poles(model, terms, mode, search) if len(priors.shrunk) else (mode, [])
    warnings = warnings + rounded(table, data)
    if power:
        spread = np.sqrt(outcome[1]) if family.identity else 0.0
        warnings += exact_fit(model, mode.theta[data.d], spread)
    elif family.linear_predictors > 1 and hasattr(model, "whole"):  # one of the log of the scale
        mean = table.mean - table.shift
        mean[priors.intercepts] = 1.0
        warnings += exact_fit_of_rows(model, family.columns, mean, mode.theta)
    return RegressionMode(
        table,
        priors,
        shift,
        model,
        likelihood,
        terms,
        mode,
        cavities,
        power,
        warnings,
        modes,
        summed=summed,
    )


def by_sums(search, guess, d):
    """What a search by the model of few rows finds, mode and concerns; None where columns are so
    nearly collinear that rounding errors of sums matter.
    """
    try:
        mode, warnings = search(guess)
    except DataError:
        return None
    return (mode, warnings) if not mode.whole or resolved(mode, d) else None


@contextmanager
def explained(family):
    """Where the curvature at the mode has no root, the error also has what the family says."""
    try:
        yield
    except DataError as error:
        if not family.rootless:
            raise
        raise DataError(f"{error}; {family.rootless}") from error


def power_of(family):
    """`Auxiliary.power` of the first auxiliary parameter, or 0."""
    return family.auxiliary[0].power if family.auxiliary else 0.0


def search_of(model, terms, table, family):
    """``search(start, shuffled=False)``: the Mode that suits the family, and concerns."""
    auxiliary, power = len(family.auxiliary), power_of(family)

    def search(start, shuffled=False):
        return (
            dispersed_mode(model, terms, start, auxiliary, power, shuffled)
            if power
            else posterior_mode(model, terms, start, shuffled, in_single(table, family))
        )

    return search


def in_single(table, family):
    """The compiled model with curvatures in float32, for wide float64 tables; else None."""
    X = table.X
    if not (isinstance(X, np.ndarray) and X.dtype == np.float64 and design(X).gram_rows):
        return None
    return family.kernel(design(X, True), table.response, table.offset, table.multiplicity)


def refuse_search(priors, settings):
    """NotSupported where one mode is what a fit is about, or modes are not what chains visit."""
    if settings.robust:
        raise NotSupported(
            f"modes='search' with cov_type={settings.cov_type!r}: the sandwich is around one mode; "
            "leave modes='one'",
            because="mathematics",
        )
    if len(priors.shrunk):
        raise NotSupported(
            "modes='search' under a horseshoe prior, whose pole at zero is no mode with a Gaussian "
            "around it; leave modes='one', or use another prior",
            because="mathematics",
        )


def may_have_clusters(table, family, priors, settings):
    """Whether fits to parts of the rows are looked at without being asked for, see
    `Family.clusters`; where refusals of `refuse_search` would not apply.
    """
    few = len(table.y) <= MOST_ROWS and family.linear_predictors == 1
    return family.clusters and few and not (settings.robust or len(priors.shrunk))


def with_noise(search, family, variance):
    """The same search of a family with `clusters`, in vain where it ends at less than LEAST_SCALE
    of the outcomes' sd: rounded outcomes that are equal fit exactly, and the density is infinite
    there, at a scale of zero and no degrees of freedom, in which no one is interested.
    """
    least = np.log(LEAST_SCALE) + 0.5 * np.log(variance)

    def look(start):
        mode, trouble = search(start)
        if mode.theta[len(mode.theta) - len(family.auxiliary)] < least:
            raise DataError("outcomes are fitted exactly there")
        return mode, trouble

    return look


def several(likelihood, terms, search, usual, random, draw=None, wide=True):
    """Search from several starts.

    Parameters
    ----------
    likelihood : callable
        ``likelihood(theta)`` returns its log and the slope of that, first of all.
    terms : PriorTerms
    search : callable
        ``search(start)`` returns a Mode and concerns.
    usual : (Mode, list of SGMCWarning)
        What the usual start led to.
    random : numpy.random.Generator
    draw : callable, optional
        ``draw(random)`` returns a start, besides those around the mode.
    wide : bool
        Whether these are among the starts; else CLUSTERS starts of `draw` are.

    Returns
    -------
    mode : Mode
        With the largest Laplace mass.
    warnings : list of SGMCWarning
    modes : ModeSearch
    """
    first, warnings = usual

    def finite(theta):
        parts = *likelihood(theta)[:2], *terms(theta)[:2]
        return all(np.isfinite(part).all() for part in parts)

    def local(mode):
        value = likelihood(mode.theta)[0] + terms(mode.theta)[0]
        return LocalMode(mode.theta, mode.precision, value, mode)

    def look(start):
        with np.errstate(all="ignore"):
            try:
                mode, trouble = search(where_finite(finite, start, first.theta))
            except ValueError:  # from this start no step leads up: a DataError, or numbers ran out
                return None
        if not mode.whole:
            raise OutOfTime
        return None if trouble else local(mode)

    if wide:
        starts = wide_starts(random, first.theta, whitener(first)[0], draw)
    else:
        starts = [draw(random) for _ in range(CLUSTERS)]
    modes, best = search_modes(look, starts, local(first))
    alone = best.found is first
    return best.found, (warnings if alone else []) + modes.warnings(), modes


def moments_of_outcomes(table, family):
    """Mean and variance, by their weights, of the outcomes as numbers, see `beyond_offsets`."""
    mean, variance = mean_and_variance(beyond_offsets(family, table.y, table.offset), table.weight)
    if not np.isfinite(variance):  # those of outcomes alone are
        raise DataError(
            f"offsets go up to {np.abs(table.offset).max():.3g}: their squares overflow; rescale "
            "them"
        )
    return mean, variance


def beyond_offsets(family, y, offset):
    """Outcomes as numbers, (n,); where they have the unit of the linear predictor, less offsets.

    The prior of an intercept is about what offsets leave, however large these are.
    """
    y = family.numbers(y)
    if offset is None or not family.identity:
        return y
    return made(len(y), y, lambda rows: y[rows] - offset[rows])


def scales(data, sd, family, mean, variance):
    """The `Scales` of priors, from the sds of the columns and moments of the outcomes; or those
    that the data come with.
    """
    if data.units is not None:
        columns, (mean, variance) = data.units.scale, data.units.outcome
    else:
        columns = column_scales(data, sd)
    auxiliary = tuple(family.units(mean, variance)) if family.auxiliary else ()
    second = family.second_level(mean, variance) if family.parts else 0.0
    location, unit = (mean, np.sqrt(variance)) if family.identity else (0.0, 1.0)
    return Scales(columns, location, unit, auxiliary, second)


def units_of(data, table, family):
    """The `PriorUnits` of a fit's data and table, for fits to some of its rows."""
    if data.units is not None:
        return data.units
    scale, outcome = column_scales(data, table.sd), moments_of_outcomes(table, family)
    return PriorUnits(scale, table.mean, outcome, data.weight)


def column_scales(data, sd):
    """What autoscaled priors of the columns are divided by, (d,), see
    `sgmc.formula.designs.spreads`; `sd` (d,) are those of the columns.
    """
    if hasattr(data.source, "scales"):  # a table that a formula was read against
        return data.source.scales(sd, data.weight)
    return of_array(data.source, data.weight)(sd)


def first_guess(priors, family, offset, mean, variance):
    """Where the search for the mode begins: no slopes, and moments of the outcomes matched."""
    start = np.zeros(len(priors.names))
    constant, auxiliary = family.start(mean, variance)
    level = 0.0 if offset is None or family.identity else offset.mean()  # see `beyond_offsets`
    first = 1.0 if priors.own is None else priors.own[:, 0]  # of two designs, which has the offset
    start[priors.intercepts] = constant - level * first
    start[len(start) - len(auxiliary) :] = auxiliary
    return start


def alone(model, theta, intercepts):
    """The sds (d,) with which the data tell each coefficient if it and the intercept are all
    there is: by the information at theta.
    """
    information = expand(model, theta, expected=True)[2]
    each = np.diag(information).copy()
    for j in intercepts:
        each -= np.where(
            np.arange(len(each)) == j, 0.0, information[:, j] ** 2 / max(information[j, j], 1e-300)
        )
    informed = each > 1e-12 * np.diag(information)
    return np.where(informed, 1 / np.sqrt(np.where(informed, each, 1.0)), 1.0)
