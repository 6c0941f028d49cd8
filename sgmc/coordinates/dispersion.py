"""Mode and coordinates of families whose first auxiliary parameter is a scale of the outcomes:
a sigma, a dispersion.

The posterior sds of their coefficients go with that scale, sigma^p, so that the joint mode is no
centre of the posterior: with n rows and d coefficients it has sigma^2 = SSR / n, and lies
sqrt(d^2 / 2n) sds of log sigma beside the mean; with d >= n there is none.  The mode of u = log
sigma here is that of its marginal density in Laplace's approximation,

    log p(beta(u), u) - log det H(u) / 2,

beta(u) and H(u) being the mode and the precision of the coefficients given u; the coordinates are
those of `Dilation`.
"""

import numpy as np
from scipy import linalg

from sgmc.coordinates.dilation import Dilation
from sgmc.coordinates.mode import (
    Ascent,
    Mode,
    distant,
    newton,
    settled,
    solve,
    subsets,
    unfinished,
)
from sgmc.coordinates.whitening import Coordinates, whitener
from sgmc.core.deadline import OutOfTime
from sgmc.core.expansion import expand
from sgmc.errors import DataError, ExactFitWarning

ROUNDED = 4.0  # rounding errors: they widen larger scales by 3 % at most
LONGEST_LOG_STEP = 1.0  # of the auxiliary parameters' logs
MAX_ALTERNATIONS = 200


def find_dispersed_mode(model, prior, start, auxiliary, power, shuffled=True):
    """The mode of the coefficients at the marginal mode of the auxiliary parameters;
    see `mode.find_mode`.

    Parameters
    ----------
    model : Model
    prior : PriorTerms
    start : array (dim,)
    auxiliary : int
        Number of auxiliary parameters, the last ones.
    power : float
        p: posterior sds of the coefficients are proportional to exp(p u) where the prior is weak.
    shuffled : bool

    Returns
    -------
    mode : Mode
        Its precision is that of the coefficients, and beside it that of the auxiliary parameters'
        marginal density.
    concerns : list of SGMCWarning
    """
    warm = None
    try:
        for rows in subsets(model) if shuffled else ():
            try:
                warm = climb(model, prior, start, auxiliary, power, rows)
                start = warm.theta
            except DataError:
                pass  # the subset alone may be collinear; all rows decide
        found = climb(model, prior, start, auxiliary, power)
    except OutOfTime as up:
        return unfinished(model, prior, start, up.reached or warm), []
    return Mode(found.theta, found.likelihood, found.prior), distant(found.distance)


def climb(model, prior, start, auxiliary, power, rows=0):
    """Turns of Newton's method, for the coefficients and for the auxiliary parameters; an `Ascent`,
    curvatures in two blocks.
    """
    d, theta, tolerance = (
        len(start) - auxiliary,
        np.array(start, dtype=float),
        0.1 if rows else settled(model),
    )
    for _ in range(MAX_ALTERNATIONS):
        found = newton(model, prior, theta, rows, tolerance, free=d)
        theta, gradient, likelihood, known = found[:4]
        share = whitener(Mode(theta[:d], likelihood[:d, :d], known[:d, :d]))[1]
        slope, curvature = gradient[d:].copy(), likelihood[d:, d:].copy()
        slope[0] += power * (1 - share).sum()
        curvature[0, 0] += 2 * power**2 * (share * (1 - share)).sum()
        step = auxiliary_step(model, theta, rows, curvature, known[d:, d:], slope)
        distance = np.sqrt(max(step @ slope, 0.0))
        if distance < tolerance:
            break
        theta[d:] += step
    return Ascent(
        theta,
        gradient,
        linalg.block_diag(likelihood[:d, :d], curvature),
        linalg.block_diag(known[:d, :d], known[d:, d:]),
        distance,
    )


def auxiliary_step(model, theta, rows, curvature, prior_curvature, slope):
    """Newton's step of the auxiliary parameters, of bounded length;
    with expected curvatures where it would be longer.
    """
    try:
        step = solve(curvature + prior_curvature, slope)
    except DataError:
        step = None
    if step is None or np.abs(step).max() > LONGEST_LOG_STEP:
        d = len(theta) - len(slope)
        step = solve(expand(model, theta, rows, expected=True)[2][d:, d:] + prior_curvature, slope)
    return step / max(1.0, np.abs(step).max() / LONGEST_LOG_STEP)


def exact_fit(model, log_scale, spread=0.0):
    """An ExactFitWarning, in a list, where the outcomes' scale is at rounding errors.

    Parameters
    ----------
    model : Dispersed
    log_scale : float
        Its first auxiliary parameter, at the mode.
    spread : float
        Sd of the linear predictors, in units of the scale, which are rounded as the table is.
    """
    table = getattr(model.X, "table", None)
    if getattr(table, "dtype", None) != np.float32:
        spread = 0.0
    rounding = np.hypot(np.sqrt(model.rounding), np.finfo(np.float32).eps * spread)
    if not np.exp(model.power * log_scale) <= ROUNDED * rounding:
        return []
    return [
        ExactFitWarning(
            "the predictors fit the outcomes exactly, to rounding errors: nothing is left to learn "
            "a scale from, or the uncertainty of the coefficients.",
            "Drop predictors, or look for one that holds the outcome.",
        )
    ]


def dispersed_coordinates(mode, back, auxiliary, power):
    """Coordinates in which coefficients are about standard normal given any value of the auxiliary
    parameters.

    Parameters
    ----------
    mode : Mode
        From `find_dispersed_mode`.
    back : array (dim, dim)
        T, from phi to theta.
    auxiliary : int
    power : float
    """
    d = len(mode.theta) - auxiliary
    L, share = whitener(Mode(mode.theta[:d], mode.likelihood[:d, :d], mode.prior[:d, :d]))
    R, _ = whitener(Mode(mode.theta[d:], mode.likelihood[d:, d:], mode.prior[d:, d:]))
    both = linalg.block_diag(L, R)
    return Coordinates(
        rotated=False,
        L=both,
        origin=mode.theta,
        back=back,
        map=Dilation(mode.theta, L, share, R, power),
        to_theta=back,
        theta_centre=np.zeros(len(mode.theta)),
        white=back @ both,
        max_precision=1.0,
        min_precision=1.0,
        logs=auxiliary,
    )
