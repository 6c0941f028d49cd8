"""Regressions with normal errors by sums over their rows: few rows that have the same log density,
and independent draws of the posterior.

The log density of all rows is -W u - sum_i w_i (y_i - x_i . b)^2 / (2 exp(2 u)), u = log sigma and
W the sum of the weights: a function of X'WX, X'Wy and y'Wy.  With R'R the matrix of these three,
the d + 1 rows of R with the weight W / (d + 1), divided by its root, have the same one.
"""

from dataclasses import replace

import numpy as np
from scipy import linalg

from sgmc.arguments.types import Floats
from sgmc.coordinates.approximations.mode import Mode
from sgmc.coordinates.independent.transport import (
    ScaledTransport,
    Standard,
    Transport,
    quantiles_of,
    shifts,
)
from sgmc.coordinates.transforms.dilation import Dilation
from sgmc.core.contract import Model
from sgmc.core.designs.design import design
from sgmc.core.engine import full, full_many
from sgmc.core.expansion import expand
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime
from sgmc.fit.problem import Problem
from sgmc.models.regression.bases.family import Family
from sgmc.models.regression.rows.prepare import DesignTable

FEW_ENOUGH = 2  # rows per column and outcome up to which the rows themselves are few
ABOVE_ROUNDING = 1e4  # mean squared residual, in those of rounding, below which sums do not tell it
TOLD_AT_ONCE = 1e-3  # share of the squares that is left, of which rounding takes 1e-12 at most
# variance of a coefficient, summed over all, over that which it would have if its column were
# alone: sums are right to about 1e-13 of their size, and precisions then to 1e-4
MOST_INFLATED = 1e9


def summed_model(model: Model, table: DesignTable, family: Family) -> Model | None:
    """Return a compiled model of few rows with the log density of all, up to a constant; None where
    sums do not tell the residuals from rounding errors, or the time is up.

    Parameters
    ----------
    model : Model
        Of all rows.
    table : Table
    family : Family
        With normal errors, sigma known or not.
    """
    n, d = table.X.shape
    if n <= FEW_ENOUGH * (d + 1):
        return model
    rows = whole_model(table, family)
    few = summed_table(table, rows)
    return None if few is None else model_of(few, rows, family)


def whole_model(table: DesignTable, family: Family) -> Model:
    """Return the compiled model of all rows with sigma among its parameters."""
    whole = getattr(family, "whole", family)
    return whole.kernel(design(table.X), table.response, table.offset, table.multiplicity)


def model_of(few: DesignTable, rows: Model, family: Family) -> Model:
    """Return the compiled model of few rows that stand for all of a model's."""
    made = family.kernel(design(few.X), few.y, None, few.weight)
    if family.auxiliary:
        made.rounding = rows.rounding
    return made


def summed_table(table: DesignTable, rows: Model) -> DesignTable | None:
    """Return few rows with the sums of all; None as in `summed_model`.

    The sums are those of residuals of least squares.  Where these are small beside the outcomes,
    they take a second pass, in which nothing cancels.

    Parameters
    ----------
    table : Table
    rows : Model
        See `whole_model`.
    """
    n, d = table.X.shape
    weight = float(n) if table.se is not None else float(table.nobs)
    try:
        gram, product, square = sums(rows, np.zeros(d))
        centre = least_squares(gram, product)
        explained = gram @ centre
        square -= weight * rows.rounding
        left = square - centre @ (2 * product - explained)
        if left > TOLD_AT_ONCE * square:
            product, square = product - explained, left
        else:
            gram, product, square = sums(rows, centre)
            square -= weight * rows.rounding
    except OutOfTime:
        return None
    if not square > ABOVE_ROUNDING * weight * rows.rounding:
        return None
    root = root_of(gram, product, square)
    root *= np.sqrt((d + 1) / weight)
    X = np.ascontiguousarray(root[:, :d])
    none = dict.fromkeys(("trials", "offset", "strata", "order", "se", "working"))
    weights = np.full(d + 1, weight / (d + 1))
    return replace(table, X=X, y=X @ centre + root[:, d], weight=weights, **none)


def sums(rows: Model, beta: Floats) -> tuple[Floats, Floats, float]:
    """Return X'WX (d, d), X'We (d,) and e'We with the residuals e = y - X beta; the last one with
    what rounding adds.
    """
    d = len(beta)
    deadline.check(operations=1.0 * rows.n * d**2)
    value, slope, curvature = expand(rows, np.append(beta, 0.0), expected=True)
    return curvature[:d, :d], slope[:d], -2 * value


def least_squares(gram: Floats, product: Floats) -> Floats:
    """Return G^-1 g (d,), the shortest one where columns are collinear."""
    scale = unit(gram)
    found = linalg.lstsq(gram / np.outer(scale, scale), product / scale, cond=1e-12)[0]
    return found / scale


def unit(gram: Floats) -> Floats:
    """Return the roots of a matrix's diagonal, (d,), 1 for columns of zeros."""
    size = np.sqrt(np.diag(gram))
    return np.where(size > 0, size, 1.0)


def root_of(gram: Floats, product: Floats, square: float) -> Floats:
    """Return R (d + 1, d + 1) with R'R the matrix of X'WX, X'We and e'We."""
    both = np.block([[gram, product[:, None]], [product[None], np.array([[square]])]])
    scale = unit(both)
    both /= np.outer(scale, scale)
    try:
        root = linalg.cholesky(both)
    except linalg.LinAlgError:  # collinear columns: eigenvalues of 0, or below by rounding
        values, vectors = linalg.eigh(both)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return root * scale


def transport_of(problem: Problem, slope: Floats, mode: Mode) -> Transport | None:
    """Return the transport to independent draws of a posterior that has `summed`, in its
    coordinates; None where the density of log sigma has no table, or these are others.

    Parameters
    ----------
    problem : Problem
    slope : array (dim,)
        Gradient of the log prior at the mode, in the coordinates of `mode`.
    mode : Mode
    """
    where, d = problem.coordinates, len(mode.theta) - problem.priors.auxiliary
    if not problem.priors.auxiliary:
        return Standard() if where.whitened else None
    map = where.map
    if not isinstance(map, Dilation):
        return None
    prior = np.asarray(map.matrix).T @ slope[:d]
    gradient = problem.all_rows()
    at_mode = np.zeros(problem.dim)
    likelihood = full(gradient, at_mode)[1][:d] - prior

    def log_density(w: Floats) -> Floats:
        """Return the log density of w: that at the mean of the others, whose covariance given w
        is one.
        """
        w = w[:, None]
        points = np.concatenate([shifts(map, likelihood, prior, w), w], axis=1)
        return full_many(gradient, points, slopes=False)[0]

    with np.errstate(over="ignore", invalid="ignore"):
        scales = quantiles_of(log_density)
    return None if scales is None else ScaledTransport(map, likelihood, prior, scales)


def resolved(mode: Mode, d: int) -> bool:
    """Return whether rounding errors of sums leave the posterior's precision what it is."""
    own = np.diag(mode.likelihood)[:d]
    covariance = linalg.inv(mode.precision[:d, :d] / np.outer(*(2 * [unit(mode.precision)[:d]])))
    share = own / np.diag(mode.precision)[:d]
    return bool((np.diag(covariance) * share).sum() < MOST_INFLATED)
