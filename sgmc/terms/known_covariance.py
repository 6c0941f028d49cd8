"""Effects of levels with known correlations, ``gr(g, cov=A)``: pedigrees, phylogenies, distances.

In formulas also ``(1 | gr(g, cov=A))``, as in the R package brms.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.types import Floats
from sgmc.splines.level_bases import RootBasis, ends_of, refuse_levels
from sgmc.splines.penalised import TermOfLevels

SYMMETRIC = 1e-8  # by how much of the largest number two that mirror each other may differ
DETERMINED = 1e-10  # of the largest pivot: a smaller one is rounding


@dataclass(frozen=True, eq=False)
class LabelledMatrix:
    """A covariance matrix with labels.

    Attributes
    ----------
    labels : tuple
    values : array (levels, levels)
    """

    labels: tuple[Any, ...]
    values: np.ndarray

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LabelledMatrix)
            and self.labels == other.labels
            and np.array_equal(self.values, other.values)
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, given: Any) -> "LabelledMatrix":
        """Of a table with the same labels on both sides, or a pair (matrix, labels).

        Raises
        ------
        ValueError
            For another object, and for a matrix that is none of covariances.
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, pd.DataFrame):
            labels, values = tuple(given.index), given.to_numpy()
            if labels != tuple(given.columns):
                raise ValueError("cov as a table has the same labels on both sides, in one order")
        elif isinstance(given, tuple | list) and len(given) == 2:
            values = given[0].toarray() if hasattr(given[0], "toarray") else given[0]
            labels = tuple(np.asarray(given[1]).tolist())
        else:
            raise ValueError(
                "cov must be a DataFrame with labels on both sides, or a pair (matrix, labels), "
                f"not {type(given).__name__}"
            )
        values = np.array(values)
        if values.shape != (len(labels),) * 2 or values.dtype.kind not in "iuf":
            raise ValueError(
                f"cov must be numbers, {len(labels)} x {len(labels)} of as many labels, and it "
                f"has the shape {values.shape} of {values.dtype}"
            )
        if len(set(labels)) < len(labels):
            twice = next(one for one in labels if labels.count(one) > 1)
            raise ValueError(f"cov has the label {twice!r} twice")
        return cls(labels, values.astype(float))

    def root(self) -> Floats:
        """The lower triangular L with L L' the matrix.

        Raises
        ------
        ValueError
            Where there is none.
        """
        A = self.values
        if not np.isfinite(A).all() or np.abs(A - A.T).max() > SYMMETRIC * np.abs(A).max():
            raise ValueError("cov must be symmetric and finite")
        try:
            L = np.linalg.cholesky((A + A.T) / 2)
        except np.linalg.LinAlgError:
            L = np.zeros_like(A)
        pivots = np.diag(L) ** 2
        if not pivots.min() > DETERMINED * np.abs(np.diag(A)).max():  # negative ones have no root
            raise ValueError(
                "cov is not positive definite: levels are copies or sums of others; join them, or "
                "add a small number to the diagonal, such as 1e-6"
            )
        return L


@dataclass(frozen=True)
class KnownCovariance(TermOfLevels):
    """Effects of levels whose covariance matrix is known up to a factor, sd^2.

    Attributes
    ----------
    cov : LabelledMatrix
        Of a DataFrame, or a pair (matrix, labels).
    """

    cov: Any = None
    name, written, basis, of_scope = "gr", "gr(g, cov=A)", RootBasis, "cov"

    def __post_init__(self) -> None:
        if self.cov is not None:
            object.__setattr__(self, "cov", LabelledMatrix.of(self.cov))
            self.cov.root()

    @property
    def labels(self) -> tuple[Any, ...]:
        """See `TermOfLevels`."""
        return self.cov.labels

    def bases(self, x: Floats, text: str) -> list[RootBasis]:
        """See `PenalisedTerm`."""
        refuse_levels(self.labels, x, text, "leave out those that no row has")
        return [RootBasis(*ends_of(self.labels), self.cov.root())]
