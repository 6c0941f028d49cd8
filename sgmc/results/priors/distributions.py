"""Priors as laws: their densities at numbers, and independent draws of all of them."""

import math
from dataclasses import replace

import numpy as np

from sgmc.coordinates.priors.densities import exponential_integral
from sgmc.coordinates.priors.prior_table import Monotone
from sgmc.coordinates.whitened.whitening import undo_centring
from sgmc.core.random.rng import seed_sequence
from sgmc.errors import ArgumentError, NotSupported
from sgmc.priors import normal
from sgmc.results.outcomes.data.offers import LAW, need

DRAWABLE = {
    "normal",
    "student_t",
    "laplace",
    "gamma",
    "inverse_gamma",
    "lognormal",
    "uniform",
    "horseshoe",
}
SHARES = "rho("  # what names begin with whose priors are lkj(a) of one number, see `of_share`
OF_TIMES = "rho(ar1("  # of these, a correlation of neighbours in time
MIXED = 20_000  # draws of slopes over which the density of an intercept is averaged
MOST_REDRAWN = 1000  # of draws of a horseshoe that its slab refuses


def distribution(spec):
    """A prior as a frozen distribution of scipy, without its ends, or None for a horseshoe.

    Parameters
    ----------
    spec : PriorSpec
        With its scale in the parameter's own units.
    """
    from scipy import stats  # only here: it takes long to import

    place = dict(loc=spec.location, scale=spec.scale)
    match spec.family:
        case "normal":
            return stats.norm(**place)
        case "student_t":
            return stats.t(spec.df, **place)
        case "laplace":
            return stats.laplace(**place)
        case "gamma":
            return stats.gamma(spec.df, scale=spec.scale)
        case "inverse_gamma":
            return stats.invgamma(spec.df, scale=spec.scale)
        case "lognormal":
            return stats.lognorm(spec.df, scale=spec.scale)
        case "uniform":
            return stats.uniform(spec.low, spec.high - spec.low)
    return None


def of_share(name, spec):
    """lkj(a) of one number: of a share the law Beta(a, a), of a correlation 2 Beta(a, a) - 1, whose
    density is in proportion to (1 - rho^2)^(a - 1).
    """
    from scipy.stats import beta  # only here: it takes long to import

    low = -1.0 if name.startswith(OF_TIMES) else 0.0
    return beta(spec.df, spec.df, loc=low, scale=1.0 - low)


def between(found, spec, tail):
    """Probabilities (low, high) of a law below, or with `tail` above, the ends of a prior."""
    low, high = spec.bounds
    return (found.sf(high), found.sf(low)) if tail else (found.cdf(low), found.cdf(high))


def in_tail(found, spec):
    """Whether ends are above the median, where probabilities above them are the exact ones."""
    return bool(spec.bounds[0] > found.median())


def log_density(spec, values):
    """The log density of a proper prior at numbers, normalised; of a horseshoe, without its slab's
    constant.
    """
    found, values = distribution(spec), np.asarray(values, dtype=float)
    if found is not None:
        below, above = between(found, spec, in_tail(found, spec))
        inside = (spec.bounds[0] <= values) & (values <= spec.bounds[1])
        return np.where(inside, found.logpdf(values) - math.log(above - below), -np.inf)
    e = (values - spec.location) / spec.scale
    kernel, _ = exponential_integral(e**2 / 2)
    normal = -math.log(math.sqrt(2 * math.pi**3) * spec.scale)
    return kernel + normal - values**2 / (2 * spec.slab**2)


def drawn(spec, size, random):
    """So many independent draws of a proper prior."""
    found = distribution(spec)
    if found is not None:
        tail = in_tail(found, spec)
        below, above = between(found, spec, tail)
        share = below + (above - below) * random.random(size)
        return found.isf(share) if tail else found.ppf(share)
    out, left = np.empty(size), np.arange(size)
    for _ in range(MOST_REDRAWN):  # a normal law of a half-Cauchy scale, kept as the slab says
        b = random.normal(size=len(left)) * spec.scale * np.abs(random.standard_cauchy(len(left)))
        out[left] = b
        left = left[random.random(len(left)) > np.exp(-(b**2) / (2 * spec.slab**2))]
        if not len(left):
            break
    return out


def refuse_other(results, what):
    """NotSupported for posteriors that are not those of a prior a coefficient times a likelihood.

    Parameters
    ----------
    results : Results
    what : str
        What was asked for.
    """
    need(results, what, LAW)
    if results.cov_type != "nonrobust":
        raise NotSupported(
            f"{what} does not apply to cov_type={results.cov_type!r}, whose draws are not of prior "
            "times likelihood: fit with cov_type='nonrobust'",
            because="mathematics",
        )


