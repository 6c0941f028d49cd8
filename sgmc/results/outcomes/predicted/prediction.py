"""Predictions averaged over draws, and simulated outcomes."""

import numpy as np
import pandas as pd

from sgmc.arguments.intervals import with_level
from sgmc.arguments.numbers import level, whole
from sgmc.arguments.seeds import entropy
from sgmc.core.random.rng import seed_sequence
from sgmc.diagnostics.chains import moments, row_ends
from sgmc.elsewhere import of_part
from sgmc.results.outcomes.data import labels
from sgmc.results.outcomes.data.beside import need_errors, need_trials
from sgmc.results.outcomes.data.offers import LAW, NUMBERS, need
from sgmc.results.outcomes.data.streams import Method, written


def predict(results, exog, offset, transform, **how):
    """Posterior mean of E[y | x], labelled as the rows are."""
    rows = results.table_rows(exog, offset, transform=transform, **how)
    return labelled(results, rows, rows.affordable_mean())


def labelled(results, rows, mean):
    """Means (n,), or (n, kinds), with the labels of the rows."""
    if rows.family.several:
        mean = mean.reshape(rows.n, len(results.model.kinds))  # also of no row
    if mean.ndim == 1 or rows.index is None:
        return labels.numbers(mean, rows.index, "mean")
    frame = pd.DataFrame(mean, labels.index_of(rows.index), results.model.kinds)
    return labels.table(frame, rows.index)


def by_name(results, mean):
    """Means with the names of the kinds, where outcomes are of several."""
    several = results.model.family.several and isinstance(mean, np.ndarray)
    return pd.DataFrame(mean, columns=results.model.kinds) if several else mean


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
    """Simulate outcomes of rows; see `Results.posterior_predict`."""
    need(results, "posterior_predict", LAW)
    need_trials(results, exog, trials, "posterior_predict")
    need_errors(results, exog, how.get("se"), "posterior_predict")
    rows = results.table_rows(exog, offset, trials=trials, **how).of_equal_weight(
        whole("draws", draws, 1, none=True)
    )
    rows.fits("posterior_predict")
    return outcome_draws(rows, outcome_stream(results, seed))


def outcome_draws(rows, rng):
    """Simulated outcomes, (draw, row)."""
    out = np.empty((rows.m, rows.n))
    for at, y in simulated(rows, rng):
        out[:, rows.place(at)] = y.T
    return out


def mean_draws(results, exog, offset, draws, what, how):
    """E[y | x], or the linear predictor, of rows by each draw; see `Results.posterior_epred`."""
    need(results, what, NUMBERS)
    rows = results.table_rows(exog, offset, **how)
    rows = rows.of_equal_weight(whole("draws", draws, 1, none=True))
    rows.fits(what)
    out = np.empty((rows.m, rows.n))
    for at, eta in rows.blocks():
        if what == "posterior_linpred":
            of_rows = eta if eta.ndim == 2 else eta[0]  # before that of zeros, or of dispersions
        else:
            of_rows = rows.family.centre(eta, rows.extra)
        out[:, rows.place(at)] = of_rows.T
    return out


class Intervals:
    """What predictions have of their summary, `frame(alpha)`."""

    labels = None

    def __getattr__(self, name):
        of_part(self, name)

    def __repr__(self):
        return "<predictions: summary_frame() has means, sds and intervals>"

    @with_level
    def conf_int(self, alpha=0.05):
        """Return equal-tailed credible intervals of E[y | x], a DataFrame with columns 0 and 1."""
        limits = self.frame(alpha)[["mean_ci_lower", "mean_ci_upper"]]
        return labels.table(limits.set_axis([0, 1], axis=1), self.labels)


class Prediction(Intervals):
    """E[y | x] of some rows: posterior mean, sd and intervals, also of single outcomes.

    Parameters
    ----------
    rows : Rows
    results : Results
    seed : int, SeedSequence, Generator or None
        Of the outcomes that their intervals are made of; None for the fit's.
    """

    def __init__(self, rows, results, seed=None):
        self._rows, self._results = rows.affordable(), results
        self._seed = results.seed if seed is None else entropy(seed)
        self.labels = rows.index

    @property
    def predicted_mean(self):
        """Posterior means of E[y | x], labelled as the rows are."""
        return labelled(self._results, self._rows, self._rows.mean())

    @with_level
    def summary_frame(self, alpha=0.05, *, to=None):
        """Return a table with statsmodels' columns and a posterior's meaning.

        ``mean``, ``mean_se``, ``mean_ci_lower`` and ``mean_ci_upper`` are posterior mean, sd and
        interval of E[y | x].  ``obs_ci_lower`` and ``obs_ci_upper`` hold a new outcome with
        probability 1 - alpha, the coefficients' uncertainty included: quantiles of one simulated
        outcome a draw.  Outcomes 0 and 1 have none; counts of successes have them where trials are
        known, estimates where their standard errors are.  Outcomes of several kinds have a line a
        row and kind.

        With `to`, the path of a .parquet or .csv file, they are written there, with a column
        ``row``, and the path is returned.
        """
        found = self.frame(alpha)
        return labels.table(found, self.labels) if to is None else written(found, to)

    def frame(self, alpha):
        """Return the summary as a DataFrame of pandas."""
        rng = outcome_stream(self._results, self._seed)
        return summary(self._rows, self._results, alpha, rng)


