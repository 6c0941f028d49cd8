"""Draws of the prior alone, by samplers, against the laws that they are of."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported

from .test_ends import outcomes, table

PRIORS = {
    "default": None,
    "ends": {"x": sgmc.uniform(-1, 2), "z": sgmc.truncated(sgmc.normal(0, 1), high=0.5)},
    "positive": {"x": sgmc.gamma(2, rate=3.0), "z": sgmc.half_t(7, 1)},
    "together": {("x", "z"): sgmc.mvnormal([1, 2], [[1, 0.9], [0.9, 1]])},
    "auxiliary": {"sigma": sgmc.truncated(sgmc.normal(1, 1), high=1.5), "x": sgmc.student_t(9)},
    "intercept": {"Intercept": sgmc.half_normal(1)},
}
LEVELS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])


def drawn(prior):
    """A fit of the prior alone."""
    df = table().assign(x=lambda d: d.x + 3)
    return sgmc.ols("y ~ x + z", df, prior=prior, prior_only=True, seed=5, draws=2000)


def recovers(results, prior):
    """Whether shares of draws below quantiles of 200,000 independent draws of the laws are within 5
    binomial standard errors of the effective draws, and the slopes' correlation within .08.
    """
    model = sgmc.OLS.from_formula("y ~ x + z", table().assign(x=lambda d: d.x + 3))
    laws = model.prior_draws(prior, draws=200_000, seed=1)
    shares = (results.flat[:, :, None] < laws.quantile(LEVELS).to_numpy().T[None]).mean(axis=0)
    error = np.sqrt(LEVELS * (1 - LEVELS) / results.ess("tail").to_numpy()[:, None])
    apart = np.corrcoef(results.flat[:, 1:3].T)[0, 1] - laws.iloc[:, 1:3].corr().iloc[0, 1]
    return bool((np.abs(shares - LEVELS) < 5 * error).all()) and abs(apart) < 0.08


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", PRIORS)
def test_samplers_recover_the_prior(case):
    results = drawn(PRIORS[case])
    assert results.ess().min() > 300
    assert recovers(results, PRIORS[case])
    assert "prior alone" in " ".join(str(results.summary()).split())


MISTAKES = {
    "sd times root 2": ({"x": sgmc.normal(0, 1)}, {"x": sgmc.normal(0, 2**0.5)}),
    "a Jacobian twice": ({"x": sgmc.gamma(2, rate=3.0)}, {"x": sgmc.gamma(3, rate=3.0)}),
    "a Jacobian dropped": ({"sigma": sgmc.gamma(3, rate=3.0)}, {"sigma": sgmc.gamma(2, rate=3.0)}),
    "an end dropped": (
        {"z": sgmc.truncated(sgmc.normal(0, 1), high=0.5)},
        {"z": sgmc.normal(0, 1)},
    ),
    "no correlation": (
        {("x", "z"): sgmc.mvnormal([1, 2], [[1, 0.9], [0.9, 1]])},
        {("x", "z"): sgmc.mvnormal([1, 2], [[1, 0], [0, 1]])},
    ),
}


@pytest.mark.cover(0)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_seen(mistake):
    right, wrong = MISTAKES[mistake]
    assert not recovers(drawn(wrong), right)


@pytest.mark.parametrize("verb", ["logit", "poisson", "negativebinomial", "ordinal", "mnlogit"])
def test_families_without_their_outcomes(verb):
    """Outcomes that are exchanged change nothing: the same bits."""
    df = outcomes().assign(y=np.tile([0, 1, 2], 20) if verb != "logit" else outcomes().y)
    one, two = (
        getattr(sgmc, verb)("y ~ x", each, prior_only=True, seed=1)
        for each in (df, df.assign(y=df.y.to_numpy()[::-1]))
    )
    assert np.array_equal(one.flat, two.flat)
    assert one.nobs == 0


def test_new_rows_are_predicted_and_other_questions_refused():
    df = outcomes()
    results = sgmc.logit("y ~ x", df, prior_only=True, seed=1)
    assert results.predict(df).shape == (60,)
    for ask in ("loo", "sensitivity", "predict"):
        with pytest.raises(ArgumentError, match="prior alone"):
            getattr(results, ask)()
    with pytest.raises(NotSupported, match="prior alone"):
        results.update(df)


def test_arviz_has_the_draws_and_no_outcomes():
    pytest.importorskip("arviz_base")
    results = sgmc.logit("y ~ x", outcomes(), prior_only=True, seed=1)
    tree = results.to_arviz()
    assert np.array_equal(tree["posterior"]["x"].to_numpy(), results.draws[..., 1])
    assert "observed_data" not in tree.children


def test_priors_without_draws_and_other_models_are_refused():
    df = outcomes().assign(g=np.tile(list("abcdef"), 10))
    with pytest.raises(ArgumentError, match="'x' is flat"):
        sgmc.logit("y ~ x", df, prior={"x": "flat"}, prior_only=True)
    with pytest.raises(NotSupported, match="prior_draws"):
        sgmc.logit("y ~ x", df, prior={"x": "horseshoe"}, prior_only=True)
    with pytest.raises(NotSupported, match="group terms"):
        sgmc.logit("y ~ x + (1 | g)", df, prior_only=True)
    with pytest.raises(NotSupported, match="cov_type='robust'"):
        sgmc.logit("y ~ x", df, cov_type="robust", prior_only=True)
    for given in (dict(batch_size=32), dict(sampler="sgld", tune="mamba")):
        with pytest.raises(NotSupported, match="no rows to take mini-batches of"):
            sgmc.logit("y ~ x", df, prior_only=True, **given)
    with pytest.raises(ArgumentError, match="True or False"):
        sgmc.logit("y ~ x", df, prior_only="yes")


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_cauchy_prior_is_not_trusted():
    df = pd.DataFrame({"x": np.arange(9.0), "y": np.tile([0.0, 1, 1], 3)})
    prior = {"x": sgmc.cauchy(0, 1)}
    for seed in range(3):
        results = sgmc.logit("y ~ x", df, prior=prior, prior_only=True, seed=seed)
        assert "not trustworthy" in str(results.summary())
