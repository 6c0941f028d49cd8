"""Whether chains visit the same places equally often."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sgmc.arguments.data.draws import as_chains, as_weights
from sgmc.arguments.types import Bools, Floats, Ints
from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.chains.moments import Quantiles
from sgmc.diagnostics.chains.tails import WITHIN_ONE_SD

BATCHES = 10  # a chain, each half of which is looked at by itself
SHORTEST_BATCH = 20  # draws: shares in fewer are no numbers with a variance
SHARES = (0.05, 0.1, 0.25, 0.75, 0.9, 0.95)  # of the draws beyond the places that are compared


def batch_means(
    values: Floats, weights: ArrayLike | None = None, batches: int = BATCHES
) -> tuple[Floats, Floats]:
    """Means of consecutive batches of draws (chain, draw, k), and the batches' shares of the
    weight: (chain, batch, k) and (batch,).
    """
    draws = values.shape[1]
    starts = np.linspace(0, draws, min(batches, draws) + 1).astype(int)[:-1]
    if weights is None:
        sizes = np.diff(starts, append=draws)
        return np.add.reduceat(values, starts, axis=1) / sizes[:, None], sizes / draws
    w = as_weights(weights, draws)
    share = np.add.reduceat(w, starts)
    sums = np.add.reduceat(values * w[:, None], starts, axis=1)
    return sums / np.where(share > 0, share, 1.0)[:, None], share


def batch_mcse(values: Floats, weights: ArrayLike | None = None) -> Floats:
    """Monte Carlo errors of the means of draws (chain, draw, k) by batch means, (k,): what lasts
    longer than a batch counts, and so do differences between chains.
    """
    return mcse_of_batches(*batch_means(values, weights))


def mcse_of_batches(means: Floats, share: Floats) -> Floats:
    """`batch_mcse` of what `batch_means` gives."""
    chains, batches, _ = means.shape
    off = means - np.einsum("cbk,b->k", means, share) / chains
    squares = np.einsum("cbk,b->k", off**2, share**2) / chains**2
    return np.sqrt(squares * chains * batches / max(chains * batches - 1, 1))


def equal_visits(
    draws: ArrayLike, weights: ArrayLike | None = None, quantiles: Quantiles | None = None
) -> Floats:
    r"""Return p-values of the same law in all half-chains, (parameter,): small where some chains
    visit a place that others seldom visit.

    At six quantiles q of all draws, the shares of :math:`x \le q` in the half-chains are compared
    by an analysis of variance of batch means: :math:`F = s^2_{between} / s^2_{within}`, with as
    many degrees of freedom as there are half-chains and batches less those.  R-hat compares means
    and spreads in units of the whole posterior, and is blind to a place with a few per cent of it.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    weights : array_like, (draw,), optional
        Step-size weights, shared by the chains.
    quantiles : Quantiles, optional
        Of the draws, where they are known.

    Returns
    -------
    ndarray, (parameter,)
        The smallest of the six times six (Bonferroni); NaN for fewer than 200 draws a chain.
    """
    draws = as_chains(draws)
    if draws.shape[1] < SHORTEST_BATCH * BATCHES:
        return np.full(draws.shape[2], np.nan)
    limits = (quantiles or moments.Quantiles(draws, SHARES, weights))(SHARES)
    parts = [
        _equal_visits(draws[..., at], limits[:, at], weights)
        for at in moments.in_parts(draws.shape)
    ]
    return np.concatenate([np.empty(0), *parts])


def _equal_visits(draws: Floats, limits: Floats, weights: ArrayLike | None) -> Floats:
    """Return the p-values of `equal_visits`; limits (6, parameter) are the quantiles."""
    groups, each, d = 2 * len(draws), BATCHES // 2, draws.shape[2]
    largest = np.zeros(d)
    for q in limits:
        below, _ = batch_means((draws <= q).astype(float), weights)
        grouped = below.reshape(groups, each, d)
        between = each * grouped.mean(axis=1).var(axis=0, ddof=1)
        within = grouped.var(axis=1, ddof=1).mean(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(within > 0, between / within, 0.0)
        largest = np.fmax(largest, ratio)
    p = special.fdtrc(groups - 1, groups * (each - 1), largest)
    return np.minimum(p * len(SHARES), 1.0)


# ---- stays ---------------------------------------------------------------------------------------

FEW_STAYS = 20  # up to so many, the share of a place is hardly known
RARELY = 0.975  # confidence of the most stays that may be expected where some were seen
LONG_STAY = 8.0  # a stay's draws in units of those in which chains forget their side of the median
SHORTEST = 10  # draws
PARTS = 4  # of the way out to a place, in each of which draws are counted
VALLEY = 0.25  # density in the emptiest of them, in units of the place's, of a place apart


def long_stays(draws: ArrayLike, weights: ArrayLike | None = None) -> tuple[Floats, Floats]:
    r"""Return by how many sds a few long stays far out may move means and sds, (parameter,).

    A stay is a run of draws beyond the 84 % point or the 16 % point; it is long beyond
    LONG_STAY :math:`(1 + \rho) / (1 - \rho)` draws, :math:`\rho` the correlation of successive
    draws' sides of the median.  Where k long stays are few, and draws are sparser on the way to the
    place than in it, their share s of the draws may be too small by a factor :math:`\lambda / k`,
    :math:`\lambda` the 97.5 % limit of a Poisson mean of which k were seen: 5.6 for one stay, 1.5
    for 20.  That much more moves the mean by :math:`(\lambda / k - 1) s m` and the sd by half of
    :math:`(\lambda / k - 1) s q`, m and q the means of the standardised draws and of their squares
    in the stays.  Slow excursions into a long tail pass no such valley.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    weights : array_like, (draw,), optional
        Step-size weights, shared by the chains.

    Returns
    -------
    effect : ndarray, (parameter,)
        0 where there are none, or more than FEW_STAYS.
    share : ndarray, (parameter,)
        Of the draws in such stays.
    """
    draws = as_chains(draws)
    effect, share = np.zeros(draws.shape[2]), np.zeros(draws.shape[2])
    for stay in stays(draws, weights):
        if stay.effect > effect[stay.k]:
            effect[stay.k], share[stay.k] = stay.effect, stay.share
    return effect, share


class Stay(NamedTuple):
    """Few long stays in a place.

    Attributes
    ----------
    k : int
        The parameter.
    effect, share : float
        See `long_stays`.
    distance : float
        Of the place from the mean, in sds.
    inside : array of bool (chain, draw)
    """

    k: int
    effect: float
    share: float
    distance: float
    inside: np.ndarray


def stays(
    draws: Floats, weights: ArrayLike | None = None, quantiles: Quantiles | None = None
) -> Iterator[Stay]:
    """The few long stays of draws (chain, draw, parameter), an iterator of `Stay`; `quantiles` of
    the draws, where they are known.
    """
    limits = (quantiles or moments.Quantiles(draws, WITHIN_ONE_SD, weights))(WITHIN_ONE_SD)
    for at in moments.in_parts(draws.shape):
        for stay in _stays(draws[..., at], limits[:, at], weights):
            yield stay._replace(k=at.start + stay.k)


def _stays(draws: Floats, limits: Floats, weights: ArrayLike | None) -> Iterator[Stay]:
    """Yield the long stays of draws; limits (3, parameter) are the quantiles."""
    low, centre, high = limits
    above = draws > centre
    same = above[:, 1:] == above[:, :-1]
    rho = np.clip(2 * same.sum(axis=(0, 1)) / max(same[..., 0].size, 1) - 1, 0.0, 0.999)
    long = np.maximum(SHORTEST, LONG_STAY * (1 + rho) / (1 - rho))
    for sign, flags, edge in ((1, draws > high, high), (-1, draws < low, low)):
        inside, count = within_long_runs(flags, long)
        for k in np.flatnonzero((count > 0) & (count <= FEW_STAYS)):
            one = draws[..., k, None]
            if not apart(sign * (one[..., 0] - edge[k]), inside[..., k]):
                continue
            mean, spread = moments.mean(one, weights)[0], moments.sd(one, weights)[0]
            standard = np.where(inside[..., k], (one[..., 0] - mean) / spread, 0.0)
            terms = np.stack([inside[..., k], standard, standard**2], axis=-1)
            part, first, second = moments.mean(terms, weights)
            # of one's own variance 1 the part s is there already
            more = special.chdtri(2 * count[k] + 2, 1 - RARELY) / (2 * count[k]) - 1
            size = more * max(abs(first), (second - part) / 2)
            yield Stay(int(k), size, part, abs(first) / part, inside[..., k])


def apart(out: Floats, inside: Bools) -> bool:
    """Whether a place is apart: `out`, (chain, draw), are distances beyond an edge, `inside` those
    in the place.
    """
    near, far = np.quantile(out[inside], [0.25, 0.75])
    counts, _ = np.histogram(out, PARTS, range=(0.0, near))
    # half of the place's draws lie between its quartiles
    return counts.min() * (far - near) < VALLEY * (inside.sum() / 2) * (near / PARTS)


def within_long_runs(flags: Bools, long: Floats) -> tuple[Bools, Ints]:
    """Flags (chain, draw, k) that stand in runs longer than `long` (k,), and the numbers of such
    runs, (k,).
    """
    inside, stays = np.zeros(flags.shape, dtype=bool), np.zeros(flags.shape[2], dtype=int)
    runs = flags  # of eight and more; few parameters have any
    for step in (1, 2, 4):
        runs = runs[:, step:] & runs[:, :-step]
    looked = np.flatnonzero(runs.any(axis=(0, 1)))
    edge = np.zeros((len(flags), 1, len(looked)), dtype=bool)
    padded = np.concatenate([edge, flags[..., looked], edge], axis=1)
    change = np.diff(padded.astype(np.int8), axis=1).transpose(2, 0, 1)
    # runs by parameter and chain, in the order of their first draws
    k, c, first = np.nonzero(change == 1)
    last = np.nonzero(change == -1)[2]
    kept = last - first > long[looked[k]]
    np.add.at(stays, looked[k[kept]], 1)
    for chain, a, b, j in zip(c[kept], first[kept], last[kept], looked[k[kept]]):
        inside[chain, a:b, j] = True
    return inside, stays
