"""Names, priors and structure of a group's effects."""

from dataclasses import dataclass, field, replace

import numpy as np

from sgmc.arguments.choices import nearest
from sgmc.coordinates.priors.prior_table import PriorTable, resolve
from sgmc.errors import ArgumentError, FormulaError
from sgmc.models.mixed.loading import MOST, Loading
from sgmc.models.regression.prior_alone import PriorsAlone
from sgmc.priors import as_spec, half_t, laplace, learns, lkj

SD, COR = half_t(3, 2.5, autoscale=True), lkj(1)
ALL_SDS, ALL_CORS = "sd", "cor"  # keys of a prior for all of a kind
OF_GROUPS = "sd(", "cor(", "rho("  # what names of their parameters begin with
INTERCEPT = "Intercept"


def shown(column):
    """A column of a term as it is written in formulas."""
    return "1" if column == INTERCEPT else column


@dataclass(frozen=True)
class GroupEffects:
    """The effects that each group has.

    Attributes
    ----------
    factors : list of str
        Names of the grouping factors, of nested ones the outer first.
    columns : list of str
        One an effect, term by term, those of the outer factor first.
    loading : Loading
        Of all.
    outer, inner : Loading
        Of the effects of either factor; None of an inner one that is not there.
    sds, cors : list of str
        Names of the parameters.
    spectral : list
        `SpectralPrior` of parameters by which sds of a term's columns differ, behind these.
    """

    factors: list
    columns: list
    loading: Loading
    outer: Loading | None
    inner: Loading | None
    sds: list
    cors: list
    spectral: list = field(default_factory=list)

    @property
    def factor(self):
        """The outer factor."""
        return self.factors[0]

    @property
    def names(self):
        """Of all parameters of the effects."""
        return [*self.sds, *self.cors, *(one.name for one in self.spectral)]

    def spans(self):
        """Which effects are those of each factor, slices."""
        q = self.outer.q
        return [slice(0, q), slice(q, self.loading.q)][: len(self.factors)]

    def places(self):
        """The same, lists of int."""
        return [list(range(self.loading.q))[span] for span in self.spans()]


def outer_first(grouping):
    """The terms of a grouping, those of the outer factor first."""
    if grouping.sub is None:
        return list(grouping.terms)
    return sorted(grouping.terms, key=lambda term: term.factor != grouping.name)


def loading_of(terms, scale):
    """The `Loading` of some terms, or None without any."""
    return Loading(blocks_of(terms), scale) if terms else None


def blocks_of(terms):
    """How many effects each term has, and whether they are correlated."""
    return [(len(one.columns), bool(one.correlated)) for one in terms]


def effects_of(grouping, scale=None):
    """The `GroupEffects` of a grouping; ArgumentError for more than can be integrated out.

    `scale` is that of `Loading`.
    """
    terms = outer_first(grouping)
    columns, factors, sds = named(terms, f"of each level of {grouping.name}")
    nested = [] if grouping.sub is None else [one for one in terms if one.factor != grouping.name]
    outer = terms[: len(terms) - len(nested)]
    scale = np.zeros(len(columns)) if scale is None else scale
    within = sum(len(one.columns) for one in outer)
    loading = loading_of(terms, scale)
    return GroupEffects(
        list(dict.fromkeys(factors)),
        columns,
        loading,
        loading_of(outer, scale[:within]),
        loading_of(nested, scale[within:]),
        sds,
        named_correlations(loading, columns, factors),
    )


def named(terms, where):
    """Column and factor of each effect of some terms, and names of their standard deviations;
    ArgumentError for too many, FormulaError for one that stands twice.
    """
    columns = [term.part + shown(column) for term in terms for column in term.columns]
    factors = [term.factor for term in terms for _ in term.columns]
    if len(columns) > MOST:
        raise ArgumentError(
            f"{len(columns)} effects {where}: at most {MOST}; take slopes out of the group terms"
        )
    refuse_twice(columns, factors)
    return columns, factors, [f"sd({column}|{factor})" for column, factor in zip(columns, factors)]


def named_correlations(loading, columns, factors):
    """Names of the correlations of effects."""
    return [f"cor({columns[j]},{columns[i]}|{factors[i]})" for i, j in loading.correlations()]


def closed_form(family):
    """Whether effects are integrated out in closed form."""
    plain = family.linear_predictors == 1 and not family.limited
    return family.name == "ols" and plain


def refuse_twice(columns, factors):
    """FormulaError for an effect that several terms name: only the sum of their variances would be
    known.
    """
    found = [f"{column} | {factor}" for column, factor in zip(columns, factors)]
    twice = next((one for one in found if found.count(one) > 1), None)
    if twice is not None:
        raise FormulaError(
            f"({twice}) is in more than one group term, and only the sum of the variances "
            "can be known: leave it in one of them; a term has an intercept unless it is written "
            "(0 + x | g)"
        )


