"""The exact sampler that takes the place of a default one whose chains diverged: to numbers that
are not finite, or to where the posterior has no mass.
"""

import numpy as np

from sgmc import registry
from sgmc.core.blas import one_blas_thread
from sgmc.core.engine import full_many
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import ReplacedSamplerWarning
from sgmc.fit.decision import planned
from sgmc.subsampling.uniform import Everything

REASON = "Exact sampler chosen: chains of mini-batches diverged"
SUSPECT = 10.0  # Laplace sds beyond sqrt(d), the usual distance: draws farther out are looked at
# log density lost between mode and draw, and more a parameter, that no posterior's draws lose: in d
# dimensions they lose about d / 2, under t priors some times the log of a distance
LOST, LOST_EACH = 50.0, 20.0


def possible(plan, settings):
    """Whether another sampler may take the place of a plan's: only where the user left the choice
    and everything that depends on it open, and the run has no limit and no file.
    """
    left_open = (
        settings.sampler,
        settings.gradient,
        settings.step_size,
        settings.batch_size,
        settings.time_limit,
        settings.max_data_passes,
        settings.checkpoint,
    )
    return (
        not plan.spec.exact
        and all(one is None for one in left_open)
        and not (settings.adaptive or settings.robust or settings.tuned)
        and settings.warmup != "threshold"
    )


def diverged(problem, done):
    """Whether chains left for numbers that are not finite, or for draws that cannot be of the
    posterior: a drift that has no bound leads there long before it overflows.

    Parameters
    ----------
    problem : Problem
    done : Fit
    """
    if done.run.interrupted:
        return False
    return "diverged" in done.run.statuses or drifted(problem, done.x)


def drifted(problem, x):
    """Whether the farthest draw of a chain has hardly any density beside the mode.  The rows are
    read only where a draw is farther out than the Gaussian approximation's are.

    Parameters
    ----------
    problem : Problem
    x : array (chain, draw, d)
    """
    where, d = problem.coordinates, x.shape[-1]
    if not where.scaled:
        return False
    mode = where.from_white(np.zeros(d))
    distance = np.sqrt(where.min_precision) * np.linalg.norm(x - mode, axis=-1)
    farthest = x[np.arange(len(x)), distance.argmax(axis=1)]
    if distance.max() < np.sqrt(d) + SUSPECT:
        return False
    rng = Rng(seed_sequence(0, "pilot"))
    gradient = problem.gradient("simple", Everything(problem.model.n), rng)
    with one_blas_thread(), np.errstate(all="ignore"):
        value, _ = full_many(gradient, np.vstack([mode, farthest]), slopes=False)
    return not (value[0] - value[1:] < LOST + LOST_EACH * d).all()


def plan(problem, settings, gradient, seen):
    """The plan of the exact sampler that is the default."""
    spec = registry.room("samplers")[problem.exact_sampler]()
    return planned(problem, settings, spec, gradient, seen, REASON)


def note(first, second):
    """What to tell of it."""
    return ReplacedSamplerWarning(
        f"chains of the default sampler {first.spec.name} diverged; the draws are of "
        f"{second.spec.name} instead.",
        f"Give sampler='{second.spec.name}' to begin with it.",
    )
