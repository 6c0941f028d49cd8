"""What a task of the scoreboard is: a table, a model with its priors, and the numbers reported.

A contestant gets a `Problem`, from which it takes the formula and the table, or arrays.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import terms

# families with parameters beside the coefficients, as they are named in answers
EXTRA = {"ols": ["sigma"], "studentt": ["sigma", "df"], "negbin": ["alpha"]}


@dataclass(frozen=True)
class Problem:
    """One regression, or one density of its own.

    Parameters
    ----------
    name, title : str
        A file's name, and a line for readers.
    kind : str
        "regression", "factor-rich", "grouped", "smooth", "structured" or "density".
    family : str
        logit, poisson, ols, studentt, negbin; of densities: schools, curve.
    frame : DataFrame
        The table; the outcome is ``y``.
    numbers, factors : list of str
        Columns with slopes, and categorical ones (treatment coding, first level left out).
    groups : list of (str, list of str)
        Grouping columns with the columns whose slopes vary beside the intercept.
    terms : list of `terms.Term`
        Smooths and structured effects.  The straight line of a smooth is one of the numbers.
    exposure : str, optional
        Column of exposures: the log rate has offset log(exposure).
    prior : dict
        Scales: "coef", of normal priors of all coefficients, the intercept included; half-normal
        ones of "sigma", "sd" (of groups and terms) and "alpha".  A df learned has gamma(2, rate
        0.1), a correlation is uniform.
    """

    name: str
    title: str
    kind: str
    family: str
    frame: object
    numbers: list = field(default_factory=list)
    factors: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    terms: list = field(default_factory=list)
    exposure: str | None = None
    prior: dict = field(default_factory=dict)

    @property
    def formula(self):
        """In R's words, group terms and others included; a term's graph is called ``graph``."""
        terms = [*self.factors, *self.numbers]
        bars = [f"({' + '.join(['1', *slopes])} | {g})" for g, slopes in self.groups]
        return "y ~ " + " + ".join(terms + bars + [term.call for term in self.terms])

    @cached_property
    def X(self):
        """A column of ones and the numbers."""
        return np.column_stack([np.ones(len(self.frame)), self.frame[self.numbers]]).astype(float)

    @cached_property
    def y(self):
        """The outcome as float64."""
        return self.frame["y"].to_numpy(float)

    @cached_property
    def offset(self):
        """The log of the exposure, or 0."""
        return np.log(self.frame[self.exposure].to_numpy(float)) if self.exposure else 0.0

    def codes(self, column):
        """(level of each row, number of levels) of a factor or grouping column."""
        levels = self.frame[column].astype("category").cat
        return levels.codes.to_numpy(np.int32), len(levels.categories)

    def levels(self, column):
        """The levels of a factor."""
        return list(self.frame[column].astype("category").cat.categories)

    @property
    def coefficients(self):
        """Names of the intercept, the factors' levels and the slopes."""
        dummies = [f"{f}[T.{level}]" for f in self.factors for level in self.levels(f)[1:]]
        return ["Intercept", *dummies, *self.numbers]

    @property
    def names(self):
        """Names of everything that is scored."""
        if self.family == "schools":
            return ["mu", "tau", *(f"theta[{j}]" for j in range(8))]
        if self.family == "curve":
            return ["a", "b", "c", "sigma"]
        spread = []
        for g, slopes in self.groups:
            spread += [f"sd({one}|{g})" for one in ["1", *slopes]]
            spread += [f"cor(1,{one}|{g})" for one in slopes]
        spread += [f"sd({term.label})" for term in self.terms]
        values = [name for term in self.terms for name in term.names]
        return [*self.coefficients, *spread, *EXTRA.get(self.family, []), *values]

    @cached_property
    def bases(self):
        """Of each term, the `terms.Columns` that its effects have, of unit variance for sd 1."""
        return [terms.columns(term, self.frame[term.column]) for term in self.terms]

    @cached_property
    def values(self):
        """A matrix (values, coefficients and effects of all terms): what the terms are at their
        places, straight lines included.
        """
        width = len(self.coefficients)
        made = np.zeros((0, width + sum(one.Z.shape[1] for one in self.bases)))
        for term, one in zip(self.terms, self.bases):
            rows = np.zeros((len(term.at), made.shape[1]))
            rows[:, width : width + one.Z.shape[1]] = one.at
            if term.column in self.numbers:
                centre = self.frame[term.column].mean()
                rows[:, self.coefficients.index(term.column)] = np.array(term.at) - centre
            made, width = np.concatenate([made, rows]), width + one.Z.shape[1]
        return made


@dataclass(frozen=True)
class Answer:
    """Posterior means and sds by name; what a contestant does not report is left out."""

    names: list
    mean: np.ndarray
    sd: np.ndarray
    draws: int = 0
    note: str = ""


def answer_of_draws(problem, columns, note=""):
    """The answer of a dict from names to draws."""
    names = problem.names
    draws = [np.ravel(columns[name]) for name in names]
    mean, sd = (np.array([f(one) for one in draws]) for f in (np.mean, np.std))
    return Answer(names, mean, sd, len(draws[0]), note)
