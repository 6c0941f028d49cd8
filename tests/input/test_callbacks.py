"""What users hand over as functions may raise, sleep, lie, change what they get,
or call the package again.
"""

import itertools
import re
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import sgmc
from sgmc.errors import ArgumentError, FormulaError, InterruptedWarning
from sgmc.fit import chains

from .cases import CASES, N, X

CASE = CASES[0]
# hours, were it not stopped
LONG = dict(sampler="lmsgld", draws=1000, thin=10**7, seed=1, time_limit=120)
SHORT = dict(sampler="lmsgld", draws=2000, seed=1)


class Own(Exception):
    """An error of the user's."""


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """No thread, no limit of BLAS, and the next fit is as ever."""

    def state():
        return {t.ident for t in threading.enumerate()}, [
            t["num_threads"] for t in threadpool_info() if t["user_api"] == "blas"
        ]

    expected, before = CASE.fit(**SHORT).draws, state()
    yield
    assert state() == before
    np.testing.assert_array_equal(CASE.fit(**SHORT).draws, expected)


@pytest.fixture(autouse=True)
def runs(monkeypatch):
    """How each run of the test ended; progress is called often,
    so that a short run has some of it.
    """
    made = []
    monkeypatch.setattr(chains, "Run", lambda run=chains.Run: made.append(run()) or made[-1])
    monkeypatch.setattr(chains, "POLL_SECONDS", 1e-3)
    return made


def surfaces(error, runs, **arguments):
    """Whether a fit ends with that very error, and not by its time limit."""
    with pytest.raises(type(error)) as raised:
        CASE.fit(**{**LONG, **arguments})
    return raised.value is error and not any(run.interrupted for run in runs)


def raising(error, when=lambda *arguments: True, value=None):
    """A function that raises `error` the first time that `when` is true of its arguments."""
    once = itertools.count()

    def function(*arguments):
        if when(*arguments) and next(once) == 0:
            raise error
        return value

    return function


# ---- progress ------------------------------------------------------------------------------------


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "when", [lambda done, total: True, lambda done, total: done > 10_000], ids=["at once", "later"]
)
@pytest.mark.parametrize("threads", [1, 4])
def test_an_error_of_progress_surfaces(when, threads, runs):
    error = Own("mine")
    assert surfaces(error, runs, progress=raising(error, when), threads=threads)


def test_progress_of_a_wrong_signature():
    with pytest.raises(TypeError, match="takes 0 positional arguments but 2 were given"):
        CASE.fit(progress=lambda: None, **LONG)


@pytest.mark.extended
def test_progress_that_interrupts_is_ctrl_c():
    how = dict(sampler="lmsgld", draws=10**5, thin=100, seed=1, threads=4)
    with pytest.warns(InterruptedWarning, match="stopped by Ctrl-C"):
        found = CASE.fit(
            progress=raising(KeyboardInterrupt(), lambda done, total: done > 4 * 2000 * 100), **how
        )
    kept = min(found.draws.shape[1], 500)
    assert found.interrupted == "Ctrl-C" and 0 < kept <= found.draws.shape[1] < 10**5
    np.testing.assert_array_equal(
        found.draws[:, :kept], CASE.fit(**{**how, "draws": 500}).draws[:, :kept]
    )


@pytest.mark.extended
def test_slow_progress_does_not_change_the_draws():
    calls, how = [], dict(SHORT, thin=150)
    found = CASE.fit(progress=lambda *a: (calls.append(a), time.sleep(0.2)), **how)
    assert calls
    np.testing.assert_array_equal(found.draws, CASE.fit(**how).draws)


@pytest.mark.extended
def test_progress_that_fits():
    inner, how = [], dict(SHORT, thin=150)

    def progress(done, total):
        if len(inner) < 2:
            inner.append(CASE.fit(**SHORT).draws)

    found = CASE.fit(progress=progress, **how)
    assert len(inner) == 2
    np.testing.assert_array_equal(found.draws, CASE.fit(**how).draws)
    for draws in inner:
        np.testing.assert_array_equal(draws, CASE.fit(**SHORT).draws)


@pytest.mark.extended
def test_progress_that_changes_the_data(inputs_stay_as_they_were):
    how, calls = dict(SHORT, thin=150), []
    model = CASE.model(np.array(CASE.y), np.array(X))

    def progress(done, total):
        calls.append(done)
        model.data.source[:], model.data.y[:] = np.nan, np.nan

    found = model.fit(progress=progress, **how)
    assert calls and np.isnan(model.data.y).all()  # the chains have a copy of their own
    np.testing.assert_array_equal(found.draws, CASE.model(CASE.y, X).fit(**how).draws)
    inputs_stay_as_they_were.clear()


# ---- step sizes ----------------------------------------------------------------------------------


@pytest.mark.cover(0)
@pytest.mark.parametrize("step", [0, 1, 700])
def test_an_error_of_a_step_size_surfaces_and_stops_the_other_chains(step, runs):
    error = Own("mine")
    calls = []
    function = raising(error, lambda t: t == step, 0.5)
    assert surfaces(error, runs, step_size=lambda t: (calls.append(t), function(t))[1])
    assert len(calls) < 10**6  # of 4e10


