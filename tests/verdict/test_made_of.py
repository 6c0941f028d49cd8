"""What the verdict is made of: accuracy by scores, rounding, half the step."""

import re

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.report.verdict import Worst, at_most

from .cases import NOISY, Case, known, sgld
from .data import table
from .record import WRONG


@pytest.fixture(scope="module")
def plain():
    return Case("small").fit()


def test_accuracy_is_the_difference_from_a_long_run(plain):
    """To 0.03: four times the Monte Carlo error of the reference's sds, 0.7 %,
    and that of the check.
    """
    mean, sd = known("small").mean, known("small").sd
    found = plain.accuracy()
    assert list(found.index) == plain.names
    np.testing.assert_allclose(found.mean_error, (plain.params - mean) / sd, atol=0.03)
    np.testing.assert_allclose(found.sd_error, plain.bse / sd - 1, atol=0.03)
    assert (found.mcse_mean_error < 0.02).all() and (found.departure < 0.5).all()
    found["mean_error"] = 7.0
    assert (plain.accuracy().mean_error < 7).all()  # a copy


def test_every_summary_has_it(plain, tmp_path):
    text = str(plain.summary())
    assert re.search(
        r"^Verdict: trustworthy\. Means are within \d % of a posterior sd\.$", text, re.M
    )
    assert "trustworthy to about 0.0" in str(plain.summary(details=True))
    assert "Laplace" not in text
    assert "Difference from Laplace approximation:" in str(plain.summary(details=True))
    plain.save(tmp_path / "r.sgmc")
    again = sgmc.load(tmp_path / "r.sgmc")
    assert again.verdict == plain.verdict and str(again.summary()) == text
    pd.testing.assert_frame_equal(again.accuracy(), plain.accuracy())
    assert "Verdict" in plain.summary().as_html() and "Verdict" in str(plain.summary2())


def test_the_sandwich_is_judged_by_its_own_gaussian():
    right = Case("large", {"cov_type": "robust"}).fit()
    assert right.verdict.trustworthy and "sandwich" in right.verdict.basis
    with pytest.warns(sgmc.errors.StepSizeWarning):
        wide = Case("large", {"cov_type": "robust", **sgld(1.5)}).fit()
    assert not wide.verdict.trustworthy and wide.accuracy().sd_error.min() > WRONG


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_fewer_draws_than_scores_need_are_judged_by_formula():
    few = Case("correlated", {"chains": 1, "draws": 40}).fit()  # 40 draws of 21 parameters
    assert few.accuracy().mean_error.isna().all() and few.accuracy().laplace_shift.notna().all()
    assert not few.verdict.trustworthy
    assert "effective draws" in few.verdict.basis
    assert "draws=" in few.verdict.text
    noisy = Case("correlated", {"chains": 1, "draws": 40, **NOISY}).fit()
    assert "spread off" in noisy.verdict.text and "gradient='cv'" in noisy.verdict.text
    assert not Case("small", {"draws": 3, "chains": 1}).fit().verdict.trustworthy


def test_a_small_error_that_is_certain_counts_beside_a_larger_one_that_is_not():
    """The first parameter may be off by 0.56 or by nothing, the second by 0.2 at least."""
    worst = Worst.of(np.array([0.25, -0.3]), np.array([0.125, 0.05]))
    assert (worst.size, worst.least, worst.most) == (-0.3, pytest.approx(0.2), 0.5625)


def test_errors_are_rounded_up():
    assert [at_most(e) for e in (0.001, 0.01, 0.011, 0.09, 0.091, 0.1)] == [
        0.01,
        0.01,
        0.02,
        0.09,
        0.1,
        0.1,
    ]


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_half_the_step_shows_half_the_bias():
    """SGLD widens the variance of a Gaussian by h/(4 - h): at h = 1 and 0.5 the sds are off by 15.5
    and 6.9 %, a change of 8.0 %.
    """
    results = Case("large", sgld(1.0)).fit()
    halved = results.half_step(draws=1000)
    z = (halved.sd_change - (np.sqrt(3.5 / 3) - 1)) / halved.mcse_sd_change
    assert (z.abs() < 4).all() and (halved.sd_change > 2 * halved.mcse_sd_change).all()
    assert (halved.mean_change.abs() < 4 * halved.mcse_mean_change).all()
    pd.testing.assert_frame_equal(halved, results.half_step(draws=1000))  # the same again
    assert (results.half_step().mcse_sd_change > halved.mcse_sd_change).all()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_half_the_step_of_rates_that_are_held():
    """sgpdmp widens the variance by h sqrt((1 + V) / (2 pi)), V = 0 with all rows: the sds by half
    of that, and less in few dimensions.
    """
    h = 1.0
    all_rows = {"gradient": "simple", "batch_size": len(table("small"))}
    halved = (
        Case("small", {"sampler": "sgpdmp", "step_size": h, "draws": 4000, **all_rows})
        .fit()
        .half_step(4000)
    )
    assert (halved.sd_change > 4 * halved.mcse_sd_change).all()
    assert (halved.sd_change < 0.5 * h / np.sqrt(2 * np.pi)).all()


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_half_the_step_is_refused_where_it_says_nothing(plain, tmp_path):
    with pytest.raises(NotSupported, match="mala has no step"):
        Case("tiny", {"sampler": "mala", "draws": 2000}).fit().half_step()
    with pytest.raises(NotSupported, match="sbps has no step"):
        Case("tiny", {"sampler": "sbps", "draws": 50}).fit().half_step()
    with pytest.raises(NotSupported, match="constant step"):
        Case(
            "small", {"sampler": "sgld", "step_size": lambda t: 0.1 / (1 + t / 1000)}
        ).fit().half_step()
    with pytest.raises(ArgumentError, match="draws=0"):
        plain.half_step(draws=0)
    plain.save(tmp_path / "r.sgmc")
    with pytest.raises(ArgumentError, match="needs the data"):
        sgmc.load(tmp_path / "r.sgmc").half_step()
