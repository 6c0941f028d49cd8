"""Long runs say what they take where they begin, and steps that hardly move are warned of."""

import logging
import re
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.system import phases
from sgmc.errors import StepSizeWarning
from sgmc.fit.chains import RuntimeForecast, lasting


def table(n=2000):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, n))
    return pd.DataFrame({"a": a, "b": b, "y": (rng.random(n) < 1 / (1 + np.exp(-a))).astype(int)})


class Slow(sgmc.Model):
    """A normal mean whose gradient takes 5 ms: 4 chains x 2,000 steps take 40 s."""

    parameters = {"mu": ()}
    prior = {"mu": sgmc.normal(0, 1)}

    def __init__(self):
        self.y, self.n, self.slept = np.random.default_rng(0).normal(size=50), 50, []

    def log_lik(self, theta, rows):
        begun = time.perf_counter()
        time.sleep(0.005)
        self.slept.append(time.perf_counter() - begun)
        return -0.5 * np.sum((self.y[rows] - theta["mu"]) ** 2)

    def grad(self, theta, rows):
        return {"mu": np.sum(self.y[rows] - theta["mu"])}


@pytest.fixture
def lines(monkeypatch):
    """What is said; the run is stopped as soon as it has said something."""
    found = []

    def warning(form, *args):
        found.append(form % args)
        raise KeyboardInterrupt

    monkeypatch.setattr(phases.LOGGER, "warning", warning)
    return found


