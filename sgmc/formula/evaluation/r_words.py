"""Terms of R that learn from all rows: `poly`, `ns` and `relevel`."""

from typing import Any

import numpy as np

from sgmc.arguments.messages import label_text, labels_text
from sgmc.arguments.types import Floats
from sgmc.errors import DataError
from sgmc.formula.evaluation.transforms import Categories
from sgmc.splines.natural import natural_splines

MOST_CONDITION = 1e9  # of the powers, their lengths aside: columns are orthogonal to about 1e-7


def one_number(x: Any, what: str) -> Floats:
    """Numbers, one a row; DataError, naming the call, where they are not."""
    numbers = np.asarray(x)
    if numbers.ndim != 1 or numbers.dtype.kind not in "biuf":
        raise DataError(
            f"{what} must be of one number a row, not of {numbers.dtype} with shape {numbers.shape}"
        )
    return numbers.astype(np.float64)


def check_degree(degree: int) -> None:
    """DataError where the degree of `poly` is no whole number from 1 on."""
    if not isinstance(degree, int | np.integer) or isinstance(degree, bool) or degree < 1:
        raise DataError(f"poly(x, {degree!r}): the degree must be a whole number from 1 on")


def condition(matrix: Floats) -> float:
    """The condition number of a matrix whose columns are brought to one length."""
    length = np.linalg.norm(matrix, axis=0)
    return np.linalg.cond(matrix / np.where(length > 0, length, 1.0))


class Poly:
    """R's ``poly(x, degree)``: polynomials that are orthonormal on the rows of the fit.

    Column k is the polynomial of degree k with a positive leading coefficient that is orthogonal to
    all lower ones and to constants on these rows, of length 1: those of the recurrence of Kennedy &
    Gentle (1980), Statistical Computing, pp. 343-344.  Here they are T R^-1, T Chebyshev's
    polynomials of a shifted and scaled x and T = Q R, R being updated with each chunk of rows.
    With ``raw=True`` columns are powers of x.
    """

    def __init__(self) -> None:
        self.middle: Any = None
        self.scale: Any = None
        self.triangle: Any = None

    def memorize_chunk(self, x: Any, degree: int = 1, raw: bool = False) -> None:
        """Add rows to R; infinite ones wait to be reported with the design."""
        check_degree(degree)
        x = one_number(x, "poly()")
        x = x[np.isfinite(x)]
        if raw or not len(x):
            return
        if self.middle is None:
            self.middle = float(x.mean())
            self.scale = float(np.abs(x - self.middle).max()) or 1.0
            self.triangle = np.zeros((0, degree + 1))
        rows = np.vstack([self.triangle, self._chebyshev(x, degree)])
        # before there are more rows than columns there is no triangle to make
        self.triangle = np.linalg.qr(rows, mode="r") if len(rows) > degree else rows

    def _chebyshev(self, x: Any, degree: int) -> Floats:
        return np.polynomial.chebyshev.chebvander((x - self.middle) / self.scale, degree)

    def memorize_finish(self) -> None:
        """Give leading coefficients their sign."""
        if self.triangle is None:
            return
        height, width = self.triangle.shape
        if height < width or condition(self.triangle) > MOST_CONDITION:
            raise DataError(
                f"poly(x, {width - 1}) needs more than {width - 1} different values in its column, "
                "whose powers can be told apart in double precision: use a smaller degree, or s(x)"
            )
        self.triangle = self.triangle * np.sign(np.diag(self.triangle))[:, None]

    def transform(self, x: Any, degree: int = 1, raw: bool = False) -> Floats:
        """The columns, (n, degree)."""
        x = one_number(x, "poly()")
        if raw:
            return x[:, None] ** np.arange(1, degree + 1)
        if self.triangle is None:  # there was no finite number
            return np.full((len(x), degree), np.nan)
        powers = self._chebyshev(x, degree)
        return np.linalg.solve(self.triangle.T, powers.T).T[:, 1:]


class NaturalTerm:
    """R's ``ns(x, df)``, see `NaturalSplines`; with knots given it holds no values."""

    def __init__(self) -> None:
        self.basis: Any = None
        self._seen: list[Floats] = []

    def memorize_chunk(
        self,
        x: Any,
        df: int | None = None,
        knots: Any = None,
        intercept: bool = False,
        boundary_knots: Any = None,
    ) -> None:
        """Collect the values by which knots are placed, or the least and the largest."""
        x = one_number(x, "ns()")
        x = x[~np.isnan(x)]  # which have no value, and are reported with the design
        if knots is not None and len(x):
            x = np.array([x.min(), x.max()])
        self._seen.append(x)
        self._how = df, knots, boundary_knots, intercept

    def memorize_finish(self) -> None:
        """Place the knots."""
        self.basis = natural_splines(np.concatenate(self._seen), *self._how)
        del self._seen, self._how

    def transform(self, x: Any, *_given: Any, **_how: Any) -> Floats:
        """The columns, (n, df)."""
        return self.basis.values(one_number(x, "ns()"))


class Relevel(Categories):
    """R's ``relevel(g, ref)``: the same categories, the one to compare with first."""

    def memorize_chunk(self, data: Any, ref: Any) -> None:  # type: ignore[override]
        """Collect the levels."""
        super().memorize_chunk(data)
        self.ref = ref

    def memorize_finish(self) -> None:
        """Put the reference first."""
        super().memorize_finish()
        found = [one for one in self.levels if one == self.ref or str(one) == str(self.ref)]
        if not found:
            raise DataError(
                f"relevel(): there is no level {label_text(self.ref)}; levels are "
                f"{labels_text(self.levels, 10)}"
            )
        self.levels = (found[0], *(one for one in self.levels if one != found[0]))

    def transform(self, data: Any, ref: Any) -> Any:  # type: ignore[override]
        """The values with their levels in that order."""
        return super().transform(data)
