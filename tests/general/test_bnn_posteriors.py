"""Posteriors of neural networks and of their hyperparameters."""

import numpy as np
import pytest
from _ext import mistakes as _mistakes

import sgmc
from sgmc.core.engine import full
from sgmc.core.expansion import of_rows
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import Uniform

from .networks import MEAN, SD, network, quiet, slopes, somewhere

# ---- posteriors ----------------------------------------------------------------------------------


def departures(results, mean, sd):
    """Largest errors of means, in posterior sds, and of sds, relative, of draws (draw, number)."""
    return np.abs((results.mean(axis=0) - mean) / sd).max(), np.abs(
        results.std(axis=0) / sd - 1
    ).max()


@pytest.fixture(scope="module")
def straight():
    """Two classes that depend on three inputs."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    return X, (rng.random(120) < 1 / (1 + np.exp(-X @ [1.0, -0.5, 0.2] - 0.3))).astype(int)


@pytest.fixture(scope="module")
def logit(straight):
    """The differences of a softmax's weights have prior variances of two."""
    X, y = straight
    exog = np.column_stack([X, np.ones(len(X))])
    return sgmc.Logit(y, exog).fit(
        prior=sgmc.normal(0, np.sqrt(2)), sampler="mala", draws=4000, seed=1
    )


def differences(results):
    """Draws of the differences of two classes' weights and biases, the latter last."""
    W, b = results.draws_of("W1"), results.draws_of("b1")
    return np.concatenate([W[..., 1] - W[..., 0], b[..., 1:] - b[..., :1]], axis=-1).reshape(
        -1, W.shape[2] + 1
    )


def test_without_hidden_layers_it_is_a_logit(straight, logit):
    results = sgmc.BNN(*straight, hidden=(), scale=None).fit(sampler="mala", draws=4000, seed=1)
    mean, sd = departures(differences(results), logit.params, logit.bse)
    assert mean < MEAN and sd < SD


@pytest.mark.extended
@quiet
def test_piecewise_deterministic_samplers_take_it(straight, logit):
    """Whitened at the mode, where scores are none: paths of minibatches,
    whose own error is about the tolerance.
    """
    results = sgmc.BNN(*straight, hidden=(), scale=None).fit(
        sampler="sbps", batch_size=60, draws=1000, chains=2, seed=1
    )
    mean, sd = departures(differences(results), logit.params, logit.bse)
    assert mean < 2 * MEAN and sd < 2 * SD


@pytest.mark.extended
def test_a_dropped_prior_is_seen(straight, logit):
    how = dict(prior=sgmc.normal(0, 30), precondition=None, sampler="hmc", draws=1500, seed=1)
    results = sgmc.BNN(*straight, hidden=(), scale=None).fit(**how)
    mean, sd = departures(differences(results), logit.params, logit.bse)
    assert mean > MEAN


@pytest.mark.extended
@quiet
@pytest.mark.parametrize("sampler", ["sghmc", "sgld"])
def test_a_wrong_slope_is_seen(straight, logit, sampler, monkeypatch):
    """Weights whose gradients are halved; the biases' are right."""
    right = sgmc.BNN.kernel
    how = dict(
        sampler=sampler,
        gradient="cv",
        step_size=0.2,
        batch_size=60,
        draws=1500,
        thin=4 if sampler == "sghmc" else 10,
        seed=1,
    )
    results = sgmc.BNN(*straight, hidden=(), scale=None).fit(**how)
    # of steps as long as these, too
    assert max(departures(differences(results), logit.params, logit.bse)) < 1.5 * MEAN
    monkeypatch.setattr(sgmc.BNN, "kernel", lambda self: _mistakes.Bent(right(self), 6, 0.5))
    model = sgmc.BNN(*straight, hidden=(), scale=None)
    assert "grad is wrong for" in str(sgmc.check_model(model))
    model.checked = False
    assert max(departures(differences(model.fit(**how)), logit.params, logit.bse)) > 3 * MEAN


def test_without_hidden_layers_it_is_a_linear_regression():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = X @ [2.0, -1.0] + 0.5 + rng.normal(size=60)
    prior = {"*": sgmc.normal(0, 2), "sigma": sgmc.exponential(1)}
    results = sgmc.BNN(X, y, hidden=(), outcome="gaussian", scale=None).fit(
        prior=prior, sampler="mala", draws=4000, seed=1
    )
    exact = sgmc.OLS(y, np.column_stack([X, np.ones(60)])).fit(
        prior=prior, sampler="mala", draws=4000, seed=2
    )
    mean, sd = departures(results.draws.reshape(-1, 4), exact.params, exact.bse)
    assert mean < MEAN and sd < SD


