"""Places that chains visited rarely: modes, found by a search or seen in draws; sds near zero."""

import numpy as np
from scipy import linalg
from scipy.special import gammaincinv

from sgmc.core.engine import full_many
from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.chains.near_zero import near_zero
from sgmc.diagnostics.chains.visits import FEW_STAYS, stays
from sgmc.errors import SHORTFALL_UNTOLD, ConvergenceWarning
from sgmc.results.checks.scores.stein import most_scores
from sgmc.results.outcomes.data.rows import evenly

# what few long stays, or a mode without draws, may do to a mean or sd, in sds: half of the limit
STAYS_MATTER = 0.05
MOST_PLACES = 5  # whose density is looked at
PLACE_DRAWS, TYPICAL_DRAWS = 20, 100
WITHIN = 0.9  # share of a mode's Gaussian that is counted as its place
# near an sd of zero: Monte Carlo errors, and share of the posterior, by which draws may be short
NECK_ERRORS, NECK_SHARE = 2.5, 0.001
SELDOM = 0.5  # visits, in units of the mode's share, below which they are too few


def unvisited(fit):
    """A ConvergenceWarning, in a list, where draws are short of a mode that holds a share of the
    posterior by Laplace's approximation: the share s moves a mean by s m and an sd by s m^2 / 2, m
    its distance from the mean in sds.

    Parameters
    ----------
    fit : Fit
    """
    searched = fit.problem.searched
    if searched.found < 2:
        return []
    theta = fit.problem.coordinates.theta(fit.x)
    mean, sd = moments.mean(theta, fit.weights), moments.sd(theta, fit.weights)
    limit = 2 * gammaincinv(theta.shape[2] / 2, WITHIN)  # a quantile of chi-squared
    for share, (place, root) in zip(searched.shares, searched.gaussians):
        away = linalg.solve(root, (theta - place).reshape(-1, len(place)).T)
        inside = ((away**2).sum(axis=0) < limit).reshape(*theta.shape[:2], 1)
        seen = moments.mean(inside.astype(float), fit.weights)[0] / WITHIN
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.nanmax(np.abs(place - mean) / sd)
        effect = (share - seen) * max(distance, distance**2 / 2)
        if seen < SELDOM * share and effect > STAYS_MATTER:
            return [
                ConvergenceWarning(
                    f"{100 * seen:.2g} % of the draws are at a mode that holds about "
                    f"{100 * share:.2g} % of the posterior by Laplace's approximation.",
                    "Compare the chains; constrain parameters, or describe each mode by itself.",
                )
            ]
    return []


def rarely_visited(fit, seen):
    """A ConvergenceWarning, in a list, where chains stayed long in a place apart, few times, and
    the density there is not that of a tail.

    Parameters
    ----------
    fit : Fit
    seen : Seen
    """
    # a stay is one proposal, and the tail of weights tells of it; or there is none
    if fit.plan.spec.independent or fit.plan.spec.direct:
        return []
    found = [s for s in stays(seen.draws, seen.weights, seen.quantiles) if s.effect > STAYS_MATTER]
    for stay in sorted(found, key=lambda s: -s.effect)[:MOST_PLACES]:
        if is_dense(fit, stay):
            return [
                ConvergenceWarning(
                    f"chains went to a place far out of {seen.names[stay.k]!r} at most {FEW_STAYS} "
                    f"times and stayed there for long, {100 * stay.share:.2g} % of the draws: how "
                    "much of the posterior lies there is not known.",
                    shortfall=SHORTFALL_UNTOLD,
                )
            ]
    return []


def is_dense(fit, stay):
    """Whether the log density of a place is nearer to that of typical draws than in a tail, where
    at a distance of m sds it is lower by (m^2 - 1) / 2; True where it would cost too much.

    A sampler that rejects in a tail stays there, too.
    """
    problem, x = fit.problem, fit.x.reshape(-1, fit.x.shape[2])
    inside = np.flatnonzero(stay.inside)
    there, typical = inside[evenly(len(inside), PLACE_DRAWS)], evenly(len(x), TYPICAL_DRAWS)
    asked = len(there) + len(typical)
    if problem.partial or problem.model.refreshes or asked > most_scores(fit):
        return True
    with np.errstate(all="ignore"):
        found = full_many(problem.all_rows(), x[np.concatenate([typical, there])], slopes=False)[0]
        lower = np.median(found[: len(typical)]) - np.mean(found[len(typical) :])
    return bool(lower < max(1.0, (stay.distance**2 - 1) / 8))


def not_near_zero(fit, seen):
    """A ConvergenceWarning, in a list, where draws near an sd of zero are fewer than the density
    beside them implies.

    Parameters
    ----------
    fit : Fit
    seen : Seen
    """
    spec = fit.plan.spec
    if spec.independent or spec.direct or seen.weights is not None:
        return []
    for name, scale in fit.problem.shape.flat_below.items():
        found = near_zero(seen.draws[..., seen.names.index(name)], scale)
        if found is None or found.z > -NECK_ERRORS:
            continue
        if found.expected - found.seen > NECK_SHARE:
            return [
                ConvergenceWarning(
                    f"{100 * found.seen:.2g} % of the draws of {name!r} are below "
                    f"{found.limit:.2g}, where its density implies about "
                    f"{100 * found.expected:.2g} %: chains do not come near zero.",
                    "" if spec.name == "nuts" else "Use sampler='nuts'.",
                    SHORTFALL_UNTOLD if spec.name == "nuts" else None,
                )
            ]
    return []
