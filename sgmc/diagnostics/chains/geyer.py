"""Effective sample sizes by Geyer's initial monotone sequence, of many parameters at once.

Geyer (1992, Statistical Science 7:473), with the variance of several chains as in Vehtari, Gelman,
Simpson, Carpenter and Bürkner (2021, Bayesian Analysis 16:667, eq. 10-13).
"""

import numpy as np

from sgmc.arguments.types import Floats

# products of 3 and 5: times powers of 2 they are lengths of fast Fourier transforms
ODD_LENGTHS = 1, 3, 5, 9, 15, 25, 27
NO_RANGE = 1e-15  # of draws that arviz-stats takes for one value


def sizes(chains: Floats) -> Floats:
    """Effective sizes (parameter,) of chains (parameter, chain, draw) as they are."""
    count, draws = chains.shape[1] * chains.shape[2], chains.shape[2]
    covariance = mean_autocovariances(chains)
    within = covariance[:, 0] * draws / (draws - 1.0)
    variance = within * (draws - 1.0) / draws
    if chains.shape[1] > 1:
        variance = variance + chains.mean(axis=2).var(axis=1, ddof=1)
    correlation = 1.0 - (within[:, None] - covariance) / variance[:, None]
    flat = np.ptp(chains, axis=(1, 2)) < NO_RANGE
    return np.array(
        [
            count if constant else count / max(time(rho), 1 / np.log10(count))
            for rho, constant in zip(correlation, flat)
        ]
    )


def mean_autocovariances(chains: Floats) -> Floats:
    """Autocovariances at all lags, averaged over the chains, (parameter, lag)."""
    draws = chains.shape[2]
    size = fast_length(2 * draws)
    spectrum = np.fft.rfft(chains - chains.mean(axis=2, keepdims=True), n=size, axis=2)
    power = np.square(spectrum.real).mean(axis=1) + np.square(spectrum.imag).mean(axis=1)
    return np.fft.irfft(power, n=size, axis=1)[:, :draws] / draws


def fast_length(least: int) -> int:
    """A length, not below the least, whose Fourier transform is fast."""
    return min(odd << (-(-least // odd) - 1).bit_length() for odd in ODD_LENGTHS)


def time(correlation: Floats) -> float:
    """The integrated autocorrelation time of one parameter, by its correlations (lag,); NaN where
    some that count are NaN.
    """
    kept = np.zeros(len(correlation))
    kept[0], kept[1] = even, odd = 1.0, float(correlation[1])
    t = 1
    while t < len(correlation) - 3 and even + odd > 0.0:  # the initial positive sequence
        even, odd = float(correlation[t + 1]), float(correlation[t + 2])
        if even + odd >= 0:
            kept[t + 1], kept[t + 2] = even, odd
        t += 2
    last = t - 2
    if even > 0:
        kept[last + 1] = even
    for t in range(1, last - 1, 2):  # the initial monotone sequence
        if kept[t + 1] + kept[t + 2] > kept[t - 1] + kept[t]:
            kept[t + 1] = kept[t + 2] = (kept[t - 1] + kept[t]) / 2.0
    if np.isnan(kept).any():
        return np.nan
    return -1.0 + 2.0 * kept[: last + 1].sum() + kept[last + 1 : last + 2].sum()
