"""What is said of the numbers that are printed: through logs, walls and sums, at ends of intervals,
where moments do not exist, and where scores mislead.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import TailWarning
from sgmc.results.checks.scores import second_order

from .cases import Case, known
from .data import DATA, table
from .users import USERS

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def model(name):
    """A user's model whose posterior is known."""
    return USERS[name][0]()


@pytest.mark.cover(0)
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_log_normal_sd_of_draws_is_not_trusted(seed):
    """Its sd is 54.1; those of 4,000 draws range from 20 to 120."""
    results = model("log-normal, sd 2").fit(seed=seed)
    assert not results.verdict.trustworthy and np.isnan(results.bse["x"])
    assert any(isinstance(w, TailWarning) for w in results.warnings)


@pytest.mark.extended
def test_errors_are_those_of_the_scale_that_is_printed():
    """sd of log x is 0.5: exp is far from linear.  Truth: mean exp(1/8), sd 0.6039 and ends
    exp(+-0.98); the check is right to three of its own errors and below 0.05.
    """
    results = model("log-normal, sd 0.5").fit(
        sampler="sgld", step_size=0.3, seed=3, draws=4000, thin=5
    )
    mean, variance = np.exp(0.125), np.exp(0.25) * (np.exp(0.25) - 1)
    sd, ends = np.sqrt(variance), np.exp([-0.5 * 1.959964, 0.5 * 1.959964])
    found = results.accuracy().loc["x"]
    low, high = results.conf_int().loc["x"]
    true = {
        "mean": (results.params["x"] - mean) / sd,
        "sd": results.bse["x"] / sd - 1,
        "low": (low - ends[0]) / (1 - ends[0]),  # in units of the distance from the median, 1
        "high": (high - ends[1]) / (ends[1] - 1),
    }
    for kind, error in true.items():
        within = max(3 * found[f"mcse_{kind}_error"], 0.02)
        assert abs(found[f"{kind}_error"] - error) < within < 0.15, kind
    assert abs(true["sd"]) > 0.03  # there is a bias to be seen


def test_flat_ols_of_few_rows_has_no_moments():
    """A t with n - d - 1 = 1 degrees of freedom: no mean, whatever the draws say."""
    df = pd.DataFrame({"x": [0.0, 1, 2, 3], "y": [0.1, 1.3, 1.9, 3.4]})
    for seed in range(4):
        results = sgmc.ols("y ~ x", df, prior="flat", seed=seed)
        assert (results.tail_index() >= 1).all() and "heavy tails" in results.verdict.text
        assert results.params.isna().all() and results.summary_frame()["sd"].isna().all()
        assert results.conf_int().notna().all(axis=None)
    text = str(results.summary(details=True))
    assert "k_hat" in text and "`-`" in text and "nan" not in text.lower()


@pytest.mark.cover(0)
@pytest.mark.parametrize("seed", range(3))
def test_cubic_terms_that_cancel_in_moments_are_seen(seed):
    results = model("cancelling, 0.2").fit(sampler="laplace", seed=seed)
    found = results.accuracy().loc["x0"]
    assert found.departure < 1 and abs(found.sd_error) < 0.1  # implied moments see nothing
    assert found.second_order > 0.2 and not results.verdict.trustworthy


def test_without_the_second_order_they_pass(monkeypatch):
    """A planted mistake: curvature that is not looked at."""
    real = second_order.bound
    monkeypatch.setattr(second_order, "bound", lambda *arguments: 0.1 * real(*arguments))
    assert model("cancelling, 0.2").fit(sampler="laplace", seed=1, draws=3000).verdict.trustworthy


@pytest.mark.parametrize("data", ["counts", "tiny"])
def test_the_second_order_passes_right_draws_of_skewed_posteriors(data):
    found = Case(data, {"sampler": "sgld", "step_size": 0.1}).fit()
    assert found.accuracy().departure.max() > 0.3
    assert np.nanmax(found.accuracy().second_order) < 0.1


@pytest.mark.cover(0)
@pytest.mark.parametrize("data", sorted(DATA, key="small".__ne__))
def test_errors_of_defaults_hold(data):
    """Means and sds beside long runs: within what the table of errors allows, three of its Monte
    Carlo errors and 0.03 for the run's own.
    """
    results = Case(data).fit()
    mean, sd = known(data).mean, known(data).sd
    found = results.accuracy()
    if not (found.departure <= 1).all():
        pytest.skip("the check says that it says little")
    off = (results.params - mean) / sd - found.mean_error
    assert (off.abs() < 0.03 + 3 * found.mcse_mean_error).all()
    wide = results.bse / sd - 1 - found.sd_error
    assert (wide.abs() < 0.03 + 3 * found.mcse_sd_error).all()


def test_tables_have_the_place_of_what_they_ask(tmp_path):
    results = Case("small").fit()
    results.save(tmp_path / "r.sgmc")
    again = sgmc.load(tmp_path / "r.sgmc")
    pd.testing.assert_series_equal(again.tail_index(), results.tail_index())
    assert str(again.summary(details=True)) == str(results.summary(details=True))
    assert list(table("small").columns[:3]) == list(results.accuracy().index[1:])
