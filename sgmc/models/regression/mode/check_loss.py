"""The minimiser of the check loss: quantile regression as Koenker & Bassett (1978) have it.

With rho(r) = r (tau - 1(r < 0)), theta minimises sum_i w_i rho(y_i - x_i . theta).  This is a
linear programme.  Its dual variables s_i in [0, 1] tell of each row the share of it that lies below
the quantile: 1 below, 0 above, and what is between for the d rows or so that the quantile goes
through.  They satisfy

    sum_i w_i x_i (tau - s_i) = 0.

Solved by the Frisch-Newton method of Portnoy & Koenker (1997, section 5,
doi:10.1214/ss/1030037960): primal and dual steps towards the central path, with Mehrotra's
predictor and corrector.  Every s on the way satisfies the equation, to rounding.

What the working likelihood of `families/quantreg` takes of each row follows: residual and share.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import ndtri

from sgmc.coordinates.identification.separation import linear_predictor
from sgmc.core.designs.design import design
from sgmc.core.expansion import expand, of_rows
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import OutOfTime, check
from sgmc.core.system.storage import made, mean_and_variance
from sgmc.diagnostics.chains import moments
from sgmc.errors import DataError, ExtremeQuantileWarning
from sgmc.models.regression.bases.known import with_known
from sgmc.registry import room

GAP = 1e-10  # of the loss, at which the search ends: some 1e-4 posterior sds of 10^6 rows
LARGEST_GAP = 1e-6  # that rounding may leave
MOST_CENTRAL_STEPS = 100  # usually 8 to 30
BEFORE_WALL = 0.9995  # share of the way to where a variable is zero
EXACT = 1e-12  # of the largest outcome: a spread of residuals that is rounding
FIRST_SLACK = 0.1  # mean absolute residuals from zero at which slack variables start
JITTER = 1e-13  # of a scaled Gram matrix with collinear columns
SILVERMAN = 1.06  # bandwidth n^(1/5) / spread (Silverman 1986, eq. 3.28)
NORMAL_QUARTILES = 1.349  # between the quartiles of a standard normal law
FEWEST_IN_TAIL = 10  # rows per coefficient on either side; see benchmarks/quantiles.py
LARGEST_BIAS = 0.16  # of a normal density smoothed by the bandwidth, times q^2; see there
ROW = np.dtype([("y", float), ("residual", float), ("below", float)])


class Minimum(NamedTuple):
    """What `minimiser` finds: residuals at the quantile and shares s of the rows below, (n,)."""

    residuals: np.ndarray
    below: np.ndarray


def calibration(table, tau, label):
    """What makes the smooth check loss one of some outcomes.

    Parameters
    ----------
    table : Table
    tau : float
    label : str
        The outcome's, for messages.

    Returns
    -------
    bandwidth : float
        1.06 n^(-1/5) min(sd, IQR / 1.349) of the residuals at the quantile.
    scale : float
        f / (tau (1 - tau)), f the density of the residuals at zero.
    rows : structured array (n,)
        Of each row the outcome, its residual and its share below the quantile; see `ROW`.

    Raises
    ------
    DataError
        Where predictors fit every outcome exactly.
    """
    e, below = minimiser(table, tau, label)
    weight = np.ones(len(e)) if table.weight is None else np.asarray(table.weight, dtype=float)
    total = weight.sum()
    sd = np.sqrt(mean_and_variance(e, weight)[1])
    low, high = moments.quantile(e[None, :, None], [0.25, 0.75], weight)[:, 0]
    spread = min(sd, (high - low) / NORMAL_QUARTILES) if high > low else sd
    if not spread > EXACT * np.abs(table.y).max():
        raise DataError(
            f"the predictors fit the outcome {label!r} exactly, in every row: what is left has no "
            "spread, and no quantile; leave predictors out"
        )
    h = SILVERMAN * spread * total**-0.2
    density = float(weight @ (np.exp(-((e / h) ** 2) / 2) / np.sqrt(2 * np.pi))) / (h * total)

    def told(rows):
        out = np.empty(len(e[rows]), dtype=ROW)
        out["y"], out["residual"], out["below"] = table.y[rows], e[rows], below[rows]
        return out

    return h, density / (tau * (1 - tau)), made(len(e), table.X, told, ROW)


def few_beyond(table, tau):
    """The warning, in a list, where few rows are expected on one side of the quantile: fewer than
    tell the coefficients, or so few that the bandwidth is not small beside the tail.

    A kernel of bandwidth h makes the density f of the residuals larger by h^2 f'' / 2: of a normal
    law by the share h^2 (q^2 - 1) / 2 at its quantile q, and by more the larger q is where errors
    spread with x: coverage goes with q^2 times that share (measured).
    """
    total = table.nobs
    rows, d = total * min(tau, 1 - tau), table.X.shape[1]
    q = ndtri(tau)
    bias = q**2 * (q**2 - 1) * (SILVERMAN * total**-0.2) ** 2 / 2
    if rows >= FEWEST_IN_TAIL * d and bias <= LARGEST_BIAS:
        return []
    return [
        ExtremeQuantileWarning(
            f"only {rows:.3g} of {total:g} rows are expected beyond the {tau:g}-quantile, too few "
            f"for {d} coefficients and the density there: 95 % intervals cover less than 95 %.",
            "Take a tau nearer 0.5, fewer predictors, or a model of the outcomes, such as "
            "sgmc.rlm().",
        )
    ]


class RowSums:
    """Sums over the rows of a table, in whatever storage it is.

    Parameters
    ----------
    table : Table
    """

    def __init__(self, table):
        # of normal errors with sd 1, whose scores at zero are the outcomes
        normal = with_known(room("families")["ols"].family, {"sigma": 1.0})
        self.X, self.kernel = design(table.X), normal.kernel
        n = self.X.n
        self.weight = np.ones(n) if table.weight is None else np.asarray(table.weight, dtype=float)
        offset = 0.0 if table.offset is None else np.asarray(table.offset)
        self.y = np.array(table.y, dtype=float) - offset
        self.zero = np.zeros(self.X.d)

    def normal(self, values, times):
        """(X' D values, X' D X), D the diagonal of weights times `times`."""
        _, slope, gram = expand(self.kernel(self.X, values, None, self.weight * times), self.zero)
        return slope, gram

    def slope(self, values, times):
        """X' D values."""
        return of_rows(self.kernel(self.X, values, None, self.weight * times), self.zero)[1]

    def products(self, theta):
        """X theta."""
        return linear_predictor(self.kernel(self.X, self.y), theta)


