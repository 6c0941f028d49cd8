"""Numbers at the ends of what a computer has, as arguments and as data: errors that name them."""

import re

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.coordinates.approximations.mode import solve
from sgmc.errors import ArgumentError, DataError, DivergenceError, SGMCError
from sgmc.results.checks.scores import printed
from sgmc.results.report.verdict import Errors, Worst, by_comparison

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
N = 200
FEW = dict(seed=1, draws=20, chains=1)


def table(seed=0):
    rng = np.random.default_rng(seed)
    made = pd.DataFrame({"x": rng.normal(size=N), "y": rng.integers(0, 2, N)})
    return made.assign(count=rng.poisson(1e9 * np.exp(0.3 * made.x)))


@pytest.mark.parametrize("prior", [sgmc.normal, lambda *a: sgmc.student_t(3, *a), sgmc.laplace])
def test_scales_whose_squares_are_no_numbers(prior):
    for scale in (1e-300, 1e300):
        with pytest.raises(ArgumentError, match=r"must be a number between 1e-150 .* use flat\(\)"):
            prior(0, scale)
    for scale in (1e-30, 1e30):
        sgmc.logit("y ~ x", table(), prior=prior(0, scale), **FEW)


@pytest.mark.parametrize("sampler", ["sgld", "hmc", "nuts", "mala"])
@pytest.mark.parametrize("step", [1e300, 1e160, 1e-160, 1e-300])
def test_steps_whose_squares_are_no_numbers(sampler, step):
    with pytest.raises(ArgumentError, match="step_size=.* must be a number between 1e-150 and 1e"):
        sgmc.logit("y ~ x", table(), sampler=sampler, step_size=step, **FEW)


def test_the_advice_on_a_step_that_is_far_too_long_is_one_that_works():
    how = dict(sampler="sghmc", thin=1, warmup=10, **FEW)
    with pytest.raises(DivergenceError, match=r"step_size than 1e\+100, e.g. (\S+)") as raised:
        sgmc.logit("y ~ x", table(), step_size=1e100, **how)
    advised = float(re.search(r"e\.g\. ([\d.e+-]+)", str(raised.value))[1])
    assert 1e-3 < advised < 1e3
    sgmc.logit("y ~ x", table(), step_size=advised, **how)


@pytest.mark.parametrize("seed", range(12))
def test_large_counts_without_dispersion_have_a_result_or_an_error_that_says_why(seed):
    df = table(seed)
    try:
        sgmc.negativebinomial("count ~ x", df, **FEW)
    except DataError as error:
        assert "vary no more than Poisson counts do not determine alpha" in str(error)
        assert "use sgmc.poisson" in str(error)


def test_a_gradient_that_overflows_is_named():
    with pytest.raises(DataError, match="the posterior has no gradient: numbers overflow"):
        solve(np.eye(2), np.array([1.0, np.nan]))


def test_errors_that_are_no_numbers_are_not_trusted():
    nan = Worst.of(np.array([np.nan]), np.array([0.01]))
    found = by_comparison(Errors(nan, nan, nan), "Take more.", 0.01, "scores", 1.0)
    assert not found.trustworthy and "errors cannot be estimated" in found.text


def test_other_errors_stay_as_they_are():
    df = table().assign(z=lambda t: 2 * t.x)
    with pytest.raises(SGMCError) as raised:
        sgmc.poisson("count ~ x + z", df, prior=sgmc.flat(), **FEW)
    assert "alpha" not in str(raised.value)


def test_draws_whose_squares_are_no_numbers_have_no_implied_moments(monkeypatch):
    """Positions of 1e173 in a checkpoint of someone's: their covariance is infinite."""
    overflown = lambda fit: (np.zeros(3), np.full((3, 3), np.inf))
    monkeypatch.setattr(printed, "moments_of", overflown)
    rng = np.random.default_rng(0)
    frame = {"x": rng.normal(size=50), "z": rng.normal(size=50), "y": rng.normal(size=50) > 0}
    found = sgmc.logit("y ~ x + z", frame, seed=1, draws=50, chains=2, sampler="mala")
    assert np.isfinite(found.params).all()
