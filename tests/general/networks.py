"""Small neural networks and differences of functions."""

import numpy as np
import pytest

import sgmc

ACTIVATIONS = ("sigmoid", "tanh", "relu", "softmax")
OUTCOMES = ("softmax", "gaussian", "heteroscedastic", "poisson")


# five standard errors of 2,500 effective draws a side; in posterior sds, and relative
MEAN, SD = 0.1, 0.08

# of verdicts on runs as short as these
quiet = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def table(n=40, d=3, seed=0):
    """Inputs, and outcomes that any law takes: 0, 1, 2."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, 3, n).astype(float)


def network(outcome="softmax", n=40, several=False, **options):
    """A small one, of one outcome or of two."""
    X, y = table(n)
    if several:
        y = np.column_stack([y, np.random.default_rng(9).normal(size=n)])
    return sgmc.BNN(X, y, outcome=outcome, **{"hidden": (4, 3), **options})


def somewhere(model, seed=1):
    """A theta that is not special."""
    theta = np.random.default_rng(seed).normal(size=model.layout().size) * 0.7
    if model.outcome == "gaussian":
        theta[model.layout().slices["sigma"]] = 0.8
    return theta


def slopes(function, theta):
    """The gradient by central differences."""
    return np.array(
        [(function(theta + h) - function(theta - h)) / 2e-6 for h in 1e-6 * np.eye(len(theta))]
    )
