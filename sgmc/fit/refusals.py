"""Arguments that do not go together with a sampler in steps."""

import math

from sgmc import registry
from sgmc.errors import ArgumentError


def refuse(spec, settings, n):
    """ArgumentError for arguments that do not go together with the sampler or the data."""
    if settings.batch_size is not None and settings.batch_size > n:
        raise ArgumentError(f"batch_size={settings.batch_size} exceeds the {n} rows")
    if (settings.adaptive or settings.batch_size is not None) and not spec.minibatches:
        given = "batch_size='adaptive'" if settings.adaptive else "batch_size"
        used = "all rows at each step" if spec.all_rows else "as many rows as its bounds ask for"
        chosen = ", which sampler='auto' chose" if settings.sampler is None else ""
        cure = "leave it, or use a mini-batch sampler such as sampler='lmsgld'"
        raise ArgumentError(
            f"{given} does not apply to {spec.name}{chosen}: it uses {used}; {cure}"
        )
    if registry.lookup("subsampling", settings.subsample, "subsample").sweeps and spec.minibatches:
        refuse_sweeps(spec, settings)
    if spec.implied_time(1.0) is not None and settings.step_size is not None:
        raise ArgumentError(f"step_size does not apply to {spec!r}: the noise settles its steps")
    if spec.independent and settings.step_size is not None:
        raise ArgumentError(
            f"step_size does not apply to {spec.name}: proposals do not depend on the position"
        )
    if settings.warmup == "threshold" and not spec.noisy:
        why = (
            "no noise of its gradients shows in its draws"
            if spec.minibatches
            else "its gradients have no noise"
        )
        raise ArgumentError(f"warmup='threshold' does not apply to {spec.name}: {why}")
    if spec.needs_step:
        unknown = "as its error on a Gaussian is not known; give a number"
        if settings.step_size is None:
            raise ArgumentError(f"step_size: {spec.name} has no default, {unknown}")
        if settings.adaptive:
            raise ArgumentError(f"batch_size='adaptive': {spec.name} has no target, {unknown}")


def refuse_sweeps(spec, settings):
    """ArgumentError where batches are independent by assumption, and those of a sweep are not."""
    given = f"subsample={settings.subsample!r}"
    if math.isnan(spec.noise_left(1.0, 1)):
        raise ArgumentError(
            f"{given} does not go with {spec!r}, which takes the noise of successive mini-batches "
            "for independent; use sampler='baoab', 'sghmc', 'lmsgld' or 'sgld', or "
            "subsample='uniform'"
        )
    if settings.adaptive:
        raise ArgumentError(
            f"batch_size='adaptive' does not go with {given}: it takes the noise of successive "
            "mini-batches for independent; leave batch_size=None, or give a number"
        )
