"""Posteriors with known modes."""

import warnings

import numpy as np

import sgmc
from sgmc.errors import SGMCWarning
from sgmc.fit.settings import check_settings


class TwoNormals(sgmc.Model):
    """w N(at, 1) + (1 - w) N(-at, sd^2), in d dimensions."""

    n, prior = 1, "flat"

    def __init__(self, d=1, weight=0.5, at=4.0, sd=1.0):
        self.parameters = {"x": (d,)}
        self.weight, self.at, self.sd = weight, at, sd

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        x = theta["x"]
        right = -0.5 * np.sum((x - self.at) ** 2)
        left = -0.5 * np.sum((x + self.at) ** 2) / self.sd**2 - len(x) * np.log(self.sd)
        return np.logaddexp(np.log(self.weight) + right, np.log1p(-self.weight) + left)


class Scaled(sgmc.Model):
    """N(0, 2^2), not a number beyond 3; with or without the Gaussian approximation."""

    n, parameters, prior = 1, {"x": ()}, sgmc.normal(0, 100)
    start = {"x": 0.5}

    def __init__(self, scaled):
        self.scaled = scaled

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        return -0.125 * theta["x"] ** 2 if abs(theta["x"]) < 3 else np.nan


def problem(model, prior=None, **how):
    """The posterior in sampler coordinates, and the settings of its fit."""
    usual = model.usual() if isinstance(model, sgmc.Model) else {}
    settings = check_settings(**{**usual, "seed": 1, **how})
    return model.problem(prior, settings), settings


def quiet(model, **how):
    """A fit whose warnings do not matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return model.fit(**{"seed": 1, "draws": 50, **how})


def searched(model, seed=1, prior=None):
    """What a search from several starts finds."""
    return problem(model, prior, seed=seed, modes="search")[0].searched


def clusters(n=20, gap=10.0):
    """Outcomes in two clusters, and their design."""
    random = np.random.default_rng(0)
    y = np.where(np.arange(n) < n / 2, 0, gap) + random.normal(size=n)
    return y, np.ones((n, 1))


def regression(family, n=300):
    """Outcomes of a family with one mode, and their design."""
    random = np.random.default_rng(0)
    X = np.column_stack([np.ones(n), random.normal(size=(n, 2))])
    eta = X @ [0.3, 0.5, -0.5]
    outcomes = {
        "Logit": lambda: (eta + random.logistic(size=n) > 0).astype(float),
        "Poisson": lambda: random.poisson(np.exp(eta)).astype(float),
        "OLS": lambda: eta + random.normal(size=n),
    }
    return getattr(sgmc, family)(outcomes[family](), X)
