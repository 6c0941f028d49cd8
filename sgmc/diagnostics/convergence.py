"""Effective sample size, R-hat, Monte Carlo error and autocorrelation of draws (chain, draw,
parameter).

The numbers are arviz-stats' own, in the definitions of Vehtari, Gelman, Simpson, Carpenter and
Bürkner (2021, Bayesian Analysis 16:667), as in R's posterior package.  They are NaN for parameters
that are constant or hold a value that is not finite, and for fewer than four draws.
"""

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.draws import as_chains, as_weights
from sgmc.arguments.numbers import whole
from sgmc.diagnostics import moments

_ESS = {"bulk": {}, "tail": {"prob": (0.05, 0.95)}, "mean": {}, "sd": {}}


def ess(draws, *, method="bulk", weights=None):
    r"""Effective sample size of each parameter, over all chains.

    With step-size weights w the variance of a weighted mean is about
    :math:`\sigma^2 \tau \sum_t w_t^2 / (\sum_t w_t)^2` for an autocorrelation time :math:`\tau`
    over which w hardly changes, so that the unweighted size is multiplied by Kish's factor
    :math:`(\sum_t w_t)^2 / (n \sum_t w_t^2)`.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    method : {"bulk", "tail", "mean", "sd"}
        Rank-normalised (default); the smaller of the 5 % and 95 % quantiles'; of the mean; of the
        squared deviations.
    weights : array_like, (draw,), optional
        Step-size weights, shared by the chains.

    Returns
    -------
    ndarray, (parameter,)
    """
    draws = as_chains(draws)
    options = _ESS[one_of("method", method, _ESS)]
    size = _by_parameter("ess", draws, method=method, **options)
    if weights is None:
        return size
    weights = as_weights(weights, draws.shape[1])
    return size / (len(weights) * np.sum(weights**2))


def rhat(draws):
    """Rank-normalised split R-hat of each parameter,
    the larger of the bulk's and the folded draws'.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)

    Returns
    -------
    ndarray, (parameter,)
        NaN for one chain; huge or infinite for chains that each stand still, at different places.
    """
    return _by_parameter("rhat", as_chains(draws))


def mcse(draws, method="mean", *, weights=None):
    r"""Monte Carlo standard error of each parameter's mean or standard deviation.

    :math:`s / \sqrt{\mathrm{ESS}_{mean}}`, and by the delta method
    :math:`\mathrm{sd}[(x - m)^2] / (2 s \sqrt{\mathrm{ESS}_{sd}})`, as arviz-stats >= 1 and R's
    posterior have it (arviz-stats 0.x divides by the effective size of the mean instead).

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    method : {"mean", "sd"}
    weights : array_like, (draw,), optional
        Step-size weights, shared by the chains.

    Returns
    -------
    ndarray, (parameter,)
    """
    draws = as_chains(draws)
    one_of("method", method, ("mean", "sd"))
    with np.errstate(invalid="ignore"):  # constants, infinities
        spread = moments.sd(draws, weights)
        if method == "sd":
            squares = (draws - moments.mean(draws, weights)) ** 2
            spread = moments.sd(squares, weights) / (2 * spread)
    return spread / np.sqrt(ess(draws, method=method, weights=weights))


def autocorr(draws, max_lag, *, weights=None):
    r"""Autocorrelation of each chain and parameter at lags 0 to `max_lag`.

    :math:`\rho_k = \sum_t \sqrt{w_t w_{t+k}} (x_t - m)(x_{t+k} - m) / \sum_t w_t (x_t - m)^2` with
    the weighted mean m of the chain; without weights this is arviz-stats' own.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    max_lag : int
        Less than the number of draws.
    weights : array_like, (draw,), optional
        Step-size weights, shared by the chains.

    Returns
    -------
    ndarray, (chain, max_lag + 1, parameter)
    """
    from arviz_stats.base import array_stats

    draws = as_chains(draws)
    max_lag = whole("max_lag", max_lag, 0, draws.shape[1] - 1, advice="take less than the draws")
    with np.errstate(invalid="ignore"):
        spread = np.ptp(draws, axis=1, keepdims=True)
        if weights is None:
            correlation = array_stats.autocorr(draws, axis=1)[:, : max_lag + 1]
        else:
            correlation = _weighted_autocorr(draws, max_lag, as_weights(weights, draws.shape[1]))
    return np.where(np.isfinite(spread) & (spread > 0), correlation, np.nan)


def _weighted_autocorr(draws, max_lag, weights):
    """See `autocorr`."""
    mean = np.einsum("ctp,t->cp", draws, weights)[:, None]
    part = np.sqrt(weights)[None, :, None] * (draws - mean)
    spectrum = np.fft.rfft(part, 2 * draws.shape[1], axis=1)
    products = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, : max_lag + 1]
    return products / products[:, :1]


def _by_parameter(statistic, draws, **options):
    """A statistic of arviz-stats for the parameters that vary and are finite; NaN for the others.

    The draws are multiplied by a power of two, which changes no digit: arviz-stats takes any
    parameter with a range below 1e-15 for a constant, such as a squared coefficient of a predictor
    in the hundred millions.
    """
    from arviz_stats.base import array_stats

    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.ptp(draws, axis=(0, 1))
        varies = np.isfinite(spread) & (spread > 0)
        draws = np.ldexp(draws[:, :, varies], -np.frexp(spread[varies])[1])
        values = np.full(spread.shape, np.nan)
        values[varies] = getattr(array_stats, statistic)(
            draws, chain_axis=0, draw_axis=1, **options
        )
    return values
