"""The sampler again at half its step: what the step itself does to means and sds."""

from dataclasses import replace

import numpy as np
import pandas as pd

from sgmc import diagnostics
from sgmc.arguments.seeds import entropy
from sgmc.core.random.rng import seed_sequence
from sgmc.core.system.phases import watched
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit import make_plan, sample

COMPARISON_SHARE = 4  # a quarter of the draws


def half_step(fit, names, draws):
    """Compare draws with those of half the step; see `Results.half_step`."""
    done, spec, problem = fit.plan, fit.plan.spec, fit.problem
    if spec.exact or not spec.uses_gradient or spec.continuous and not spec.holds:
        raise NotSupported(
            f"half_step: {spec.name} has no step that its draws depend on, but for their number",
            because="mathematics",
        )
    if done.weighted:
        raise NotSupported(
            "half_step needs a constant step: a decreasing one is its own comparison, early draws "
            "against late ones",
            because="mathematics",
        )
    own = replace(
        fit.settings,
        step_size=done.schedule(0) / 2,
        batch_size=done.batch if spec.minibatches else None,
        adaptive=False,
        thin=None,
        warmup=None,
        init=problem.coordinates.reported(fit.x[:, -1]),
        chains=len(fit.x),
        time_limit=None,
        max_data_passes=None,
        accuracy=None,
        progress=None,
        checkpoint=None,
        draws=draws or max(1, fit.x.shape[1] // COMPARISON_SHARE),
        seed=entropy(seed_sequence(fit.settings.seed, "diagnostics")),
    )
    with watched(None, "sgmc half-step check"):
        other = sample(make_plan(done.choice(settings=own, reason="")), 0.0)
    if "diverged" in other.run.statuses:
        raise ArgumentError(
            f"half_step: diverged at step_size={own.step_size:.3g}; take a much smaller step_size "
            "for the fit itself"
        )
    first, second = (problem.coordinates.theta(one.x) for one in (fit, other))
    sd = moments.sd(second)
    error = {
        method: np.hypot(*(diagnostics.mcse(x, method) for x in (first, second))) / sd
        for method in ("mean", "sd")
    }
    return pd.DataFrame(
        {
            "mean_change": (moments.mean(first) - moments.mean(second)) / sd,
            "mcse_mean_change": error["mean"],
            "sd_change": moments.sd(first) / sd - 1,
            "mcse_sd_change": error["sd"],
        },
        index=list(names),
    )
