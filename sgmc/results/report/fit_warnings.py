"""The word on trust: what to warn of once the draws are there, in numbers and with advice."""

import math

import numpy as np

from sgmc.errors import (
    BoundaryWarning,
    BoundWarning,
    DensityWarning,
    DivergenceWarning,
    DivergentTransitionsWarning,
    GradientNoiseWarning,
    InterruptedWarning,
    LowEnergyWarning,
    ShapeWarning,
    SpreadWarning,
    StepSizeWarning,
    TreeDepthWarning,
)
from sgmc.results.checks.differences import BEYOND
from sgmc.results.checks.noise import mainly
from sgmc.results.checks.scores.laplace import SHAPE_DEPARTURE, departure
from sgmc.results.checks.visited import not_near_zero, rarely_visited, unvisited
from sgmc.results.checks.weights import proposals
from sgmc.results.report.draws import MEAN_TOLERANCE, SD_TOLERANCE, disagreement, of_draws
from sgmc.results.report.verdict import (
    EXACT,
    TRUSTED_ERROR,
    Worst,
    another,
    besides_draws,
    choosing,
    divergences,
    named,
)

# noise over a step's own beyond which corrections are suspect (at 1, csgld left 17 % of the
# covariance)
CORRECTED_NOISE = 0.3
INFLATION = 0.05  # of the variance, by noise or by discretisation: half of the tolerance of the sd
# the same for the sandwich, of whose draws nothing but mean and covariance has a meaning
SANDWICH_DEPARTURE = 0.3
DIRECTIONS_APART = 3.5  # Monte Carlo errors: the largest of 64 is beyond in one of 30 fits
UNDEFINED = 0.01  # share of the steps; proposals far out are not numbers more rarely
E_BFMI = 0.3  # limit of Betancourt (2016)
SATURATED = 0.01  # share of the paths of nuts that may end by their limit of doublings


def noise_share(fit):
    """Share of the draws' variance that gradient noise adds, for the worst parameter; negative
    where it takes away, 1 without bound.
    """
    h, spec = fit.langevin_time, fit.plan.spec
    noisy = spec.inflation(h, fit.felt_noise)
    if math.isinf(noisy):
        return 1.0
    added = noisy - spec.inflation(h, 0.0)
    return added / (1 + added)


def after_sampling(fit, seen, errors, apart, ends=False):
    """Warnings that the draws themselves give rise to.

    Parameters
    ----------
    fit : Fit
    seen : Seen
    errors : DataFrame
        Of `accuracy`.
    apart : Seen
        What is known to have no sd: chains have to agree on it, too.
    ends : bool
        Whether a user's density is known to end where draws are.
    """
    if "diverged" in fit.run.statuses:  # draws are of no posterior: what they show has no cure
        return [*stopped(fit), *spread(fit)]
    chained = not fit.plan.spec.direct
    return [
        *stopped(fit),
        *transitions(fit, ends),
        *proposals(fit),
        *spread(fit),
        *shape(fit, errors),
        *of_draws(seen, chained),
        *(disagreement(apart) if apart.names and chained else ()),
        *unvisited(fit),
        *rarely_visited(fit, seen.moved),
        *not_near_zero(fit, seen),
    ]


def of_density(fit, found):
    """A user's log density that disagrees with its gradient, its rows or itself nearby, that ends
    or jumps where draws are, or that was NaN at many steps: exact samplers reject these.

    Parameters
    ----------
    fit : Fit
    found : Disagreement or None
    """
    steps = sum(c.steps - fit.plan.warmup for c in fit.chains)
    nans = [*fit.problem.undefined, *fit.run.undefined]
    often = [one for one in nans if one.recorded > UNDEFINED * steps]
    if often and (found is None or found.kind == "nan"):
        return [
            DensityWarning(
                f"{often[0].text}, and at {100 * often[0].recorded / steps:.2g} % of the steps "
                "after warmup: no draws are where that is so.",
                BEYOND["nan"][1],
            )
        ]
    if found is None or found.kind == "kink":  # scores hold at kinks: see `breaks`
        return []
    kind = BoundaryWarning if found.breaks else DensityWarning
    return [kind(found.text, found.advice)]


