"""Increments of monotonic effects, which have one sign: what a Gaussian that knows no signs says of
it, and the free numbers of those whose sign the data leave open.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.approximations.laplace import INVALID_VALUE, gaussian_at_mode
from sgmc.coordinates.priors.prior_curve import prior_curve
from sgmc.coordinates.priors.prior_table import Monotone
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.constraints import Constrained
from sgmc.coordinates.transforms.maps import Affine
from sgmc.coordinates.whitened.free import root_of_inverse
from sgmc.errors import PriorWarning, SGMCWarning, SignWarning
from sgmc.priors import PriorSpec, normal

Evaluate = Callable[[Floats], tuple[float, Floats]]

MISFIT = 3.0  # sds from increments of one sign at which the data speak against these
CLEAR_SIGN = 16.0  # logs of density that increments of the other sign lose: a chance of 1e-7
SURE_SIGN = 4 * CLEAR_SIGN  # from which on no density is looked at, but its Gaussian
SELDOM_CROSSED = 3.0  # logs of density between two modes, from which on chains seldom change it
LEAST_INCREMENT = 0.1  # of the mean increment, that each has where a search begins
LEAST_SUM = 1e-8  # of increments, in size, by which is divided
NEAR_MODE = 0.02  # sds from the mode of free increments
C_INSTEAD = "Give each level a coefficient, by C()."


class Lost(NamedTuple):
    """Logs of density that increments lose beside a law that knows no signs: those of the better
    sign, those of the other one beside these, and zero beside the other one.
    """

    signed: float
    beside: float
    between: float


def misfit(lost: Lost, name: str) -> list[SGMCWarning]:
    """What to warn of where the data speak against a monotonic effect, whose first increment has
    that name.
    """
    if lost.beside < CLEAR_SIGN and lost.between > SELDOM_CROSSED:
        return [
            SignWarning(
                f"increments such as {name!r} may all be positive or all negative, and the data "
                "speak against zero between these: chains may stay on one side. The effect is not "
                "monotonic.",
                C_INSTEAD,
            )
        ]
    if lost.signed > 0.5 * MISFIT**2:
        away = np.sqrt(2 * lost.signed)
        return [
            PriorWarning(
                f"the effect with increments such as {name!r} is not monotonic: without that, the "
                f"data put it {away:.2g} of its standard deviations away.",
                C_INSTEAD,
            )
        ]
    return []


def share_of(one: Monotone) -> PriorSpec:
    """A normal prior for each increment of a `Monotone`, without its sign."""
    if one.total.family == "flat":
        return one.total
    count = len(one.places)
    return normal(one.total.location / count, one.total.scale * np.sqrt(2 / (count * (count + 1))))


def increments_near(precision: Floats, mean: Floats, places: Ints) -> tuple[float, Lost, Floats]:
    """The sign of increments with which less of a Gaussian is lost, the `Lost`, and increments of
    this sign, none of them zero, that are near the mean.
    """
    from scipy import optimize  # only here: it takes long to import

    root = np.linalg.cholesky(np.linalg.inv(np.linalg.inv(precision)[np.ix_(places, places)])).T
    whole = 0.5 * np.sum((root @ mean[places]) ** 2)
    fits = [(sign, *optimize.nnls(sign * root, root @ mean[places])) for sign in (1.0, -1.0)]
    (sign, found, short), (*_, other) = sorted(fits, key=lambda fit: fit[2])
    own, other = 0.5 * short**2, 0.5 * other**2
    least = LEAST_INCREMENT * max(found.mean(), 1 / root[0, 0])
    return sign, Lost(own, other - own, whole - other), sign * np.maximum(found, least)


def few_lose(lost: Lost, rows: int) -> Lost:
    """The `Lost` of so many rows of normal outcomes whose scale is unknown: n / 2 log(1 + 2 q / n)
    where their Gaussian loses q.
    """
    steps = np.cumsum([lost.signed, lost.beside, -lost.between])
    signed, other, zero = 0.5 * rows * np.log1p(2 * np.maximum(steps, 0.0) / rows)
    return Lost(signed, other - signed, other - zero)


def truly_lost(
    evaluate: Evaluate, precision: Floats, mean: Floats, places: Ints
) -> tuple[float, Lost]:
    """The better sign and the `Lost` of the density itself, by searches that keep all increments to
    one sign.

    Parameters
    ----------
    evaluate : callable
        Log density and gradient, which know no signs.
    precision, mean : array (d, d), (d,)
        Of its Gaussian.
    places : array of int
        Of the increments.
    """
    from scipy import optimize  # only here: it takes long to import

    scale = 1 / np.sqrt(np.diag(precision))

    def minus(v):
        value, slope = evaluate(mean + scale * v)
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return INVALID_VALUE, np.zeros(len(v))
        return -value, -scale * slope

    def highest(low, high):
        """With all increments from `low` to `high`."""
        ends = np.tile([-np.inf, np.inf], (len(mean), 1))
        ends[places] = (np.array([low, high]) - mean[places, None]) / scale[places, None]
        start = np.clip(np.zeros(len(mean)), *ends.T)
        found = optimize.minimize(minus, start, jac=True, method="L-BFGS-B", bounds=ends)
        return -found.fun

    positive, negative, zero = highest(0, np.inf), highest(-np.inf, 0), highest(0, 0)
    best, other = max(positive, negative), min(positive, negative)
    signed = max(-minus(np.zeros(len(mean)))[0] - best, 0.0)
    return 1.0 if positive >= negative else -1.0, Lost(signed, best - other, other - zero)


def monotone_map(effects: list[Ints]) -> Constrained:
    """The map to the increments of all effects."""
    return Constrained([("monotone", len(one), 0.0, 0.0) for one in effects])


def free_increments(precision: Floats, linear: Floats, effects: list[Monotone]) -> Composed:
    """The map to increments from about standard normal numbers, by a Gaussian at the mode of their
    free numbers beside a likelihood exp(-c' precision c / 2 + linear . c).

    Parameters
    ----------
    precision : array (k, k)
    linear : array (k,)
    effects : list of Monotone
        Whose increments these are, one effect after the other.
    """
    ends = np.cumsum([len(one.places) for one in effects])
    own = np.split(np.arange(len(linear)), ends[:-1])
    map, sums = monotone_map(own), np.array([one[0] for one in own])
    shares = np.array([len(one) - 1 for one in own])  # free ones, of each sum
    mean = np.linalg.solve(precision, linear)

    def evaluate(u):
        c, b = map(u), np.where(np.abs(u[sums]) < LEAST_SUM, LEAST_SUM, u[sums])
        priors = [prior_curve(one.total, total) for one, total in zip(effects, b)]
        value = -0.5 * (c - mean) @ precision @ (c - mean) + sum(one for one, _ in priors)
        slope = map.pulled(u, -precision @ (c - mean))
        # the pole of the increments' density, which the Jacobian takes away
        slope[sums] += np.array([one for _, one in priors]) - shares / b
        return value + map.log_jacobian(u) - shares @ np.log(np.abs(b)), slope

    start = map.inverse(np.concatenate([increments_near(precision, mean, one)[-1] for one in own]))
    found, _ = gaussian_at_mode(evaluate, lambda u: [-one for one in evaluate(u)], start, NEAR_MODE)
    root = np.eye(len(start)) if found.precision is None else root_of_inverse(found.precision)
    return Composed(map, Affine(found.place, root))
