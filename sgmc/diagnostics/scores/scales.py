"""Draws and scores in coordinates without units, and the width of a kernel there."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.choices import one_of
from sgmc.arguments.data.arrays import shaped
from sgmc.arguments.data.draws import as_scored, real_numbers
from sgmc.arguments.numbers import number, positive
from sgmc.arguments.types import Floats
from sgmc.errors import ArgumentError

Width: TypeAlias = tuple[bool, float, float]  # a kernel: whether it is Gaussian, c, beta


def rescale(draws: Floats, scores: Floats, scale: ArrayLike) -> tuple[Floats, Floats]:
    r"""Return draws and scores in coordinates without units: :math:`z = S^{-1} x` and
    :math:`\nabla_z \log \pi = S' s`.

    Parameters
    ----------
    draws, scores : ndarray, shape (n, d)
    scale : array_like, shape (d,) or (d, d)
        The matrix S, or its diagonal.

    Returns
    -------
    draws, scores : ndarray, shape (n, d)

    Raises
    ------
    ArgumentError
        If the scale has another shape, is not finite, or singular, or a diagonal is not positive.
    """
    d = draws.shape[1]
    scale = shaped("scale", real_numbers("scale", scale), (d,), (d, d))
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


def as_sample(
    draws: ArrayLike,
    scores: ArrayLike,
    weights: ArrayLike | None = None,
    scale: ArrayLike | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return draws (n, d), their scores and weights that sum to one, in coordinates without units
    where a scale is given; raises as `as_scored` and `rescale`.
    """
    draws, scores, weights = as_scored(draws, scores, weights)
    if scale is None:
        return draws, scores, weights
    return *rescale(draws, scores, as_scale(scale, draws, weights)), weights


def as_scale(scale: ArrayLike, draws: Floats, weights: Floats) -> ArrayLike:
    """Return `scale` itself, or for "covariance" a Cholesky factor of the draws' weighted
    covariance; ArgumentError if they do not span the space.
    """
    if not isinstance(scale, str):
        return scale
    one_of("scale", scale, ("covariance",), ", or numbers")
    try:
        return np.linalg.cholesky(covariance(draws, weights))
    except np.linalg.LinAlgError:
        raise ArgumentError(
            f"scale='covariance': {len(draws)} draws do not span {draws.shape[1]} dimensions; give "
            "sds"
        ) from None


def covariance(draws: Floats, weights: Floats) -> Floats:
    """Return the weighted covariance of draws (n, d), for weights that sum to one."""
    if np.count_nonzero(weights) < 2:
        raise ArgumentError("the draws' covariance needs two draws of positive weight")
    return np.atleast_2d(np.cov(draws.T, aweights=weights))


def as_kernel(kernel: str, c: float | Literal["median"], beta: float, draws: Floats) -> Width:
    """Return (gaussian, c, beta) as the compiled sums take them;
    a width "median" is the median distance of the draws.
    """
    one_of("kernel", kernel, ("imq", "gaussian"))
    if isinstance(c, str):
        one_of("c", c, ("median",), ", or a positive number")
        c = median_distance(draws)
    return kernel == "gaussian", positive("c", c), number("beta", beta, -1, 0)


def median_distance(draws: Floats, most: int = 500) -> float:
    """Return the median distance between pairs of draws, of at most 500 evenly spaced ones;
    1 for a single draw.
    """
    some = draws[np.unique(np.linspace(0, len(draws) - 1, most).astype(int))]
    if len(some) < 2:
        return 1.0
    some = some - some.mean(axis=0)
    squares = np.einsum("ij,ij->i", some, some)
    apart = squares[:, None] + squares - 2 * np.einsum("ij,kj->ik", some, some)
    return float(np.sqrt(max(np.median(apart[np.triu_indices(len(some), 1)]), 0.0)))
