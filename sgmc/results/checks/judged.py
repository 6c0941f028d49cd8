"""Draws of what the verdict is about: of the parameters, or of what they say together."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sgmc.results.checks.temperature import MOST_DRAWS, Temperatures, temperatures
from sgmc.results.outcomes.rows import evenly


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
        fit, x = positions(fit, whole)
    heat = None if x is None else temperatures(fit, x, fit.settings.seed)
    return Judged(functionals.what, functionals.names, of, heat)


def whole_draws(fit):
    """Draws of all parameters as users see them, (chain, draw, size): all, or those that recorders
    banked; None where there are none, or where their weights differ.
    """
    if not fit.problem.partial:
        return fit.problem.coordinates.reported(fit.x)
    if np.array_equal(fit.problem.columns, np.arange(fit.problem.model.dim)):
        return fit.x
    banks = [getattr(recorder, "bank", None) for recorder in fit.recorders]
    if fit.weights is not None or any(bank is None for bank in banks):
        return None
    count = min(len(draws) for draws, _ in banks)
    return np.stack([draws[:count] for draws, _ in banks]).astype(float)


def positions(fit, whole):
    """The fit in coordinates that end nowhere, and whole draws in these, (chain, draw, dim): the
    sampler's own, or free numbers, of which some are enough.  None in the place of draws that are there in single precision
    alone, in which probabilities near zero are zero.
    """
    problem = fit.problem.unbounded()
    same = problem is fit.problem
    if same and not problem.partial:
        return fit, fit.x
    if not same and problem.partial and whole is not fit.x:
        return fit, None
    back, weights = problem.coordinates.from_reported, fit.weights
    if not same:
        kept = evenly(whole.shape[1], max(MOST_DRAWS // len(whole), 1))
        whole, weights = whole[:, kept], None if weights is None else weights[kept]
    x = np.array([back(theta) for chain in whole for theta in chain])
    return replace(fit, problem=problem, weights=weights), x.reshape(*whole.shape[:2], -1)
