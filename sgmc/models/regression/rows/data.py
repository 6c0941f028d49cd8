"""Outcomes and design of a regression, checked: of a formula here, of arrays in `from_arrays`."""

from dataclasses import dataclass, field, replace

import numpy as np

from sgmc.arguments.data.limited import is_records
from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows, finite_table
from sgmc.arguments.data.values import varying
from sgmc.core.designs.design import scatter
from sgmc.core.system.storage import is_large, made, spans
from sgmc.errors import DataError, WeightsWarning, warn
from sgmc.models.regression.bases.family import MAX_COUNT_MEAN
from sgmc.priors import INTERCEPT

FEWEST_COUNTED = 0.5  # mean weight of rows that count, from which intervals are not far too wide
LEAST_LIKELY = 10.0  # of the outcomes' mean, in logs: there the least count is likely


@dataclass(frozen=True)
class PriorUnits:
    """What default priors take from other rows than those of the data: from all, of which these are
    a sample, or from those of an earlier fit whose prior holds.

    Attributes
    ----------
    scale : array (d,)
        What slopes' priors are divided by, see `sgmc.formula.designs.spreads`.
    mean : array (d,)
        Of the columns, at which the intercept's prior holds.
    outcome : (float, float)
        Mean and variance of the outcomes.
    weight : array (n,) or None
        Of the rows of the data in what is scaled by them, where it is not theirs: some are left out
        of the likelihood.
    """

    scale: np.ndarray
    mean: np.ndarray
    outcome: tuple
    weight: np.ndarray | None = None


@dataclass
class RegressionData:
    """Outcomes and design of a regression, before they are copied.

    Attributes
    ----------
    y : array (n,)
        Of counts, the successes; perhaps of fewer bytes a number than a fit's copy, see
        `in_few_bytes`.
    names : list of str
        Columns of the design.
    terms : dict
        Term -> slice of columns.
    intercept : int or None
    endog_name : str
    source : object
        What `fill` reads: a formula table, a dense array or a CSR array.
    offset : array (n,) or None
        All that is added to the linear predictor: by the formula, by the argument, and the log of
        the exposure.
    given_offset : array (n,) or None
        The same without what the formula adds, which it adds to other rows, too.
    trials : array (n,) or None
        Of counts, successes and failures together; apart from `weight`, which says how many such
        rows there are.
    given : tuple of str
        Which of "offset", "exposure", "trials" and "se" there were.
    se : array (n,) or None
        Known standard errors of the outcomes.
    equations : tuple
        Labels of the equations, where there are several: each has coefficients of its own.
    lent : bool
        Whether it is an array of the user's that is memory-mapped or read-only.
    groups : array (n,) or None
        Numbers of the rows' clusters.
    labels : RowLabels or None
        Of the rows, as the user's table has them.
    parts : tuple of slice
        Columns of the two parts of a design that has two linear predictors.
    second : str
        What names of the second part's columns begin with.
    partly : str
        What a time limit ended, where only some of the rows were read: there is no posterior then
        but a stand-in.
    units : PriorUnits or None
        Where priors do not take theirs from these rows.
    increments : tuple of array of int
        Columns of the increments of each monotonic effect.
    """

    y: np.ndarray
    names: list
    terms: dict
    intercept: int | None
    endog_name: str
    source: object
    offset: np.ndarray | None = None
    trials: np.ndarray | None = None
    weight: np.ndarray | None = None
    strata: np.ndarray | None = None
    given: tuple = ()
    dropped: int = 0
    notes: list = field(default_factory=list)
    lent: bool = False
    equations: tuple = ()
    se: np.ndarray | None = None
    partly: str = ""
    groups: np.ndarray | None = None
    labels: object = None
    parts: tuple = ()
    second: str = ""
    units: PriorUnits | None = None
    given_offset: np.ndarray | None = None
    increments: tuple = ()

    @property
    def in_second(self):
        """Whether a column is one of the second part, an array (d,)."""
        return np.arange(self.d) >= (self.parts[0].stop if self.parts else self.d)

    @property
    def second_intercept(self):
        """Place of the intercept of the second part, or None."""
        name = f"{self.second}{INTERCEPT}"
        return self.names.index(name) if self.parts and name in self.names else None

    @property
    def intercepts(self):
        """Places of the intercepts of the design."""
        return [j for j in (self.intercept, self.second_intercept) if j is not None]

    @property
    def uncentred(self):
        """Which columns stay as they are, an array (d,): intercepts, and those of linear predictors
        that have none.
        """
        parts, d = self.parts or (slice(0, self.d),), np.arange(self.d)
        found = np.isin(d, self.intercepts)
        for one in parts:
            own = (one.start <= d) & (d < one.stop)
            found |= own & ~(own & np.isin(d, self.intercepts)).any()
        return found

    @property
    def n(self):
        """Rows."""
        return len(self.y)

    @property
    def d(self):
        """Columns of the design."""
        return len(self.names)

    @property
    def sparse(self):
        """The design as a CSR array, or None where it is dense."""
        return self.source if hasattr(self.source, "indptr") else None

    def parameter_names(self, family):
        """Names of the coefficients and of the family's auxiliary parameters;
        a column of that name makes them end in "_".
        """
        names = [f"{label}:{name}" for label in self.equations for name in self.names] or list(
            self.names
        )
        for one in family.auxiliary:
            names.append(one.name)
            while names[-1] in names[:-1]:
                names[-1] += "_"
        return names

    @property
    def prepared(self):
        """The prepared table that the design is in, or None."""
        return self.source if is_prepared(self.source) else None

    @property
    def coded(self):
        """Whether factors of the design stay codes."""
        return getattr(getattr(self.source, "spec", None), "coding", None) is not None

    def fill(self, out, position, change=None):
        """Write row i of the design into out[position[i]]; ``change(block, span)``, if given, makes
        what is written of each block of float64.
        """
        if not isinstance(self.source, np.ndarray):
            for span, block in self.source.blocks(out.dtype, change=change):
                scatter(out, position[span], block)
        elif change is None:
            out[position] = self.source
        else:
            for span in spans(self.n, chunk_rows(self.d, CHUNK_ROWS)):
                block = change(self.source[span], span)
                finite_table("exog", block, self.names, span.start)
                scatter(out, position[span], block)


