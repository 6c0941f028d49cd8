"""Fitted factors: a column of the data or an expression of columns, as numbers or codes; they can
be pickled.
"""

import types
from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import patsy

from sgmc.arguments.types import Array
from sgmc.errors import FormulaError
from sgmc.formula.data.chunks import COLUMN, evaluate
from sgmc.formula.data.columns import LevelIndexer, kind
from sgmc.formula.data.labels import cure_of_text
from sgmc.formula.evaluation.code import Check
from sgmc.formula.evaluation.monotone import ordered_levels
from sgmc.formula.evaluation.restored import check_restored

if TYPE_CHECKING:
    from sgmc.formula.data.chunks import Chunk
    from sgmc.formula.syntax.parser import Parsed


class Factor:
    """One fitted factor: a column of the data or an expression of columns.

    Parameters
    ----------
    fitted : patsy.FactorInfo
    parsed : Parsed
    levels : tuple, optional
        Of a column of categories, of which patsy has seen stand-ins.
    """

    places: LevelIndexer | None = None  # of the levels, once they are asked for
    # whether numbers of all rows are in its code, and whether it needs these rows even so: `across`
    settled = across = False

    def __init__(
        self, fitted: Any, parsed: "Parsed", levels: tuple[Any, ...] | None = None
    ) -> None:
        self.is_column = isinstance(fitted.factor, patsy.LookupFactor)
        written = fitted.factor.name().removeprefix(COLUMN)
        self.label = parsed.names.label(written)
        self.quoted = parsed.names.quoted(written)
        self.inputs = parsed.names.inputs(written)
        self.levels = fitted.categories if levels is None else levels
        self.width = fitted.num_columns
        self.code = fitted.state.get("eval_code", written)
        words = compile(self.code, "<formula>", "eval").co_names
        self.functions = {name: value for name, value in parsed.functions.items() if name in words}
        self.transforms = fitted.state.get("transforms", {})

    @property
    def ordered(self) -> list[Any]:
        """Levels of a monotonic effect, whose columns are the increments to all but the lowest;
        empty for other factors.
        """
        return ordered_levels(self.quoted, self.code, self.transforms)

    def evaluate(self, columns: "Chunk") -> Any:
        """The value of the factor, before any coding."""
        names = {place: columns[name] for place, name in self.inputs.items()}
        if self.is_column:
            return names[self.code]
        functions = {**self.functions, **self.transforms}
        return evaluate(self.code, functions, names, self.label, columns.n_rows)

    def values(self, columns: "Chunk") -> Array:
        """Numbers of shape (m, width), or for categories their codes of shape (m,)."""
        if self.levels is not None:
            if self.places is None:
                self.places = LevelIndexer(self.levels, self.label)
            found = self.evaluate(columns)
            if np.ndim(found) == 0:
                raise FormulaError(
                    f"{self.label!r} must have a value in each row, it is {found!r}: leave it out"
                )
            return self.places.of(pd.Series(found))
        numbers = (
            columns.numbers(self.inputs[self.code])
            if self.is_column
            else np.asarray(self.evaluate(columns))
        )
        if self.is_column and numbers.dtype.kind not in "biuf":
            column = columns[self.inputs[self.code]]
            raise FormulaError(
                f"column {self.label!r} held numbers in the fit and holds {kind(column)} in the "
                f"new data{cure_of_text(column)}"
            )
        if numbers.dtype.kind not in "biuf" or numbers.size != columns.n_rows * self.width:
            one = self.width == 1 or not np.ndim(numbers) or len(numbers) != columns.n_rows
            expected = "a number" if one else f"{self.width} numbers"
            found = f"shape {numbers.shape} of {numbers.dtype}"
            raise FormulaError(f"{self.label!r} must be {expected} in each row, it has {found}")
        return numbers.reshape(columns.n_rows, self.width)

    def to_file(self) -> dict[str, Any]:
        """The attributes that a file keeps."""
        return {**vars(self), "places": None}

    def of_file(self, state: dict[str, Any]) -> None:
        """Take over the attributes in a file; ValueError for transforms that no fit makes."""
        vars(self).update(state)
        for one in self.transforms.values():
            check_restored(one)

    def refuse_code(self, own: Collection[str]) -> None:
        """Raise `Refused` for code that formulas from outside may not have; `own` are names of the
        user's functions.
        """
        if not self.is_column:
            Check(self.inputs, self.functions, own, self.transforms, False).code(self.code)

    def __getstate__(self) -> dict[str, Any]:
        # modules and patsy's transforms refuse to be pickled: their name, their attributes stand
        # for them
        functions = {
            name: _Module(value.__name__) if isinstance(value, types.ModuleType) else value
            for name, value in self.functions.items()
        }
        transforms = {name: (type(value), vars(value)) for name, value in self.transforms.items()}
        return {
            **vars(self),
            "functions": functions,
            "transforms": transforms,
            "places": None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.functions = {
            name: import_module(value.name) if isinstance(value, _Module) else value
            for name, value in self.functions.items()
        }
        self.transforms = {name: _restored(*pieces) for name, pieces in state["transforms"].items()}


@dataclass(frozen=True)
class _Module:
    name: str


def _restored(cls: Any, attributes: dict[str, Any]) -> Any:
    instance = cls.__new__(cls)
    vars(instance).update(attributes)
    return instance
