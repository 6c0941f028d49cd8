"""Networks of several outcomes, and of outcomes whose spread depends on the inputs."""

import numpy as np
import pandas as pd
import pytest
from _ext import mistakes as _mistakes
from scipy.stats import norm

import sgmc
from sgmc.errors import ArgumentError, DataError

from ..importance import around_the_mode
from .networks import MEAN, SD, network, quiet
from .test_bnn import RUN
from .test_bnn_posteriors import departures


def uneven(n=150, seed=5):
    """Inputs, and an outcome whose mean and log sd are linear in them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 0.4 + X @ [1.0, -0.5] + np.exp(-0.3 + 0.5 * X[:, 0]) * rng.normal(size=n)


# ---- posteriors ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_importance():
    """Means and sds of weights (input, output) and biases, under N(0, 0.2^2) priors."""
    X, y = uneven()

    def log_posterior(t):
        mean = t[:, 0, None] * X[:, 0] + t[:, 2, None] * X[:, 1] + t[:, 4, None]
        log_sd = t[:, 1, None] * X[:, 0] + t[:, 3, None] * X[:, 1] + t[:, 5, None]
        return norm.logpdf(y, mean, np.exp(log_sd)).sum(axis=1) - 0.5 * (t**2).sum(axis=1) / 0.2**2

    points, w = around_the_mode(log_posterior, np.zeros(6), np.full(6, 0.1))
    mean = w @ points
    return mean, np.sqrt(w @ (points - mean) ** 2)


def linear(sampler="mala", prior=sgmc.normal(0, 0.2), **arguments):
    """Draws of the network without hidden layers."""
    model = sgmc.BNN(*uneven(), hidden=(), outcome="heteroscedastic", scale=None)
    model.checked = False  # planted mistakes are to be seen in draws
    fit = model.fit(sampler=sampler, prior=prior, draws=4000, seed=1, **arguments)
    return fit.draws.reshape(-1, 6)


def test_the_spread_is_a_regression_too(by_importance):
    """5,000 effective draws of importance sampling and more than 2,500 of `mala`: MEAN, SD."""
    mean, sd = departures(linear(), *by_importance)
    assert mean < MEAN and sd < SD


@pytest.mark.extended
@quiet
def test_a_wrong_slope_or_prior_is_seen(by_importance, monkeypatch):
    """With minibatches' gradients alone: halved slopes of the weights; and a forgotten prior."""
    right = sgmc.BNN.kernel
    how = dict(sampler="sgld", gradient="cv", step_size=0.1, batch_size=75, thin=20)
    assert max(departures(linear(**how), *by_importance)) < 1.5 * MEAN
    assert max(departures(linear(prior=sgmc.normal(0, 1)), *by_importance)) > 1.5 * MEAN
    monkeypatch.setattr(sgmc.BNN, "kernel", lambda self: _mistakes.Bent(right(self), 4, 0.5))
    assert max(departures(linear(**how), *by_importance)) > 3 * MEAN


def test_two_outcomes_are_two_linear_regressions():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    Y = X @ [[2.0, 0.3], [-1.0, 0.6]] + [0.5, -0.2] + rng.normal(size=(60, 2)) * [1.0, 0.5]
    prior = {"*": sgmc.normal(0, 2), "sigma": sgmc.exponential(1)}
    results = sgmc.BNN(X, Y, hidden=(), outcome="gaussian", scale=None).fit(
        prior=prior, sampler="hmc", draws=2500, seed=1
    )
    for k in range(2):
        exact = sgmc.OLS(Y[:, k], np.column_stack([X, np.ones(60)])).fit(
            prior=prior, sampler="mala", draws=4000, seed=2
        )
        W, b, sigma = (results.draws_of(name)[..., k] for name in ("W1", "b1", "sigma"))
        own = np.concatenate([W, b[..., None], sigma[..., None]], axis=-1).reshape(-1, 4)
        mean, sd = departures(own, exact.params, exact.bse)
        assert mean < MEAN and sd < SD
    other = sgmc.OLS(Y[:, 0], np.column_stack([X, np.ones(60)])).fit(prior=prior, seed=2)
    assert departures(own, other.params, other.bse)[0] > 3 * MEAN  # outcomes exchanged


# ---- predictions ---------------------------------------------------------------------------------


