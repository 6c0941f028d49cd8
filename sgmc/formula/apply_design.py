"""New rows for a design that has been fitted: outcomes, weights and the like are read anew; levels,
contrasts and transforms are those of the fit.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.arguments.data.limited import is_records
from sgmc.arguments.types import Series
from sgmc.errors import DataError
from sgmc.formula.data.columns import codes_of, is_missing, kind
from sgmc.formula.data.frames import as_frame
from sgmc.formula.evaluation.safe import like
from sgmc.formula.parts import PartsSpec, side_by_side
from sgmc.formula.reader import Reader, numbers_of
from sgmc.formula.subsets import subset_rows
from sgmc.formula.syntax import parser

if TYPE_CHECKING:
    from sgmc.formula.data.chunks import Gaps
    from sgmc.formula.table import Table


def read_new_rows(
    spec: Any,
    data: Any,
    *,
    subset: Any = None,
    missing: str = "drop",
    outcome: str = "binary",
    scope: dict[str, Any] | None = None,
    **given: Any,
) -> "Table":
    """Read new rows against the design of a fit.

    Parameters
    ----------
    spec : DesignSpec or PartsSpec
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
    if isinstance(spec, PartsSpec):
        how = dict(missing=missing, outcome=outcome, scope=scope, **given)
        one = partial(read_new_rows, data=frame, subset=subset, **how)
        return replace(side_by_side(spec.specs, one, frame), spec=spec)
    spec.check_new(frame)
    parsed = parser.parse(like(f"{outcome_text(spec)} ~ 1", spec.formula), frame.columns, scope)
    vectors = {
        argument: numbers_of(argument, value, frame)
        for argument, value in given.items()
        if value is not None
    }
    rows = subset_rows(subset, frame)
    return NewRowsReader(spec, parsed, frame, vectors, rows, outcome, spec.offset).table(
        [], missing
    )


def outcome_text(spec: Any) -> str:
    """The left side of the formula of a fit."""
    return spec.expanded.partition(" ~ ")[0]


class NewRowsReader(Reader):
    """Reader of new rows with the design of a fit."""

    def __init__(self, spec: Any, *how: Any) -> None:
        super().__init__(*how)
        self.spec, levels, coded = spec, spec.levels, self.outcome

        def outcome(values: Series, label: str) -> Any:
            if levels is not None:
                return codes_of(values, levels, label).astype(np.float64), None, levels
            plain = self.counted or is_records(values) or kind(values) != "bool"
            return coded(values if plain else values.astype(float), label)

        self.outcome = outcome

    def _gaps(self, terms: list[Any]) -> "Gaps":
        gaps = super()._gaps(terms)
        for name in self.spec.columns:
            gaps.add(name, slice(None), is_missing(self.frame[name]))
        return gaps

    def _fit(self, terms: list[Any], gaps: "Gaps") -> list[Any]:
        return [self.spec]
