"""Draws of all parameters of fits that kept draws of some."""

from dataclasses import replace

import numpy as np

from sgmc.results.outcomes.data.rows import evenly


def whole_draws(fit):
    """Draws of all parameters as users see them, (chain, draw, size): all, or those that recorders
    banked; None where there are none, or where their weights differ.
    """
    problem = fit.problem
    if not problem.partial:
        return problem.coordinates.reported(fit.x)
    if all_kept(problem):
        return fit.x
    lasting = [r for r in fit.recorders if r.kept >= fit.x.shape[1]]  # not chains lost early
    banks = [getattr(recorder, "bank", None) for recorder in lasting]
    if fit.weights is not None or any(bank is None for bank in banks):
        return None
    count = min(len(draws) for draws, _ in banks)
    return np.stack([draws[:count] for draws, _ in banks]).astype(float)


def all_kept(problem):
    """Whether the draws that were kept are those of all parameters, in their order."""
    return np.array_equal(problem.record.columns, np.arange(problem.model.dim))


def positions(fit, whole):
    """Whole draws in the sampler's coordinates, (chain, draw, dim)."""
    if not fit.problem.partial:
        return fit.x
    back = fit.problem.coordinates.from_natural
    x = np.array([back(theta) for chain in whole for theta in chain])
    return x.reshape(*whole.shape[:2], -1)


def unbounded(fit, whole, most):
    """The fit in coordinates that end nowhere, and there `most` of the whole draws or all, (chain,
    draw, dim); no draws where their scores cannot be had, or where they are in single precision, in
    which small probabilities are zero.
    """
    problem = fit.problem.forms.unbounded(fit.problem)
    if problem is fit.problem:
        return fit, positions(fit, whole)
    if problem is None or problem.partial and not all_kept(problem):
        return fit, None
    kept, back = evenly(whole.shape[1], most // len(whole)), problem.coordinates.from_natural
    x = np.array([back(theta) for chain in whole[:, kept] for theta in chain])
    weights = None if fit.weights is None else fit.weights[kept]
    x = x.reshape(len(whole), len(kept), -1)
    return replace(fit, plan=replace(fit.plan, problem=problem), weights=weights), x
