"""One line on whether to trust a posterior, and why."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sgmc.diagnostics.scores.implied import NEARLY_GAUSSIAN
from sgmc.errors import (
    BoundaryWarning,
    BoundWarning,
    ClusterCountWarning,
    ConvergenceWarning,
    DensityWarning,
    DivergenceWarning,
    DivergentTransitionsWarning,
    ExactFitWarning,
    ExtremeQuantileWarning,
    GradientNoiseWarning,
    LeverageWarning,
    LowESSWarning,
    ProposalWarning,
    QuadratureWarning,
    ReservoirWarning,
    ShapeWarning,
    SignWarning,
    SpreadWarning,
    StepSizeWarning,
    SweepsWarning,
    TailWarning,
    UpdateWarning,
)
from sgmc.fit.choose import PATHS_ACCEPTED
from sgmc.fit.stopping import counted_work
from sgmc.results.checks.scores.printed import KINDS
from sgmc.results.report.draws import FEW, Length

# largest error that is trusted: of a mean in posterior sds, of an sd relative to it
TRUSTED_ERROR = 0.1
# and of an end of a 95 % interval, relative to its distance from the median: those of a normal law
# whose mean and sd are off by so much are off by 0.1 / 1.96 + 0.1, and Monte Carlo errors of ends
# are larger
TRUSTED_END = 0.25
# departure from a Gaussian beyond which scores say little of draws that may be off
SCORES_DEPARTURE = 1.0
FEWEST_ERRORS = 2.5  # Monte Carlo errors that are allowed for: more in one of 80 parameters
FOUR_MOMENTS = 0.25  # tail index below which there are as many, and errors of an sd have an sd
# share of the proposals: at 0.007 sds were 16 % too small, at 0.003 right
MANY_DIVERGED = 0.005
# share of the rejections that the sampler aims at: short steps that diverge do so where the
# posterior is far narrower than elsewhere.  With a target of 0.95 sds of a thin banana were 16 to
# 36 % too small, 0.2 to 0.3 % of the proposals having diverged
MANY_OF_REJECTED = 0.025
# of an effective draw: chains that go anywhere have often been turned back where they were to go.
# From 0.02 on the sd of the effects of centred schools was 0.1 to 0.26 sds too large, with at most
# 0.012 means and sds of bananas and bounded densities were right
MANY_A_DRAW = 0.015
CAREFUL = "sgmc.NUTS(target_accept=0.99)"  # at 0.95 sds of bananas were 25 % too small
LONGEST_ADVISED = 600.0  # seconds on one core, counted
MOST_ADVISED = 1 << 30  # bytes of draws
FEW_TIMES = 4
LESS_NOISE = "Take a smaller step_size, a larger batch_size, or gradient='svrg'."
EXACT = "mala", "hmc"  # exact samplers that apply to any density with a gradient
LEAST_ERROR = 0.01  # no posterior is called better
# Monte Carlo errors of the draws, beyond which a difference from what scores imply is none of them
BY_CHANCE = 4.0
UNCHECKED = "effective draws and the sampler's own formula for its bias"


@dataclass(frozen=True)
class Verdict:
    """Whether a posterior's means and sds can be trusted.

    Attributes
    ----------
    trustworthy : bool
    error : float or None
        Within which means (in posterior sds) and sds (relative to them) are right, as far as is
        known; None where it is not.
    text : str
        In words, with the reason and advice.
    ends : float or None
        Within which the ends of 95 % intervals are right, relative to their distances from the
        median; likewise.
    basis : str
        What the errors are estimated by; empty where that is not known.
    shortfall : float or None
        Times as many draws as there are with which the errors would be at the limits, by Monte
        Carlo error; below 1 where fewer would do, None where more draws are no cure.
    advice : str
        The end of the text of a verdict against.
    """

    trustworthy: bool
    error: float | None
    text: str
    ends: float | None = None
    basis: str = ""
    shortfall: float | None = None
    advice: str = ""

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class Worst:
    """The worst errors of all parameters.

    Attributes
    ----------
    size : float
        The error, with its sign, that is surest to be large.
    least, most : float
        What the largest is at least, and what it may be.
    """

    size: float
    least: float
    most: float

    @classmethod
    def of(cls, errors, mcse):
        """Of arrays (k,); the largest of k Monte Carlo errors is about sqrt(2 log 2k) of them."""
        surest = np.abs(errors) - 2 * mcse
        factor = max(FEWEST_ERRORS, math.sqrt(2 * math.log(2 * len(errors))))
        return cls(
            float(errors[np.argmax(surest)]),
            float(surest.max()),
            float((np.abs(errors) + factor * mcse).max()),
        )


@dataclass(frozen=True)
class Errors:
    """The worst errors of means, of sds and of the ends of intervals."""

    mean: Worst
    sd: Worst
    end: Worst

    @classmethod
    def of(cls, table, by_scores):
        """Of `accuracy`; without scores Monte Carlo errors are all there is."""
        mean, sd, low, high = (
            table[[f"{kind}_error", f"mcse_{kind}_error"]].to_numpy().T
            if by_scores
            else np.array([np.zeros(len(table)), table[f"mcse_{kind}"]])
            for kind in KINDS
        )
        return cls(Worst.of(*mean), Worst.of(*sd), Worst.of(*np.hstack([low, high])))


def length_of(fit, seen, warnings):
    """The `Length` of chains in which so much was `Seen`."""
    chains, draws, _ = fit.x.shape
    asked = [one.shortfall or 0.0 for one in warnings if isinstance(one, LowESSWarning)]
    tail = max(np.nanmax(seen.surely(), initial=0.0), known_tail(fit))
    # with an accuracy a run ends where means are known well enough, however many draws are given
    besides = " without accuracy=" if fit.settings.accuracy is not None else besides_draws(fit)
    least = min(seen.ess.min(), seen.ess_sd.min())
    wanted = max(asked, default=0.0)
    instead, settings = "" if careful(fit) else choosing(fit), fit.settings
    goes_on = settings.client is None and not fit.plan.spec.continuous
    open_ = goes_on and not settings.begun and settings.accuracy is None
    affordable = affordable_draws(fit)
    return Length(draws, chains * draws, least, wanted, tail, besides, instead, open_, affordable)


def affordable_draws(fit):
    """The largest number of draws of each chain that is advised: more would take longer than
    LONGEST_ADVISED, or more bytes than MOST_ADVISED.  Few times those of the fit are always: who
    made these can make as many again.
    """
    chains, draws, d = fit.x.shape
    each = counted_work(fit) / draws
    in_time = LONGEST_ADVISED / each if each > 0 else math.inf
    return max(FEW_TIMES * draws, min(in_time, MOST_ADVISED / (8 * chains * d)))


def besides_draws(fit):
    """What a call with a number of draws needs besides, where `nuts` took another sampler's place
    in the fit of a user's density: that sampler would draw again, and shorter steps in coordinates
    without the mode's scales are what reach the tails of funnels and bananas.
    """
    spec, usual = fit.plan.spec, fit.problem.defaults.exact()
    placed = fit.settings.sampler is None and spec.turning and spec != usual
    if not (placed and fit.problem.foreign):
        return ""
    return f" with sampler={CAREFUL}, precondition=None"


def careful(fit):
    """Whether `nuts` takes shorter steps, of a user's density, than the package gives it by itself:
    to leave the sampler to it would lead back.
    """
    spec = fit.plan.spec
    return fit.problem.foreign and spec.turning and spec.target_accept > PATHS_ACCEPTED


def known_tail(fit):
    """The tail index that is known without draws, or that priors leave to coefficients of separated
    outcomes; 0 where an sd has a Monte Carlo error whatever it is.
    """
    shape = fit.problem.shape
    known = max(shape.tail_index, shape.tail_by_priors)
    return known if known >= FOUR_MOMENTS else 0.0


def named(fit):
    """Whether the user named a sampler that is not the model's own: advice to leave it to the
    package does not lead back then.
    """
    given = fit.settings.sampler
    return given is not None and given.name != fit.problem.defaults.own_sampler


def choosing(fit):
    """Advice to leave sampler, step and draws to the package; empty where they are."""
    settings = fit.settings
    own = settings.sampler is not None and not named(fit)  # with the model's own step, too
    if own or settings.sampler is None and settings.step_size is None:
        return ""
    sampler = ["sampler='auto'"] if settings.sampler is not None else []
    draws = [] if settings.begun else ["draws='auto'"]
    return f"Use {', '.join([*sampler, *left_out(settings), *draws])}"


def left_out(settings):
    """What another sampler has to be asked for without, as arguments in a list: a step is one of
    this sampler, and exact ones have no mini-batches.
    """
    names = "step_size", "gradient", "batch_size"
    return [f"{name}=None" for name in names if getattr(settings, name) is not None]


def make_verdict(fit, table, warnings, ess, length, along, heat):
    """The verdict on what the draws show.

    Parameters
    ----------
    fit : Fit
    table : DataFrame
        Of `accuracy`.
    warnings : list of SGMCWarning
    ess : (float, float)
        The least effective sizes of a mean and of an sd.
    length : Length
    along : Along or None
        Of `along_random`.
    heat : Temperatures or None
        Where functionals are judged, not parameters.
    """
    spec, found = fit.plan.spec, {type(c): c for c in reversed(warnings)}
    if spec.distortion:
        return refused("means only", spec.distortion, "Use sampler='auto' for intervals.")
    for kind, word in (
        (DensityWarning, "the model disagrees with itself"),
        (UpdateWarning, "carried too far"),
        (QuadratureWarning, "integrals too coarse"),
        (SweepsWarning, "too few sweeps"),
        (ReservoirWarning, "reservoir too small"),
        (ClusterCountWarning, "too few clusters"),
        (LeverageWarning, "high leverage"),
        (ExactFitWarning, "no noise left"),
        (ExtremeQuantileWarning, "too few rows beyond the quantile"),
        (SignWarning, "modes apart"),
        (DivergenceWarning, "as chains show"),
        (ConvergenceWarning, "as chains show"),
        (TailWarning, "heavy tails"),
        (ProposalWarning, "proposals too narrow"),
    ):
        if kind in found:
            seen, advice = found[kind], found[kind].advice
            if not advice and seen.shortfall is not None:  # errors have to be small then, too
                alone = by_effective_draws(Errors.of(table, by_scores=False), ess, "", length)
                advice = length.take(max(seen.shortfall, alone.shortfall), kind is TailWarning)
            return refused(word, seen.message.rstrip("."), advice, shortfall=seen.shortfall)
    if not np.isfinite(ess).all():
        still = found.get(LowESSWarning)
        if still and still.advice != FEW:
            return refused("as chains show", still.message.rstrip("."), still.advice)
        return refused("too few draws", "their errors cannot be estimated", FEW)
    if fit.settings.robust and ShapeWarning in found:
        return refused(
            "not a Gaussian", found[ShapeWarning].message.rstrip("."), found[ShapeWarning].advice
        )
    if told_by_scores(spec, table):
        errors = Errors.of(table, by_scores=True)
        unsure = (
            max(errors.mean.most, errors.sd.most)
            > TRUSTED_ERROR
            >= max(errors.mean.least, errors.sd.least)
        )
        if not (spec.exact and unsure):  # of exact draws there is another measure
            basis = "the sandwich's Gaussian" if fit.settings.robust else "scores at the draws"
            advice, expected = cause(found, fit), 1 / math.sqrt(ess[0])
            short = length if by_chance(spec, table) else None
            told = by_comparison(errors, advice, expected, basis, spec.hidden_error, short)
            if not (spec.exact and told.trustworthy):
                return told
            # scores are of some draws, however many there are: the others count, too
            alone = by_effective_draws(Errors.of(table, by_scores=False), ess, basis, length)
            return replace(told, shortfall=min(told.shortfall, alone.shortfall))
    biased = (
        BoundaryWarning,
        GradientNoiseWarning,
        BoundWarning,
        StepSizeWarning,
        ShapeWarning,
    )
    for kind in (*(() if spec.exact else biased), SpreadWarning):
        if kind in found:
            return refused("spread off", found[kind].message.rstrip("."), found[kind].advice)
    if not spec.exact and table.departure.notna().any():
        return refused(
            "not checked",
            "the posterior is too far from a Gaussian to estimate errors from scores",
            f"Compare with {another(fit, *EXACT)}.",
        )
    if heat is not None:
        return by_temperatures(Errors.of(table, by_scores=False), heat, ess, fit, length)
    if not spec.exact and not fit.problem.coordinates.scaled:
        return refused(
            "not checked",
            "errors cannot be estimated: the posterior's scale was not known, so that no formula "
            "has the bias of the step, and there are too few draws for scores",
            "Compare with a smaller step_size, or an exact sampler.",
        )
    # scores, where they can tell, know better
    if many_diverged(fit, min(ess), BoundaryWarning in found):
        missed = found[DivergentTransitionsWarning]
        return refused("as chains show", missed.message.rstrip("."), missed.advice)
    errors = Errors.of(table, by_scores=False)
    what = "" if fit.problem.functionals is None else f" of {fit.problem.functionals.what}"
    basis = f"effective draws{what}"
    if spec.direct:
        basis = f"independent draws{what}"
    elif spec.exact:
        basis += " of an exact sampler"
    elif along is not None:
        basis += " and scores along random directions"
    else:
        basis = UNCHECKED
    return by_effective_draws(errors, ess, basis, length, what=what)


def by_chance(spec, table):
    """Whether what scores show may be Monte Carlo error: it is of an exact sampler's draws, and of
    others' where it is no larger than errors of these draws may be.
    """
    if spec.exact:
        return True
    off = table[["mean_error", "sd_error"]].abs().to_numpy()
    return bool((off <= BY_CHANCE * table[["mcse_mean", "mcse_sd"]].to_numpy()).all())


def unchecked(fit):
    """The verdict where `time_limit` left no time to check the draws, or for draws at all."""
    reason = str(fit.stand_in or "") or "time_limit ended the checks of the draws"
    word = "stand-in draws" if fit.stand_in else "not checked"
    return refused(word, reason, "Give a larger time_limit.")


def divergences(fit, ends):
    """Divergent proposals of an exact sampler, and all of them; where the density is known to end
    (`ends`), those beyond it are as good as any that are rejected.
    """
    if not fit.plan.spec.integrates and fit.plan.step_origin == "adapted":
        return 0.0, 1.0
    divergent, impossible, proposed = (
        sum(getattr(c, name) for c in fit.chains)
        for name in ("divergences", "impossible", "proposed")
    )
    return divergent - impossible if ends else divergent, proposed


def many_diverged(fit, ess, ends=False):
    """Whether more proposals of an exact sampler diverged than can be trusted, of all and beside
    the least effective size.
    """
    divergent, proposed = divergences(fit, ends)
    rejected = 1 - getattr(fit.plan.spec, "target_accept", 0.0)
    most = min(MANY_DIVERGED, MANY_OF_REJECTED * rejected) * proposed
    return divergent > min(most, MANY_A_DRAW * ess)


def told_by_scores(spec, table):
    """Whether implied moments are the posterior's: they are of exact draws, and of draws that may
    be off near a Gaussian, or where the second order agrees.
    """
    departure, second = table.departure.to_numpy(), table.second_order.to_numpy()
    if not (departure <= SCORES_DEPARTURE).all():
        return False
    near = np.where(np.isnan(second), departure <= NEARLY_GAUSSIAN, second <= TRUSTED_ERROR)
    return spec.exact or near.all()


def by_comparison(errors, advice, expected, basis, factor, length=None):
    """The verdict where errors are known, `expected` what draws alone would have; bounds are
    `factor` times as wide.  Of chains whose `length` is given, errors may be by chance, and more
    draws the cure.
    """
    mean, sd = errors.mean, errors.sd
    means, sds, ends = (factor * one.most for one in (mean, sd, errors.end))
    if not np.isfinite((means, sds)).all():
        reason = "their errors cannot be estimated: gradients at the draws are not finite"
        return refused("not checked", reason, "Rescale predictors and outcomes.", basis)
    error = max(means, sds, expected)
    if length is not None:
        both = f"{basis} and effective draws"
        return by_size(error, (means, sds, ends), length, (basis, both))
    if sd.least > TRUSTED_ERROR and sd.least >= mean.least:
        wide = sd.size > 0
        return refused(
            "spread inflated" if wide else "spread too narrow",
            f"sds are up to {100 * abs(sd.size):.0f} % too {'wide' if wide else 'narrow'}",
            advice,
            basis,
        )
    if mean.least > TRUSTED_ERROR:
        reason = f"means are off by up to {abs(mean.size):.2g} posterior sd"
        return refused("means off", reason, advice, basis)
    if error > TRUSTED_ERROR:
        return refused("not exact enough", may_be(error), advice, f"{basis} and effective draws")
    if ends > TRUSTED_END:
        return ends_off(ends, advice, basis)
    return trusted(error, (means, sds, ends), basis)


def by_temperatures(errors, heat, ess, fit, length):
    """The verdict on functionals of draws that may be too wide: refused where some block of the
    parameters surely is, or all of them may be.
    """
    sure = np.nan_to_num(np.abs(heat.wide) - FEWEST_ERRORS * heat.mcse)
    at = np.unravel_index(np.argmax(sure), sure.shape)
    if sure[at] > TRUSTED_ERROR:
        off = f"{100 * abs(heat.wide[at]):.0f} % too {'wide' if heat.wide[at] > 0 else 'narrow'}"
        # the second temperature is that of directions by their precision
        narrow = ", in their narrow directions" if at[0] else ""
        return refused(
            "spread off",
            f"draws of {heat.blocks[at[1]]} are {off}{narrow}",
            LESS_NOISE,
            "scores at the draws",
        )
    wide = float((np.abs(heat.wide[:, 0]) + FEWEST_ERRORS * heat.mcse[:, 0]).max())
    if not wide <= TRUSTED_ERROR:
        return refused(
            "not exact enough",
            f"draws may be {100 * wide:.0f} % too wide or too narrow",
            f"{length.take((wide / TRUSTED_ERROR) ** 2)} {LESS_NOISE}",
            "scores at the draws",
            (wide / TRUSTED_ERROR) ** 2,
        )
    what = f" of {fit.problem.functionals.what}"
    basis = f"effective draws{what}, and scores (spread within {round(100 * at_most(wide))} %)"
    return by_effective_draws(errors, ess, basis, length, wide, what)


def by_effective_draws(errors, ess, basis, length, wide=0.0, what=""):
    """The verdict where scores cannot tell of every parameter: what effective draws of chains of
    this `Length` promise: Monte Carlo errors by batches, and by effective sizes of the worst;
    `wide`: what else sds may be off; `what` has them, where they are not the parameters.
    """
    independent = max(1 / math.sqrt(ess[0]), 1 / math.sqrt(2 * ess[1]))
    error = max(independent, errors.mean.most, errors.sd.most, wide)
    parts = error, error, errors.end.most
    return by_size(error, parts, length, (basis, "effective draws"), what)


def by_size(error, parts, length, bases, what=""):
    """The verdict on errors that more draws make smaller.

    Parameters
    ----------
    error : float
        The largest of a mean or an sd.
    parts : (float, float, float)
        Of means, of sds and of ends of intervals.
    length : Length
    bases : (str, str)
        Of a verdict for, and of one against.
    what : str
        What has them, where they are not the parameters.
    """
    ends = parts[2]
    short = (error / TRUSTED_ERROR) ** 2, (ends / TRUSTED_END) ** 2
    advice = length.take(max(short))
    if error > TRUSTED_ERROR:
        return refused("not exact enough", may_be(error), advice, bases[1], max(short))
    if ends > TRUSTED_END:
        return ends_off(ends, advice, bases[1], max(short))
    return trusted(error, parts, bases[0], what)


def trusted(error, parts, basis, what=""):
    """A verdict for: the largest error, and those of means, sds and ends of intervals of `what`."""
    means, sds, ends = map(at_most, parts)
    provided = ", if the sampler's own formula for its bias is right" if basis == UNCHECKED else ""
    text = (
        f"trustworthy to about {at_most(error):g} sd: estimated errors{what} are at most {means:g} "
        f"posterior sd for means, {100 * sds:g} % for sds and {100 * ends:g} % of the half-width "
        f"for ends of 95 % intervals{provided}."
    )
    short = max(error / TRUSTED_ERROR, parts[2] / TRUSTED_END) ** 2
    return Verdict(True, at_most(error), text, ends, basis, short)


def may_be(error):
    """The reason of verdicts on too few draws."""
    return f"errors of means and sds may be {error:.2g} posterior sd"


def ends_off(ends, advice, basis, shortfall=None):
    """The verdict where means and sds are right, and intervals are not known well enough."""
    off = f"ends may be off by {100 * ends:.2g} % of the half-widths"
    return refused("intervals not exact enough", off, advice, basis, shortfall)


def at_most(error):
    """An error rounded up to one digit, at least LEAST_ERROR."""
    unit = 10.0 ** math.floor(math.log10(max(error, LEAST_ERROR)))
    return round(math.ceil(max(error, LEAST_ERROR) / unit - 1e-9) * unit, 12)


def refused(word, reason, advice, basis="", shortfall=None):
    """A verdict against; `shortfall` as in `Verdict`."""
    text = f"not trustworthy, {word}: {reason}. {advice}"
    return Verdict(False, None, text, basis=basis, shortfall=shortfall, advice=advice)


def cause(found, fit):
    """Advice of the warning that explains an error, or what finds out."""
    for kind in (GradientNoiseWarning, BoundWarning, StepSizeWarning, ShapeWarning, LowESSWarning):
        if kind in found:
            return found[kind].advice
    others = ("laplace", "lmsgld") if fit.settings.robust else EXACT
    return f"Compare with {another(fit, *others)}."


def another(fit, *names):
    """The first of these samplers that is not the one that was used, as an argument: no advice
    leads back to where it comes from.  In the place of a Gaussian that was named, or of proposals
    from one, it is that of the package, which takes neither where they do not do.
    """
    spec = fit.plan.spec
    replaced = spec.independent or not spec.uses_gradient
    if replaced and named(fit) and not fit.settings.robust:
        return "sampler='auto'"
    name = next(one for one in names if one != spec.name)
    return ", ".join([f"sampler={name!r}", *left_out(fit.settings)])
