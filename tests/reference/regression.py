"""One regression: linear predictors, priors, modes, predictions, averages, rows left out.

    eta = offset + offset(formula) + log(exposure) + X b + sum of Z u over groups + f(z) + u(s)

Draws are arrays (m, d) in the order of the product's: coefficients (of each equation), what group
terms and smooths have, auxiliary parameters.  Effects u are a list with a dict for each group term,
{level: (m, q)}.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import stats

from ..formula.reference import values_of
from .designs import Design
from .families import FAMILIES

TWO_PARTS = ("zero", "second")  # equations of a mean and of another parameter
SLOPE_STEP = 1e-4  # of the range of a variable


@dataclass(frozen=True)
class Regression:
    """A family, a formula and the rows of a fit.

    Attributes
    ----------
    family : str
    tree : tuple
        The right side of the formula, without groups and smooths.
    table : DataFrame
    outcome : str
    offset, exposure, weights : str or None
        Columns.
    groups : tuple
        Pairs of the trees of the covariates of the effects, and of the columns that hold the level.
    curve : tuple or None
        A smooth: its covariate, knots, and a list of its values there (m, knots), one for each
        equation.
    walk : tuple or None
        An effect of each value of a column, and lines between these, as `curve`.
    bare : bool
        The product has the design as an array, and nothing of the formula.
    staged : str or None
        The column with an effect for each stage of an ordered outcome; draws have these behind the
        coefficients.
    """

    family: str
    tree: tuple
    table: pd.DataFrame
    outcome: str = "y"
    offset: str | None = None
    exposure: str | None = None
    weights: str | None = None
    groups: tuple = ()
    curve: object = None
    walk: object = None
    bare: bool = False
    staged: str | None = None

    # ---- what is fixed by the rows of the fit ----------------------------------------------------

    @cached_property
    def law(self):
        """The `Family`."""
        return FAMILIES[self.family]

    @cached_property
    def design(self):
        """Of the formula."""
        return Design(self.tree, self.table)

    def outcomes(self, table):
        """Outcomes as numbers; of kinds and of ordered ones the places of their levels."""
        y = np.array(table[self.outcome])
        if self.law.equations in ("kinds", "ordered"):
            return np.searchsorted(np.unique(self.table[self.outcome]), y).astype(float)
        return y.astype(float)

    @cached_property
    def y(self):
        """Outcomes of the fit."""
        return self.outcomes(self.table)

    @cached_property
    def w(self):
        """Frequencies of the rows."""
        if self.weights is None:
            return np.ones(len(self.table))
        return np.array(self.table[self.weights], dtype=float)

    def X(self, table):
        """The design of any rows; of ordered outcomes thresholds stand for the intercept."""
        X = self.design(table)
        return X[:, 1:] if self.law.equations == "ordered" else X

    @cached_property
    def columns(self):
        """Columns of the design."""
        return self.X(self.table.iloc[:1]).shape[1]

    @property
    def stages(self):
        """How many effects by stage there are."""
        return 0 if self.staged is None else self.table[self.outcome].nunique() - 1

    def rows(self, x):
        """Numbers a row, each row as often as its frequency."""
        return np.repeat(x, self.w.astype(int))

    # ---- linear predictors -----------------------------------------------------------------------

    def split(self, draws):
        """Coefficients (m, equations, d) and auxiliary parameters."""
        d = self.columns
        if self.law.equations == "kinds":
            several = self.table[self.outcome].nunique() - 1
            return draws[:, : several * d].reshape(len(draws), several, d), {}
        last = draws.shape[1] - len(self.law.auxiliary)
        extra = {name: draws[:, [last + k]] for k, name in enumerate(self.law.auxiliary)}
        if self.law.equations == "ordered":
            cuts = draws[:, 1 - self.table[self.outcome].nunique() :]
            extra = {"thresholds": list(cuts[:, :, None].swapaxes(0, 1))}
        return draws[:, None, :d], extra

    def added(self, table):
        """What is added to the linear predictor (n,)."""
        found = self.design.offset(table)
        if self.offset is not None:
            found = found + np.array(table[self.offset], dtype=float)
        if self.exposure is not None:
            found = found + np.log(np.array(table[self.exposure], dtype=float))
        return found

    def eta(self, draws, table, effects=None):
        """Linear predictors (m, n), of several equations (m, equations, n); levels that `effects`
        lacks have effects of zero.
        """
        coefficients, _ = self.split(draws)
        eta = coefficients @ self.X(table).T + self.added(table)
        if self.law.equations in TWO_PARTS:  # the second part has an intercept alone
            eta = np.concatenate([eta, eta * 0 + draws[:, [[self.columns]]]], axis=1)
        if self.curve is not None:  # of the mean, or of each equation
            for k, values in enumerate(self.curve[2]):
                eta[:, k] += self.bend(coefficients[:, k], values, table)
        if self.walk is not None:
            name, steps, walks = self.walk
            for k, values in enumerate(walks):
                eta[:, k] += [np.interp(table[name], steps, one) for one in values]
        for (trees, columns), known in zip(self.groups, effects or ()):
            Z = np.column_stack([Design(tree, self.table)(table)[:, -1] for tree in trees])
            own = coefficients.shape[1]  # effects are of the mean, or of each equation
            for i, level in enumerate(levels_of(table, columns)):
                if level in known:
                    u = known[level].reshape(len(draws), own, -1)
                    eta[:, :own, i] += u @ Z[i]
        if self.staged is not None:  # (m, stages, n)
            own = draws[:, self.columns : self.columns + self.stages, None]
            return eta + own * np.array(table[self.staged], dtype=float)
        return eta if self.law.equations in ("kinds", *TWO_PARTS) else eta[:, 0]

    def bend(self, coefficients, values, table):
        """What a smooth adds to its line, (m, n), which is the last column of the design: both
        together are a natural cubic spline with mean zero over the rows of the fit.
        """
        name, knots, _ = self.curve
        x, middle = np.array(table[name], dtype=float), self.rows(self.table[name]).mean()
        return natural(knots, values, x) - coefficients[:, -1:] * (x - middle)

    def mean(self, draws, table, effects=None):
        """E[y | x, draw]: (m, n), of kinds (m, kinds, n)."""
        return self.law.mean(self.eta(draws, table, effects), self.split(draws)[1])

    def variance(self, draws, table, effects=None):
        """var(y | x, draw), (m, n)."""
        eta, extra = self.eta(draws, table, effects), self.split(draws)[1]
        of = eta if self.law.equations in TWO_PARTS else self.law.mean(eta, extra)
        return self.law.variance(of, extra)

    def log_lik(self, draws, table=None, effects=None):
        """log p(y | x, draw), (m, n), a row once whatever its frequency."""
        table = self.table if table is None else table
        y = self.outcomes(table)
        return self.law.log_lik(y, self.eta(draws, table, effects), self.split(draws)[1])

    # ---- averages --------------------------------------------------------------------------------

    def average(self, values, weights):
        """Means over rows, (m,)."""
        return values @ (weights / weights.sum())

    def slope(self, draws, table, name):
        """Derivatives of the mean with respect to a column, (m, n)."""
        x = np.array(table[name], dtype=float)
        step, plain = SLOPE_STEP * np.ptp(x), ("column", name) in self.design.factors
        low, high = x - step / 2, x + step / 2
        if not plain or len([one for one in self.design.factors if one[1] == name]) > 1:
            low, high = np.maximum(low, x.min()), np.minimum(high, x.max())
        change = self.mean(draws, table.assign(**{name: high})) - self.mean(
            draws, table.assign(**{name: low})
        )
        return change / (high - low)

    def comparison(self, draws, table, name, low, high):
        """Changes of the mean as a column goes from one value to another in all rows, (m, n)."""
        return self.mean(draws, set_to(table, name, high)) - self.mean(
            draws, set_to(table, name, low)
        )

    # ---- priors, modes, rows left out ------------------------------------------------------------

    @cached_property
    def left(self):
        """The outcomes; what offsets leave of them, where they have the linear predictor's unit."""
        identity = self.law.link == "identity"
        return self.rows(self.y - self.added(self.table) if identity else self.y)

    @cached_property
    def unit(self):
        """The unit of the coefficients: of the outcome where it is the linear predictor's."""
        return self.law.unit(self.left)

    @cached_property
    def scales(self):
        """Prior sds of the slopes and, at the intercept's place, of the intercept at centred
        predictors.

        A difference between levels, or of 0 and 1, has 2.5 units itself; numbers have 2.5 units a
        standard deviation; an interaction of both, of its number alone (Gelman, Jakulin, Pittau &
        Su 2008, doi:10.1214/08-AOAS191).  Of an array nothing but its columns is known.
        """
        numbers = self.design.numeric_parts(self.table)
        if self.bare:
            columns = self.design(self.table).T
            numbers = [None if np.isin(one, (0, 1)).all() else one for one in columns]
        spread = [1.0 if one is None else np.std(self.rows(one), ddof=1) for one in numbers]
        return 2.5 * self.unit / np.array(spread)

    def log_prior(self, draws):
        """log p(coefficients, auxiliary parameters), (m,)."""
        coefficients, extra = self.split(draws)
        centre = self.left.mean() if self.law.link == "identity" else 0.0
        middle = np.average(self.X(self.table)[:, 1:], axis=0, weights=self.w)
        at_centre = coefficients[..., 0] + coefficients[..., 1:] @ middle
        found = stats.norm.logpdf(at_centre, centre, self.scales[0])
        found = found + stats.norm.logpdf(coefficients[..., 1:], 0, self.scales[1:]).sum(axis=-1)
        if self.law.equations in TWO_PARTS:
            level = self.law.level(self.left) if self.law.equations == "second" else 0.0
            found = found + stats.norm.logpdf(draws[:, [self.columns]], level, 2.5)
        for name, prior in self.law.auxiliary.items():
            found = found + prior(extra[name], self.left)
        return found.sum(axis=1)

    def log_posterior(self, at):
        """Of coefficients and logs of auxiliary parameters, (m,)."""
        k = at.shape[1] - len(self.law.auxiliary)
        draws = np.column_stack([at[:, :k], np.exp(at[:, k:])])
        jacobian = at[:, k:].sum(axis=1)
        return self.log_lik(draws) @ self.w + self.log_prior(draws) + jacobian

    def laplace(self, start):
        """Mode, covariance, and log evidence of the normal approximation there."""
        mode, H = newton(self.log_posterior, start)
        evidence = self.log_posterior(mode[None])[0] - np.linalg.slogdet(-H / (2 * np.pi))[1] / 2
        return mode, np.linalg.inv(-H), evidence

    def leave_one_out(self, start):
        """log p(y_i | other rows), (n,), under the prior of the whole fit: the ratio of two
        evidences, the mode found anew without the row.
        """
        mode, _, whole = self.laplace(start)
        out = []
        for i in range(len(self.table)):
            rest = replace(self)
            rest.__dict__.update(self.__dict__, w=self.w - np.eye(len(self.w))[i])
            rest.__dict__["log_prior"] = self.log_prior
            out.append(whole - rest.laplace(mode)[2])
        return np.array(out)