def stopped(fit, **how):
    """A fit that is stopped, with or without draws; after some seconds in any case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit(seed=1, time_limit=20, **how)
        except KeyboardInterrupt:
            pass


LONG = {
    "mini-batches": (
        lambda **how: sgmc.logit("y ~ .", table(), sampler="sgld", thin=10**6, **how),
        r"sgld with 2,000 rows, 4 chains x [\d,]+ steps of 32 rows: about [\d.]+ \w+",
    ),
    "all rows": (
        lambda **how: sgmc.logit("y ~ .", table(), sampler="mala", thin=10**6, **how),
        r"mala with 2,000 rows, 4 chains x 1,000,000,500 steps of 2,000 rows: about",
    ),
    "continuous time": (
        lambda **how: sgmc.logit("y ~ .", table(), sampler="zigzag", draws=10**6, **how),
        r"zigzag with 2,000 rows, 4 chains x [\d,]+ events of 2,000 rows: about",
    ),
    "groups": (
        lambda **how: sgmc.logit(
            "y ~ a + (1|g)", table(200).assign(g=np.arange(200) % 20), draws=10**7, **how
        ),
        r"\w+ with 20 groups, 4 chains x [\d,]+ steps of 20 groups: about",
    ),
    "own": (
        lambda **how: Slow().fit(sampler="mala", draws=1500, **how),
        r"mala with 50 rows, 4 chains x 2,[05]00 steps of 50 rows: about",
    ),
}


@pytest.mark.extended("mini-batches", "all rows", "continuous time", "groups")
@pytest.mark.parametrize("kind", LONG)
def test_a_long_run_says_so_where_it_begins(kind, lines):
    fit, line = LONG[kind]
    stopped(fit)
    assert len(lines) == 1 and re.match("sgmc: " + line, lines[0])
    assert lines[0].endswith("; time_limit ends it earlier")


def test_progress_false_is_silent(lines):
    """The limit ends the run, not what would be said of it."""
    with pytest.warns(sgmc.errors.InterruptedWarning, match="time_limit"):
        LONG["own"][0](seed=1, progress=False, time_limit=1.5)
    assert not lines


@pytest.mark.extended  # imports again, in another process
def test_it_is_on_stderr_without_a_terminal():
    code = (
        "import sgmc, numpy as np, warnings; warnings.simplefilter('ignore')\n"
        "X = np.random.default_rng(0).normal(size=(500, 1)); y = (X[:, 0] > 0) * 1.0\n"
        "y[:50] = 1 - y[:50]\n"
        "sgmc.Logit(y, X, names=['x']).fit(sampler='sgld', thin=10**6, time_limit=5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr.startswith("sgmc: sgld with 500 rows, 4 chains x ")


def test_short_runs_say_nothing(caplog):
    sgmc.logit("y ~ .", table(), seed=1)
    assert not caplog.records


def test_it_is_said_once_and_above_ten_seconds_alone(caplog):
    forecast = RuntimeForecast("a run")
    forecast.look(10, 1000, 0.09)  # 9 s
    forecast.look(0, 1000, 5.0)  # nothing is known
    forecast.look(20, 1000, 0.2)  # too early to tell
    forecast.look(2, 4000, 0.7)  # other chains' steps are not reported yet
    assert not caplog.records
    forecast.look(20, 1000, 0.5)
    forecast.look(30, 1000, 9.0)
    assert [one.getMessage() for one in caplog.records] == ["sgmc: a run: about 25 s"]
    assert caplog.records[0].levelno == logging.WARNING
    times = {12: "12 s", 400: "6.7 minutes", 1800: "30 minutes", 9000: "2.5 hours"}
    assert {seconds: lasting(seconds) for seconds in times} == times
    assert lasting(30 * 86400) == "30 days"


def test_few_long_steps_are_told_of_once_they_are_long(caplog):
    forecast = RuntimeForecast("a run")
    forecast.look(2, 100, 9.0)
    assert not caplog.records
    forecast.look(2, 100, 10.0)
    assert [one.getMessage() for one in caplog.records] == ["sgmc: a run: about 8.3 minutes"]


def test_the_prediction_is_of_the_right_size(lines):
    """2,000 steps in each of 4 chains, two at a time, take as long as 4,000 of the densities that
    were computed, and not twice as long: all but some hundredths of a step is the density.
    """
    model = Slow()
    stopped(model.fit, sampler="mala", draws=1500, threads=2)
    expected = 4000 * np.mean(model.slept)
    assert 0.5 < float(lines[0].split("about ")[1].split(" ")[0]) / expected < 2


@pytest.mark.parametrize(
    "how, words",
    [
        (dict(sampler="sgld", step_size=1e-5), r"sgld with step_size=1e-05 takes about 400,000"),
        (dict(sampler="vsgbd", step_size=1e-5), "the step is tiny against the posterior"),
        (dict(sampler="mala", step_size=1e-5), "the step is tiny against the posterior"),
        (
            dict(sampler="sgld", gradient="simple", batch_size=1),
            "the step that so noisy gradients allow is tiny against the posterior",
        ),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # chains hardly move
def test_a_tiny_step_is_warned_of_before_sampling_and_in_the_summary(how, words, monkeypatch):
    """The sampler makes no step: the warning comes first.  The summary repeats it."""
    with pytest.warns(StepSizeWarning, match=words):
        res = sgmc.logit("y ~ .", table(), seed=1, draws=20, thin=1, warmup=20, **how)
    assert "[StepSizeWarning]" in str(res.summary())

    def run(*args, **more):
        raise InterruptedError

    monkeypatch.setattr("sgmc.fit.run.run_chains", run)
    with pytest.warns(StepSizeWarning, match=words), pytest.raises(InterruptedError):
        sgmc.logit("y ~ .", table(), seed=1, draws=20, thin=1, warmup=20, **how)


def test_the_cure_of_a_tiny_step_cures_it():
    res = sgmc.logit("y ~ .", table(), seed=1, sampler="sgld", step_size=None)
    assert res.verdict.trustworthy and not res.warnings


def test_a_step_that_is_not_tiny_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.errors.LowESSWarning)
        warnings.simplefilter("ignore", sgmc.errors.ConvergenceWarning)
        how = dict(sampler="sgld", step_size=1e-3, draws=100, thin=10)
        res = sgmc.logit("y ~ .", table(), seed=1, **how)
    assert not any(isinstance(one, StepSizeWarning) for one in res.warnings)
