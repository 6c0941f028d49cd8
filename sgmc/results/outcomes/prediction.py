"""Predictions averaged over draws, and simulated outcomes."""

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import level, whole
from sgmc.arguments.seeds import entropy
from sgmc.core.rng import seed_sequence
from sgmc.diagnostics import moments
from sgmc.results.outcomes.beside import need_errors, need_trials


def predict(results, exog, offset, transform, **how):
    """Posterior mean of E[y | x]; a Series where the new data have an index."""
    rows = results.table_rows(exog, offset, transform=transform, **how)
    return labelled(results, rows, rows.affordable_mean())


def labelled(results, rows, mean):
    """Means (n,) as a Series, or (n, kinds) as a DataFrame, where the rows have labels."""
    if rows.family.outcome == "category":
        mean = mean.reshape(rows.n, len(results.model.kinds))  # also of no row
    if rows.index is None:
        return mean
    return (
        pd.Series(mean, rows.index)
        if mean.ndim == 1
        else pd.DataFrame(mean, rows.index, results.model.kinds)
    )


def outcome_stream(results, seed):
    """The generator of simulated outcomes: by the seed given, or else by that of the fit."""
    return np.random.Generator(
        np.random.PCG64(seed_sequence(results.seed if seed is None else entropy(seed), "predict"))
    )


def simulated(rows, rng):
    """Blocks (slice of the table, outcomes (row, draw)); NaN where the linear predictor is."""
    for at, eta in rows.blocks():
        known = np.isfinite(eta)
        y = rows.outcome(at).simulate(np.where(known, eta, 0.0), rng, rows.extra)
        yield at, np.where(known if known.ndim == 2 else known.all(axis=0), y, np.nan)


def posterior_predict(results, exog, offset, trials, draws, seed, **how):
    """See `Results.posterior_predict`."""
    need_trials(results, exog, trials, "posterior_predict")
    need_errors(results, exog, how.get("se"), "posterior_predict")
    rows = results.table_rows(exog, offset, trials=trials, **how).of_equal_weight(
        whole("draws", draws, 1, none=True)
    )
    rows.fits("posterior_predict")
    rng, out = outcome_stream(results, seed), np.empty((rows.m, rows.n))
    for at, y in simulated(rows, rng):
        out[:, rows.place(at)] = y.T
    return out


class Prediction:
    """E[y | x] of some rows: posterior mean, sd and intervals, also of single outcomes.

    Parameters
    ----------
    rows : Rows
    results : Results
    seed : int, SeedSequence, Generator or None
        Of the outcomes that their intervals are made of; None for the fit's.
    """

    def __init__(self, rows, results, seed=None):
        self._rows, self._index, self._results = rows.affordable(), rows.index, results
        self._seed = results.seed if seed is None else entropy(seed)

    @property
    def predicted_mean(self):
        """Posterior means of E[y | x]; a Series where the rows have labels."""
        return labelled(self._results, self._rows, self._rows.mean())

    def conf_int(self, alpha=0.05):
        """Equal-tailed credible intervals of E[y | x], a DataFrame with columns 0 and 1."""
        limits = self.summary_frame(alpha)[["mean_ci_lower", "mean_ci_upper"]]
        return limits.set_axis([0, 1], axis=1)

    def summary_frame(self, alpha=0.05):
        """DataFrame with statsmodels' columns and a posterior's meaning.

        ``mean``, ``mean_se``, ``mean_ci_lower`` and ``mean_ci_upper`` are posterior mean, sd and
        interval of E[y | x].  ``obs_ci_lower`` and ``obs_ci_upper`` hold a new outcome with
        probability 1 - alpha, the coefficients' uncertainty included: quantiles of one simulated
        outcome a draw.  Outcomes 0 and 1 have none; counts of successes have them where trials are
        known, estimates where their standard errors are.  Outcomes of several kinds have a line a
        row and kind.
        """
        rows, weights = self._rows, self._rows.weights
        if rows.family.outcome == "category":
            return self._by_kind([level(alpha) / 2, 1 - alpha / 2])
        graded = rows.outcome(slice(None)).graded
        levels = [level(alpha) / 2, 1 - alpha / 2]
        out = np.empty((rows.n, 6 if graded else 4))
        rng = np.random.Generator(np.random.PCG64(seed_sequence(self._seed, "predict")))
        for at, eta in rows.blocks():
            columns = self._columns(rows.family.mean(eta), levels, weights)
            out[rows.place(at), :4] = np.column_stack([columns[0], columns[1], *columns[2]])
        for at, y in simulated(rows, rng) if graded else ():
            out[rows.place(at), 4:] = moments.quantile(y.T[None], levels, weights).T
        names = [
            "mean",
            "mean_se",
            "mean_ci_lower",
            "mean_ci_upper",
            "obs_ci_lower",
            "obs_ci_upper",
        ]
        return pd.DataFrame(out, self._index, names[: out.shape[1]])

    def _by_kind(self, levels):
        """The same for probabilities of kinds, indexed by (row, kind)."""
        rows, kinds = self._rows, self._results.model.kinds
        out = np.empty((rows.n, len(kinds), 4))
        for at, eta in rows.blocks():
            for k, p in enumerate(rows.family.mean(eta)):
                columns = self._columns(p, levels, rows.weights)
                out[rows.place(at), k] = np.column_stack([columns[0], columns[1], *columns[2]])
        labels = pd.RangeIndex(rows.n) if self._index is None else self._index
        index = pd.MultiIndex.from_product(
            [labels, kinds], names=["row", self._results.model.endog_names]
        )
        return pd.DataFrame(
            out.reshape(-1, 4), index, ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"]
        )

    @staticmethod
    def _columns(mean, levels, weights):
        """Mean, sd and quantiles of E[y | x] (row, draw)."""
        draws = mean.T[None]  # one chain of (draw, row)
        return (
            moments.mean(draws, weights),
            moments.sd(draws, weights),
            moments.quantile(draws, levels, weights),
        )