class Plain(sgmc.Model):
    """A network of two tanh units for numbers, and its gradient, written with numpy alone."""

    parameters = {"W": (2,), "b": (2,), "V": (2,), "c": ()}
    prior = sgmc.normal(0, 1)
    scaled = False

    def __init__(self, x, y):
        self.x, self.y, self.n = x, y, len(y)

    def log_lik(self, theta, rows):
        a = np.tanh(np.outer(self.x[rows], theta["W"]) + theta["b"])
        return (
            self.y[rows] @ (a @ theta["V"] + theta["c"]) - np.exp(a @ theta["V"] + theta["c"]).sum()
        )

    def grad(self, theta, rows):
        x = self.x[rows]
        a = np.tanh(np.outer(x, theta["W"]) + theta["b"])
        e = self.y[rows] - np.exp(a @ theta["V"] + theta["c"])
        back = (e[:, None] * theta["V"]) * (1 - a**2)
        return {"W": x @ back, "b": back.sum(axis=0), "V": e @ a, "c": e.sum()}


@pytest.fixture(scope="module")
def bent():
    """Counts whose rates go up and down, and the posterior means and sds of their logs by
    `Plain`.
    """
    rng = np.random.default_rng(5)
    x = rng.uniform(-2, 2, 80)
    y = rng.poisson(np.exp(1 + np.sin(1.5 * x))).astype(float)
    results = Plain(x, y).fit(sampler=sgmc.HMC(target_accept=0.9), draws=700, seed=2)
    W, b, V, c = (results.draws_of(name).reshape(2800, -1) for name in ("W", "b", "V", "c"))
    at = np.linspace(-2, 2, 5)
    log_rate = (np.tanh(at[:, None, None] * W + b) * V).sum(axis=2).T + c
    return x[:, None], y, at[:, None], log_rate.mean(axis=0), log_rate.std(axis=0)


@pytest.mark.extended
@quiet
@pytest.mark.parametrize(
    "how",
    [
        dict(sampler=sgmc.HMC(target_accept=0.9), draws=1500),
        dict(
            sampler=sgmc.SGHMC(friction=20.0),
            step_size=0.01,
            batch_size=40,
            gradient="simple",
            draws=1200,
            thin=40,
        ),
    ],
    ids=str,
)
def test_a_small_network(bent, how):
    """Weights may change their places and signs; what the network says may not.

    Minibatches add about the tolerance to the sds.
    """
    x, y, at, mean, sd = bent
    results = sgmc.BNN(x, y, hidden=(2,), activation="tanh", outcome="poisson", scale=None).fit(
        seed=1, **how
    )
    off = departures(np.log(results.outputs(at)), mean, sd)
    loose = 1.2 if "step_size" not in how else 1.6
    assert off[0] < loose * MEAN and off[1] < 1.5 * loose * SD
    assert results.predict(at) == pytest.approx(np.exp(np.log(results.outputs(at))).mean(axis=0))


# ---- hyperpriors ---------------------------------------------------------------------------------


def test_the_prior_of_precisions():
    model = network(hyperprior=sgmc.gamma(2, scale=0.5), hidden=(3,), outcome="gaussian")
    prior, theta = model.prior_kernel(), somewhere(model)
    gradient = Simple(model.kernel(), prior, Uniform(40, 40), Rng(seed_sequence(1, "chain", 0)))
    value, grad = full(gradient, theta)
    assert grad == pytest.approx(slopes(lambda t: full(gradient, t)[0], theta), rel=1e-5, abs=1e-5)
    parts, at, expected = [9, 3, 3, 1], 0, of_rows(model.kernel(), theta)[0] - 0.5 * theta[16] ** 2
    for size, log_precision in zip(parts, theta[17:]):
        w, precision = theta[at : at + size], np.exp(log_precision)
        expected += (
            0.5 * size * log_precision
            - 0.5 * precision * (w @ w)
            + 2 * log_precision
            - 2 * precision
        )
        at += size
    assert value == pytest.approx(expected)


@pytest.mark.extended
@quiet
def test_precisions_drawn_between_steps_have_the_same_law(straight):
    """Chen, Fox & Guestrin (2014, 4.2) against precisions sampled like weights by an exact
    sampler.
    """
    hyper = dict(hidden=(), scale=None, hyperprior=sgmc.gamma(3, 1))
    exact = sgmc.BNN(*straight, refresh=False, **hyper).fit(
        sampler=sgmc.HMC(target_accept=0.9), draws=800, seed=1
    )
    how = dict(sampler="sghmc", step_size=0.05, batch_size=100, draws=1500, thin=8, seed=1)
    drawn = sgmc.BNN(*straight, **hyper).fit(**how)
    wanted = exact.draws_of("log_precision").reshape(-1, 2)
    mean, sd = departures(
        drawn.draws_of("log_precision").reshape(-1, 2), wanted.mean(axis=0), wanted.std(axis=0)
    )
    assert mean < 1.5 * MEAN and sd < 1.5 * SD
    other = sgmc.BNN(*straight, **{**hyper, "hyperprior": sgmc.gamma(4, 1)}).fit(**how)
    assert (
        departures(
            other.draws_of("log_precision").reshape(-1, 2), wanted.mean(axis=0), wanted.std(axis=0)
        )[0]
        > 3 * MEAN
    )