def is_prepared(source):
    """Whether rows are those of a prepared table."""
    from sgmc.prepared.file.prepared import Prepared

    return isinstance(source, Prepared)


def check_outcomes(family, data):
    """Raise DataError where outcomes do not suit a family; rows of weight zero do not count.

    Of outcomes in a file a span of rows is looked at at a time, each with the first two different
    outcomes, as some families refuse outcomes that are all the same.
    """
    y, trials, weight, label = data.y, data.trials, data.weight, data.endog_name
    if not is_large(y, data.n):
        kept = slice(None) if weight is None else weight > 0
        single = family.of_trials(None if trials is None else trials[kept])
        check_support(single, as_floats(y[kept]), label)
        plain = unwrapped(family)
        if plain.identity and data.offset is not None and trials is None and not is_records(y):
            known = plain.numbers(as_floats(y[kept])) - data.offset[kept]
            varying(f"the outcome {label!r} less the offset", known)
        return
    witnesses, tried = np.empty(0), False
    for span in spans(data.n):
        counted = slice(None) if weight is None else weight[span] > 0
        part = y[span][counted]
        if len(witnesses) < 2:
            other = part[part != witnesses[0]] if len(witnesses) else part
            witnesses = np.append(witnesses, other[:1])
        if trials is not None:
            tried = tried or trials[span][counted].any()
        elif len(witnesses) == 2 or span.stop == data.n:
            check_support(family, np.concatenate([part, witnesses]), label)
    if trials is not None:
        family.of_trials(np.array([float(tried)])).check(np.zeros(1), label)


def unwrapped(family):
    """The family of outcomes alone, without known errors, ends, or a second predictor."""
    while hasattr(family, "whole"):
        family = family.whole
    return family


