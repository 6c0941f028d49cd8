"""Smooth surfaces, ``te(x, z)``."""

from dataclasses import dataclass
from typing import Any

from sgmc.arguments.types import Floats
from sgmc.splines.bases import SplineBasis, spline_basis
from sgmc.splines.penalised import PenalisedTerm, whole


@dataclass(frozen=True)
class Surface(PenalisedTerm):
    """A smooth surface of two covariates, by products of cubic splines.

    Attributes
    ----------
    k : int or pair of int
        Elements of the basis of each covariate.
    bs : {"cr", "bs", "cc"}
        Of both, see `splines.bases.spline_basis`.
    """

    k: Any = 5
    bs: Any = "cr"
    name, written, covariates, basis = "te", "te(x, z)", 2, SplineBasis
    others = ("cr", "cc", "bs", "cs")  # patsy's bases, whose `te` has no penalty

    def __post_init__(self) -> None:
        if not (whole(self.k) or isinstance(self.k, tuple | list) and len(self.k) == 2):
            raise ValueError("k must be a whole number or two")
        if not all(map(whole, self.sizes)):
            raise ValueError("k must be a whole number or two")

    @property
    def flat(self) -> int:
        """See `PenalisedTerm`: no line but the constant is periodic."""
        return 1 if self.bs == "cc" else 2

    @property
    def sizes(self) -> tuple[int, ...]:
        """See `PenalisedTerm`."""
        return (self.k,) * 2 if whole(self.k) else tuple(self.k)

    def bases(self, x: Floats, text: str) -> list[SplineBasis]:
        """See `PenalisedTerm`."""
        return [spline_basis(one, k, self.bs, None, text) for one, k in zip(x.T, self.sizes)]
