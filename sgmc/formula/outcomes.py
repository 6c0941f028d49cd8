"""Responses as numbers: the outcomes, the trials of counts of successes,
and the labels of two levels.
"""

import numpy as np

from sgmc.formula.columns import codes_of, kind, levels_of
from sgmc.errors import DataError


def numeric(values, label):
    """A response taken as a number."""
    if kind(values) not in ("number", "bool"):
        raise DataError(f"the response {label!r} must be numeric, it holds {_shown(values)}")
    y = values.to_numpy(dtype=np.float64)
    if not np.isfinite(y).all():
        raise DataError(f"the response {label!r} is infinite in {np.isinf(y).sum()} rows")
    return y, None, None


def binary(values, label):
    """A response coded 0/1, success being the second of two levels."""
    found, levels = kind(values), None
    if found == "number":
        y = numeric(values, label)[0]
        if not np.isin(y, (0, 1)).all():
            share = ((y >= 0) & (y <= 1)).all()
            advice = (
                "of shares give the counts, 'successes + failures ~ ...'"
                if share
                else f"compare, as in '{label} > 0 ~ ...'"
            )
            raise DataError(
                f"the response {label!r} must be 0 or 1, it holds {_shown(values)}: {advice}"
            )
    elif found in ("bool", "text", "category"):
        levels = levels_of(values)
        if len(levels) > 2:
            raise DataError(
                f"the response {label!r} has {len(levels)} levels, {_shown(values)}: compare with "
                "one of them"
            )
        y = codes_of(values, levels, label).astype(np.float64)
    else:
        raise DataError(
            f"the response {label!r} must be 0/1, true/false or text with two levels, it holds "
            f"{_shown(values)}"
        )
    if y.min() == y.max():
        raise DataError(
            f"the response {label!r} is {_shown(values)} in every row used: both classes are needed"
        )
    return y, None, levels


def counts(frame, label):
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
        check_counts(column.to_numpy(np.float64), f"column {name!r}")
        for name, column in frame.items()
    )
    return successes, successes + failures, None


def check_counts(values, what):
    """`values`, or DataError where they are not 0, 1, 2, ...; `what` names them."""
    wrong = ~((values >= 0) & (values == np.floor(values)) & np.isfinite(values))
    if wrong.any():
        raise DataError(f"{what} must hold counts, 0, 1, 2, ..; it has {values[wrong][0]:g}")
    return values


def category(values, label):
    """A response of several kinds, coded by their place among the levels."""
    levels = levels_of(values)
    return codes_of(values, levels, label).astype(np.float64), None, levels


OUTCOMES = {"binary": binary, "numeric": numeric, "category": category}


def _shown(values):
    distinct = values.drop_duplicates().head(4).tolist()
    return ", ".join(map(repr, distinct[:3])) + (", ..." if len(distinct) > 3 else "")
