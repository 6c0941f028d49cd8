"""What a prior is made of."""

import math
from dataclasses import dataclass, replace

from sgmc.arguments.numbers import LARGEST_SCALE, SMALLEST_SCALE, fraction, number, positive
from sgmc.errors import ArgumentError

ENDS = "low", "high"


def is_infinite(value: object) -> bool:
    """Whether a value is plus or minus infinity."""
    return isinstance(value, float) and math.isinf(value)


@dataclass(frozen=True)
class PriorSpec:
    """One prior family with its location and scale; made by `normal`, `student_t`, `laplace`,
    `cauchy`, `horseshoe`, `ridge`, `r2d2`, `flat`, for positive parameters `gamma`,
    `inverse_gamma`, `exponential`, `lognormal`, `half_t` and `half_normal`, for correlations `lkj`,
    and for numbers between ends `uniform` and `truncated`.
    """

    family: str
    location: float = 0.0
    scale: float = 2.5
    df: float = 1.0
    autoscale: bool = False
    slab: float = math.inf
    nonzero: float | None = None
    half: bool = False
    learned: bool = False
    group: str | None = None
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        called, df = self.called, "shape" if self.positive else "df"
        if self.family == "r2d2":
            fraction(f"{called}: mean", self.location)
            df = "precision"
        others = {"dirichlet": "concentration", "lkj": "eta", "lognormal": "sd of the log"}
        df = others.get(self.family, df)
        number(f"{called}: location", self.location)
        positive(f"{called}: scale", self.scale, advice="use flat() for no prior")
        known = "use flat() for no prior, and offset() for a coefficient that is known"
        number(f"{called}: scale", self.scale, SMALLEST_SCALE, LARGEST_SCALE, advice=known)
        positive(f"{called}: slab", self.slab, infinite=True)
        positive(f"{called}: nonzero", self.nonzero, none=True, infinite=True)
        positive(f"{called}: {df}", self.df, infinite=True)
        called = "uniform" if self.family == "uniform" else "truncated"
        for end in ENDS:
            if called == "uniform" or not is_infinite(getattr(self, end)):
                number(f"{called}: {end}", getattr(self, end))
        if not self.low < self.high:
            raise ArgumentError(f"{called}: low={self.low:g} must be less than high={self.high:g}")

    @property
    def called(self) -> str:
        """The name of the function that makes it."""
        if self.half:
            return {"student_t": "half_t", "normal": "half_normal"}[self.family]
        return {("student_t", 1.0): "cauchy", ("gamma", 1.0): "exponential"}.get(
            (self.family, self.df), self.family
        )

    @property
    def positive(self) -> bool:
        """Whether it is a density of positive numbers only."""
        return self.half or self.family in ("gamma", "inverse_gamma", "lognormal")

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which numbers it is, (low, high)."""
        return max(self.low, 0.0) if self.positive else self.low, self.high

    @property
    def bounded(self) -> bool:
        """Whether one of them is finite."""
        return any(map(math.isfinite, self.bounds))

    @property
    def cut(self) -> bool:
        """Whether it has an end that its family does not have."""
        least = 0.0 if self.positive else -math.inf
        return self.family != "uniform" and self.bounds != (least, math.inf)

    @property
    def shape(self) -> float:
        """What `coordinates.priors.densities.Separable` wants besides location and scale."""
        return self.slab / self.scale if self.family == "horseshoe" else self.df

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self.cut:
            given = (f"{k}={getattr(self, k):.4g}" for k in ENDS if math.isfinite(getattr(self, k)))
            whole = replace(self, low=-math.inf, high=math.inf)
            return f"truncated({whole}, {', '.join(given)})"
        if self.family == "uniform":
            return f"uniform({self.low:.4g}, {self.high:.4g})"
        if self.family == "flat":
            return "flat"
        star = "*" if self.autoscale else ""
        scale = f"{self.scale:.4g}{star}"
        if self.learned:
            return self.learned_text(star)
        if self.family == "horseshoe":
            return (
                f"horseshoe({scale if self.nonzero is None else f'nonzero={self.nonzero:.4g}'}, "
                f"slab={self.slab:.4g}{star})"
            )
        if self.family in ("dirichlet", "lkj"):
            return f"{self.family}({self.df:.4g})"
        if self.family == "lognormal":
            return f"lognormal({math.log(self.scale):.4g}{star}, {self.df:.4g})"
        shape = {
            "half_t": f"{self.df:.4g}, ",
            "half_normal": "",
            "exponential": "" if self.scale == 1 else "scale=",
            "gamma": f"{self.df:.4g}, scale=",
            "inverse_gamma": f"{self.df:.4g}, ",
            "student_t": f"{self.df:.4g}, {self.location:.4g}, ",
        }
        return f"{self.called}({shape.get(self.called, f'{self.location:.4g}, ')}{scale})"

    def learned_text(self, star: str) -> str:
        """The text of a prior whose scale is learned; `star` marks a slab in units of the data."""
        group = "" if self.group is None else f", group={self.group!r}"
        if self.family == "ridge":
            return f"ridge(df={self.df:.4g}, scale={self.scale:.4g}{group})"
        if self.family == "r2d2":
            return f"r2d2(mean={self.location:.4g}, precision={self.df:.4g}{group})"
        scale = f"{self.scale:.4g}" if self.nonzero is None else f"nonzero={self.nonzero:.4g}"
        return f"horseshoe({scale}, slab={self.slab:.4g}{star}, learned=True{group})"
