"""Bayes factors of a point against the rest, by posterior and prior density there."""

import re

import numpy as np
import pandas as pd

from sgmc.diagnostics.chains import convergence, moments
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.outcomes.data.rows import fitted_rows
from sgmc.results.parameters.expression import difference
from sgmc.results.priors.distributions import (
    OF_TIMES,
    from_spoken,
    log_density,
    of_share,
    refuse_other,
)

FEWEST_BEYOND = 10  # effective draws beyond a point, for a density there
GROUPED = re.compile(r"(sd|cor|rho)\(")
PARTS_OF_DRAWS = 20  # of the draws, for the Monte Carlo error of a density


def bayes_factor(results, statement):
    """Return the Bayes factor of a point; see `Criticism.bayes_factor`."""
    if not isinstance(statement, str) or statement.count("=") != 1:
        raise ArgumentError(
            f"bayes_factor {statement!r} must be an equation, such as 'x1 = 0' or 'x1 = x2'"
        )
    fitted_rows(results, "bayes_factor")
    refuse_other(results, "bayes_factor")
    constant, weights = difference(statement, results.names)
    if not weights.any():
        raise ArgumentError(
            f"bayes_factor {statement!r} names no parameter, as {results.names[0]!r} is one; put "
            "names that are not plain words into backticks, as in '`a|b` = 0'"
        )
    prior = log_prior_at(results, statement, weights, -constant)
    draws = results.draws @ weights + constant
    enough(statement, draws, results.weights)
    posterior, error = log_density_at_zero(draws, results.weights)
    return pd.Series(
        {
            "BF01": np.exp(posterior - prior),
            "log_BF01": posterior - prior,
            "mcse": error,
            "log_prior": prior,
            "log_posterior": posterior,
        },
        name=statement,
    )


def log_prior_at(results, statement, weights, value):
    """Log prior density of a linear combination at a number: of one parameter its own, of several
    with normal priors that of their sum.
    """
    priors, used = results.priors, results.priors.used
    back = from_spoken(priors, results._fit.problem.table.mean)
    d, names = len(back), results.names
    if priors.report is not None:  # thresholds are sums of an intercept and gaps, which have priors
        names, weights = priors.names, priors.report.printed(np.eye(len(weights))) @ weights
    if weights[d:].any() and np.count_nonzero(weights) > 1:
        beyond = names[d + int(np.flatnonzero(weights[d:])[0])]
        raise NotSupported(
            f"bayes_factor {statement!r} combines {beyond!r} with others: the prior of "
            "such a sum is not known in closed form",
            because="mathematics",
        )
    used_ones = [one for one, w in zip(names, weights) if w]
    of_effects = [one for one in used_ones if GROUPED.match(one) and not one.startswith(OF_TIMES)]
    if of_effects:
        raise NotSupported(
            f"bayes_factor {statement!r} is about {of_effects[0]!r}: draws do not tell a density "
            "at the end of what it can be; compare loo() with and without the term",
            because="mathematics",
        )
    of_phi = np.append(back.T @ weights[:d], weights[d:])
    of_phi[np.abs(of_phi) < 1e-14 * np.abs(of_phi).max()] = 0.0
    places = np.flatnonzero(of_phi)
    flat = next((j for j in places if used[j].family == "flat"), None)
    if flat is not None:
        raise ArgumentError(
            f"bayes_factor {statement!r}: the prior of {priors.names[flat]!r} is flat, under which "
            "every point has density zero; give it a proper prior, e.g. sgmc.normal(0, 2.5)"
        )
    if any(used[j].family == "horseshoe" for j in places):
        raise NotSupported(
            f"bayes_factor {statement!r}: a horseshoe prior has a pole at 0, and no density there",
            because="mathematics",
        )
    learned = next((used[j] for j in places if used[j].learned), None)
    if learned is not None:
        raise NotSupported(
            f"bayes_factor {statement!r}: the scale of its prior, {learned}, is learned, and over "
            "all scales that density is not known in closed form; compare loo() with and without "
            "the term",
            because="mathematics",
        )
    for one in priors.monotone:
        # the sum of increments has a prior of its own
        if set(one.places) == set(places) and np.ptp(of_phi[places]) == 0:
            scale = of_phi[places[0]]
            return float(log_density(one.total, value / scale)) - np.log(abs(scale))
    increment = next((j for j in places if j in priors.increments), None)
    if increment is not None:
        raise NotSupported(
            f"bayes_factor {statement!r}: the prior density of single increments, such as "
            f"{priors.names[increment]!r}, is not known in closed form; that of the sum of all is",
            because="mathematics",
        )
    if len(places) == 1:
        scale, name = of_phi[places[0]], names[places[0]]
        if name.startswith(OF_TIMES):
            return float(of_share(name, used[places[0]]).logpdf(value / scale)) - np.log(abs(scale))
        return float(log_density(used[places[0]], value / scale)) - np.log(abs(scale))
    joint = [j for one in priors.together for j in one.places]
    if any(used[j].family != "normal" or used[j].bounded or j in joint for j in places):
        raise NotSupported(
            f"bayes_factor {statement!r} combines parameters whose priors are not all normal and "
            "independent: the prior of such a sum is not known in closed form",
            because="mathematics",
        )
    mean = sum(of_phi[j] * used[j].location for j in places)
    sd = np.sqrt(sum((of_phi[j] * used[j].scale) ** 2 for j in places))
    return float(log_normal(value, mean, sd))


def log_normal(value, mean, sd):
    """Log density of a normal law."""
    return -0.5 * ((value - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


def enough(statement, draws, weights):
    """ArgumentError where few draws are on one side of zero."""
    w = np.full(draws.shape[1], 1.0) if weights is None else weights
    share = float(np.average((draws > 0).mean(axis=0), weights=w))
    size = float(convergence.ess(draws[..., None], method="mean", weights=weights)[0])
    beyond = size * min(share, 1 - share)
    if not beyond >= FEWEST_BEYOND:
        # of a point some sds away no number of draws tells a density
        cure = "compare loo() with and without the term" if beyond < 1 else "give a larger draws="
        raise ArgumentError(
            f"bayes_factor {statement!r}: about {beyond:.0f} effective draws are beyond that "
            f"point, {FEWEST_BEYOND} are needed to estimate a density there: it is far out in the "
            f"posterior; {cure}",
            because="limit",
        )


def log_density_at_zero(draws, weights):
    """Log density of draws (chain, draw) at 0 and its Monte Carlo error: a kernel estimate of the
    ratio to the normal density with their moments (Hjort & Glad 1995, eq. 2.1).
    """
    values = draws.ravel()
    w = np.ones(len(values)) if weights is None else np.tile(weights, len(draws))
    mean = moments.mean(draws[..., None], weights)[0]
    sd = moments.sd(draws[..., None], weights)[0]
    size = w.sum() ** 2 / (w**2).sum()
    width = 1.06 * sd * size**-0.2
    ratio = np.exp(log_normal(values, 0.0, width) - log_normal(values, mean, sd))
    terms = (w * ratio).reshape(draws.shape)
    centre = log_normal(0.0, mean, sd)
    found = terms.mean() / w.mean()
    parts = np.array(
        [one.mean() for one in np.array_split(terms, min(PARTS_OF_DRAWS, terms.shape[1]), 1)]
    )
    error = parts.std(ddof=1) / np.sqrt(len(parts)) / w.mean()
    return float(np.log(found) + centre), float(error / found)
