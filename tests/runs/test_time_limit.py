"""`time_limit` counts from the call to the return, and there is always a result: on a clock that
jumps past the limit when it is read for the k-th time, wherever in a fit that is.
"""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.system import deadline
from sgmc.core.system.deadline import Deadline, OutOfTime, RateEstimator, limited
from sgmc.errors import ArgumentError, InterruptedWarning, SGMCWarning
from sgmc.fit import run, stopping

LIMIT = 100.0


class Clock:
    """Stands at zero until it is read for the k-th time, and at `after` from then on."""

    def __init__(self, k=np.inf, after=1e9):
        self.k, self.after, self.read = k, after, 0

    def __call__(self):
        self.read += 1
        return self.after if self.read >= self.k else 0.0


@pytest.fixture
def clock(monkeypatch):
    def set_(*how):
        one = Clock(*how)
        monkeypatch.setattr(deadline, "clock", one)
        return one

    return set_


# ---- the deadline itself -------------------------------------------------------------------------


def test_a_limit_within_another_is_the_earlier_one(clock):
    clock()
    assert deadline.current() == Deadline() and not deadline.current().set
    with limited(5):
        with limited(7):
            assert deadline.current().left() == 5
        with limited(2), limited(None):
            assert deadline.current().left() == 2
        with deadline.leaving(4):
            assert deadline.current().left() == 1
        with deadline.suspended():
            assert deadline.current().left() == np.inf
        assert deadline.current().left() == 5
    assert not deadline.current().set


def test_nothing_is_begun_that_would_end_too_late(clock):
    time = clock()
    time.k, pace = 0, RateEstimator()

    def work(seconds):
        time.after += seconds
        return seconds

    time.after = 0.0
    with limited(10):
        assert pace.run(lambda: work(4), 2) == 4 and pace.seconds == 2
        pace.run(lambda: work(1), 2)  # the slower of the past is forgotten
        assert pace.run(lambda: work(3), 6) == 3
        with pytest.raises(OutOfTime):
            pace.run(lambda: work(0), 5)
        with pytest.raises(OutOfTime):
            deadline.check(operations=3 * deadline.OPERATIONS)
        deadline.check(operations=1 * deadline.OPERATIONS)
    pace.run(lambda: work(100), 100)  # no limit, no look at the clock
    assert pace.seconds == 0.5


@pytest.mark.parametrize("limit", [0, -1, "soon", np.nan])
def test_a_bad_limit_is_refused_before_the_table_is_read(limit):
    with pytest.raises(ArgumentError, match="time_limit="):
        sgmc.logit("no ~ formula", None, time_limit=limit)


# ---- wherever the time is up ---------------------------------------------------------------------


def table(n=400):
    random = np.random.default_rng(5)
    df = pd.DataFrame({"a": random.normal(size=n), "b": random.normal(size=n)})
    df["z"] = df.a + random.standard_t(3, n)
    df["y"] = (df.z > 0).astype(int)
    df["k"] = random.poisson(np.exp(0.3 * df.a))
    df["apart"] = (df.a > 0).astype(int)
    df["g"], df["h"] = np.arange(n) % 600, np.arange(n) % 20
    return df


def crossed():
    """With a factor that crosses another."""
    return table().assign(i=np.arange(400) * 7 % 9)


class Line(sgmc.Model):
    """A user's model in Python."""

    parameters = {"slope": 2, "sigma": ()}
    constraints = {"sigma": "positive"}

    def __init__(self, df):
        self.X, self.y, self.n = df[["a", "b"]].to_numpy(), df.z.to_numpy(), len(df)

    def log_lik(self, theta, rows):
        e = (self.y[rows] - self.X[rows] @ theta["slope"]) / theta["sigma"]
        return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])

    def grad(self, theta, rows):
        s = theta["sigma"]
        e = (self.y[rows] - self.X[rows] @ theta["slope"]) / s
        return {"slope": self.X[rows].T @ e / s, "sigma": (e @ e - len(e)) / s}


def counts():
    return np.random.default_rng(6).poisson(0.3, (40, 30)) + np.eye(40, 30, dtype=int)


