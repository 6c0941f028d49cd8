"""Regression models of each kind with data that suit them,
and what a row of the bad-input table is.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.api import verbs
from sgmc.errors import DataError

N = 200
rng = np.random.default_rng(0)
X = np.column_stack([np.ones(N), rng.integers(-3, 4, N), np.round(rng.normal(size=N), 2)])
X.setflags(write=False)
ETA = X @ [0.2, 0.5, -0.7]
FOREIGN = Path(__file__)


def outcomes():
    """Kinds of outcomes: name -> values; a numeric family gets the first that it accepts."""
    random = np.random.default_rng(1)
    return {
        "numbers": np.round(ETA + random.normal(size=N), 3),
        "counts": random.poisson(np.exp(ETA / 2)).astype(float),
        "positive": np.exp(ETA / 2) * random.gamma(2, size=N),
        "shares": 1 / (1 + np.exp(-ETA - random.normal(size=N))),
    }


def accepted(family, values):
    """Whether a family accepts these outcomes."""
    try:
        family.check(values, "y")
    except DataError:
        return False
    return True


class Case:
    """A regression model, and data that suit it.

    Attributes
    ----------
    model : type
    y, X, frame : array (n,), array (n, 3), DataFrame
        `frame` has also a text column g and weights w.
    own : list of str
        Names of the family's own parameters.
    """

    def __init__(self, model):
        self.model, self.verb, self.X = model, getattr(verbs, model.family.name), X
        self.own = [one.name for one in model.family.own]
        binary = model.family.outcome == "binary"
        self.y = (
            (np.random.default_rng(0).random(N) < 1 / (1 + np.exp(-ETA))).astype(float)
            if binary
            else next(values for values in outcomes().values() if accepted(model.family, values))
        )
        self.y.setflags(write=False)
        self.frame = pd.DataFrame(
            {
                "y": self.y,
                "x1": X[:, 1],
                "x2": X[:, 2],
                "g": np.where(X[:, 1] > 0, "a", "b"),
                "w": 1.0,
            }
        )

    def __repr__(self):
        return self.model.family.name

    @property
    def d(self):
        """Parameters of the formula and of a fit of X."""
        return 3 + len(self.own)

    def fit(self, **arguments):
        """The formula fitted with these arguments."""
        return self.verb("y ~ x1 + x2", self.frame, **arguments)

    def formula(self, text, **columns):
        """A formula fitted to the frame with these columns changed."""
        return self.verb(text, self.frame.assign(**columns), seed=1)

    def arrays(self, *arrays, **keywords):
        """A model of arrays, fitted."""
        return self.model(*arrays, **keywords).fit(seed=1)

    @cached_property
    def results(self):
        """A fit by formula."""
        return self.verb("y ~ x1 + x2 + g", self.frame, seed=1)

    @cached_property
    def of_arrays(self):
        """A fit of a frame without a formula."""
        return self.model(self.y, pd.DataFrame(X, columns=["one", "a", "b"])).fit(seed=1)


# what is checked depends on outcomes and on counts alone
CASES = [Case(model) for model in (sgmc.Logit, sgmc.OLS, sgmc.Poisson)]
BINARY = [case for case in CASES if case.model.family.outcome == "binary"]
REAL = [case for case in CASES if case.model.family.identity]
# what is read depends on no more than this
KINDS = list({case.model.family.outcome: case for case in reversed(CASES)}.values())
of_every_kind = pytest.mark.parametrize("case", KINDS, ids=repr)


@dataclass(frozen=True)
class Entry:
    """One row of the table: a call on a Case, the class of the error or warning,
    and the telling part of its text.

    The text may be a function of the Case.
    """

    label: str
    call: object
    expected: type
    text: object

    def telling(self, case):
        """The text, for that case."""
        return self.text(case) if callable(self.text) else self.text


def shown(arguments):
    """Keyword arguments as text, short."""
    short = {
        name: "a function" if callable(value) else " ".join(repr(value).split())[:50]
        for name, value in arguments.items()
    }
    return ", ".join(f"{name}={value}" for name, value in short.items())


def changed(array, value, at=3):
    """A copy with one entry replaced."""
    out = np.array(array, dtype=object if isinstance(value, str) else float)
    out.flat[at] = value
    return out


def series(values, start=1):
    """A Series whose index is not that of the frame."""
    return pd.Series(values, range(start, start + len(values)))


def damaged(**parts):
    """A CSR array whose parts were changed behind scipy's back."""
    table = sparse.csr_array(X)
    for name, values in parts.items():
        setattr(table, name, np.asarray(values(getattr(table, name).copy())))
    return table


def put(array, at, value):
    """The array, changed at one place."""
    array[at] = value
    return array
