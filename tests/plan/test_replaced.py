"""Default samplers whose chains diverge make way for an exact one; named ones do not."""

import re

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DivergenceWarning, ReplacedSamplerWarning
from sgmc.fit import choose, run

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def counts(seed, n, alpha=0.0):
    """Counts of a Poisson law, or nearly so."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    mean = np.exp(1 + 0.3 * x)
    y = rng.poisson(rng.gamma(1 / alpha, alpha, size=n) * mean if alpha else mean)
    return pd.DataFrame({"x": x, "y": y})


# of 2,000 rows, at which chains of lmsgld fall off the long tail of log(alpha)
FALLING = counts(10, 2000)


def kinds(results):
    """Kinds of the warnings of a fit."""
    return {type(one) for one in results.warnings}


@pytest.fixture(scope="module")
def long():
    return sgmc.negativebinomial("y ~ x", FALLING, seed=99, sampler="hmc", draws=4000)


@pytest.fixture
def unseen(monkeypatch):
    """The plan does not see beforehand how skewed the dispersion's posterior is."""
    monkeypatch.setattr(choose, "SKEWED", 10.0)


def near(results, long):
    """Whether means are within 0.15 sd, and sds within 10 %, of a long run's."""
    return (np.abs((results.params - long.params) / long.bse) < 0.15).all() and (
        np.abs(results.bse / long.bse - 1) < 0.1
    ).all()


@pytest.mark.extended
def test_the_plan_sees_a_skewed_dispersion(long):
    results = sgmc.negativebinomial("y ~ x", FALLING, seed=10)
    assert results.sampler.name == "mala" and ReplacedSamplerWarning not in kinds(results)
    assert near(results, long)


@pytest.mark.cover(0)
@pytest.mark.parametrize("n", [60, 200, 500])
@pytest.mark.parametrize("seed", range(3))
def test_near_poisson_counts_are_fitted(n, seed):
    """Two of nine have too few draws for the long tail of alpha; the verdict says how many do."""
    results = sgmc.negativebinomial("y ~ x", counts(seed, n), seed=seed)
    assert np.isfinite(results.draws).all() and DivergenceWarning not in kinds(results)
    if not results.verdict.trustworthy:
        wanted = int(re.search(r"Take draws=(\d+)", results.verdict.text)[1])
        assert wanted < 10_000
        results = results.resume(draws=wanted - 1000)
    assert results.verdict.trustworthy


@pytest.mark.extended
def test_a_default_sampler_that_diverges_is_replaced(unseen, long, tmp_path):
    with pytest.warns(ReplacedSamplerWarning, match="lmsgld diverged; the draws are of mala"):
        results = sgmc.negativebinomial("y ~ x", FALLING, seed=10)
    assert results.sampler.name == "mala" and DivergenceWarning not in kinds(results)
    assert results.draws.shape[:2] == (4, 1000) and near(results, long)
    assert "chains of mini-batches diverged" in str(results.summary(details=True))
    results.save(tmp_path / "r")
    longer = sgmc.load(tmp_path / "r").resume(draws=5, data=FALLING)
    np.testing.assert_array_equal(longer.draws[:, :1000], results.draws)
    np.testing.assert_array_equal(longer.draws, results.resume(draws=5).draws)


@pytest.mark.extended
@pytest.mark.parametrize(
    "given", [dict(sampler="lmsgld"), dict(gradient="taylor"), dict(time_limit=60)], ids=str
)
def test_a_choice_of_the_user_is_kept(unseen, given):
    results = sgmc.negativebinomial("y ~ x", FALLING, seed=10, **given)
    assert results.sampler.name == "lmsgld" and DivergenceWarning in kinds(results)


@pytest.mark.extended
def test_chains_that_leave_no_draw_are_replaced_too(unseen, monkeypatch):
    """The same table, with a chain that diverges before its first draw in the place of all."""
    whole = run.collect

    def collect(plan, chains, ended, *rest):
        if "diverged" in ended.statuses:
            chains = [c for c, status in zip(chains, ended.statuses) if status == "diverged"]
            for chain in chains:
                chain.recorder = chain.recorder.__class__(1, 3, 1)
        return whole(plan, chains, ended, *rest)

    monkeypatch.setattr(run, "collect", collect)
    results = sgmc.negativebinomial("y ~ x", FALLING, seed=10)
    assert results.sampler.name == "mala" and ReplacedSamplerWarning in kinds(results)
    with pytest.raises(ArgumentError, match="every chain diverged before its first draw"):
        sgmc.negativebinomial("y ~ x", FALLING, seed=10, sampler="lmsgld")
