"""Effective sizes and R-hat of many parameters at once, by the definitions of Vehtari et al. (2021,
doi:10.1214/20-BA1221, section 3), as arviz-stats computes them one by one.
"""

import numpy as np
from scipy import fft


def halved(draws):
    """Halves of chains as chains: (parameter, 2 chains, draw) of (parameter, chain, draw)."""
    half = draws.shape[2] // 2
    return np.concatenate([draws[..., :half], draws[..., -half:]], axis=1)


def effective_sizes(draws):
    """Effective sample sizes of the means of draws (parameter, chain, draw), (parameter,).

    Autocorrelations are summed by Geyer's (1992) initial monotone sequence: sums of pairs are taken
    until one is not positive, and do not grow; of the pair after the last one the first number.
    """
    chains, n = draws.shape[1:]
    means = draws.mean(axis=2)
    length = fft.next_fast_len(2 * n, real=True)
    spectrum = fft.rfft(draws - means[..., None], length, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    covariance = fft.irfft(power, length, axis=1)[:, :n] / n
    within = covariance[:, 0] * n / (n - 1)
    total = covariance[:, 0] + (means.var(axis=1, ddof=1) if chains > 1 else 0.0)
    rho = 1 - (within[:, None] - covariance) / total[:, None]
    rho[:, 0] = 1.0
    pairs = 1 + (n - 3) // 2  # that are looked at
    sums = rho[:, 0 : 2 * pairs : 2] + rho[:, 1 : 2 * pairs : 2]
    stops = ~(sums > 0)
    stops[:, -1] = True
    last = stops.argmax(axis=1)
    falling = np.minimum.accumulate(sums, axis=1)
    counted = np.where(np.arange(pairs) < last[:, None], falling, 0.0).sum(axis=1)
    every = np.arange(len(rho))
    after = rho[every, 2 * last]
    after = np.where((after > 0) | (sums[every, last] >= 0), after, 0.0)
    time = np.maximum(2 * counted + after - 1, 1 / np.log10(chains * n))
    return np.where(np.isfinite(total), chains * n / time, np.nan)


def scale_reductions(draws):
    """R-hat of draws (parameter, chain, draw), (parameter,)."""
    n = draws.shape[2]
    between = n * draws.mean(axis=2).var(axis=1, ddof=1)
    within = draws.var(axis=2, ddof=1).mean(axis=1)
    return np.sqrt((between / within + n - 1) / n)