class StreamedPrediction(Intervals):
    """The same of rows that need not be in memory.

    Parameters
    ----------
    stream : Stream
    results : Results
    seed : int, SeedSequence, Generator or None
    """

    def __init__(self, stream, results, seed=None):
        self._stream, self._results = stream, results
        self._seed = results.seed if seed is None else entropy(seed)

    @property
    def predicted_mean(self):
        """Posterior means of E[y | x], labelled as the rows are."""
        return self._stream.run(mean_of(self._results))

    @with_level
    def summary_frame(self, alpha=0.05, *, to=None):
        """Return a table of means and intervals, or write it to the file `to`; see `Prediction`."""
        rng = outcome_stream(self._results, self._seed)
        level(alpha)
        method = Method(
            "summary_frame",
            lambda rows, n: rows.affordable(n),
            lambda rows: summary(rows, self._results, alpha, rng),
        )
        return self._stream.run(method, to)

    def frame(self, alpha):
        """Return the table of means and intervals."""
        return self.summary_frame(alpha)


def mean_of(results):
    """Posterior means of E[y | x], a `Method`."""
    return Method(
        "predict",
        lambda rows, n: rows.affordable(n),
        lambda rows: labelled(results, rows, rows.mean()),
    )


def outcomes_of(results, draws, seed):
    """Simulated outcomes, a `Method`: one random stream goes through all rows."""
    need(results, "posterior_predict", LAW)
    count, rng = whole("draws", draws, 1, none=True), outcome_stream(results, seed)
    return Method(
        "posterior_predict",
        lambda rows, n: rows.of_equal_weight(count),
        lambda rows: outcome_draws(rows, rng),
    )


def summary(rows, results, alpha, rng):
    """Return means and intervals of rows; `rng` simulates outcomes."""
    levels = [level(alpha) / 2, 1 - alpha / 2]
    if rows.family.several:
        return summary_by_kind(rows, results, levels)
    graded = rows.outcome(slice(None)).graded
    out = np.empty((rows.n, 6 if graded else 4))
    for at, eta in rows.blocks():
        out[rows.place(at), :4] = moments_and_ends(
            rows.family.centre(eta, rows.extra), levels, rows.weights
        )
    for at, y in simulated(rows, rng) if graded else ():
        out[rows.place(at), 4:] = moments_and_ends(y, levels, rows.weights)[:, 2:]
    names = [
        "mean",
        "mean_se",
        "mean_ci_lower",
        "mean_ci_upper",
        "obs_ci_lower",
        "obs_ci_upper",
    ]
    return pd.DataFrame(out, labels.index_of(rows.index), names[: out.shape[1]])


def summary_by_kind(rows, results, levels):
    """The same for probabilities of kinds, indexed by (row, kind)."""
    kinds = results.model.kinds
    out = np.empty((rows.n, len(kinds), 4))
    for at, eta in rows.blocks():
        for k, p in enumerate(rows.family.mean(eta)):
            out[rows.place(at), k] = moments_and_ends(p, levels, rows.weights)
    index = labels.index_of(rows.index)
    index = pd.RangeIndex(rows.n) if index is None else index
    index = pd.MultiIndex.from_product([index, kinds], names=["row", results.model.endog_names])
    return pd.DataFrame(
        out.reshape(-1, 4), index, ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"]
    )


def moments_and_ends(mean, levels, weights):
    """Mean, sd and quantiles of E[y | x] (row, draw), (row, 4)."""
    if weights is None:
        return row_ends.moments_and_ends(mean, levels)
    draws = mean.T[None]  # one chain of (draw, row)
    return np.column_stack(
        [
            moments.mean(draws, weights),
            moments.sd(draws, weights),
            *moments.quantile(draws, levels, weights),
        ]
    )
