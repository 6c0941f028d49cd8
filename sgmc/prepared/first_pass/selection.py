"""Which rows of a chunk are used: those of the subset that have all that the formula needs."""

import re

import numpy as np
import pandas as pd
import patsy

from sgmc.core.system.memory import shown
from sgmc.errors import DataError, OutOfMemoryError
from sgmc.formula.data.chunks import Chunk, Expression, Gaps
from sgmc.formula.data.columns import is_missing
from sgmc.formula.designs.across import looks_around
from sgmc.formula.evaluation.functions import FUNCTIONS
from sgmc.formula.subsets import subset_columns, subset_mask


class Selection:
    """The rows of a chunk that are used, as `sgmc.formula.read` chooses them among all rows.

    Parameters
    ----------
    terms : Terms
    columns : list of str
        That have to be there.
    vectors : dict
        Argument such as "weights" -> its column.
    subset : str, function or None
    specs : tuple of DesignSpec
        Whose expressions must have values, too.
    response : bool
        Whether the response must have.
    expressions : list of Expression
        That must have values, too, and need no fit for it.
    """

    def __init__(self, terms, columns, vectors, subset, specs=(), response=True, expressions=()):
        self.terms, self.columns, self.vectors = terms, columns, vectors
        self.subset, self.specs, self.response = subset, specs, response
        self.expressions = expressions

    def names(self, known, beside=()):
        """Columns, among those known, that are looked at; `beside` has more of them."""
        if callable(self.subset):
            return known
        subset = subset_columns(self.subset, pd.DataFrame(columns=known))
        used = {*self.columns, *self.vectors.values(), *subset, *beside}
        return [name for name in known if name in used]

    def gaps(self, frame):
        """`Gaps` of the rows of a chunk, and the response in the rows that are complete but for
        expressions; None without.
        """
        subset = self.subset
        use = slice(None) if subset is None else np.flatnonzero(subset_mask(subset, frame))
        gaps = Gaps(len(frame), use)
        for name in self.columns:
            gaps.add(name, slice(None), is_missing(frame[name]))
        for argument, name in self.vectors.items():
            gaps.add(argument, slice(None), is_missing(frame[name]))
        response = self.outcomes(frame, gaps) if self.response else None
        for spec in self.specs:
            spec.find_gaps(frame, gaps)
        rows = gaps.complete()
        for one in self.expressions:
            gaps.add_values(one, frame, rows, one.evaluate(Chunk(frame, rows)))
        return gaps, response

    def outcomes(self, frame, gaps):
        """The response, indexed by position; its own gaps are added."""
        rows = gaps.complete()
        response = self.terms.response(Chunk(frame, rows)).set_axis(rows)
        if not self.terms.counted:
            gaps.add_values(self.terms.left, frame, rows, response)
        return response


def without_memory(parsed, factors):
    """An `Expression` for each of patsy's factors that is one; None where one has a memory, such as
    ``center(x)``.
    """
    found, scope = [], patsy.EvalEnvironment([parsed.functions])
    for factor in factors:
        if isinstance(factor, patsy.LookupFactor):
            continue
        if factor.memorize_passes_needed({}, scope):
            return None
        found.append(Expression(parsed, factor.code))
    return found


def refuse_hoarding(parsed, factors, rows, limit):
    """Raise OutOfMemoryError for splines that would hold all values of a column at once, where
    these are more than memory is to be used.

    Parameters
    ----------
    parsed : Parsed
    factors : list
        Patsy's.
    rows : int
    limit : float
        Bytes.
    """
    hoarding = [FUNCTIONS[name] for name in ("bs", "ns", "cr", "cc", "te")]
    for factor in factors:
        code = "" if isinstance(factor, patsy.LookupFactor) else factor.code
        names = [name for name in re.findall(r"\w+(?=\()", code) if name in parsed.functions]
        called = [name for name in names if parsed.functions[name] in hoarding]
        if called in (["bs"], ["ns"]) and "knots=" in code.replace(" ", ""):
            continue
        size = 2 * 8.0 * rows * len(called)  # collected, and joined
        if size > limit:
            raise OutOfMemoryError(
                f"{parsed.names.label(code)} places its knots by all values at once, which takes "
                f"about {shown(size)}, more than memory_limit={shown(limit)}: write "
                f"{called[0] if called[0] == 'ns' else 'bs'}(x, knots=[...]), or give more memory"
            )


def refuse_looking_around(selection, spec, frame):
    """Raise DataError where the subset, the response or an expression of the formula gives a row
    another value when fewer rows are seen: chunk by chunk, all rows would be other than together.

    Parameters
    ----------
    selection : Selection
    spec : DesignSpec
    frame : DataFrame
        A chunk with rows that are used.
    """
    terms, subset = selection.terms, selection.subset
    rows, places = selection.gaps(frame)[0].complete(), np.arange(len(frame))
    if subset is not None:
        refuse(f"subset={subset!r}", lambda some: subset_mask(subset, frame.iloc[some]), places)
    seen = {factor.label: factor.evaluate for factor in spec.expressions}
    if not terms.counted:
        seen[terms.parsed.names.label(terms.parsed.response)] = terms.response
    for label, value in seen.items():
        refuse(label, lambda some, value=value: value(Chunk(frame, some)), rows)


def refuse(label, value, rows):
    """DataError where a value depends on other rows, see `looks_around`."""
    if looks_around(value, rows):
        raise DataError(
            f"the value of {label} in a row depends on other rows: rows are read in "
            "chunks; use center(), standardize() or scale(), or make a column of it first"
        )
