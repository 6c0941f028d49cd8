"""The bar of a call: phases by name and in order, shares where lengths are known, closed at the end
however that comes.
"""

import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.arguments import progress
from sgmc.core.system import phases
from sgmc.errors import ArgumentError, FormulaError
from sgmc.fit import run
from sgmc.results import results as summarising

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")  # of few draws

FIT = [phases.DESIGN, phases.MODE, phases.PILOT, phases.SAMPLING, phases.CHECKS]
HOW = dict(seed=1, draws=200, chains=2)


class FakeBar:
    """What is used of tqdm's bars, noted down."""

    made = []

    def __init__(self, leave, bar_format, desc):
        self.total, self.bar_format, self.n, self.closed = None, bar_format, 0, 0
        self.names, self.counted, self.refreshed = [], {}, 0
        assert leave is False
        FakeBar.made.append(self)

    def set_description_str(self, text, refresh):
        assert self.closed == 0 and refresh is False
        self.names.append(text)

    def reset(self, total):
        self.total, self.n = total, 0

    def refresh(self):
        self.refreshed += 1
        assert (self.bar_format == phases.COUNTED) == (self.total is not None)
        if self.total is not None:
            self.counted.setdefault(self.names[-1], []).append((self.n, self.total))

    def clear(self):
        """Make room for a line above."""

    def close(self):
        self.closed += 1


@pytest.fixture
def bars(monkeypatch):
    """Bars that were made."""
    monkeypatch.setattr(FakeBar, "made", [])
    monkeypatch.setattr(phases, "bar_class", lambda: FakeBar)
    monkeypatch.setattr(phases, "TICK", 0.01)
    return FakeBar.made


@pytest.fixture(scope="module")
def df():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(500, 2)), columns=["x", "z"])
    return frame.assign(y=(rng.random(500) < 1 / (1 + np.exp(-frame.x))).astype(int))


def named(bar, title="sgmc"):
    assert all(name.startswith(f"{title}: ") for name in bar.names)
    return [name.removeprefix(f"{title}: ") for name in bar.names]


def only(bars):
    (bar,) = bars
    assert bar.closed == 1
    return bar


def no_thread_is_left():
    return not any("draw" in repr(getattr(one, "_args", "")) for one in threading.enumerate())


# ---- phases --------------------------------------------------------------------------------------


def test_phases_of_a_fit_in_their_order(bars, df):
    found = sgmc.logit("y ~ x", df, progress=True, threads=2, sampler="mala", **HOW)
    assert named(only(bars)) == FIT and no_thread_is_left()
    without = sgmc.logit("y ~ x", df, progress=False, threads=1, sampler="mala", **HOW)
    np.testing.assert_array_equal(found.draws, without.draws)
    assert len(bars) == 1


def test_only_known_lengths_have_a_share(bars, df):
    sgmc.logit("y ~ x", df, progress=True, sampler="mala", seed=1, draws=200_000, chains=2)
    bar = only(bars)
    assert set(bar.counted) == {f"sgmc: {phases.SAMPLING}"}
    done = [one for one, _ in bar.counted[f"sgmc: {phases.SAMPLING}"]]
    assert done == sorted(done)
    assert {total for _, total in bar.counted[f"sgmc: {phases.SAMPLING}"]} == {2 * 200_500}


@pytest.mark.extended
def test_a_model_of_its_own_and_one_without_a_mode(bars, df):
    model = sgmc.Logit.from_formula("y ~ x", df)  # the design is there
    model.fit(progress=True, **HOW)
    assert named(only(bars)) == FIT[1:]
    sgmc.GaussianMixture(np.append(df.x, df.x + 9), 2).fit(progress=True, seed=1, draws=50)
    assert named(bars[1])[1:] == FIT[2:]


