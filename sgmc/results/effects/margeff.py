"""Marginal effects of the columns of the design, named as in statsmodels."""

from dataclasses import replace

import numpy as np
import pandas as pd

from sgmc.arguments.choices import one_of
from sgmc.arguments.intervals import with_level
from sgmc.arguments.numbers import level
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.effects.places import places_of, rows_at, thinned
from sgmc.results.outcomes.data.rows import Rows

METHODS = {"dydx": "dy/dx", "eyex": "d(lny)/d(lnx)", "dyex": "dy/d(lnx)", "eydx": "d(lny)/dx"}
PLACES = ("overall", "mean", "median", "zero")
MOVED = 1e-4  # of the linear predictor, for central differences of the mean
MOST_MEDIANS = 1 << 27  # numbers of a design that is sorted


class MarginalEffects:
    """Marginal effects, what `get_margeff` returns.

    Attributes
    ----------
    margeff, margeff_se : array (column,) or (column, kind)
        Posterior means and standard deviations.
    draws : array (draw, column) or (draw, column, kind)
    """

    def __init__(self, results, names, draws, weights, at, method):
        self.results, self.names, self.at, self.method = results, names, at, method
        self.draws, self.weights = draws, weights
        self.margeff = self._of(moments.mean(*self._flat))
        self.margeff_se = self._of(moments.sd(*self._flat))

    def __repr__(self):
        return f"<marginal effects of {', '.join(self.names)}: see summary(), summary_frame()>"

    def __str__(self):
        return str(self.summary())

    @property
    def _flat(self):
        return self.draws.reshape(1, len(self.draws), -1), self.weights

    def _of(self, flat):
        return flat.reshape(*flat.shape[:-1], *self.draws.shape[1:])

    @with_level
    def conf_int(self, alpha=0.05):
        """Equal-tailed intervals, (column, 2), or (column, 2, kind)."""
        draws, weights = self._flat
        ends = moments.quantile(draws, [level(alpha) / 2, 1 - alpha / 2], weights)
        return np.moveaxis(self._of(ends), 0, 1)

    @with_level
    def summary_frame(self, alpha=0.05):
        """A DataFrame with statsmodels' columns; P(>0) stands for its test.

        Parameters
        ----------
        alpha : float
            One minus the probability of the intervals.
        """
        draws, weights = self._flat
        low, high = moments.quantile(draws, [level(alpha) / 2, 1 - alpha / 2], weights)
        columns = {
            METHODS[self.method]: moments.mean(draws, weights),
            "Std. Err.": moments.sd(draws, weights),
            "Conf. Int. Low": low,
            "Conf. Int. Hi.": high,
            "P(>0)": moments.share_above(draws, 0, weights),
        }
        if self.draws.ndim == 2:
            return pd.DataFrame(columns, index=self.names)
        kinds = self.results.model.kinds
        index = pd.MultiIndex.from_product([self.names, kinds], names=["exog", "endog"])
        frame = pd.DataFrame(columns, index=index).swaplevel()
        return frame.loc[[(kind, name) for kind in kinds for name in self.names]]

    @with_level
    def summary(self, alpha=0.05):
        """The same printed, a statsmodels `Summary`."""
        from sgmc.results.report.summary import effects_summary

        model = self.results.model
        left = [("Dep. Variable", model.endog_names), ("Model", model.title)]
        right = [("Method", self.method), ("At", self.at)]
        return effects_summary(left, right, self.summary_frame(alpha), alpha)


def get_margeff(results, at, method, dummy, count, data):
    """Return marginal effects as statsmodels has them; see `Effects.get_margeff`."""
    one_of("at", at, PLACES)
    one_of("method", method, tuple(METHODS))
    for name, value in (("dummy", dummy), ("count", count)):
        if one_of(name, value, (False, True)) and (
            method.endswith("ex") or at in ("median", "zero")
        ):
            raise ArgumentError(
                f"{name}=True: a change of a whole unit has no {method} at {at}; take "
                "method='dydx' or 'eydx', at='overall' or 'mean'"
            )
    places = places_of(results, data)
    columns = DesignSummary(results, places)
    how = columns.discrete(dummy, count)
    if at == "overall":
        total, weight, found = 0.0, 0.0, None
        for piece in places.pieces():
            rows = found = thinned(rows_at(results, piece.frame, piece.offset), places.n)
            total = total + sums(rows, piece.weight, columns.d, method, how)
            weight += piece.weight.sum()
        effects = total / weight
    else:
        found = columns.one_row(at)
        effects = sums(found, np.ones(1), columns.d, method, how)
    kept = np.flatnonzero(columns.varying)
    names = [results.model.exog_names[k] for k in kept]
    draws = np.moveaxis(effects[kept], 2, 0)  # of (column, kind, draw)
    draws = draws if results.model.family.several else draws[:, :, 0]
    return MarginalEffects(results, names, draws, found.weights, at, method)


def dense(rows, at, d):
    """The first d columns of some rows of the design."""
    X = rows.X[at]
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)[:, :d]


def sums(rows, weight, d, method, how):
    """Weighted sums over rows of effects (column, kind, draw)."""
    out = 0.0
    for start in range(0, rows.n, rows.block):
        at = slice(start, min(start + rows.block, rows.n))
        (_, eta), *_ = rows.among(np.arange(at.start, at.stop)).blocks()
        X, eta = dense(rows, at, d), eta if eta.ndim == 3 else eta[None]
        out = out + of_block(rows, X, eta, weight[at], method, how)
    return out


