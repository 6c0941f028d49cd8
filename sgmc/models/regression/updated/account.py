"""How far an update leads, what it neglects, and whether that is too much."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from sgmc.core.system.blas import one_blas_thread
from sgmc.errors import DataError, UpdateWarning
from sgmc.models.regression.updated.prior import Quadratics
from sgmc.models.regression.updated.taylor import LARGEST_THIRD, ExactRows

# distance, in sds of the new posterior, at which an expansion is at the mode: what is neglected
# goes with its square
AT_THE_MODE = 0.02
MOST_ANCHORS = 12
# largest ratio of precisions, by third derivatives, of the expanded part at two places: beyond a
# factor of two the next terms are as large as these
MOST_BENT = 2.0
LEAST_EIGENVALUE = 1e-12  # smallest eigenvalue of a scaled precision
TRUSTED_NEGLECT = 0.05  # half of what a verdict allows for in all
FIT_AGAIN = "Fit all rows together, or update results whose rows are still in memory."


@dataclass(frozen=True)
class Account:
    """What is known of an update before its draws.

    Attributes
    ----------
    drift : float
        Distance of the new mode from the old one, in sds of the old posterior.
    mean, sd : float
        What is neglected: largest error of a mean, in posterior sds, and relative one of an sd;
        NaN where derivatives are not known.
    anchors : int
        Places at which the earlier rows were expanded.
    at_hand : bool
        Whether the earlier rows were there, so that these expansions are exact.
    bent : float
        Largest ratio of precisions of the earlier rows between where they were expanded and the
        new mode.
    """

    drift: float
    mean: float
    sd: float
    anchors: int
    at_hand: bool
    bent: float

    @property
    def known(self):
        """Whether what is neglected is known."""
        return bool(np.isfinite([self.mean, self.sd]).all())

    @property
    def neglected(self):
        """The larger one of the two errors."""
        return max(self.mean, self.sd)

    def concern(self):
        """An UpdateWarning where too much is neglected, or None."""
        if self.bent > MOST_BENT:
            why = (
                f"the precision of the earlier rows changes by a factor of {self.bent:.2g} on the "
                "way"
            )
        elif self.known and self.neglected > TRUSTED_NEGLECT:
            why = (
                f"what is neglected of the earlier rows may move means by {self.mean:.2g} sd and "
                f"sds by {100 * self.sd:.2g} %"
            )
        else:
            return None
        return UpdateWarning(
            f"the new rows move the mode by {self.drift:.2g} posterior sds, and {why}.", FIT_AGAIN
        )

    def __str__(self):
        rows = "the earlier rows themselves" if self.at_hand else "derivatives kept of earlier rows"
        known = (
            f"neglected: means {self.mean:.1g} sd, sds {100 * self.sd:.1g} %"
            if self.known
            else f"with more than {LARGEST_THIRD} parameters what is neglected is not known"
        )
        return f"drift {self.drift:.2g} posterior sds, by {rows}; {known}"


def anchored(past, search, back):
    """Expand the earlier rows where the mode of all rows is.

    Parameters
    ----------
    past : Past
    search : callable
        ``search(terms, start)`` returns the mode with new rows, and concerns, by `Quadratics`.
    back : array (d, d)
        T.

    Returns
    -------
    terms : Quadratics
    mode : Mode
    warnings : list of SGMCWarning
    account : Account
    """
    try:
        return settled(past, search, back)
    except DataError:  # third derivatives lead too far: those of second order end somewhere
        terms, mode, warnings, account = settled(past.straight(), search, back)
        return terms, mode, warnings, replace(account, bent=np.inf)


def settled(past, search, back):
    """Return the mode of all rows, the earlier ones expanded where it is."""
    theta, anchors = past.place, 0
    while True:
        terms, anchors = Quadratics(theta, *expansion(past, theta), back), anchors + 1
        mode, warnings = search(terms, linalg.solve(back, theta))
        there, root = back @ mode.theta, back @ mode.axes[0]
        distance = np.linalg.norm(linalg.solve(root, there - theta))
        if distance < AT_THE_MODE or anchors == MOST_ANCHORS:
            break
        theta = there
    if not positive(terms.precision):
        raise DataError(
            "update: at the new mode the log posterior of the earlier rows is not concave, so that "
            "no Gaussian stands for it; fit all rows together"
        )
    with one_blas_thread():
        parts = [
            one.taylor(theta, root) if isinstance(one, ExactRows) else one for one in past.parts
        ]
        average = sum(one.average(root @ root.T) for one in parts)
    terms = Quadratics(theta, terms.gradient + average, terms.precision, back)
    mode, warnings = search(terms, mode.theta)
    there, root = back @ mode.theta, back @ mode.axes[0]
    drift = float(np.linalg.norm(linalg.solve(past.root, there - past.place)))
    mean, sd = neglected(parts, there, root, average)
    account = Account(drift, mean, sd, anchors, past.at_hand, curvature_change(past, there))
    return terms, mode, warnings, account


def expansion(past, theta):
    """`Past.expansion`; DataError where it has left the finite numbers: the mode of the new rows
    is too far from that of the earlier ones.
    """
    gradient, precision = past.expansion(theta)
    unknown = ~(np.isfinite(gradient) & np.isfinite(precision).all(axis=0))
    if unknown.any():
        raise DataError(
            f"update: what is carried on of the earlier rows is not finite for {unknown.sum()} of "
            f"{len(theta)} parameters at the mode of the new rows, too far from where it is known; "
            "fit all rows together"
        )
    return gradient, precision


def positive(precision):
    """Whether a matrix is positive definite."""
    diagonal = np.diag(precision)
    if not (diagonal > 0).all():
        return False
    scale = 1 / np.sqrt(diagonal)
    return bool(linalg.eigvalsh(precision * np.outer(scale, scale)).min() > LEAST_EIGENVALUE)


def neglected(parts, theta, root, average):
    """(mean, sd) of `Account`: what fourth derivatives do at the new mode and around it, and what
    third ones do to sds, twice the square of what they do to the mean in sds.
    """
    if any(one.fourth is None for one in parts):
        return np.nan, np.nan
    covariance = root @ root.T
    sd, gradient, precision = np.sqrt(np.diag(covariance)), 0.0, 0.0
    for one in parts:
        z = one.white(theta)
        away, around = one.neglected(theta), one.beyond(one.within(covariance), 3 * z)
        gradient = gradient + away[0] + around[0]
        precision = precision + away[1] + one.around(covariance)
    mean = np.abs(covariance @ gradient) / sd
    ratio = np.abs(np.diag(covariance @ precision @ covariance)) / sd**2
    skew = np.abs(covariance @ average) / sd
    return float(mean.max()), float((ratio / 2 + 2 * skew**2).max())


def curvature_change(past, theta):
    """Return the largest change of the curvature of gone rows, 1 where there are none."""
    found, gone = 1.0, past.gone()
    for one in gone:
        before, now = (
            one.axes.T @ matrix @ one.axes for matrix in (one.precision, one.expansion(theta)[1])
        )
        rest = sum(
            (one.axes.T @ other.precision @ one.axes for other in gone if other is not one),
            np.zeros_like(now),
        )
        ratios = linalg.eigvalsh(now + rest, before + rest)
        low = ratios.min()
        found = max(found, ratios.max(), 1 / low if low > 0 else np.inf)
    return float(found)
