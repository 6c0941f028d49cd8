"""What `cens` and `trunc` make, and what they refuse."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError
from sgmc.results.outcomes.data.words import observed, time

Y = np.array([1.0, 2.0, 3.0])
INF = np.inf


def same(found, *expected):
    """Assert the four ends of records or of a frame."""
    for name, values in zip(("low", "high", "above", "below"), expected):
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_what_cens_makes():
    ends = [[-INF, 2, 3], [1, 2, INF], [-INF] * 3, [INF] * 3]
    for codes in (["left", "none", "right"], [-1, 0, 1], pd.Categorical(["left", "none", "right"])):
        same(sgmc.cens(Y, codes), *ends)
    same(sgmc.cens(Y, [False, False, True]), [1, 2, 3], [1, 2, INF], [-INF] * 3, [INF] * 3)
    same(sgmc.cens(Y, [2, 0, 0], [4, np.nan, 0]), Y, [4, 2, 3], [-INF] * 3, [INF] * 3)
    same(sgmc.cens(Y, "right"), Y, [INF] * 3, [-INF] * 3, [INF] * 3)
    missing = sgmc.cens([1.0, np.nan, 2.0], ["none", "none", None])
    np.testing.assert_array_equal(np.isnan(missing["low"]), [False, True, True])


def test_what_trunc_makes():
    same(sgmc.trunc(Y, low=1), Y, Y, [1] * 3, [INF] * 3)
    same(sgmc.trunc(Y, low=[0, 1, 2], high=5), Y, Y, [0, 1, 2], [5] * 3)
    both = sgmc.trunc(sgmc.cens(Y, ["left", "none", "right"]), low=0, high=9)
    same(both, [0, 2, 3], [1, 2, 9], [0] * 3, [9] * 3)
    assert np.isnan(sgmc.trunc(Y, low=[0, np.nan, 0])["high"][1])
    times = sgmc.Surv([2.0, 3.0, 4.0], [5.0, 6.0, 7.0], [1, 0, 1])
    same(times, [5, 6, 7], [5, INF, 7], [2, 3, 4], [INF] * 3)
    same(sgmc.trunc(sgmc.Surv([5.0], [0]), low=2), [5], [INF], [2], [INF])


def test_frames_keep_their_labels():
    frame = pd.DataFrame({"y": Y, "c": [0, 1, 0]}, index=list("abc"))
    assert list(sgmc.cens(frame.y, frame.c).index) == list("abc")
    assert list(sgmc.trunc(sgmc.cens(frame.y, frame.c), low=0).index) == list("abc")


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: sgmc.cens(Y, ["left", "up", "none"]), "cens: 'up' in 'c' is no kind of censoring"),
        (lambda: sgmc.cens(Y, [0, 3, 0]), "cens: 3 in 'c' is no kind of censoring"),
        (lambda: sgmc.cens(Y, [0, 0]), "3 outcomes, 2 codes and 3 values of y2"),
        (lambda: sgmc.cens(Y, [0, 2, 0]), "some rows are intervals: name their upper ends"),
        (lambda: sgmc.cens(Y, [2, 0, 0], [0, 1, 1]), "an interval from 1 to 0 ends before"),
        (lambda: sgmc.cens(["a"], [0]), "cens: the outcome must hold numbers"),
        (lambda: sgmc.cens(np.ones((2, 2)), [0, 0]), r"has shape \(2, 2\); it must be one number"),
        (lambda: sgmc.trunc(Y, low=2), "an outcome of 1 lies outside its bounds, 2 to inf"),
        (lambda: sgmc.trunc(Y, low=5, high=2), "trunc: low=5 must be less than high=2"),
        (lambda: sgmc.trunc(Y, low=[0, 1]), "trunc: there are 3 outcomes and 2 bounds"),
        (lambda: sgmc.Surv([2.0], [2.0], [1]), "an entry at 2 is not before its time, 2"),
        (lambda: sgmc.OLS(sgmc.cens([1.0, np.nan], [0, 0]), np.ones((2, 1))), "has missing values"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_words_are_of_the_outcome():
    """Labels of axes."""
    names = {
        "y": "y",
        "cens(y, c)": "y",
        "trunc(cens(np.log(y), c, y2=u), low=1)": "np.log(y)",
        "trunc(y)": "y",
    }
    for name, expected in names.items():
        assert observed(name) == expected
    times = {
        "Surv(time, event)": "time",
        "Surv(start, time, event == 2)": "time",
        "Surv(low, high, type='interval2')": "low",
        "trunc(Surv(time, event), low=e)": "time",
        "t": "t",
    }
    for name, expected in times.items():
        assert time(name) == expected


FRAME = pd.DataFrame({"y": [0.5, 1.0, 2.0, 3.0], "x": [0.0, 1.0, 2.0, 4.0], "c": [1, 1, 1, 1]})


def test_fits_refuse():
    with pytest.raises(DataError, match="every outcome 'cens.y, c.' is censored on one side"):
        sgmc.ols("cens(y, c) ~ x", FRAME)
    with pytest.raises(DataError, match="must hold counts, 0, 1, 2, ..; it has 0.5"):
        sgmc.poisson("cens(y, c) ~ x", FRAME.assign(c=0))


def test_rows_without_an_outcome_are_left_out():
    """A missing outcome, code or bound; not a missing upper end of what is no interval."""
    from sgmc import formula

    frame = pd.DataFrame(
        {
            "y": [1.0, np.nan, 3.0, 4.0, 5.0],
            "c": ["none", "none", None, "right", "interval"],
            "u": [np.nan, 1, 1, np.nan, 7],
            "b": [0, 0, 0, np.nan, 1],
            "x": np.arange(5.0),
        }
    )
    assert formula.read("cens(y, c, y2=u) ~ x", frame, outcome="numeric").dropped == 2
    assert formula.read("trunc(y, low=b) ~ x", frame, outcome="numeric").dropped == 2
    read = formula.read("cens(y, c, y2=u) ~ .", frame, outcome="numeric")
    assert read.spec.exog_names == ["Intercept", "b", "x"]
