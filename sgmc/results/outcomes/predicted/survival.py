"""What a posterior of survival times says of them: survival functions, quantiles, residuals."""

import numpy as np
import pandas as pd

from sgmc.arguments.data.arrays import vector
from sgmc.arguments.numbers import level
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.outcomes.data import labels
from sgmc.results.outcomes.data.offers import LAW, TIMES, need
from sgmc.results.outcomes.data.rows import fitted_rows


def survival(results, times, exog, offset, alpha, **how):
    """Return P(T > t | x) and its interval; see `Predictions.survival`."""
    need(results, "survival", LAW, TIMES)
    times = np.atleast_1d(vector("times", np.atleast_1d(times)))
    if (times < 0).any():
        raise ArgumentError(f"times={times[times < 0][0]:g} must be 0 or more")
    rows = of_rows(results, exog, offset, "survival", how)

    def at(time):
        return lambda eta, extra: np.exp(rows.family.log_survival(time, eta, extra))

    return table(rows, {time: at(time) for time in times}, "time", "survival", alpha)


def quantiles(results, p, exog, offset, alpha, **how):
    """Return quantiles of survival times; see `Predictions.quantiles`."""
    need(results, "quantiles", LAW, TIMES)
    p = np.atleast_1d(vector("p", np.atleast_1d(p)))
    if not ((p > 0) & (p < 1)).all():
        wrong = p[~((p > 0) & (p < 1))][0]
        raise ArgumentError(f"p={wrong:g} must lie between 0 and 1, both excluded")
    rows = of_rows(results, exog, offset, "quantiles", how)

    def at(share):
        return lambda eta, extra: rows.family.quantile(share, eta, extra)

    return table(rows, {share: at(share) for share in p}, "p", "quantile", alpha)


def of_rows(results, exog, offset, what, how):
    """Rows of new data or of the fit's, with as many draws as take a few seconds."""
    if exog is None:
        return fitted_rows(results, what).affordable()
    return results.table_rows(exog, offset, **how).affordable()


def auxiliary(rows):
    """Draws of sigma, or its known value."""
    return rows.family.extra if rows.extra is None else rows.extra


def table(rows, functions, argument, name, alpha):
    """Posterior mean and interval of functions of (eta, auxiliary parameters): a line a row and
    argument.
    """
    levels, extra = [level(alpha) / 2, 1 - alpha / 2], auxiliary(rows)
    out = np.empty((rows.n, len(functions), 3))
    for at, eta in rows.blocks():
        for k, function in enumerate(functions.values()):
            draws = function(eta, extra).T[None]
            out[rows.place(at), k, 0] = moments.mean(draws, rows.weights)
            out[rows.place(at), k, 1:] = moments.quantile(draws, levels, rows.weights).T
    known = labels.index_of(rows.index)
    every = [pd.RangeIndex(rows.n) if known is None else known, list(functions)]
    index = pd.MultiIndex.from_product(every, names=["row", argument])
    frame = pd.DataFrame(out.reshape(-1, 3), index, [name, "ci_lower", "ci_upper"])
    return labels.table(frame, rows.index)


def cox_snell(results):
    """Return Cox-Snell residuals; see `Predictions.resid_cox_snell`."""
    need(results, "resid_cox_snell", LAW, TIMES)
    rows = fitted_rows(results, "resid_cox_snell").affordable()
    low, high = rows.y["low"], rows.y["high"]
    if ((low != high) & (high < np.inf)).any():
        raise NotSupported(
            "resid_cox_snell is for times that are observed or censored on the right; others have "
            "no single residual: use log_lik() or loo()",
            because="mathematics",
        )
    extra = auxiliary(rows)
    found = rows.average(lambda at, eta: -rows.family.log_survival(low[at, None], eta, extra))
    return labels.numbers(found, rows.index, "residual")