def levels_of(table, columns):
    """The level of each row: a value, or a tuple of several columns'."""
    values = list(zip(*(values_of(table[name]) for name in columns)))
    return [one[0] for one in values] if len(columns) == 1 else values


def set_to(table, name, value):
    """A table with one value of a column in all rows."""
    return table.assign(**{name: pd.Series([value] * len(table), table.index)})


def natural(knots, values, x):
    """The natural cubic spline with values (m, knots), at x (n,) between the ends: (m, n)."""
    h, k = np.diff(knots), len(knots)
    A, B = np.eye(k), np.zeros((k, k))  # A times second derivatives = B times values
    for i in range(1, k - 1):
        A[i, i - 1 : i + 2] = h[i - 1] / 6, (h[i - 1] + h[i]) / 3, h[i] / 6
        B[i, i - 1 : i + 2] = 1 / h[i - 1], -1 / h[i - 1] - 1 / h[i], 1 / h[i]
    bend = np.linalg.solve(A, B @ values.T).T
    i = np.clip(np.searchsorted(knots, x) - 1, 0, k - 2)
    b = (x - knots[i]) / h[i]
    a = 1 - b
    cubic = (a**3 - a) * bend[:, i] + (b**3 - b) * bend[:, i + 1]
    return a * values[:, i] + b * values[:, i + 1] + cubic * h[i] ** 2 / 6


def newton(f, x, step=1e-4):
    """The maximum of a function of rows (m, d), and its Hessian there by differences."""
    for _ in range(100):
        g, H = derivatives(f, x, step)
        move, size = np.linalg.solve(-H, g), 1.0
        while size > 1e-6 and not f((x + size * move)[None])[0] >= f(x[None])[0] - 1e-9:
            size /= 2
        x = x + size * move
        if abs(g @ move) < 1e-8:
            break
    return x, derivatives(f, x, step)[1]


def derivatives(f, x, step):
    """Gradient and Hessian by central differences, in one call."""
    d = len(x)
    E = step * np.eye(d)
    pairs = [E[i] + E[j] for i in range(d) for j in range(d)]
    mixed = [E[i] - E[j] for i in range(d) for j in range(d)]
    at = np.array([*E, *-E, *pairs, *[-p for p in pairs], *mixed, *[-p for p in mixed]])
    values = np.split(f(x + at), [d, 2 * d, 2 * d + d * d, 2 * d + 2 * d * d, 2 * d + 3 * d * d])
    g = (values[0] - values[1]) / (2 * step)
    H = (values[2] + values[3] - values[4] - values[5]).reshape(d, d) / (4 * step**2)
    return g, (H + H.T) / 2
