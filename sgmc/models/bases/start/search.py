"""The search for several modes of a model that is no regression, and where it starts."""

import numpy as np

from sgmc.coordinates.approximations.laplace import MAX_CURVATURE_DIM, laplace_approximation
from sgmc.coordinates.approximations.modes import (
    LocalMode,
    finite_at,
    search_modes,
    where_finite,
    wide_starts,
)
from sgmc.coordinates.priors.prior_draws import can_draw, prior_draw
from sgmc.coordinates.whitened.free import root_of_inverse
from sgmc.core.engine import full
from sgmc.core.random.rng import seed_sequence
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import ArgumentError, NotSupported

WIDE_SD = 3.0  # of starts around the usual one, in free numbers, where priors cannot be drawn


def own_start(model, constraints, random):
    """A start of the model's own, in free numbers."""
    start = np.asarray(model.start(random), dtype=float)
    try:
        return start if constraints is None else constraints.inverse(start)
    except ValueError as error:
        raise ArgumentError(f"start: {error}") from error


def free_start(model, constraints, settings):
    """Where the search for the mode begins, in free numbers; from a stream that no chain has."""
    sequence = seed_sequence(settings.seed, "start", settings.chains)
    return own_start(model, constraints, np.random.Generator(np.random.PCG64(sequence)))


def first_place(model, settings):
    """Where a user's model is looked at first, in free numbers:
    where the search or a chain begins."""
    map = model.layout.map
    if model.scaled or not settings.start_given:
        return free_start(model, map, settings)
    given = np.atleast_2d(settings.init)[0]
    try:
        return given if map is None else map.inverse(given)
    except ValueError as error:
        raise ArgumentError(f"init: {error}") from error


def wide_draw(model, priors, constraints):
    """``draw(random)`` of starts that lie far apart, in free numbers: the model's own, where it
    makes each anew; else draws of the priors; else of normals around the usual start.
    """

    def draw(random):
        if model.own_starts:
            return own_start(model, constraints, random)
        if can_draw(priors.used, model.layout) and model.prior is None:
            theta = prior_draw(priors.used, model.layout, random)
            return theta if constraints is None else constraints.inverse(theta)
        start = own_start(model, constraints, random)
        return start + WIDE_SD * random.normal(size=len(start))

    return draw


def refuse_search(model, settings, free, d):
    """NotSupported where no Laplace approximation tells modes apart, or says what they hold."""
    if model.kernel.refreshes:
        why = "a model with conditional updates of its own has no density to search"
    elif not free:
        why = f"{settings.sampler.name} moves parameters in coordinates of its own; use 'mala'"
    elif d > MAX_CURVATURE_DIM:
        why = f"{d} free numbers are more than {MAX_CURVATURE_DIM}"
    else:
        return
    raise NotSupported(f"modes='search': {why}; or leave modes='one'", because="limit")


def several_approximations(exact, usual, model, wide, seed):
    """Search from several starts.

    Parameters
    ----------
    exact : Gradient
        Over all rows, in free numbers.
    usual : (Peak, list of SGMCWarning)
        What the usual start led to.
    model : Ingredients
    wide : callable
        See `wide_draw`.
    seed : object

    Returns
    -------
    found : Peak
        With the largest Laplace mass.
    warnings : list of SGMCWarning
    searched : ModeSearch
    """
    first, warnings = usual
    random = np.random.Generator(np.random.PCG64(seed_sequence(seed, "modes")))

    def local(found):
        value = full(exact, found.place)[0]
        return LocalMode(found.place, found.precision, value, found)

    def search(start):
        start = where_finite(lambda u: finite_at(exact, u), start, first.place)
        with np.errstate(all="ignore"):
            found, trouble = laplace_approximation(exact, start)
        if not found.whole:
            raise OutOfTime
        return None if trouble else local(found)

    there = None if first.precision is None else local(first)
    root = np.eye(len(first.place)) if there is None else root_of_inverse(first.precision)
    own = model.own_starts and not model.scaled
    starts = wide_starts(random, first.place, None if own else root, wide)
    searched, best = search_modes(search, starts, there)
    found = first if best is None else best.found
    return found, (warnings if found is first else []) + searched.warnings(), searched
