"""The response of a formula, evaluated on tables that were not there when it was read; it can be
pickled.
"""

import types
from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc.arguments.data.limited import framed, is_records
from sgmc.arguments.types import Floats, Frame
from sgmc.errors import DataError
from sgmc.formula.data.chunks import Chunk, evaluate
from sgmc.formula.data.columns import codes_of
from sgmc.formula.evaluation.code import Check
from sgmc.formula.outcomes import counts, numeric, pairs

if TYPE_CHECKING:
    from sgmc.formula.syntax.parser import Parsed


class Response:
    """The left side of a formula, with the levels that all rows have.

    Parameters
    ----------
    parsed : Parsed
    levels : tuple or None
        Of the outcome; None for numbers.
    counted : bool
        Whether it is counts of successes and failures.
    """

    def __init__(self, parsed: "Parsed", levels: tuple[Any, ...] | None, counted: bool) -> None:
        self.code, self.levels = parsed.response, levels
        self.label = parsed.names.label(parsed.response)
        self.inputs = parsed.names.inputs(parsed.response)
        self.summands = parsed.summands if counted else ()
        self.labels = {code: parsed.names.label(code) for code in self.summands}
        words = compile(self.code, "<formula>", "eval").co_names
        self.functions = {k: v for k, v in parsed.functions.items() if k in words}

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the data that it needs."""
        return list(self.inputs.values())

    def value(self, frame: Frame, rows: Any) -> Any:
        """Its value in some complete rows: a Series, or a frame of two columns of counts."""
        columns = Chunk(frame, rows)
        if self.summands:
            label = self.labels.__getitem__
            return pairs(self.summands, label, self.functions, columns, self.inputs)
        names = {place: columns[name] for place, name in self.inputs.items()}
        value = evaluate(self.code, self.functions, names, self.label, len(rows))
        if is_records(value):
            return framed(value)
        if np.shape(value) != (len(rows),):
            raise DataError(
                f"the response {self.label!r} must be one column of {len(rows)} values, its shape "
                f"is {np.shape(value)}"
            )
        return pd.Series(value).reset_index(drop=True)

    def outcomes(self, value: Any) -> tuple[Floats, Floats | None]:
        """(y, trials) of a value without gaps: numbers, or the places of its levels."""
        if self.summands:
            return counts(value, self.label)[:2] if len(value) else (np.empty(0), np.empty(0))
        if self.levels is None:
            return numeric(value, self.label)[0], None
        return codes_of(value, self.levels, self.label).astype(np.float64), None

    def to_file(self) -> dict[str, Any]:
        """The attributes that a file keeps."""
        return vars(self)

    def of_file(self, state: dict[str, Any]) -> None:
        """Take over the attributes in a file."""
        vars(self).update(state)

    def refuse_code(self, own: Collection[str]) -> None:
        """Raise `Refused` for code that formulas from outside may not have."""
        for code in self.summands or (self.code,):
            Check(self.inputs, self.functions, own).code(code)

    def __getstate__(self) -> dict[str, Any]:
        modules = {k: v.__name__ for k, v in self.functions.items() if is_module(v)}
        functions = {k: v for k, v in self.functions.items() if k not in modules}
        return {**vars(self), "functions": functions, "modules": modules}

    def __setstate__(self, state: dict[str, Any]) -> None:
        modules = state.pop("modules")
        vars(self).update(state)
        self.functions |= {name: import_module(home) for name, home in modules.items()}


def is_module(value: Any) -> bool:
    """Return whether a value is a module, which refuses to be pickled."""
    return isinstance(value, types.ModuleType)
