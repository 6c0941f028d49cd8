"""Draws of what the verdict is about: of the parameters, or of what they say together."""

from typing import NamedTuple

import numpy as np

from sgmc.results.checks.temperature import Temperatures, temperatures
from sgmc.results.checks.whole import positions, whole_draws


class Judged(NamedTuple):
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


def judged(fit):
    """See `Judged`; None where single parameters are judged, or no draw was kept as a whole.

    Parameters
    ----------
    fit : Fit
    """
    functionals, x = fit.problem.functionals, None
    whole = None if functionals is None else whole_draws(fit)
    if whole is None:
        return None
    chains, draws, size = whole.shape
    of = functionals.of(whole.reshape(-1, size)).reshape(chains, draws, -1)
    if not (fit.plan.spec.exact or fit.problem.bounded):
        x = positions(fit, whole)
    heat = None if x is None else temperatures(fit, x, fit.settings.seed)
    return Judged(functionals.what, functionals.names, of, heat)
