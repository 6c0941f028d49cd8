"""Monotonic effects of ordered predictors, ``mo(x)`` (Bürkner & Charpentier 2020,
doi:10.1111/bmsp.12195): a column for each level but the lowest, which is one from that level on,
so that coefficients are the increments from level to level.
"""

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sgmc.errors import DataError, FormulaError
from sgmc.formula.data.columns import codes_of, kind
from sgmc.formula.evaluation.transforms import Categories
from sgmc.formula.evaluation.widths import word_of

MOST_ORDERED = 100  # levels of an ordered predictor


class Monotonic(Categories):
    """``mo(x)``: ordered categories, or whole numbers, whose levels are those of the fit."""

    def memorize_chunk(self, data: Any) -> None:  # type: ignore[override]
        """Collect the levels; DataError where they have no order."""
        values = pd.Series(data)
        what, name = kind(values), values.name or "x"
        if what == "category" and not values.cat.ordered or what not in ("category", "number"):
            raise DataError(
                f"mo({name}): the levels need an order, and {name} has {WITHOUT.get(what, what)}; "
                f"make ordered categories, pd.Categorical(df[{name!r}], categories=[...], "
                "ordered=True), or whole numbers"
            )
        if what == "number":
            known = values.dropna()
            if (known % 1 != 0).any():
                raise DataError(
                    f"mo({name}): a number of a level must be whole, and {name} is "
                    f"{known[known % 1 != 0].iloc[0]:g}; use s({name}) for a curve"
                )
        super().memorize_chunk(values)

    def memorize_finish(self) -> None:
        """Order the levels; DataError unless there are two, and not too many."""
        name = pd.Series(self._seen[0]).name or "x"
        super().memorize_finish()
        if not 2 <= len(self.levels) <= MOST_ORDERED:
            raise DataError(
                f"mo({name}): {name} is constant; leave the term out"
                if len(self.levels) < 2
                else f"mo({name}): there are {len(self.levels):,} levels; an effect has 2 to "
                f"{MOST_ORDERED}: use s({name}) for a curve"
            )

    def transform(self, data: Any) -> Any:  # type: ignore[override]
        """The columns, (n, levels - 1)."""
        values = pd.Series(data)
        code = codes_of(values, self.levels, values.name)
        columns = (code[:, None] >= np.arange(1, len(self.levels))).astype(float)
        columns[code < 0] = np.nan  # no value, which is reported with the design
        return pd.DataFrame(columns, values.index, [str(one) for one in self.levels[1:]])


WITHOUT = {
    "category": "categories without one",
    "text": "text",
    "bool": "truth values",
    "date": "dates",
}


def ordered_levels(label: str, code: str, transforms: Mapping[str, Any]) -> list[Any]:
    """Levels in their order of a factor that is a call of `mo`; empty for any other.

    Parameters
    ----------
    label : str
        The factor, as written.
    code : str
        As it is evaluated.
    transforms : dict
        Those of its code.
    """
    found = [one for one in transforms.values() if isinstance(one, Monotonic)]
    if not found:
        return []
    call = ast.parse(code.strip(), mode="eval").body
    if len(found) > 1 or not isinstance(call, ast.Call) or word_of(call) != "mo":
        raise FormulaError(
            f"{label!r}: mo(x) is a term, or part of a product of terms, such as mo(x):z; it goes "
            "into no other function"
        )
    return list(found[0].levels)
