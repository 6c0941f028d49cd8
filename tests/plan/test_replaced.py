"""Default samplers whose chains diverge make way for an exact one; named ones do not."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DivergenceWarning, ReplacedSamplerWarning
from sgmc.fit import choose, run, stopping
from sgmc.results.report import going_on
from tests.verdict.cases import Case

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


# ---- chains that forget slowly -------------------------------------------------------------------


class Funnel(sgmc.Model):
    """v ~ N(0, 0.8^2), nine numbers x ~ N(0, e^v): scales differ from place to place."""

    parameters = {"v": (), "x": (9,)}
    prior = "flat"
    n = 1

    def log_lik(self, theta, rows):
        v, x = theta["v"], theta["x"]
        return -(v**2) / 1.28 - 0.5 * (x @ x) * np.exp(-v) - 4.5 * v

    def grad(self, theta, rows):
        v, x = theta["v"], theta["x"]
        scaled = x * np.exp(-v)
        return {"v": -v / 0.64 + 0.5 * (x @ scaled) - 4.5, "x": -scaled}


@pytest.fixture(scope="module")
def funnel():
    return Funnel().fit(seed=1)


def test_chains_of_nuts_are_begun_where_others_forget_slowly(funnel):
    """Means and sds within 0.15: a standard error of 4,000 draws is about 0.02 of independent ones,
    and those of v are worth a tenth.
    """
    assert funnel.sampler == sgmc.NUTS(target_accept=0.95, max_depth=8, metric="diag")
    assert funnel.verdict.trustworthy
    v = funnel.draws_of("v")
    assert abs(v.mean() / 0.8) < 0.15 and abs(v.std() / 0.8 - 1) < 0.15
    assert "chains of MALA(metric='identity') forget slowly" in " ".join(
        str(funnel.summary(details=True)).split()
    )


class WideFunnel(Funnel):
    """The same with 24 numbers x."""

    parameters = {"v": (), "x": (24,)}

    def log_lik(self, theta, rows):
        return super().log_lik(theta, rows) - 7.5 * theta["v"]

    def grad(self, theta, rows):
        slopes = super().grad(theta, rows)
        return slopes | {"v": slopes["v"] - 7.5}


@pytest.mark.extended
def test_of_many_parameters_they_are_in_free_numbers():
    """About 35 s; tolerances as above."""
    found = WideFunnel().fit(seed=1)
    assert found.sampler == sgmc.NUTS(target_accept=0.9, max_depth=8, metric="dense")
    v = found.draws_of("v")
    assert found.verdict.trustworthy
    assert abs(v.mean() / 0.8) < 0.15 and abs(v.std() / 0.8 - 1) < 0.15


@pytest.fixture
def short(monkeypatch):
    """Chains do not go on."""
    monkeypatch.setattr(stopping, "MOST_GROWN", 1)


@pytest.mark.extended
def test_there_steps_are_shorter_where_they_diverge(short, monkeypatch):
    def diverged(fit, ess):
        return fit.plan.spec.turning and fit.plan.spec.target_accept < 0.95

    monkeypatch.setattr(going_on, "many_diverged", diverged)
    found = WideFunnel().fit(seed=1)
    assert found.sampler == sgmc.NUTS(target_accept=0.99, max_depth=8, metric="dense")
    first = found.draws.shape[1]
    np.testing.assert_array_equal(found.resume(draws=5).draws[:, :first], found.draws)


def test_without_them_there_is_no_trust(short, monkeypatch):
    monkeypatch.setattr(choose, "MANY_TIMES", np.inf)
    kept = Funnel().fit(seed=1)
    assert kept.sampler.name == "mala" and not kept.verdict.trustworthy


def test_what_was_begun_anew_goes_on_as_it_is(funnel):
    longer = funnel.resume(draws=10)
    assert longer.sampler == funnel.sampler
    first = funnel.draws.shape[1]
    np.testing.assert_array_equal(longer.draws[:, :first], funnel.draws)


@pytest.mark.parametrize("how", [dict(sampler="mala"), dict(draws=1000), dict(time_limit=60.0)])
def test_what_was_asked_for_is_kept(how, short):
    assert Funnel().fit(seed=1, **how).sampler.name == "mala"


def test_work_that_is_too_much_is_not_begun(short, monkeypatch):
    monkeypatch.setattr(choose, "PATH", 1e9)
    assert Funnel().fit(seed=1).sampler.name == "mala"


def test_paths_that_diverge_are_begun_anew_with_shorter_steps():
    """A level whose outcomes are all alike, and a Cauchy prior: its coefficient has no mean, so
    that no draws are to be trusted, and another prior is the cure.
    """
    found = Case("separated level, cauchy").fit(seed=1)
    assert found.sampler.target_accept == 0.95 and not found.verdict.trustworthy
    assert "give priors with lighter tails" in found.verdict.text


@pytest.mark.parametrize(("worth", "times"), [(0.6, 0.0), (0.4, 9.0)])
def test_only_chains_that_forget_slowly_make_way(monkeypatch, worth, times):
    """Nine times as many draws are needed, for spikes where draws are nearly independent."""
    monkeypatch.setattr(going_on, "many_diverged", lambda fit, ess: False)
    problem = SimpleNamespace(searched=SimpleNamespace(found=1))
    fit = SimpleNamespace(x=np.zeros((4, 1000, 2)), problem=problem)
    verdict = SimpleNamespace(trustworthy=False, shortfall=9.0)
    state = {"verdict": verdict, "warnings": [], "_ess": np.array([4000.0, 4000 * worth])}
    assert going_on.forgetting(fit, state) == times


def empty_level(seed):
    """Counts of four levels, of which one has none."""
    rng = np.random.default_rng(seed)
    x, k = rng.normal(size=200), rng.choice(list("abcd"), 200, p=[0.4, 0.3, 0.2, 0.1])
    return pd.DataFrame({"x": x, "k": k, "p": rng.poisson(np.exp(0.3 * x)) * (k != "d")})


@pytest.mark.parametrize("seed", [102, 103])
def test_mini_batches_whose_errors_cannot_be_told_make_way(seed):
    """A level without counts leaves a posterior that is far from a Gaussian, of which scores say
    little: means are within 0.15 sd, sds within 10 %, of a long run's (the verdict's 0.1 and Monte
    Carlo error of both).
    """
    frame = empty_level(seed)
    results = sgmc.poisson("p ~ x + k", frame, seed=2)
    assert results.sampler.name == "mala" and results.verdict.trustworthy
    assert results._fit.plan.reason == choose.UNTOLD
    assert near(results, sgmc.poisson("p ~ x + k", frame, seed=3, sampler="nuts", draws=4000))


def test_a_named_sampler_does_not():
    results = sgmc.poisson("p ~ x + k", empty_level(102), seed=2, sampler="lmsgld")
    assert results.sampler.name == "lmsgld" and not results.verdict.trustworthy


def test_nor_do_mini_batches_where_all_rows_cost_much(monkeypatch):
    monkeypatch.setattr(stopping, "MOST_WORK", 1e-3)
    results = sgmc.poisson("p ~ x + k", empty_level(102), seed=2)
    assert results.sampler.name == "lmsgld" and not results.verdict.trustworthy
