"""Draws of what the verdict is about: of the parameters, or of what they say together."""

from typing import NamedTuple

import numpy as np

from sgmc.results.checks.scores.temperature import SCORED_DRAWS, Temperatures, temperatures
from sgmc.results.checks.scores.whole import unbounded, whole_draws


class FunctionalDraws(NamedTuple):
    """What is judged in the place of single parameters.

    Attributes
    ----------
    what : str
        In words.
    names : list of str, (k,)
    draws : array (chain, draw, k)
    temperatures : Temperatures or None
        Of the draws of all parameters; None where scores of them cannot be had, or where an exact
        sampler needs no such check.
    """

    what: str
    names: list
    draws: np.ndarray
    temperatures: Temperatures | None


def functional_draws(fit, results):
    """Return what is judged in place of parameters; None where parameters are, or where what
    functionals need was not kept.

    Parameters
    ----------
    fit : Fit
    results : Results
        With draws, and what the model's own kind of results keeps besides.
    """
    functionals = fit.problem.functionals
    found = None if functionals is None else functionals.of(results)
    if found is None:
        return None
    names, draws = found
    spec, whole, x = fit.plan.spec, whole_draws(fit), None
    if not (spec.exact or fit.problem.shape.bounded or whole is None):
        fit, x = unbounded(fit, whole, SCORED_DRAWS)
    heat = None if x is None else temperatures(fit, x, fit.settings.seed)
    return FunctionalDraws(functionals.what, names, draws, heat)
