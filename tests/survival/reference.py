"""Posteriors of survival regressions by importance sampling in plain numpy and scipy, and maximum
likelihood by R.
"""

import numpy as np

from sgmc.arguments.data.survival import logs_of
from tests.prior_scales import prior_scales

from ..importance import in_units_of_the_last
from .tables import log_density


def posterior(law, X, y, draws, *, prior=1.0, jacobian=1.0, size=25_000):
    """Means and sds of coefficients and sigma, and the effective size of the reference.

    Parameters
    ----------
    law : str
    X : array (n, d)
        With an intercept first.
    y : array (n,)
        As `Surv` has it.
    draws : array (m, d + 1)
        Where the search for the mode begins, and no more.
    prior, jacobian : float
        0 leaves the priors, or the Jacobian of log sigma, out: mistakes.
    size : int
        Draws from t's with 5 degrees of freedom, of coefficients in units of sigma.

    Notes
    -----
    The prior is N(0, 2.5 u / sd(x)) of slopes, N(mean, 2.5 u) of the intercept at centred
    predictors and an exponential one of sigma with mean u, u being the sd of the log times.
    """
    d, logs = X.shape[1], logs_of(y)
    unit = logs.std()
    # of equal outcomes and equal predictors one is computed
    rows, count = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    A, times = rows[:, :d].real, rows[:, d]

    def log_posterior(theta):
        sigma = np.exp(theta[:, d:])
        value = log_density(law, times, theta[:, :d] @ A.T, sigma) @ count
        slopes = theta[:, 1:d] * prior_scales(X[:, 1:]) / (2.5 * unit)
        intercept = (theta[:, :d] @ X.mean(axis=0) - logs.mean()) / (2.5 * unit)
        known = -0.5 * (slopes**2).sum(axis=1) - 0.5 * intercept**2 - sigma[:, 0] / unit
        return value + prior * known + jacobian * theta[:, d]

    found = np.hstack([draws[:, :d], np.log(draws[:, d:])])
    return in_units_of_the_last(log_posterior, found, 1.0, size)


R = """
library(survival)
frame <- read.csv("{path}")
fit <- survreg({formula}, frame, dist = "{law}")
cat(format(c(coef(fit), {scale}, sqrt(diag(vcov(fit))), fit$loglik[2]), digits = 12))
"""
R_FORMULAS = {
    "right": "Surv(time, event) ~ a + b",
    "left": "Surv(time, event, type = 'left') ~ a + b",
    # R's missing ends: a lower one of 0 is before the first visit, an upper one no later visit
    "interval": (
        "Surv(ifelse(lower == 0, NA, lower), ifelse(is.infinite(upper), NA, upper), "
        "type = 'interval2') ~ a + b"
    ),
}


def by_r(law, kind, path):
    """Code for R: coefficients, log scale, their standard errors, and the log likelihood."""
    scale = "log(fit$scale)" if law != "exponential" else "NULL"
    return R.format(path=path, formula=R_FORMULAS[kind], law=law, scale=scale)
