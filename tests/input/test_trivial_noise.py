"""Results are stable: under noise of 1e-12 in the data, and under other seeds."""

import numpy as np
import pytest

import sgmc

SEEDS = (1, 2, 3)


def table(noise=0.0, seed=0):
    """200 rows; predictors times 1 + noise, with noise of another seed."""
    random = np.random.default_rng(7)
    x, z = random.normal(size=(2, 200))
    y = (random.random(200) < 1 / (1 + np.exp(-x))).astype(int)
    more = np.random.default_rng(seed).normal(size=(2, 200))
    return {"x": x * (1 + noise * more[0]), "z": z * (1 + noise * more[1]), "y": y}


def fitted(data, verb, seed=1, **how):
    """A fit of the verb."""
    return getattr(sgmc, verb)("y ~ x + z", data, seed=seed, **how)


VERBS = ["logit", "ols", "poisson"]


@pytest.mark.extended("logit", "ols")
@pytest.mark.parametrize("verb", VERBS)
def test_trivial_noise_moves_no_result(verb):
    """By less than 0.1 posterior sd, which is the Monte Carlo error promised: from the first
    Metropolis step that falls the other way on, draws are others.
    """
    plain, noisy = fitted(table(), verb), fitted(table(1e-12, 5), verb)
    assert type(plain.sampler) is type(noisy.sampler)
    assert (np.abs(plain.params - noisy.params) < 0.1 * plain.bse).all()
    assert (np.abs(plain.bse / noisy.bse - 1) < 0.05).all()
    assert plain.verdict.trustworthy == noisy.verdict.trustworthy


def test_noise_that_is_not_trivial_is_seen():
    plain, noisy = fitted(table(), "logit"), fitted(table(0.5, 5), "logit")
    assert (np.abs(plain.params - noisy.params) > 0.1 * plain.bse).any()


@pytest.mark.cover(0)
@pytest.mark.parametrize("verb", VERBS)
def test_seeds_agree_within_their_monte_carlo_errors(verb):
    """Five standard errors of a difference; sds by 10 %, which 2,000 effective draws hold."""
    fits = [fitted(table(), verb, seed) for seed in SEEDS]
    for one in fits[1:]:
        error = np.hypot(fits[0].mcse(), one.mcse())
        assert (np.abs(fits[0].params - one.params) < 5 * error).all()
        assert (np.abs(fits[0].bse / one.bse - 1) < 0.1).all()
        assert (fits[0].draws != one.draws).any()
