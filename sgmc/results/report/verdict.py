"""One line on whether to trust a posterior, and why."""

import math
from dataclasses import dataclass

import numpy as np

from sgmc.errors import (
    BoundWarning,
    ConvergenceWarning,
    DivergenceWarning,
    GradientNoiseWarning,
    LowESSWarning,
    ShapeWarning,
    StepSizeWarning,
)

LIMIT = 0.1  # largest error that is trusted: of a mean in posterior sds, of an sd relative to it
TOO_FAR = 1.0  # departure from a Gaussian beyond which scores say little of draws that may be off
LEAST = 0.01  # no posterior is called better


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
    """

    trustworthy: bool
    error: float | None
    text: str

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class Worst:
    """The worst errors of all parameters, with twice their Monte Carlo errors.

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
        """Of arrays (d,)."""
        surest = np.abs(errors) - 2 * mcse
        return cls(
            float(errors[np.argmax(surest)]),
            float(surest.max()),
            float((np.abs(errors) + 2 * mcse).max()),
        )


def verdict(fit, table, concerns, ess):
    """The verdict on a fit.

    Parameters
    ----------
    fit : Fit
    table : DataFrame
        Of `accuracy`.
    concerns : list of SGMCWarning
    ess : (float, float)
        The least effective sizes of a mean and of an sd.
    """
    spec, found = fit.plan.spec, {type(c): c for c in reversed(concerns)}
    if spec.distortion:
        return refused("means only", spec.distortion, "Use sampler='auto' for intervals.")
    for kind in (DivergenceWarning, ConvergenceWarning):
        if kind in found:
            return refused("as chains show", found[kind].message.rstrip("."), found[kind].advice)
    if not np.isfinite(ess).all():
        return refused("too few draws", "nothing can be said of them", "Take at least draws=100.")
    if fit.settings.robust and ShapeWarning in found:
        return refused(
            "not a Gaussian", found[ShapeWarning].message.rstrip("."), found[ShapeWarning].advice
        )
    errors = table[["mean_error", "mcse_mean_error", "sd_error", "mcse_sd_error"]].to_numpy()
    if np.isfinite(errors).all() and (table.departure <= TOO_FAR).all():
        mean, sd = Worst.of(*errors.T[:2]), Worst.of(*errors.T[2:])
        unsure = max(mean.most, sd.most) > LIMIT >= max(mean.least, sd.least)
        if not (spec.exact and unsure):  # of exact draws there is another measure
            basis = "by the sandwich's own Gaussian" if fit.settings.robust else "by the scores"
            return by_comparison(mean, sd, found, 1 / math.sqrt(ess[0]), basis)
    if not spec.exact and table.departure.notna().any():
        return refused(
            "not to be checked",
            "the posterior, or where the draws are, is too far from a Gaussian for scores to tell",
            "Compare with sampler='mala'.",
        )
    if not spec.exact and not fit.problem.coordinates.scaled:
        return refused(
            "not to be checked",
            "the posterior's scale was not known, so that no formula tells what the step does, and "
            "there are too few draws for scores to tell",
            "Compare with a smaller step_size, or an exact sampler.",
        )
    return by_effective_draws(spec, found, len(table), ess)


def by_comparison(mean, sd, found, expected, basis):
    """The verdict where errors are known; intervals may be off by about the `expected` one whatever
    is said of the moments.
    """
    if sd.least > LIMIT and sd.least >= mean.least:
        wide = sd.size > 0
        return refused(
            "spread inflated" if wide else "spread too narrow",
            f"sds are up to {100 * abs(sd.size):.0f} % too {'wide' if wide else 'narrow'}, {basis}",
            cause(found),
        )
    if mean.least > LIMIT:
        return refused("means off", f"by up to {abs(mean.size):.2g} sd, {basis}", cause(found))
    error = max(mean.most, sd.most, expected)
    if error > LIMIT:
        return refused(
            "not exact enough",
            f"errors may be {error:.2g} sd, {basis} and effective draws",
            cause(found),
        )
    return Verdict(
        True,
        at_most(error),
        f"trustworthy to about {at_most(error):g} sd: means are within {at_most(mean.most):g} sd "
        f"and sds within {100 * at_most(sd.most):g} %, {basis}.",
    )


def by_effective_draws(spec, found, d, ess):
    """The verdict where scores cannot tell: what effective draws and, where steps have a bias, the
    sampler's formula promise.

    The largest of d standard normal errors is about sqrt(2 log 2d).
    """
    for kind in (
        () if spec.exact else (GradientNoiseWarning, BoundWarning, StepSizeWarning, ShapeWarning)
    ):
        if kind in found:
            return refused("spread off", found[kind].message.rstrip("."), found[kind].advice)
    error = math.sqrt(2 * math.log(2 * d)) * max(1 / math.sqrt(ess[0]), 1 / math.sqrt(2 * ess[1]))
    if error > LIMIT:
        return refused(
            "not exact enough", f"errors may be {error:.2g} sd, by effective draws", cause(found)
        )
    basis = (
        "effective draws of an exact sampler"
        if spec.exact
        else "effective draws and the sampler's formula, unchecked"
    )
    return Verdict(True, at_most(error), f"trustworthy to about {at_most(error):g} sd, by {basis}.")


def at_most(error):
    """An error rounded up to one digit, at least LEAST."""
    unit = 10.0 ** math.floor(math.log10(max(error, LEAST)))
    return round(math.ceil(max(error, LEAST) / unit - 1e-9) * unit, 12)


def refused(word, reason, advice):
    """A verdict against."""
    return Verdict(False, None, f"not trustworthy, {word}: {reason}. {advice}")


def cause(found):
    """Advice of the warning that explains an error, or what finds out."""
    for kind in (GradientNoiseWarning, BoundWarning, StepSizeWarning, ShapeWarning, LowESSWarning):
        if kind in found:
            return found[kind].advice
    return "Run longer (draws, warmup), or compare with sampler='mala'."
