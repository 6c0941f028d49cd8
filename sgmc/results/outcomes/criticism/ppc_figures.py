"""Figures of posterior predictive checks, by the kind of outcome."""

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.numbers import whole
from sgmc.errors import ArgumentError
from sgmc.results.outcomes.criticism.pit import some_of
from sgmc.results.outcomes.criticism.ppc import pp_check, single_rows
from sgmc.results.outcomes.data import words
from sgmc.results.outcomes.data.offers import CONTINUOUS, COUNTS, LAW, RESIDUALS, need
from sgmc.results.outcomes.data.rows import fitted_rows
from sgmc.results.outcomes.predicted.prediction import outcome_draws, outcome_stream

KINDS = ("density", "rootogram", "groups")
DRAWN_GROUPS = 10
DENSITIES, ROOTOGRAM_DRAWS = 50, 500  # simulated data sets


def plot_pp_check(results, ax, kind, groups, draws, alpha, seed):
    """Draw a check; see `Results.plot_pp_check`."""
    from sgmc.plots.calibration import calibration
    from sgmc.plots.predictive import densities, rootogram

    need(results, "plot_pp_check", LAW)
    family = results.model.family
    usual = usual_kind(family)
    given = usual if groups is None else "groups"
    kind = given if kind is None else one_of("kind", kind, KINDS)
    if kind == "groups":
        table = pp_check(results, DRAWN_GROUPS if groups is None else groups, draws, alpha, seed)
        if family.several:
            share = f"share of each {results.model.endog_names}"
            return calibration(table, share, results.model.kinds, ax)
        return calibration(table, words.mean(results.model), ax=ax)
    if groups is not None:
        raise ArgumentError(f"groups={groups} is for kind='groups', not for kind={kind!r}")
    needed = COUNTS if kind == "rootogram" else CONTINUOUS
    need(results, "plot_pp_check", *RESIDUALS)
    need(results, f"plot_pp_check(kind={kind!r})", needed)
    count = DENSITIES if kind == "density" else ROOTOGRAM_DRAWS
    y, simulated = outcomes(results, whole("draws", count if draws is None else draws, 1), seed)
    name = str(results.model.endog_names)
    return (densities if kind == "density" else rootogram)(y, simulated, name, ax)


def usual_kind(family):
    """The figure that fits the outcomes of a family."""
    if family.several or family.outcome == "binary":
        return "groups"
    return "rootogram" if family.counts else "density"


def outcomes(results, count, seed):
    """Outcomes (row,) and simulated ones (draw, row): of all rows, or of many some; rows with
    frequency weights in proportion to these.
    """
    rows = some_of(single_rows(fitted_rows(results, "plot_pp_check")))
    rows = rows.of_equal_weight(min(count, rows.m))
    y, simulated = rows.y, outcome_draws(rows, outcome_stream(results, seed))
    known = np.isfinite(simulated).all(axis=0)
    return y[known], simulated[:, known]
