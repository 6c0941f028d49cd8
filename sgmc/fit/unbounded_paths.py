"""The plan of piecewise-deterministic samplers without bounds:
batches, steps that rates are held for, warmup.
"""

import math
from typing import NamedTuple

import numpy as np

from sgmc.arguments.messages import must_be
from sgmc.core.schedules import Constant
from sgmc.errors import ArgumentError
from sgmc.fit import paths, tolerance
from sgmc.fit import plan as planning


class Terms(NamedTuple):
    """What such a sampler plans with.

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


def plan(spec, gradient, settings, noise, problem):
    """The plan of a sampler in continuous time whose events need no bounds.

    Parameters
    ----------
    spec : SamplerSpec
    gradient : str
    settings : Settings
    noise : Noise
        Of that gradient.
    problem : Problem
    """
    n, d, where = problem.model.n, problem.dim, problem.coordinates
    planning.refuse(spec, settings, n)
    paths.refuse(spec, gradient, settings)
    if settings.warmup == "threshold":
        raise ArgumentError(
            f"warmup='threshold' does not apply to {spec.name}: it injects no noise to "
            "compare that of its gradients with; give a number of steps"
        )
    unit = 1 / math.sqrt(where.max_precision)
    slow = unit * math.sqrt(min(where.max_precision / where.min_precision, planning.SLOWEST))
    step, batch, origin = sizes(spec, settings, noise, n, d, unit)
    terms = Terms(d, noise.of(batch, n), step)
    spec = spec.derived(terms, unit / slow)
    spacing = spec.memory(terms, slow)
    apart = planning.steps_for(spacing * spec.events(terms, unit), 1.0)
    warmup = settings.warmup
    if warmup is None:
        warmup = max(min(paths.WARMUP_DRAWS * apart, planning.MAX_STEPS), paths.LEAST_WARMUP)
    schedule = Constant(unit if math.isnan(step) else step * unit)
    return planning.Plan(spec, gradient, schedule, step, batch, apart, warmup, origin, "", spacing)


def sizes(spec, settings, noise, n, d, unit):
    """Step in posterior sds (NaN where there is none), batch, and how the step came."""
    if not spec.holds:
        return math.nan, settings.batch_size or cheapest(spec, noise, n, d), "none"
    if settings.step_size is None:
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
    sizes = np.unique(np.clip(np.geomspace(tolerance.SMALLEST_BATCH, n, 200).astype(int), 1, n))

    def cost(m):
        terms = Terms(d, noise.of(m, n))
        made = spec.derived(terms, 1.0)
        return (
            (noise.rows(m) + tolerance.OVERHEAD) * made.events(terms, 1.0) * made.memory(terms, 1.0)
        )

    return int(min(sizes, key=cost))
