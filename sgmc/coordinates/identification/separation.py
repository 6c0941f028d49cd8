"""Separation of binary outcomes: the likelihood then has no maximum,
and only the prior bounds some coefficients.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.arguments.data.tables import chunk_rows
from sgmc.core.designs.design import products
from sgmc.core.system.storage import is_large, spans
from sgmc.errors import SeparationWarning

# contrary outcomes up to which a coefficient's posterior is markedly skewed (skewness 1/sqrt(k))
FEW_CONTRARY = 4


@dataclass(frozen=True)
class Wall:
    """A two-valued column, one value of which hardly ever,
    or never, occurs with one of the outcomes.

    Attributes
    ----------
    column : int
    common : float
        The other value, as stored in the table.
    rows, contrary : int
        Outcomes (of counts, trials) with the value in question, and those of them that are the
        rarer one.
    gap : float
        The value in question minus the other.
    usual : int
        Sign of the linear predictor that the usual outcome asks for.
    """

    column: int
    common: float
    rows: int
    contrary: int
    gap: float
    usual: int


def separation(X, outcomes, names, intercept):
    """Walls, and a SeparationWarning (in a list) where some of them are without contrary outcomes.

    That is quasi-complete separation by single columns; `recession` finds that by combinations.
    Without an intercept the other value must be 0.

    Parameters
    ----------
    X : array (n, d) or CSR array, no place given twice
    outcomes : pair of array (n,)
        Successes and failures of each row.
    names : list of str
    intercept : int or None

    Returns
    -------
    walls : list of Wall
    warnings : list of SeparationWarning
    """
    walls = lopsided_columns(X, *outcomes, intercept)
    walls = [w for w in walls if intercept is not None or w.common == 0]
    pure = [names[w.column] for w in walls if w.contrary == 0]
    if not pure:
        return walls, []
    shown = ", ".join(pure[:6]) + (f" and {len(pure) - 6} more" if len(pure) > 6 else "")
    return walls, [
        SeparationWarning(
            f"some values of {shown} have only one outcome (quasi-complete separation): only the "
            "prior bounds these coefficients on one side.",
            "Merge rare levels, or set the prior.",
        )
    ]


def completely():
    """The warning of complete separation, in a list."""
    return [
        SeparationWarning(
            "the predictors separate the outcomes completely: every row can be classified without "
            "error.",
            "Coefficients are bounded by the prior alone; check for a predictor that encodes the "
            "outcome.",
        )
    ]


def uniformly():
    """The warning of outcomes that are all the same, in a list."""
    return [
        SeparationWarning(
            "all outcomes are the same (0 or 1, or counts of 0): the likelihood has no maximum.",
            "The prior alone bounds the coefficients on one side; check the outcome, or set the "
            "prior.",
        )
    ]


def partly(combinations):
    """The warning of quasi-complete separation by combinations of columns, in a list.

    Parameters
    ----------
    combinations : list of str
        In words.
    """
    shown = "; ".join(combinations[:6]) + ("; and others" if len(combinations) > 6 else "")
    return [
        SeparationWarning(
            f"some outcomes are separated (quasi-complete separation) by {shown}.",
            "The prior alone bounds these coefficients in one direction; merge rare levels, drop "
            "columns or set the prior.",
        )
    ]


def linear_predictor(model, theta):
    """Linear predictors of all rows, offset included."""
    return products(model.X, theta) + (np.asarray(model.offset) if len(model.offset) else 0.0)


def lopsided_columns(X, successes, failures, intercept=None):
    """Walls of a table: two-valued columns, one of whose values occurs at most FEW_CONTRARY times
    with one of the outcomes.
    """
    columns, low, high, cells = pairs_of(X, successes, failures, intercept)
    contrary = cells.min(axis=1)
    side = contrary.argmin(axis=0)  # 0: the high value is lopsided
    tried = cells.any(axis=1).all(axis=0)  # each value has outcomes: rows may be without trials
    found = np.flatnonzero(
        tried & (contrary.min(axis=0) <= FEW_CONTRARY) & (contrary[0] != contrary[1])
    )
    # sign of the linear predictor of the usual outcome
    usual = np.where(cells[:, 0] > cells[:, 1], 1, -1)
    return [
        Wall(
            int(columns[k]),
            float((low, high)[side[k]][k]),
            int(cells[side[k], :, k].sum()),
            int(contrary[side[k], k]),
            float((high - low)[k] * (1, -1)[side[k]]),
            int(usual[side[k], k]),
        )
        for k in found
    ]


def pairs_of(X, successes, failures, intercept=None):
    """Two-valued columns of a table, however it is stored; see `pairs`."""
    if hasattr(X, "codes"):
        return coded_pairs(X, successes, failures, intercept)
    if hasattr(X, "indptr"):
        return stored_pairs(X, successes, failures)
    return pairs(X, successes, failures, intercept)


def pairs(X, successes, failures, intercept=None):
    """Two-valued columns of a dense table, one of which may be known to be constant.

    Returns
    -------
    columns : array (k,)
    low, high : array (k,)
        Their values.
    cells : array (2, 2, k)
        Outcomes by value (high, low) and kind (success, failure).
    """
    head = X[:1000]
    # hardly more than wanted
    columns = np.flatnonzero(((head == head.min(axis=0)) | (head == head.max(axis=0))).all(axis=0))
    columns = columns[columns != intercept]
    if not len(columns):
        return columns, np.empty(0), np.empty(0), np.zeros((2, 2, 0), dtype=int)
    first = X[0, columns]
    other, two_valued = first.copy(), np.ones(len(columns), dtype=bool)
    counts, apart = np.zeros((2, 1), dtype=int), np.zeros((2, len(columns)), dtype=int)
    for rows in spans(len(successes), chunk_rows(len(columns))):
        part = X[rows, columns]
        differs = part != first
        new = (other == first) & differs.any(axis=0)
        other[new] = part[differs[:, new].argmax(axis=0), np.flatnonzero(new)]
        two_valued &= (~differs | (part == other)).all(axis=0)
        if not two_valued.any():
            break
        of_kind = [count[rows] for count in (successes, failures)]
        counts += [[int(count.sum())] for count in of_kind]
        # sums of counts are exact; BLAS has none of integers
        apart += [(count @ differs.astype(float)).astype(int) for count in of_kind]
    two_valued &= other != first
    cells = np.where(other > first, [apart, counts - apart], [counts - apart, apart])
    low, high = np.minimum(first, other), np.maximum(first, other)
    return columns[two_valued], low[two_valued], high[two_valued], cells[..., two_valued]


def stored_pairs(X, successes, failures):
    """The same for a CSR array, from what it stores."""
    n, d = X.shape
    successes, failures = successes[:], failures[:]
    kept = X.data != 0
    columns, values = X.indices[kept], X.data[kept]
    absent = np.bincount(columns, minlength=d) < n  # columns with zeros
    low, high = np.where(absent, 0.0, np.inf), np.where(absent, 0.0, -np.inf)
    np.minimum.at(low, columns, values)
    np.maximum.at(high, columns, values)
    other = (values != low[columns]) & (values != high[columns])
    two_valued = (
        (low < high)
        & ((low == 0) | (high == 0) | ~absent)
        & (np.bincount(columns, other, minlength=d) == 0)
    )
    up = values > 0.5 * (low + high)[columns]
    cells = np.zeros((2, 2, d), dtype=int)
    for k, count in enumerate((successes, failures)):
        each = np.repeat(count, np.diff(X.indptr))[kept]
        stored_up, stored = (np.bincount(columns, numbers, d) for numbers in (each * up, each))
        cells[0, k] = stored_up + np.where(high == 0, count.sum() - stored, 0)
        cells[1, k] = count.sum() - cells[0, k]
    keep = np.flatnonzero(two_valued)
    return keep, low[keep], high[keep], cells[..., keep]


class Term:
    """A categorical term of a coded table whose rows are made dense as they are asked for.

    Parameters
    ----------
    table : CodedTable
    t : int
        The term's number.
    """

    def __init__(self, table, t):
        self.table, self.t = table, t

    def __getitem__(self, places):
        """Some rows, a slice, or a pair of these and columns."""
        rows, columns = places if isinstance(places, tuple) else (places, slice(None))
        one = isinstance(rows, int)
        found = self.table[slice(rows, rows + 1) if one else rows].term(self.t)[:, columns]
        return found.toarray()[0] if one else found.toarray()


def coded_pairs(X, successes, failures, intercept=None):
    """The same for a table of coded factors: of each term its cells are the rows."""
    places = np.flatnonzero(X.places == intercept)
    columns, *found = pairs(X.numbers, successes, failures, places[0] if len(places) else None)
    parts = [(X.places[columns], *found)]
    for t, by in enumerate(X.by):
        if by >= 0 and is_large(X, len(successes)):
            parts.append(pairs(Term(X, t), successes, failures))
            continue
        if by >= 0:
            parts.append(stored_pairs(X.term(t), successes, failures))
            continue
        used = np.flatnonzero(X.counted(t))
        counts = [X.counted(t, outcomes)[used] for outcomes in (successes, failures)]
        parts.append(stored_pairs(X.cells[used], *counts))
    return tuple(np.concatenate(pieces, axis=-1) for pieces in zip(*parts))