def along_directions(fit, found, ess):
    """Draws that are off along random directions, by more than `ess` effective draws may be.

    Parameters
    ----------
    fit : Fit
    found : Along or None
    ess : float
    """
    if found is None:
        return []
    average = abs(found.sd[0]) - 2 * found.mcse_sd[0]
    means, sds = Worst.of(found.mean, found.mcse_mean), Worst.of(found.sd, found.mcse_sd)
    limit = max(TRUSTED_ERROR, DIRECTIONS_APART / math.sqrt(ess))
    if average <= SD_TOLERANCE and max(means.least, sds.least) <= limit:
        return []
    return [
        SpreadWarning(
            f"by the scores along {len(found.sd) - 1} random directions, sds are off by "
            f"{100 * found.sd[0]:+.0f} % on average and up to {100 * sds.size:+.0f} %, means by up "
            f"to {abs(means.size):.2g} sd.",
            "Run longer (draws, warmup), take a smaller step_size, or compare with "
            f"{another(fit, *EXACT)}.",
        )
    ]


def stopped(fit):
    """Chains that ended early, and what the run itself noted."""
    found, where, names = [], fit.problem.coordinates, fit.problem.free_names
    diverged = [
        (k, c) for k, (s, c) in enumerate(zip(fit.run.statuses, fit.chains)) if s == "diverged"
    ]
    if diverged:
        h, spec = fit.plan.schedule(0), fit.plan.spec
        far = spec.uses_gradient and math.isinf(spec.inflation(fit.langevin_time, 0.0))
        places = ", ".join(
            f"chain {k} at step {c.steps} "
            f"({mainly(where, names, max(c.diverged_index, 0))!r} first)"
            for k, c in diverged[:4]
        )
        found.append(
            DivergenceWarning(
                f"diverged with step size {h:.3g}: {places}{', ...' if diverged[4:] else ''}; what "
                "came before is kept where it is enough."
                + "".join(f" {one.text}." for one in fit.problem.undefined[:1]),
                with_shorter_steps(fit, h, far and fit.problem.coordinates.scaled),
            )
        )
    if fit.stand_in:
        found.append(
            InterruptedWarning(
                f"{fit.stand_in}: {fit.x.shape[1]} a chain.", "Give a larger time_limit."
            )
        )
    elif fit.run.interrupted:
        found.append(
            InterruptedWarning(
                f"stopped by {fit.run.interrupted}: {fit.x.shape[1]} draws a chain are kept.",
                "They are the first ones of the run asked for.",
            )
        )
    if fit.stopping is not None:
        found += fit.stopping.warnings()
    return [*found, *fit.warnings]


def with_shorter_steps(fit, h, far=False):
    """Advice where steps of size h lead astray; `far` where no fraction of them is known to do."""
    shorter = f"step_size={h / 4:.2g}"
    if fit.settings.step_size is not None:
        return "Leave step_size=None." if far else f"Try {shorter}, or leave step_size=None."
    instead = choosing(fit)
    return f"{instead}; or try {shorter}." if instead else f"Try {shorter}."


def transitions(fit, ends):
    """What the chains of exact samplers say about their own transitions; `ends`: the density is
    known to end where draws are.
    """
    found, spec = [], fit.plan.spec
    divergent, proposed = divergences(fit, ends)
    if divergent > 0:
        advice = with_shorter_steps(fit, fit.step_size, divergent > 0.5 * proposed)
        if fit.plan.step_origin == "adapted":
            shorter = 1 - (1 - spec.target_accept) / 4
            advice = f"Try sampler=sgmc.{type(spec).__name__}(target_accept={shorter:.4g})."
            if besides_draws(fit):  # shorter steps alone do not reach the tails of bananas
                advice = f"Try{besides_draws(fit).removeprefix(' with')}."
        found.append(
            DivergentTransitionsWarning(
                f"{divergent:.0f} of {proposed:.0f} proposals diverged: places where "
                "the posterior bends sharply may be missed.",
                advice,
            )
        )
    low = [k for k, c in enumerate(fit.chains) if c.e_bfmi < E_BFMI]
    if low:
        worst = min(fit.chains[k].e_bfmi for k in low)
        found.append(
            LowEnergyWarning(
                f"E-BFMI {worst:.2g} < {E_BFMI} (chain{'s' if len(low) > 1 else ''} "
                f"{', '.join(map(str, low))}): fresh momenta change the energy too little for the "
                "tails.",
                "Run longer (draws, warmup), give heavy-tailed priors lighter tails, or compare "
                f"with {another(fit, *EXACT)}.",
            )
        )
    return [*found, *cut_paths(fit)]