@pytest.mark.cover(0)
@pytest.mark.parametrize("step", [0, 700])
@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        0,
        -1,
        -1.0,
        float("inf"),
        "0.1",
        b"1",
        None,
        True,
        1j,
        [0.1],
        np.ones(2),
        10**400,
    ],
    ids=lambda v: repr(v)[:20],
)
def test_what_is_no_step_size_is_refused_by_step_and_value(step, value, runs):
    text = f"step_size({step})={value!r} must be a positive number"
    with pytest.raises(ArgumentError, match=re.escape(text)):
        CASE.fit(step_size=lambda t: value if t == step else 0.5, **LONG)
    assert not any(run.interrupted for run in runs)


@pytest.mark.extended
@pytest.mark.parametrize(
    "kind", [float, np.float32, np.float64, np.array, lambda v: 1 if v else 0], ids=range(5)
)
def test_numbers_of_every_kind_are_step_sizes(kind):
    value = kind(0.5)
    np.testing.assert_array_equal(
        CASE.fit(step_size=lambda t: value, **SHORT).draws,
        CASE.fit(step_size=lambda t: float(value), **SHORT).draws,
    )


@pytest.mark.extended
def test_a_step_size_that_fits():
    inner = []

    def step(t):
        if t == 100:
            inner.append(CASE.fit(**SHORT).draws)
        return 0.5

    found = CASE.fit(step_size=step, **SHORT)
    assert len(inner) == 4
    np.testing.assert_array_equal(found.draws, CASE.fit(step_size=lambda t: 0.5, **SHORT).draws)
    np.testing.assert_array_equal(inner[3], CASE.fit(**SHORT).draws)


# ---- subsets and formulas ------------------------------------------------------------------------


def test_an_error_of_a_subset_surfaces(runs):
    error = Own("mine")
    assert surfaces(error, runs, subset=raising(error))


def test_a_subset_that_changes_what_it_gets():
    frame = CASE.frame.copy()

    def subset(df):
        df["new"] = 1
        df.pop("x1")
        df.loc[:, "x2"] = 0.0
        df.columns = [f"other {name}" for name in df.columns]
        df.index = range(1, N + 1)
        return np.arange(N) < 150

    found = CASE.verb("y ~ x1 + x2", frame, subset=subset, seed=1)
    assert frame.equals(CASE.frame)
    np.testing.assert_array_equal(
        found.draws, CASE.verb("y ~ x1 + x2", frame.iloc[:150], seed=1).draws
    )


def square(x):
    """x squared, in the place of x."""
    x *= x
    return x


def absolute(x):
    """|x|, in the place of x."""
    x[x < 0] = -x[x < 0]
    return x


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "text, plain",
    [
        ("square(x2) + x2", "I(x2**2) + x2"),
        ("x2 + square(x2)", "x2 + I(x2**2)"),
        ("absolute(x1) + x1 + x2", "np.abs(x1) + x1 + x2"),
        ("x1 + square(center(x1))", "x1 + I(center(x1)**2)"),
    ],
)
@pytest.mark.parametrize("gaps", [False, True])
def test_a_function_that_changes_what_it_gets_changes_no_other_column(text, plain, gaps):
    frame = CASE.frame.assign(x1=CASE.frame.x1.astype("int8"))
    frame = frame.assign(x2=frame.x2.where(np.arange(N) % 7 > 0)) if gaps else frame
    before = frame.copy(deep=True)
    try:
        found = CASE.verb(f"y ~ {text}", frame, seed=1)
    except FormulaError as error:  # pandas 2: what it gets is read-only
        assert "read-only" in str(error)
    else:
        np.testing.assert_array_equal(found.draws, CASE.verb(f"y ~ {plain}", frame, seed=1).draws)
        np.testing.assert_array_equal(
            found.predict(frame), CASE.verb(f"y ~ {plain}", frame, seed=1).predict(frame)
        )
    assert frame.equals(before)


def fails(x):
    """A function of a formula that raises."""
    raise Own("mine")


@pytest.mark.parametrize("text", ["y ~ fails(x1)", "y ~ x2 + np.log(fails(x1) + 1)"])
def test_an_error_of_a_function_in_a_formula_is_the_cause_of_ours(text):
    with pytest.raises(FormulaError, match="Own: mine") as raised:
        CASE.verb(text, CASE.frame, seed=1)
    chain = [raised.value]
    while chain[-1] is not None:
        chain.append(chain[-1].__cause__)
    assert any(isinstance(one, Own) for one in chain)


class Hostile:
    """An array that raises when it is read."""

    def __array__(self, *arguments, **keywords):
        raise Own("mine")


def test_an_error_of_an_array_surfaces():
    for arguments in ((Hostile(), X), (CASE.y, Hostile())):
        with pytest.raises(Own, match="mine"):
            CASE.model(*arguments)
    with pytest.raises(Own, match="mine"):
        CASE.fit(init=Hostile())
    assert sgmc.sample(CASE.model(CASE.y, X), **SHORT).nobs == N
