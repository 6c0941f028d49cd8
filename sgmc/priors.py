"""Priors as the user writes them.

The meaning is rstanarm's: with ``autoscale=True`` the scale is divided by the sd of the predictor;
the model's default is ``normal(0, 2.5, autoscale=True)`` for slopes and ``normal(0, 2.5)`` for the
intercept at centred predictors.
"""

import functools
import math
from dataclasses import dataclass

from sgmc.arguments.choices import nearest
from sgmc.arguments.numbers import fraction, number, positive
from sgmc.errors import ArgumentError, PriorWarning, warn

INTERCEPT = "Intercept"
MOST_LOG = 700.0  # whose exponential is a number


@dataclass(frozen=True)
class PriorSpec:
    """One prior family with its location and scale; made by `normal`, `student_t`, `laplace`,
    `cauchy`, `horseshoe`, `ridge`, `r2d2`, `flat`, for positive parameters `gamma`,
    `inverse_gamma`, `exponential`, `lognormal`, `half_t` and `half_normal`, and for correlations
    `lkj`.
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

    def __post_init__(self):
        called, df = self.called, "shape" if self.positive else "df"
        if self.family == "r2d2":
            fraction(f"{called}: mean", self.location)
            df = "precision"
        others = {"dirichlet": "concentration", "lkj": "eta", "lognormal": "sd of the log"}
        df = others.get(self.family, df)
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
        return self.half or self.family in ("gamma", "inverse_gamma", "lognormal")

    @property
    def shape(self):
        """What `core.densities.Separable` wants besides location and scale."""
        return self.slab / self.scale if self.family == "horseshoe" else self.df

    def __str__(self):
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

    def learned_text(self, star):
        """The text of a prior whose scale is learned; `star` marks a slab in units of the data."""
        group = "" if self.group is None else f", group={self.group!r}"
        if self.family == "ridge":
            return f"ridge(df={self.df:.4g}, scale={self.scale:.4g}{group})"
        if self.family == "r2d2":
            return f"r2d2(mean={self.location:.4g}, precision={self.df:.4g}{group})"
        scale = f"{self.scale:.4g}" if self.nonzero is None else f"nonzero={self.nonzero:.4g}"
        return f"horseshoe({scale}, slab={self.slab:.4g}{star}, learned=True{group})"


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


def horseshoe(nonzero=5, scale=None, slab=2.5, autoscale=True, *, learned=False, group=None):
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
        The global scale.  With ``learned=True`` it is the scale of the prior of the global scale,
        in units of sigma / sd(x), or of 1 / sd(x) in families without a sigma.
    slab : float
        ``math.inf`` for none.
    autoscale : bool
        Whether `slab` (and `scale`, if given) are divided by the sd of the predictor.
    learned : bool
        Whether the global scale is a parameter, ``tau(horseshoe)`` in the results, with a
        half-Cauchy prior whose scale is `scale` or follows from `nonzero` (section 3).  In units of
        sigma / sd(x), b ~ N(0, 1 / (1 / (tau * local)^2 + 1 / slab^2)): the regularised horseshoe
        with a known slab (section 2.3).  False: the global scale is known.
    group : str, optional
        With ``learned=True``: coefficients whose priors have the same group share one global scale,
        which the group names.  Default: all with the same prior.
    """
    if learned:
        number = None if scale is not None else nonzero
        return PriorSpec(
            "horseshoe", 0.0, 1.0 if scale is None else scale, autoscale=autoscale, slab=slab,
            nonzero=number, learned=True, group=group,
        )  # fmt: skip
    if group is not None:
        raise ArgumentError(
            f"horseshoe: group={group!r} applies to a global scale that is learned; give "
            "learned=True, or leave it out"
        )
    if scale is not None:
        return PriorSpec("horseshoe", 0.0, scale, autoscale=autoscale, slab=slab)
    return PriorSpec("horseshoe", 0.0, 1.0, autoscale=autoscale, slab=slab, nonzero=nonzero)


def ridge(df=3.0, scale=2.5, *, group=None):
    """Normal prior whose sd is learned from the data: ridge regression with a learned penalty.

    b_j ~ N(0, (sd * u / sd(x_j))^2) with u the sd of the outcome in linear and robust regressions,
    and 1 in other families; sd has a half-t prior (Gelman 2006; doi:10.1214/06-BA117A) and is a
    parameter, ``sd(ridge)`` in the results.  Its units do not depend on sigma, as Moran, Rockova &
    George (2019; doi:10.1214/19-BA1149) recommend.

    Parameters
    ----------
    df, scale : float
        Of the half-t prior of the sd.
    group : str, optional
        Coefficients whose priors have the same group share one sd, which the group names:
        ``sd(group)``.  Default: all with the same prior.
    """
    return PriorSpec("ridge", 0.0, scale, df, learned=True, group=group)


def r2d2(mean=0.5, precision=2.0, *, group=None):
    """R2-D2 prior: a beta prior of R^2, shared out among the coefficients (Zhang, Naughton, Bondell
    & Reich 2022; arXiv:1609.00046, section 2).

    b_j ~ N(0, (u / sd(x_j))^2 phi_j omega), u being sigma in linear regressions and 1 in other
    families; R^2 = omega / (1 + omega) ~ Beta(mean * precision, (1 - mean) * precision) of
    standardised independent predictors, and phi ~ Dirichlet(a_pi, ..., a_pi) with a_pi = mean *
    precision / D for D coefficients.  Equivalently phi_j omega ~ Gamma(a_pi, rate xi), xi ~
    Gamma((1 - mean) * precision, 1); the kernel is normal where the paper's is double exponential.
    1 / xi is a parameter, ``tau2(r2d2)`` in the results.

    Parameters
    ----------
    mean, precision : float
        Of the prior of R^2.  The larger the precision, the more evenly coefficients share: with a
        precision of D / (2 mean), a_pi is 1/2.
    group : str, optional
        As in `ridge`.
    """
    return PriorSpec("r2d2", mean, 1.0, precision, learned=True, group=group)


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


def lognormal(location=0.0, scale=1.0, autoscale=False):
    """Lognormal prior of a positive parameter x: log x is normal.

    Parameters
    ----------
    location, scale : float
        Mean and standard deviation of log x, as in R, Stan and statsmodels; the median of x is
        exp(location).
    autoscale : bool
        Whether x is in units that the family takes from the data.
    """
    median = math.exp(min(number("lognormal: location", location), MOST_LOG))
    return PriorSpec("lognormal", 0.0, median, scale, autoscale)


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
        "sgmc.laplace(), sgmc.cauchy(), sgmc.horseshoe(), sgmc.ridge(), sgmc.r2d2(), sgmc.flat()"
    )
    raise ArgumentError(f"{argument}={prior!r} is not a prior{hint}")


def learns(prior):
    """Whether a prior as the user wrote it, one or a dict of them, has scales that are learned."""
    each = prior.values() if isinstance(prior, dict) else [prior]
    return any(isinstance(one, PriorSpec) and one.learned for one in each)
