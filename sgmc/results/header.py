"""The facts in the head of a summary, as text."""
from typing import NamedTuple

import numpy as np
import pandas as pd

from sgmc.results.concerns import noise_share
from sgmc.results.verdict import Verdict


class Judged(NamedTuple):
    """What is known of the draws of a fit.

    Attributes
    ----------
    ess, rhat : array (d,)
    ksd : float or None
    scores : str or None
        What the discrepancy and the errors were computed with.
    errors : DataFrame
        Of `accuracy`.
    verdict : Verdict
    """

    ess: np.ndarray
    rhat: np.ndarray
    ksd: float | None
    scores: str | None
    errors: pd.DataFrame
    verdict: Verdict


def facts(model, fit, judged):
    """Pairs (label, text) for the left and the right column, and lines beneath.

    Returns
    -------
    left, right : list of (str, str)
    lines : list of str
    """
    plan, (left, right) = fit.plan, model.heading(fit)
    left = [*left, ("Sampler", sampler_name(plan)),
            ("Step size", step_text(fit)), ("Minibatch", minibatch_text(fit)),
            ("Chains", f"{fit.x.shape[0]}"), ("Warmup/Draws", f"{plan.warmup}/{fit.x.shape[1]} x {plan.thin}")]
    right = [*right, ("Data passes", f"{fit.passes:.4g}"), ("Time (s)", f"{fit.seconds:.2f}"),
             ("Min. ESS bulk", number(judged.ess, np.nanmin, ".0f")),
             ("Max. R-hat", number(judged.rhat, np.nanmax, ".3f")),
             ("KSD (scores)", "-" if judged.ksd is None else f"{judged.ksd:.3g} ({judged.scores})"),
             ("From Laplace", from_laplace(judged.errors))]
    if fit.settings.robust:
        left.append(("Covariance", "robust (sandwich)"))
    if plan.spec.minibatches:
        left.append(("Grad-noise share", number(np.array(noise_share(fit)), np.max, ".2g")))
    elif np.isfinite(fit.acceptance):
        left.append(("Acceptance", f"{fit.acceptance:.2f}"))
    past = fit.noise.tau / plan.spec.breaking_point(fit.kept_step)
    if (past > 0).any():
        right.append(("Noise/breaking pt.", f"{past.max():.2g}"))
    lines = [f"Verdict: {judged.verdict}"]
    if plan.reason:
        lines.append(f"Sampler chosen {plan.reason}.")
    return left, right, [*lines, *model.remarks(fit), fit.problem.priors.told()]


def from_laplace(errors):
    """The largest differences of means and sds from the Laplace approximation, as text."""
    shift, sd = errors.laplace_shift.abs().max(), 100 * errors.laplace_sd.abs().max()
    return f"{shift:.2g} sd, {sd:.2g} %" if np.isfinite(shift) else "-"


def sampler_name(plan):
    """E.g. lmsgld-taylor; mala."""
    return f"{plan.spec.name}-{plan.gradient}" if plan.spec.minibatches else plan.spec.name


def step_text(fit):
    """The step and how it came."""
    if not fit.plan.spec.uses_gradient:
        return "-"
    origin = "tuned" if fit.settings.tuned else "decaying" if fit.plan.weighted else fit.plan.step_origin
    return f"{fit.step_size:.3g} ({origin})"


def minibatch_text(fit):
    """Rows of a step: the batch, and the rows that are computed at every step."""
    if not fit.plan.spec.uses_gradient:
        return "-"
    if fit.plan.spec.all_rows:
        return "all rows"
    always = fit.problem.always_computed(fit.plan.gradient)
    sizes = sorted(c.batch_size for c in fit.chains)
    text = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]}-{sizes[-1]}"
    return f"{text}{f' + {always} fixed' if always else ''} rows{' (adaptive)' if fit.settings.adaptive else ''}"


def number(values, reduce, form):
    """A reduced diagnostic as text, "-" where there is none (one chain has no R-hat)."""
    return format(reduce(values), form) if np.isfinite(values).any() else "-"
