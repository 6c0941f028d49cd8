"""What a verdict means for the number of draws: whether chains go on, for what, and one number that
verdict and warnings advise.
"""

import math

import numpy as np

from sgmc.errors import SHORTFALL_UNTOLD, ConvergenceWarning, InterruptedWarning, LowESSWarning
from sgmc.results.checks.scores.printed import KINDS
from sgmc.results.report.draws import APART, RHAT
from sgmc.results.report.verdict import TRUSTED_END, TRUSTED_ERROR, many_diverged

# of the numbers whose Monte Carlo errors a verdict rests on
LIMITS = dict(zip(KINDS, (TRUSTED_ERROR, TRUSTED_ERROR, TRUSTED_END, TRUSTED_END)))
FORGETFUL = 0.5  # effective draws per draw, below which steps are said to forget slowly
WORDS = dict(zip(KINDS, ("the mean", "the sd", "the lower end", "the upper end")))


def agreeing(fit, warnings, verdict, length):
    """Warnings whose advice on the number of draws is the verdict's.

    Parameters
    ----------
    fit : Fit
    warnings : list of SGMCWarning
    verdict : Verdict
    length : Length
    """
    if verdict.trustworthy and fit.settings.begun:
        # draws go on until the verdict is for them: nobody asked for more than that
        warnings = [one for one in warnings if not isinstance(one, LowESSWarning)]
    of_draws = not verdict.trustworthy and verdict.shortfall is not None
    return [
        type(one)(
            one.message, verdict.advice if of_draws else length.take(one.shortfall), one.shortfall
        )
        if one.shortfall is not None and not one.advice
        else one
        for one in warnings
    ]


def reason(rhat, errors):
    """What chains go on for, in words, as the name of a phase.

    Parameters
    ----------
    rhat : Series
        Of each parameter.
    errors : DataFrame
        Of `accuracy`.
    """
    if rhat.max() > RHAT:
        return f"going on: R-hat of {rhat.idxmax()}"
    sizes = errors[[f"mcse_{kind}" for kind in KINDS]].to_numpy() / [*LIMITS.values()]
    if not np.isfinite(sizes).any():
        return "going on: effective draws"
    row, kind = np.unravel_index(np.nanargmax(sizes), sizes.shape)
    return f"going on: Monte Carlo error of {WORDS[KINDS[kind]]} of {errors.index[row]}"


def forgetting(fit, state):
    """What `choose.slow` goes by: times as many draws as are needed because chains forget slowly,
    infinite where they diverge too often, and 0 where they are in places of their own, from which
    other steps would not lead either, but might not show them.

    Parameters
    ----------
    fit : Fit
    state : dict
        Of `results.summarised`.
    """
    verdict, seen = state["verdict"], state["warnings"]
    apart = any(
        isinstance(one, ConvergenceWarning)
        and (one.advice == APART or one.shortfall == SHORTFALL_UNTOLD)
        for one in seen
    )
    if verdict.trustworthy or apart or fit.problem.searched.found > 1:
        return 0.0
    least = np.nanmin(state["_ess"], initial=math.inf)
    if many_diverged(fit, least):
        return math.inf
    # other steps would leave spikes and tails as they are, which is why draws that are nearly
    # independent do not suffice
    if least >= FORGETFUL * fit.x.shape[0] * fit.x.shape[1]:
        return 0.0
    asked = [one.shortfall for one in seen if isinstance(one, LowESSWarning | ConvergenceWarning)]
    return max(one or 0.0 for one in (verdict.shortfall, *asked))


def no_time_to_go_on(fit):
    """The warning where `time_limit` leaves chains no time for as many draws again."""
    return InterruptedWarning(
        f"time_limit left no time to go on after {fit.x.shape[1]} draws per chain, which do not "
        "suffice.",
        "Give a larger time_limit, or call resume().",
    )
