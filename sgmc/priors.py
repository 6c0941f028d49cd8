"""Priors as the user writes them, and their resolution to one prior a column.

The meaning is rstanarm's: with ``autoscale=True`` the scale is divided by the sd of the predictor; the model's default is
``normal(0, 2.5, autoscale=True)`` for slopes and ``normal(0, 2.5)`` for the intercept at centred predictors.
"""
import difflib
import numbers
from dataclasses import dataclass, replace

import numpy as np

from sgmc.errors import ArgumentError

INTERCEPT = "Intercept"


@dataclass(frozen=True)
class PriorSpec:
    """One prior family with its location and scale; made by `normal`, `student_t`, `laplace`, `cauchy` and `flat`."""

    family: str
    location: float = 0.0
    scale: float = 2.5
    df: float = 1.0
    autoscale: bool = False

    def __post_init__(self):
        called = "cauchy" if self.family == "student_t" and self.df == 1 else self.family
        for name in ("location", "scale", "df"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise ArgumentError(f"{called}: {name}={value!r} must be a number")
        if not np.isfinite(self.location):
            raise ArgumentError(f"{called}: location={self.location!r} must be finite")
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise ArgumentError(f"{called}: scale={self.scale!r} must be positive; use flat() for no prior")
        if not self.df > 0:
            raise ArgumentError(f"{called}: df={self.df!r} must be positive")

    def __str__(self):
        if self.family == "flat":
            return "flat"
        inner = f"{self.location:.4g}, {self.scale:.4g}{'*' if self.autoscale else ''}"
        if self.family == "student_t":
            return f"cauchy({inner})" if self.df == 1 else f"student_t({self.df:.4g}, {inner})"
        return f"{self.family}({inner})"


def normal(location=0.0, scale=2.5, autoscale=False):
    """Normal prior with mean `location` and standard deviation `scale`."""
    return PriorSpec("normal", location, scale, autoscale=autoscale)


def student_t(df, location=0.0, scale=2.5, autoscale=False):
    """Student t prior with `df` degrees of freedom."""
    return PriorSpec("student_t", location, scale, df, autoscale)


def cauchy(location=0.0, scale=2.5, autoscale=False):
    """Cauchy prior: Student t with one degree of freedom."""
    return PriorSpec("student_t", location, scale, 1.0, autoscale)


def laplace(location=0.0, scale=2.5, autoscale=False):
    """Laplace (double exponential) prior with density exp(-|b - location| / scale) / (2 scale)."""
    return PriorSpec("laplace", location, scale, autoscale=autoscale)


def flat():
    """No prior: a constant density, proper only if the likelihood is."""
    return PriorSpec("flat", 0.0, 1.0)


SLOPE, CENTRED_INTERCEPT = normal(0, 2.5, autoscale=True), normal(0, 2.5)
BY_NAME = {"flat": flat(), "normal": SLOPE, "laplace": laplace(0, 2.5, autoscale=True),
           "cauchy": cauchy(0, 2.5, autoscale=True)}


@dataclass(frozen=True)
class PriorTable:
    """One prior a column, scales resolved.

    Attributes
    ----------
    names : list of str
    specified, used : list of PriorSpec
        As written, and with scales in the predictor's units.
    intercept : int or None
        Column of the intercept.
    centred : bool
        Whether the intercept's prior speaks of the intercept at centred predictors.
    """

    names: list
    specified: list
    used: list
    intercept: int | None
    centred: bool

    @property
    def gaussian(self):
        """Whether every prior is normal or flat."""
        return all(p.family in ("normal", "flat") for p in self.used)

    def columns(self, attribute):
        """One attribute of all used priors, as a list."""
        return [getattr(p, attribute) for p in self.used]


def resolve(prior, names, terms, sd, intercept):
    """One prior a column from what the user wrote.

    Parameters
    ----------
    prior : None, str, PriorSpec or dict
        A single prior is for the slopes; ``"flat"`` (and ``flat()``) is for the intercept too.  Keys of a dict are terms,
        columns, ``"Intercept"`` or ``"*"`` for all others.
    names : list of str
    terms : dict
        Term name -> slice of columns.
    sd : array (d,)
        Standard deviations of the predictors, for autoscaling.
    intercept : int or None

    Raises
    ------
    ArgumentError
        For an unknown key or a prior that is none.
    """
    specified = [SLOPE] * len(names)
    centred = True
    if intercept is not None:
        specified[intercept] = CENTRED_INTERCEPT
    if isinstance(prior, dict):
        specified, centred = by_key(prior, names, terms, specified, intercept)
    elif prior is not None:
        one = as_spec(prior)
        specified = [one if j != intercept or one.family == "flat" else p for j, p in enumerate(specified)]
    used = [replace(p, scale=p.scale / sd[j], autoscale=False) if p.autoscale and j != intercept and sd[j] > 0
            else replace(p, autoscale=False) for j, p in enumerate(specified)]
    return PriorTable(list(names), specified, used, intercept, centred)


def by_key(prior, names, terms, specified, intercept):
    """Priors of a dict laid over the defaults; the intercept named is the intercept as the formula has it."""
    specified, centred = list(specified), True
    if "*" in prior:
        specified = [p if j == intercept else as_spec(prior["*"], "prior['*']") for j, p in enumerate(specified)]
    for key, value in prior.items():
        if key == "*":
            continue
        if key in names:
            columns = [names.index(key)]
        elif key in terms:
            columns = range(*terms[key].indices(len(names)))
        else:
            near = difflib.get_close_matches(str(key), [*names, *terms], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; columns are: {', '.join(names[:20])}"
            raise ArgumentError(f"prior: {key!r} is neither a term nor a column of the design{hint}")
        for j in columns:
            specified[j] = as_spec(value, f"prior[{key!r}]")
            centred = centred and j != intercept
    return specified, centred


def as_spec(prior, argument="prior"):
    """A PriorSpec from a name or object; `argument` is what the user calls it."""
    if isinstance(prior, PriorSpec):
        return prior
    if isinstance(prior, str) and prior in BY_NAME:
        return BY_NAME[prior]
    raise ArgumentError(f"{argument}={prior!r} is not a prior: use one of {', '.join(BY_NAME)}, or sgmc.normal(0, 2.5), "
                        "sgmc.student_t(df, 0, 2.5), sgmc.laplace(), sgmc.cauchy(), sgmc.flat()")
