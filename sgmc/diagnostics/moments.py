"""Weighted mean, standard deviation and quantiles of draws (chain, draw, parameter).

Samplers with a decreasing step size weight draw t by its step size :math:`w_t` (Welling and Teh 2011; Teh, Thiery
and Vollmer 2016).  The weights (draw,) are shared by the chains.  Without weights each function is numpy's.
"""
import numpy as np

from sgmc.diagnostics.checks import as_chains, as_weights
from sgmc.errors import ArgumentError


def mean(draws, weights=None):
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


def sd(draws, weights=None, ddof=1):
    r"""Standard deviation of each parameter.

    With :math:`w` summing to one over all draws, :math:`s^2 = \sum_t w_t (x_t - m)^2 / (1 - a \sum_t w_t^2)`
    where a = `ddof`: unbiased for independent draws when a = 1, and numpy's n - a when the weights are equal.

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
        return draws.std(axis=(0, 1), ddof=ddof)
    weights = as_weights(weights, draws.shape[1])
    variance = mean((draws - mean(draws, weights)) ** 2, weights)
    return np.sqrt(variance / (1 - ddof * np.sum(weights**2) / len(draws)))


def quantile(draws, q, weights=None):
    r"""Quantiles of each parameter.

    The weighted empirical distribution function is joined by lines through the middles of its jumps,
    :math:`p_k = \sum_{i \le k} w_{(i)} - w_{(k)} / 2`, and q runs from the first middle to the last:
    the quantile is the line's value at :math:`p_1 + q (p_n - p_1)`.  Equal weights give numpy's default
    (type 7 of Hyndman and Fan 1996); draws of weight zero do not count.

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
        raise ArgumentError(f"q must be between 0 and 1, not {q}")
    if weights is None:
        return np.quantile(draws, q, axis=(0, 1))
    weights = as_weights(weights, draws.shape[1])
    counted = weights > 0
    values = draws[:, counted].reshape(-1, draws.shape[2])
    return np.stack([_quantile(column, q, np.tile(weights[counted], len(draws))) for column in values.T], axis=-1)


def _quantile(values, q, weights):
    """Weighted quantiles of one parameter; the weights are positive."""
    if np.isnan(values).any():
        return np.full(q.shape, np.nan)
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    middle = np.cumsum(weights) - weights / 2
    return np.interp(middle[0] + q * (middle[-1] - middle[0]), middle, values)
