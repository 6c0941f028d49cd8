"""Responses as numbers: the outcomes, the trials of counts of successes,
and the labels of two levels.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc.arguments.data.limited import Ends, is_limited, is_records, limited, refuse_records
from sgmc.arguments.data.values import counts as check_counts
from sgmc.arguments.messages import labels_text
from sgmc.arguments.types import Array, Floats, Frame, Series
from sgmc.core.system.storage import is_large
from sgmc.errors import DataError, SeparationWarning, warn
from sgmc.formula.data.chunks import evaluate
from sgmc.formula.data.columns import codes_of, kind, levels_of
from sgmc.formula.data.frames import column_of, one_column
from sgmc.formula.data.labels import cure_of_text

if TYPE_CHECKING:
    from sgmc.formula.data.chunks import Chunk


MAX_NUMBERS = 20  # distinct ones that are ordered levels
MODELS_OF_SEVERAL = ", or use mnlogit for all levels, ordinal where they are ordered"


def refuse_times(values: Any, label: str) -> None:
    """DataError for what `Surv` makes, where an outcome is no survival time."""
    if kind(values) == "complex" and "Surv" in label:
        raise DataError(f"the response {label!r} holds survival times: use sgmc.survreg")


def numeric(values: Any, label: str) -> tuple[Array, None, None]:
    """A response taken as a number, or what is known of it in part."""
    if is_records(values):
        return limited(values), None, None
    refuse_times(values, label)
    if kind(values) not in ("number", "bool"):
        cure = cure_of_text(values.rename(label))
        if kind(values) == "category" and values.cat.categories.dtype.kind in "iuf":
            cure = f", as categories: make numbers of them, df[{label!r}].astype(float)"
        raise DataError(f"the response {label!r} must be numeric, it holds {_shown(values)}{cure}")
    y = values.to_numpy(dtype=np.float64)
    if not np.isfinite(y).all():
        count = np.isinf(y).sum()
        rows = "1 row" if count == 1 else f"{count} rows"
        raise DataError(f"the response {label!r} is infinite in {rows}")
    return y, None, None


def binary(values: Series, label: str) -> tuple[Floats, None, tuple[Any, ...] | None]:
    """A response coded 0/1, success being the second of two levels."""
    refuse_parts(values, "models of 0 and 1")
    refuse_times(values, label)
    found, levels = kind(values), None
    if found == "number":
        y = numeric(values, label)[0]
        if not np.isin(y, (0, 1)).all():
            share = ((y >= 0) & (y <= 1)).all()
            low, high = y.min(), y.max()
            compared = f"== {high:g}" if len(np.unique(y)) == 2 else f"> {max(low, 0.0):g}"
            advice = (
                "of shares give the counts, 'successes + failures ~ ...'"
                if share
                else f"compare, as in '{label} {compared} ~ ...'"
            )
            raise DataError(
                f"the response {label!r} must be 0 or 1, it holds {_shown(values)}: {advice}"
                f"{of_several(values)}"
            )
    elif found in ("bool", "text", "category"):
        levels = both_levels(values)
        if len(levels) > 2:
            raise DataError(
                f"the response {label!r} has {len(levels)} levels, {_shown(values)}: compare with "
                f"one of them{MODELS_OF_SEVERAL}"
            )
        y = codes_of(values, levels, label).astype(np.float64)
    else:
        raise DataError(
            f"the response {label!r} must be 0/1, true/false or text with two levels, it holds "
            f"{_shown(values)}"
        )
    return y, None, levels


def both_levels(values: Series) -> tuple[Any, ...]:
    """Levels of failure and success.  Of a single label the categories tell the other one, where
    there are two; else it is success, and all others are failures.
    """
    levels = levels_of(values)
    if len(levels) != 1:
        return levels
    named: Any = getattr(values.dtype, "categories", ())
    return tuple(named.tolist()) if len(named) == 2 else (f"not {levels[0]}", levels[0])


def one_level(
    levels: tuple[Any, ...] | None, y: Array, weight: Floats | None, label: str
) -> list[Any]:
    """Issue a SeparationWarning, and return it in a list, where one of two levels alone occurs in
    rows that count.
    """
    if levels is None or len(levels) != 2 or is_large(y, len(y)):
        return []
    kept = y if weight is None else y[weight > 0]
    if not len(kept) or kept.min() < kept.max():
        return []
    place = int(kept[0] > 0)
    found = SeparationWarning(
        f"the response {label!r} is {levels[place]!r} in every row used, which is taken as "
        f"{('failure', 'success')[place]}.",
        "Name both levels, as by pandas.Categorical(..., categories=[failure, success]), and check "
        "the rows.",
    )
    warn(found)
    return [found]


def of_several(values: Series) -> str:
    """What to do with numbers that may be levels: the end of a message, or nothing."""
    return MODELS_OF_SEVERAL if 2 < values.nunique() <= MAX_NUMBERS else ""


def counts(frame: Frame, label: str) -> tuple[Floats, Floats, None]:
    """Successes and trials of a frame with columns of successes and failures."""
    if frame.shape[1] < 2:
        raise DataError(f"the response {label!r} has the same column as successes and failures")
    for name, column in frame.items():
        if kind(column) != "number":
            raise DataError(
                f"column {name!r} of the response {label!r} must hold counts, it holds "
                f"{_shown(column)}; for arithmetic write I({label})"
            )
    successes, failures = (
        check_counts(f"column {name!r}", column.to_numpy(np.float64))
        for name, column in frame.items()
    )
    return successes, successes + failures, None


def pairs(
    codes: Sequence[str],
    label: Callable[[str], str],
    functions: Mapping[str, Any],
    columns: "Chunk",
    inputs: Mapping[str, str],
) -> Frame:
    """Successes and failures of the rows of a `Chunk`, a frame.

    Parameters
    ----------
    codes : tuple of str
        Code of both.
    label : function of str
        The name of some code.
    functions : dict
    columns : Chunk
    inputs : dict
        Placeholder -> column.
    """
    names, rows = {place: columns[name] for place, name in inputs.items()}, columns.n_rows
    return pd.DataFrame(
        {label(code): evaluate(code, functions, names, label(code), rows) for code in codes},
        index=range(rows),
    )


def category_codes(
    name: str, endog: Any, coding: Callable[..., Any]
) -> tuple[Any, tuple[Any, ...]]:
    """Return the numbers of the levels and the levels of labels, one a row, of any library, coded
    by `category` or `ordered`.

    Raises
    ------
    DataError
        If some are missing, or it is no vector.
    """
    endog = one_column(endog)
    if np.ndim(endog) != 1:
        raise DataError(f"{name} has shape {np.shape(endog)}; it must be one label a row")
    series = column_of(endog, "y")
    if series.isna().any():
        raise DataError(f"{name} has missing values; drop those rows first")
    codes, _, levels = coding(series, name)
    # an index that the user gave
    return pd.Series(codes, endog.index) if isinstance(endog, pd.Series) else codes, levels


def category(values: Series, label: str) -> tuple[Floats, None, tuple[Any, ...]]:
    """A response of several kinds, coded by their place among the levels."""
    refuse_parts(values, "models of labels")
    levels = levels_of(values)
    return codes_of(values, levels, label).astype(np.float64), None, levels


def ordered(values: Series, label: str) -> tuple[Floats, None, tuple[Any, ...]]:
    """A response of ordered levels, coded by their place: ordered categories, or numbers."""
    refuse_parts(values, "models of labels")
    found = kind(values)
    if found == "number":
        levels = tuple(np.unique(numeric(values, label)[0]).tolist())
        if len(levels) > MAX_NUMBERS:
            raise DataError(
                f"the response {label!r} has {len(levels)} distinct numbers; ordinal takes at most "
                f"{MAX_NUMBERS}: group them, e.g. by pandas.cut, or use ols"
            )
        levels = tuple(int(one) if one.is_integer() else one for one in levels)
        return np.searchsorted(levels, values.to_numpy(np.float64)).astype(np.float64), None, levels
    if found == "category" and values.dtype.ordered:
        return category(values, label)
    if found in ("category", "text", "bool") and values.nunique() == 2:
        raise DataError(
            f"the response {label!r} has two levels, {_shown(values)}; ordinal is for three or "
            "more, use logit for two"
        )
    if found not in ("category", "text"):
        raise DataError(
            f"the response {label!r} must be an ordered categorical or numbers, it holds "
            f"{_shown(values)}"
        )
    raise DataError(
        f"the response {label!r} holds {_shown(values)}, whose order is unknown: make it an "
        f"ordered categorical, pandas.Categorical({label}, categories=[lowest, ..., highest], "
        "ordered=True)"
    )


def survival(values: Any, label: str) -> tuple[Ends, None, None]:
    """Times, and how each is censored; numbers are times that were all observed."""
    if is_limited(values):
        return limited(values), None, None
    if kind(values) != "number":
        raise DataError(
            f"the response {label!r} must be times, it holds {_shown(values)}; write "
            "Surv(time, event) for times that may be censored"
        )
    return limited(numeric(values, label)[0]), None, None


def refuse_parts(values: Any, name: str) -> None:
    """ArgumentError for outcomes of `cens` or `trunc` where a model has labels."""
    if is_records(values):
        raise refuse_records(name, "their outcomes are labels")


OUTCOMES = {
    "binary": binary,
    "numeric": numeric,
    "category": category,
    "ordered": ordered,
    "survival": survival,
}


def _shown(values: Series) -> str:
    return labels_text(values.drop_duplicates().head(4).tolist(), 3)