def check_support(family, y, label):
    """Raise DataError where outcomes do not suit a family, or where the least count that `check`
    accepts has no probability: the intercept of such a fit would fall without limit.
    """
    family.check(y, label)
    if not getattr(family, "counts", False) or family.parts or not len(y):
        return
    y = family.numbers(y)
    least, mean = y.min(), min(y.mean(), MAX_COUNT_MEAN)
    level, logs = family.start(mean, 2 * mean)
    eta = np.array([[level - LEAST_LIKELY, level]])
    extra = np.exp(logs)[:, None] if len(logs) else None
    found = family.log_density(np.full((1, 1), least), eta, extra)
    rounding = 1e-6 * max(1.0, least)
    if not (np.isfinite(found) & (found <= rounding)).all():
        raise DataError(
            f"the outcome {label!r} is {least:g} in some rows, where the density of {family.name} "
            "is no probability: leave such rows out; the `check` of the family should refuse them"
        )


def total_offset(offset, exposure, **beside):
    """(offset, given) of RegressionData from what a user gave, checked; `beside` has the rest of
    what new rows need too.
    """
    given = tuple(
        name
        for name, value in dict(offset=offset, exposure=exposure, **beside).items()
        if value is not None
    )
    if exposure is None:
        return offset, given

    def total(rows):
        return np.log(exposure[rows]) + (0.0 if offset is None else offset[rows])

    return made(len(exposure), exposure, total), given


def equations(family, levels):
    """Labels of the equations of outcomes with such levels; none for families of one equation."""
    return tuple(str(level) for level in levels[1:]) if family.outcome == "category" else ()


def of_table(table, partly="", alone=True):
    """RegressionData of what a formula was read to; `partly` says what was not read, and `alone`
    whether there are no other rows, so that outcomes of one level are warned of.
    """
    from sgmc.formula.outcomes import one_level

    spec, y = table.spec, table.y
    if not is_prepared(table):  # whose rows stay where they are
        y = in_few_bytes(y)
        table = replace(table, y=y)
    offset, given = total_offset(table.offset, table.exposure, trials=table.trials, se=table.se)
    single = one_level(spec.levels, y, table.weights, spec.endog_name) if alone else []
    known = offset if spec.offset is None else total_offset(table.given_offset, table.exposure)[0]
    return RegressionData(
        y,
        list(spec.exog_names),
        dict(spec.term_slices),
        spec.exog_names.index("Intercept") if spec.has_intercept else None,
        spec.endog_name,
        table,
        offset,
        table.trials,
        table.weights,
        table.strata,
        given,
        table.dropped,
        [*table.notes, *single, *few_counted(table.weights)],
        se=table.se,
        partly=partly,
        groups=table.groups,
        parts=getattr(spec, "parts", ()),
        second=getattr(spec, "second", ""),
        given_offset=known,
        increments=tuple(spec.increments),
    )


def few_counted(weight):
    """Issue a WeightsWarning, and return it in a list, where rows count for far fewer: of rows
    without weight, as of those left out, there is nothing to say.
    """
    if weight is None or is_large(weight, len(weight)):
        return []
    counted = np.count_nonzero(weight)
    if weight.sum() >= FEWEST_COUNTED * counted:
        return []
    found = WeightsWarning(
        f"weights sum to {weight.sum():.3g} in {counted:,} rows, and count rows: the data have the "
        "information of so many rows alone.",
        "If they are precisions, as in weighted least squares, rescale them to a mean of 1, "
        "w / w.mean(), or give sgmc.ols the predictors of its scale, sigma='~ ...'.",
    )
    warn(found)
    return [found]


def in_few_bytes(y):
    """The same outcomes as int8 where these are all of them, which then cost an eighth: a fit has a
    copy of its own.
    """
    few = np.iinfo(np.int8)
    if not len(y) or is_records(y) or y.min() < few.min or y.max() > few.max:
        return y
    small = y.astype(np.int8)
    return small if np.array_equal(small, y) else y


def as_floats(y):
    """Outcomes as float64, or as records of what is known of them, see
    `sgmc.arguments.data.limited`.
    """
    return y if is_records(y) else y.astype(float, copy=False)
