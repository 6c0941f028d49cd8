"""One prior a parameter, from what the user wrote:
defaults, terms and columns, scales of the data.
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.choices import nearest
from sgmc.errors import ArgumentError, NotSupported
from sgmc.priors import CENTRED_INTERCEPT, SLOPE, as_spec, normal


@dataclass(frozen=True)
class Scales:
    """What autoscaled priors are scaled by.

    Attributes
    ----------
    columns : array (d,)
        Standard deviations of the predictors.
    location, unit : float
        Of the outcomes where they are in the units of the linear predictor, else 0 and 1.
    auxiliary : list of float
        Units of the family's auxiliary parameters.
    """

    columns: np.ndarray
    location: float = 0.0
    unit: float = 1.0
    auxiliary: tuple = ()


@dataclass(frozen=True)
class PriorTable:
    """One prior a parameter, scales resolved:
    those of the coefficients, equation by equation, then the family's auxiliary ones.

    Attributes
    ----------
    names : list of str
    specified, used : list of PriorSpec
        As written, and with scales in the predictor's units.
    intercepts : list of int
        Places of the intercepts.
    centred : bool
        Whether the intercepts' priors speak of the intercept at centred predictors.
    auxiliary : int
        Number of auxiliary parameters; their priors are densities of the parameters, whose logs are
        sampled.
    unit : str
        What autoscaled priors are scaled by, as printed.
    report : Thresholds or None
        What is printed in the place of these parameters, where it differs.
    own : array (k, d) of bool, or None
        Coefficients of each intercept's linear predictor, where these are not all of its equation.
    """

    names: list
    specified: list
    used: list
    intercepts: list
    centred: bool
    auxiliary: int = 0
    unit: str = "sd(x)"
    report: object = None
    own: np.ndarray | None = None

    @property
    def gaussian(self):
        """Whether every prior is normal or flat."""
        return all(p.family in ("normal", "flat") for p in self.used)

    def shifts(self, shift):
        """A shift (d,) of columns as it belongs to the intercepts: itself, or a row for each."""
        return shift if self.own is None else np.where(self.own, shift, 0.0)

    @property
    def printed(self):
        """Names of what is printed."""
        return self.names if self.report is None else self.report.names

    @property
    def shrunk(self):
        """Places of the horseshoes, an array."""
        return np.flatnonzero([p.family == "horseshoe" for p in self.used])

    def guessed(self, sds):
        """The table with scales for `horseshoe(nonzero=...)`; `sds` are those with which the data
        tell single coefficients.
        """
        used = list(self.used)
        for j, p in enumerate(self.specified):
            if p.nonzero is not None:
                alike = self.specified.count(p)
                few = min(p.nonzero, 0.5 * alike)
                used[j] = replace(used[j], scale=few / (alike - few) * sds[j], nonzero=None)
        return replace(self, used=used)

    def described(self):
        """All of them in a line: the distinct ones of the slopes,
        the intercept's and auxiliary parameters'.
        """
        coefficients = len(self.names) - self.auxiliary
        slopes = dict.fromkeys(
            str(p) for j, p in enumerate(self.specified[:coefficients]) if j not in self.intercepts
        )
        text = (
            "Prior (slopes): "
            + (", ".join(list(slopes)[:3]) or "none")
            + (", ..." if len(slopes) > 3 else "")
        )
        if self.intercepts:
            text += (
                f"; intercept: {self.specified[self.intercepts[0]]}"
                f"{' at centred predictors' if self.centred else ''}"
            )
        for name, one in zip(self.names[coefficients:], self.specified[coefficients:]):
            text += f"; {name}: {one}"
        return (
            text
            + (f". [*] in units of {self.unit}" if any(p.autoscale for p in self.specified) else "")
            + "."
        )

    @property
    def logged(self):
        """Whether the log of a parameter is sampled, an array (parameter,)."""
        return np.arange(len(self.names)) >= len(self.names) - self.auxiliary

    def columns(self, attribute):
        """One attribute of all used priors, as a list."""
        return [getattr(p, attribute) for p in self.used]


def resolve(prior, data, family, scales, learned=False):
    """One prior a parameter from what the user wrote.

    Parameters
    ----------
    prior : None, str, PriorSpec or dict
        A single prior is for the slopes; ``"flat"`` (and ``flat()``) is for all parameters.  Keys
        of a dict are terms, columns, ``"Intercept"``, auxiliary parameters, ``"*"`` for all other
        slopes.
    data : RegressionData
    family : Family
    scales : Scales
    learned : bool
        Whether scales of priors may be parameters.

    Raises
    ------
    NotSupported
        For a scale to be learned, where that is not there.
    ArgumentError
        For an unknown key, a prior that is none, or one that does not suit its parameter.
    """
    d, names = data.d, data.parameter_names(family)
    coefficients = len(names) - len(family.auxiliary)
    intercepts = [j for one in data.intercepts for j in range(one, coefficients, d)]
    slopes = [j for j in range(coefficients) if j not in intercepts]
    specified = [SLOPE] * coefficients + [one.prior for one in family.auxiliary]
    for j in intercepts:
        specified[j] = (
            normal(scales.location, 2.5, autoscale=True) if family.identity else CENTRED_INTERCEPT
        )
    named = set()
    for where, one in wishes(prior, slopes, data, family):
        named.update(where if isinstance(prior, dict) else ())
        for j in where:
            specified[j] = one
    check(specified, names, slopes, family)
    if not learned:
        refuse_learned(specified)
    units = [
        scales.unit if j in intercepts else scales.unit / (scales.columns[j % d] or scales.unit)
        for j in range(coefficients)
    ]
    used = [
        replace(p, scale=p.scale * unit, slab=p.slab * unit, autoscale=False) if p.autoscale else p
        for p, unit in zip(specified, [*units, *scales.auxiliary])
    ]
    return PriorTable(
        names,
        specified,
        used,
        intercepts,
        named.isdisjoint(intercepts),
        len(family.auxiliary),
        "sd(y) and sd(x)" if family.identity else "sd(x)",
        family.report,
        own_columns(data),
    )


def own_columns(data):
    """See `PriorTable.own`."""
    if not data.parts or not data.intercepts:
        return None
    columns = np.arange(data.d)
    of = [next(one for one in data.parts if one.start <= j < one.stop) for j in data.intercepts]
    return np.array([(one.start <= columns) & (columns < one.stop) for one in of])


def places_of(data, family):
    """Where the parameters of a key are: those of a term or column in all equations,
    of a name, one.
    """
    d, names = data.d, data.parameter_names(family)
    coefficients = len(names) - len(family.auxiliary)
    columns = {name: [j] for j, name in enumerate(data.names)}
    terms = {term: range(*columns.indices(d)) for term, columns in data.terms.items()}
    everywhere = {
        key: [j for one in where for j in range(one, coefficients, d)]
        for key, where in (terms | columns).items()
    }
    return everywhere | {name: [j] for j, name in enumerate(names)}


def wishes(prior, slopes, data, family):
    """Pairs (places, PriorSpec) of what the user wrote, in the order in which they hold."""
    if prior is None:
        return []
    if not isinstance(prior, dict):
        one = as_spec(prior)
        return [(range(len(data.parameter_names(family))) if one.family == "flat" else slopes, one)]
    places = places_of(data, family)
    every = [(slopes, as_spec(prior["*"], "prior['*']"))] if "*" in prior else []
    return every + [
        (known_places(key, places, data), as_spec(value, f"prior[{key!r}]"))
        for key, value in prior.items()
        if key != "*"
    ]


def check(specified, names, slopes, family):
    """Refuse priors that do not suit their parameters."""
    coefficients = len(names) - len(family.auxiliary)
    for j, (name, one) in enumerate(zip(names, specified)):
        if (one.family == "horseshoe" or one.learned) and j not in slopes:
            raise ArgumentError(
                f"prior: {one} is for slopes, {name!r} is none; use e.g. sgmc.normal(0, 2.5)"
            )
        if one.family == "dirichlet":
            raise ArgumentError(
                f"prior: {one} is for parameters on a simplex, {name!r} is not; use e.g. "
                "sgmc.normal(0, 2.5)"
            )
        if one.family == "lkj":
            raise ArgumentError(
                f"prior: {one} is for correlations of a group's effects, {name!r} is none; use "
                "e.g. sgmc.normal(0, 2.5)"
            )
        if one.positive and j < coefficients:
            raise ArgumentError(
                f"prior: {one} is for positive parameters, {name!r} is a coefficient; use e.g. "
                "sgmc.normal(0, 2.5)"
            )
    for one, prior in zip(family.auxiliary, specified[coefficients:]):
        if one.proper and prior.family == "flat":
            raise ArgumentError(
                f"prior: a flat one of {one.name!r} {'may make' if family.report else 'makes'} the "
                "posterior improper; use e.g. "
                f"prior={{'*': 'flat', {one.name!r}: sgmc.{one.prior}}}"
            )


def refuse_learned(specified):
    """NotSupported for a prior whose scale is to be learned."""
    one = next((one for one in specified if one.learned), None)
    if one is not None:
        raise NotSupported(
            f"prior: {one} has a scale that is learned, which does not go with group terms, nor "
            "with tuning; use a prior with a known scale, e.g. sgmc.normal(0, 2.5)"
        )


def known_places(key, places, data):
    """Where the parameters of a key are; ArgumentError where there are none."""
    if key in places:
        return places[key]
    hint = nearest(key, places) or nearest(key, data.names, "columns are")
    raise ArgumentError(f"prior: {key!r} is neither a term nor a column of the design{hint}")
