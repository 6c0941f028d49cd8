"""Fits with accuracy= keep it, and their draws are those of fits with as many draws."""

import pickle

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.errors import AccuracyWarning, ArgumentError, InterruptedWarning, NotSupported
from sgmc.fit import stopping

from ..runs.cases import same
from .cases import ACCURACY, FRAME, autoregressive, errors, fit, stopped

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
FITS, CHAINS = 25, 300
ROOT = np.sqrt(2)


def fewest(count):
    """The fewest of `count` that hold what 95 % do, but for one case in 200."""
    return int(stats.binom.ppf(0.005, count, 0.95))


def kept(correlation, accuracy, count=CHAINS):
    """Of how many simulated sets of chains the rule kept the accuracy, in all of three means."""
    means = [stopped(autoregressive(k, 8000, correlation), accuracy)[0] for k in range(count)]
    return int(sum(np.abs(mean).max() <= accuracy for mean in means))


# most chains stop at 1000 draws, and 500 would be too few: no mistake is hidden by late looks
@pytest.mark.extended
@pytest.mark.parametrize(("correlation", "accuracy"), [(0.0, 0.043), (0.7, 0.112)])
def test_stopping_keeps_the_accuracy(correlation, accuracy):
    assert kept(correlation, accuracy) >= fewest(CHAINS)


@pytest.mark.extended
@pytest.mark.mistake("error of the mean divided by sqrt 2")
@pytest.mark.parametrize("name", ["chains"])
def test_errors_that_are_too_small_are_told_apart(name, monkeypatch):
    right = stopping.error_bound
    monkeypatch.setattr(stopping, "error_bound", lambda draws: right(draws) / ROOT)
    assert kept(0.0, 0.043) < fewest(CHAINS)


@pytest.mark.extended
@pytest.mark.mistake("the first look")
@pytest.mark.parametrize("name", ["chains"])
def test_stopping_at_the_first_look_is_told_apart(name, monkeypatch):
    monkeypatch.setattr(stopping, "error_bound", lambda draws: 0.0)
    assert kept(0.0, 0.043) < fewest(CHAINS)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("family", "how"),
    [("ols", {}), ("logit", {"sampler": "mala"}), ("logit", {"sampler": "sghmc"})],
    ids=str,
)
def test_fits_keep_the_accuracy(family, how):
    """Of 25 fits; and the errors, squared, in units of what is allowed for, which tells errors
    of sqrt 2 apart with few fits: their mean is at most 1, and of 100 of them 1.3 in one case of
    50.
    """
    found = [fit(family, seed, **how) for seed in range(FITS)]
    assert all(one._stopping.reached for one in found)
    off = np.array([errors(one, family) for one in found])
    assert (np.abs(off).max(axis=1) <= ACCURACY).sum() >= fewest(FITS)
    allowed = ACCURACY / stopping.quantile(off.shape[1])
    assert np.mean((off / allowed) ** 2) < 1.3


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"sampler": "mala"},
        {"sampler": "sgld", "prior_only": True, "prior": None},
        {"sampler": "lmsgld", "batch_size": "adaptive"},
        {"sampler": "hmc"},
        {"sampler": sgmc.HMC(walkers=4)},
        {"sampler": "laplace"},
        {"sampler": "sgld", "step_size": sgmc.Polynomial(0.5, 10, 0.33), "draws": 700},
        {"sampler": "sgld", "step_size": sgmc.Polynomial(0.5, 10, 0.33), "thin": "distance",
         "draws": 400},
        {"accuracy": 0.04, "time_limit": 600},
    ],
    ids=str,
)  # fmt: skip
def test_draws_are_those_of_a_fit_with_as_many(how):
    """Bit for bit, with all facts of the summary: rows touched, acceptance, steps."""
    found = fit("logit", **how)
    draws = found.draws.shape[1]
    plain = fit("logit", **{**how, "accuracy": None, "draws": draws})
    assert same(found, plain)
    assert [c.data_passes for c in found._chains] == [c.data_passes for c in plain._chains]
    assert same(fit("logit", threads=1, **how), found)
    assert draws in stopping.looks(how.get("draws", 20_000))


