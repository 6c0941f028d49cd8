"""New rows for a design that has been fitted: outcomes, weights and the like are read anew; levels,
contrasts and transforms are those of the fit.
"""

import numpy as np

from sgmc.errors import DataError
from sgmc.formula import dot
from sgmc.formula.columns import codes_of, is_missing, kind
from sgmc.formula.frames import as_frame
from sgmc.formula.reader import Reader, numbers_of
from sgmc.formula.safe import like
from sgmc.formula.subsets import subset_rows


def read_again(spec, data, *, subset=None, missing="drop", outcome="binary", scope=None, **given):
    """Read new rows against the design of a fit.

    Parameters
    ----------
    spec : DesignSpec
        Of the fit; it is not changed.
    data, subset, missing, outcome, scope, **given
        As in `sgmc.formula.read`; `scope` has what the response's expression calls.

    Returns
    -------
    Table

    Raises
    ------
    FormulaError, DataError
        Naming the column.
    """
    frame = as_frame(data)
    if frame.empty:
        raise DataError(f"the new data are empty: {len(frame)} rows, {frame.shape[1]} columns")
    spec.check_new(frame)
    parsed = dot.parse(like(f"{outcome_text(spec)} ~ 1", spec.formula), frame.columns, scope)
    vectors = {
        argument: numbers_of(argument, value, frame)
        for argument, value in given.items()
        if value is not None
    }
    rows = subset_rows(subset, frame)
    return Again(spec, parsed, frame, vectors, rows, outcome, spec.offset).table([], missing)


def outcome_text(spec):
    """The left side of the formula of a fit."""
    return spec.expanded.partition(" ~ ")[0]


class Again(Reader):
    """Reader of new rows with the design of a fit."""

    def __init__(self, spec, *how):
        super().__init__(*how)
        self.spec, levels, coded = spec, spec.levels, self.outcome

        def outcome(values, label):
            if levels is not None:
                return codes_of(values, levels, label).astype(np.float64), None, levels
            one = values.astype(float) if not self.counted and kind(values) == "bool" else values
            return coded(one, label)

        self.outcome = outcome

    def _gaps(self, terms):
        gaps = super()._gaps(terms)
        for name in self.spec.columns:
            gaps.add(name, slice(None), is_missing(self.frame[name]))
        return gaps

    def _fit(self, terms, gaps):
        return [self.spec]