@pytest.mark.extended
@quiet
def test_predictions_of_several_outcomes_are_in_their_units():
    rng = np.random.default_rng(7)
    X = rng.normal(50, 10, size=(200, 2))
    Y = pd.DataFrame(
        {
            "cost": 1000 + 30 * X[:, 0] + rng.normal(size=200),
            "share": 0.01 * X[:, 1] + 0.002 * rng.normal(size=200),
        }
    )
    results = sgmc.BNN(X, Y, hidden=(), outcome="gaussian").fit(seed=1, draws=500)
    exact = np.column_stack([1000 + 30 * X[:, 0], 0.01 * X[:, 1]])
    assert (abs(results.predict(X) - exact).max(axis=0) < [1, 0.002]).all()
    drawn = results.posterior_predict(X, most=400)
    assert drawn.shape == (400, 200, 2)
    assert drawn.std(axis=0).mean(axis=0) == pytest.approx([1, 0.002], rel=0.2)
    found = results.calibration(X, Y)
    assert list(found.index) == ["cost", "share"]
    assert found["rmse"].to_numpy() == pytest.approx([1, 0.002], rel=0.15)
    assert (found["coverage"] - 0.95).abs().max() < 0.05  # three binomial errors of 200 rows
    assert results.outputs(X, most=3).shape == (3, 200, 2)


@quiet
@pytest.mark.parametrize("outcome", ["gaussian", "heteroscedastic", "poisson"])
def test_calibration_is_the_mean_density(outcome):
    """The log-loss is that of densities averaged over networks, not the average of their logs."""
    model = network(outcome, hidden=(3,))
    results = model.fit(**RUN)
    recipe, y = model.recipe, model.y
    logs = np.array(
        [recipe.law.log_density(*recipe.said(t, model.X), y) for t in results.networks()[0]]
    )[..., 0]
    found = results.calibration(model.X, y[:, 0])
    averaged = -np.log(np.exp(logs).mean(axis=0)).mean()
    assert found["log_loss"] == pytest.approx(averaged, rel=1e-10)
    assert found["log_loss"] < -logs.mean() - 1e-3
    assert 0 <= found["coverage"] <= 1


@pytest.mark.extended
@quiet
def test_a_spread_that_follows_inputs_predicts_better():
    """On 400 new rows whose sds are from 0.2 to 3: the log-loss of one sigma is larger, and its
    intervals hold the same share of rows where these spread least and most only by chance.
    """
    X, y = uneven(400)
    new, truth = uneven(400, seed=6)
    scores, held = {}, {}
    for outcome in ("gaussian", "heteroscedastic"):
        results = sgmc.BNN(X, y, hidden=(4,), outcome=outcome, activation="tanh").fit(
            sampler="hmc", draws=500, seed=1
        )
        scores[outcome] = results.calibration(new, truth)
        quiet_rows = new[:, 0] < -1
        held[outcome] = results.calibration(new[quiet_rows], truth[quiet_rows])["coverage"]
    print("\n", pd.DataFrame(scores).T, held)
    assert scores["heteroscedastic"]["log_loss"] < scores["gaussian"]["log_loss"] - 0.05
    assert held["gaussian"] == 1.0  # intervals of one width are too wide there
    assert held["heteroscedastic"] < 1.0


# ---- input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y, message",
    [
        (np.ones((3, 2)), r"y, column 'y1', is 1 in every row"),
        ([[1.0, 2], [2, np.nan], [3, 1]], "column 'y2', row 1"),
        ([[1.0, 2], [2, 1]], "y has 2 values, X has 3 rows"),
    ],
)
def test_outcomes_that_do_not_suit(y, message):
    with pytest.raises((ArgumentError, DataError), match=message):
        sgmc.BNN(np.eye(3), y, outcome="gaussian")


def test_several_outcomes_go_with_numbers_alone():
    for outcome in ("softmax", "poisson"):
        with pytest.raises((ArgumentError, DataError), match="y"):
            network(outcome, several=True)


@quiet
def test_new_outcomes_that_do_not_suit():
    results = network("gaussian", several=True).fit(**RUN)
    with pytest.raises(ArgumentError, match=r"outcomes has shape \(5,\); it must be \(5, 2\)"):
        results.calibration(np.ones((5, 3)), np.ones(5))
