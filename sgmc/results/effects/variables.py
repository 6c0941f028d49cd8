"""What is varied: which values of a variable are compared with which."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sgmc.arguments.choices import nearest, one_of
from sgmc.arguments.messages import label_text, labels_text
from sgmc.arguments.numbers import is_number
from sgmc.errors import (
    ArgumentError,
    ColumnsLeftOutWarning,
    DataError,
    ExtrapolationWarning,
    SGMCError,
    warn,
)
from sgmc.formula.data.chunks import Chunk
from sgmc.formula.data.columns import kind
from sgmc.results.effects.places import factors_of, recipe_of, smooths_of, variables_of

SLOPE_STEP = 1e-4  # of slopes, as a share of the range
MOST_LEVELS_COMPARED = 200
SPREADS = ("sd", "2sd", "iqr", "minmax")  # of a number
NEITHER = ("date", "complex", "other")  # kinds of columns that are no numbers or labels
QUARTILES = (0, 0.25, 0.5, 0.75, 1)
PAIRS = ("reference", "sequential", "pairwise", "all")  # of levels


@dataclass(frozen=True)
class Change:
    """Two values of a variable at each row.

    Attributes
    ----------
    term : str
        The variable.
    low, high : object
        Numbers to add (`shift`), or values to set; of labels `high` and `low` as well.
    shift : bool
    label : str
        Of what is compared, high against low.
    slope : bool
        Whether the difference is divided by the distance.
    ends : (float, float) or None
        Beyond which a number is not moved.
    """

    term: str
    low: object
    high: object
    shift: bool = False
    label: str = ""
    slope: bool = False
    ends: tuple | None = None

    def frames(self, frame):
        """The two tables, and distances (n,) by which differences are divided, or None."""
        if not self.shift:
            return varied(frame, self.term, self.low), varied(frame, self.term, self.high), None
        x = as_numbers(self.term, frame[self.term])
        low, high = x + self.low, x + self.high
        if self.ends is not None:
            low = np.maximum(low, np.minimum(x, self.ends[0]))
            high = np.minimum(high, np.maximum(x, self.ends[1]))
        pair = frame.copy(deep=False), frame.copy(deep=False)
        pair[0][self.term], pair[1][self.term] = low, high
        return *pair, high - low if self.slope else None


def as_numbers(name, column):
    """Values of a variable as numbers, (n,), NaN where they are missing."""
    try:
        if column.dtype.kind in "mM":
            raise TypeError
        return column.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):
        raise DataError(
            f"{name!r} holds {column.dtype} in the data, and held numbers in the fit: convert it"
        ) from None


def varied(frame, name, value):
    """A table with one value of a column in all rows."""
    out = frame.copy(deep=False)
    dtype = frame[name].dtype
    if isinstance(dtype, pd.CategoricalDtype):
        out[name] = pd.Categorical([value] * len(frame), categories=dtype.categories)
    else:
        out[name] = pd.Series([value] * len(frame), index=frame.index)
    return out


def has_values(factor, frame):
    """Whether a term of the formula has a value in each row of a table."""
    try:
        with np.errstate(all="ignore"):
            values = factor.values(Chunk(frame, np.arange(len(frame))))
    except SGMCError:  # as of splines beyond their ends
        return False
    return bool(np.isfinite(values).all() and (factor.levels is None or (values >= 0).all()))


class Variables:
    """The variables of a model: numbers or labels, their ranges and levels.

    Parameters
    ----------
    results : Results
    places : FitPlaces or NewPlaces
        Whose rows say what is not known from the formula.
    """

    def __init__(self, results, places):
        self.results, self.places = results, places
        self.names = variables_of(results)
        self.held = {}
        terms = [one for one in smooths_of(results) if one.labels is not None]
        self.labelled = {one.covariates.columns[0]: list(one.labels) for one in terms}
        # times of series that are known at whole steps alone
        series = [one for one in smooths_of(results) if one.bases[0].continues]
        self.steps = {one.covariates.columns[0]: one.bases[0] for one in series}

    def check(self, name, what="variables"):
        """A variable's name; ArgumentError where the model has none such."""
        if not isinstance(name, str) or name not in self.names:
            hint = nearest(name, self.names, "they are")
            # of R's marginaleffects: a list, of which the first is along the axis
            several = f"; one variable is x, others by={name[1:]!r}" * isinstance(name, list)
            raise ArgumentError(f"{what}: {name!r} is not a variable of the model{several or hint}")
        return name

    def column(self, name):
        """All values of a variable, a Series."""
        if name not in self.held:
            parts = [one.frame[name] for one in self.places.pieces()]
            self.held[name] = pd.concat(parts, ignore_index=True)
        return self.held[name]

    def known(self, name):
        """Levels of a variable by the formula, or None."""
        for one in factors_of(self.results):
            if one.ordered and list(one.inputs.values()) == [name]:
                return one.ordered, [f"{one.label}[{level}]" for level in one.ordered]
            if one.levels is not None and list(one.inputs.values()) == [name]:
                levels = list(one.levels)
                if one.is_column or self.column(name).dropna().isin(levels).all():
                    return levels, [f"{one.label}[T.{level}]" for level in levels]
                values = self.relabelled(name, one)
                if values is not None:
                    return values, [f"{one.label}[T.{level}]" for level in levels]
        return None

    def relabelled(self, name, factor):
        """Numbers of a variable in the order of the levels that an expression such as
        ``year.astype(str)`` gives them, each its own; else None.
        """
        values = self.column(name).dropna().unique()
        if kind(self.column(name)) != "number" or len(values) != len(factor.levels):
            return None
        frame = pd.DataFrame({name: values})
        code = factor.values(Chunk(frame, np.arange(len(values))))
        order = np.argsort(code, kind="stable")
        apart = np.array_equal(code[order], np.arange(len(values)))
        return values[order].tolist() if apart else None

    def levels(self, name):
        """Levels of a variable with labels, the one that others are compared with first; None for
        numbers.
        """
        found = self.known(name)
        if found is not None:
            levels, coded = found
            without = [
                one for one, text in zip(levels, coded) if text not in self.results.model.exog_names
            ]
            first = without[0] if len(without) == 1 else levels[0]
            return [first, *(one for one in levels if one != first)]
        if self.results.model.spec is None or name in self.labelled:
            return self.labelled.get(name)
        column = self.column(name)
        held = kind(column)
        if held == "number":
            return None
        if held == "category":
            return list(column.cat.categories)
        return sorted(column.dropna().unique())

    def numbers(self, name):
        """All values of a variable as finite numbers."""
        x = as_numbers(name, self.column(name))
        return x[np.isfinite(x)]

    def every(self):
        """Variables that vary, and are numbers or labels: dates in expressions such as
        ``d.dt.month`` are left out, with a warning.  Labels of terms such as ``car(region, graph)``
        are those of groups.
        """
        if self.results.model.spec is not None:
            plain = {one.label for one in factors_of(self.results) if one.is_column}
            inside = [name for name in self.names if name not in plain]
            dates = [name for name in inside if kind(self.column(name)) in NEITHER]
            if dates:
                listed, one = ", ".join(map(repr, dates)), dates[0]
                warn(
                    ColumnsLeftOutWarning(
                        f"effects leave out {listed}: no numbers or labels to step through.",
                        f"Compare two values of one, variables={{{one!r}: [a, b]}}.",
                    )
                )
            groups = self.labelled.keys() - {*recipe_of(self.results).columns}
            return [name for name in self.names if name not in dates and name not in groups]
        return [name for name in self.names if np.ptp(self.numbers(name), axis=0) > 0]

    def asked(self, variables, default):
        """Pairs of a name and how it is varied, of what a user gave."""
        if variables is None:
            return [(name, default) for name in self.every()]
        if isinstance(variables, str):
            variables = [variables]
        if not isinstance(variables, Mapping):
            if not np.iterable(variables):
                raise ArgumentError(
                    f"variables={variables!r} must be names of variables, or a dict such as "
                    "{'age': 10}"
                )
            variables = dict.fromkeys(variables, default)
        return [(self.check(name), how) for name, how in variables.items()]

    def inside(self, name, how):
        """How a variable is varied that nobody has named: as usual, or from quartile to quartile,
        with a warning, where a step leaves the domain of a term, such as ``log(x)`` or ``bs(x)``.
        """
        terms = [one for one in factors_of(self.results) if name in one.inputs.values()]
        terms = [one for one in terms if not one.is_column]
        if how not in (None, "sd") or not terms or self.levels(name) is not None:
            return how
        ends = [
            piece.frame.iloc[[np.nanargmin(x), np.nanargmax(x)]]
            for piece in self.places.pieces()
            for x in [as_numbers(name, piece.frame[name])]
            if not np.isnan(x).all()
        ]
        if not ends:
            return how
        *frames, _ = self.of_numbers(name, how).frames(pd.concat(ends))
        if all(has_values(one, frame) for one in terms for frame in frames):
            return how
        warn(
            ExtrapolationWarning(
                f"effects compare the quartiles of {name!r}: with the usual step it leaves the "
                f"domain of {terms[0].label}.",
                f"Compare values inside of it, variables={{{name!r}: [a, b]}}.",
            )
        )
        return "iqr"

    def changes(self, variables):
        """A `Change` for each comparison that was asked for."""
        asked = self.asked(variables, None)
        if variables is None:
            asked = [(name, self.inside(name, how)) for name, how in asked]
        found = [one for pair in asked for one in self.compared(*pair)]
        if not found:
            raise ArgumentError("variables: the model has no variable to compare values of")
        return found

    def slopes(self, variables):
        """The same, of derivatives with respect to numbers."""
        if isinstance(variables, Mapping):
            raise ArgumentError("slopes: variables are names; comparisons() takes steps")
        found = []
        for name, _ in self.asked(variables, None):
            # neither labels nor times in steps have a derivative
            apart = name in self.steps or self.levels(name) is not None
            found += self.compared(name, None) if apart else [self.slope(name)]
        if not found:
            raise ArgumentError("variables: the model has no variable to take slopes of")
        return found

    def slope(self, name):
        """A derivative by a central difference; at the ends of the range a one-sided one where
        the formula transforms the variable, as splines end there.
        """
        x = self.numbers(name)
        low, high = (x.min(), x.max()) if len(x) else (0.0, 0.0)
        step = SLOPE_STEP * ((high - low) or max(abs(high), 1.0))
        plain = all(one.is_column or name not in one.inputs.values() for one in factors_of(
            self.results
        )) and not smooths_of(self.results)  # fmt: skip
        ends = None if plain or low == high else (low, high)
        return Change(name, -step / 2, step / 2, True, "dY/dX", True, ends)

    def compared(self, name, how):
        """The comparisons of one variable."""
        levels = self.levels(name)
        if levels is None:
            return [self.of_numbers(name, how)]
        if isinstance(how, (list, tuple)) and len(how) == 2:
            for one in how:
                if one not in levels:
                    raise ArgumentError(
                        f"variables: {name!r} has no level {label_text(one)}; it has "
                        f"{labels_text(levels, 8)}"
                    )
            return [Change(name, *how)]
        how = one_of(f"variables[{name!r}]", how or "reference", PAIRS, ", or two levels")
        if how == "reference":
            pairs = [(levels[0], one) for one in levels[1:]]
        elif how == "sequential":
            pairs = list(zip(levels, levels[1:]))
        else:
            pairs = [(a, b) for k, a in enumerate(levels) for b in levels[k + 1 :]]
            pairs += [(b, a) for a, b in pairs] if how == "all" else []
        if len(pairs) > MOST_LEVELS_COMPARED:
            raise ArgumentError(
                f"variables: {name!r} has {len(levels)} levels, {len(pairs)} comparisons; give two "
                f"of them, variables={{{name!r}: [{levels[0]!r}, {levels[1]!r}]}}"
            )
        return [Change(name, low, high) for low, high in pairs]

    def of_numbers(self, name, how):
        """The comparison of a number: after a step, between two values, over a spread."""
        if (
            how is None
            and name not in self.steps
            and np.array_equal(np.unique(self.numbers(name)), (0, 1))
        ):
            return Change(name, 0.0, 1.0)  # 2 is no value of a column of 0 and 1
        if how is None or is_number(how):
            usual = self.steps[name].step if name in self.steps else 1.0
            step = usual if how is None else float(how)
            return Change(name, 0.0, step, True, f"+{step:g}" if step >= 0 else f"{step:g}")
        if isinstance(how, (list, tuple, np.ndarray)) and len(how) == 2:
            low, high = map(float, how)
            return Change(name, low, high)
        how = one_of(f"variables[{name!r}]", how, SPREADS, ", a step, or two values")
        x = self.numbers(name)
        if how in ("sd", "2sd"):
            half = np.std(x, ddof=1) * (0.5 if how == "sd" else 1.0)
            return Change(name, -half, half, True, "x + sd/2" if how == "sd" else "x + sd")
        low, high = np.quantile(x, [0.25, 0.75]) if how == "iqr" else (x.min(), x.max())
        return Change(name, low, high, False, how)

    def values(self, variables):
        """Values of variables to set in all rows: a dict of lists.  Of a name alone all levels,
        of a number its minimum, quartiles and maximum.
        """
        out = {}
        for name, given in self.asked(variables, None):
            levels = self.levels(name)
            if given is None:
                given = levels if levels is not None else self.quantiles(name, QUARTILES)
            elif isinstance(given, str) or not np.iterable(given):
                given = [given]
            out[name] = list(given)
            if levels is not None and not set(out[name]) <= set(levels):
                odd = next(one for one in out[name] if one not in levels)
                raise ArgumentError(
                    f"variables: {name!r} has no level {label_text(odd)}; it has "
                    f"{labels_text(levels, 8)}"
                )
        return out

    def quantiles(self, name, shares):
        """Different quantiles of a number, a list; of times in steps some of the times."""
        method = "nearest" if name in self.steps else "linear"
        return list(np.unique(np.quantile(self.numbers(name), shares, method=method)))
