"""Races of tuning: who runs how long, who wins, and that the winner is better than those it beat by far."""
import pickle
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.diagnostics import ece, ksd
from sgmc.errors import ArgumentError, NotSupported
from sgmc.registry import room
from sgmc.tuning import race as racing
from sgmc.tuning import scores

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")             # short fits, and steps that are known to be long
DECADES = [0.001, 0.01, 0.1, 1.0, 3.0]             # h of SGLD in whitened coordinates: relative sd error (1 - h/4)^(-1/2) - 1


def frame(n=2000, seed=0):
    """Rows with outcome y and predictors a, b."""
    rng = np.random.default_rng([seed, n])
    df = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    return df.assign(y=(rng.random(n) < 1 / (1 + np.exp(0.5 - df.a + 0.5 * df.b))).astype(int))


@pytest.fixture(scope="module")
def model():
    """A logistic regression."""
    return sgmc.Logit.from_formula("y ~ a + b", frame())


@pytest.fixture(scope="module")
def tuned(model):
    """A race of 27 arms."""
    return sgmc.tune(model, budget_steps=600, seed=1)


def without_seconds(result):
    """The history that a seed fixes."""
    return result.history.drop(columns="seconds")


# ---- the race -------------------------------------------------------------------------------------------------------------

def test_a_seed_fixes_all_but_the_seconds_for_any_number_of_threads(model, tuned):
    again = sgmc.tune(model, budget_steps=600, seed=1, threads=3)
    pd.testing.assert_frame_equal(without_seconds(again), without_seconds(tuned), check_exact=True)
    assert again.best == tuned.best and again.reproducible and again.budget == "budget_steps=600" and again.seed == 1
    other = sgmc.tune(model, budget_steps=600, seed=2)
    assert not without_seconds(other).equals(without_seconds(tuned))


def test_a_race_leaves_the_callers_draws_alone(model):
    plain = model.fit(seed=1, draws=20)
    sgmc.tune(model, budget_steps=100, seed=1)
    assert np.array_equal(plain.draws, model.fit(seed=1, draws=20).draws) and plain.tuning is None


def test_arms_have_starts_and_streams_of_their_own(model):
    """By the seed, by the arm, and apart from a fit's of the same seed; steps of 1e-6 leave chains at their starts, to 3 digits."""
    def firsts(seed):
        seen = []
        sgmc.tune(model, grid={"step_size": [1e-6, 1e-6]}, batch_size=50, method="grid", budget_steps=20, seed=seed,
                  metric=lambda theta: seen.append(tuple(np.round(theta[0], 3))) or 0.0)
        return seen

    fit = model.fit(sampler="sgld", step_size=1e-6, batch_size=50, thin=1, warmup=0, draws=20, chains=2, seed=1)
    places = [*firsts(1), *firsts(2), *map(tuple, np.round(fit.draws[:, 0], 3))]
    assert len(places) == len(set(places)) == 6 and firsts(1) == places[:2]


@pytest.mark.parametrize("eta, counts", [(3, [27, 9, 3]), (2, [27, 13, 6, 3]), (5, [27, 5]), (27, [27])])
def test_each_rung_has_one_in_eta_of_the_arms_before(model, eta, counts):
    """floor(log_eta M) rungs: Algorithm 1 of Coullon, South and Nemeth (2023)."""
    history = sgmc.tune(model, eta=eta, budget_steps=300, seed=1).history
    assert history.groupby("rung").size().tolist() == counts
    for rung in range(1, len(counts)):
        before = history[history.rung == rung - 1].sort_values(["metric", "arm"]).arm[:counts[rung]]
        assert set(history[history.rung == rung].arm) == set(before)


def test_arms_go_on_from_where_they_were_and_shares_grow_by_eta(model):
    result = sgmc.tune(model, batch_size=50, budget_steps=1300, seed=1)
    steps = result.history.groupby("rung").steps.agg(["min", "max"])
    assert len(result.arms) == 9 and (steps["min"] == steps["max"]).all()
    assert steps["max"].tolist() == [325, 1300]                # 1300 (1/4, 3/4), summed: one minibatch, so a step is a step
    assert (result.history.sort_values("rung").groupby("arm").draws.diff().dropna() > 0).all()


