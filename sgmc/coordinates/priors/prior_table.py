"""One prior a parameter, from what the user wrote:
defaults, terms and columns, scales of the data.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from sgmc.arguments.choices import nearest
from sgmc.arguments.spelling import spelled
from sgmc.coordinates.priors.densities import FAMILIES, Correlated, Increments, Separable
from sgmc.coordinates.priors.prior_checks import (
    check,
    check_ends,
    check_together,
    refuse_bounded,
    refuse_joint,
    refuse_learned,
)
from sgmc.errors import ArgumentError
from sgmc.priors import CENTRED_INTERCEPT, SLOPE, PriorSpec, as_spec, normal
from sgmc.priors.increments import as_increment, suits_sum
from sgmc.priors.joint import JointNormal

MOST_LISTED = 3  # names and priors in the line of priors
SCALED_BY = {
    "sd(x)": "per sd of a number; of factor levels and 0/1 columns per difference",
    "sd(y) and sd(x)": "times sd(y); slopes per sd of a number, of factor levels and 0/1 columns "
    "per difference",
    "sd(y), of the mean, and sd(x)": "times sd(y) in the predictor of the mean; slopes per sd of a "
    "number, of factor levels and 0/1 columns per difference",
}


@dataclass(frozen=True)
class Scales:
    """What autoscaled priors are scaled by.

    Attributes
    ----------
    columns : array (d,)
        Of the predictors: sds of numbers, and 1 for levels and columns of 0 and 1; positive.
    location, unit : float
        Of the outcomes where they are in the units of the linear predictor, else 0 and 1.
    auxiliary : list of float
        Units of the family's auxiliary parameters.
    second : float
        Location of the intercept of a second linear predictor, which has no unit.
    """

    columns: np.ndarray
    location: float = 0.0
    unit: float = 1.0
    auxiliary: tuple = ()
    second: float = 0.0


class Together(NamedTuple):
    """A normal prior of several parameters: their places, its centre and precision."""

    places: np.ndarray
    location: np.ndarray
    precision: np.ndarray

    def compiled(self, inner):
        """The compiled prior, on top of an inner one."""
        return Correlated(inner, *self)


class Monotone(NamedTuple):
    """Increments of a monotonic effect: their places, and the prior of their sum."""

    places: np.ndarray
    total: PriorSpec

    def compiled(self, inner):
        """The compiled prior, on top of an inner one."""
        one = self.total
        family = [FAMILIES[one.family]]
        return Increments(
            inner, self.places, Separable(family, [one.location], [one.scale], [one.shape])
        )


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
        sampled, but for those that `report` says are `signed`.
    unit : str
        What autoscaled priors are scaled by, a key of `SCALED_BY`.
    report : Thresholds or None
        What is printed in the place of these parameters, where it differs.
    own : array (k, d) of bool, or None
        Coefficients of each intercept's linear predictor, where these are not all of its equation.
    together : list of Together or Monotone
        Parameters with one prior of them all; `used` has its margins, or the prior of their sum.
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
    together: list = ()

    @property
    def shown(self):
        """The used priors as tables show them, of parameters as they are named."""
        return self.used

    @property
    def gaussian(self):
        """Whether every prior is normal or flat."""
        return all(p.family in ("normal", "flat") for p in self.used) and not self.bounded.any()

    def conjugate(self, d):
        """Whether the priors of the first d parameters, the coefficients, are normal or flat,
        whatever those of the others.
        """
        return all(one in ("normal", "flat") for one in self.families[:d])

    @property
    def apart(self):
        """Whether each parameter has a prior of its own, without ends."""
        return not (self.together or self.bounded.any())

    @property
    def bounded(self):
        """Which parameters have ends that coordinates must keep, an array: positive ones among
        those whose logs are sampled have none; increments have zero.
        """
        low, high = self.bounds()
        found = np.isfinite(low) | np.isfinite(high)
        found[self.increments] = True
        return found

    @property
    def monotone(self):
        """Each `Monotone`, a list."""
        return [one for one in self.together if isinstance(one, Monotone)]

    @property
    def increments(self):
        """Places of increments of monotonic effects, an array."""
        return np.concatenate([np.zeros(0, int), *(one.places for one in self.monotone)])

    def bounds(self):
        """Between which numbers each of what is sampled is: arrays, of logs where these are."""
        low, high = np.array([p.bounds for p in self.used], dtype=float).T
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.where(self.logged, np.log(np.maximum(low, 0.0)), low)
            return low, np.where(self.logged, np.log(high), high)

    @property
    def families(self):
        """The family of each parameter's own prior: flat where several have one together."""
        found = self.columns("family")
        for j in (j for one in self.together for j in one.places):
            found[j] = "flat"
        return found

    def shifts(self, shift):
        """A shift (d,) of columns as it belongs to the intercepts: itself, or a row for each."""
        return shift if self.own is None else np.where(self.own, shift, 0.0)

    @property
    def chosen(self):
        """Of which parameters the prior is not the default, an array of bool; of auxiliary ones it
        is not asked.
        """
        chosen = np.array([one != SLOPE for one in self.specified])
        chosen[self.intercepts] = not self.centred
        return chosen

    @property
    def defaults(self):
        """Places of coefficients that have a normal default prior, an array."""
        return np.flatnonzero(~self.chosen & (np.array(self.families) == "normal"))

    @property
    def judged(self):
        """Default priors that data may contradict, a dict by place."""
        return {int(j): self.used[j] for j in self.defaults}

    @property
    def printed(self):
        """Names of what is printed."""
        return self.names if self.report is None else self.report.names

    @property
    def slopes(self):
        """Places of all coefficients but the intercepts, a list."""
        coefficients = len(self.names) - self.auxiliary
        return [j for j in range(coefficients) if j not in self.intercepts]

    @property
    def shrunk(self):
        """Places of the horseshoes, an array."""
        return np.flatnonzero([p.family == "horseshoe" for p in self.used])

    @property
    def by_quantiles(self):
        """Places of parameters with ends of their own and of horseshoes, whose margins no Gaussian
        describes.
        """
        return np.setdiff1d(np.union1d(np.flatnonzero(self.bounded), self.shrunk), self.increments)

    @property
    def bent(self):
        """Places of all parameters that no Gaussian describes, an array."""
        return np.union1d(self.by_quantiles, self.increments)

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
        """All of them in a line: the slopes', the intercept's and auxiliary parameters'."""
        coefficients = len(self.names) - self.auxiliary
        text = self._described_slopes(range(coefficients))
        if self.intercepts:
            each = list(dict.fromkeys(str(self.specified[j]) for j in self.intercepts))
            text += (
                f"; intercept{'s' if len(each) > 1 else ''}: {' and '.join(each)}"
                f"{' at centred predictors' if self.centred else ''}"
            )
        for name, one in zip(self.names[coefficients:], self.specified[coefficients:]):
            text += f"; {name}: {one}"
        scaled = any(p.autoscale for p in self.specified)
        units = f" [*] {SCALED_BY[self.unit]}; prior_summary() has them in units of the data."
        return f"{text}.{units if scaled else ''}"

    def _described_slopes(self, coefficients):
        """The prior of all slopes; or names with their priors, and the one of all others."""
        named = {}
        for j in coefficients:
            if j not in self.intercepts:
                named.setdefault(str(self.specified[j]), []).append(self.names[j])
        if len(named) < 2:
            return f"Prior (slopes): {next(iter(named), 'none')}"
        usual = max(named, key=lambda prior: (prior == str(SLOPE), len(named[prior])))
        rest = usual == str(SLOPE) or len(named[usual]) > MOST_LISTED
        listed = [
            f"{', '.join(first_few(names))}: {prior}"
            for prior, names in named.items()
            if not rest or prior != usual
        ]
        others = [f"other slopes: {usual}"] if rest else []
        return "Priors: " + "; ".join([*first_few(listed), *others])

    @property
    def logged(self):
        """Whether the log of a parameter is sampled, an array (parameter,)."""
        places, size = np.arange(len(self.names)), len(self.names)
        return (places >= size - self.auxiliary) & (places < size - signed_of(self.report))

    def columns(self, attribute):
        """One attribute of all used priors, as a list."""
        return [getattr(p, attribute) for p in self.used]


