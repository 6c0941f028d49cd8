"""Outcomes that are known in part by the laws of scipy: log probabilities of intervals."""

import numpy as np
from scipy import special, stats

LAWS = {
    "ols": lambda eta, extra: stats.norm(eta, extra),
    "poisson": lambda eta, extra: stats.poisson(np.exp(eta)),
    "negativebinomial": lambda eta, extra: stats.nbinom(1 / extra, 1 / (1 + extra * np.exp(eta))),
}


def log_density(name, ends, eta, extra=1.0, truncation=True):
    """log p of what is known of outcomes; `truncation=False` leaves its normaliser out.

    Parameters
    ----------
    name : str
        Of LAWS.
    ends : tuple of four arrays
        low, high, above and below, see `sgmc.arguments.data.limited`.
    eta, extra : array
        Linear predictor and auxiliary parameter.
    """
    law, discrete = LAWS[name](eta, extra), name != "ols"
    low, high, above, below = (np.asarray(one, dtype=float) for one in ends)
    density = (law.logpmf if discrete else law.logpdf)(np.where(np.isfinite(low), low, 0.0))
    value = np.where(low == high, density, probability(law, low, high, discrete))
    return value - probability(law, above, below, discrete) if truncation else value


def probability(law, low, high, discrete):
    """log P(low <= y <= high), by the tails that are small."""
    low = low - 1 if discrete else low
    with np.errstate(divide="ignore", invalid="ignore"):
        tails = law.cdf(high) - law.cdf(low), law.sf(low) - law.sf(high)
        within = np.log(np.where(law.cdf(low) < 0.5, *tails))
        one_sided = np.where(np.isinf(high), law.logsf(low), law.logcdf(high))
        none = np.isinf(high) & (law.cdf(low) == 0)
    return np.where(none, 0.0, np.where(np.isinf(low) | np.isinf(high), one_sided, within))


def counted(name, low, high, eta, extra=1.0):
    """The same of counts between two finite ends, added up one by one."""
    counts = np.arange(max(low, 0), high + 1)
    return special.logsumexp(LAWS[name](eta, extra).logpmf(counts))
