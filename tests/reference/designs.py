"""Designs of any rows.

A formula is a tree, see `tests.formula.reference`, which has the rules of terms, levels and
contrasts; here is what a fit remembers of its rows, and the values of new ones.
"""

import numpy as np
from numpy.linalg import qr, solve

from ..formula.reference import (
    assembled,
    columns_of_terms,
    evaluated,
    levels_for,
    values_of,
)
from ..formula.trees import expanded, summands

REMEMBERED = (
    "center",
    "ortho",
    "bs",
    "mo",
)  # functions of a column that depend on the rows of the fit


class UnknownLevel(Exception):
    """A row has a level that the fit has not seen."""


class Design:
    """The columns of a formula, with the levels, means, polynomials and knots of one table.

    Parameters
    ----------
    tree : tuple
    table : DataFrame
        The rows of the fit.
    """

    def __init__(self, tree, table):
        self.offsets = [one[1] for _, one in summands(tree) if one[0] == "offset"]
        self.offsets = [one if isinstance(one, tuple) else ("column", one) for one in self.offsets]
        self.intercept, self.terms = expanded(tree, [])
        self.factors = list(dict.fromkeys(factor for term in self.terms for factor in term))
        rows = range(len(table))
        self.levels = {
            one: None if one[0] in REMEMBERED else levels_for(one, table[one[1]], rows)
            for one in self.factors
        }
        self.memory = {
            one: remembered(one, np.array(values_of(table[one[1]]), dtype=float))
            for one in self.factors
            if one[0] in REMEMBERED
        }

    def values(self, factor, table):
        """Values of a factor at each row, None where they are missing."""
        column = table[factor[1]]
        if factor[0] in REMEMBERED:
            return [
                None if x is None else list(recalled(factor, self.memory[factor], float(x)))
                for x in values_of(column)
            ]
        found = evaluated(factor, column)
        known = self.levels.get(factor)
        if known is not None and not {one for one in found if one is not None} <= set(known):
            raise UnknownLevel(factor[1])
        return found

    def parts(self, table):
        """Rows without a gap, and what `columns_of_terms` takes."""
        values = {one: self.values(one, table) for one in self.factors}
        whole = [
            row
            for row in range(len(table))
            if all(some[row] is not None for some in values.values())
        ]
        return whole, (self.intercept, self.terms, values, self.levels, whole)

    def __call__(self, table):
        """The design (n, d), NaN in rows that lack a value."""
        whole, parts = self.parts(table)
        _, columns = assembled(*parts)
        out = np.full((len(table), len(columns)), np.nan)
        out[whole] = np.array(columns).T
        return out

    def offset(self, table):
        """The sum of the formula's offsets (n,)."""
        found = np.zeros(len(table))
        for one in self.offsets:
            found += [np.nan if v is None else v[0] for v in evaluated(one, table[one[1]])]
        return found

    def numeric_parts(self, table):
        """For each column the product of its numbers, (n,), or None: of levels, and of numbers that
        are all 0 or 1.
        """
        _, columns = columns_of_terms(*self.parts(table)[1])
        out = []
        for column in columns:
            numbers = [np.array(v) for one, _, v in column if self.levels[one] is None]
            numbers = [one for one in numbers if not np.isin(one, (0, 1)).all()]
            out.append(np.prod(numbers, axis=0) if numbers else None)
        return out


def remembered(factor, x):
    """What a function of a column keeps of the rows of the fit."""
    if factor[0] == "center":
        return x.mean()
    if factor[0] == "ortho":  # x^k less its projection on lower powers, as R's poly
        R = qr(powers(x - x.mean(), factor[2]), mode="r")
        return x.mean(), R * np.sign(np.diag(R))[:, None]
    if factor[0] == "mo":  # the levels, in their order
        return np.unique(x)
    inner = np.quantile(x, np.linspace(0, 1, factor[2] - 1)[1:-1])  # cubic, without a constant
    return np.concatenate([[x.min()] * 4, inner, [x.max()] * 4])


def recalled(factor, memory, x):
    """Values of the function at a number."""
    if factor[0] == "center":
        return np.array([x - memory])
    if factor[0] == "ortho":
        mean, R = memory
        return solve(R.T, powers(np.array([x - mean]), factor[2])[0])[1:]
    if factor[0] == "mo":  # each step that the level is at or above
        return (x >= memory[1:]).astype(float)
    return splines(memory, 3, x)[1:]


def powers(x, degree):
    """1, x, x^2, ..."""
    return x[:, None] ** np.arange(degree + 1)


def splines(knots, degree, x):
    """All B-splines at a number, by Cox and de Boor's recursion; the last piece has its end."""
    last = max(k for k in range(len(knots) - 1) if knots[k] < knots[k + 1])
    basis = np.array(
        [
            float(knots[k] <= x < knots[k + 1] or (k == last and x == knots[k + 1]))
            for k in range(len(knots) - 1)
        ]
    )
    for p in range(1, degree + 1):
        left, right = knots[p:-1] - knots[: -p - 1], knots[p + 1 :] - knots[1:-p]
        rising = np.divide(x - knots[: -p - 1], left, where=left > 0, out=np.zeros(len(left)))
        falling = np.divide(knots[p + 1 :] - x, right, where=right > 0, out=np.zeros(len(right)))
        basis = rising * basis[:-1] + falling * basis[1:]
    return basis
