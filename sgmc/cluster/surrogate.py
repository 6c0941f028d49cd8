"""The posterior that is sampled in the place of that of all rows.

    log p(theta) + sum_i w_i log p_i(theta) + g' (theta - c) - (theta - c)' C (theta - c) / 2,

i over a reservoir, whose rows count for as many as they stand for, and rows of high leverage, which
count once; g and C are what gradient and curvature of all rows at the centre c have more than
those.  So gradient and curvature at c are exact, and the reservoir tells what differs from a
quadratic function there (Taylor proxies: Bardenet, Doucet & Holmes 2017, JMLR 18(47), section 7.3).
It is a posterior like any other: every sampler and check applies.
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.cluster import fixed_error as errors
from sgmc.cluster.passes import gradients_at, kernel_of
from sgmc.cluster.recipe import EncodedRows
from sgmc.cluster.reservoir import surrogate_rows
from sgmc.coordinates.approximations.mode import Mode
from sgmc.coordinates.approximations.modes import ModeSearch
from sgmc.coordinates.identification.collinearity import collinearity
from sgmc.coordinates.identification.separation import linear_predictor
from sgmc.coordinates.priors.tilted import Tilted
from sgmc.coordinates.whitened.whitening import undo_centring
from sgmc.core.designs.design import design, rotate
from sgmc.core.expansion import expand
from sgmc.formula.designs.spreads import Numbers
from sgmc.models.regression.coordinates import chosen_coordinates, preconditioner, rotated_prior
from sgmc.models.regression.problem import built
from sgmc.models.regression.rows.data import PriorUnits, RegressionData
from sgmc.models.regression.rows.prepare import pick, prepare


@dataclass(frozen=True)
class Tilt:
    """What all rows have more than those that stand for them.

    Attributes
    ----------
    centre, slope : array (p,)
    curvature : array (p, p)
    """

    centre: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray

    def gradient(self, points):
        """At points (k, p)."""
        return self.slope - (points - self.centre) @ self.curvature


class TiltedTerms:
    """Prior terms with a tilt: see `PriorTerms`."""

    def __init__(self, inner, tilt):
        self.inner, self.tilt = inner, tilt

    def __call__(self, theta):
        """(log density, gradient, precision matrix) at theta."""
        value, gradient, precision = self.inner(theta)
        moved = theta - self.tilt.centre
        bent = self.tilt.curvature @ moved
        return (
            value + moved @ (self.tilt.slope - 0.5 * bent),
            gradient + self.tilt.slope - bent,
            precision + self.tilt.curvature,
        )


@dataclass(frozen=True)
class Whole:
    """What is known of all rows.

    Attributes
    ----------
    surveyed : Surveyed
    centre : Centre
    inspected : Inspected
    draws : array (k, p)
        Standard normal ones, at which the rows were inspected.
    white : array (p, p)
        They became points centre + white z.
    """

    surveyed: object
    centre: object
    inspected: object
    draws: np.ndarray
    white: np.ndarray

    @property
    def points(self):
        """Where the rows were inspected."""
        return self.centre.theta + self.draws @ self.white.T


def data_of(rows, names, told):
    """The `RegressionData` of rows; `told` has its other attributes."""
    return RegressionData(
        rows.y,
        names,
        source=rows.X,
        offset=rows.offset,
        trials=rows.trials,
        weight=rows.weight,
        se=rows.se,
        **told,
    )


def table_of(rows, recipe, told, surveyed, settings):
    """(data, table) of rows that stand for all, in random order, with the moments of all."""
    moments, numbers = surveyed.design, Numbers(*recipe.spec.numbers)
    mean, outcome = moments.mean + recipe.shift, surveyed.outcome
    units = PriorUnits(
        numbers.scales(surveyed.spreads, moments.sd),
        mean,
        (float(outcome.mean[0]), float(outcome.variance[0])),
    )
    told = {**told, "units": units}
    data = data_of(rows.with_kinds(recipe.kinds), list(recipe.spec.exog_names), told)
    table = prepare(data, settings.seed, settings.dtype, centre=False)
    return data, replace(table, shift=recipe.shift, sd=moments.sd)


@dataclass(frozen=True)
class Surrogate:
    """Rows that stand for all, before their coordinates are chosen.

    Attributes
    ----------
    data : RegressionData
    table : Table
    model : Model
    tilt : Tilt
    error : FixedError
    exact : int
        Rows of high leverage.
    """

    data: object
    table: object
    model: object
    tilt: Tilt
    error: object
    exact: int


def surrogate_of(whole, found, recipe, told, settings):
    """The `Surrogate` of a survey's sample, with its errors measured.

    Parameters
    ----------
    whole : Whole
    found : RegressionMode
        Of a sample of the rows: priors.
    recipe : Recipe
    told : dict
        See `data_of`.
    settings : Settings
    """
    surveyed, theta = whole.surveyed, whole.centre.theta
    exact = whole.inspected.sample
    rows, _ = surrogate_rows(exact, surveyed.sample, surveyed.rows)
    data, table = table_of(rows, recipe, told, surveyed, settings)
    model = compiled(table, recipe.family)
    _, gradient, hessian = expand(model, theta)
    likelihood = whole.centre.likelihood
    tilt = Tilt(theta, likelihood.gradient - gradient, likelihood.hessian - hessian)
    axes = undo_centring(len(theta), recipe.shift, found.priors.intercepts) @ whole.white
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    off = gradients_at(model, whole.points) + tilt.gradient(whole.points)
    off -= whole.inspected.gradients
    measured = errors.measured(off @ whole.white, whole.draws, axes)
    sampled = np.flatnonzero(table.order >= len(exact))
    groups = remainders_of(sampled, table, recipe, whole)
    share = len(sampled) / max(surveyed.rows - len(exact), 1)
    expected = errors.estimated(groups, whole.draws, axes, share)
    return Surrogate(data, table, model, tilt, errors.FixedError(*measured, *expected), len(exact))


def remainders_of(sampled, table, recipe, whole):
    """Taylor remainders of groups of the sampled rows, in whitened coordinates: (g, k, p)."""
    found = []
    for places in np.array_split(sampled, min(errors.ROW_GROUPS, max(len(sampled), 1))):
        if not len(places):
            return np.zeros((2, *whole.draws.shape))
        columns = ("trials", "offset", "weight", "se")
        beside = {k: pick(getattr(table, k), places) for k in columns}
        model = kernel_of(EncodedRows(table.X[places], table.y[places], **beside), recipe)
        left = errors.remainders(model, whole.centre.theta, whole.points)
        found.append(left @ whole.white)
    return np.array(found)


def compiled(table, family):
    """The compiled model of a table."""
    return family.kernel(design(table.X), table.response, table.offset, table.multiplicity)


def problem_of(whole, one, found, recipe, settings, how):
    """The problem of rows that stand for all; `how` has its other attributes."""
    family, centre, tilt = recipe.family, whole.centre, one.tilt
    held = centre.likelihood.hessian - tilt.curvature
    known = replace(
        found,
        table=one.table,
        model=one.model,
        terms=TiltedTerms(found.terms, tilt),
        mode=Mode(centre.theta, held, centre.prior + tilt.curvature),
        modes=ModeSearch(1, (1.0,), can_search=False),
    )
    priors, model = known.priors, known.model
    precondition = preconditioner(len(priors.names), settings)
    where = chosen_coordinates(
        known, precondition, precondition == "dense" and model.width == 1, [], settings
    )
    core, single = Tilted(known.density(), tilt.centre, tilt.slope, tilt.curvature), None
    if where.rotated:
        eta = linear_predictor(model, where.origin)
        rotate(one.table.X, where.L)
        model, single = (
            family.kernel(
                design(one.table.X, half), one.table.response, eta, one.table.multiplicity
            )
            for half in (False, True)
        )
        core = rotated_prior(core, priors.gaussian and where.map is None, known.terms, where)
    true = Mode(centre.theta, centre.likelihood.hessian, centre.prior)
    warnings = collinearity(
        true, priors.names, whole.surveyed.rows, priors.auxiliary, priors.chosen
    )
    return built(
        known,
        family,
        model=model,
        single=single,
        prior=core,
        coordinates=where,
        warnings=[*found.warnings, *warnings, *how.pop("warnings")],
        **how,
    )
