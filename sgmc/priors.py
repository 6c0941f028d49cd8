"""Priors as the user writes them.

The meaning is rstanarm's: with ``autoscale=True`` the scale is divided by the sd of the predictor;
the model's default is ``normal(0, 2.5, autoscale=True)`` for slopes and ``normal(0, 2.5)`` for the
intercept at centred predictors.
"""

import functools
import math
from dataclasses import dataclass

from sgmc.arguments.choices import nearest
from sgmc.arguments.numbers import number, positive
from sgmc.errors import ArgumentError, PriorWarning, warn

INTERCEPT = "Intercept"


@dataclass(frozen=True)
class PriorSpec:
    """One prior family with its location and scale; made by `normal`, `student_t`, `laplace`,
    `cauchy`, `horseshoe`, `flat`, for positive parameters `gamma`, `inverse_gamma`, `exponential`,
    `half_t` and `half_normal`, and for correlations `lkj`.
    """

    family: str
    location: float = 0.0
    scale: float = 2.5
    df: float = 1.0
    autoscale: bool = False
    slab: float = math.inf
    nonzero: float | None = None
    half: bool = False

    def __post_init__(self):
        called, df = self.called, "shape" if self.positive else "df"
        df = {"dirichlet": "concentration", "lkj": "eta"}.get(self.family, df)
        number(f"{called}: location", self.location)
        positive(f"{called}: scale", self.scale, advice="use flat() for no prior")
        positive(f"{called}: slab", self.slab, infinite=True)
        positive(f"{called}: nonzero", self.nonzero, none=True, infinite=True)
        positive(f"{called}: {df}", self.df, infinite=True)

    @property
    def called(self):
        """The name of the function that makes it."""
        if self.half:
            return {"student_t": "half_t", "normal": "half_normal"}[self.family]
        return {("student_t", 1): "cauchy", ("gamma", 1): "exponential"}.get(
            (self.family, self.df), self.family
        )

    @property
    def positive(self):
        """Whether it is a density of positive numbers only."""
        return self.half or self.family in ("gamma", "inverse_gamma")

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
        if self.family in ("dirichlet", "lkj"):
            return f"{self.family}({self.df:.4g})"
        shape = {
            "half_t": f"{self.df:.4g}, ",
            "half_normal": "",
            "exponential": "" if self.scale == 1 else "scale=",
            "gamma": f"{self.df:.4g}, scale=",
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


def scale_or_rate(name, place):
    """Decorate a prior that has both: at `place` by position, unless it is one, a warning is issued
    of what the number means, since other packages take a rate there.
    """

    def decorate(make):
        @functools.wraps(make)
        def made(*given, **named):
            spec = make(*given, **named)
            if len(given) > place and given[place] not in (None, 1):
                x = given[place]
                warn(
                    PriorWarning(
                        f"{name}: {x:g} by position is the scale, so that the mean is "
                        f"{spec.df * x:.4g}; as a rate, as in Stan, it would be "
                        f"{spec.df / x:.4g}.",
                        f"Write scale={x:g} or rate={x:g}.",
                    )
                )
            return spec

        return made

    return decorate


def scale_of(name, scale, rate):
    """The scale of a prior from what was given: at most one of scale and rate."""
    if rate is None:
        return 1.0 if scale is None else scale
    if scale is not None:
        raise ArgumentError(
            f"{name}: scale={scale!r} and rate={rate!r} are given; give one of them (the rate is 1 "
            "/ scale)"
        )
    return 1 / positive(f"{name}: rate", rate)


@scale_or_rate("exponential", 0)
def exponential(scale=None, autoscale=False, *, rate=None):
    """Exponential prior of a positive parameter.

    Parameters
    ----------
    scale : float, default 1
        The mean.  By position too, as in numpy.
    autoscale : bool
        Whether it is in units that the family takes from the data.
    rate : float, optional
        1 / scale, as in Stan.
    """
    return PriorSpec("gamma", 0.0, scale_of("exponential", scale, rate), 1.0, autoscale)


@scale_or_rate("gamma", 1)
def gamma(shape, scale=None, autoscale=False, *, rate=None):
    """Gamma prior of a positive parameter: density proportional to x^(shape - 1) exp(-x / scale),
    with mean ``shape * scale = shape / rate``.

    Name the second argument: ``gamma(2, rate=0.1)`` or ``gamma(2, scale=10)``.

    Parameters
    ----------
    shape : float
    scale : float, default 1
        By position too, as in numpy; a warning then says so, because Stan, R and others take a rate
        there.
    autoscale : bool
        Whether the scale is in units that the family takes from the data.
    rate : float, optional
        1 / scale.
    """
    return PriorSpec("gamma", 0.0, scale_of("gamma", scale, rate), shape, autoscale)


def inverse_gamma(shape, scale=1.0, autoscale=False):
    """Inverse gamma prior of a positive parameter: density proportional to x^(-shape - 1)
    exp(-scale / x), which vanishes at zero.

    The second argument is a scale here, in Stan and in scipy alike: 1 / x has a gamma prior with
    this *rate*, ``gamma(shape, rate=scale)``.
    """
    return PriorSpec("inverse_gamma", 0.0, scale, shape, autoscale)


def dirichlet(concentration=1.0):
    """Dirichlet prior of parameters on a simplex: density proportional to prod_k
    theta_k^(concentration - 1).

    Other concentrations for single ones are given by their names:
    ``prior={"w[0]": sgmc.dirichlet(5)}``.
    """
    return PriorSpec("dirichlet", 0.0, 1.0, concentration)


def half_t(df=3.0, scale=2.5, autoscale=False):
    """Half of a Student t prior, of a positive parameter such as a standard deviation: density
    proportional to that of a t distribution with `df` degrees of freedom and centre 0 (Gelman 2006,
    section 2.2; doi:10.1214/06-BA117A).
    """
    return PriorSpec("student_t", 0.0, scale, df, autoscale, half=True)


def half_normal(scale=2.5, autoscale=False):
    """Half of a normal prior with centre 0, of a positive parameter."""
    return PriorSpec("normal", 0.0, scale, autoscale=autoscale, half=True)


def lkj(eta=1.0):
    """Prior of the correlation matrix R of a group's effects: density proportional to
    det(R)^(eta - 1), flat for 1 (Lewandowski, Kurowicka & Joe 2009;
    doi:10.1016/j.jmva.2009.04.008).
    """
    return PriorSpec("lkj", 0.0, 1.0, eta)


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
    near = nearest(prior, BY_NAME) if isinstance(prior, str) else ""
    hint = near or (
        f"; use one of {', '.join(BY_NAME)}, or sgmc.normal(0, 2.5), sgmc.student_t(df, 0, 2.5), "
        "sgmc.laplace(), sgmc.cauchy(), sgmc.horseshoe(), sgmc.flat()"
    )
    raise ArgumentError(f"{argument}={prior!r} is not a prior{hint}")
