"""The mode of a density of which value and gradient are known,
and its curvature by differences of gradients.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from sgmc import registry
from sgmc.coordinates.approximations.newton import Slope, Target, find_mode
from sgmc.coordinates.whitened.free import root_of_inverse
from sgmc.core.engine import full
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import OutOfTime, RateEstimator
from sgmc.errors import ModeWarning
from sgmc.subsampling.uniform import FullBatch

# free numbers up to which curvature is computed: it takes twice as many gradients
MAX_CURVATURE_DIM = 300
FIRST_DIFFERENCE = 1e-5  # first step of the differences, relative where |u| > 1
SECOND_DIFFERENCE = 1e-3  # the second one, of the sds that the first found
SUITED = 10.0  # times as long or short as that, with which the first one serves
PEAK_TOLERANCE = 1e-3  # distance to the mode in posterior sds at which the search stops
MAX_NEWTON_STEPS = 6  # steps of it at most
LONGEST_PEAK_STEP = 3.0  # steps, in posterior sds
# rows from which on differences are one-sided, of half the cost: their error is that of a step, a
# thousandth of an sd, times the posterior's skewness, which is of order 1 / sqrt(rows)
ROWS_ONE_SIDED = 10_000
LEARNED_FROM = 100  # steps that tell the curvature where there was no time to compute it
INVALID_VALUE = 1e100  # of values that are not numbers: searches step back from there


class LaplaceApproximation(NamedTuple):
    """Where a search ended: place, and the precision of the Gaussian approximation,
    or None where there is none.  `whole` is false where its time was up: the precision is then what
    the search itself has learned of the curvature.
    """

    place: np.ndarray
    precision: np.ndarray | None
    whole: bool = True


def exact_gradient(kernel, prior, map):
    """The gradient over all rows, behind a map or None."""
    cls = registry.lookup("gradients", "simple", "gradient")
    return cls(kernel, prior, FullBatch(kernel.n), Rng(seed_sequence(0, "pilot")), map=map)


def laplace_approximation(gradient, start, tolerance=PEAK_TOLERANCE):
    """The mode, by L-BFGS and then Newton's method.

    Parameters
    ----------
    gradient : Gradient
        Over all rows, in free numbers.
    start : array (d,)
    tolerance : float
        Distance to the mode, in posterior sds, at which the search ends.

    Returns
    -------
    found : LaplaceApproximation
    warnings : list of SGMCWarning
    """

    pace, path = RateEstimator(), [(start, np.zeros(len(start)), np.inf)]

    def evaluate(u):
        return pace.run(lambda: full(gradient, u))

    def minus(u):
        value, g = evaluate(u)
        if not (np.isfinite(value) and np.isfinite(g).all()):
            return INVALID_VALUE, np.zeros(len(u))
        if -value < path[-1][2]:
            path.append((np.array(u), -g, -value))
        return -value, -g

    try:
        central = gradient.model.n < ROWS_ONE_SIDED
        return gaussian_at_mode(evaluate, minus, start, tolerance, central)
    except OutOfTime:
        return LaplaceApproximation(path[-1][0], learned(path[1:], len(start)), whole=False), []


def gaussian_at_mode(evaluate, minus, start, tolerance, central=True):
    """Return the `LaplaceApproximation` of a density; `evaluate` returns log density and gradient,
    `minus` what is minimised; `central`: see `curvature`.
    """
    with one_blas_thread():
        from scipy.optimize import minimize  # only here: it takes long to import

        found = minimize(
            minus,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 2000, "maxcor": 30, "ftol": 1e-15},
        )
        target = Differenced(evaluate, tolerance, central)
        try:
            found = find_mode(target, found.x, MAX_NEWTON_STEPS)
        except NoGaussian:
            return without(target.place)
    if not has_root(target.precision):
        return without(found.theta)
    around = LaplaceApproximation(found.theta, target.precision)
    if found.status == "found":
        return around, []
    away = f"stopped {found.distance:.2g} posterior sds away from it."
    cure = "Rescale parameters, give a tighter prior, or another start."
    return around, [ModeWarning(f"the search for the posterior mode {away}", cure)]


class NoGaussian(Exception):
    """The density is not a number where the search begins, or its curvature has no root."""


class Differenced(Target):
    """A density of which value and gradient are known, with steps by differences of gradients.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(u)`` returns log density and gradient.
    tolerance : float
    central : bool
        See `curvature`.

    Attributes
    ----------
    place : array (d,)
        The last one from which a step was looked for.
    precision : array (d, d)
        There.
    """

    def __init__(self, evaluate, tolerance, central=True):
        self.look, self.tolerance, self.central = evaluate, tolerance, central

    def evaluate(self, u, distance):
        """See `Target`."""
        self.place = u
        return Slope(*self.look(u))

    def restart(self, u):
        """See `Target`: a search without a mode is no error here."""
        raise NoGaussian

    def step(self, u, here):
        """See `Target`: no longer than `LONGEST_PEAK_STEP` sds."""
        self.precision = curvature(self.look, u, None if self.central else here.gradient)
        try:
            factor = linalg.cho_factor(self.precision)
        except (linalg.LinAlgError, ValueError):
            raise NoGaussian from None
        step = linalg.cho_solve(factor, here.gradient)
        distance = float(np.sqrt(step @ self.precision @ step))
        return step * min(1.0, LONGEST_PEAK_STEP / distance) if distance else step, distance


def without(place):
    """A place with no Gaussian around it, and a ModeWarning that says so."""
    return LaplaceApproximation(place, None), [
        ModeWarning(
            "the posterior has no mode with a Gaussian around it that a search could find: it goes "
            "on as it is, in raw coordinates.",
            "Give parameters a prior that the data lack, or another start.",
        )
    ]


def has_root(precision):
    """Whether a matrix of which Cholesky factors were found has them with a unit diagonal too: one
    that is singular to rounding may not, and one of slopes near zero is no number.
    """
    if not (np.isfinite(precision).all() and (np.diag(precision) > 0).all()):
        return False
    try:
        return bool(np.isfinite(root_of_inverse(precision)).all())
    except linalg.LinAlgError:
        return False


def learned(path, d):
    """The precision that BFGS updates give along a path of (place, slope, value) that descends; the
    identity where it is too short to tell.
    """
    moves, bends = (np.diff([one[k] for one in path], axis=0) for k in (0, 1)) if path else ((), ())
    kept = [(s, y) for s, y in zip(moves, bends) if s @ y > 1e-10 * (y @ y)][-LEARNED_FROM:]
    if not kept:
        return np.eye(d)
    matrix = np.eye(d) * (kept[-1][1] @ kept[-1][1]) / (kept[-1][0] @ kept[-1][1])
    for s, y in kept:
        bent = matrix @ s
        matrix += np.outer(y, y) / (s @ y) - np.outer(bent, bent) / (s @ bent)
    return matrix if has_root(matrix) else np.eye(d)


def curvature(evaluate, u, here=None):
    """Minus the Hessian at u, by central differences of the gradient, or one-sided ones from the
    gradient `here`, twice, unless steps suit the first: the second time they do.  `evaluate`
    returns the log density and its gradient.
    """
    steps = FIRST_DIFFERENCE * np.maximum(1.0, np.abs(u))
    for _ in range(2):
        matrix = differenced(evaluate, u, steps, here)
        curved = np.diagonal(matrix)
        positive, taken = curved > 0, steps
        steps = np.where(
            positive, SECOND_DIFFERENCE / np.sqrt(np.where(positive, curved, 1.0)), taken
        )
        if positive.all() and (np.abs(np.log(steps / taken)) <= np.log(SUITED)).all():
            break
    return matrix


def differenced(evaluate, u, steps, here=None):
    """Minus the Hessian at u, by differences of the gradient with a step a coordinate: central, or
    from the gradient `here`.
    """
    columns = []
    for h, e in zip(steps, np.diag(steps)):
        before, width = (evaluate(u - e)[1], 2 * h) if here is None else (here, h)
        columns.append((before - evaluate(u + e)[1]) / width)
    return 0.5 * (np.array(columns) + np.array(columns).T)