class MixedPriors(PriorTable):
    """Priors of coefficients, of the effects' sds and correlations, then of auxiliary parameters.

    Those of sds are densities of their absolute values; correlations have theirs as the inverse
    hyperbolic tangents of partial correlations, shares rho of 2 rho - 1; logs of length scales are
    among those of auxiliary parameters.
    """

    @property
    def covariance(self):
        """Places of sds, correlations and shares of effects, a list."""
        first = len(self.names) - self.auxiliary
        return [j for j in range(first) if self.names[j].startswith(OF_GROUPS)]

    @property
    def slopes(self):
        # those of the effects' law are among the parameters that are not auxiliary
        covariance = self.covariance
        return [j for j in super().slopes if j not in covariance]

    @property
    def shown(self):
        # not the symmetric densities of signed sds, and of partial correlations, that are sampled
        both = list(zip(self.specified, self.used))
        for j in self.covariance:
            told, used = both[j]
            if self.names[j].startswith("sd("):
                both[j] = told, replace(told, scale=used.scale, autoscale=False)
            elif self.names[j].startswith("cor("):
                both[j] = told, told
        return [used for _, used in both]

    def described(self):
        covariance = self.covariance
        fixed = [j for j in range(len(self.names)) if j not in covariance]
        bare = PriorTable(
            [self.names[j] for j in fixed],
            [self.specified[j] for j in fixed],
            [self.used[j] for j in fixed],
            self.intercepts,
            self.centred,
            self.auxiliary,
            self.unit,
        ).described()
        kinds = {"sd": {}, "cor": {}, "rho": {}}
        for j in covariance:
            kinds[self.names[j].split("(")[0]][str(self.specified[j])] = None
        told = "; ".join(f"{kind}: {', '.join(one)}" for kind, one in kinds.items() if one)
        return f"{bare} Prior (groups): {told}."


class MixedPriorsAlone(PriorsAlone, MixedPriors):
    """The same of a fit with `prior_only=True`."""


def mixed_priors(prior, data, family, scales, effects, spread, learned=False):
    """One prior a parameter from what the user wrote.

    Parameters
    ----------
    prior : None, str, PriorSpec or dict
        As for regressions; keys of a dict may also be ``"sd"``, ``"cor"`` and names of parameters
        of the effects.
    data : RegressionData
    family : Family
    scales : Scales
    effects : Effects
    spread : array (q,)
        What autoscaled priors of the effects' sds are divided by.
    learned : bool
        Whether scales of priors may be parameters.
    """
    named, rest = apart(prior, effects)
    learned = learned and learns(rest)
    fixed = resolve(rest, data, family, scales, learned, bounded=True, joint=True)
    at = len(fixed.names) - fixed.auxiliary
    sds = [of_sd(one_of(named, name, ALL_SDS, SD), name) for name in effects.sds]
    cors = [of_cor(one_of(named, name, ALL_CORS, COR), name) for name in effects.cors]
    spectral = [one.checked(named.get(one.name)) for one in effects.spectral]
    unit = scales.unit / np.asarray(spread)
    used = [as_signed(one, scale) for one, scale in zip(sds, unit)]
    q = effects.loading.q
    used += [
        replace(one, df=one.df + 0.5 * (block_end(effects.loading, i, q) - 2 - place))
        for one, (i, place) in zip(cors, placed(effects.loading))
    ]
    used += [one.used(own) for one, own in zip(effects.spectral, spectral)]
    return MixedPriors(
        fixed.names[:at] + effects.names + fixed.names[at:],
        fixed.specified[:at] + sds + cors + spectral + fixed.specified[at:],
        fixed.used[:at] + used + fixed.used[at:],
        fixed.intercepts,
        fixed.centred,
        fixed.auxiliary + sum(one.logged for one in effects.spectral),
        fixed.unit,
        fixed.report,
        fixed.own,
        fixed.together,
    )


def apart(prior, effects):
    """What the user wrote of parameters of effects, a dict, and of all others."""
    own = [*effects.names, ALL_SDS, ALL_CORS]
    named = (
        {key: one for key, one in prior.items() if key in own} if isinstance(prior, dict) else {}
    )
    rest = {key: one for key, one in prior.items() if key not in own} if named else prior
    refuse_unknown_effects(rest, own)
    return named, rest


def refuse_unknown_effects(prior, own):
    """ArgumentError for a key that can only be meant for a parameter of the effects."""
    for key in map(str, prior if isinstance(prior, dict) else ()):
        sd = f"sd({key.strip('( )')})".replace(" ", "")  # of a term as the formula has it
        hint = f"; did you mean {sd!r}?" if sd in own else nearest(key, own)
        if sd in own or key.startswith(OF_GROUPS):
            raise ArgumentError(f"prior: there is no {key!r}{hint}")


def one_of(named, name, every, default):
    """The prior of a parameter: by its own name, by that of all of its kind, or the default."""
    key = name if name in named else every
    return as_spec(named[key], f"prior[{key!r}]") if key in named else default


def of_sd(one, name):
    """A prior that suits a standard deviation, or ArgumentError."""
    if not one.cut and (one.half or one.called == "exponential" or one.family == "flat"):
        return one
    if not one.cut and one.family in ("normal", "student_t") and one.location == 0:
        return replace(one, half=True)
    raise ArgumentError(
        f"prior: {one} does not suit {name!r}; use sgmc.half_t(3, 2.5), sgmc.half_normal(2.5) or "
        "sgmc.exponential()"
    )


def of_cor(one, name):
    """A prior that suits a correlation, or ArgumentError."""
    if one.family == "flat" and not one.cut:
        return COR
    if one.family == "lkj":
        return one
    raise ArgumentError(f"prior: {one} does not suit {name!r}; use e.g. sgmc.lkj(2)")


def as_signed(one, unit):
    """The symmetric density of a signed sd, of which `one` is the positive half."""
    scale = one.scale * unit if one.autoscale else one.scale
    if one.called == "exponential":
        return laplace(0.0, scale)
    return replace(one, scale=scale, autoscale=False, half=False)


def placed(loading):
    """(row, place within its block's row) of each correlation."""
    return [(i, j - int(loading.first_of(i))) for i, j in loading.correlations()]


def block_end(loading, i, q):
    """Effects of the block of effect i."""
    first = loading.first_of(i)
    return sum(loading.first_of(k) == first for k in range(q))