def test_dearer_arms_make_fewer_steps(model):
    result = sgmc.tune(model, grid={"batch_size": [50, 500]}, step_size=0.1, method="grid", budget_steps=1000, seed=1)
    steps = result.history.set_index("arm").steps
    assert steps[0] == 1000 and steps[1] == pytest.approx(1000 * (50 + 60) / (500 + 60), abs=1)      # 60: what a step costs besides


def test_draws_beyond_the_room_are_thinned_evenly():
    def planted(k, since):
        runner = SimpleNamespace(chain=SimpleNamespace(recorder=racing.Keep(8, 1, 1), x=[0.0]), room=8, thin=1)
        runner.chain.recorder.set_state({"draws": np.arange(1.0, 9)[:, None], "weights": np.ones(8), "since": 0})
        racing.Runner.halve(runner)
        return runner

    runner = planted(8, 0)
    assert runner.thin == runner.chain.recorder.thin == 2
    assert np.array(runner.chain.recorder.draws[:runner.chain.recorder.kept]).ravel().tolist() == [2, 4, 6, 8]


def test_all_draws_of_an_arm_are_scored(model):
    seen = []

    def count(theta):
        seen.append(len(theta))
        return 1.0

    result = sgmc.tune(model, batch_size=50, metric=count, budget_steps=1300, seed=1)
    assert seen == result.history.draws.tolist() == [325] * 9 + [1300] * 3


def test_equal_scores_go_to_the_arm_that_comes_first(model):
    result = sgmc.tune(model, metric=lambda theta: 1.0, budget_steps=1300, seed=1)
    assert result.winner == 0 and set(result.history[result.history.rung == 2].arm) == {0, 1, 2}


def test_an_arm_that_diverges_loses(model):
    result = sgmc.tune(model, grid={"step_size": [50.0, 0.2, 1e3, 20.0]}, batch_size=50, eta=2, budget_steps=4000, seed=1)
    assert result.arms.diverged.tolist() == [True, False, True, True] and result.best["step_size"] == 0.2
    assert np.isinf(result.history[result.history.arm != 1].metric).all() and set(result.history[result.history.rung == 1].arm) == {1}


def test_where_all_diverge_it_says_so(model):
    with pytest.raises(ArgumentError, match=r"every arm diverged \(step_size 50, 1e\+03, ...\): give smaller ones"):
        sgmc.tune(model, grid={"step_size": [50.0, 1e3]}, budget_steps=4000, seed=1)


@pytest.mark.parametrize("metric", ["fssd", "fssd-opt", "ksd"])
def test_draws_on_their_way_to_infinity_have_an_infinite_score(model, metric):
    far = sgmc.tune(model, grid={"step_size": [5.0, 0.2]}, batch_size=50, metric=metric, budget_steps=300, seed=1)
    assert far.best["step_size"] == 0.2 and not far.arms.diverged.any()


@pytest.mark.parametrize("metric", ["fssd", "fssd-opt", "ksd", "log_loss"])
@pytest.mark.parametrize("size", [0.0, 1e30, 1e90])
def test_draws_that_are_alike_or_nearly_lost_are_no_winner(model, metric, size):
    """A median distance of zero was an error once."""
    problem = model.fit(draws=20, seed=1)._fit.problem
    score = scores.metric_of(metric, problem, model.family, 1)
    good, bad = np.random.default_rng(1).normal(size=(2, 100, 3))
    assert score(good) < score(3.0 + size * np.abs(bad)) and score(np.full((100, 3), 3.0)) > score(good)


