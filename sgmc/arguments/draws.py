"""What the diagnostics accept: each check returns a clean float64 array or names the argument that
is wrong.
"""

import numpy as np

from sgmc.errors import ArgumentError, DataError


def _numbers(name, values):
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise DataError(f"{name} must hold real numbers, not {values.dtype}")
    if values.size == 0:
        raise DataError(f"{name} is empty: its shape is {values.shape}")
    return np.ascontiguousarray(values, dtype=np.float64)


def as_points(name, values):
    """Finite numbers as points in rows, (n, d);
    one-dimensional input is n points on the line, (n, 1).
    """
    values = _numbers(name, values)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise ArgumentError(f"{name} must be (n, d), one point a row, not {values.shape}")
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if wrong.size:
        raise DataError(
            f"{name} has {wrong.size} rows that are not finite, the first is row {wrong[0]}"
        )
    return values


def as_chains(draws):
    """Draws as (chain, draw, parameter); they need not be finite."""
    draws = _numbers("draws", draws)
    if draws.ndim != 3:
        raise ArgumentError(
            f"draws must be (chain, draw, parameter), not {draws.shape}; "
            "use draws[None] for one chain, draws[..., None] for one parameter"
        )
    return draws


def as_weights(weights, n):
    """Non-negative weights of n draws, (n,), divided by their sum."""
    weights = _numbers("weights", weights)
    if weights.shape != (n,):
        raise ArgumentError(f"weights must be ({n},), one a draw, not {weights.shape}")
    if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.max() > 0):
        raise ArgumentError("weights must be finite, none negative and not all zero")
    weights = weights / weights.max()  # their sum cannot overflow
    return weights / weights.sum()


def as_choice(name, value, choices):
    """One of a few names."""
    if value not in choices:
        raise ArgumentError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return value


def rescale(draws, scores, scale):
    r"""Draws and scores in coordinates without units: :math:`z = S^{-1} x` and
    :math:`\nabla_z \log \pi = S' s`.

    Parameters
    ----------
    draws, scores : ndarray, (n, d)
    scale : array_like, (d,) or (d, d)
        The matrix S, or its diagonal.

    Returns
    -------
    draws, scores : ndarray, (n, d)
    """
    d = draws.shape[1]
    scale = _numbers("scale", scale)
    if scale.shape not in ((d,), (d, d)):
        raise ArgumentError(f"scale must be ({d},) or ({d}, {d}), not {scale.shape}")
    if not np.isfinite(scale).all():
        raise ArgumentError("scale must be finite")
    if scale.ndim == 1:
        if (scale <= 0).any():
            raise ArgumentError("scale must be positive in every coordinate")
        return draws / scale, scores * scale
    try:
        return np.ascontiguousarray(np.linalg.solve(scale, draws.T).T), scores @ scale
    except np.linalg.LinAlgError:
        raise ArgumentError("scale is a singular matrix") from None


def as_sample(draws, scores, weights=None, scale=None):
    """Draws (n, d), their scores and weights that sum to one,
    in coordinates without units where a scale is given.
    """
    draws, scores = as_points("draws", draws), as_points("scores", scores)
    if draws.shape != scores.shape:
        raise ArgumentError(
            f"scores must have the shape of draws, {draws.shape}, not {scores.shape}"
        )
    weights = as_weights(np.ones(len(draws)) if weights is None else weights, len(draws))
    if scale is None:
        return draws, scores, weights
    return *rescale(draws, scores, as_scale(scale, draws, weights)), weights


def as_scale(scale, draws, weights):
    """`scale` itself, or for "covariance" a Cholesky factor of the draws' weighted covariance."""
    if not isinstance(scale, str):
        return scale
    as_choice("scale", scale, ("covariance",))
    try:
        return np.linalg.cholesky(covariance(draws, weights))
    except np.linalg.LinAlgError:
        raise ArgumentError(
            f"scale='covariance': {len(draws)} draws do not span {draws.shape[1]} dimensions; give "
            "sds"
        ) from None


def covariance(draws, weights):
    """Weighted covariance of draws (n, d), for weights that sum to one."""
    if np.count_nonzero(weights) < 2:
        raise ArgumentError("the draws' covariance needs two draws of positive weight")
    return np.atleast_2d(np.cov(draws.T, aweights=weights))


def as_kernel(kernel, c, beta, draws):
    """(gaussian, c, beta) as the compiled sums take them;
    a width "median" is the median distance of the draws.
    """
    as_choice("kernel", kernel, ("imq", "gaussian"))
    if isinstance(c, str):
        as_choice("c", c, ("median",))
        c = median_distance(draws)
    if not 0 < c < np.inf:
        raise ArgumentError(f"c must be positive, not {c}")
    if not -1 < beta < 0:
        raise ArgumentError(f"beta must be between -1 and 0, not {beta}")
    return kernel == "gaussian", float(c), float(beta)


def median_distance(draws, most=500):
    """Median distance between pairs of draws, of at most 500 evenly spaced ones;
    1 for a single draw.
    """
    some = draws[np.unique(np.linspace(0, len(draws) - 1, most).astype(int))]
    if len(some) < 2:
        return 1.0
    some = some - some.mean(axis=0)
    squares = np.einsum("ij,ij->i", some, some)
    apart = squares[:, None] + squares - 2 * np.einsum("ij,kj->ik", some, some)
    return float(np.sqrt(max(np.median(apart[np.triu_indices(len(some), 1)]), 0.0)))
