"""Effective sample size, R-hat, Monte Carlo error and autocorrelation of draws (chain, draw,
parameter).

The numbers are arviz-stats' own, in the definitions of Vehtari, Gelman, Simpson, Carpenter and
Bürkner (2021, Bayesian Analysis 16:667), as in R's posterior package.  They are NaN for parameters
that are constant or hold a value that is not finite, and for fewer than four draws.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sgmc.arguments.choices import one_of
from sgmc.arguments.data.draws import as_chains, as_weights
from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Floats
from sgmc.diagnostics.chains import geyer, moments

_ESS: dict[str, dict[str, Any]] = {"bulk": {}, "tail": {"prob": (0.05, 0.95)}, "mean": {}, "sd": {}}
FEWEST_HALVED = 8  # draws of a chain, whose halves arviz-stats takes for chains


def ess(
    draws: ArrayLike,
    *,
    method: Literal["bulk", "tail", "mean", "sd"] = "bulk",
    weights: ArrayLike | None = None,
) -> Floats:
    r"""Return the effective sample size of each parameter, over all chains.

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
    if method in _PREPARED and draws.shape[1] >= FEWEST_HALVED:
        size = _by_parameter(geyer.sizes, draws, _PREPARED[method])
    elif method == "tail" and draws.shape[1] >= FEWEST_HALVED:
        size = _by_parameter(_sizes_of_tails, draws)
    else:
        size = _by_parameter("ess", draws, method=method, **options)
    return _weighed(size, weights, draws)


def _weighed(size: Floats, weights: ArrayLike | None, draws: Floats) -> Floats:
    """Effective sizes under weights: times Kish's factor."""
    if weights is None:
        return size
    weights = as_weights(weights, draws.shape[1])
    return size / (len(weights) * np.sum(weights**2))


def rhat(draws: ArrayLike) -> Floats:
    """Return the rank-normalised split R-hat of each parameter, the larger of the bulk's and the
    folded draws'.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)

    Returns
    -------
    ndarray, (parameter,)
        NaN for one chain; huge or infinite for chains that each stand still, at different places.
    """
    draws = as_chains(draws)
    if len(draws) < 2 or draws.shape[1] < FEWEST_HALVED:
        return _by_parameter("rhat", draws)
    return _by_parameter(_ranked_reductions, draws, _halves)


def bulk(draws: ArrayLike, weights: ArrayLike | None = None) -> tuple[Floats, Floats]:
    """`ess` and `rhat` at once, from one ranking of the draws: (parameter,) each."""
    draws = as_chains(draws)
    if len(draws) < 2 or draws.shape[1] < FEWEST_HALVED:
        return ess(draws, weights=weights), rhat(draws)
    size, ratio = _by_parameter(_ranked, draws, _halves, shape=(2,))
    return _weighed(size, weights, draws), ratio


def mcse(
    draws: ArrayLike, method: Literal["mean", "sd"] = "mean", *, weights: ArrayLike | None = None
) -> Floats:
    r"""Return the Monte Carlo standard error of each parameter's mean or standard deviation.

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


def autocorr(draws: ArrayLike, max_lag: int, *, weights: ArrayLike | None = None) -> Floats:
    r"""Return the autocorrelation of each chain and parameter at lags 0 to `max_lag`.

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


def _weighted_autocorr(draws: Floats, max_lag: int, weights: Floats) -> Floats:
    """Return the autocorrelations of weighted draws (chain, draw, parameter)."""
    mean = np.einsum("ctp,t->cp", draws, weights)[:, None]
    part = np.sqrt(weights)[None, :, None] * (draws - mean)
    spectrum = np.fft.rfft(part, 2 * draws.shape[1], axis=1)
    products = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, : max_lag + 1]
    return products / products[:, :1]