def of_block(rows, X, eta, weight, method, how):
    """The same of some rows; `eta` is (equation, row, draw).

    With s_l = d mean / d eta_l by central differences, the effect of column k is the sum over
    equations of beta_lk s_l.
    """
    several = rows.family.linear_predictors > 1 or rows.family.several

    def mean(eta):
        found = rows.family.centre(eta if several else eta[0], rows.extra)
        return found.reshape(-1, *eta.shape[1:])

    # what eta changes by with each linear predictor: thresholds less it all change with one
    ordered = rows.family.outcome == "ordered"
    steps = rows.family.directions(len(eta)) if ordered else np.eye(len(eta))
    beta = by_predictor(rows, len(steps), X.shape[1])
    scale = mean(eta) if method.startswith("ey") else 1.0
    times = weight[:, None] * (X if method.endswith("ex") else np.ones_like(X))
    out = 0.0
    for along, b in zip(steps, beta):
        step = MOVED * along[:, None, None]
        slope = (mean(eta + step) - mean(eta - step)) / (2 * MOVED) / scale
        out = out + b[:, None] * np.stack([times.T @ one for one in slope], axis=1)
    for k in np.flatnonzero(np.array(how) != ""):
        b, x = (steps.T @ beta[:, k])[:, None], X[:, k][None, :, None]
        low, high = (eta - x * b, eta + (1 - x) * b) if how[k] == "dummy" else (eta - b, eta + b)
        low, high = mean(low), mean(high)
        if method.startswith("ey"):
            low, high = np.log(low), np.log(high)
        distance = 1 if how[k] == "dummy" else 2
        out[k] = np.einsum("i,jim->jm", weight, (high - low) / distance)
    return out


def by_predictor(rows, count, d):
    """Draws of the coefficients of the d columns in each of so many predictors, (predictor, column,
    draw): zeros where a column is not in it, as no column is in what auxiliary parameters make.
    """
    if rows.family.outcome == "category":
        return rows.coefficients[:, : count * d].T.reshape(count, d, rows.m)
    of = rows.family.columns[:d] if rows.family.linear_predictors > 1 else np.zeros(d)
    return np.where(of == np.arange(count)[:, None], 1.0, 0.0)[:, :, None] * (
        rows.coefficients[:, :d].T
    )


class DesignSummary:
    """Facts of the columns of a design, from one pass over its rows.

    Attributes
    ----------
    d : int
    varying : array (d,) of bool
    """

    def __init__(self, results, places):
        self.results, self.places, self.d = results, places, len(results.model.exog_names)
        low, high, whole, total, self.weight = np.inf, -np.inf, True, 0.0, 0.0
        self.offset = 0.0
        for piece in places.pieces():
            rows = rows_at(results, piece.frame, piece.offset)
            X = dense(rows, slice(0, rows.n), self.d)
            low, high = np.minimum(low, X.min(axis=0)), np.maximum(high, X.max(axis=0))
            whole = whole & (X % 1.0 == 0).all(axis=0)
            total = total + piece.weight @ X
            self.offset += piece.weight @ np.broadcast_to(rows.offset, rows.n)
            self.weight += piece.weight.sum()
        self.low, self.high, self.whole, self.mean = low, high, whole, total / self.weight
        self.varying = low != high

    def discrete(self, dummy, count):
        """For each column "dummy", "count", or nothing."""
        zero_one = self.whole & (self.low == 0) & (self.high == 1)
        counts = self.whole & (self.low >= 0) & self.varying & ~zero_one
        return [
            "dummy" if dummy and is_dummy else "count" if count and is_count else ""
            for is_dummy, is_count in zip(zero_one, counts)
        ]

    def one_row(self, at):
        """`Rows` of one row of the design: means, medians, or zeros beside the constant."""
        results, n = self.results, self.places.n
        piece = next(iter(self.places.pieces()))
        rows = rows_at(
            results, piece.frame.head(1), None if piece.offset is None else piece.offset[:1]
        )
        if type(rows) is not Rows or rows.X.shape[1] != self.d:
            raise NotSupported(
                f"at={at!r} where effects of levels or smooths are beside the design; take "
                "at='overall', or slopes() at a grid",
                because="limit",
            )
        x = {"mean": lambda: self.mean, "median": self.medians, "zero": self.zeros}[at]()
        offset = self.offset / self.weight if at != "zero" else 0.0
        one = replace(rows, X=x[None], offset=np.array([offset]), index=None)
        return thinned(one, n)

    def zeros(self):
        """Zeros, and the value of columns that do not vary."""
        return np.where(self.varying, 0.0, self.low)

    def medians(self):
        """Medians of the columns, by weight."""
        if self.places.n * self.d > MOST_MEDIANS:
            raise ArgumentError(
                "at='median' sorts the whole design, which is too large; take at='mean'"
            )
        parts = [
            (piece.weight, dense(rows, slice(0, rows.n), self.d))
            for piece in self.places.pieces()
            for rows in [rows_at(self.results, piece.frame, piece.offset)]
        ]
        w, X = np.concatenate([one for one, _ in parts]), np.concatenate([one for _, one in parts])
        return np.array([weighted_median(column, w) for column in X.T])


def weighted_median(x, weight):
    """The middle of the values, each as often as its weight says."""
    order = np.argsort(x, kind="stable")
    x, share = x[order], np.cumsum(weight[order])
    half = share[-1] / 2
    low = np.searchsorted(share, half)
    high = np.searchsorted(share, half, side="right")
    return (x[low] + x[min(high, len(x) - 1)]) / 2
