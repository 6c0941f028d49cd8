"""`time_limit` holds while a formula is read: of a table that takes too long some rows give a
stand-in, which is marked and never trusted.
"""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.system import deadline
from sgmc.errors import DataError, InterruptedWarning, SGMCWarning
from sgmc.formula import reader, timed_reading
from sgmc.formula.designs import design

LIMIT, N, FEW = 2.0, 4000, 300
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


class Clock:
    """Stands still but for what is said to take time."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    one = Clock()
    monkeypatch.setattr(deadline, "clock", one)
    monkeypatch.setattr(timed_reading, "ROWS_IN_TIME", FEW)
    for room in (reader, design):
        monkeypatch.setattr(room, "CHUNK_ROWS", 250)
    return one


@pytest.fixture
def slow(clock):
    """A function of users that takes .8 ms a row: all that is made of a design that has it takes
    six passes, 19 seconds.
    """

    def function(x):
        clock.now += 8e-4 * len(x)
        return np.sin(x)

    return function


def table():
    random = np.random.default_rng(11)
    df = pd.DataFrame({"a": random.normal(size=N), "b": random.normal(size=N)})
    df["t"] = np.array(["low", "mid", "high"], dtype=object)[random.integers(0, 3, N)]
    df["y"] = (df.a + random.logistic(size=N) > 0).astype(int)
    df["w"] = random.integers(1, 3, N)
    return df


def in_half_a_second(clock):
    """The target of `benchmarks/limits.py`."""
    return clock.now <= 1.1 * LIMIT + 0.5


def check_stand_in(found):
    assert "time_limit ended the reading of the table" in found.stand_in
    assert f"{FEW} of {N:,} rows" in found.verdict.text and not found.verdict.trustworthy
    assert any(isinstance(w, InterruptedWarning) for w in found.warnings)
    assert found.nobs == FEW and np.isfinite(found.draws).all() and str(found.summary(details=True))


def test_an_expression_that_takes_long(clock, slow):
    check_stand_in(sgmc.logit("y ~ slow(a) + b", table(), seed=1, time_limit=LIMIT))
    assert in_half_a_second(clock)


@pytest.mark.parametrize("formula", ["y ~ slow(a) + b", "y ~ b | slow(a)"])
def test_two_designs_that_take_long(formula, clock, slow):
    """Both parts are of the same rows."""
    check_stand_in(sgmc.zeroinflated(formula, table(), seed=1, time_limit=LIMIT))
    assert in_half_a_second(clock)


@pytest.mark.cover(0)
@pytest.mark.parametrize("rows", [200, N])
@pytest.mark.parametrize("verb", [sgmc.ols, sgmc.logit, sgmc.zeroinflated, sgmc.ordinal])
def test_a_limit_that_is_up_at_once_leaves_a_stand_in(verb, rows, clock, monkeypatch):
    """The clock goes on at each look: whatever was begun, there are results, and no bare end."""

    def running():
        clock.now += 0.01
        return clock.now

    monkeypatch.setattr(deadline, "clock", running)
    df = table().head(rows).assign(y=lambda d: d.y + (d.a > 1))
    formula = "y > 0 ~ a + t * (b > 0)" if verb is sgmc.logit else "y ~ a + t * (b > 0)"
    for limit in (1e-9, 0.02, 0.05, 0.1, 0.2):
        found = verb(formula, df, seed=1, time_limit=limit)
        assert found.stand_in and not found.verdict.trustworthy


def test_text_that_takes_long(clock, monkeypatch):
    """The levels of each of six columns take a second."""
    df, usual = table().assign(**{f"t{k}": table().t for k in range(5)}), reader.levels_of

    def slow(column):
        clock.now += len(column) / N
        return usual(column)

    monkeypatch.setattr(reader, "levels_of", slow)
    formula = "y ~ a + t + t0 + t1 + t2 + t3 + t4"
    check_stand_in(sgmc.logit(formula, df, seed=1, time_limit=LIMIT))
    assert in_half_a_second(clock)


@pytest.mark.parametrize("rest", ["s(a) + te(a, b)", "s(a) + s(b) + (1 | t)"])
def test_smooths_that_take_long(rest, clock, monkeypatch):
    from sgmc.splines import smooth

    usual = smooth.orthogonal

    def slow(P, *more):
        clock.now += 1e-3 * len(P)
        return usual(P, *more)

    monkeypatch.setattr(smooth, "orthogonal", slow)
    if "te" in rest:
        rest = "te(a, b)"
    found = sgmc.logit(f"y ~ {rest}", table(), seed=1, time_limit=LIMIT)
    check_stand_in(found)
    # what was begun ends: the columns of one curve
    assert clock.now <= 0.5 * LIMIT + 1e-3 * (N + 3 * FEW) + 0.5


def test_time_that_suffices_changes_nothing(clock):
    df = table()
    free = sgmc.logit("y ~ np.sin(a) + t", df, seed=1, draws=100)
    found = sgmc.logit("y ~ np.sin(a) + t", df, seed=1, draws=100, time_limit=LIMIT)
    assert not found.stand_in and found.nobs == N
    np.testing.assert_array_equal(found.draws, free.draws)


@pytest.mark.parametrize("how", [{}, {"weights": "w"}, {"subset": "b > -1"}])
def test_the_stand_in_is_the_approximation_for_rows_evenly_spaced(how, slow):
    """Beside `laplace` of the same rows: means of 4,000 draws, four sds of their difference."""

    df = table()
    rows = np.flatnonzero(df.b > -1) if "subset" in how else np.arange(N)
    some = df.iloc[rows[np.linspace(0, len(rows) - 1, FEW).astype(int)]]
    given = dict(how, seed=1)
    found = sgmc.logit("y ~ slow(a) + b", df, time_limit=LIMIT, **given)
    right = sgmc.logit("y ~ slow(a) + b", some, sampler="laplace", **given)
    assert found.nobs == right.nobs and found.draws.shape[1] == 1000
    apart = (found.params - right.params).abs() / right.bse
    assert apart.max() < 4 * np.sqrt(2 / 4000)
    assert (found.bse / right.bse - 1).abs().max() < 4 / np.sqrt(4000)


def test_rows_that_will_not_do_are_all_read(slow):
    """The only failures are in rows that are not among the few."""

    df = table().assign(y="yes")
    df.loc[[1, 2], "y"] = "no"
    found = sgmc.logit("y ~ slow(a)", df, seed=1, time_limit=LIMIT)
    assert found.nobs == N and found.stand_in and not found.verdict.trustworthy


def test_what_is_wrong_is_said_as_ever(slow):
    with pytest.raises(DataError, match="must be 0 or 1"):
        sgmc.logit("w ~ slow(a)", table(), seed=1, time_limit=LIMIT)


def test_a_stand_in_does_not_go_on(slow):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        found = sgmc.logit("y ~ slow(a)", table(), seed=1, time_limit=LIMIT)
    with pytest.raises(sgmc.errors.ArgumentError, match="fit again with more time"):
        found.resume(draws=10)
