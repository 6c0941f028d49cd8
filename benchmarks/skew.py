"""Draws of the Laplace approximation with and without the posterior's skewness, beside the truth.

    python benchmarks/skew.py

Four posteriors of few rows.  `laplace` draws the Gaussian at the mode; with ``skew=True`` each draw
is mirrored at the mode with the probability that the two densities there give (Pozza, Durante &
Szabo 2024, arXiv:2409.14167).  The truth are means, sds and quantiles of 400,000 importance draws
from a multivariate t with 5 degrees of freedom.  Printed: the largest error of a mean, in sds, and
of an sd; and how far the mass below and above 95 % intervals is from 0.025, at most and on average.
"""

import numpy as np
from scipy.special import expit

import sgmc

DRAWS, EXACT, DF = 50_000, 400_000, 5


def small_logit():
    """A logit of 30 rows."""
    rng = np.random.default_rng(0)
    X = np.c_[np.ones(30), rng.normal(size=(30, 3))]
    y = (rng.random(30) < expit(X @ [0.5, 1, -1, 0])).astype(float)
    return Regression(X, y, lambda eta: np.logaddexp(0, eta), expit)


def separated():
    """A logit of 200 rows, with a level of which no outcome is 1."""
    rng = np.random.default_rng(1)
    X = np.c_[np.ones(200), rng.normal(size=200), rng.random(200) < 0.05]
    y = (rng.random(200) < expit(X @ [-1, 0.5, 0])) * (X[:, 2] == 0.0)
    return Regression(X, y, lambda eta: np.logaddexp(0, eta), expit)


def counts():
    """A Poisson regression of 20 rows with a mean of 0.4."""
    rng = np.random.default_rng(2)
    X = np.c_[np.ones(20), rng.normal(size=(20, 2))]
    return Regression(X, rng.poisson(np.exp(-1 + 0.3 * X[:, 1])), np.exp, np.exp)


class Regression(sgmc.Model):
    """A canonical regression with N(0, 2.5^2) coefficients, of a cumulant and its slope."""

    prior = sgmc.normal(0, 2.5)

    def __init__(self, X, y, cumulant, mean):
        self.X, self.y, self.cumulant, self.mean = X, np.asarray(y, dtype=float), cumulant, mean
        self.n, self.parameters = len(y), {"b": (X.shape[1],)}

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        eta = self.X[rows] @ theta["b"]
        return float((self.y[rows] * eta - self.cumulant(eta)).sum())

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        X = self.X[rows]
        return {"b": X.T @ (self.y[rows] - self.mean(X @ theta["b"]))}

    def log_posterior(self, b):
        """At points (points, d)."""
        eta = b @ self.X.T
        return eta @ self.y - self.cumulant(eta).sum(axis=1) - (b**2).sum(axis=1) / 12.5


class LogRates(sgmc.Model):
    """A user's density: logs of two rates with gamma(2) and gamma(4) posteriors, tied together."""

    n, prior, parameters = 1, "flat", {"b": (2,)}
    shape, rate = np.array([2.0, 4.0]), np.array([1.0, 3.0])

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        return float(self.log_posterior(theta["b"][None])[0])

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        b = theta["b"]
        return {"b": self.shape - self.rate * np.exp(b) - np.array([1, -1]) * (b[0] - b[1])}

    def log_posterior(self, b):
        """At points (points, d)."""
        own = b @ self.shape - np.exp(b) @ self.rate
        return own - 0.5 * (b[:, 0] - b[:, 1]) ** 2


TARGETS = {
    "logit, 30 rows": small_logit,
    "logit, separated": separated,
    "poisson, 20 rows": counts,
    "log rates": LogRates,
}


def exact(model, draws):
    """Points and weights of the posterior, by importance sampling around Gaussian draws."""
    rng, d = np.random.default_rng(3), draws.shape[1]
    root = np.linalg.cholesky(np.cov(draws.T))
    z = rng.normal(size=(EXACT, d)) / np.sqrt(rng.chisquare(DF, EXACT) / DF)[:, None]
    at = draws.mean(axis=0) + 1.2 * z @ root.T
    log_p = np.concatenate([model.log_posterior(some) for some in np.array_split(at, 40)])
    log_w = log_p + (DF + d) / 2 * np.log1p((z**2).sum(axis=1) / DF)
    w = np.exp(log_w - log_w.max())
    return at, w / w.sum()


def errors(draws, at, w):
    """Largest errors of means and sds; largest and mean departure of tail masses from 0.025."""
    mean = w @ at
    sd = np.sqrt(w @ (at - mean) ** 2)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    tails = np.abs(np.concatenate([w @ (at < low), w @ (at > high)]) - 0.025)
    return (
        np.abs((draws.mean(axis=0) - mean) / sd).max(),
        np.abs(draws.std(axis=0) / sd - 1).max(),
        tails.max(),
        tails.mean(),
    )


def drawn(model, skew):
    """Draws of the approximation."""
    done = model.fit(sampler=sgmc.Laplace(skew=skew), draws=DRAWS // 4, chains=4, seed=1)
    return done.draws.reshape(-1, done.draws.shape[-1])


if __name__ == "__main__":
    print(f"{'':18}{'skew':>6}{'mean':>8}{'sd':>8}{'tails: most':>13}{'mean':>8}")
    for name, make in TARGETS.items():
        model, found = make(), {}
        for skew in (False, True):
            draws = drawn(model, skew)
            found.setdefault("exact", exact(model, draws))
            cells = errors(draws, *found["exact"])
            print(f"{name:18}{skew!s:>6}" + "{:8.3f}{:8.3f}{:13.3f}{:8.3f}".format(*cells))
