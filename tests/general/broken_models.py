"""Twenty-five ways to get a model wrong, and what a user reads.

Each is a linear regression with one mistake.  ``python -m tests.general.broken_models`` prints all
messages; `test_broken_models` holds them to their key words.
"""

import warnings

import numpy as np
import pandas as pd

import sgmc

N = 200
SHORT = dict(seed=1, draws=500, warmup=100, chains=2)
BATCHES = dict(
    sampler="sgld", step_size=1e-4, batch_size=50, gradient="simple", init=[1.0, -0.5, 0.8]
)


class Right(sgmc.Model):
    """y ~ N(X b, sigma^2)."""

    parameters = {"b": 2, "sigma": ()}
    constraints = {"sigma": "positive"}
    prior = {"b": sgmc.normal(0, 2), "sigma": sgmc.exponential(1)}
    n = N
    how = {}

    def __init__(self):
        random = np.random.default_rng(0)
        self.X = np.column_stack([np.ones(N), random.normal(size=N)])
        self.y = self.X @ [1.0, -0.5] + 0.8 * random.normal(size=N)

    def log_lik(self, theta, rows):
        """Log density of rows."""
        e = (self.y[rows] - self.X[rows] @ theta["b"]) / theta["sigma"]
        return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])

    def grad(self, theta, rows):
        """Its gradient."""
        s = theta["sigma"]
        e = (self.y[rows] - self.X[rows] @ theta["b"]) / s
        return {"b": self.X[rows].T @ e / s, "sigma": (e @ e - len(e)) / s}


class FactorInGradient(Right):
    """One component is 30 % too large."""

    def grad(self, theta, rows):
        g = super().grad(theta, rows)
        return {**g, "sigma": 1.3 * g["sigma"]}


class SignOfGradient(Right):
    """The gradient of minus the log density."""

    def grad(self, theta, rows):
        return {name: -one for name, one in super().grad(theta, rows).items()}


class ComponentOfGradient(Right):
    """One number of one component is forgotten."""

    def grad(self, theta, rows):
        g = super().grad(theta, rows)
        return {**g, "b": g["b"] * [1, 0]}


class PriorInGradient(Right):
    """The prior's gradient is in `grad`, and added again by the fit."""

    def grad(self, theta, rows):
        g = super().grad(theta, rows)
        return {"b": g["b"] - theta["b"] / 4, "sigma": g["sigma"] - 1}


class PriorInBoth(Right):
    """The prior is in `log_lik` and `grad`, once for each batch."""

    def log_lik(self, theta, rows):
        b = theta["b"]
        return super().log_lik(theta, rows) - b @ b / 8 - theta["sigma"]

    def grad(self, theta, rows):
        g = super().grad(theta, rows)
        return {"b": g["b"] - theta["b"] / 4, "sigma": g["sigma"] - 1}


class RowsIgnored(Right):
    """All rows, whatever is asked for."""

    def log_lik(self, theta, rows):
        return super().log_lik(theta, slice(None))

    def grad(self, theta, rows):
        return super().grad(theta, slice(None))


class Rescaled(Right):
    """Batches are scaled to all rows, which the fit does too."""

    def log_lik(self, theta, rows):
        return super().log_lik(theta, rows) * N / len(self.y[rows])

    def grad(self, theta, rows):
        return {k: one * N / len(self.y[rows]) for k, one in super().grad(theta, rows).items()}


class NoneReturned(Right):
    """The return is missing."""

    def log_lik(self, theta, rows):
        super().log_lik(theta, rows)


class KeyMissing(Right):
    """The gradient has no sigma."""

    def grad(self, theta, rows):
        return {"b": super().grad(theta, rows)["b"]}


class KeyTooMany(Right):
    """The gradient has a parameter that there is not."""

    def grad(self, theta, rows):
        return {**super().grad(theta, rows), "tau": 0.0}


class WrongShape(Right):
    """A gradient a row."""

    def grad(self, theta, rows):
        e = (self.y[rows] - self.X[rows] @ theta["b"]) / theta["sigma"] ** 2
        return {**super().grad(theta, rows), "b": self.X[rows] * e[:, None]}


