"""What subsampling schemes must know of the rows, and what the chains of a fit share of it."""

import numpy as np

from sgmc import registry
from sgmc.core.blas import one_blas_thread
from sgmc.core.bounds import reach
from sgmc.core.expansion import row_noise, row_sizes
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit import tolerance
from sgmc.fit.pilot import PILOT_ROWS, draws_of_laplace
from sgmc.fit.run.batches import BatchSearch, largest
from sgmc.subsampling.uniform import Everything

MAX_STRATA = 8  # most strata of an outcome, and strata of what has more levels


def scheme(settings):
    """The subsampler class of a fit."""
    return registry.lookup("subsampling", settings.subsample, "subsample")


def subsampler(problem, settings, gradient, batch):
    """A subsampler for one chain."""
    shared = shared_rows(problem, settings, gradient)
    return scheme(settings)(problem.model.n, batch, *([] if shared is None else [shared]))


def shared_rows(problem, settings, gradient):
    """What the subsamplers of a fit share, made at first use, for an estimator of that name; None
    for schemes without needs.

    It depends on the data, the estimator and the seed alone.  For samplers that thin events below
    bounds the rows' sizes are those of their bounds.

    Raises
    ------
    ArgumentError
        Where batch_size is less than the scheme needs.
    """
    cls = scheme(settings)
    if not cls.needs:
        return None
    key = cls.name, gradient, settings.seed
    if key not in problem.shared:
        with one_blas_thread():
            known = known_rows(problem, gradient, settings.seed, cls.needs)
            if "sizes" in known and settings.sampler is not None and settings.sampler.needs_bounds:
                known["sizes"] = reach(
                    problem.model, problem.coordinates.map, problem.model.dim, gradient == "cv"
                )
            problem.shared[key] = cls.share(**known)
    made = problem.shared[key]
    if settings.batch_size is not None and settings.batch_size < made.fewest:
        raise ArgumentError(
            f"batch_size={settings.batch_size} is less than the {made.fewest} strata of "
            f"subsample={cls.name!r}; a batch has a row of each"
        )
    return made


def known_rows(problem, name, entropy, needs):
    """What a scheme needs, by name: at the pilot's draws of the Laplace approximation, with an
    estimator of that name.
    """
    where, z = problem.coordinates, draws_of_laplace(entropy, problem.dim)
    gradient = problem.gradient(
        name, Everything(problem.model.n), Rng(seed_sequence(entropy, "pilot", 1))
    )
    points = [where.natural(where.from_white(one)) for one in np.concatenate([z, -z])]
    found = {}
    if "sizes" in needs:
        found["sizes"] = row_sizes(gradient, where.inner, points)
    if "strata" in needs or "spread" in needs:
        strata, most = problem.strata(), PILOT_ROWS if problem.shuffled else 0
        found["strata"] = strata
        found["spread"] = spread_within(gradient, where.inner, points, strata, most)
    return {need: found[need] for need in needs}


def groups_of(y, most=MAX_STRATA):
    """Strata by numbers, one a row: their levels;
    where there are more than `most`, MAX_STRATA groups by quantiles.
    """
    levels, place = np.unique(y, return_inverse=True)
    if len(levels) <= most:
        return place
    return np.searchsorted(
        np.unique(np.quantile(y, np.arange(1, MAX_STRATA) / MAX_STRATA)), y, side="left"
    )


def spread_within(gradient, white, points, strata, rows):
    """S_h: root mean square, over the points, of the sd within each stratum of the row terms in
    whitened coordinates.

    The first `rows` of each stratum are looked at; 0: all.
    """
    groups = [np.flatnonzero(strata == h) for h in np.unique(strata)]
    total = np.zeros(len(groups))
    for x in points:
        covariance = row_noise(gradient, x, rows, groups=groups)[1]
        total += np.einsum("jk,hjl,lk->h", white, covariance, white, optimize=True)
    return np.sqrt(np.maximum(total, 0.0) / len(points)) / [len(rows) for rows in groups]


def batch_search(problem, plan, settings):
    """What adapts the batches of a chain."""
    reason = plan.spec.noise_refusal(problem.coordinates.map)
    if reason:
        raise NotSupported(f"batch_size='adaptive': {reason}")
    shared = shared_rows(problem, settings, plan.gradient)
    smallest = (
        tolerance.SMALLEST_BATCH if shared is None else max(tolerance.SMALLEST_BATCH, shared.fewest)
    )
    return BatchSearch(
        tolerance.tolerable_noise(plan.spec, plan.langevin_time),
        plan.max_precision,
        plan.warmup,
        min(smallest, largest(problem.model.n)),
        problem.dim,
        lambda m: subsampler(problem, settings, plan.gradient, m),
    )
