"""Draws of the prior alone, by samplers, against the laws that they are of."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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
    with pytest.raises(NotSupported, match="learned scales"):
        sgmc.logit("y ~ x", df, prior=sgmc.ridge(), prior_only=True)
    with pytest.raises(ArgumentError, match="the prior of 'x' is flat"):
        sgmc.logit("y ~ x + (1 | g)", df, prior={"x": "flat"}, prior_only=True)
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


GROUPED = {
    "groups": ("ols", "real ~ x + (1 + x | g)"),
    "nested": ("logit", "y ~ x + (1 | g/h)"),
    "crossed": ("logit", "y ~ x + (1 | g) + (1 | h)"),
    "smooth": ("poisson", "count ~ s(x) + (1 | g)"),
    "kinds": ("mnlogit", "kind ~ x + (1 | g)"),
}


def grouped():
    """Rows of a few levels, with outcomes of every kind."""
    rng, n = np.random.default_rng(3), 60
    frame = pd.DataFrame(dict(x=rng.normal(size=n), g=np.arange(n) % 6, h=np.arange(n) % 15))
    kind = np.array(list("abc"))[rng.integers(0, 3, n)]
    return frame.assign(
        real=rng.normal(size=n), y=rng.integers(0, 2, n), count=rng.poisson(2, n), kind=kind
    )


class HalfT:
    """The law of |t| times a scale, t of three degrees of freedom."""

    def __init__(self, scale):
        self.scale = scale

    def ppf(self, q):
        return self.scale * stats.t(3).ppf(0.5 + q / 2)


def below(fit, name, law):
    """Shares of draws below quantiles of a law, in binomial standard errors of effective draws."""
    j = fit.names.index(name)
    shares = (fit.flat[:, [j]] < law.ppf(LEVELS)).mean(axis=0)
    error = np.sqrt(LEVELS * (1 - LEVELS) / fit.ess("tail").iloc[j])
    return np.abs(shares - LEVELS) / error


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("case", GROUPED)
def test_terms_have_their_priors(case):
    """Sds are half_t(3, 2.5), slopes normal(0, 2.5), in units of the data, to five standard errors:
    as many as a law of a scale of 1.3 times theirs would be off.
    """
    (verb, formula), frame = GROUPED[case], grouped()
    fit = getattr(sgmc, verb)(formula, frame, prior_only=True, seed=1, draws=1000)
    unit = frame.real.std() if verb == "ols" else 1.0
    for name in (one for one in fit.names if one.startswith("sd(") and "sd(x|" not in one):
        assert below(fit, name, HalfT(2.5 * unit)).max() < 5, name
    slope = "b:x" if verb == "mnlogit" else "x"
    law = stats.norm(0, 2.5 * unit / frame.x.std())
    assert below(fit, slope, law).max() < 5
    assert below(fit, slope, stats.norm(0, 3.25 * unit / frame.x.std())).max() > 5
    assert np.isfinite(np.asarray(fit.predict(frame.head(3)))).all()
    with pytest.raises(ArgumentError, match="prior alone"):
        fit.predict()
