"""The exact sampler that takes the place of a default one whose chains diverged."""

from sgmc import registry
from sgmc.errors import ReplacedSamplerWarning
from sgmc.fit.decision import planned

REASON = "Exact sampler chosen: chains of mini-batches diverged"


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