def states():
    random = np.random.default_rng(7)
    return random.normal(size=300) + 3 * (np.arange(300) // 25 % 2)


CASES = {
    "logit": lambda how: sgmc.logit("y ~ a + b", table(), **how),
    "separated": lambda how: sgmc.logit("apart ~ a", table(), **how),
    "flat prior": lambda how: sgmc.logit("y ~ a + b", table(), prior="flat", **how),
    "ols": lambda how: sgmc.ols("z ~ a + b", table(), **how),
    "many rows": lambda how: sgmc.poisson("k ~ a + b", table(110_000), **how),
    "horseshoe": lambda how: sgmc.logit("y ~ a + b", table(), prior="horseshoe", **how),
    "robust": lambda how: sgmc.logit("y ~ a + b", table(), cov_type="robust", **how),
    "groups": lambda how: sgmc.poisson("k ~ a + (1 | h)", table(), **how),
    "nested groups": lambda how: sgmc.logit("y ~ a + (1 | h / g)", table(), **how),
    "levels": lambda how: sgmc.logit("y ~ a + C(g)", table(2000), prior=sgmc.normal(0, 1), **how),
    "mala": lambda how: sgmc.negativebinomial("k ~ a", table(), sampler="mala", **how),
    "diagonal": lambda how: sgmc.logit("y ~ a", table(), precondition="diag", **how),
    "zigzag": lambda how: sgmc.logit("y ~ a", table(), sampler="zigzag", **how),
    "modes": lambda how: sgmc.rlm("z ~ a", table(), modes="search", **how),
    "race": lambda how: sgmc.logit("y ~ a", table(), sampler="sgld", tune="mamba", **how),
    "threshold": lambda how: sgmc.logit(
        "y ~ a", table(), sampler="sgld", warmup="threshold", **how
    ),
    "crossed": lambda how: sgmc.logit("y ~ a + (1 | h) + (1 | i)", crossed(), **how),
    "user": lambda how: Line(table()).fit(**how),
    "user modes": lambda how: Line(table()).fit(modes="search", **how),
    "user batches": lambda how: Line(table()).fit(sampler="sgld", **how),
    "states": lambda how: sgmc.HMM(states(), states=2).fit(**how),
    "topics": lambda how: sgmc.LDA(counts(), topics=3).fit(**how),
    "network": lambda how: sgmc.BNN(
        table()[["a", "b"]].to_numpy(), table().y.to_numpy(), hidden=(3,)
    ).fit(**how),
    "components": lambda how: sgmc.GaussianMixture(table()[["a", "z"]], components=2).fit(**how),
}
LEAN = ("logit", "user", "topics", "robust", "levels", "groups")
SHORT = dict(seed=1, chains=2, draws=60, threads=2, progress=False)


def result(name, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        with np.errstate(all="ignore"):
            return CASES[name]({**SHORT, **how})


@pytest.mark.extended
@pytest.mark.parametrize(
    "name", [n if n in LEAN else pytest.param(n, marks=pytest.mark.extended) for n in CASES]
)
def test_there_is_a_result_wherever_the_time_is_up(name, clock):
    whole = clock()
    unlimited = result(name, time_limit=LIMIT)
    steps = [*range(2, 14), *np.geomspace(14, whole.read + 14, 12).astype(int)]
    stand_ins = 0
    for k in dict.fromkeys(steps):
        clock(k)
        found = result(name, time_limit=LIMIT)
        chains, draws, size = found.draws.shape
        stand_ins += bool(found.stand_in)
        assert size == unlimited.draws.shape[2] and chains * draws >= 1
        assert np.isfinite(found.draws).all() and str(found.summary(details=True))
        if found.stand_in:
            assert "time_limit ended" in found.verdict.text and not found.verdict.trustworthy
            assert any(isinstance(w, InterruptedWarning) for w in found.warnings)
            assert found.params.isna().all() or "Laplace" in found.stand_in
        elif found.tuning is unlimited.tuning is None:  # a prefix of the run without a limit
            kept = {part.tobytes() for part in unlimited.draws[:, :draws]}
            assert {part.tobytes() for part in found.draws} <= kept
            assert draws == SHORT["draws"] or found.interrupted == "time limit"
    assert stand_ins  # the first readings are before there are draws


@pytest.mark.extended
def test_a_limit_that_is_not_reached_changes_no_bit():
    for name in LEAN:
        limited_, free = result(name, time_limit=1e6), result(name)
        np.testing.assert_array_equal(limited_.draws, free.draws)
        assert limited_.verdict == free.verdict and not limited_.stand_in


@pytest.mark.extended("levels")
@pytest.mark.parametrize("name", ["logit", "groups", "levels", "user"])
def test_a_search_that_has_not_ended_gives_no_numbers(name, clock):
    """Neither means nor sds, intervals or probabilities, nor the word mode: the search is far away
    when it is cut, and its curvature is that of another place.
    """
    clock(2)
    found = result(name, time_limit=LIMIT)
    frame = found.summary_frame()
    assert "the search for the mode" in found.stand_in and "is no mode" in found.stand_in
    for numbers in (frame, found.params, found.bse, found.conf_int(), found.prob_positive):
        assert numbers.isna().all(axis=None)
    text = " ".join(str(found.summary(details=True)).split())
    assert "`-`: not known, as the search for the mode was not finished." in text
    assert "approximation at the mode" not in text and "min. ESS -; max. R-hat -" in text
    assert "Give a larger time_limit." in found.verdict.text


def after_the_search(clock):
    """Whether means and sds are those of `laplace` where what follows the search is missing."""
    usual = sgmc.ols("z ~ a + b", table(2000), prior="flat", sampler="laplace", seed=1)
    for k in range(2, 200):
        clock(k)
        with pytest.warns(InterruptedWarning, match="time_limit ended"):
            found = sgmc.ols("z ~ a + b", table(2000), prior="flat", seed=1, time_limit=LIMIT)
        if "search" not in found.stand_in:
            break
    # Monte Carlo errors of 4,000 draws each, 4 sds of them
    shift, wide = abs(found.params - usual.params) / usual.bse, abs(found.bse / usual.bse - 1)
    return shift.max() < 4 * np.sqrt(2 / 4000) and wide.max() < 4 / np.sqrt(4000)


@pytest.mark.extended
def test_a_search_that_has_ended_gives_laplace_at_the_mode(clock):
    assert after_the_search(clock)


@pytest.mark.extended
@pytest.mark.mistake("time limit: Laplace draws too wide by sqrt 2")
@pytest.mark.parametrize("name", ["laplace"])
def test_draws_that_are_too_wide_are_seen(name, clock, monkeypatch):
    class Wide(run.Rng):
        def normals(self, n):
            return np.sqrt(2) * super().normals(n)

    monkeypatch.setattr(run, "Rng", Wide)
    assert not after_the_search(clock)


def test_checks_that_the_time_did_not_suffice_for_are_not_trusted(clock, monkeypatch):
    """The draws are whole; scores of an exact sampler are not needed, those of mini-batches are."""
    from sgmc.results.checks.scores import stein

    def late(*arguments):
        raise OutOfTime

    monkeypatch.setattr(stein, "estimates", late)
    clock()
    how = dict(SHORT, draws=1000, chains=4, time_limit=LIMIT)
    exact = sgmc.logit("y ~ a + b", table(), sampler="mala", **how)
    batches = sgmc.logit("y ~ a + b", table(), sampler="lmsgld", batch_size=200, **how)
    assert exact.draws.shape[1] == batches.draws.shape[1] == 1000
    assert exact.verdict.trustworthy and "effective draws" in exact.verdict.basis
    assert "not checked: time_limit ended the checks" in batches.verdict.text


def test_chains_leave_time_for_the_checks(clock):
    clock()
    model = sgmc.Logit.from_formula("y ~ a + b", table())
    from sgmc.fit.settings import check_settings

    settings = check_settings(seed=1, chains=4, draws=1000)
    problem = model.problem(None, settings)
    assert stopping.reserve_of(problem, settings) == 0.0
    for left, reserve in ((100.0, stopping.checks_take(3, 4000)), (0.03, 0.01)):
        with limited(left):
            assert stopping.reserve_of(problem, settings) == pytest.approx(reserve)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_resumed_run_has_a_limit_of_its_own(clock):
    first = result("logit")
    clock()
    longer = first.resume(draws=20, time_limit=LIMIT)
    np.testing.assert_array_equal(longer.draws[:, :60], first.draws)
    assert longer.draws.shape[1] == 80 and not longer.interrupted
