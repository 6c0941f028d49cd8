"""Piecewise-deterministic samplers in a fit: what they refuse, their plan,
and what their chains leave behind.
"""

import math
from dataclasses import dataclass

import numpy as np

from sgmc.core.schedules import Constant
from sgmc.errors import ArgumentError, BoundError, NotSupported
from sgmc.fit import plan as planning
from sgmc.fit.rows import scheme, shared_rows
from sgmc.fit.spike_and_slab import release_rates
from sgmc.samplers.bases.paths import Path

WARMUP_DRAWS = 100  # autocorrelation times of warmup, as the sampler expects them
LEAST_WARMUP = 1000  # events
SKELETON = 1 << 27  # bytes of turning points, of all chains


@dataclass(frozen=True)
class Travelled:
    """The path of a chain after warmup, in the user's coordinates.

    Attributes
    ----------
    times : array (batch,)
        Lengths in time of the batches that integrals are kept in.
    integrals : array (batch, d)
        Of the coordinates over them.
    turns : array (turn,)
        Times of the turning points kept, from the end of warmup on.
    positions, velocities : array (turn, d)
    whole : bool
        Whether these are all of them.
    """

    times: np.ndarray
    integrals: np.ndarray
    turns: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    whole: bool


def refuse_unbounded(spec, family):
    """NotSupported, by name, where a sampler thins below bounds that the family has not."""
    if spec is None or not spec.needs_bounds:
        return
    if spec.remainder:
        refuse_unexpanded(spec, family)
        return
    why = family.unbounded()
    if why:
        raise NotSupported(
            f"{spec.name} does not apply to {family.name}, whose rates of events have no bound: "
            f"{why}; use sampler='mala', or 'auto'"
        )


def refuse_unexpanded(spec, family):
    """NotSupported, by name, where remainders of the family's Taylor polynomials have no bound."""
    if family.expands and not family.auxiliary:
        return
    why = (
        family.unbounded()
        if family.auxiliary and not family.report
        else "no bound of its derivatives in the linear predictor is known"
    )
    raise NotSupported(
        f"{spec.name} does not apply to {family.name}, whose Taylor remainders have no bound: "
        f"{why}; use sampler='mala', or 'auto'"
    )


def refuse(spec, gradient, settings):
    """ArgumentError or NotSupported for arguments that do not go together with a sampler in
    continuous time.
    """
    for name, value, why in (
        (
            "thin",
            settings.thin,
            "draws lie on a regular grid of times, whose spacing warmup settles",
        ),
        (
            "step_size",
            None if spec.holds else settings.step_size,
            "it has no steps; its lines end at random",
        ),
    ):
        if value is not None:
            raise ArgumentError(f"{name} does not apply to {spec.name}: {why}")
    if settings.adaptive:
        raise ArgumentError(
            f"batch_size='adaptive' does not apply to {spec.name}: there is no step that noise "
            "would be small against"
        )
    if spec.estimator and gradient != spec.estimator:
        raise ArgumentError(
            f"gradient={gradient!r} does not apply to {spec.name}: its bounds are those of "
            f"{spec.estimator!r}"
        )
    if spec.minibatches and spec.needs_bounds and "strata" in scheme(settings).needs:
        raise NotSupported(
            f"subsample={settings.subsample!r} with {spec.name}, whose bounds are for rows, not "
            "for strata; use 'block', 'uniform', 'replacement' or 'preferential'"
        )


def plan(spec, gradient, settings, problem):
    """The plan of a sampler in continuous time.

    Warmup lasts WARMUP_DRAWS autocorrelation times of the slowest direction, by what the sampler
    expects of these and of its events in a unit of time.

    Parameters
    ----------
    spec : SamplerSpec
    gradient : str
    settings : Settings
    problem : Problem
    """
    n, where = problem.model.n, problem.coordinates
    planning.refuse(spec, settings, n)
    refuse(spec, gradient, settings)
    unit = 1 / math.sqrt(where.max_precision)
    slow = unit * math.sqrt(min(where.max_precision / where.min_precision, planning.SLOWEST))
    bounds = bounds_of(spec, gradient, settings, problem)
    spacing = spec.memory(bounds, slow)
    apart = planning.steps_for(spacing * spec.events(bounds, unit), 1.0)
    warmup = (
        max(min(WARMUP_DRAWS * apart, planning.MAX_STEPS), LEAST_WARMUP)
        if settings.warmup is None
        else settings.warmup
    )
    batch = (settings.batch_size or min(spec.batch, n)) if spec.minibatches else n
    return planning.Plan(
        spec,
        gradient if spec.minibatches else "simple",
        Constant(unit),
        unit,
        batch,
        apart,
        warmup,
        "none",
        "",
        spacing,
    )


def bounds_of(spec, gradient, settings, problem):
    """The bounds that a sampler needs, or None;
    NotSupported names it where prior or coordinates have none.
    """
    if not spec.needs_bounds:
        return None
    try:
        if spec.remainder:
            return problem.remainders(spec.remainder)
        shared = shared_rows(problem, settings, gradient) if spec.minibatches else None
        if shared is None or shared.weight is None:
            return problem.bounds(spec.all_rows)
        return problem.bounds(spec.all_rows, settings.subsample, shared.weight)
    except NotSupported as error:
        what = "Taylor remainders" if spec.remainder else "slopes and curvatures"
        raise NotSupported(
            f"{spec.name} needs bounds of {what}, which this model does not have: {error}; "
            "use sampler='mala'"
        ) from None


def equip(sampler, plan, problem):
    """Tell a compiled sampler what it takes from the problem besides its gradient: the unit of
    time, rates of leaving zero.
    """
    if plan.spec.sticky:
        sampler.set_release(release_rates(plan.spec, problem.priors, problem.coordinates))
    if hasattr(sampler, "unit"):
        sampler.unit = 1 / math.sqrt(problem.coordinates.max_precision)


def recorder(plan, settings, draws, d):
    """Where the draws and the path of a chain go."""
    return Path(
        draws, d, plan.spacing, plan.warmup, SKELETON // (8 * (2 * d + 1) * settings.chains)
    )


def check(spec, run, chains):
    """BoundError where the rate of an event was larger than its bound."""
    for k, status in enumerate(run.statuses):
        if status == "bound exceeded":
            raise BoundError(
                f"{spec.name}: the rate of an event exceeded its bound in chain {k} at event "
                f"{chains[k].steps}: its draws would be wrong.  The bounds that the model declares "
                "(score_bound, curvature_bound, third_bound) are too low, or the numbers lost too "
                "many digits; use sampler='mala', or dtype='float64'"
            )


def travelled(chains, run, where):
    """What the paths of the chains were that did not diverge, in the user's coordinates; None where
    lines are none there.
    """
    if where.logs or not (where.map is None or where.map.affine):
        return None
    zero = where.theta(np.zeros(len(where.white)))
    matrix = where.theta(np.eye(len(zero))) - zero
    return [
        of_recorder(chain.recorder, zero, matrix)
        for chain, status in zip(chains, run.statuses)
        if status != "diverged"
    ]


def of_recorder(path, zero, matrix):
    """The `Travelled` of one recorder; theta = zero + x @ matrix."""
    times, first, _ = path.integrals.batches()
    first = first + times[:, None] * np.asarray(path.integrals.origin)
    points = path.skeleton.state()
    return Travelled(
        times,
        times[:, None] * zero + first @ matrix,
        np.array(points["times"]),
        zero + points["positions"] @ matrix,
        points["velocities"] @ matrix,
        path.skeleton.kept < path.skeleton.most,
    )
