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

from sgmc.coordinates.approximations.mode import (
    Mode,
    distant,
    newton,
    settled,
    solve,
    subsets,
    unfinished,
)
from sgmc.coordinates.approximations.newton import (
    LONGEST_CHANGE,
    MarginalTarget,
    ModeResult,
    find_marginal_mode,
    limit_step,
)
from sgmc.coordinates.transforms.dilation import Dilation
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.whitening import Coordinates, whitener
from sgmc.core.expansion import expand
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import DataError, ExactFitWarning

ROUNDED = 4.0  # rounding errors: they widen larger scales by 3 % at most
ROUNDED_MORE = 64.0  # where columns are sums of products, as of smooths, or a prior lifts the scale
MAX_ALTERNATIONS = 200


class LogDispersion(MarginalTarget):
    """Logs of the auxiliary parameters; all else are the coefficients, whose mode Newton's method
    finds given them.

    Parameters
    ----------
    model : Model
    prior : PriorTerms
    d : int
        Coefficients.
    power : float
        See `dispersed_mode`.
    rows : int
        See `Posterior`.
    """

    def __init__(self, model, prior, d, power, rows=0):
        self.model, self.prior, self.d, self.power, self.rows = model, prior, d, power, rows
        self.tolerance = 0.1 if rows else settled(model)
        self.curvature = None  # of the marginal density's likelihood, at the last place

    def settle(self, psi, last):
        """See `MarginalTarget`; `last` is a `ModeResult`, or the coefficients to begin with."""
        beta = last.theta[: self.d] if isinstance(last, ModeResult) else last
        options = dict(rows=self.rows, tolerance=self.tolerance, free=self.d)
        return newton(self.model, self.prior, np.concatenate([beta, psi]), **options)

    def move(self, psi, given):
        """See `MarginalTarget`: with expected curvatures where a step would be too long."""
        d, here = self.d, given.here
        share = whitener(Mode(given.theta[:d], here.likelihood[:d, :d], here.prior[:d, :d]))[1]
        slope, self.curvature = here.gradient[d:].copy(), here.likelihood[d:, d:].copy()
        slope[0] += self.power * (1 - share).sum()
        self.curvature[0, 0] += 2 * self.power**2 * (share * (1 - share)).sum()
        prior = here.prior[d:, d:]
        try:
            step = solve(self.curvature + prior, slope)
        except DataError:
            step = None
        if step is None or np.abs(step).max() > LONGEST_CHANGE:
            expected = expand(self.model, given.theta, self.rows, expected=True)[2][d:, d:]
            step = solve(expected + prior, slope)
        step = limit_step(step)
        return psi + step, float(np.sqrt(max(step @ slope, 0.0)))

    def mode(self, start):
        """Return the `Mode` from a start on, curvatures in two blocks, and the distance to it."""
        d = self.d
        found = find_marginal_mode(self, start[d:], start[:d], MAX_ALTERNATIONS)
        here = found.given.here
        likelihood = linalg.block_diag(here.likelihood[:d, :d], self.curvature)
        prior = linalg.block_diag(here.prior[:d, :d], here.prior[d:, d:])
        return Mode(found.given.theta, likelihood, prior), found.distance


def dispersed_mode(model, prior, start, auxiliary, power, shuffled=True):
    """The mode of the coefficients at the marginal mode of the auxiliary parameters;
    see `mode.posterior_mode`.

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
    warnings : list of SGMCWarning
    """
    d, start = len(start) - auxiliary, np.array(start, dtype=float)
    try:
        for rows in subsets(model) if shuffled else ():
            try:
                start = LogDispersion(model, prior, d, power, rows).mode(start)[0].theta
            except DataError:
                pass  # the subset alone may be collinear; all rows decide
        mode, distance = LogDispersion(model, prior, d, power).mode(start)
    except OutOfTime as up:
        return unfinished(model, prior, start, up.reached), []
    return mode, distant(distance)


def exact_fit(model, log_scale, spread=0.0, errors=ROUNDED):
    """An ExactFitWarning, in a list, where the outcomes' scale is at rounding errors.

    Parameters
    ----------
    model : Dispersed
    log_scale : float
        Its first auxiliary parameter, at the mode.
    spread : float
        Sd of the linear predictors, in units of the scale, which are rounded as the table is.
    errors : float
        How many rounding errors are no noise.
    """
    table = getattr(model.X, "table", None)
    if getattr(table, "dtype", None) != np.float32:
        spread = 0.0
    rounding = np.hypot(np.sqrt(model.rounding), np.finfo(np.float32).eps * spread)
    if not np.exp(model.power * log_scale) <= errors * rounding:
        return []
    return [
        ExactFitWarning(
            "the predictors fit the outcomes exactly, to rounding errors: nothing is left to learn "
            "a scale from, or the uncertainty of the coefficients.",
            "Drop predictors, or look for one that holds the outcome.",
        )
    ]


def exact_fit_of_rows(model, columns, mean, theta):
    """The same as `exact_fit` where the log of the scale has a linear predictor, of its mean over
    the rows.

    Parameters
    ----------
    model : Varying
    columns : array (d,) of int
        The linear predictor of each column, the scale's is 1.
    mean : array (d,)
        Of the columns; 1 of intercepts.
    theta : array
        The mode, coefficients first.
    """
    own = np.flatnonzero(columns == 1)
    return exact_fit(model.whole, mean[own] @ theta[own], errors=ROUNDED_MORE)


def dispersed_coordinates(mode, back, auxiliary, power):
    """Coordinates in which coefficients are about standard normal given any value of the auxiliary
    parameters.

    Parameters
    ----------
    mode : Mode
        From `dispersed_mode`.
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
        report=Report(auxiliary),
    )
