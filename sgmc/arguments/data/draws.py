"""Draws, chains, scores and weights, as the diagnostics take them: contiguous float64 arrays."""

from typing import Any

import numpy as np

from sgmc.arguments.data.arrays import numeric, shaped
from sgmc.arguments.types import Floats
from sgmc.errors import ArgumentError, DataError


def real_numbers(name: str, values: object) -> Floats:
    """Return at least one number as a contiguous float64 array; they need not be finite.

    Raises
    ------
    DataError
        If something is no number, or there is none.
    """
    values = np.ascontiguousarray(numeric(name, values), dtype=np.float64)
    if values.size == 0:
        raise DataError(f"{name} is empty: its shape is {values.shape}")
    return values


def as_points(name: str, values: object) -> Floats:
    """Return finite numbers as points in rows.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    values : array_like, shape (n, d) or (n,)
        A vector is n points on the line, (n, 1).

    Returns
    -------
    ndarray, shape (n, d)

    Raises
    ------
    DataError
        If something is missing, infinite or no number, or there is none.
    ArgumentError
        If there are more than two dimensions.
    """
    values = real_numbers(name, values)
    values = shaped(name, values[:, None] if values.ndim == 1 else values, ("n", "d"))
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if wrong.size:
        raise DataError(
            f"{name} has {wrong.size} rows that are not finite, the first is row {wrong[0]}"
        )
    return values


def as_chains(draws: object) -> Floats:
    """Return draws as an array (chain, draw, parameter); they need not be finite.

    Raises
    ------
    DataError
        If something is no number, or there is none.
    ArgumentError
        If there are not three dimensions.
    """
    return shaped(
        "draws",
        real_numbers("draws", draws),
        ("chain", "draw", "parameter"),
        advice="use draws[None] for one chain, draws[..., None] for one parameter",
    )


def as_weights(weights: object, n: int) -> Floats:
    """Return the weights of n draws, (n,), divided by their sum.

    Raises
    ------
    DataError
        If something is no number.
    ArgumentError
        If one is negative, missing or infinite, all are 0, or there are not n of them.
    """
    weights = shaped("weights", real_numbers("weights", weights), (n,))
    if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.max() > 0):
        raise ArgumentError("weights must be finite numbers, zero or more, with a positive sum")
    weights = weights / weights.max()  # their sum cannot overflow
    return weights / weights.sum()


def as_scored(
    draws: object, scores: object, weights: object = None
) -> tuple[Floats, Floats, Floats]:
    """Return draws (n, d), their scores (n, d), and weights (n,) that sum to one.

    Raises
    ------
    DataError
        If something is missing, infinite or no number.
    ArgumentError
        If the shapes do not fit, or weights are none.
    """
    draws = as_points("draws", draws)
    scores = shaped("scores", as_points("scores", scores), draws.shape)
    return (
        draws,
        scores,
        as_weights(np.ones(len(draws)) if weights is None else weights, len(draws)),
    )


def mean_and_sd(name: str, given: object) -> tuple[Any, Any] | list[Any]:
    """Return the pair (mean, sd) that stands for results.

    Raises
    ------
    ArgumentError
        If it is no pair.
    """
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ArgumentError(
            f"{name} must be the results of a fit or a pair (mean, sd), not {type(given).__name__}"
        )
    return given