def cut_paths(fit):
    """A warning, in a list, where the limit of doublings ended many paths of `nuts`."""
    cut, paths = (sum(getattr(c, name) for c in fit.chains) for name in ("saturated", "proposed"))
    if not cut > SATURATED * paths:  # nor for other samplers, which have none
        return []
    spec = fit.plan.spec
    return [
        TreeDepthWarning(
            f"{cut:.0f} of {paths:.0f} paths were ended by max_depth={spec.max_depth}, before they "
            "turned back: draws are right, but follow one another closely.",
            "Increase warmup=, rescale or reparametrise strongly correlated parameters, or use "
            f"sampler=sgmc.{type(spec).__name__}(max_depth={spec.max_depth + 2}).",
        )
    ]


def spread(fit):
    """What step, noise or the sampler itself do to the spread,
    by the sampler's own formula on a Gaussian.
    """
    spec, h = fit.plan.spec, fit.langevin_time
    if spec.distortion:
        return [
            SpreadWarning(
                spec.distortion + ".",
                "Use its means with care, and no intervals; sampler='auto' has both right.",
            )
        ]
    if spec.exact or not spec.uses_gradient or not fit.problem.coordinates.scaled:
        return []
    if spec.continuous and not spec.holds:
        return violations(fit)
    found, own = [], spec.inflation(h, 0.0)
    if math.isinf(own):
        return [
            StepSizeWarning(
                f"the step is {h:.3g} in whitened units, where even a Gaussian diverges.",
                "Leave step_size=None, or make it smaller.",
            )
        ]
    added = spec.inflation(h, fit.felt_noise) - own
    if abs(own) > INFLATION:
        found.append(
            StepSizeWarning(
                f"the step {changes(own)} of a posterior sd.",
                shorter(fit),
            )
        )
    if abs(added) > INFLATION:
        found.append(
            GradientNoiseWarning(
                f"gradient noise {changes(added)} of a posterior sd (batches of "
                f"{fit.chains[0].batch_size}, gradient '{fit.plan.gradient}').",
                quieter(fit),
            )
        )
    ratio = spec.noise_ratio(h, fit.noise.worst)
    if spec.needs_noise and ratio > CORRECTED_NOISE and abs(added) <= INFLATION:
        found.append(
            GradientNoiseWarning(
                f"{spec.name} corrects for gradient noise {ratio:.2g} times that of its own steps, "
                "coordinate by coordinate: where noise is correlated, some stays.",
                quieter(fit),
            )
        )
    far = fit.noise.tau / spec.breaking_point(fit.kept_step)
    if (far > 1).any():
        found.append(
            GradientNoiseWarning(
                f"gradient noise is past the breaking point of {spec.name} in {(far > 1).sum()} of "
                f"{len(far)} coordinates, up to {far.max():.2g} times (see gradient_noise): there "
                "no rule undoes it.",
                quieter(fit),
            )
        )
    return found


def violations(fit):
    """Whether rates of events exceeded their predicted bounds so often that it matters: by what
    lost events do to a Gaussian.
    """
    spec = fit.plan.spec
    missed = max((c.missed for c in fit.chains if np.isfinite(c.missed)), default=0.0)
    widened = spec.widening(missed)
    if widened <= INFLATION:
        return []
    share = max(c.violations for c in fit.chains)
    return [
        BoundWarning(
            f"{share:.2g} of the proposed events had a rate above the predicted bound (expected: "
            f"{spec.expected():.2g}), and {missed:.2g} of all events were missed by that: it "
            f"{changes(widened)} of a posterior sd.",
            f"Take sampler=sgmc.{type(spec).__name__}(confidence={spec.confidence + 1:g}), or a "
            "larger batch_size.",
        )
    ]


