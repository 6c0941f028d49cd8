"""Models for tests: one that is right, in numpy, ways to break it,
and constrained ones of known posteriors.
"""

import numpy as np
from _ext.toy_densities import Rates
from scipy import stats

import sgmc

N = 400


def table(n=N, seed=0):
    """Predictors and outcomes of a linear regression with unknown sigma."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.normal(size=n)])
    return X, X @ [1.0, -0.5] + 0.8 * rng.normal(size=n)


class Line(sgmc.Model):
    """y ~ N(X b, sigma^2), with gradient."""

    parameters = {"b": 2, "sigma": ()}
    constraints = {"sigma": "positive"}
    prior = {"b": sgmc.normal(0, 2), "sigma": sgmc.exponential(1)}

    def __init__(self, n=N):
        self.X, self.y = table(n)
        self.n = n

    def log_lik(self, theta, rows):
        e = (self.y[rows] - self.X[rows] @ theta["b"]) / theta["sigma"]
        return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])

    def grad(self, theta, rows):
        X, s = self.X[rows], theta["sigma"]
        e = (self.y[rows] - X @ theta["b"]) / s
        return {"b": X.T @ e / s, "sigma": (e @ e - len(e)) / s}


class WithoutGradient(sgmc.Model):
    """The same, by finite differences."""

    parameters, constraints, prior = Line.parameters, Line.constraints, Line.prior
    __init__, log_lik = Line.__init__, Line.log_lik


class WrongGradient(Line):
    """One coordinate of the gradient has the wrong sign."""

    def grad(self, theta, rows):
        g = Line.grad(self, theta, rows)
        return {**g, "sigma": -g["sigma"]}


class Mean(Line):
    """The mean over rows, not the sum."""

    def log_lik(self, theta, rows):
        e = (self.y[rows] - self.X[rows] @ theta["b"]) / theta["sigma"]
        return -0.5 * np.mean(e**2) - np.log(theta["sigma"])

    def grad(self, theta, rows):
        g = Line.grad(self, theta, rows)
        return {name: one / len(self.y[rows]) for name, one in g.items()}


class Deaf(Line):
    """All rows, whatever is asked for."""

    def log_lik(self, theta, rows):
        return Line.log_lik(self, theta, slice(0, self.n))

    def grad(self, theta, rows):
        return Line.grad(self, theta, slice(0, self.n))


class Noisy(Line):
    """Draws random numbers."""

    def log_lik(self, theta, rows):
        return Line.log_lik(self, theta, rows) + np.random.normal()


class Infinite(Line):
    """Not finite where chains begin."""

    def log_lik(self, theta, rows):
        return np.log(theta["b"][0] - 100.0) + Line.log_lik(self, theta, rows)


class Shapeless(Line):
    """A gradient of another shape."""

    def grad(self, theta, rows):
        return np.zeros(2)


class Rowwise(Line):
    """One number a row, not their sum."""

    def log_lik(self, theta, rows):
        return -0.5 * (self.y[rows] - self.X[rows] @ theta["b"]) ** 2


class Single(Line):
    """Single precision."""

    def log_lik(self, theta, rows):
        return np.float32(Line.log_lik(self, theta, rows))


class Misnamed(Line):
    """A prior of a parameter that there is not."""

    prior = {"beta": sgmc.normal(0, 1)}


class Crashing(Line):
    """Raises in the middle of a run."""

    def grad(self, theta, rows):
        if theta["b"][1] < -0.6:
            raise ZeroDivisionError("of the user's own")
        return Line.grad(self, theta, rows)


class Poissons(sgmc.Model):
    """Counts with rates that have gamma priors: independent gamma posteriors,
    by a compiled model.
    """

    parameters = {"rate": 3}
    constraints = {"rate": "positive"}
    prior = sgmc.gamma(2, rate=2)

    def __init__(self):
        self.y = np.random.default_rng(1).poisson([0.3, 1.0, 2.0], (8, 3))
        self.n = 8

    def kernel(self):
        return Rates(self.y)

    def exact(self):
        a, rate = 2 + self.y.sum(axis=0), 2 + self.n
        return a / rate, np.sqrt(a) / rate


class Kinds(sgmc.Model):
    """Kinds with a Dirichlet prior."""

    parameters = {"w": 4}
    constraints = {"w": "simplex"}
    prior = sgmc.dirichlet(2)

    def __init__(self):
        self.y, self.n = np.eye(4)[np.repeat([0, 1, 2], [3, 6, 1])], 10

    def log_lik(self, theta, rows):
        return self.y[rows].sum(axis=0) @ np.log(theta["w"])

    def grad(self, theta, rows):
        return {"w": self.y[rows].sum(axis=0) / theta["w"]}

    def exact(self):
        law = stats.dirichlet(2 + self.y.sum(axis=0))
        return law.mean(), np.sqrt(law.var())


class Coin(sgmc.Model):
    """Throws of a coin, from 0.2 to 1: a beta posterior, cut off."""

    parameters = {"p": ()}
    constraints = {"p": ("interval", 0.2, 1.0)}

    def __init__(self):
        self.y, self.n = np.repeat([1.0, 0.0], [3, 7]), 10

    def log_lik(self, theta, rows):
        y = self.y[rows]
        return y.sum() * np.log(theta["p"]) + (1 - y).sum() * np.log1p(-theta["p"])

    def grad(self, theta, rows):
        y = self.y[rows]
        return np.array([y.sum() / theta["p"] - (1 - y).sum() / (1 - theta["p"])])

    def exact(self):
        p = np.linspace(0.2, 1.0, 100_001)
        weight = p**3 * (1 - p) ** 7
        mean = np.average(p, weights=weight)
        return np.array([mean]), np.sqrt([np.average((p - mean) ** 2, weights=weight)])


class Pair(sgmc.Model):
    """The smaller and the larger of two standard normal numbers: a prior alone."""

    parameters = {"t": 2}
    constraints = {"t": "ordered"}
    prior = sgmc.normal(0, 1)
    n = 1

    def log_lik(self, theta, rows):
        return 0.0

    def grad(self, theta, rows):
        return np.zeros(2)

    def exact(self):
        return np.array([-1, 1]) / np.sqrt(np.pi), np.full(2, np.sqrt(1 - 1 / np.pi))


class Waits(Pair):
    """The shorter and the longer of two standard exponential times: a prior alone."""

    constraints = {"t": "positive_ordered"}
    prior = sgmc.exponential(1)

    def exact(self):
        return np.array([0.5, 1.5]), np.array([0.5, np.sqrt(1.25)])


class Ascending(Pair):
    """Two pairs of standard normal numbers, the one with the smaller first number first."""

    parameters = {"t": (2, 2)}
    constraints = {"t": "ascending"}

    def grad(self, theta, rows):
        return np.zeros(4)

    def exact(self):
        return np.array([-1, 0, 1, 0]) / np.sqrt(np.pi), np.sqrt(
            [1 - 1 / np.pi, 1, 1 - 1 / np.pi, 1]
        )


class Mirrored(Kinds):
    """The same kinds in other coordinates."""

    constraints = {"w": "mirrored"}


CONJUGATE = {
    model.__name__: model for model in (Poissons, Kinds, Mirrored, Coin, Pair, Waits, Ascending)
}


def departures(model, **arguments):
    """Errors of means, in posterior sds, and of sds, relative."""
    results = model.fit(seed=1, **arguments)
    mean, sd = model.exact()
    return np.abs(results.params.to_numpy() - mean).max() / sd.min(), np.abs(
        results.bse.to_numpy() / sd - 1
    ).max()