@pytest.mark.parametrize("limit", [0.4, 1.0])
def test_a_time_limit_is_kept_and_said(model, limit):
    """Late by one score and one chunk a thread, 50 ms; ten seconds for a machine that is busy.  Without a limit it had no end."""
    result = sgmc.tune(model, time_limit=limit, seed=1)
    assert not result.reproducible and result.budget == f"time_limit={limit:g}" and "time_limit" in repr(result)
    assert 0.5 * limit < result.seconds < limit + 10
    assert result.history.groupby("rung").size().tolist() == [27, 9, 3]


# ---- the winner -----------------------------------------------------------------------------------------------------------

def sd_error(model, h):
    """Relative error of the posterior sds of SGLD with step h, of the draws of 5000 steps, against MALA's."""
    exact = model.fit(sampler="mala", draws=4000, seed=5)
    draws = model.fit(sampler="sgld", step_size=h, batch_size=100, thin=1, warmup=0, draws=5000, chains=1, seed=6).flat
    return np.linalg.norm(draws.std(axis=0) - exact.bse) / np.linalg.norm(exact.bse)


def assert_better_than_those_far_off(model, metric):
    """The chosen step has at most half the sd error of the ends of the grid: 0.001 does not move, 3 doubles the sd."""
    result = sgmc.tune(model, grid={"step_size": DECADES}, batch_size=100, metric=metric, eta=2, budget_steps=5000, seed=1)
    best = sd_error(model, result.best["step_size"])
    for end in (DECADES[0], DECADES[-1]):
        assert best < 0.5 * sd_error(model, end), result.best


@pytest.mark.parametrize("metric", ["ksd", "fssd"])
def test_the_chosen_step_is_better_than_those_it_beat_by_far(model, metric):
    assert_better_than_those_far_off(model, metric)


@pytest.mark.parametrize("mistake", ["sign", "scores of another model"])
def test_a_wrong_metric_is_caught(model, mistake, monkeypatch):
    """Planted: the largest discrepancy wins; scores of a posterior that is ten times as wide."""
    if mistake == "sign":
        monkeypatch.setattr(scores, "ksd", lambda x, s, **how: -ksd(x, s, **how))
    else:
        monkeypatch.setattr(scores, "ksd", lambda x, s, **how: ksd(x, s / 100, **how))
    with pytest.raises(AssertionError):
        assert_better_than_those_far_off(model, "ksd")


