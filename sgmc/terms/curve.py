"""Smooth curves, ``s(x)``."""

from dataclasses import dataclass
from typing import Any

from sgmc.arguments.types import Floats
from sgmc.splines.bases import SplineBasis, spline_basis
from sgmc.splines.penalised import PenalisedTerm, whole


@dataclass(frozen=True)
class Curve(PenalisedTerm):
    """A smooth curve of a covariate, by cubic splines: the curvature is penalised.

    Attributes
    ----------
    k : int
        Elements of the basis, the constant included.
    bs : {"cr", "bs", "cc"}
        See `splines.bases.spline_basis`.
    knots : sequence of float or None
        Two of them are the ends of the range; more are all the knots.
    """

    k: Any = 10
    bs: Any = "cr"
    knots: Any = None
    name, written, basis = "s", "s(x)", SplineBasis

    def __post_init__(self) -> None:
        if not whole(self.k):
            raise ValueError("k must be a whole number")
        if self.knots is not None and not isinstance(self.knots, tuple | list):
            raise ValueError("knots are those of one covariate: s(x, knots=[0, 1])")
        if not all(isinstance(one, int | float) for one in self.knots or ()):
            raise ValueError("knots must be numbers, such as knots=[0, 1]")

    @property
    def flat(self) -> int:
        """See `PenalisedTerm`: no line but the constant is periodic."""
        return 1 if self.bs == "cc" else 2

    @property
    def sizes(self) -> tuple[int, ...]:
        """See `PenalisedTerm`."""
        return (self.k,)

    def bases(self, x: Floats, text: str) -> list[SplineBasis]:
        """See `PenalisedTerm`."""
        knots = None if self.knots is None else tuple(map(float, self.knots))
        return [spline_basis(x[:, 0], self.k, self.bs, knots, text)]
