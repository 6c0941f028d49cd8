"""Scores of networks at their draws, and the discrepancies that take them."""

import numpy as np
import pytest

import sgmc
from sgmc import diagnostics
from sgmc.core import bank
from sgmc.errors import NotSupported

from .networks import ACTIVATIONS, network, quiet, slopes, somewhere
from .test_bnn import plain_log_lik

RUN = dict(
    sampler="sgld", step_size=0.01, batch_size=20, draws=40, warmup=20, thin=1, chains=2, seed=3
)


def log_posterior(model, theta, sd=1.0):
    """Of rows and priors N(0, sd^2), with numpy alone."""
    return plain_log_lik(model, theta, np.arange(model.n)) - 0.5 * (theta @ theta) / sd**2


@quiet
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_scores_are_slopes_of_the_log_posterior(activation):
    """Against central differences, to 1e-5; with the prior dropped they are off."""
    model = network(activation=activation)
    some = model.fit(**RUN).scored_draws("exact", draws=3)
    assert some.kind == "exact" and list(some.kept) == [0, 39, 79]
    for theta, score in zip(some.draws, some.scores):
        right = slopes(lambda t: log_posterior(model, t), theta)
        assert score == pytest.approx(right, rel=1e-5, abs=1e-5)
        assert np.abs(score - right - theta).max() > 0.1


@quiet
def test_whole_draws_of_the_bank_have_scores(monkeypatch):
    """Where only some parameters were kept: the same numbers, but for float32 of the bank."""
    monkeypatch.setattr(bank, "MAX_BANKED", 8)
    model = network(hidden=(3,), n=60)
    full, some = model.fit(**RUN), model.fit(keep=["b2"], **RUN)
    found, kept = some.scored_draws("exact"), full.scored_draws("exact", draws=80)
    at = np.concatenate([np.arange(0, 40, 8), np.arange(40, 80, 8)])
    assert found.draws == pytest.approx(kept.draws[at], rel=1e-6)
    assert found.scores == pytest.approx(kept.scores[at], rel=1e-4, abs=1e-3)
    assert some.ksd("exact") == diagnostics.ksd(found.draws, found.scores, scale=found.scale)
    for method in (some.zv_means, lambda: some.thin_stein(2)):
        with pytest.raises(NotSupported, match="only some parameters were kept"):
            method()


@quiet
def test_minibatch_scores_are_right_on_average():
    """The mean of 400 scores of 20 of 60 rows is within 5 standard errors of the exact one; of
    fewer rows their noise is larger.  (A step of 1e-12 leaves the chain where it begins.)
    """
    model = network(hidden=(3,), n=60)
    results = model.fit(init=somewhere(model), **{**RUN, "step_size": 1e-12, "draws": 200})
    exact = results.scored_draws("exact", draws=2).scores[0]
    noisy = results.scored_draws("simple", draws=400, batch_size=20).scores
    sd = noisy.std(axis=0)
    assert (np.abs(noisy.mean(axis=0) - exact) < 5 * sd / 20 + 1e-3).all()
    fewer = results.scored_draws("simple", draws=400, batch_size=5).scores
    assert fewer.std(axis=0).mean() > 1.5 * sd.mean()


@quiet
def test_precisions_that_are_drawn_are_left_out():
    """Weights have scores given the precisions, by which their prior is N(0, 1/lambda)."""
    model = network(hidden=(3,), hyperprior=sgmc.gamma(1, rate=1))
    how = {**RUN, "sampler": "sghmc", "step_size": 0.01}
    results = model.fit(**how)
    some = results.scored_draws("exact", draws=80)
    sizes = [int(np.prod(shape)) for shape in list(model.parameters.values())[:-1]]
    assert some.draws.shape[1] == sum(sizes) == results.draws.shape[2] - 4
    precision = np.exp(results.draws_of("log_precision").reshape(80, -1)[7])
    theta, of = some.draws[7], np.repeat(np.arange(4), sizes)
    right = slopes(
        lambda t: plain_log_lik(model, t, np.arange(40)) - 0.5 * (precision[of] @ t**2), theta
    )
    assert some.scores[7] == pytest.approx(right, rel=1e-5, abs=1e-4)


@pytest.mark.extended
@quiet
def test_a_discrepancy_sees_a_network_of_another_posterior():
    """800 draws of `hmc`, all with the same scale: draws of a model with priors N(0, 3^2) are
    twice as far from the posterior of N(0, 1) as its own.
    """
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = sgmc.BNN(X, (X[:, 0] > 0.3).astype(int), hidden=(3,), activation="softmax", scale=None)
    how = dict(sampler="hmc", draws=800, chains=1, seed=1)
    own, other = model.fit(**how), model.fit(prior=sgmc.normal(0, 3), **how)
    some, wide = (r.scored_draws("exact", draws=800) for r in (own, other))
    scale = own.draws[0].std(axis=0)
    near = diagnostics.ksd(some.draws, some.scores, scale=scale)
    far = diagnostics.ksd(wide.draws, wide.scores - (1 - 1 / 9) * wide.draws, scale=scale)
    print(f"\nKSD of a network: {near:.3f}, of draws of another prior {far:.3f}")
    assert far > 2 * near