def _by_parameter(
    statistic: str | Callable[..., Floats],
    draws: Floats,
    prepared: Callable[[Floats], Floats] | None = None,
    shape: tuple[int, ...] = (),
    **options: Any,
) -> Floats:
    """A statistic, (*shape, parameter), for the parameters that vary and are finite, of what
    `prepared` makes of their draws (parameter, chain, draw): a function, or the name of one of
    arviz-stats, which has a loop over parameters.  NaN for the others and for fewer than four
    draws.

    The draws are multiplied by a power of two, which changes no digit: arviz-stats takes any
    parameter with a range below 1e-15 for a constant, such as a squared coefficient of a predictor
    in the hundred millions.
    """
    if isinstance(statistic, str):
        from arviz_stats.base import array_stats

        statistic = getattr(array_stats, statistic)
    values = np.full((*shape, draws.shape[2]), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.ptp(draws, axis=(0, 1))
        varies = np.flatnonzero(np.isfinite(spread) & (spread > 0))
        for at in moments.in_parts((*draws.shape[:2], len(varies))):
            some = varies[at]
            part = np.ascontiguousarray(np.moveaxis(draws[:, :, some], 2, 0))
            part = np.ldexp(part, -np.frexp(spread[some])[1][:, None, None])
            part = part if prepared is None else prepared(part)
            values[..., some] = statistic(part, **options)
    return values


def _halves(draws: Floats) -> Floats:
    """Halves of chains (parameter, 2 chains, draw)."""
    half = draws.shape[2] // 2
    return np.concatenate([draws[..., :half], draws[..., -half:]], axis=1)


def _squares(draws: Floats) -> Floats:
    """`_halves` of squared deviations from the mean."""
    centre = draws.reshape(len(draws), -1).mean(axis=1)
    return _halves((draws - centre[:, None, None]) ** 2)


def _sizes_of_tails(draws: Floats) -> Floats:
    """Effective sizes (parameter,) of the shares of draws below two quantiles, the smaller one."""
    ordered = np.moveaxis(draws, 0, 2)
    return np.min(
        [
            geyer.sizes(_halves((draws <= limit[:, None, None]).astype(float)))
            for limit in moments.quantile(ordered, _ESS["tail"]["prob"])
        ],
        axis=0,
    )


def _normal_scores(draws: Floats) -> Floats:
    """`_halves`, by their normal scores."""
    return _scores(_halves(draws))[0]


def _scores(chains: Floats) -> tuple[Floats, Floats]:
    """Draws (parameter, chain, draw) replaced by the normal quantiles of their ranks among those of
    all chains, ties by that of their average rank (Blom 1958); and the draws sorted, (parameter,
    chain * draw).
    """
    rows = chains.reshape(len(chains), -1)
    count = rows.shape[1]
    order = np.argsort(rows, axis=1)
    order += np.arange(0, rows.size, count)[:, None]
    ordered = rows.ravel()[order]
    first = np.ones(rows.shape, dtype=bool)  # of equal draws
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
    levels = np.broadcast_to(_normal_levels(np.arange(1.0, count + 1), count), rows.shape)
    again = np.flatnonzero(~first)  # equal to the one before
    if len(again):
        new = np.diff(again, prepend=-2) != 1
        starts, lengths = again[new] - 1, np.diff(np.flatnonzero(new), append=len(again)) + 1
        places = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        places += np.arange(len(places))
        shared = _normal_levels(starts % count + (lengths + 1) / 2, count)
        levels = levels.copy()
        levels.ravel()[places] = np.repeat(shared, lengths)
    scores = np.empty(rows.shape)
    scores.ravel()[order] = levels
    return scores.reshape(chains.shape), ordered


def _normal_levels(ranks: Floats, count: int) -> Floats:
    """Normal quantiles of ranks among so many draws (Blom 1958)."""
    return special.ndtri((ranks - 3 / 8) / (count + 1 / 4))


def _ranked(halves: Floats) -> Floats:
    """Effective sizes of normal scores of the draws, and R-hat as of `_ranked_reductions`."""
    ranked = _scores(halves)
    return np.array([geyer.sizes(ranked[0]), _ranked_reductions(halves, ranked)])


def _ranked_reductions(halves: Floats, ranked: tuple[Floats, Floats] | None = None) -> Floats:
    """The larger R-hat (parameter,) of normal scores of the draws and of their distances from the
    median.
    """
    scores, ordered = _scores(halves) if ranked is None else ranked
    middle = ordered.shape[1] // 2  # of an even number
    centre = ordered[:, middle - 1 : middle + 1].mean(axis=1)
    folded, _ = _scores(np.abs(halves - centre[:, None, None]))
    return np.maximum(_reductions(scores), _reductions(folded))


_PREPARED = {"bulk": _normal_scores, "mean": _halves, "sd": _squares}


def _reductions(chains: Floats) -> Floats:
    """R-hat (parameter,) of chains (parameter, chain, draw) as they are (Gelman & Rubin 1992)."""
    draws = chains.shape[2]
    between = draws * chains.mean(axis=2).var(axis=1, ddof=1)
    within = chains.var(axis=2, ddof=1).mean(axis=1)
    return np.sqrt((between / within + draws - 1) / draws)
