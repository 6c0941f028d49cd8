"""What a summary states of a fit besides its numbers, as text."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sgmc.fit.parts import is_foreign
from sgmc.results.checks.scores.stein import Discrepancy
from sgmc.results.path import moments
from sgmc.results.report.fit_warnings import noise_share
from sgmc.results.report.verdict import Verdict


class DrawFacts(NamedTuple):
    """What is known of the draws of a fit.

    Attributes
    ----------
    ess, rhat : array (d,)
    ksd : Discrepancy
    errors : DataFrame
        Of `accuracy`.
    verdict : Verdict
    """

    ess: np.ndarray
    rhat: np.ndarray
    ksd: Discrepancy
    errors: pd.DataFrame
    verdict: Verdict


def facts(model, fit, known):
    """Pairs (label, text) about model and run, lines for every summary, and those for details.

    Returns
    -------
    left, right : list of (str, str)
    lines, details : list of str
        The first of the lines is the verdict.
    """
    plan, (left, right) = fit.plan, model.heading(fit)
    left = [
        *left,
        ("Sampler", sampler_name(plan)),
        *([] if plan.spec.continuous and not plan.spec.holds else [("Step size", step_text(fit))]),
        ("Minibatch", minibatch_text(fit)),
        ("Chains", f"{fit.x.shape[0]}"),
        (
            "Warmup/Draws",
            f"{plan.warmup}/{fit.x.shape[1]}"
            + ("" if plan.spec.continuous else f" x {plan.thinning}"),
        ),
    ]
    right = [
        *right,
        ("Data passes", f"{fit.passes:.4g}"),
        ("Time (s)", f"{fit.seconds:.2f}"),
        ("Min. ESS bulk", number(known.ess, np.nanmin, ".0f")),
        ("Max. R-hat", number(known.rhat, np.nanmax, ".3f")),
        ("KSD (scores)", scored_text(known.ksd)),
        ("From Laplace", from_laplace(known.errors)),
    ]
    if fit.settings.robust:
        left.append(("Covariance", f"{fit.settings.cov_type} (sandwich)"))
    if fit.settings.extended:
        left.append(("Draws at first", f"{fit.settings.begun}"))
    if plan.spec.continuous:
        left += [
            ("Draw spacing", spacing_text(fit)),
            ("Events", f"{sum(c.steps for c in fit.chains):.4g}"),
        ]
        right += events(fit)
    elif plan.spec.minibatches:
        left.append(("Grad-noise share", number(np.array(noise_share(fit)), np.max, ".2g")))
    elif np.isfinite(fit.acceptance):
        left.append(("Acceptance", f"{fit.acceptance:.2f}"))
    past = fit.noise.tau / plan.spec.breaking_point(fit.kept_step)
    if (past > 0).any():
        right.append(("Noise/breaking pt.", f"{past.max():.2g}"))
    lines, functionals = [f"Verdict: {known.verdict}"], fit.problem.functionals
    if functionals is not None:
        lines.append(
            f"Judged by {functionals.what}, as are ESS and R-hat: {functionals.why}, so that "
            "single parameters have no meaning."
        )
    lines += [sampling(fit, known), *modes(fit), *model.remarks(fit)]
    lines.append(fit.problem.priors.described())
    if plan.spec.sticky:
        lines.append(
            f"Slopes are zero with prior probability {1 - plan.spec.inclusion:g}, else have that "
            "prior; see inclusion()."
        )
    details = [f"{plan.reason}."] if plan.reason else []
    if known.verdict.basis:
        details.append(f"Errors are estimated by {known.verdict.basis}.")
    return left, right, lines, details + model.details(fit)


def sampling(fit, known):
    """How the draws were made, a line; e.g. "Sampling: lmsgld, mini-batches of 32 rows; min. ESS
    3,166; max. R-hat 1.002; KSD 0.081."
    """
    spec = fit.plan.spec
    drawn = how(fit) if fit.stand_in else f"{spec.name}, {how(fit)}"
    parts = [drawn, f"min. ESS {number(known.ess, np.nanmin, ',.0f')}"]
    if fit.x.shape[0] > 1:
        parts.append(f"max. R-hat {number(known.rhat, np.nanmax, '.3f')}")
    else:
        parts.append("no R-hat (one chain)")
    parts.append(str(known.ksd))
    return f"Sampling: {'; '.join(parts)}."


def modes(fit):
    """How far modes of a user's density were looked for, in a list: chains that all stay in one
    mode do not show that there are others.
    """
    found = fit.searched
    if fit.problem.shape.unimodal or not is_foreign(fit.problem.model):
        return []
    if found.starts > 1:
        return [f"Modes: {found}."]
    looked = "one start" if found.starts else "none was looked for"
    hint = " (modes='search' looks for them)" if found.starts and found.can_search else ""
    return [f"Modes: {looked}; others are not ruled out{hint}."]


def how(fit):
    """What a step of the sampler uses, and whether it is exact."""
    spec = fit.plan.spec
    if fit.stand_in:
        return fit.stand_in.draws
    if spec.direct:
        return "independent draws of the posterior"
    if not spec.uses_gradient:
        return f"draws of the {spec.drawn}"
    rows = minibatch_text(fit)
    if spec.minibatches:
        return f"{'exact, ' if spec.exact else ''}mini-batches of {rows}"
    return f"{'exact MCMC' if spec.exact else 'steps'} on {rows}"


def scored_text(ksd):
    """The discrepancy and what its scores were computed with."""
    return "-" if ksd.value is None else f"{ksd.value:.3g} ({ksd.scores})"


def from_laplace(errors):
    """The largest differences of means and sds from the Laplace approximation, as text."""
    shift, sd = errors.laplace_shift.abs().max(), 100 * errors.laplace_sd.abs().max()
    return f"{shift:.2g} sd, {sd:.2g} %" if np.isfinite(shift) else "-"


def sampler_name(plan):
    """E.g. lmsgld-taylor; mala."""
    return (
        f"{plan.spec.name}-{plan.gradient}"
        if plan.spec.minibatches and not plan.spec.estimator
        else plan.spec.name
    )


def events(fit):
    """How events went, and what the path is worth, as far as either is known."""
    found, violations = [], np.array([c.violations for c in fit.chains])
    if np.isfinite(fit.acceptance):
        found.append(("Events accepted", f"{fit.acceptance:.2g}"))
    if np.isfinite(violations).any():
        found.append(("Bound violations", number(violations, np.nanmean, ".2g")))
    if fit.paths is not None:
        found.append(
            (
                "Min. ESS path",
                number(
                    moments(fit.paths, fit.problem.priors.names).ess.to_numpy(), np.nanmin, ".0f"
                ),
            )
        )
    return found


def spacing_text(fit):
    """Time between draws, of the chains' own."""
    ends = [f"{end([c.spacing for c in fit.chains]):.3g}" for end in (min, max)]
    return ends[0] if ends[0] == ends[1] else "-".join(ends)


