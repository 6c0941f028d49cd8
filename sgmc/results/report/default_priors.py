"""Default priors that the data contradict."""

import numpy as np

from sgmc.coordinates.identification.collinearity import MOST_NAMED
from sgmc.diagnostics.chains import moments
from sgmc.errors import ExactFitWarning, PriorWarning

FAR_OUT = 3.0  # prior sds between prior and posterior mean
# posterior sds by which the prior moves the mean, from which it matters: a rare outcome puts an
# intercept far out in its prior too, but many rows leave that prior no weight
MOVED_BY_PRIOR = 1.0


def contradicted(fit, draws, weights, names):
    """A PriorWarning, in a list, of normal default priors in whose tails the posterior is, and that
    move it: nobody has chosen these for the data at hand.

    Without the prior the mean would be about sd^2 (mean - location) / scale^2 farther out.

    Parameters
    ----------
    fit : Fitted
    draws : array (chain, draw, parameter)
        As they are reported.
    weights : array (draw,) or None
    names : list of str
        Of what is reported; other than the parameters' own, as thresholds are, it is not judged.
    """
    priors = fit.problem.priors
    # the search for the mode has found it, and in all coefficients together, or that no noise is
    # left, against which any prior of its scale is
    if any(isinstance(one, PriorWarning | ExactFitWarning) for one in fit.problem.warnings):
        return []
    if "diverged" in fit.run.statuses:  # draws are of no posterior
        return []
    if getattr(priors, "names", None) != list(names[: len(getattr(priors, "names", ()))]):
        return []
    found = []
    for j, one in priors.judged.items():
        values = spoken(fit.problem, draws, j)
        mean, sd = (float(of(values[..., None], weights)[0]) for of in (moments.mean, moments.sd))
        # an exponential prior has one slope everywhere, 1 / scale, and its mean is its sd
        middle = one.scale if one.positive else one.location
        out = abs(mean - middle) / one.scale
        moved = sd / one.scale * (1 if one.positive else out)
        if out > FAR_OUT and moved > MOVED_BY_PRIOR:
            found.append((out, moved, j))
    if not found:
        return []
    found.sort(reverse=True)
    out, moved, worst = found[0]
    names = [priors.names[j] for *_, j in found]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    cure = (
        f"Give a prior in the units of the data, as prior={{{names[0]!r}: sgmc.normal(mean, sd)}}, "
        "or centre and rescale the data."
    )
    if not len(priors.defaults):  # of an update, which has the priors of the first fit
        cure = "These are the priors of the first fit, scaled by its rows: fit all rows together."
    return [
        PriorWarning(
            f"the default prior of {', '.join(names[:MOST_NAMED])}{more} contradicts the data: the "
            f"posterior mean of {names[0]} is {out:.2g} sds of its prior, {priors.judged[worst]}, "
            f"away from the prior's mean, and would be about {moved:.2g} posterior sds farther "
            "without it.",
            cure,
        )
    ]


def spoken(problem, draws, j):
    """Draws (chain, draw) of what a prior is on: the parameter, or an intercept at centred
    predictors.
    """
    priors = problem.priors
    if j not in priors.intercepts or not priors.centred:
        return draws[..., j]
    centre = np.array(problem.table.mean)
    d = len(centre)
    centre[[k % d for k in priors.intercepts]] = 0.0
    own = np.broadcast_to(priors.shifts(centre), (len(priors.intercepts), d))
    first = j - j % d
    return draws[..., j] + draws[..., first : first + d] @ own[priors.intercepts.index(j)]
