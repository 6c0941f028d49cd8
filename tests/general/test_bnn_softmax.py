"""Networks with softmax hidden units: their posterior by importance sampling, and default fits."""

import numpy as np
import pytest

import sgmc

from .networks import MEAN, SD, quiet

AT = np.linspace(-1.5, 1.5, 5)[:, None]
SHAPES = {"W1": (1, 2), "b1": (2,), "W2": (2, 2), "b2": (2,)}


def few():
    """Twelve rows of two classes."""
    x = np.linspace(-1.5, 1.5, 12)
    return x[:, None], (np.sin(2 * x) > 0).astype(int)


def log_odds(theta, x):
    """Of the second class at inputs x (n, 1), by draws (k, 10), with numpy alone: (k, n)."""
    parts = np.split(theta, np.cumsum([int(np.prod(shape)) for shape in SHAPES.values()])[:-1], 1)
    W1, b1, W2, b2 = (
        part.reshape(-1, *shape) for part, shape in zip(parts, SHAPES.values(), strict=True)
    )
    z = x[None] * W1 + b1[:, None]
    a = np.exp(z) / np.exp(z).sum(axis=2, keepdims=True)
    eta = a @ W2 + b2[:, None]
    return eta[..., 1] - eta[..., 0]


@pytest.fixture(scope="module")
def exact():
    """Posterior means and sds of the log-odds: 400,000 draws of the prior, weighed by their
    likelihood, worth some 8,600 of the posterior.
    """
    x, y = few()
    theta = np.random.default_rng(0).normal(size=(400_000, 10))
    w = np.exp(-np.logaddexp(0, -(2 * y - 1) * log_odds(theta, x)).sum(axis=1))
    w /= w.sum()
    assert 1 / (w @ w) > 8_000
    found = log_odds(theta, AT)
    mean = w @ found
    return mean, np.sqrt(w @ (found - mean) ** 2)


def off(results, exact):
    """Largest errors of means, in posterior sds, and of sds, relative."""
    p = results.outputs(AT)
    found, (mean, sd) = np.log(p[..., 1] / p[..., 0]), exact
    return np.abs((found.mean(axis=0) - mean) / sd).max(), np.abs(found.std(axis=0) / sd - 1).max()


def fitted(activation="softmax", **how):
    """A small network."""
    model = sgmc.BNN(*few(), hidden=(2,), activation=activation, scale=None)
    return model.fit(**{"seed": 1, "threads": 1, **how})


@quiet
def test_the_posterior_by_importance_sampling(exact):
    """The default, `hmc`: 4,000 draws, of which at least 1,000 are effective."""
    mean, sd = off(fitted(), exact)
    assert mean < MEAN and sd < SD


@pytest.mark.extended
@quiet
@pytest.mark.parametrize(
    "wrong", [dict(activation="sigmoid"), dict(prior=sgmc.normal(0, 1.5))], ids=str
)
def test_mistakes_are_seen(exact, wrong):
    mean, sd = off(fitted(**wrong), exact)
    assert mean > 2 * MEAN or sd > 2 * SD


@pytest.mark.extended
@quiet
def test_minibatches_have_that_posterior_too(exact):
    """Half of the rows at a step, and steps of 0.05; 2,000 effective draws and more."""
    how = dict(
        sampler="sghmc", gradient="simple", step_size=0.05, batch_size=6, thin=20, draws=3000
    )
    mean, sd = off(fitted(**how), exact)
    assert mean < 1.5 * MEAN and sd < 1.5 * SD


def three_classes(n=2500):
    """Rows of two inputs whose classes have bent borders."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 2))
    eta = np.column_stack(
        [np.zeros(n), 1.5 * np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1], X[:, 1] ** 2 - 1]
    )
    p = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    return X, (rng.random((n, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")  # of draws=1000, 1100 wanted
@pytest.mark.parametrize("data", [few, three_classes], ids=["12 rows", "2,500 rows"])
def test_the_default_fit_is_right_and_trusted(data):
    """Against `hmc` twice as long from other starts, at 20 places: log-odds of each class within
    0.2 sd, three of the errors that the verdict states, and sds within 20 %.
    """
    X, y = data()
    model = sgmc.BNN(X, y, hidden=(4,), activation="softmax")
    plain = model.fit(seed=1)
    long = model.fit(sampler="hmc", draws=2000, warmup=1000, seed=77)
    at = np.random.default_rng(9).normal(size=(20, X.shape[1]))

    def predicted(results):
        p = results.outputs(at)
        return np.log(p / (1 - p))

    found, wanted = predicted(plain), predicted(long)
    mean = np.abs(found.mean(axis=0) - wanted.mean(axis=0)) / wanted.std(axis=0)
    sd = np.abs(found.std(axis=0) / wanted.std(axis=0) - 1)
    print(f"\n{plain.verdict}\nmeans within {mean.max():.3f} sd, sds within {100 * sd.max():.1f} %")
    assert plain.verdict.trustworthy and long.verdict.trustworthy
    assert mean.max() < 0.2 and sd.max() < 0.2
