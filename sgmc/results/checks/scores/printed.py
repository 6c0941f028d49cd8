"""How far each number of the summary's table may be from the posterior's: mean, sd and the ends of
the interval, in the scale that is printed.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import linalg, special

from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.chains.visits import BATCHES, batch_means, mcse_of_batches
from sgmc.diagnostics.scores.implied import FEWEST_PER_DIMENSION, implied_moments
from sgmc.errors import ArgumentError
from sgmc.results.checks.scores.edges import Line, edge_index
from sgmc.results.checks.scores.laplace import moments_of
from sgmc.results.checks.scores.linear import LinearParts, linear_parts
from sgmc.results.checks.scores.second_order import bounds

ALPHA = 0.05  # of the intervals that are printed by default
ENDS = ALPHA / 2, 1 - ALPHA / 2
HALF_WIDTH = special.ndtri(ENDS[1])  # of the interval of a normal law, in sds
NEARBY = 0.01  # probability to either side of an end, by which the density there is told
LOOKED_AT = (
    *(ENDS[0], 0.5, ENDS[1]),
    *(end + side * NEARBY for side in (-1, 1) for end in ENDS),
)
KINDS = "mean", "sd", "low", "high"
COLUMNS = [
    *(f"{kind}_error" for kind in KINDS),
    *(f"mcse_{kind}_error" for kind in KINDS),
    *(f"mcse_{kind}" for kind in KINDS),
]


@dataclass(frozen=True)
class PrintedStatistics:
    """What is printed of each parameter: mean, sd and the ends of its interval.

    Attributes
    ----------
    values : array (4, p)
    units : array (4, p)
        In which their errors are told: sds, and distances of the ends from the median.
    slopes : array (2, p)
        Of the quantile function at the ends.
    """

    values: np.ndarray
    units: np.ndarray
    slopes: np.ndarray

    @classmethod
    def of(cls, theta, weights, quantiles=None):
        """Of draws (chain, draw, p); quantiles of them, where they are known."""
        found = (quantiles or moments.Quantiles(theta, LOOKED_AT, weights))(LOOKED_AT)
        (low, centre, high), (before, after) = found[:3], np.split(found[3:], 2)
        mean, sd = moments.mean(theta, weights), moments.sd(theta, weights)
        # more than an end's share of the draws may be a single value
        halves = (np.where(half > 0, half, sd) for half in (centre - low, high - centre))
        return cls(
            np.array([mean, sd, low, high]),
            np.array([sd, sd, *halves]),
            (after - before) / (2 * NEARBY),
        )


def printed_errors(fit, theta, names, some, quantiles):
    """Errors of what is printed, bias and Monte Carlo error together, a DataFrame with a row a
    parameter.

    Where scores are known, draws are moved by the affine map that gives them, in the sampler's
    coordinates, the mean and covariance that scores imply; what is printed of these instead is the
    correction, through whatever map leads to the parameters.  Monte Carlo error is of what neither
    the mean nor the variance along the parameter explains; without scores, of everything.

    Parameters
    ----------
    fit : Fit
    theta : array (chain, draw, p)
        Draws as they are printed.
    names : list of str, (p,)
    some : Scored or None
        Draws with scores; None where they cannot be had.
    quantiles : Quantiles
        Of the draws.

    Returns
    -------
    DataFrame
        ``mean_error`` and ``sd_error`` in sds, ``low_error`` and ``high_error`` in units of the
        end's distance from the median, each with its Monte Carlo error ``mcse_.._error``;
        ``departure`` from a Gaussian, ``second_order`` and ``edge_index``, see `Vouched`: NaN where
        there are no scores.  ``mcse_..``: Monte Carlo errors of the draws alone.
    """
    vouched = moved = None
    if some is not None and not fit.settings.robust:
        vouched, moved = vouch(fit, theta, names, some, quantiles)
    batches = theta.shape[1] if fit.plan.spec.direct else BATCHES  # independent draws are their own
    parts = [
        errors_of_part(theta, moved, vouched, fit.weights, at, quantiles.of(at), batches)
        for at in moments.in_parts(theta.shape)
    ]
    table = pd.DataFrame(np.concatenate(parts), index=list(names), columns=COLUMNS)
    unknown = np.full(len(names), np.nan)
    return table.assign(
        departure=unknown if vouched is None else vouched.departure,
        second_order=unknown if vouched is None else vouched.second_order,
        edge_index=unknown if vouched is None else vouched.edge_index,
    )


def errors_of_part(theta, moved, vouched, weights, at, quantiles, batches=BATCHES):
    """What COLUMNS name, of some of the parameters, (p, 12).

    Parameters
    ----------
    theta : array (chain, draw, p)
        Draws as they are printed.
    moved : callable or None
        Those that have the moments that scores imply, of a slice of the parameters.
    vouched : Vouched or None
    weights : array (draw,) or None
    at : slice
        Of the parameters.
    quantiles : Quantiles
        Of these.
    batches : int
        Of each chain, by whose means Monte Carlo errors are told.
    """
    part = np.ascontiguousarray(theta[..., at])
    now = PrintedStatistics.of(part, weights, quantiles)
    errors = mcse = np.full(now.values.shape, np.nan)
    if vouched is not None:
        right = PrintedStatistics.of(moved(at), weights)
        errors = (now.values - right.values) / right.units
        known = vouched.controls(part, weights, at)
        mcse = np.empty(errors.shape)
    alone = np.empty(now.values.shape)
    for k, influence in enumerate(influences(part, now)):
        means, share = batch_means(influence, weights, batches)
        alone[k] = mcse_of_batches(means, share)
        if vouched is not None:
            mcse[k] = known.mcse(influence, means)
    found = np.column_stack([*errors, *mcse, *alone])
    found[now.units[0] == 0] = 0.0  # slopes may stay at zero under a spike
    return found


def influences(theta, numbers):
    """What each draw adds to the error of each number, in its unit: four arrays (chain, draw,
    p), one after the other.
    """
    mean, sd, low, high = numbers.values
    with np.errstate(divide="ignore", invalid="ignore"):
        away = (theta - mean) / sd
        yield away
        yield (away**2 - 1) / 2
        per_probability = numbers.slopes / numbers.units[2:]
    for end, level, slope in zip((low, high), ENDS, per_probability):
        yield np.where(theta <= end, (level - 1) * slope, level * slope)


@dataclass(frozen=True)
class Vouched:
    """What scores say of the draws.

    Attributes
    ----------
    linear : LinearParts
        What of a parameter is linear in the sampler's coordinates.
    mcse_mean, mcse_sd, departure : array (p,)
        Of the implied moments along it, in sds.
    second_order : array (p,)
        What the sd along it may be off by although implied moments are not, see
        `second_order.bound`; NaN where departures or the sampler do not ask for it.
    edge_index : array (p,)
        Tail indices by the scores at the outermost draws, see `edges.edge_index`.
    """

    linear: LinearParts
    mcse_mean: np.ndarray
    mcse_sd: np.ndarray
    departure: np.ndarray
    second_order: np.ndarray
    edge_index: np.ndarray

    def controls(self, theta, weights, at):
        """`Controls` of some of the parameters, from their draws."""
        along = self.linear.along(theta, at)
        return Controls.of(along, self.mcse_mean[at], self.mcse_sd[at], weights)


@dataclass(frozen=True)
class Controls:
    """What of draws is known by the scores: the mean and the variance along each parameter.

    Attributes
    ----------
    first, second : array (chain, draw, k)
        Times the weights of the draws: what is linear and what is quadratic, the latter without
        its mean.
    batches : array (2, chain, batch, k)
        Means of both.
    share : array (batch,)
    mixed, spread : array (k,)
        Mean product of both, and variance of the latter.
    mcse_mean, mcse_sd : array (k,)
    """

    first: np.ndarray
    second: np.ndarray
    batches: np.ndarray
    share: np.ndarray
    mixed: np.ndarray
    spread: np.ndarray
    mcse_mean: np.ndarray
    mcse_sd: np.ndarray

    @classmethod
    def of(cls, first, mcse_mean, mcse_sd, weights):
        """Of what is linear in standard draws."""
        draws = first.shape[:2]
        w = np.full(draws[1], 1 / draws[1]) if weights is None else weights / weights.sum()
        w = w[:, None] / draws[0]
        second = (first**2 - 1) / np.sqrt(2)
        level = moments.mean(second, weights)
        pairs = [batch_means(part, weights) for part in (first, second)]
        second -= level
        weighed = first * w, second * w
        return cls(
            *weighed,
            np.array([means for means, _ in pairs]),
            pairs[0][1],
            np.einsum("ctk,ctk->k", weighed[0], second) + level * weighed[0].sum(axis=(0, 1)),
            np.einsum("ctk,ctk->k", weighed[1], second),
            mcse_mean,
            mcse_sd,
        )

    def mcse(self, influence, batches):
        """Monte Carlo errors (k,) of a number from its influences (chain, draw, k), whose part that
        is linear or quadratic is known; `batches` are their means.
        """
        slope = np.einsum("ctk,ctk->k", influence, self.first)
        bend = np.einsum("ctk,ctk->k", influence, self.second)
        by_bend = (bend - self.mixed * slope) / np.maximum(self.spread - self.mixed**2, 1e-12)
        by_slope = slope - self.mixed * by_bend
        rest = batches - by_slope * self.batches[0] - by_bend * self.batches[1]
        known = (by_slope * self.mcse_mean) ** 2 + 2 * (by_bend * self.mcse_sd) ** 2
        return np.sqrt(known + mcse_of_batches(rest, self.share) ** 2)


def vouch(fit, theta, names, some, quantiles):
    """`Vouched`, and draws as they would be printed if they had the mean and covariance that scores
    imply, see `moved_draws`; None and None for too few draws, or draws that do not span their
    space.
    """
    d = some.draws.shape[1]
    if len(some.draws) < FEWEST_PER_DIMENSION * d:
        return None, None
    w = np.full(fit.x.shape[0] * fit.x.shape[1], 1 / (fit.x.shape[0] * fit.x.shape[1]))
    if fit.weights is not None:
        w = np.tile(fit.weights / fit.weights.sum(), fit.x.shape[0]) / fit.x.shape[0]
    signs = fit.problem.signs.of(fit.x)
    folds = {list(names).index(name): signs[name] for name in signs if name in names}
    try:
        centre, covariance = moments_of(fit)
        if not np.isfinite(covariance).all():  # draws whose squares are no numbers
            return None, None
        if some.scale is not None:
            covariance = np.linalg.solve(some.scale, np.linalg.solve(some.scale, covariance).T)
        root = np.linalg.cholesky(covariance * (1 - w @ w))
        linear, unfolded = along_draws(fit, theta, folds, some.scale, (centre, root, w))
        along = linalg.solve_triangular(root, linear.directions, lower=True, trans="T")
        implied = implied_moments(
            some.draws,
            some.scores,
            directions=along.T,
            weights=some.weights,
            scale=some.scale,
        )
        # of the draws' own root and that of the implied covariance
        turn = linalg.solve_triangular(
            root, np.linalg.cholesky(implied.covariance).T, lower=True, trans="T"
        )
    except (ArgumentError, np.linalg.LinAlgError):
        return None, None
    scale = np.eye(d) if some.scale is None else some.scale
    duals = scale @ (implied.covariance @ along / implied.sd)

    def line(k):
        one, of = (unfolded[k], 0) if k in folds else (linear, k)
        values = theta[..., k].ravel() * folds.get(k, np.ones(1)).ravel()
        z = one.along(values[:, None], slice(of, of + 1))[:, 0]
        v = scale @ (root @ one.directions[:, of])
        return Line(z, v, folds[k].ravel()) if k in folds else Line(z, v)

    vouched = Vouched(
        linear,
        implied.mcse_mean / implied.sd,
        implied.mcse_sd / implied.sd,
        implied.departure,
        bounds(fit, some, duals, implied.departure),
        edge_index(fit, theta, line, quantiles),
    )
    to_implied = centre, turn @ scale.T, scale @ implied.centre
    return vouched, moved_draws(fit, names, some.scale, to_implied)


def along_draws(fit, theta, folds, scale, known):
    """`LinearParts` of all parameters, and of those printed without a sign, by place, of what they
    are with it.

    Parameters
    ----------
    fit : Fit
    theta : array (chain, draw, p)
    folds : dict
        Place of a parameter -> the signs of its draws (chain, draw).
    scale : array or None
        See `Scored`.
    known : (array (d,), array (d, d), array (n,))
        Mean of the draws, root of their covariance in units of the scale, and weights.
    """
    centre, root, w = known
    x = fit.x.reshape(len(w), -1)
    if scale is not None:
        x, centre = in_units(x - centre, scale), np.zeros(x.shape[1])
    signed = {k: (theta[..., k] * sign).reshape(-1, 1) for k, sign in folds.items()}
    found = linear_parts(x, centre, root, theta.reshape(len(w), -1), w)
    return found, {k: linear_parts(x, centre, root, values, w) for k, values in signed.items()}


def moved_draws(fit, names, scale, to_implied):
    """Draws as they are printed, moved by an affine map of the sampler's coordinates: a function
    of a slice of the parameters, that gives (chain, draw, k).

    Parameters
    ----------
    fit : Fit
    names : list of str, (p,)
    scale : array or None
        See `Scored`.
    to_implied : (array (d,), array (d, d), array (d,))
        What is taken off, the turn, and what is added.
    """
    centre, turn, place = to_implied
    chains, draws, d = fit.x.shape
    flat = fit.x.reshape(-1, d)

    def printed(points):
        theta, known = fit.problem.kept(points[None])
        if list(known) != list(names):
            of = {name: k for k, name in enumerate(known)}
            theta = theta[..., [of[name] for name in names]]
        return theta[0]

    if scale is None and fit.problem.coordinates.affine:
        origin = printed(np.zeros((1, d)))[0]
        slopes = turn @ (printed(np.eye(d)) - origin)
        level = printed(place[None])[0] - centre @ slopes
        return lambda at: (flat @ slopes[:, at] + level[at]).reshape(chains, draws, -1)
    moved = np.empty((len(flat), len(names)))
    for rows in moments.in_parts((1, d, len(flat))):  # nothing else of this size is made
        moved[rows] = printed(in_units(flat[rows] - centre, scale) @ turn + place)
    return lambda at: np.ascontiguousarray(moved[:, at]).reshape(chains, draws, -1)


def in_units(x, scale):
    """Draws (n, d) in units of a scale, see `Scored`."""
    return x if scale is None else np.ascontiguousarray(np.linalg.solve(scale, x.T).T)