def test_a_chain_that_stands_still_is_no_winner():
    """Nobody knows the scale of a network's weights: in units of an arm's own spread, standing still would look best."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    net = sgmc.BNN(X, (X[:, 0] + rng.normal(size=1000) > 0).astype(int), hidden=(3,), scale=None)
    start = net.fit(sampler="hmc", draws=50, warmup=100, chains=1, seed=1).draws[0, -1]
    race = sgmc.tune(net, "sgld", gradient="simple", grid={"step_size": [1e-3, 1e-6, 1e-12]}, batch_size=100, method="grid",
                     budget_steps=1000, init=start, seed=1)
    assert race.best["step_size"] == 1e-3 and race.history.metric.iloc[1:].min() > 2 * race.history.metric.iloc[0]


def test_metrics_of_users_see_reported_coefficients(model):
    new = frame(seed=1)
    X = np.column_stack([np.ones(len(new)), new.a, new.b])

    def calibration(theta):
        assert theta.shape[1] == 3
        return ece((1 / (1 + np.exp(-X @ theta.T))).mean(axis=1), new.y)

    result = sgmc.tune(model, metric=calibration, budget_steps=300, seed=1)
    assert result.metric == "calibration" and 0 < result.history.metric.min() < 0.05
    again = sgmc.tune(model, metric=calibration, budget_steps=300, seed=1, threads=3)
    assert without_seconds(again).equals(without_seconds(result))


def test_the_log_loss_is_that_of_the_rows():
    df = frame(300)
    model = sgmc.Logit.from_formula("y ~ a + b", df)
    fit = model.fit(draws=100, chains=1, seed=1)
    p = fit.predict(df)
    score = scores.metric_of("log_loss", fit._fit.problem, model.family, 1)(fit._fit.x[0])
    assert score == pytest.approx(-np.mean(np.log(np.where(df.y == 1, p, 1 - p))), rel=1e-10)


def test_scores_without_value_lose():
    x = np.zeros((20, 2))
    assert scores.Metric("m", lambda x: np.nan)(x) == np.inf == scores.Metric("m", lambda x: 1.0)(x[:5])
    assert scores.Metric("m", lambda x: 1.0)(x + np.inf) == np.inf and scores.Metric("m", lambda x: 1.0)(x) == 1.0


# ---- grids and methods ----------------------------------------------------------------------------------------------------

def test_the_default_grid_is_around_the_derived_default(model):
    default = sgmc.tune(model, method="default", budget_steps=100, seed=1)
    arms = sgmc.tune(model, budget_steps=100, seed=1).arms
    h, m = default.best["step_size"], default.best["batch_size"]
    assert len(default.arms) == 1 and np.allclose(np.unique(arms.step_size), h * 10 ** np.arange(-2, 2.1, 0.5))
    assert sorted(set(arms.batch_size)) == [round(m / 3), m, 3 * m]
    kept = model.fit(sampler="sgld", seed=1, draws=10)._fit.plan
    assert (kept.schedule(0), kept.batch) == (h, m)


def test_any_declared_parameter_is_an_axis(model):
    result = sgmc.tune(model, sampler="sghmc", grid={"leapfrog": [2, 8], "friction": [1.0, 2.0, 4.0], "step_size": np.array([0.1, 0.5])},
                       batch_size=50, budget_steps=200, seed=1)
    assert len(result.arms) == 12 and list(result.arms.columns) == ["step_size", "batch_size", "leapfrog", "friction", "diverged"]
    chosen = result.arms.loc[result.winner]
    assert result.best["sampler"] == sgmc.SGHMC(leapfrog=int(chosen.leapfrog), friction=chosen.friction)


RACING = sorted(name for name, cls in room("samplers").items() if name != "laplace" and not cls.continuous and not cls.probabilities)


@pytest.mark.parametrize("sampler", RACING)
def test_every_sampler_races(model, sampler):
    result = sgmc.tune(model, sampler=sampler, budget_steps=120, seed=1)
    assert len(result.arms) in (9, 18, 27) and np.isfinite(result.history[result.history.arm == result.winner].metric).all()
    assert len(model.fit(**result.best, draws=10, chains=1, seed=1).draws) == 1


def test_a_recipe_races_over_given_steps(model):
    """Nothing is known of its errors, so that there is no default step; its other parameters are axes like those of others."""
    recipe = sgmc.Recipe(np.eye(3))
    result = sgmc.tune(model, sampler=recipe, grid={"step_size": [0.01, 0.2], "corrected": [False, True]}, budget_steps=100, seed=1)
    assert len(result.arms) == 12 and set(result.arms.corrected) == {False, True} and set(result.arms.step_size) == {0.01, 0.2}
    with pytest.raises(ArgumentError, match="step_size: recipe has no default"):
        sgmc.tune(model, sampler=recipe, budget_steps=100, seed=1)


def test_a_grid_runs_every_arm_to_the_end(model):
    result = sgmc.tune(model, method="grid", batch_size=50, budget_steps=200, seed=1)
    assert (result.history.rung == 0).all() and (result.history.steps == 200).all() and len(result.history) == 9
    assert result.winner == result.history.set_index("arm").metric.idxmin()


def test_the_heuristic_is_one_over_n_in_raw_coordinates(model):
    best = sgmc.tune(model, method="heuristic", budget_steps=100, seed=1).best
    assert best["step_size"] == 1 / 2000 and best["batch_size"] == 200 and best["precondition"] is None


VARYING = sgmc.Polynomial.between(1.0, 0.1, 2000)


def test_schedules_are_arms(model):
    """Of numbers far off, the schedule wins; it goes on as it is in the fit, whose draws are weighted by it."""
    grid = {"step_size": [1e-4, VARYING, 3.5, sgmc.Constant(1e-3), slow]}
    result = sgmc.tune(model, grid=grid, batch_size=100, eta=2, budget_steps=2000, seed=1)
    steps = result.arms.step_size.tolist()
    assert steps[:4] == [1e-4, VARYING, 3.5, 1e-3] and repr(steps[1:]) == "[Polynomial(6.59515, 30.8674, 0.55), 3.5, 0.001, Function(slow)]"
    assert result.winner == 1 and result.best["step_size"] is VARYING
    again = sgmc.tune(model, grid=grid, batch_size=100, eta=2, budget_steps=2000, seed=1, threads=3)
    pd.testing.assert_frame_equal(without_seconds(again), without_seconds(result), check_exact=True)
    fit = model.fit(tune=pickle.loads(pickle.dumps(result)), draws=20, warmup=0, thin=1, seed=1)
    assert np.array_equal(fit.weights, [VARYING(t) for t in range(20)]) and fit._fit.plan.batch == 100


def slow(t):
    """Steps that do not move, as a function of users."""
    return 1e-5 / (1 + t)


@pytest.mark.parametrize("method", ["mamba", "default", "grid"])
def test_a_schedule_that_is_given_stays(model, method):
    result = sgmc.tune(model, method=method, step_size=VARYING, budget_steps=200, seed=1)
    assert result.best["step_size"] is VARYING and set(result.arms.step_size) == {VARYING}


def times_seen(model):
    """How often a metric of users gets each draw of a chain whose steps are 0.35 and 0.1 in turn."""
    seen = []
    sgmc.tune(model, grid={"step_size": [lambda t: 0.1 if t % 2 else 0.35]}, batch_size=50, method="grid", budget_steps=200, seed=1,
              metric=lambda theta: seen.append(theta) or 0.0)
    return np.unique(seen[0][:, 0], return_counts=True)[1]


def test_draws_of_schedules_count_by_their_steps(model, monkeypatch):
    """Those of 0.35 stand for 14/9 draws each, the others for 4/9: with two for each pair, twice and never; planted: no weights."""
    assert times_seen(model).tolist() == [2] * 100
    monkeypatch.setattr(racing.Runner, "weights", None)
    assert times_seen(model).tolist() == [1] * 200


@pytest.mark.parametrize("metric", ["ksd", "fssd"])
def test_discrepancies_of_schedules_are_weighted(model, metric):
    """That of N(0, I) with weights which make it of draws of N(0, 4) is less than without; equal weights change nothing."""
    score = scores.metric_of(metric, model.fit(draws=20, seed=1)._fit.problem, model.family, 1)
    x = 2 * np.random.default_rng(1).normal(size=(1000, 3))
    towards = np.exp(-0.375 * (x * x).sum(axis=1))
    assert score(x, towards) < 0.5 * score(x) and score(x, np.full(1000, 3.0)) == pytest.approx(score(x), rel=1e-9)


@pytest.mark.parametrize("how, total", [(dict(budget_steps=650), 27 * 50 * 3), (dict(time_limit=0.4), 0.4)])
def test_progress_of_a_race(model, how, total):
    """In steps of the median arm, 50 in the first of three rungs of 650; or in seconds, less those before the race."""
    seen = []
    plain = sgmc.tune(model, seed=1, **how)
    told = sgmc.tune(model, seed=1, **how, progress=lambda *now: seen.append((*now, threading.get_ident())))
    done = [one[0] for one in seen]
    assert done == sorted(done) and done[0] < done[-1] == seen[0][1] == pytest.approx(total, rel=0.5 if "time_limit" in how else 1e-9)
    assert {one[1:] for one in seen} == {(done[-1], threading.get_ident())}
    if told.reproducible:
        assert told.best == plain.best and without_seconds(told).equals(without_seconds(plain))


def test_what_progress_raises_ends_the_race(model):
    def enough(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sgmc.tune(model, seed=1, budget_steps=10**9, progress=enough)


def test_progress_of_a_fit_that_tunes(model):
    """The race is told of first, then the fit; what is checked before the race draws no bar."""
    seen = []
    model.fit(sampler="sgld", step_size=0.01, batch_size=100, thin=500, draws=100, tune="default", seed=1,
              progress=lambda *now: seen.append(now))
    totals = list(dict.fromkeys(total for _, total in seen))
    assert totals[0] == 5000 and len(totals) == 2 and totals[1] >= 4 * 100 * 500


def test_exact_samplers_race_without_minibatches(model):
    result = sgmc.tune(model, sampler="mala", budget_steps=200, seed=1)
    assert list(result.arms.columns) == ["step_size", "diverged"] and "batch_size" not in result.best


# ---- tune= and the result -------------------------------------------------------------------------------------------------

def test_tune_in_a_verb(tmp_path):
    df = frame()
    results = sgmc.logit("y ~ a + b", df, sampler="sgld", tune="mamba", draws=50, seed=1)
    same = sgmc.tune(sgmc.Logit.from_formula("y ~ a + b", df), sampler="sgld", seed=1)
    assert results.tuning.best == same.best and results._fit.plan.batch == same.best["batch_size"]
    by_result = sgmc.logit("y ~ a + b", df, tune=same, draws=50, seed=1)
    by_hand = sgmc.logit("y ~ a + b", df, **same.best, draws=50, seed=1)
    assert np.array_equal(results.draws, by_result.draws) and np.array_equal(results.draws, by_hand.draws)
    longer = results.resume(draws=10)
    assert all("(tuned)" in str(some.summary()) for some in (results, by_result, longer)) and "(given)" in str(by_hand.summary())
    assert np.array_equal(longer.draws[:, :50], results.draws) and longer.tuning is results.tuning
    results.save(tmp_path / "fit.sgmc")
    loaded = sgmc.load(tmp_path / "fit.sgmc")
    assert loaded.tuning.best == same.best
    assert "(tuned)" in str(loaded.resume(draws=10, data=df).summary())


@pytest.mark.parametrize("verb, outcome", [("probit", "y"), ("poisson", "y"), ("ols", "a"), ("negativebinomial", "y")])
def test_tune_in_other_verbs(verb, outcome):
    results = getattr(sgmc, verb)(f"{outcome} ~ b", frame(400), tune="grid", draws=20, seed=1)
    assert results.tuning.method == "grid" and results._fit.plan.step_origin == "given"


def test_results_pickle_and_plot(tuned):
    pytest.importorskip("matplotlib").use("Agg")
    again = pickle.loads(pickle.dumps(tuned))
    assert again.best == tuned.best and again.history.equals(tuned.history)
    assert list(tuned.history.columns) == ["arm", "rung", "steps", "seconds", "draws", "metric"]
    axes = tuned.plot()
    assert axes.get_xlabel() == "step_size" and axes.get_ylabel() == "ksd" and axes.get_xscale() == axes.get_yscale() == "log"
    assert tuned.plot(kind="race", ax=axes) is axes and len(axes.lines) > 27
    chosen = tuned.arms.loc[tuned.winner]
    assert str(tuned) == (f"mamba chose arm {tuned.winner} of 27 by ksd (budget_steps=600): sampler=SGLD(), "
                          f"step_size={chosen.step_size:.4g}, batch_size={chosen.batch_size:.0f}")


@pytest.mark.parametrize("how, error, text", [
    (dict(method="mambo"), ArgumentError, "method='mambo' is not one of 'mamba', 'grid', 'default', 'heuristic'; did you mean 'mamba'"),
    (dict(metric="kds"), ArgumentError, "metric='kds' is not one of 'ksd', 'fssd', 'fssd-opt', 'log_loss', nor a function"),
    (dict(metric=lambda theta: theta), ArgumentError, "metric must return a number"),
    (dict(metric=lambda theta: np.nan), ArgumentError, "no arm has a finite <lambda>"),
    (dict(eta=1), ArgumentError, "eta=1 must be a whole number, at least 2"),
    (dict(budget_steps=0), ArgumentError, "budget_steps=0 must be a whole number"),
    (dict(time_limit=-1), ArgumentError, "time_limit=-1 must be a positive number"),
    (dict(time_limit=1, budget_steps=10), ArgumentError, "budget_steps and time_limit are both given"),
    (dict(budget_steps=1), ArgumentError, "too few draws"),
    (dict(grid=[1]), ArgumentError, "grid=[1] must be a dict of lists"),
    (dict(grid={"leapfrog": [1]}), ArgumentError, "grid['leapfrog']: sgld has no such parameter; axes are: step_size, batch_size"),
    (dict(grid={"step_size": 0.1}), ArgumentError, "grid['step_size']=0.1 must be a list of values"),
    (dict(grid={"step_size": []}), ArgumentError, "grid['step_size']=[] must be a list of values"),
    (dict(grid={"step_size": [0.1, -1]}), ArgumentError, "grid['step_size']=-1 must be a positive number"),
    (dict(grid={"batch_size": [0]}), ArgumentError, "grid['batch_size']=0 must be a whole number"),
    (dict(grid={"batch_size": [3000]}), ArgumentError, "batch_size=3000 exceeds the 2000 rows"),
    (dict(grid={"step_size": [0.1]}, step_size=0.2), ArgumentError, "step_size is given, and an axis of the grid"),
    (dict(grid={"step_size": list(np.linspace(0.1, 1, 400))}), ArgumentError, "grid has 1200 arms; at most 1000"),
    (dict(grid={"batch_size": [5]}, sampler="mala"), ArgumentError, "grid['batch_size'] does not apply to mala"),
    (dict(grid={"leapfrog": [2.5]}, sampler="sghmc"), ArgumentError, "leapfrog=2.5 must be a whole number"),
    (dict(grid={"step_size": [0.1]}, method="default"), ArgumentError, "grid does not apply to method='default'"),
    (dict(method="heuristic", step_size=0.1), ArgumentError, "step_size does not apply to method='heuristic'"),
    (dict(batch_size="adaptive"), ArgumentError, "batch_size='adaptive' learns the size in warmup"),
    (dict(progress=3), ArgumentError, "progress=3 must be True, False, None or a function"),
    (dict(sampler="laplace"), ArgumentError, "sampler='laplace' has no step to tune"),
    (dict(sampler="laplace", grid={"step_size": [0.1]}), ArgumentError, "sampler='laplace' has no step to tune"),
    (dict(sampler="laplace", method="default"), ArgumentError, "sampler='laplace' has no step to tune"),
    (dict(draws=10), TypeError, "tune() got an unexpected keyword argument 'draws'; it has, besides its own: gradient, subsample"),
])
def test_bad_arguments_are_named(model, how, error, text):
    with pytest.raises(error) as caught:
        sgmc.tune(model, **{"seed": 1, "budget_steps": None if "time_limit" in how else 200, **how})
    assert text in str(caught.value)


@pytest.mark.parametrize("how, error, text", [
    (dict(tune="mamba", cov_type="robust"), NotSupported, "tune='mamba' with cov_type='robust'"),
    (dict(tune="mamba", draws=0), ArgumentError, "draws=0"),
    (dict(tune=lambda model: 1), ArgumentError, "or what sgmc.tune returned"),
])
def test_bad_arguments_of_a_fit_that_tunes_are_named(model, how, error, text):
    with pytest.raises(error) as caught:
        model.fit(**how)
    assert text in str(caught.value)


def test_what_a_result_has_chosen_is_not_given_again(model, tuned):
    with pytest.raises(ArgumentError, match="step_size is given, and chosen by tune=: leave one of them out"):
        model.fit(tune=tuned, step_size=0.1)


def test_only_models_are_tuned():
    with pytest.raises(ArgumentError, match="tune needs a model such as sgmc.Logit.from_formula"):
        sgmc.tune("y ~ x")
