"""Priors alone, few draws, weights of zero, and chains that stood still, beside effects."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.errors import ArgumentError, SGMCWarning
from sgmc.results.outcomes.criticism.loo import pareto_smoothed
from sgmc.results.priors.distributions import of_share
from sgmc.results.priors.sensitivity import log_prior

CROSSED = "y ~ x + (1 | g) + (1 | h)"


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=200), "g": rng.integers(0, 8, 200)})
    table = table.assign(h=rng.integers(0, 5, 200))
    return table.assign(y=(rng.random(200) < 0.5).astype(int))


@pytest.fixture(autouse=True)
def quiet():
    """Numbers that are not finite are no warnings of numpy's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SGMCWarning)
        yield


def series(rho):
    """Rows of forty times."""
    rng = np.random.default_rng(3)
    e, t = np.zeros(40), rng.integers(0, 40, 300)
    for i in range(1, 40):
        e[i] = rho * e[i - 1] + rng.normal()
    return pd.DataFrame({"t": t, "y": e[t] + rng.normal(size=300)})


def test_correlations_of_times_have_their_prior():
    """2 Beta(2, 2) - 1, of negative rho too; as a share's law Beta(2, 2) they had none there."""
    one = sgmc.ols("y ~ ar1(t)", series(-0.6), seed=1, chains=2, draws=500)
    draws = one._joint_draws[::50]
    rho = draws[:, one.names.index("rho(ar1(t))")]
    assert rho.min() < 0
    held = draws.copy()
    held[:, one.names.index("rho(ar1(t))")] = 0.25
    ours = log_prior(one, draws) - log_prior(one, held)
    assert ours == pytest.approx(np.log((1 - rho**2) / (1 - 0.25**2)), abs=1e-9)
    table = one.sensitivity()
    assert np.isfinite(table["prior"]).all()


def test_the_law_of_a_share_and_of_a_correlation():
    spec = sgmc.lkj(2)
    at = np.array([-0.5, 0.2])
    assert of_share("rho(ar1(t))", spec).pdf(at) == pytest.approx(0.75 * (1 - at**2))
    assert of_share("rho(bym2(g))", spec).pdf(0.2) == pytest.approx(stats.beta(2, 2).pdf(0.2))


def test_white_noise_is_compared_with_an_autoregression():
    """BF01 against a kernel's ratio of draws in a window of 0.1: within 30 per cent."""
    one = sgmc.ols("y ~ ar1(t)", series(0.2), seed=1, draws=2000)
    found = one.bayes_factor("`rho(ar1(t))` = 0.2")
    draws = one.draws[..., one.names.index("rho(ar1(t))")].ravel()
    density = (np.abs(draws - 0.2) < 0.05).mean() / 0.1
    assert found["log_prior"] == pytest.approx(np.log(0.75 * (1 - 0.04)))
    assert np.exp(found["log_posterior"]) == pytest.approx(density, rel=0.3)


def test_summaries_of_priors_alone_and_of_few_draws(frame):
    alone = sgmc.logit(CROSSED, frame, prior_only=True, draws=50, chains=2, seed=1)
    assert "predicted: 0 between sweeps" in " ".join(str(alone.summary(details=True)).split())
    few = sgmc.logit(CROSSED, frame, draws=2, chains=2, seed=1)
    assert "Autocorrelation of effects" not in str(few.summary(details=True))


def test_leaving_out_of_chains_that_stood_still():
    """A tail that is one repeated draw tells no k, and other rows keep theirs."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(3, 400))
    rows[1, :200] = -8.0
    smoothed, k = pareto_smoothed(rows, 1.0)
    assert np.isinf(k[1])
    assert np.isnan(smoothed[1]).all()
    for at in (0, 2):
        alone, own = pareto_smoothed(rows[at][None], 1.0)
        assert (smoothed[at] == alone[0]).all()
        assert k[at] == own[0]


def test_rows_that_do_not_count_have_no_part_in_the_error(frame):
    weights = np.where(frame["g"] == 0, 0, 1)
    how = dict(draws=500, chains=2, seed=1)
    whole = sgmc.logit("y ~ x + (1 | g)", frame.assign(w=weights), weights="w", **how).loo()
    part = sgmc.logit("y ~ x + (1 | g)", frame[frame["g"] != 0], **how).loo()
    assert whole.elpd == pytest.approx(part.elpd, abs=0.5)
    assert whole.mcse == pytest.approx(part.mcse, rel=0.5)


def test_words(frame):
    with pytest.raises(ArgumentError, match="exceeds the 200 rows"):
        sgmc.logit(CROSSED, frame, batch_size=5000)
    one = sgmc.logit("y ~ x", frame, seed=1, draws=200)
    with pytest.raises(ArgumentError, match="compare loo"):
        one.bayes_factor("x = 30")
    with pytest.raises(ArgumentError, match="names no parameter"):
        one.bayes_factor("0/1 = -1")
