"""Piecewise-deterministic samplers in a fit: what they refuse, what their plans rest on, what their
compiled samplers are told, and the paths that their chains leave behind.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sgmc.arguments.messages import must_be
from sgmc.errors import ArgumentError, BoundError, NotSupported
from sgmc.fit import tolerance
from sgmc.fit.noise import shared_rows
from sgmc.samplers.bases.piecewise.paths import Path

SKELETON = 1 << 27  # bytes of turning points, of all chains
SLABS = ("normal", "student_t", "laplace")  # priors that may be slabs


# ---- what does not go together -------------------------------------------------------------------


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
            f"{why}; use sampler='mala', or 'auto'",
            because="mathematics",
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
        f"{why}; use sampler='mala', or 'auto'",
        because="mathematics" if family.unbounded() else "limit",
    )


def check_with_paths(choice):
    """ArgumentError or NotSupported for arguments that do not go together with a sampler in
    continuous time.
    """
    spec, gradient, settings = choice.spec, choice.gradient, choice.settings
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
    if spec.minibatches and spec.needs_bounds and "strata" in settings.scheme.needs:
        raise NotSupported(
            f"subsample={settings.subsample!r} with {spec.name}, whose bounds are for rows, not "
            "for strata; use 'block', 'uniform', 'replacement' or 'preferential'",
            because="limit",
        )


# ---- what plans rest on --------------------------------------------------------------------------


def bounds_of(choice):
    """The bounds that a sampler needs, or None;
    NotSupported names it where prior or coordinates have none.
    """
    spec, settings, problem = choice.spec, choice.settings, choice.problem
    if not spec.needs_bounds:
        return None
    try:
        if spec.remainder:
            return problem.remainders(spec.remainder)
        shared = shared_rows(choice) if spec.minibatches else None
        if shared is None or shared.weight is None:
            return problem.bounds(spec.all_rows)
        return problem.bounds(spec.all_rows, settings.subsample, shared.weight)
    except NotSupported as error:
        what = "Taylor remainders" if spec.remainder else "slopes and curvatures"
        raise NotSupported(
            f"{spec.name} needs bounds of {what}, which this model does not have: {error}; "
            "use sampler='mala'",
            because=error.because,
        ) from None


class EventTerms(NamedTuple):
    """What a sampler whose events need no bounds plans with.

    Attributes
    ----------
    dim : int
    noise : float
        Variance of the gradient's noise, relative to the posterior precision.
    step : float
        That rates are held for, in posterior sds; NaN where they are not.
    """

    dim: int
    noise: float
    step: float = math.nan


def sizes(choice, noise, unit):
    """Step in posterior sds (NaN where there is none), batch, and how the step came."""
    spec, settings, (n, d) = choice.spec, choice.settings, choice.size
    if not spec.holds:  # there is no step, and the batch alone is weighed
        return math.nan, settings.batch_size or cheapest(spec, noise, n, d), "none"
    if settings.step_size is None:  # step and batch trade off
        return *tolerance.derive(spec, noise, n, settings.batch_size), "derived"
    if not isinstance(settings.step_size, float):
        advice = f"{spec.name} takes steps of one size"
        raise must_be("step_size", settings.step_size, "a number", advice)
    step = settings.step_size / unit
    return step, settings.batch_size or tolerance.batch_for_step(spec, noise, step, n), "given"


def cheapest(spec, noise, n, d):
    """The batch with the least rows (and overhead, in rows) an independent draw: events in a
    memory, as the sampler expects them.
    """

    def cost(m):
        terms = EventTerms(d, noise.of(m, n))
        made = spec.derived(terms, 1.0)
        return (
            (noise.rows(m) + tolerance.OVERHEAD) * made.events(terms, 1.0) * made.memory(terms, 1.0)
        )

    return min(tolerance.batch_sizes(n), key=cost)


# ---- chains --------------------------------------------------------------------------------------


def equip(sampler, plan):
    """Tell a compiled sampler what it takes from the problem besides its gradient: the unit of
    time, rates of leaving zero.
    """
    problem = plan.problem
    if plan.spec.sticky:
        sampler.set_release(release_rates(plan.spec, problem.priors, problem.coordinates))
    if hasattr(sampler, "unit"):
        sampler.unit = 1 / math.sqrt(problem.coordinates.max_precision)


def recorder(plan, draws):
    """Where the draws and the path of a chain go."""
    d = plan.problem.dim
    turns = SKELETON // (8 * (2 * d + 1) * plan.settings.chains)
    return Path(draws, d, plan.spacing, plan.warmup, turns)


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


def travelled(chains, run, where):
    """What the paths of the chains were that did not diverge, in the user's coordinates; None where
    lines are none there.
    """
    if where.log_params or not (where.map is None or where.map.affine):
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


# ---- spike-and-slab priors of sticky samplers ----------------------------------------------------


def density_at_zero(slab):
    """The density of a prior of `SLABS` at zero."""
    from scipy import stats  # only here: it takes long to import

    place = slab.location, slab.scale
    if slab.family == "student_t":
        return stats.t.pdf(0, slab.df, *place)
    return getattr(stats, {"normal": "norm"}.get(slab.family, slab.family)).pdf(0, *place)


# Which slopes stick, and how fast they leave zero.


def release_rates(spec, priors, where):
    """w / (1 - w) f_j(0) in the sampler's coordinates, in which speeds are one;
    0 for what does not stick.

    Parameters
    ----------
    spec : SamplerSpec
        Its `inclusion` is w.
    priors : PriorTable
        Of the slabs f_j.
    where : Coordinates
        Natural ones, or these scaled.

    Raises
    ------
    NotSupported
        For a slab without a density at zero.
    """
    scale = np.ones(len(priors.names)) if where.map is None else np.diag(where.map.jacobian(None))
    rates = np.zeros(len(priors.names))
    for j in priors.slopes:
        slab = priors.used[j]
        if slab.family not in SLABS:
            raise NotSupported(
                f"{spec.name} with prior {slab} of {priors.names[j]!r}: the slab needs a density "
                "at zero that is finite and proper; use e.g. prior=sgmc.normal(0, 2.5)",
                because="mathematics",
            )
        rates[j] = density_at_zero(slab) * scale[j]
    odds = spec.inclusion / (1 - spec.inclusion)
    if not math.isfinite(odds * rates.sum()):
        raise NotSupported(
            f"{spec.name}: inclusion={spec.inclusion} leaves no probability for zero",
            because="mathematics",
        )
    return odds * rates