def test_tuning_and_the_check_at_half_the_step(bars, df, monkeypatch):
    res = sgmc.logit("y ~ x", df, progress=True, tune="default", sampler="sgld", **HOW)
    names = named(only(bars))
    assert names == [phases.DESIGN, phases.MODE, phases.TUNING, *FIT[1:]]
    monkeypatch.setattr(phases, "watching", lambda: True)
    monkeypatch.setattr(phases, "SHOWN_AFTER", 0.0)
    res.half_step()
    assert named(bars[1], "sgmc half-step check") == [phases.SAMPLING]
    res.resume(draws=10)
    assert named(bars[2]) == [phases.SAMPLING, phases.CHECKS]
    assert [bar.closed for bar in bars] == [1, 1, 1]


def test_files_name_their_passes(bars, df, tmp_path):
    sgmc.prepare("y ~ x", df, tmp_path / "a.sgmc", progress=True)
    names = named(only(bars))
    assert names[0] == "reading rows" and set(names[1:]) <= {
        "reading rows", "spreading rows", "writing rows",
    }  # fmt: skip
    assert names[-1] == "writing rows"


def test_time_goes_on_while_a_phase_computes(bars):
    """Nothing is reported, and the bar is drawn again and again."""
    with phases.watched(True):
        phases.begin("long one")
        end = time.time() + 10
        while not (bars and bars[0].refreshed > 3) and time.time() < end:
            time.sleep(0.01)
    assert only(bars).refreshed > 3 and bars[0].counted == {}


# ---- the end -------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt(), MemoryError()])
def test_an_exception_closes_the_bar(bars, df, monkeypatch, error):
    def broken(*args, **how):
        raise error

    monkeypatch.setattr(run, "run_chains", broken)
    with pytest.raises((type(error), MemoryError)):
        sgmc.logit("y ~ x", df, progress=True, **HOW)
    assert named(only(bars)) == FIT[:4] and no_thread_is_left()
    assert phases.reporting() is None


@pytest.mark.extended
def test_mistakes_and_time_limits_close_it_too(bars, df):
    with pytest.raises(FormulaError):
        sgmc.logit("y ~ nothing", df, progress=True)
    assert named(only(bars)) == [phases.DESIGN]
    with pytest.raises(ArgumentError, match="progress="):
        sgmc.logit("y ~ x", df, progress="yes")
    with pytest.warns(sgmc.SGMCWarning):
        res = sgmc.logit(
            "y ~ x", df, progress=True, seed=1, sampler="mala", draws=10**6,
            time_limit=0.8,
        )  # fmt: skip
    assert res.interrupted == "time limit"
    assert named(bars[1])[-1] == phases.CHECKS and bars[1].closed == 1 and len(bars) == 2


def test_warnings_come_after_the_bar(bars, df, monkeypatch):
    """A line of text would otherwise begin in the middle of it."""
    closed = []
    monkeypatch.setattr(summarising, "warn", lambda one: closed.append(bars[0].closed))
    sgmc.logit("y ~ x", df, progress=True, seed=1, draws=20, sampler="mala")
    assert closed and set(closed) == {1}


# ---- whether there is one ------------------------------------------------------------------------


def test_no_bar_where_nobody_looks(bars, df, monkeypatch):
    """Nor a thread; a function is called, and has none."""
    monkeypatch.setattr(phases, "ProgressBar", None)
    monkeypatch.setattr(phases, "watching", lambda: False)
    sgmc.logit("y ~ x", df, **HOW)
    monkeypatch.setattr(phases, "watching", lambda: True)
    told = []
    sgmc.logit("y ~ x", df, progress=lambda *now: told.append(now), sampler="mala", **HOW)
    sgmc.logit("y ~ x", df, progress=False, **HOW)
    assert bars == []


@pytest.mark.parametrize("delay, shown", [(0.0, 1), (60.0, 0)])
def test_a_notebook_has_one_for_calls_that_last(bars, df, monkeypatch, delay, shown):
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setattr(phases, "SHOWN_AFTER", delay)
    assert phases.watching()
    sgmc.logit("y ~ x", df, **HOW)
    assert len(bars) == shown
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not progress.in_notebook()


def test_a_late_bar_shows_the_phase_of_now(bars, monkeypatch):
    monkeypatch.setattr(phases, "watching", lambda: True)
    monkeypatch.setattr(phases, "SHOWN_AFTER", 0.2)
    with phases.watched(None):
        phases.begin("short one")
        phases.begin("long one")
        time.sleep(0.6)
    assert named(only(bars)) == ["long one"]


