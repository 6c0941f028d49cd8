"""What responses of survival models may be, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc import formula
from sgmc.arguments.data.survival import LEFT, RIGHT
from sgmc.errors import ArgumentError, DataError, NotSupported, SGMCError

from .tables import simulated

T, E = np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1])
FRAME = simulated("weibull", 40)


def same(found, real, imag):
    """Assert the parts of outcomes; NaN equals NaN."""
    np.testing.assert_array_equal(np.real(found), real)
    np.testing.assert_array_equal(np.imag(found), imag)


def test_what_surv_makes():
    same(sgmc.Surv(T), T, [0, 0, 0])
    same(sgmc.Surv(T, E), T, [0, RIGHT, 0])
    same(sgmc.Surv(T, E == 1), T, [0, RIGHT, 0])
    same(sgmc.Surv(T, E, type="left"), T, [0, LEFT, 0])
    lower = np.array([2.0, 2.0, 0.0, np.nan, -np.inf, 2.0, 2.0, np.nan])
    upper = np.array([2.0, 5.0, 3.0, 3.0, 3.0, np.inf, np.nan, np.nan])
    same(
        sgmc.Surv(lower, upper, type="interval2")[:7],
        [2, 2, 3, 3, 3, 2, 2],
        [0, 5, LEFT, LEFT, LEFT, RIGHT, RIGHT],
    )
    assert np.isnan(sgmc.Surv(lower, upper, type="interval2")[7])
    assert np.isnan(sgmc.Surv([1.0, np.nan], [np.nan, 1.0])).all()


def test_series_keep_their_labels():
    frame = pd.DataFrame({"t": T, "e": E}, index=list("abc"))
    made = sgmc.Surv(frame.t, frame.e)
    assert made.name == "Surv(t, e)" and list(made.index) == list("abc")


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: sgmc.Surv(T, E + 1), DataError, "event is 2 .*Surv\\(time, status == 2\\)"),
        (lambda: sgmc.Surv(T, [1, 0, -1]), DataError, "event is -1 in some row"),
        (lambda: sgmc.Surv(T, E[:2]), DataError, "3 times and 2 events"),
        (lambda: sgmc.Surv(T, E, type="counting"), ArgumentError, "must be one of 'right', 'left'"),
        (lambda: sgmc.Surv(T, "left"), ArgumentError, "must be named: type='left'"),
        (lambda: sgmc.Surv(T, type="left"), ArgumentError, "needs a second argument"),
        (lambda: sgmc.Surv(T, T - 0.5, type="interval2"), DataError, "from 1 to 0.5 ends before"),
        (lambda: sgmc.Surv(["a"], [1]), DataError, "the time must hold numbers"),
        (lambda: sgmc.Surv(np.ones((2, 2)), [1, 0]), DataError, "must be one number a row"),
    ],
)
def test_surv_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()


FORMULA = "Surv(time, event) ~ a + b"


@pytest.mark.parametrize(
    "formula, change, how, error, message",
    [
        (
            FORMULA,
            {"time": 0.0},
            {},
            DataError,
            "positive, finite times; it has 0: a time of 0 has",
        ),
        (FORMULA, {"time": -2.0}, {}, DataError, "it has -2"),
        (FORMULA, {"time": np.inf}, {}, DataError, "it has inf"),
        (FORMULA, {"event": 0}, {}, DataError, "no event: every time is censored"),
        (FORMULA, {"event": 2}, {}, SGMCError, "event is 2"),
        (FORMULA, {"event": 1, "time": 3.0}, {}, DataError, "is 3 in every row used"),
        ("event > 0 ~ a", {}, {}, DataError, "must be times, it holds .*Surv\\(time, event\\)"),
        (FORMULA, {}, {"dist": "gompertz"}, ArgumentError, "dist='gompertz'.*weibull"),
        (FORMULA, {}, {"sigma": -1}, ArgumentError, "sigma=-1 must be a positive number"),
        (FORMULA, {}, {"dist": "exponential", "sigma": 2}, ArgumentError, "whose sigma is 1"),
        (FORMULA, {}, {"exposure": "a"}, ArgumentError, "exposure does not apply"),
        (FORMULA, {}, {"se": "a"}, ArgumentError, "se does not apply"),
    ],
)
def test_fits_refuse(formula, change, how, error, message):
    with pytest.raises(error, match=message):
        sgmc.survreg(formula, FRAME.assign(**change), **how)


STATUS = np.where(FRAME.event == 1, "dead", "alive")
WORDED = FRAME.assign(
    start=0.0, status=STATUS, word=FRAME.time.astype(str), spell=pd.to_timedelta(FRAME.time, "D")
)


@pytest.mark.parametrize(
    "response, message",
    [
        ("Surv(time, start, event)", "an entry at .* is not before its time, 0"),
        ("Surv(word, time, event)", "the time must hold numbers, it holds text"),
        (
            "Surv(start, time, type='counting')",
            r"must be one of .*: write Surv\(entry, time, event",
        ),
        ("Surv(time, status)", "the event 'status' holds text.* Surv.time, status == 'dead'."),
        (
            "Surv(word, event)",
            r"the time must hold numbers, it holds text.* pd.to_numeric\(df\['word'\]\)",
        ),
        ("Surv(spell, event)", "the time must hold numbers, .* e.g. .dt.days of a Series"),
    ],
)
@pytest.mark.parametrize("given", [WORDED, WORDED.astype({"status": "category"})])
def test_times_and_events_of_other_kinds(response, message, given):
    with pytest.raises(SGMCError, match=message) as error:
        sgmc.survreg(f"{response} ~ a", given)
    assert "Error:" not in str(error.value)  # no exception of an inner function
    assert formula.read("Surv(time, status == 'dead') ~ a", given, outcome="survival").dropped == 0


def test_other_families_refuse_survival_times():
    with pytest.raises(DataError, match="holds survival times: use sgmc.survreg"):
        sgmc.ols(FORMULA, FRAME)
    with pytest.raises(SGMCError):
        sgmc.logit(FORMULA, FRAME)


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_missing_ends_are_censored_and_missing_times_left_out():
    """As R: an end that is missing is no row that is missing; a time or an event is."""
    frame = simulated("weibull", 60, kind="interval")
    formula, how = "Surv(lower, upper, type='interval2') ~ a", dict(seed=1, draws=800)
    results = sgmc.survreg(formula, frame, **how)
    gaps = frame.assign(
        lower=frame.lower.where(frame.lower > 0), upper=frame.upper.where(frame.upper < np.inf)
    )
    assert gaps.isna().to_numpy().any()
    np.testing.assert_array_equal(sgmc.survreg(formula, gaps, **how).draws, results.draws)
    some = FRAME.assign(time=FRAME.time.where(FRAME.index > 2), a=FRAME.a.where(FRAME.index != 9))
    results = sgmc.survreg(FORMULA, some, **how)
    assert results.nobs == 36 and results.model.dropped == 4
    with pytest.raises(DataError, match="4 rows have missing values"):
        sgmc.survreg(FORMULA, some, missing="raise")


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_every_door_has_the_same_draws(tmp_path):
    how = dict(seed=1, draws=400)
    results = sgmc.survreg(FORMULA, FRAME, **how)
    X = FRAME[["a", "b"]].assign(one=1.0)[["one", "a", "b"]]
    FRAME.to_csv(tmp_path / "times.csv", index=False)
    for other in (
        sgmc.Survreg(sgmc.Surv(FRAME.time, FRAME.event), X).fit(**how),
        sgmc.Survreg(sgmc.Surv(FRAME.time.to_numpy(), FRAME.event.to_numpy()), X).fit(**how),
        sgmc.survreg("Surv(time, event) ~ .", FRAME, **how),
        sgmc.survreg("Surv(`time`, event == 1) ~ a + b", FRAME, **how),
        sgmc.survreg(FORMULA, str(tmp_path / "times.csv"), **how),
        sgmc.survreg(FORMULA, {name: column.to_numpy() for name, column in FRAME.items()}, **how),
    ):
        np.testing.assert_allclose(other.draws, results.draws, rtol=1e-12)
    times = sgmc.survreg("time ~ a + b", FRAME, **how)
    all_seen = sgmc.survreg("Surv(time) ~ a + b", FRAME, **how)
    np.testing.assert_array_equal(times.draws, all_seen.draws)


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_what_is_not_built_is_refused():
    results = sgmc.survreg(FORMULA, FRAME, seed=1)
    with pytest.raises(NotSupported, match="update: survival times are not carried on"):
        results.update(FRAME)


def test_improper_posteriors_are_refused():
    """A group without events has no upper bound of its coefficient; one event says nothing of
    sigma.
    """
    alive = FRAME.assign(event=FRAME.event.where(FRAME.b == 0, 0))
    with pytest.raises(DataError, match="improper: the likelihood does not bound .* b"):
        sgmc.survreg(FORMULA, alive, prior="flat")
    few = FRAME.assign(event=(FRAME.index < 3).astype(int))
    with pytest.raises(DataError, match="improper: 3 rows and 3 coefficients .* 'sigma'"):
        sgmc.survreg(FORMULA, few, prior="flat")


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_rows_of_weight_zero_do_not_count():
    frame = FRAME.assign(w=1.0)
    more = pd.concat([frame, frame.head(1).assign(time=2.0, w=0.0)], ignore_index=True)
    results = sgmc.survreg(FORMULA, more, weights="w", seed=1)
    assert results.nobs == 40
    mode = sgmc.survreg(FORMULA, FRAME, seed=1)._fit.problem.mode.theta
    np.testing.assert_allclose(results._fit.problem.mode.theta, mode, atol=0.05)
