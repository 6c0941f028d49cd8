"""Draws of what the verdict is about: of the parameters, or of what they say together."""

from typing import NamedTuple

import numpy as np

from sgmc.results.checks.temperature import Temperatures, temperatures


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


def judged(fit, results):
    """See `Judged`; None where single parameters are judged, or what functionals need was not kept.

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
    x = None if fit.plan.spec.exact or fit.problem.bounded else positions(fit)
    heat = None if x is None else temperatures(fit, x, fit.settings.seed)
    return Judged(functionals.what, names, draws, heat)


def whole_draws(fit):
    """Draws of all parameters as users see them, (chain, draw, size): all, or those that recorders
    banked; None where there are none, or where their weights differ.
    """
    if not fit.problem.partial:
        return fit.problem.coordinates.reported(fit.x)
    banks = [getattr(recorder, "bank", None) for recorder in fit.recorders]
    if fit.weights is not None or any(bank is None for bank in banks):
        return None
    count = min(len(draws) for draws, _ in banks)
    return np.stack([draws[:count] for draws, _ in banks]).astype(float)


def positions(fit):
    """Whole draws in the sampler's coordinates, (chain, draw, dim), or None."""
    if not fit.problem.partial:
        return fit.x
    whole, back = whole_draws(fit), fit.problem.coordinates.from_reported
    if whole is None:
        return None
    x = np.array([back(theta) for chain in whole for theta in chain])
    return x.reshape(*whole.shape[:2], -1)
