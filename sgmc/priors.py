"""Priors as the user writes them.

The meaning is rstanarm's: with ``autoscale=True`` the scale is divided by the sd of the predictor;
the model's default is ``normal(0, 2.5, autoscale=True)`` for slopes and ``normal(0, 2.5)`` for the
intercept at centred predictors.
"""

import math
import numbers
from dataclasses import dataclass

import numpy as np

from sgmc.errors import ArgumentError

INTERCEPT = "Intercept"


@dataclass(frozen=True)
class PriorSpec:
    """One prior family with its location and scale; made by `normal`, `student_t`, `laplace`,
    `cauchy`, `horseshoe`, `flat` and, for positive parameters, `gamma`, `inverse_gamma` and
    `exponential`.
    """

    family: str
    location: float = 0.0
    scale: float = 2.5
    df: float = 1.0
    autoscale: bool = False
    slab: float = math.inf
    nonzero: float | None = None

    def __post_init__(self):
        called = self.called
        for name in (
            "location",
            "scale",
            "df",
            "slab",
            *(() if self.nonzero is None else ("nonzero",)),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise ArgumentError(f"{called}: {name}={value!r} must be a number")
        if not np.isfinite(self.location):
            raise ArgumentError(f"{called}: location={self.location!r} must be finite")
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise ArgumentError(
                f"{called}: scale={self.scale!r} must be positive; use flat() for no prior"
            )
        for name in ("slab", "nonzero"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise ArgumentError(f"{called}: {name}={getattr(self, name)!r} must be positive")
        if not self.df > 0:
            first = (
                "shape"
                if self.positive
                else "concentration"
                if self.family == "dirichlet"
                else "df"
            )
            raise ArgumentError(f"{called}: {first}={self.df!r} must be positive")

    @property
    def called(self):
        """The name of the function that makes it."""
        return {("student_t", 1): "cauchy", ("gamma", 1): "exponential"}.get(
            (self.family, self.df), self.family
        )

    @property
    def positive(self):
        """Whether it is a density of positive numbers only."""
        return self.family in ("gamma", "inverse_gamma")

    @property
    def shape(self):
        """What `core.densities.Separable` wants besides location and scale."""
        return self.slab / self.scale if self.family == "horseshoe" else self.df

    def __str__(self):
        if self.family == "flat":
            return "flat"
        star = "*" if self.autoscale else ""
        scale = f"{self.scale:.4g}{star}"
        if self.family == "horseshoe":
            return (
                f"horseshoe({scale if self.nonzero is None else f'nonzero={self.nonzero:.4g}'}, "
                f"slab={self.slab:.4g}{star})"
            )
        if self.family == "dirichlet":
            return f"dirichlet({self.df:.4g})"
        shape = {
            "exponential": "",
            "gamma": f"{self.df:.4g}, ",
            "inverse_gamma": f"{self.df:.4g}, ",
            "student_t": f"{self.df:.4g}, {self.location:.4g}, ",
        }
        return f"{self.called}({shape.get(self.called, f'{self.location:.4g}, ')}{scale})"


def normal(location=0.0, scale=2.5, autoscale=False):
    """Normal prior with mean `location` and standard deviation `scale`."""
    return PriorSpec("normal", location, scale, autoscale=autoscale)


def student_t(df, location=0.0, scale=2.5, autoscale=False):
    """Student t prior with `df` degrees of freedom."""
    return PriorSpec("student_t", location, scale, df, autoscale)


def cauchy(location=0.0, scale=2.5, autoscale=False):
    """Cauchy prior: Student t with one degree of freedom."""
    return PriorSpec("student_t", location, scale, 1.0, autoscale)


def laplace(location=0.0, scale=2.5, autoscale=False):
    """Laplace (double exponential) prior with density exp(-|b - location| / scale) / (2 scale)."""
    return PriorSpec("laplace", location, scale, autoscale=autoscale)


def horseshoe(nonzero=5, scale=None, slab=2.5, autoscale=True):
    """Horseshoe prior with a slab, for many slopes of which few matter (Carvalho, Polson & Scott
    2010).

    b ~ N(0, (scale * local)^2), local ~ half-Cauchy(0, 1), times a normal density with mean 0 and
    sd `slab`, which bounds what is not shrunk (Piironen & Vehtari 2017, section 2.3).  With the
    local scale integrated out the density is proportional to exp(z) E1(z) exp(-b^2 / (2 slab^2)),
    z = b^2 / (2 scale^2): a pole at 0, and tails as heavy as the slab's.

    Parameters
    ----------
    nonzero : float
        How many of the D slopes with this prior are expected to matter, where no scale is given:
        the scale then is nonzero / (D - nonzero) (at most 1) times the sd with which the data would
        tell a slope if it were the only one: sigma / (sd(x) sqrt(N)) of a linear regression
        (section 3.3).
    scale : float, optional
        The global scale.  It is given, or follows from `nonzero`; it is not learned from the data.
    slab : float
        ``math.inf`` for none.
    autoscale : bool
        Whether `slab` (and `scale`, if given) are divided by the sd of the predictor.
    """
    if scale is not None:
        return PriorSpec("horseshoe", 0.0, scale, autoscale=autoscale, slab=slab)
    return PriorSpec("horseshoe", 0.0, 1.0, autoscale=autoscale, slab=slab, nonzero=nonzero)


def flat():
    """No prior: a constant density, proper only if the likelihood is."""
    return PriorSpec("flat", 0.0, 1.0)


def exponential(scale=1.0, autoscale=False):
    """Exponential prior of a positive parameter, with mean `scale`."""
    return PriorSpec("gamma", 0.0, scale, 1.0, autoscale)


def gamma(shape, scale=1.0, autoscale=False):
    """Gamma prior of a positive parameter, with mean ``shape * scale``."""
    return PriorSpec("gamma", 0.0, scale, shape, autoscale)


def inverse_gamma(shape, scale=1.0, autoscale=False):
    """Inverse gamma prior of a positive parameter: density proportional to x^(-shape - 1)
    exp(-scale / x), which vanishes at zero.
    """
    return PriorSpec("inverse_gamma", 0.0, scale, shape, autoscale)


def dirichlet(concentration=1.0):
    """Dirichlet prior of parameters on a simplex: density proportional to prod_k
    theta_k^(concentration - 1).

    Other concentrations for single ones are given by their names:
    ``prior={"w[0]": sgmc.dirichlet(5)}``.
    """
    return PriorSpec("dirichlet", 0.0, 1.0, concentration)


SLOPE, CENTRED_INTERCEPT = normal(0, 2.5, autoscale=True), normal(0, 2.5)
BY_NAME = {
    "flat": flat(),
    "normal": SLOPE,
    "laplace": laplace(0, 2.5, autoscale=True),
    "cauchy": cauchy(0, 2.5, autoscale=True),
    "horseshoe": horseshoe(),
}


def as_spec(prior, argument="prior"):
    """A PriorSpec from a name or object; `argument` is what the user calls it."""
    if isinstance(prior, PriorSpec):
        return prior
    if isinstance(prior, str) and prior in BY_NAME:
        return BY_NAME[prior]
    raise ArgumentError(
        f"{argument}={prior!r} is not a prior: use one of {', '.join(BY_NAME)}, or sgmc.normal(0, "
        "2.5), sgmc.student_t(df, 0, 2.5), sgmc.laplace(), sgmc.cauchy(), sgmc.horseshoe(), "
        "sgmc.flat()"
    )