def minimiser(table, tau, label):
    """Minimise the check loss over the rows of a table.

    Parameters
    ----------
    table, tau, label
        See `calibration`.

    Returns
    -------
    Minimum
        Where a time limit ends the search, of the place that it has reached.

    Raises
    ------
    DataError
        Where rounding ends it far from the minimum.
    """
    with one_blas_thread():
        rows = RowSums(table)
        theta = solver(rows.normal(rows.y, 1.0)[1])(rows.slope(rows.y, 1.0))
        e = rows.y - rows.products(theta)
        slack = FIRST_SLACK * np.average(np.abs(e), weights=rows.weight)
        state = [
            np.full(len(e), 1 - tau),
            np.full(len(e), tau),
            np.maximum(-e, 0) + slack,
            np.maximum(e, 0) + slack,
        ]  # shares above and below, and what is left of them to their bounds
        gap = np.inf
        for _ in range(MOST_CENTRAL_STEPS if slack > 0 else 0):
            above, below, down, up = state
            loss = float(rows.weight @ np.where(e > 0, tau * e, (tau - 1) * e))
            gap = float(rows.weight @ (above * down + below * up)) / loss if loss > 0 else 0.0
            if gap <= GAP:
                break
            try:
                check()
            except OutOfTime:
                return Minimum(e, below)
            moved, theta = step(rows, state, theta, e)
            if not (np.isfinite(theta).all() and all(np.isfinite(one).all() for one in moved)):
                break
            state, e = moved, rows.y - rows.products(theta)
    if gap > LARGEST_GAP and slack > 0:
        raise DataError(
            f"the outcome {label!r}: the search for its quantile ended with a relative error of "
            f"{gap:.1g} of the loss; put columns in units in which their sds are alike"
        )
    return Minimum(e, state[1])


def step(rows, state, theta, e):
    """One predictor-corrector step: (state, theta)."""
    above, below, down, up = state
    q = 1 / (down / above + up / below)
    rest = -e - down + up
    gram = rows.normal(e, q)[1]
    solve, w = solver(gram), rows.weight

    def newton(first, second):
        t = first / above - second / below - rest
        turn = solve(rows.slope(t, q))
        share = q * (t - rows.products(turn))
        return turn, (share, -share, (first - down * share) / above, (second + up * share) / below)

    def lengths(changes):
        to_wall = [longest(x, dx) for x, dx in zip(state, changes, strict=True)]
        return min(to_wall[:2]), min(to_wall[2:])

    def gap(changes, primal, dual):
        a, b, c, d = changes
        return float(
            w @ ((above + primal * a) * (down + dual * c) + (below + primal * b) * (up + dual * d))
        )

    _, changes = newton(-above * down, -below * up)
    now = gap(changes, 0.0, 0.0)
    ahead = gap(changes, *lengths(changes))
    target = (ahead / now) ** 3 * now / (2 * w.sum())  # Mehrotra (1992)
    turn, changes = newton(
        target - above * down - changes[0] * changes[2],
        target - below * up - changes[1] * changes[3],
    )
    primal, dual = lengths(changes)
    by = (primal, primal, dual, dual)
    moved = [x + k * dx for x, k, dx in zip(state, by, changes, strict=True)]
    return moved, theta + dual * turn


def longest(x, dx):
    """The longest step, at most 1, that keeps x + step dx positive."""
    falling = dx < 0
    return min(1.0, BEFORE_WALL * float((-x[falling] / dx[falling]).min(initial=np.inf)))


def solver(gram):
    """``solve(b)`` for a positive semidefinite matrix, whose columns may be collinear."""
    scale = 1 / np.sqrt(np.where(np.diag(gram) > 0, np.diag(gram), 1.0))
    scaled = gram * np.outer(scale, scale)
    factor = None
    jitter = JITTER * len(scaled)
    while factor is None:
        try:
            factor = linalg.cho_factor(scaled + jitter * np.eye(len(scaled)), lower=True)
        except linalg.LinAlgError:
            jitter *= 100
    return lambda b: scale * linalg.cho_solve(factor, scale * b)
