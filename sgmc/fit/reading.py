"""What it costs to read a table that lies in a file once for each step."""

import time

import numpy as np

from sgmc.core.memory import shown
from sgmc.errors import ReadingWarning, warn

MOST_PASSES = 1000  # beyond which a run is warned of
LARGE = 1 << 30  # bytes of a table: less stays in memory once it is read


def warned(problem, plan, settings, steps):
    """A ReadingWarning, in a list, where chains would read a large file very often; issued before
    they start.

    Its seconds are those of one pass that is made here.

    Parameters
    ----------
    problem : Problem
    plan : Plan
    settings : Settings
    steps : int
        Of each chain after warmup.
    """
    passes = settings.chains * (plan.warmup + steps)
    if not plan.spec.all_rows or problem.file_bytes < LARGE or passes <= MOST_PASSES:
        return []
    begun = time.perf_counter()
    problem.is_finite(problem.coordinates.from_white(np.zeros(problem.dim)))
    seconds = time.perf_counter() - begun
    found = ReadingWarning(
        f"{plan.spec.name} reads all {shown(problem.file_bytes)} of the table at least "
        f"{passes:,} times ({settings.chains} chains x {plan.warmup + steps} steps); one pass took "
        f"{seconds:.2g} s, all of them about {passes * seconds / 3600:.2g} hours.",
        "Use a mini-batch sampler such as sampler='lmsgld', fewer draws, or time_limit.",
    )
    warn(found)
    return [found]
