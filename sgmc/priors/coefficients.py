"""Priors of coefficients, and of any number without bounds."""

from sgmc.errors import ArgumentError
from sgmc.priors.other_names import with_other_names
from sgmc.priors.spec import PriorSpec


@with_other_names
def normal(location: float = 0.0, scale: float = 2.5, autoscale: bool = False) -> PriorSpec:
    """Normal prior with mean `location` and standard deviation `scale`."""
    return PriorSpec("normal", location, scale, autoscale=autoscale)


@with_other_names
def student_t(
    df: float, location: float = 0.0, scale: float = 2.5, autoscale: bool = False
) -> PriorSpec:
    """Student t prior with `df` degrees of freedom."""
    return PriorSpec("student_t", location, scale, df, autoscale)


@with_other_names
def cauchy(location: float = 0.0, scale: float = 2.5, autoscale: bool = False) -> PriorSpec:
    """Cauchy prior: Student t with one degree of freedom."""
    return PriorSpec("student_t", location, scale, 1.0, autoscale)


@with_other_names
def laplace(location: float = 0.0, scale: float = 2.5, autoscale: bool = False) -> PriorSpec:
    """Laplace (double exponential) prior with density exp(-|b - location| / scale) / (2 scale)."""
    return PriorSpec("laplace", location, scale, autoscale=autoscale)


def flat() -> PriorSpec:
    """No prior: a constant density, proper only if the likelihood is."""
    return PriorSpec("flat", 0.0, 1.0)


def horseshoe(
    nonzero: float = 5,
    scale: float | None = None,
    slab: float = 2.5,
    autoscale: bool = True,
    *,
    learned: bool = False,
    group: str | None = None,
) -> PriorSpec:
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
        Whether `slab` (and `scale`, if given) are divided by the sd of the predictor, those of
        factor levels and 0/1 columns left as they are.
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


def ridge(df: float = 3.0, scale: float = 2.5, *, group: str | None = None) -> PriorSpec:
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


def r2d2(mean: float = 0.5, precision: float = 2.0, *, group: str | None = None) -> PriorSpec:
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
