"""What a pass over the rows learns, chunk by chunk: facts of chunks merge to those of all rows."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from sgmc.formula.data.chunks import add_undefined, refuse_gaps
from sgmc.prepared.first_pass.columns import ColumnFacts

EXAMPLES = 4  # distinct numbers of the response that messages may show
FIRST_ROWS = 1000  # of a chunk, in which enough of them are as a rule


@dataclass
class Facts:
    """What some rows tell.

    Attributes
    ----------
    rows, used, complete, missing : int
        Rows of the source, those of the subset, and of these the ones that lack nothing, or
        something.
    counts : dict
        Label -> rows of the subset that lack it.
    undefined : dict
        Label of an expression -> its `Undefined`, the rows counted from 0 in the source.
    columns : dict
        Name -> `ColumnFacts`, of the rows that are complete, or else of the subset.
    strata : ColumnFacts or None
        Of all rows.
    response : ColumnFacts or None
        Distinct values of the response as its `levels`, in their order; of numbers the first ones.
    extremes : dict
        Of vectors and of a response of numbers the least and the largest number.
    """

    rows: int = 0
    used: int = 0
    complete: int = 0
    missing: int = 0
    counts: dict = field(default_factory=dict)
    undefined: dict = field(default_factory=dict)
    columns: dict = field(default_factory=dict)
    strata: ColumnFacts | None = None
    response: ColumnFacts | None = None
    extremes: dict = field(default_factory=dict)

    def merge(self, other):
        """Add the facts of later rows, see `ColumnFacts.merge`."""
        for found in other.undefined.values():
            add_undefined(self.undefined, replace(found, row=found.row + self.rows))
        for name in ("rows", "used", "complete", "missing"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for label, count in other.counts.items():
            self.counts[label] = self.counts.get(label, 0) + count
        for name, facts in other.columns.items():
            merged(self.columns, name, facts)
        for name in ("strata", "response"):
            known, new = getattr(self, name), getattr(other, name)
            if known is None:
                setattr(self, name, new)
            elif new is not None:
                known.merge(new)
        for name, (low, high) in other.extremes.items():
            known = self.extremes.get(name, (low, high))
            self.extremes[name] = min(low, known[0]), max(high, known[1])
        return self

    def check(self, on_missing):
        """Raise a DataError for missing rows that the user refuses; see `refuse_gaps`."""
        refuse_gaps(self.counts, self.missing, self.complete, on_missing, self.undefined)

    def examples(self):
        """Values of the response as a Series of its kind, see `outcome.as_outcome`."""
        response, dtype = self.response, None
        found = list(response.levels)
        if response.kind == "number":
            found = found[:EXAMPLES] + list(self.extremes[response.name])
        elif response.kind == "bool":
            found = [response.first, *[not response.first] * response.varies]
        elif response.kind == "category":
            dtype = pd.CategoricalDtype(response.found_levels())
            found = list(dtype.categories)
        else:
            dtype = object
        return pd.Series(found, dtype=dtype, name=response.name)


def merged(known, name, facts):
    """Add facts to those in a dict."""
    if name in known:
        known[name].merge(facts)
    else:
        known[name] = facts


def of_chunk(selection, studied, frame, complete=True):
    """The facts of a chunk, and its complete rows.

    Parameters
    ----------
    selection : Selection
    studied : list of str
        Columns.
    frame : DataFrame
    complete : bool
        Whether columns are studied in complete rows only, or in all those of the subset.
    """
    gaps, response = selection.gaps(frame)
    rows = gaps.complete()
    facts = Facts(
        rows=len(frame),
        used=int(gaps.used.sum()),
        complete=len(rows),
        missing=int(gaps.missing.sum()),
        counts=gaps.counts,
        undefined=gaps.undefined,
    )
    among = rows if complete else np.flatnonzero(gaps.used)
    whole = len(among) == len(frame)
    for name in studied:
        column = frame[name] if whole else frame[name].iloc[among]
        facts.columns[name] = ColumnFacts.of(column)
    for argument, name in selection.vectors.items():
        if argument == "strata":
            facts.strata = ColumnFacts.of(frame[name])
        facts.columns.setdefault(name, ColumnFacts.of(frame[name].iloc[rows]))
        if facts.columns[name].kind in ("number", "bool") and len(rows):
            facts.extremes[argument] = extremes(frame[name].iloc[rows])
    if response is not None and len(rows):
        learn_response(facts, response[~gaps.missing[response.index]], selection.terms)
    return facts, rows


def learn_response(facts, response, terms):
    """Add what a chunk's response tells: kind, extremes, distinct values."""
    label = terms.parsed.names.label(terms.parsed.response)
    if isinstance(response, pd.DataFrame):  # counts
        for name, column in response.items():
            facts.columns[name] = ColumnFacts.of(column)
            if facts.columns[name].kind == "number":
                facts.extremes[f"column {name!r}"] = extremes(column)
        return
    facts.response = ColumnFacts.of(response.rename(label))
    if facts.response.kind == "number":
        facts.extremes[label] = extremes(response)
        first = pd.unique(response.iloc[:FIRST_ROWS])
        if len(first) < EXAMPLES and len(response) > FIRST_ROWS:
            first = pd.unique(response)
        facts.response.levels = dict.fromkeys(first[:EXAMPLES].tolist(), True)


def extremes(values):
    """The least and the largest of a column of numbers, none missing."""
    numbers = values.to_numpy(dtype=np.float64)
    return float(numbers.min()), float(numbers.max())