def signed_of(report):
    """How many of the last parameters have either sign, and are no logs, though auxiliary ones."""
    return 0 if report is None else report.signed


def first_few(texts):
    """Some of them, and dots where there are more."""
    return texts if len(texts) <= MOST_LISTED else [*texts[:MOST_LISTED], "..."]


def density_of(priors, shift=None, bent=None, logged=None):
    """The compiled form of a table; `shift`, `bent` and which parameters are `logged`, by default
    the auxiliary ones, as in `Separable`, whose pivots are the intercepts.
    """
    alone = Separable(
        [FAMILIES[f] for f in priors.families],
        priors.columns("location"),
        priors.columns("scale"),
        priors.columns("shape"),
        priors.intercepts,
        shift,
        priors.logged if logged is None else logged,
        bent,
    )
    return reduce(lambda inner, one: one.compiled(inner), priors.together, alone)


def resolve(prior, data, family, scales, learned=False, bounded=False, joint=False):
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
    bounded, joint : bool
        Whether priors with ends, and of several parameters together, may be among them.

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
    second = np.resize(data.in_second, coefficients)
    usual = normal(scales.location, 2.5, autoscale=True) if family.identity else CENTRED_INTERCEPT
    for j in intercepts:
        specified[j] = normal(scales.second, 2.5) if second[j] else usual
    named, together = set(), []
    for where, one in wishes(prior, slopes, data, family):
        named.update(where if isinstance(prior, dict) else ())
        if isinstance(one, JointNormal):
            together.append(one_of_several(one, where, names, coefficients))
        give(one, where, specified)
    check(specified, names, slopes, family)
    check_together(together, specified, names)
    groups = [np.array(one) + j for one in data.increments for j in range(0, coefficients, d)]
    joint_places = [j for one in together for j in one.places]
    for where in groups:
        alike = [specified[j] for j in where]
        own = named_alone(prior, where, data, family) or where[0] in joint_places
        if not own and not suits_sum(alike[0]):
            alike = [SLOPE] * len(where)  # what is for all slopes may not be for sums of increments
        one = as_increment(alike, [names[j] for j in where])
        specified = [one if j in where else other for j, other in enumerate(specified)]
    positive = slice(coefficients, len(names) - signed_of(family.report))
    check_ends(names[positive], specified[positive])
    if not learned:
        refuse_learned(specified)
    of_part = np.where(second, 1.0, scales.unit)
    units = [
        of_part[j] if j in intercepts else of_part[j] / scales.columns[j % d]
        for j in range(coefficients)
    ]
    used = [
        replace(p, scale=p.scale * unit, slab=p.slab * unit, autoscale=False) if p.autoscale else p
        for p, unit in zip(specified, [*units, *scales.auxiliary])
    ]
    used[positive] = [replace(p, low=max(p.low, 0.0)) for p in used[positive]]
    for where in groups:  # columns of a product with a number differ in their units
        widest = max((used[j] for j in where), key=lambda one: one.scale)
        used = [widest if j in where else other for j, other in enumerate(used)]
        together.append(Monotone(where, widest.total))
    table = PriorTable(
        names,
        specified,
        used,
        intercepts,
        named.isdisjoint(intercepts),
        len(family.auxiliary),
        unit_of(family),
        family.report,
        own_columns(data),
        together,
    )
    if not bounded:
        refuse_bounded(table)
    if not joint:
        refuse_joint(table)
    return table


