"""Weighted mean, standard deviation and quantiles of draws (chain, draw, parameter).

Samplers with a decreasing step size weight draw t by its step size :math:`w_t` (Welling and Teh
2011; Teh, Thiery and Vollmer 2016).  The weights (draw,) are shared by the chains.  Without weights
each function is numpy's.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.data.draws import as_chains, as_weights
from sgmc.arguments.messages import must_be
from sgmc.arguments.types import Bools, Floats, Ints

NUMBERS_AT_ONCE = 1 << 17  # of draws, so that they and what is made of them stay in a cache


def in_parts(shape: Sequence[int]) -> list[slice]:
    """Slices of the parameters of draws of a shape (chain, draw, parameter), in each of which there
    are not too many numbers to be worked on at once.
    """
    size = max(1, NUMBERS_AT_ONCE // max(shape[0] * shape[1], 1))
    return [slice(a, a + size) for a in range(0, shape[2], size)]


def mean(draws: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    r"""Mean of each parameter, :math:`m = \sum_t w_t x_t / \sum_t w_t`.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    weights : array_like, (draw,), optional

    Returns
    -------
    ndarray, (parameter,)
    """
    draws = as_chains(draws)
    if weights is None:
        return draws.mean(axis=(0, 1))
    weights = as_weights(weights, draws.shape[1])
    return np.einsum("ctp,t->p", draws, weights) / len(draws)


def share_above(draws: Floats, limit: float, weights: ArrayLike | None = None) -> Floats:
    """Share of the draws' weight above a limit, (parameter,); see `mean`."""
    parts = [mean(draws[..., at] > limit, weights) for at in in_parts(draws.shape)]
    return np.concatenate([np.empty(0), *parts])


def sd(draws: ArrayLike, weights: ArrayLike | None = None, ddof: float = 1) -> Floats:
    r"""Standard deviation of each parameter.

    With :math:`w` summing to one over all draws,
    :math:`s^2 = \sum_t w_t (x_t - m)^2 / (1 - a \sum_t w_t^2)` where a = `ddof`: unbiased for
    independent draws when a = 1, and numpy's n - a when the weights are equal.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    weights : array_like, (draw,), optional
    ddof : float
        1 (default) or 0.

    Returns
    -------
    ndarray, (parameter,)
    """
    draws = as_chains(draws)
    if weights is None:
        parts = [draws[..., at].std(axis=(0, 1), ddof=ddof) for at in in_parts(draws.shape)]
        return np.concatenate([np.empty(0), *parts])  # no copy of all draws is made
    weights = as_weights(weights, draws.shape[1])
    variance = mean((draws - mean(draws, weights)) ** 2, weights)
    return np.sqrt(variance / (1 - ddof * np.sum(weights**2) / len(draws)))


def covariance(draws: ArrayLike, weights: ArrayLike | None = None) -> tuple[Floats, Floats]:
    """Mean and covariance matrix of draws, whose diagonal are squares of `sd`.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    weights : array_like, (draw,), optional

    Returns
    -------
    mean : ndarray, (parameter,)
    covariance : ndarray, (parameter, parameter)
    """
    draws = as_chains(draws)
    centre, total = mean(draws, weights), draws.shape[0] * draws.shape[1]
    flat, products = draws.reshape(total, -1), np.zeros((len(centre), len(centre)))
    if weights is None:
        root, share = np.ones(total), total - 1
    else:
        weights = as_weights(weights, draws.shape[1])
        root = np.tile(np.sqrt(weights / len(draws)), len(draws))
        share = 1 - np.sum(weights**2) / len(draws)
    for rows in in_parts((1, len(centre), total)):  # no copy of all draws is made
        away = (flat[rows] - centre) * root[rows, None]
        products += away.T @ away
    return centre, products / share


def weighted_product(x: Floats, y: Floats, w: Floats) -> Floats:
    """Sum of w_i x_i y_i' over rows."""
    alike = len(w) and (w == w[0]).all()  # then nothing of the size of y is made
    return w[0] * (x.T @ y) if alike else x.T @ (w[:, None] * y)


