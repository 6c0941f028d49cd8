"""Priors as the user writes them, and their resolution to one prior a column.

The meaning is rstanarm's: with ``autoscale=True`` the scale is divided by the sd of the predictor; the model's default is
``normal(0, 2.5, autoscale=True)`` for slopes and ``normal(0, 2.5)`` for the intercept at centred predictors.
"""
import difflib
import math
import numbers
from dataclasses import dataclass, replace

import numpy as np

from sgmc.errors import ArgumentError

INTERCEPT = "Intercept"


@dataclass(frozen=True)
class PriorSpec:
    """One prior family with its location and scale; made by `normal`, `student_t`, `laplace`, `cauchy`, `horseshoe`, `flat` and, for
    positive parameters, `gamma` and `exponential`."""

    family: str
    location: float = 0.0
    scale: float = 2.5
    df: float = 1.0
    autoscale: bool = False
    slab: float = math.inf
    nonzero: float | None = None

    def __post_init__(self):
        called = self.called
        for name in ("location", "scale", "df", "slab", *(() if self.nonzero is None else ("nonzero",))):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise ArgumentError(f"{called}: {name}={value!r} must be a number")
        if not np.isfinite(self.location):
            raise ArgumentError(f"{called}: location={self.location!r} must be finite")
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise ArgumentError(f"{called}: scale={self.scale!r} must be positive; use flat() for no prior")
        for name in ("slab", "nonzero"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise ArgumentError(f"{called}: {name}={getattr(self, name)!r} must be positive")
        if not self.df > 0:
            raise ArgumentError(f"{called}: {'shape' if self.positive else 'df'}={self.df!r} must be positive")

    @property
    def called(self):
        """The name of the function that makes it."""
        return {("student_t", 1): "cauchy", ("gamma", 1): "exponential"}.get((self.family, self.df), self.family)

    @property
    def positive(self):
        """Whether it is a density of positive numbers only."""
        return self.family == "gamma"

    @property
    def shape(self):
        """What `core.densities.Separable` wants besides location and scale."""
        return self.slab / self.scale if self.family == "horseshoe" else self.df

    def __str__(self):
        if self.family == "flat":
            return "flat"
        star = "*" if self.autoscale else ""
        scale = f"{self.scale:.4g}{star}"
        if self.family == "horseshoe":
            return f"horseshoe({scale if self.nonzero is None else f'nonzero={self.nonzero:.4g}'}, slab={self.slab:.4g}{star})"
        shape = {"exponential": "", "gamma": f"{self.df:.4g}, ", "student_t": f"{self.df:.4g}, {self.location:.4g}, "}
        return f"{self.called}({shape.get(self.called, f'{self.location:.4g}, ')}{scale})"


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


def horseshoe(nonzero=5, scale=None, slab=2.5, autoscale=True):
    """Horseshoe prior with a slab, for many slopes of which few matter (Carvalho, Polson & Scott 2010).

    b ~ N(0, (scale * local)^2), local ~ half-Cauchy(0, 1), times a normal density with mean 0 and sd `slab`, which bounds what
    is not shrunk (Piironen & Vehtari 2017, section 2.3).  With the local scale integrated out the density is proportional to
    exp(z) E1(z) exp(-b^2 / (2 slab^2)), z = b^2 / (2 scale^2): a pole at 0, and tails as heavy as the slab's.

    Parameters
    ----------
    nonzero : float
        How many of the D slopes with this prior are expected to matter, where no scale is given: the scale then is
        nonzero / (D - nonzero) (at most 1) times the sd with which the data would tell a slope if it were the only one:
        sigma / (sd(x) sqrt(N)) of a linear regression (section 3.3).
    scale : float, optional
        The global scale.  It is given, or follows from `nonzero`; it is not learned from the data.
    slab : float
        ``math.inf`` for none.
    autoscale : bool
        Whether `slab` (and `scale`, if given) are divided by the sd of the predictor.
    """
    if scale is not None:
        return PriorSpec("horseshoe", 0.0, scale, autoscale=autoscale, slab=slab)
    return PriorSpec("horseshoe", 0.0, 1.0, autoscale=autoscale, slab=slab, nonzero=nonzero)


def flat():
    """No prior: a constant density, proper only if the likelihood is."""
    return PriorSpec("flat", 0.0, 1.0)


def exponential(scale=1.0, autoscale=False):
    """Exponential prior of a positive parameter, with mean `scale`."""
    return PriorSpec("gamma", 0.0, scale, 1.0, autoscale)


def gamma(shape, scale=1.0, autoscale=False):
    """Gamma prior of a positive parameter, with mean ``shape * scale``."""
    return PriorSpec("gamma", 0.0, scale, shape, autoscale)


SLOPE, CENTRED_INTERCEPT = normal(0, 2.5, autoscale=True), normal(0, 2.5)
BY_NAME = {"flat": flat(), "normal": SLOPE, "laplace": laplace(0, 2.5, autoscale=True),
           "cauchy": cauchy(0, 2.5, autoscale=True), "horseshoe": horseshoe()}


@dataclass(frozen=True)
class Scales:
    """What autoscaled priors are scaled by.

    Attributes
    ----------
    columns : array (d,)
        Standard deviations of the predictors.
    location, unit : float
        Of the outcomes where they are in the units of the linear predictor, else 0 and 1.
    own : list of float
        Units of the family's own parameters.
    """

    columns: np.ndarray
    location: float = 0.0
    unit: float = 1.0
    own: tuple = ()


@dataclass(frozen=True)
class PriorTable:
    """One prior a parameter, scales resolved: those of the coefficients, equation by equation, then the family's own.

    Attributes
    ----------
    names : list of str
    specified, used : list of PriorSpec
        As written, and with scales in the predictor's units.
    intercepts : list of int
        Places of the intercepts.
    centred : bool
        Whether the intercepts' priors speak of the intercept at centred predictors.
    own : int
        Number of own parameters; their priors are densities of the parameters, whose logs are sampled.
    unit : str
        What autoscaled priors are scaled by, as printed.
    """

    names: list
    specified: list
    used: list
    intercepts: list
    centred: bool
    own: int = 0
    unit: str = "sd(x)"

    @property
    def gaussian(self):
        """Whether every prior is normal or flat."""
        return all(p.family in ("normal", "flat") for p in self.used)

    @property
    def shrunk(self):
        """Places of the horseshoes, an array."""
        return np.flatnonzero([p.family == "horseshoe" for p in self.used])

    def guessed(self, sds):
        """The table with scales for `horseshoe(nonzero=...)`; `sds` are those with which the data tell single coefficients."""
        used = list(self.used)
        for j, p in enumerate(self.specified):
            if p.nonzero is not None:
                alike = self.specified.count(p)
                few = min(p.nonzero, 0.5 * alike)
                used[j] = replace(used[j], scale=few / (alike - few) * sds[j], nonzero=None)
        return replace(self, used=used)

    @property
    def logged(self):
        """Whether the log of a parameter is sampled, an array (parameter,)."""
        return np.arange(len(self.names)) >= len(self.names) - self.own

    def columns(self, attribute):
        """One attribute of all used priors, as a list."""
        return [getattr(p, attribute) for p in self.used]


def resolve(prior, data, family, scales):
    """One prior a parameter from what the user wrote.

    Parameters
    ----------
    prior : None, str, PriorSpec or dict
        A single prior is for the slopes; ``"flat"`` (and ``flat()``) is for all parameters.  Keys of a dict are terms, columns,
        ``"Intercept"``, own parameters, or ``"*"`` for all other slopes.
    data : RegressionData
    family : Family
    scales : Scales

    Raises
    ------
    ArgumentError
        For an unknown key or a prior that is none.
    """
    d, intercept = data.d, data.intercept
    names = data.parameter_names(family)
    places = {**{name: range(j, len(names) - len(family.own), d) for j, name in enumerate(data.names)},
              **{term: [k for j in range(*columns.indices(d)) for k in range(j, len(names) - len(family.own), d)]
                 for term, columns in data.terms.items() if term not in data.names},
              **{name: [j] for j, name in enumerate(names)}}
    intercepts = [] if intercept is None else list(places[data.names[intercept]])
    centred_intercept = normal(scales.location, 2.5, autoscale=True) if family.identity else CENTRED_INTERCEPT
    slopes = len(names) - len(family.own)
    specified = [centred_intercept if j in intercepts else SLOPE for j in range(slopes)] + [o.prior for o in family.own]
    centred = True
    if isinstance(prior, dict):
        if "*" in prior:
            every = as_spec(prior["*"], "prior['*']")
            specified = [every if j < slopes and j not in intercepts else p for j, p in enumerate(specified)]
        for key, value in prior.items():
            for j in [] if key == "*" else known_places(key, places, data):
                specified[j] = as_spec(value, f"prior[{key!r}]")
                centred = centred and j not in intercepts
    elif prior is not None:
        one = as_spec(prior)
        specified = [one if one.family == "flat" or j < slopes and j not in intercepts else p for j, p in enumerate(specified)]
    for j, (name, one) in enumerate(zip(names, specified)):
        if one.family == "horseshoe" and not (j < slopes and j not in intercepts):
            raise ArgumentError(f"prior: {one} is for slopes, {name!r} is none; use e.g. sgmc.normal(0, 2.5)")
    for name, one in zip(names[:slopes], specified):
        if one.positive:
            raise ArgumentError(f"prior: {one} is for positive parameters, {name!r} is a coefficient; use e.g. sgmc.normal(0, 2.5)")
    for own, one in zip(family.own, specified[slopes:]):
        if own.proper and one.family == "flat":
            raise ArgumentError(f"prior: a flat one of {own.name!r} makes the posterior improper; use e.g. "
                                f"prior={{'*': 'flat', {own.name!r}: sgmc.{own.prior}}}")
    units = [scales.unit if j % d == intercept else scales.unit / (scales.columns[j % d] or scales.unit) for j in range(slopes)]
    used = [replace(p, scale=p.scale * unit, slab=p.slab * unit, autoscale=False) if p.autoscale else p
            for p, unit in zip(specified, [*units, *scales.own])]
    return PriorTable(names, specified, used, intercepts, centred, len(family.own), "sd(y) and sd(x)" if family.identity else "sd(x)")


def known_places(key, places, data):
    """Where the parameters of a key are; ArgumentError where there are none."""
    if key in places:
        return places[key]
    near = difflib.get_close_matches(str(key), places, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; columns are: {', '.join(data.names[:20])}"
    raise ArgumentError(f"prior: {key!r} is neither a term nor a column of the design{hint}")


def as_spec(prior, argument="prior"):
    """A PriorSpec from a name or object; `argument` is what the user calls it."""
    if isinstance(prior, PriorSpec):
        return prior
    if isinstance(prior, str) and prior in BY_NAME:
        return BY_NAME[prior]
    raise ArgumentError(f"{argument}={prior!r} is not a prior: use one of {', '.join(BY_NAME)}, or sgmc.normal(0, 2.5), "
                        "sgmc.student_t(df, 0, 2.5), sgmc.laplace(), sgmc.cauchy(), sgmc.horseshoe(), sgmc.flat()")
