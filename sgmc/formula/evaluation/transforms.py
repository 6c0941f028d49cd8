"""Functions of patsy's that formulas may use, without its loops over rows in Python."""

from typing import Any

import numpy as np
import pandas as pd
import patsy
from patsy.splines import BS

from sgmc.arguments.types import Floats
from sgmc.core.system.memory import Forecast, available
from sgmc.errors import FormulaError
from sgmc.formula.data.columns import codes_of, levels_of

MOST_DEGREE = 10  # of B-splines; FITPACK, by which patsy makes them, leaves its arrays from 20 on

CONTRASTS = 3  # arrays of levels^2 numbers that patsy makes of a factor's contrasts


class Standardize:
    """Subtract the mean, divide by the standard deviation; patsy's `standardize` without its loop
    over rows in Python.
    """

    def __init__(self) -> None:
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    def memorize_chunk(
        self, x: Any, center: bool = True, rescale: bool = True, ddof: int = 0
    ) -> None:
        """Add rows to the moments; infinite ones wait to be reported with the design."""
        x = np.asarray(x, dtype=np.float64)
        x = x[np.isfinite(x).reshape(len(x), -1).all(axis=1)]
        if len(x):
            delta = x.mean(axis=0) - self.mean
            total = self.count + len(x)
            self.squares = (
                self.squares
                + ((x - x.mean(axis=0)) ** 2).sum(axis=0)
                + delta**2 * self.count * len(x) / total
            )
            self.mean = self.mean + delta * len(x) / total
            self.count = total

    def memorize_finish(self) -> None:
        """Nothing is left to do after the last chunk."""

    def transform(self, x: Any, center: bool = True, rescale: bool = True, ddof: int = 0) -> Floats:
        """Apply the memorized moments."""
        x = np.asarray(x, dtype=np.float64)
        centred = x - self.mean if center else x
        return centred / np.sqrt(self.squares / (self.count - ddof)) if rescale else centred


class Center(Standardize):
    """Subtract the mean."""

    def memorize_chunk(self, x: Any) -> None:  # type: ignore[override]
        """Add rows to the mean."""
        super().memorize_chunk(x)

    def transform(self, x: Any) -> Floats:  # type: ignore[override]
        """Apply the memorized mean."""
        return super().transform(x, rescale=False)


class BSplines(BS):
    """Patsy's `bs`, its columns made by scipy's compiled loop over all of them; where knots are
    given, it does not hold all values.
    """

    def memorize_chunk(
        self,
        values: Any,
        df: int | None = None,
        knots: Any = None,
        degree: int = 3,
        *given: Any,
        **how: Any,
    ) -> None:
        """Collect the values, or the least and the largest, by which the outer knots are placed."""
        if not isinstance(degree, int | np.integer) or not 0 <= degree <= MOST_DEGREE:
            raise FormulaError(
                f"bs({name_of(values)}, degree={degree!r}): the degree must be a whole number from "
                f"0 to {MOST_DEGREE}"
            )
        x = np.asarray(values)
        if x.ndim == 1 and x.dtype.kind == "f":
            x = x[np.isfinite(x)]  # others have no value, and are reported with the design
        self.name = name_of(values)
        super().memorize_chunk(x, df, knots, degree, *given, **how)
        chunks = self._tmp["xs"]
        if knots is not None and len(chunks[-1]):
            chunks[-1] = np.array([np.min(chunks[-1]), np.max(chunks[-1])])

    def memorize_finish(self) -> None:
        """Place the knots; FormulaError where no curve fits between them."""
        super().memorize_finish()
        name, knots = self.__dict__.pop("name"), self._all_knots
        if not (np.isfinite(knots).all() and knots[0] < knots[-1]):
            raise FormulaError(
                f"bs({name}, ...) needs finite knots and two different ends, not {knots[0]:g} and "
                f"{knots[-1]:g}: give other knots, or leave {name} out if it is constant"
            )

    def transform(
        self,
        x: Any,
        df: int | None = None,
        knots: Any = None,
        degree: int = 3,
        include_intercept: bool = False,
        *_: Any,
        **__: Any,
    ) -> Any:
        """The basis at values between the outer knots; FormulaError beyond."""
        from scipy.interpolate import BSpline  # only here: it takes long to import

        values, low, high = np.asarray(x, dtype=float), self._all_knots[0], self._all_knots[-1]
        beyond = values[(values < low) | (values > high)]
        if len(beyond):
            name = name_of(x)
            raise FormulaError(
                f"bs() of {name}, or of an expression with it, is defined from {low:.6g} to "
                f"{high:.6g}, the values of the fit, and has {beyond[0]:.6g} in a row: take values "
                f"between these (comparisons: variables={{{name!r}: [a, b]}}, in units of the "
                "column), wider ends, bs(..., lower_bound=..., upper_bound=...), or ns(), which "
                "goes on as a straight line"
            )
        each = np.eye(len(self._all_knots) - self._degree - 1)
        basis = BSpline(self._all_knots, each, self._degree)(values.reshape(len(values)))
        basis = basis if include_intercept else basis[:, 1:]
        index = getattr(x, "index", None)
        return basis if index is None else pd.DataFrame(basis, index, copy=False)


def name_of(x: Any) -> str:
    """The name of a column as a message shows it."""
    return getattr(x, "name", None) or "x"


class Categories:
    """Patsy's `C`: values as categories, with levels found once and without a loop over rows in
    Python.
    """

    def __init__(self) -> None:
        self.levels: Any = None
        self._seen: list[Any] = []

    def memorize_chunk(
        self, data: Any, contrast: Any = None, levels: Any = None, **others: Any
    ) -> None:
        """Collect the levels, unless they are given; FormulaError for R's arguments."""
        for name in others:
            raise FormulaError(
                f"C() and factor() have no argument {name!r}; they take contrast= and levels=: "
                "C(g, Treatment('a')) or relevel(g, ref='a') makes 'a' the reference, and "
                "levels=['b', 'a'] is the order of the levels"
            )
        coded = callable(contrast) or isinstance(contrast, patsy.ContrastMatrix)
        coded = coded or hasattr(contrast, "code_without_intercept") or np.ndim(contrast) == 2
        if contrast is not None and not coded:
            raise FormulaError(
                f"C({name_of(data)}, {contrast!r}): the second argument is no contrast: write "
                "Treatment('a'), Sum, Helmert, Diff or Poly, or a matrix with a row a level"
            )
        self.levels = None if levels is None else tuple(levels)
        self._seen.append(pd.Series(data).drop_duplicates())

    def memorize_finish(self) -> None:
        """Order the levels of all chunks; OutOfMemoryError where there is no room for contrasts."""
        seen = pd.concat(self._seen, ignore_index=True)
        if self.levels is None:
            self.levels = levels_of(seen)
        del self._seen
        name, count = seen.name or "x", len(self.levels)
        blame = (
            f"C({name}) has {count:,} levels, whose contrasts are dense; join rare levels, or make "
            f"a column of text or categories of it, whose levels stay codes"
        )
        contrasts = {"contrasts": CONTRASTS * 8.0 * count**2}
        Forecast(contrasts, blame, available()).refuse()

    def transform(self, data: Any, contrast: Any = None, levels: Any = None) -> Any:
        """The values as a pandas Categorical that carries the contrast where patsy looks for it."""
        values = pd.Series(data)
        coded = pd.Categorical.from_codes(
            codes_of(values, self.levels, values.name), categories=self.levels
        )
        coded.contrast = contrast
        return coded
