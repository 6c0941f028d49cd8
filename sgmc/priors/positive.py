"""Priors of positive numbers, such as scales."""

import functools
import math
from collections.abc import Callable
from typing import Any, ParamSpec

from sgmc.arguments.numbers import number, positive
from sgmc.errors import ArgumentError, PriorWarning, warn
from sgmc.priors.other_names import with_other_names
from sgmc.priors.spec import PriorSpec

P = ParamSpec("P")

MOST_LOG = 700.0  # whose exponential is a number


def scale_or_rate(
    name: str, place: int
) -> Callable[[Callable[P, PriorSpec]], Callable[P, PriorSpec]]:
    """Decorate a prior that has both: at `place` by position, unless it is one, a warning is issued
    of what the number means, since other packages take a rate there.
    """

    def decorate(make: Callable[P, PriorSpec]) -> Callable[P, PriorSpec]:
        @functools.wraps(make)
        def made(*given: P.args, **named: P.kwargs) -> PriorSpec:
            spec = make(*given, **named)
            if len(given) > place and given[place] not in (None, 1):
                x: Any = given[place]
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


def scale_of(name: str, scale: float | None, rate: float | None) -> float:
    """The scale of a prior from what was given: at most one of scale and rate."""
    if rate is None:
        return 1.0 if scale is None else scale
    if scale is not None:
        raise ArgumentError(
            f"{name}: scale={scale!r} and rate={rate!r} are given; give one of them (the rate is 1 "
            "/ scale)"
        )
    return 1 / positive(f"{name}: rate", rate)


@with_other_names
@scale_or_rate("exponential", 0)
def exponential(
    scale: float | None = None, autoscale: bool = False, *, rate: float | None = None
) -> PriorSpec:
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


@with_other_names
@scale_or_rate("gamma", 1)
def gamma(
    shape: float, scale: float | None = None, autoscale: bool = False, *, rate: float | None = None
) -> PriorSpec:
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


@with_other_names
def inverse_gamma(shape: float, scale: float = 1.0, autoscale: bool = False) -> PriorSpec:
    """Inverse gamma prior of a positive parameter: density proportional to x^(-shape - 1)
    exp(-scale / x), which vanishes at zero.

    The second argument is a scale here, in Stan and in scipy alike: 1 / x has a gamma prior with
    this *rate*, ``gamma(shape, rate=scale)``.
    """
    return PriorSpec("inverse_gamma", 0.0, scale, shape, autoscale)


@with_other_names
def lognormal(location: float = 0.0, scale: float = 1.0, autoscale: bool = False) -> PriorSpec:
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


@with_other_names
def half_t(df: float = 3.0, scale: float = 2.5, autoscale: bool = False) -> PriorSpec:
    """Half of a Student t prior, of a positive parameter such as a standard deviation: density
    proportional to that of a t distribution with `df` degrees of freedom and centre 0 (Gelman 2006,
    section 2.2; doi:10.1214/06-BA117A).
    """
    return PriorSpec("student_t", 0.0, scale, df, autoscale, half=True)


@with_other_names
def half_normal(scale: float = 2.5, autoscale: bool = False) -> PriorSpec:
    """Half of a normal prior with centre 0, of a positive parameter."""
    return PriorSpec("normal", 0.0, scale, autoscale=autoscale, half=True)
