"""The verdict of a fit: what its draws show, and what its density itself is off by."""

from dataclasses import replace

from sgmc.results.checks.scores.printed import HALF_WIDTH
from sgmc.results.report.funnels import non_centred
from sgmc.results.report.verdict import (
    TRUSTED_END,
    TRUSTED_ERROR,
    Verdict,
    at_most,
    known_tail,
    make_verdict,
    may_be,
    refused,
)


def verdict(fit, table, warnings, seen, length, along=None, heat=None):
    """The verdict on a fit, with what was done about other modes where there may be some.

    Parameters are those of `make_verdict`, and what was `Seen` in the draws.
    """
    ess = seen.ess.min(), seen.ess_sd.min()
    found = make_verdict(fit, table, warnings, ess, length, along, heat)
    if found.trustworthy:
        found = allowing(found, fit.problem.error_allowance(fit), length)
    found = non_centred(beside(found, fit.problem.stand_in_rows), fit, warnings, seen)
    if not found.trustworthy and known_tail(fit):
        return with_medians(found, length)
    if fit.problem.shape.unimodal or not found.trustworthy:
        return found
    return replace(found, text=f"{found.text} Modes: {fit.searched}.")


def without_moments(found, names):
    """A verdict for, on a posterior some of whose parameters are known to have no sd."""
    if not names or not found.trustworthy:
        return found
    which = ", ".join(names)
    return replace(found, text=f"{found.text} Of {which} there is no sd: read medians.")


def with_medians(found, length):
    """A verdict against, on a posterior whose tails are known to be long: what it advises leads to
    draws of that posterior, and none tell its sd.
    """
    if not found.advice or "medians" in found.advice:
        return found
    return replace(
        found, text=f"{found.text} {length.medians}", advice=f"{found.advice} {length.medians}"
    )


def beside(found, rows):
    """A verdict, with what rows that stand for others add to the errors of the draws.

    Parameters
    ----------
    found : Verdict
    rows : StandInRows or None
    """
    if rows is None or not found.trustworthy:
        return found
    off = max(rows.mean, rows.sd)
    error = found.error + off
    # an end is moved with the mean, and away from the median with the sd
    ends = found.ends + rows.mean / HALF_WIDTH + rows.sd
    if error > TRUSTED_ERROR or ends > TRUSTED_END:
        return refused(
            "not exact enough",
            f"{may_be(error)}, {off:.2g} of it from {rows.what}",
            rows.advice,
            found.basis,
            left(found, off),
        )
    return Verdict(
        True,
        at_most(error),
        f"trustworthy to about {at_most(error):g} sd: {rows.what} moves means by at most "
        f"{rows.mean:.2g} posterior sd and sds by at most {100 * rows.sd:.2g} %; the draws alone "
        f"are {found.text}",
        at_most(ends),
        found.basis,
        left(found, off),
    )


def left(found, off):
    """The `shortfall` where so much of the error that is allowed is not the draws'; None where that
    is all of it.
    """
    if off >= TRUSTED_ERROR:
        return None
    return max(found.shortfall or 0.0, (found.error / (TRUSTED_ERROR - off)) ** 2)


def allowing(found, error_allowance, length):
    """The verdict on draws of a density that is itself off, by `Problem.error_allowance`; chains
    are of this `Length`.
    """
    if error_allowance is None:
        return found
    size, what = error_allowance
    error = found.error + size
    if error > TRUSTED_ERROR:
        more = left(found, size)
        return refused(
            "not exact enough",
            f"{may_be(error)}, {size:.2g} of it from {what}",
            "Fit all rows together." if more is None else length.take(more),
            found.basis,
            more,
        )
    ends = None if found.ends is None else at_most(found.ends + size)
    text = (
        f"trustworthy to about {at_most(error):g} sd, {size:.1g} of it from {what}; the draws "
        f"alone are {found.text}"
    )
    return Verdict(True, at_most(error), text, ends, found.basis, left(found, size))
