"""Posteriors of small logits against quadrature and importance sampling done here,
with numpy and scipy alone.

A fit agrees if every mean is within 0.1 posterior sd and every sd within 5 %, what the package
promises, plus four Monte Carlo standard errors: with some 200 comparisons at fixed seeds, one in
16,000 by chance.  Mistakes planted in the reference must be rejected by the same rule.
"""

import numpy as np
import pandas as pd
from scipy import optimize, special, stats

from tests.prior_scales import prior_scales

FLAT = None


def expected(X, y, priors, weights=1.0, offset=0.0, centre=0.0):
    """Posterior means and sds of a logit with one or two coefficients,
    by quadrature on a grid wide enough to hold it.

    `priors` are scipy distributions (or FLAT) of the coefficients; the first is of theta_0 +
    centre * theta_1.
    """
    X, d = np.asarray(X, dtype=float), np.shape(X)[1]

    def log_posterior(theta):
        eta = theta @ X.T + offset
        seen = theta.copy()
        if d == 2:
            seen[..., 0] += centre * theta[..., 1]
        prior = sum(p.logpdf(seen[..., j]) for j, p in enumerate(priors) if p is not FLAT)
        return (weights * (y * eta - np.logaddexp(0, eta))).sum(axis=-1) + prior

    def margins(low, high, size):
        axes = [np.linspace(a, b, size) for a, b in zip(low, high)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        density = np.concatenate([log_posterior(part) for part in np.array_split(grid, 20)])
        density = np.exp(density - density.max())
        sums = [density.sum(axis=tuple(k for k in range(d) if k != j)) for j in range(d)]
        return axes, [m / m.sum() for m in sums]

    mode = optimize.minimize(
        lambda t: -log_posterior(t), np.zeros(d), method="Nelder-Mead", options={"maxiter": 2000}
    ).x
    low, high = mode - 1.0, mode + 1.0
    for _ in range(30):  # widen and narrow until the tails are just inside
        axes, weight = margins(low, high, 61)
        held = [np.flatnonzero(m > 1e-9)[[0, -1]] for m in weight]
        if all(a > 0 and b < 60 and b - a > 20 for a, b in held):
            break
        for j, (a, b) in enumerate(held):
            width = axes[j][b] - axes[j][a] + 2 * (axes[j][1] - axes[j][0])
            low[j] = axes[j][a] - (0.5 if a == 0 else 0.05) * width
            high[j] = axes[j][b] + (0.5 if b == 60 else 0.05) * width
    else:
        raise AssertionError("the grid does not hold the posterior")
    axes, weight = margins(low, high, 201)
    mean = np.array([a @ m for a, m in zip(axes, weight)])
    return mean, np.sqrt([(a - t) ** 2 @ m for a, t, m in zip(axes, mean, weight)])


def departure(results, reference):
    """The largest error of a mean or an sd over what is allowed; below 1 is agreement."""
    mean, sd = reference
    error, sd_error = results.mcse().to_numpy(), results.mcse("sd").to_numpy()
    assert (error < 0.05 * sd).all() and (sd_error < 0.03 * sd).all(), (
        "too few draws for the comparison to mean anything"
    )
    return max(
        (np.abs(results.params - mean) / (0.1 * sd + 4 * error)).max(),
        (np.abs(results.bse - sd) / (0.05 * sd + 4 * sd_error)).max(),
    )


def outcomes(eta, seed):
    """Bernoulli outcomes of linear predictors."""
    return (np.random.default_rng(seed).random(len(eta)) < special.expit(eta)).astype(int)


def table(n, truth=(-0.4, 0.9), shift=0.0, seed=0):
    """A frame with columns y and x, x having mean about `shift`."""
    x = np.random.default_rng([seed, n]).normal(shift, 1, n)
    return pd.DataFrame({"y": outcomes(truth[0] + truth[1] * (x - shift), seed), "x": x})


def with_ones(x):
    """The design of an intercept and x."""
    return np.column_stack([np.ones(len(x)), x])


def default_priors(x):
    """Those of the package: N(0, 2.5) for the intercept at the mean of x; for the slope N(0, 2.5),
    divided by sd(x) where x is no column of 0 and 1.
    """
    scale = prior_scales(np.asarray(x)[:, None])[0]
    return [stats.norm(0, 2.5), stats.norm(0, 2.5 / scale)]