def from_spoken(priors, centre):
    """T (d, d) of the coefficients theta = T phi, phi being what their priors speak of: intercepts
    at centred predictors, unless the user named them.

    Parameters
    ----------
    priors : PriorTable
    centre : array
        Means of the columns, those of the intercept's left aside.
    """
    centre = np.array(centre, dtype=float) if priors.centred else np.zeros(len(centre))
    centre[[j % len(centre) for j in priors.intercepts]] = 0.0
    size = len(priors.names) - priors.auxiliary
    return undo_centring(size, priors.shifts(centre), priors.intercepts)


def prior_draws(priors, back, count, seed):
    """Independent draws (draw, parameter) of all priors, in the parameters' own units.

    Parameters
    ----------
    priors : PriorTable
    back : array (d, d)
        See `from_spoken`.
    count : int
    seed : int or SeedSequence

    Raises
    ------
    ArgumentError
        Naming a parameter whose prior has no draws.
    """
    for name, spec in zip(priors.names, priors.used):
        if spec.family not in DRAWABLE or spec.nonzero is not None:
            why = (
                "takes its scale from the outcomes: give scale="
                if spec.nonzero is not None
                else "has no draws: give a proper one with a known scale, e.g. sgmc.normal(0, 2.5)"
            )
            raise ArgumentError(f"the prior of {name!r}, {spec}, {why}")
    random = np.random.Generator(np.random.PCG64(seed_sequence(seed, "predict", 3)))
    phi = np.column_stack([drawn(spec, count, random) for spec in priors.used])
    for one in priors.together:
        phi[:, one.places] = drawn_together(one, count, random)
    phi[:, : len(back)] = phi[:, : len(back)] @ back.T
    return phi


def drawn_together(one, count, random):
    """So many independent draws of several parameters, of a `Together` or a `Monotone`."""
    if isinstance(one, Monotone):
        total = drawn(one.total, count, random)
        return total[:, None] * random.dirichlet(np.ones(len(one.places)), count)
    root = np.linalg.cholesky(np.linalg.inv(one.precision))
    return one.location + random.normal(size=(count, len(root))) @ root.T


def log_together(one, values):
    """Log densities of draws (draw, parameter) under a `Together`, or of the sums of increments
    under a `Monotone`, whose shares are uniform, but for a constant.
    """
    if isinstance(one, Monotone):
        flat = one.total.family == "flat"
        return np.zeros(len(values)) if flat else log_density(one.total, values.sum(axis=1))
    e = values - one.location
    return -0.5 * np.einsum("ij,jk,ik->i", e, one.precision, e)


def margin(priors, centre, name):
    """The prior density of a parameter as reported, a function of an array, or None where it is
    flat.

    An intercept whose prior is that at centred predictors, a = phi - c'b, has the density E[p(a +
    c'b)] over draws of the slopes b.

    Parameters
    ----------
    priors : PriorTable
    centre : array
        See `from_spoken`.
    name : str
    """
    if name not in priors.names:
        raise NotSupported(
            f"the prior density of {name!r} is not known in closed form: gaps between thresholds "
            "have priors, see prior_summary()",
            because="mathematics",
        )
    back, j = from_spoken(priors, centre), priors.names.index(name)
    own = priors.used[j]
    others = [k for k in np.flatnonzero(back[j]) if k != j] if j < len(back) else []
    if j in priors.increments:
        raise NotSupported(
            f"the prior density of {name!r} is not known in closed form: it is a share of a sum "
            "that has a prior, see prior_summary()",
            because="mathematics",
        )
    if len(priors.shrunk) or any(priors.used[k].learned for k in [j, *others]):
        raise NotSupported(
            "prior densities of coefficients whose scale is learned are not known",
            because="mathematics",
        )
    if name.startswith(SHARES):
        return of_share(name, own).pdf
    if own.family == "lkj":  # of which a margin needs the size of the matrix
        return None
    if own.family == "flat" or any(priors.used[k].family == "flat" for k in others):
        return None
    if name.startswith("sd(") and not own.half:  # the positive half of the law of a signed one
        return lambda x: np.where(np.asarray(x) < 0, 0.0, 2 * np.exp(log_density(own, x)))
    if not others:
        return lambda x: np.exp(log_density(own, x))
    used = [normal(0, 1) if one.family == "lkj" else one for one in priors.used]
    phi = prior_draws(replace(priors, used=used), np.eye(len(back)), MIXED, 0)
    shift = phi[:, others] @ back[j, others]
    return lambda x: np.exp(log_density(own, np.asarray(x)[:, None] - shift)).mean(axis=1)