def quantile(draws: ArrayLike, q: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    r"""Quantiles of each parameter.

    The weighted empirical distribution function is joined by lines through the middles of its
    jumps, :math:`p_k = \sum_{i \le k} w_{(i)} - w_{(k)} / 2`, and q runs from the first middle to
    the last: the quantile is the line's value at :math:`p_1 + q (p_n - p_1)`.  Equal weights give
    numpy's default (type 7 of Hyndman and Fan 1996); draws of weight zero do not count.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    q : float or array_like, (k,)
        Probabilities.
    weights : array_like, (draw,), optional

    Returns
    -------
    ndarray, (parameter,) or (k, parameter)
        NaN for parameters with a NaN.
    """
    draws, q = as_chains(draws), np.asarray(q, dtype=np.float64)
    if not ((q >= 0) & (q <= 1)).all():
        raise must_be("q", q.tolist(), "numbers from 0 to 1")
    if weights is None:
        out = np.empty((*q.shape, draws.shape[2]))
        for at in in_parts(draws.shape):
            out[..., at] = _of_sorted(np.sort(as_rows(draws[..., at]), axis=1), q)
        return out
    weights = as_weights(weights, draws.shape[1])
    counted = weights > 0
    values = draws[:, counted].reshape(-1, draws.shape[2])
    return np.stack(
        [_quantile(column, q, np.tile(weights[counted], len(draws))) for column in values.T],
        axis=-1,
    )


class Quantiles:
    """Quantiles of draws that several look at: they are sorted once.

    Parameters
    ----------
    draws, weights
        As in `quantile`.
    q : tuple of float
        Those that can be asked for.
    """

    def __init__(
        self, draws: ArrayLike, q: tuple[float, ...], weights: ArrayLike | None = None
    ) -> None:
        self.known = dict(zip(q, quantile(draws, q, weights)))

    def __call__(self, q: Sequence[float]) -> Floats:
        """`quantile` of the draws, (k, parameter)."""
        return np.array([self.known[one] for one in q])

    def of(self, some: Bools) -> "Quantiles":
        """Those of some of the parameters."""
        other = object.__new__(Quantiles)
        other.known = {q: values[some] for q, values in self.known.items()}
        return other


def as_rows(draws: Floats) -> Floats:
    """Draws (chain, draw, k) with those of a parameter side by side, (k, chain * draw)."""
    return np.moveaxis(draws, 2, 0).reshape(draws.shape[2], -1)


def _of_sorted(rows: Floats, q: Floats) -> Floats:
    """Quantiles (.., k) of sorted rows (k, n), as numpy has them, to the digit."""
    place = q[..., None] * (rows.shape[1] - 1)
    low = np.floor(place).astype(np.intp)
    share, rows = place - low, rows.T
    below, above = rows[low[..., 0]], rows[np.minimum(low + 1, len(rows) - 1)[..., 0]]
    with np.errstate(invalid="ignore"):
        step = above - below
        value = np.where(share < 0.5, below + step * share, above - step * (1 - share))
    return np.where(np.isnan(rows[-1]), np.nan, value)


def _quantile(values: Floats, q: Floats, weights: Floats) -> Floats:
    """Weighted quantiles of one parameter; the weights are positive."""
    if np.isnan(values).any():
        return np.full(q.shape, np.nan)
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    middle = np.cumsum(weights) - weights / 2
    return np.interp(middle[0] + q * (middle[-1] - middle[0]), middle, values)


def systematic(weights: Floats, count: int) -> Ints:
    r"""Numbers of `count` draws in proportion to their weights, in their order:
    a sample whose draws count alike.

    Draw k is taken as often as :math:`(i + 1/2) / n`, i = 0 .. n - 1, fall into its share of the
    total weight, that is :math:`n w_k` times rounded up or down.

    Parameters
    ----------
    weights : array_like, (draw,)
    count : int

    Returns
    -------
    ndarray of int, (count,)
    """
    share = np.cumsum(as_weights(weights, len(weights)))
    return np.minimum(np.searchsorted(share, (np.arange(count) + 0.5) / count), len(share) - 1)


def hdi(draws: ArrayLike, prob: float, weights: ArrayLike | None = None) -> Floats:
    r"""Narrowest interval of each parameter that holds at least `prob` of the draws' weight.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    prob : float
    weights : array_like, (draw,), optional

    Returns
    -------
    ndarray, (2, parameter)
        NaN for parameters with a NaN.
    """
    draws = as_chains(draws)
    w = np.full(draws.shape[1], 1.0) if weights is None else as_weights(weights, draws.shape[1])
    flat, w = draws.reshape(-1, draws.shape[2]), np.tile(w, len(draws))
    return np.stack([_hdi(column, prob, w / w.sum()) for column in flat.T], axis=-1)


def _hdi(values: Floats, prob: float, weights: Floats) -> Floats:
    """The narrowest interval of one parameter; the weights sum to one."""
    if np.isnan(values).any():
        return np.full(2, np.nan)
    order = np.argsort(values, kind="stable")
    values, share = values[order], np.cumsum(weights[order])
    last = np.searchsorted(share, share + prob - 1e-12)  # sums of equal weights are off by rounding
    last = last[last < len(values)]
    if not len(last):
        return values[[0, -1]]
    k = np.argmin(values[last] - values[: len(last)])
    return values[[k, last[k]]]
