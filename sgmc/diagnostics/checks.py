"""What the diagnostics accept: each check returns a clean float64 array or names the argument that is wrong."""
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
    """Finite numbers as points in rows, (n, d); one-dimensional input is n points on the line, (n, 1)."""
    values = _numbers(name, values)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise ArgumentError(f"{name} must be (n, d), one point a row, not {values.shape}")
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if wrong.size:
        raise DataError(f"{name} has {wrong.size} rows that are not finite, the first is row {wrong[0]}")
    return values


def as_chains(draws):
    """Draws as (chain, draw, parameter); they need not be finite."""
    draws = _numbers("draws", draws)
    if draws.ndim != 3:
        raise ArgumentError(f"draws must be (chain, draw, parameter), not {draws.shape}; "
                            "use draws[None] for one chain, draws[..., None] for one parameter")
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
    r"""Draws and scores in coordinates without units: :math:`z = S^{-1} x` and :math:`\nabla_z \log \pi = S' s`.

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