def step_text(fit):
    """The step and how it came."""
    if not fit.plan.spec.uses_gradient or fit.plan.spec.independent:
        return "-"
    origin = (
        "tuned" if fit.settings.tuned else "decaying" if fit.plan.weighted else fit.plan.step_origin
    )
    return f"{fit.step_size:.3g} ({origin})"


def minibatch_text(fit):
    """Rows of a step: the batch, and the rows that are computed at every step."""
    if not fit.plan.spec.uses_gradient:
        return "-"
    if fit.plan.spec.all_rows:
        return f"all {fit.problem.rows.unit}s"
    if not fit.plan.spec.minibatches:
        return f"random {fit.problem.rows.unit}s"
    always = fit.problem.always_computed(fit.plan.gradient)
    sizes = sorted(c.batch_size for c in fit.chains)
    text = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]}-{sizes[-1]}"
    unit = fit.problem.rows.unit + ("" if text == "1" and not always else "s")
    return (
        f"{text}{f' + {always} fixed' if always else ''} {unit}"
        f"{' (adaptive)' if fit.settings.adaptive else ''}"
    )


def number(values, reduce, form):
    """A reduced diagnostic as text, "-" where there is none (one chain has no R-hat)."""
    return format(reduce(values), form) if np.isfinite(values).any() else "-"