def quieter(fit):
    """Advice against noise."""
    if fit.plan.gradient == "simple":
        less = "gradient='cv' or None, larger batches, or a smaller step_size"
    else:
        less = "gradient=None and batch_size=None, larger batches, or a smaller step_size"
    return kept_or_left(fit, less) or f"Take {less}."


def shorter(fit):
    """Advice against a step that is too long."""
    given = fit.settings.step_size is not None
    kept = kept_or_left(fit, "step_size=None" if given else "a smaller step_size")
    others = "lmsgld", *(("laplace",) if fit.settings.robust else EXACT)  # the sandwich: no density
    less = "Leave step_size=None" if given else "Give a smaller step_size"
    return kept or f"{less}, or use {another(fit, *others)}."


def kept_or_left(fit, how):
    """Advice to leave the sampler to the package, or to keep the one that was named, changed as
    `how` says; empty where none was named, and for sandwiches, of which the package has no other.
    """
    if fit.settings.robust or not named(fit):
        return ""
    return f"{choosing(fit)}; or keep {fit.plan.spec.name} with {how}."


def changes(inflation):
    """What a relative change of the variance does to the sd, in words."""
    percent = 100 * (math.sqrt(max(1 + inflation, 0.0)) - 1)
    return f"{'widens' if percent > 0 else 'narrows'} the draws by about {abs(percent):.0f} %"


def shape(fit, errors):
    """Whether the posterior is too far from a Gaussian for what the sampler relies on."""
    spec = fit.plan.spec
    if spec.exact or spec.distortion or spec.sticky or not fit.problem.coordinates.scaled:
        return []
    if len(fit.problem.priors.shrunk):
        return [
            ShapeWarning(
                f"a horseshoe prior has a pole at zero, where {spec.name} is biased: it has no "
                "accept-reject step.",
                "Use sampler='auto' or 'mala'.",
            )
        ]
    if fit.settings.robust:
        return beside_sandwich(departure(fit) if spec.uses_gradient else fit.pilot.departure)
    if not spec.uses_gradient:
        means, sds = spec.departures(fit.pilot.mean_shift, fit.pilot.sd_ratio)
        shift, ratio = np.abs(means).max(), np.abs(sds).max()
        if shift < 0.6 * MEAN_TOLERANCE and ratio < 0.6 * SD_TOLERANCE:
            return []
        return [
            ShapeWarning(
                f"the posterior is not the {spec.drawn}: means are off by up to "
                f"{shift:.2g} sd, sds by up to {100 * ratio:.0f} %.",
                "Use sampler='auto' or 'mala'.",
            )
        ]
    far = departure(fit)
    if far < SHAPE_DEPARTURE or (errors.second_order <= 2 * SD_TOLERANCE).all():
        return []
    return [
        ShapeWarning(
            f"the posterior is far from the Gaussian at its centre (by {far:.2g} sd for the worst "
            "parameter); steps without accept-reject may be biased there.",
            "Compare with sampler='mala'.",
        )
    ]


def beside_sandwich(far):
    """A ShapeWarning, in a list, where the log posterior is `far` from a parabola over the width of
    the sandwich: estimates of other samples are not normal then, and intervals by their covariance
    miss what is skewed.
    """
    if far < SANDWICH_DEPARTURE:
        return []
    how = f"by {far:.2g} sd for the worst parameter" if np.isfinite(far) else "without bound"
    return [
        ShapeWarning(
            f"the posterior is far from the Gaussian at its mode ({how}); the sandwich is a "
            "statement about that Gaussian, for many rows.",
            "Take more rows or fewer predictors, or model the spread of the outcomes in the place "
            "of cov_type=, such as by sgmc.negativebinomial for counts.",
        )
    ]