class OneNumberARow(Right):
    """The log densities of rows, not their sum."""

    def log_lik(self, theta, rows):
        return -0.5 * (self.y[rows] - self.X[rows] @ theta["b"]) ** 2


class Complex(Right):
    """A power of a negative number."""

    def log_lik(self, theta, rows):
        return super().log_lik(theta, rows) + 0j


class NanAtStart(Right):
    """The log of a negative number."""

    def log_lik(self, theta, rows):
        with np.errstate(invalid="ignore"):
            return super().log_lik(theta, rows) + np.log(theta["b"][0] - 100)


class NanSometimes(Right):
    """A root that half of the posterior has not, with minibatches."""

    how, scaled = BATCHES, False

    def grad(self, theta, rows):
        g = super().grad(theta, rows)
        with np.errstate(invalid="ignore"):
            return {**g, "sigma": g["sigma"] + 0 * np.sqrt(1.02 - theta["b"][0])}


class NanBeyond(Right):
    """A root that half of the posterior has not, with an exact sampler."""

    how = dict(sampler="mala")

    def log_lik(self, theta, rows):
        with np.errstate(invalid="ignore"):
            return super().log_lik(theta, rows) + 0 * np.sqrt(1.0 - theta["b"][0])


class RaisesSometimes(Right):
    """An exception somewhere in the posterior."""

    how, scaled = BATCHES, False

    def grad(self, theta, rows):
        if 1.02 < theta["b"][0] < 1.1:
            raise ZeroDivisionError("float division by zero")
        return super().grad(theta, rows)


class NoneSometimes(Right):
    """A branch without a return."""

    how, scaled = BATCHES, False

    def grad(self, theta, rows):
        return None if 1.02 < theta["b"][0] < 1.1 else super().grad(theta, rows)


class ImpossibleEverywhere(Right):
    """A density of zero everywhere."""

    def log_lik(self, theta, rows):
        return -np.inf


class Text(Right):
    """A formatted number."""

    def log_lik(self, theta, rows):
        return f"{super().log_lik(theta, rows):.3f}"


class ChangesTheta(Right):
    """Standardises the coefficients in place."""

    def log_lik(self, theta, rows):
        theta["b"] *= 2.0
        return super().log_lik(theta, rows)


class RandomNumbers(Right):
    """An estimate of the log density by simulation."""

    def log_lik(self, theta, rows):
        return super().log_lik(theta, rows) + np.random.normal()


class Overflow(Right):
    """Counts of eight bits, whose sum overflows."""

    def log_lik(self, theta, rows):
        counts = np.full(N, 7, dtype=np.int8)[rows]
        return super().log_lik(theta, rows) + float(counts @ counts) * theta["b"][0]

    def grad(self, theta, rows):
        g = super().grad(theta, rows)
        counts = np.full(N, 7, dtype=np.int8)[rows]
        return {**g, "b": g["b"] + [float(counts @ counts), 0.0]}


class Misaligned(Right):
    """Outcomes in a pandas Series, sorted: by label and by position they differ."""

    def __init__(self):
        super().__init__()
        self.y = pd.Series(self.y).sort_values()


class PriorByHand(Right):
    """The gradient of a prior by hand has the wrong sign."""

    prior = None

    def log_prior(self, theta):
        """Normal and exponential."""
        return -0.125 * theta["b"] @ theta["b"] - theta["sigma"]

    def grad_log_prior(self, theta):
        """Its gradient, nearly."""
        return {"b": theta["b"] / 4, "sigma": -1.0}


MODELS = {cls.__name__: cls for cls in Right.__subclasses__()}


def message(cls):
    """What a fit of a broken model raises or warns of, as a user reads it: (kind, text)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sgmc.errors.SGMCWarning)
        try:
            cls().fit(**SHORT, **cls.how)
        except Exception as error:
            return type(error), "\n".join([str(error), *getattr(error, "__notes__", ())])
    first = [one for one in caught if issubclass(one.category, sgmc.errors.SGMCWarning)][:1]
    return (first[0].category, str(first[0].message)) if first else (None, "")


if __name__ == "__main__":
    for number, (name, cls) in enumerate(MODELS.items(), 1):
        kind, text = message(cls)
        print(f"{number}. {name}: {cls.__doc__}\n{kind and kind.__name__}: {text}\n")