def unit_of(family):
    """What autoscaled priors are scaled by, a key of `SCALED_BY`."""
    if not family.identity:
        return "sd(x)"
    return "sd(y), of the mean, and sd(x)" if family.parts else "sd(y) and sd(x)"


def own_columns(data):
    """Return the columns of each intercept's own linear predictor, None for a single one."""
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
        one = spec_of(prior, "prior")
        if isinstance(one, JointNormal):
            return [(slopes, one)]
        return [(range(len(data.parameter_names(family))) if one.family == "flat" else slopes, one)]
    places = places_of(data, family)
    every = [(slopes, spec_of(prior["*"], "prior['*']"))] if "*" in prior else []
    return every + [
        (known_places(key, places, data), spec_of(value, f"prior[{key!r}]"))
        for key, value in prior.items()
        if key != "*"
    ]


def give(one, where, specified):
    """Write the prior of each parameter, or a margin of one of several, to its places."""
    each = one.margins if isinstance(one, JointNormal) else [one] * len(where)
    for j, own in zip(where, each):
        specified[j] = own


def spec_of(prior, argument):
    """A prior of each parameter, or of several."""
    return prior if isinstance(prior, JointNormal) else as_spec(prior, argument)


def named_alone(prior, where, data, family):
    """Whether the user wrote a prior for some of these places, and not for all slopes."""
    keys = [key for key in prior if key != "*"] if isinstance(prior, dict) else []
    places = places_of(data, family)
    return any(set(known_places(key, places, data)) & set(where) for key in keys)


def one_of_several(one, where, names, coefficients):
    """A `Together` for a normal prior of the parameters `where`."""
    if len(where) != len(one.location):
        raise ArgumentError(
            f"prior: {one} is given to {len(where)}: {', '.join(names[j] for j in where)}; its "
            "location and covariance must be of these, in this order"
        )
    logged = next((names[j] for j in where if j >= coefficients), None)
    if logged is not None:
        raise ArgumentError(f"prior: {one} is for coefficients, {logged!r} is none")
    return Together(np.array(where), np.array(one.location), one.precision)


def hint_of(key, places):
    """The end of a message about an unknown key that means a threshold, or a variable in a term."""
    steps = [one for one in places if isinstance(one, str) and one.startswith(("gap[", "step["))]
    if steps and ("|" in key or key.startswith(("gap", "step"))):
        kind = steps[0].partition("[")[0]
        return (
            f": priors of thresholds are that of 'Intercept', minus the first of them, and those "
            f"of the {kind}s from one to the next, {', '.join(map(repr, steps))}"
        )
    if key in ("b", "slope", "slopes", "coef", "beta") and not any(key in one for one in places):
        return ": a prior of all coefficients but the intercept has the key '*'"
    within = [one for one in places if isinstance(one, str) and one.endswith(f"({key})")]
    return f"; did you mean {within[0]!r}?" if within else ""


def known_places(key, places, data):
    """Where the parameters of a key are; ArgumentError where there are none."""
    if isinstance(key, tuple):
        return [j for one in key for j in known_places(one, places, data)]
    if key in places:
        return places[key]
    found = [list(places[one]) for one in spelled(str(key), places)]
    if found and found.count(found[0]) == len(found):
        return found[0]
    hint = hint_of(str(key), places) or nearest(key, places)
    hint = hint or nearest(key, data.names, "columns are")
    raise ArgumentError(f"prior: {key!r} is neither a term nor a column of the design{hint}")