def test_calls_within_calls_share_the_bar_or_have_none(bars, df):
    with phases.watched(True, "outer"):
        phases.begin("first")
        with phases.watched(None):
            phases.begin("second")
        with phases.watched(False):
            phases.begin("not shown")
            with phases.watched(None):
                phases.begin("nor this")
    assert named(only(bars), "outer") == ["first", "second"]


def test_cross_validation_counts_fits(bars, df):
    res = sgmc.logit("y ~ x", df, progress=False, **HOW)
    res.kfold(df, 2, progress=True)
    bar = only(bars)
    assert named(bar, "sgmc k-fold") == ["fitting again"]
    assert {total for _, total in bar.counted["sgmc k-fold: fitting again"]} == {2}
    told = []
    res.kfold(df, 3, progress=lambda *now: told.append(now))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    res.kfold(df, 2, progress=False)
    assert len(bars) == 1


def test_what_is_called_after_the_fit_has_a_bar(bars, df, monkeypatch):
    res = sgmc.logit("y ~ x", df, progress=False, **HOW)
    res.loo()
    assert bars == []  # nobody looks
    monkeypatch.setattr(phases, "watching", lambda: True)
    monkeypatch.setattr(phases, "SHOWN_AFTER", 0.0)
    calls = [res.loo, res.r2, res.pp_check, res.predictions, res.avg_slopes, res.predict]
    calls += [res.posterior_predict, res.log_lik, res.calibration, res.sensitivity]
    for call in calls:
        call()
    names = [named(bar)[0] for bar in bars]
    assert names[:2] == ["leaving rows out", "explained variance"]
    assert names[3:6] == ["predictions", "slopes", "predictions"]
    assert names[6] == "simulating outcomes" and names[-1] == "changing prior and likelihood"
    assert len(bars) == len(calls) and all(bar.closed == 1 for bar in bars)
    assert no_thread_is_left()


def test_rows_that_take_several_blocks_have_a_share(bars, df, monkeypatch):
    res = sgmc.logit("y ~ x", df, progress=False, **HOW)
    rows = res.table_rows()
    monkeypatch.setattr(type(rows), "block", 100)
    told = []
    monkeypatch.setattr(phases, "reporting", lambda: lambda *now: told.append(now))
    rows.mean()
    assert told == [(k, 500) for k in (100, 200, 300, 400, 500)]
    monkeypatch.setattr(type(rows), "block", 500)
    rows.mean()
    assert len(told) == 5  # one block has no share


def test_bars_of_notebooks(monkeypatch):
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    assert progress.seconds_apart() == 0 and progress.bar_class().__module__ == "tqdm.std"
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    assert progress.seconds_apart() == progress.SECONDS_OF_TEXT
    assert progress.bar_class().__module__ == "tqdm.std"
    monkeypatch.setattr(progress, "find_spec", lambda name: object())
    assert progress.seconds_apart() == 0
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm="the one that fits"))
    assert progress.bar_class() == "the one that fits"


def test_text_in_notebooks_is_drawn_now_and_then(bars, monkeypatch):
    """Each drawing is a message that stays in the notebook."""
    monkeypatch.setattr(phases, "seconds_apart", lambda: 60.0)
    with phases.watched(True):
        phases.begin("one")
        time.sleep(0.3)  # thirty ticks
        phases.begin("other")
        time.sleep(0.3)
    assert only(bars).refreshed == 2


@pytest.mark.extended
def test_the_bar_of_tqdm(df, capfd):
    """The real one, as text: the phase, and no share but that of sampling."""
    sgmc.logit("y ~ x", df, progress=True, sampler="mala", seed=1, draws=100_000)
    text = capfd.readouterr().err
    for name in FIT:
        assert f"sgmc: {name}: " in text
    shares = [line for line in text.split("\r") if "%" in line]
    assert shares and all(line.startswith(f"sgmc: {phases.SAMPLING}: ") for line in shares)
    assert phases.bar_class().__module__ == "tqdm.std"
