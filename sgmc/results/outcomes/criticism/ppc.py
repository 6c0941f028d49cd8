"""Posterior predictive checks: statistics of the outcomes against those of simulated ones."""

from dataclasses import replace

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import level, whole
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError
from sgmc.results.outcomes.data.offers import LAW, RESIDUALS, need
from sgmc.results.outcomes.data.rows import fitted_rows
from sgmc.results.outcomes.predicted.prediction import outcome_stream, simulated

CHECKED_DRAWS = 500
SINGLE_COPIES = 100_000


def pp_check(results, groups, draws, alpha, seed):
    """Compare outcomes with simulated ones; see `Results.pp_check`."""
    need(results, "pp_check", LAW)
    count = min(CHECKED_DRAWS, len(results.flat)) if draws is None else whole("draws", draws, 1)
    if results.model.family.several:
        rows = single_rows(fitted_rows(results, "pp_check"))
        return shares(results, rows.of_equal_weight(count), alpha, seed)
    need(results, "pp_check", *RESIDUALS)
    everything = single_rows(fitted_rows(results, "pp_check"))
    rows, mean = everything.of_equal_weight(count), everything.affordable_mean()
    groups = whole("groups", groups, 1)
    if groups > rows.n:
        raise ArgumentError(f"groups={groups} is more than the {rows.n} rows")
    # 0 / 1 where nothing was tried
    trials = np.ones(rows.n) if rows.trials is None else np.maximum(rows.trials, 1)
    w = np.ones(rows.n) if rows.trials is None else rows.trials
    group = np.empty(rows.n, dtype=int)
    group[np.argsort(mean, kind="stable")] = np.arange(rows.n) * groups // rows.n
    group = group[rows.place(slice(None))]  # of the table's rows
    sums, squares = np.zeros((groups, rows.m)), np.zeros(rows.m)
    for at, y in simulated(rows, outcome_stream(results, seed)):
        y = y / trials[at, None]
        for g in np.unique(group[at]):
            mine = group[at] == g
            sums[g] += w[at][mine] @ y[mine]
        squares += w[at] @ y**2
    size, y = np.bincount(group, w, groups), rows.y / trials
    observed = statistics(np.bincount(group, w * y, groups)[:, None], np.array([w @ y**2]), size)[
        :, 0
    ]
    fitted = np.bincount(group, w * mean[rows.place(slice(None))], groups)
    return table(
        observed, statistics(sums, squares, size), fitted / np.where(size, size, np.nan), alpha
    )


def single_rows(rows):
    """Rows repeated by their frequency weights, so that each copy has its own simulated outcome; at
    most SINGLE_COPIES, in proportion to the weights.
    """
    if rows.frequency is None:
        return rows
    count = int(min(max(round(rows.frequency.sum()), 1), SINGLE_COPIES))
    return replace(rows.among(moments.systematic(rows.frequency, count)), frequency=None)


def shares(results, rows, alpha, seed):
    """The share of each kind of outcome, a row a kind."""
    kinds = results.model.kinds
    fitted = rows.mean()[rows.place(slice(None))].mean(axis=0)
    replicated = np.zeros((len(kinds), rows.m))
    for _, y in simulated(rows, outcome_stream(results, seed)):
        for k in range(len(kinds)):
            replicated[k] += (y == k).sum(axis=0) / rows.n
    observed = np.bincount(rows.y.astype(int), minlength=len(kinds)) / rows.n
    return frame([f"share of {kind}" for kind in kinds], observed, fitted, replicated, alpha)


def statistics(sums, squares, size):
    """Mean, sd and groups' means (statistic, draw), from sums (group, draw)
    and sums of squares (draw,).
    """
    mean = sums.sum(axis=0) / size.sum()
    sd = np.sqrt(np.maximum(squares / size.sum() - mean**2, 0.0))
    # a group may weigh nothing
    return np.vstack([mean, sd, sums / np.where(size, size, np.nan)[:, None]])


def table(observed, replicated, fitted, alpha):
    """Mean, sd and the means of groups."""
    names = ["mean", "sd", *(f"mean of group {g + 1}" for g in range(len(fitted)))]
    return frame(names, observed, [np.nan, np.nan, *fitted], replicated, alpha)


def frame(names, observed, fitted, replicated, alpha):
    """A row a statistic."""
    low, high = moments.quantile(replicated.T[None], [level(alpha) / 2, 1 - alpha / 2])
    above = (replicated > observed[:, None]).mean(axis=1) + (replicated == observed[:, None]).mean(
        axis=1
    ) / 2
    above[np.isnan(observed)] = np.nan
    return pd.DataFrame(
        {
            "observed": observed,
            "fitted": fitted,
            "replicated": replicated.mean(axis=1),
            f"[{alpha / 2:.3g}": low,
            f"{1 - alpha / 2:.3g}]": high,
            "p": above,
        },
        index=names,
    )
