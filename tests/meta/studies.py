"""Estimates of studies that textbooks print, and the posterior of a random-effects meta-analysis
by quadrature.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special, stats

# Rubin (1981), doi:10.3102/10769986006004377: effects of coaching in eight schools
SCHOOLS = pd.DataFrame(
    {
        "effect": [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0],
        "se": [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0],
        "study": list("ABCDEFGH"),
    }
)
# Colditz et al. (1994), doi:10.1001/jama.1994.03510330076038: tuberculosis cases and the rest,
# vaccinated first; trials in the order of Berkey et al. (1995)
TRIALS = np.array(
    [
        (4, 119, 11, 128),
        (6, 300, 29, 274),
        (3, 228, 11, 209),
        (62, 13536, 248, 12619),
        (33, 5036, 47, 5761),
        (180, 1361, 372, 1079),
        (8, 2537, 10, 619),
        (505, 87886, 499, 87892),
        (29, 7470, 45, 7232),
        (17, 1699, 65, 1600),
        (186, 50448, 141, 27197),
        (5, 2493, 3, 2338),
        (27, 16886, 29, 17825),
    ]
)


def vaccine():
    """Log risk ratios of the trials, and their standard errors."""
    a, b, c, d = TRIALS.T.astype(float)
    return pd.DataFrame(
        {
            "effect": np.log(a / (a + b)) - np.log(c / (c + d)),
            "se": np.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)),
            "study": np.arange(len(a)),
        }
    )


@dataclass(frozen=True)
class Exact:
    """Means and sds of the posterior: of mu, of tau, and of each study's true effect."""

    mu: tuple
    tau: tuple
    effects: tuple


def exact(frame, half_t=True, factor=1.0, points=1500):
    """The posterior with the default priors, mu ~ N(mean(y), (2.5 sd(y))^2) and tau ~ half-t(3, 0,
    2.5 sd(y)), on a grid of tau; given tau, mu and the effects are normal.

    Parameters
    ----------
    frame : DataFrame
    half_t : bool
        False: a mistake, tau without its prior, flat up to the end of the grid.
    factor : float
        Of the standard errors; another mistake.
    points : int
        Of the grid, which is even in log(1 + tau) and ends at 60 sds of the outcomes.
    """
    y, variance = frame.effect.to_numpy(), (factor * frame.se.to_numpy()) ** 2
    unit = y.std()
    tau = np.expm1(np.linspace(0, np.log1p(60.0), points)) * unit
    width = np.gradient(tau)
    total = variance + tau[:, None] ** 2
    precision = (1 / total).sum(axis=1) + 1 / (2.5 * unit) ** 2
    mean = ((y / total).sum(axis=1) + y.mean() / (2.5 * unit) ** 2) / precision
    away = (y**2 / total).sum(axis=1) + y.mean() ** 2 / (2.5 * unit) ** 2 - mean**2 * precision
    log_p = -0.5 * (np.log(total).sum(axis=1) + np.log(precision) + away)
    if half_t:
        log_p = log_p + stats.t(3, scale=2.5 * unit).logpdf(tau)
    mass = np.exp(log_p - special.logsumexp(log_p + np.log(width))) * width
    # theta_j given tau: between the outcome and mu, and as much wider as mu is uncertain
    shrunk = tau[:, None] ** 2 / total
    centre = shrunk * y + (1 - shrunk) * mean[:, None]
    spread = shrunk * variance + (1 - shrunk) ** 2 / precision[:, None]
    return Exact(
        moments(mass, mean, 1 / precision),
        moments(mass, tau, 0.0 * tau),
        moments(mass, centre, spread),
    )


def moments(mass, mean, variance):
    """Mean and sd of a mixture of laws with these masses, means and variances."""
    whole = mass @ mean
    return whole, np.sqrt(mass @ (variance + mean**2) - whole**2)
