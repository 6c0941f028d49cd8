"""The posterior of a regression whose largest factor is integrated out."""

from dataclasses import replace
from functools import partial

import numpy as np

from sgmc.coordinates.approximations.mode import PriorTerms
from sgmc.coordinates.approximations.modes import ModeSearch
from sgmc.coordinates.identification.collinearity import collinearity
from sgmc.coordinates.priors.prior_table import density_of
from sgmc.coordinates.priors.prior_tails import tail_bounds
from sgmc.coordinates.whitened.whitening import coordinates, undo_centring
from sgmc.core.designs.design import design
from sgmc.errors import QuadratureWarning
from sgmc.fit.parts import Defaults, Shape
from sgmc.fit.problem import Problem
from sgmc.models.mixed.loading import UnitLoading
from sgmc.models.regression.coordinates import preconditioner
from sgmc.models.regression.latent.densities.group_level import GroupLevel
from sgmc.models.regression.latent.densities.rules import scheme_of
from sgmc.models.regression.latent.integrated.problem import (
    WORST_ERROR,
    IntegratedEffects,
    estimator,
    nonzero,
    observations,
    one_factor,
    stopped,
)
from sgmc.models.regression.latent.integrated.rows import grouped_rows
from sgmc.models.regression.latent.integrated.search import (
    IntegrationRule,
    find,
    normal_points,
    with_rule,
)
from sgmc.models.regression.latent.levels.group_predictors import two_designs
from sgmc.models.regression.mode.search import first_guess, moments_of_outcomes


def levels_problem(model, settings):
    """Table, mode, coordinates, model and prior.

    Parameters
    ----------
    model : LevelsRegression
    settings : Settings
    """
    data, family, priors = model.data, model.family, model.priors
    precondition = preconditioner(len(priors.names), settings)
    rows = grouped_rows(
        data, model.grouping, settings.seed, settings.dtype, precondition is not None
    )
    table = rows.table
    start = first_guess(priors, family, table.offset, *moments_of_outcomes(table, family))
    unit = np.ones(len(start))
    level = np.exp(start[-1]) if family.identity and family.auxiliary else 1.0
    unit[: data.d] = level / nonzero(table.sd)
    scheme = scheme_of(1)
    kernel = compiled(rows, family, unit, level, scheme)
    shift = (table.mean if priors.centred else np.zeros(data.d)) - table.shift
    if data.intercept is not None:
        shift[data.intercept] = 0.0
    terms = PriorTerms(priors, shift)
    kernel, mode, warnings = find(kernel, terms, start)
    if mode.whole and priors.centred and priors.intercepts:
        priors, shift = centred_with_levels(
            priors, shift, mode.theta, kernel, rows, model.shares, data.intercept
        )
        kernel, mode, warnings = find(kernel, PriorTerms(priors, shift), mode.theta, near=True)
    rule = IntegrationRule(0, 0.0)
    if not kernel.closed and mode.whole:
        kernel, rule = with_rule(kernel, normal_points(mode, settings.seed), None, scheme)
        warnings = warnings + inexact(rule, model.split)
    if data.intercept is not None:
        warnings = warnings + collinearity(
            mode, priors.names, data.n, priors.auxiliary, priors.chosen
        )
    back = undo_centring(len(priors.names), table.shift, priors.intercepts)
    return Problem(
        model=kernel,
        prior=density_of(priors, shift),
        coordinates=coordinates(mode, back, precondition, False, priors.auxiliary),
        priors=model.priors,
        free_names=priors.names,
        rows=observations(kernel, table, rule),
        defaults=Defaults(estimator=estimator(kernel)),
        searched=ModeSearch(1, (1.0,)),
        stopped=stopped(mode, rule),
        warnings=warnings,
        shape=Shape(tail_bounds=partial(tail_bounds, model.priors)),
        table=table,
        mode=mode,
        own=IntegratedEffects(rows, rule),
    )


def compiled(rows, family, unit, level, scheme):
    """The compiled model of levels: `GroupLevel` where the rows of each have few coefficients."""
    table = rows.table
    found = two_designs(table.X, rows.starts)
    X = design(table.X if found is None else found.inner)
    glm = family.kernel(X, table.response, table.offset, table.multiplicity)
    own = unit if found is None else None
    kernel = one_factor(glm, rows, family, UnitLoading(), scheme.first, own, scheme.make)
    if found is None:
        return kernel
    return GroupLevel(kernel, design(found.groups), found.place, unit, level)


def centred_with_levels(priors, shift, theta, kernel, rows, shares, intercept):
    """Priors and shift where the intercept's prior is at centred predictors, levels included.

    What the levels add there, s = sum_l mean_l b_l, has given the head's coefficients about a
    normal distribution, whose mean is linear in these: exactly for normal outcomes, and elsewhere
    around the mode.  The prior of a + c . beta + s becomes that of its mean, its variance larger by
    that of s.

    Parameters
    ----------
    priors : PriorTable
    shift : array (d,)
    theta : array (dim,)
        The mode.
    kernel : Quadrature, GaussianMarginal or GroupLevel
    rows : GroupedRows
    shares : (array (k,), float)
        See `split`.
    intercept : int
    """
    weights, known = shares
    share = np.zeros(len(rows.level))
    occurring = rows.level < len(weights)
    share[occurring] = weights[rows.level[occurring]]
    beta = theta[: len(shift)]
    precision = kernel.precisions(theta)
    if kernel.closed:
        score, slope = normal_moments(kernel, rows, theta, share / (1 + precision))
    else:
        score, slope = np.asarray(kernel.h)[:, 0], kernel.shifted(share / (1 + precision))
    mean = float(share @ (score / (1 + precision)))
    variance = float(share**2 @ (1 / (1 + precision)))
    used = list(priors.used)
    one = used[intercept]
    if one.family == "normal":
        one = replace(one, scale=float(np.hypot(one.scale, np.sqrt(variance))))
    used[intercept] = replace(one, location=one.location - known - mean - float(slope @ beta))
    return replace(priors, used=used), shift - slope


def normal_moments(kernel, rows, theta, share):
    """Scores of the levels of normal outcomes, and the slope of a weighted sum of these."""
    table, count = rows.table, rows.table.multiplicity
    weight = kernel.row_precision(theta) * (1.0 if count is None else count) * rows.Z[:, 0]
    beta = theta[: table.X.shape[1]]
    left = table.y - table.X @ beta - (0.0 if table.offset is None else table.offset)
    score = np.add.reduceat(weight * left, rows.starts[:-1])
    each = weight * np.repeat(share, np.diff(rows.starts))
    across = each @ table.X if isinstance(table.X, np.ndarray) else table.X.rmatvec(each)
    return score, across


def inexact(rule, split):
    """A warning, in a list, where the nodes that memory and time allow are not enough."""
    if not rule.error > WORST_ERROR:
        return []
    return [
        QuadratureWarning(
            f"{rule.nodes} quadrature nodes of each level of {split.term} leave errors of "
            f"{rule.error:.2g} in differences of log densities.",
            f"Give {split.term} a narrower prior, such as "
            f"prior={{{split.term!r}: sgmc.normal(0, 1)}}, or join its rare levels.",
        )
    ]