def test_the_summary_says_what_ended_the_run():
    found = fit("logit")
    draws = found.draws.shape[1]
    text = " ".join(str(found.summary(details=True)).split())
    assert f"Stopped on accuracy (accuracy=0.075) after {draws} draws per chain: errors of" in text
    assert "of all 4 means" in text and "gradient noise change sds by" in text
    assert "Stopped on accuracy" not in str(found.summary())
    assert found._stopping.sd_change == pytest.approx(0.0, abs=0.01)
    exact = fit("logit", sampler="mala")
    assert "gradient noise" not in exact._stopping.text


@pytest.mark.extended
def test_limits_that_end_a_run_first_are_warned_of():
    with pytest.warns(
        AccuracyWarning, match="accuracy=0.001 was not reached: the limit of draws ended the run"
    ):
        found = fit("logit", accuracy=0.001, draws=300)
    assert found.draws.shape[1] == 300 and "[AccuracyWarning]" in str(found.summary())
    assert "Did not stop on accuracy" in str(found.summary(details=True))
    with pytest.warns(InterruptedWarning), pytest.warns(AccuracyWarning, match="time limit ended"):
        fit("logit", accuracy=0.0005, sampler="mala", draws=2 * 10**6, time_limit=0.5)
    with pytest.warns(AccuracyWarning, match="max_data_passes ended"):
        fit("logit", accuracy=0.001, sampler="mala", max_data_passes=4000)


def test_runs_go_on(tmp_path):
    """With draws= by so many; without, as many again where the accuracy was reached, and until it
    is where it was not.
    """
    found = fit("logit")
    draws = found.draws.shape[1]
    assert same(found.resume(50), fit("logit", accuracy=None, draws=draws + 50))
    assert found.resume().draws.shape[1] == 2 * draws
    found.save(tmp_path / "fit")
    again = sgmc.load(tmp_path / "fit").resume(50, data=FRAME)
    assert same(again, found.resume(50)) and again._stopping is None
    assert "Stopped on accuracy" in pickle.loads(pickle.dumps(found))._stopping.text
    with pytest.warns(AccuracyWarning):
        short = fit("logit", accuracy=0.04, draws=500)
    longer = short.resume(threads=1)
    with pytest.warns(AccuracyWarning):
        assert same(longer, fit("logit", accuracy=0.04, draws=1000))


def test_checkpoints_go_on_to_the_same_draws(tmp_path):
    found = fit("logit", accuracy=0.04)
    with pytest.warns(AccuracyWarning):
        fit("logit", accuracy=0.04, draws=300, checkpoint=tmp_path / "run")
    for _ in range(2):
        again = fit("logit", accuracy=0.04, checkpoint=tmp_path / "run")
        assert same(again, found)
    fewer = fit("logit", accuracy=0.2, checkpoint=tmp_path / "run")
    assert np.array_equal(fewer.draws, found.draws[:, : fewer.draws.shape[1]])


@pytest.mark.parametrize("value", [0, 1, -0.1, 2.0, "0.05", True, np.nan])
def test_other_values_are_refused(value):
    with pytest.raises(ArgumentError, match="accuracy=.* must be a number between 0 and 1"):
        fit("logit", accuracy=value)


def test_what_does_not_go_together_is_refused():
    with pytest.raises(NotSupported, match="accuracy does not go with zigzag"):
        fit("logit", sampler="zigzag")
    raw = sgmc.Logit.from_formula("z ~ a", FRAME)
    with pytest.raises(NotSupported, match="accuracy does not go with client="):
        from sgmc.fit.settings import check_settings

        check_settings(accuracy=0.05, client=object())
    assert raw.fit(accuracy=0.2, seed=1).draws.shape[1] == stopping.DRAWS_AT_FIRST


def test_chains_that_stand_still_or_disagree_are_not_accurate():
    draws = autoregressive(1, 250, 0.0)
    assert stopping.error_bound(draws) < 0.15
    draws[2] += 3.0
    assert stopping.error_bound(draws) > 1
    draws[...] = 1.0
    assert stopping.error_bound(draws) == np.inf and stopping.error_bound(draws[:1]) == np.inf
