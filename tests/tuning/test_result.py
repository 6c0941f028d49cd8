"""`tune=` of a verb, the result of a race, and bad arguments."""

import pickle

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported

from .races import frame

# short fits, and steps that are known to be long
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.mark.extended
def test_tune_in_a_verb(tmp_path):
    df = frame()
    results = sgmc.logit("y ~ a + b", df, sampler="sgld", tune="mamba", draws=50, seed=1)
    same = sgmc.tune(sgmc.Logit.from_formula("y ~ a + b", df), sampler="sgld", seed=1)
    assert results.tuning.best == same.best and results._fit.plan.batch == same.best["batch_size"]
    by_result = sgmc.logit("y ~ a + b", df, tune=same, draws=50, seed=1)
    by_hand = sgmc.logit("y ~ a + b", df, **same.best, draws=50, seed=1)
    assert np.array_equal(results.draws, by_result.draws)
    assert np.array_equal(results.draws, by_hand.draws)
    longer = results.resume(draws=10)
    assert all(
        "(tuned)" in str(some.summary(details=True)) for some in (results, by_result, longer)
    )
    assert "(given)" in str(by_hand.summary(details=True))
    assert np.array_equal(longer.draws[:, :50], results.draws) and longer.tuning is results.tuning
    results.save(tmp_path / "fit.sgmc")
    loaded = sgmc.load(tmp_path / "fit.sgmc")
    assert loaded.tuning.best == same.best
    assert "(tuned)" in str(loaded.resume(draws=10, data=df).summary(details=True))


@pytest.mark.extended
@pytest.mark.parametrize(
    "verb, outcome", [("probit", "y"), ("poisson", "y"), ("ols", "a"), ("negativebinomial", "y")]
)
def test_tune_in_other_verbs(verb, outcome):
    results = getattr(sgmc, verb)(f"{outcome} ~ b", frame(400), tune="grid", draws=20, seed=1)
    assert results.tuning.method == "grid" and results._fit.plan.step_origin == "given"


def test_results_pickle_and_plot(tuned):
    pytest.importorskip("matplotlib").use("Agg")
    again = pickle.loads(pickle.dumps(tuned))
    assert again.best == tuned.best and again.history.equals(tuned.history)
    assert list(tuned.history.columns) == ["arm", "rung", "steps", "seconds", "draws", "metric"]
    axes = tuned.plot()
    assert axes.get_xlabel() == "step_size"
    assert axes.get_ylabel() == "ksd"
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert tuned.plot(kind="race", ax=axes) is axes and len(axes.lines) > 27
    chosen = tuned.arms.loc[tuned.winner]
    assert str(tuned) == (
        f"mamba chose arm {tuned.winner} of 27 by ksd (budget_steps=600): sampler=SGLD(), "
        f"step_size={chosen.step_size:.4g}, batch_size={chosen.batch_size:.0f}"
    )


@pytest.mark.parametrize(
    "how, error, text",
    [
        (
            dict(method="mambo"),
            ArgumentError,
            (
                "method='mambo' must be one of 'mamba', 'grid', 'default', 'heuristic'; did you "
                "mean 'mamba'"
            ),
        ),
        (
            dict(metric="kds"),
            ArgumentError,
            "metric='kds' must be one of 'ksd', 'fssd', 'fssd-opt', 'fssd-max', 'log_loss', or a "
            "function",
        ),
        (dict(metric=lambda theta: theta), ArgumentError, "metric must return a number"),
        (dict(metric=lambda theta: np.nan), ArgumentError, "no arm has a finite <lambda>"),
        (dict(eta=1), ArgumentError, "eta=1 must be a whole number, at least 2"),
        (dict(budget_steps=0), ArgumentError, "budget_steps=0 must be a whole number"),
        (dict(time_limit=-1), ArgumentError, "time_limit=-1 must be a positive number"),
        (
            dict(time_limit=1, budget_steps=10),
            ArgumentError,
            "budget_steps and time_limit are both given",
        ),
        (dict(budget_steps=1), ArgumentError, "too few draws"),
        (dict(grid=[1]), ArgumentError, "grid=[1] must be a dict of lists"),
        (
            dict(grid={"leapfrog": [1]}),
            ArgumentError,
            "grid['leapfrog']: sgld has no such parameter; axes are: step_size, batch_size",
        ),
        (
            dict(grid={"step_size": 0.1}),
            ArgumentError,
            "grid['step_size']=0.1 must be a list of values",
        ),
        (
            dict(grid={"step_size": []}),
            ArgumentError,
            "grid['step_size']=[] must be a list of values",
        ),
        (
            dict(grid={"step_size": [0.1, -1]}),
            ArgumentError,
            "grid['step_size']=-1 must be a positive number",
        ),
        (
            dict(grid={"batch_size": [0]}),
            ArgumentError,
            "grid['batch_size']=0 must be a whole number",
        ),
        (dict(grid={"batch_size": [3000]}), ArgumentError, "batch_size=3000 exceeds the 2000 rows"),
        (
            dict(grid={"step_size": [0.1]}, step_size=0.2),
            ArgumentError,
            "step_size is given, and an axis of the grid",
        ),
        (
            dict(grid={"step_size": list(np.linspace(0.1, 1, 400))}),
            ArgumentError,
            "grid has 1200 arms; at most 1000",
        ),
        (
            dict(grid={"batch_size": [5]}, sampler="mala"),
            ArgumentError,
            "grid['batch_size'] does not apply to mala",
        ),
        (
            dict(grid={"leapfrog": [2.5]}, sampler="sghmc"),
            ArgumentError,
            "leapfrog=2.5 must be a whole number",
        ),
        (
            dict(grid={"step_size": [0.1]}, method="default"),
            ArgumentError,
            "grid does not apply to method='default'",
        ),
        (
            dict(method="heuristic", step_size=0.1),
            ArgumentError,
            "step_size does not apply to method='heuristic'",
        ),
        (
            dict(batch_size="adaptive"),
            ArgumentError,
            "batch_size='adaptive' learns the size in warmup",
        ),
        (dict(progress=3), ArgumentError, "progress=3 must be True, False, None or a function"),
        (dict(sampler="laplace"), ArgumentError, "sampler='laplace' has no step to tune"),
        (dict(sampler="direct"), NotSupported, "direct draws from the posterior of a linear"),
        (dict(sampler="imh"), ArgumentError, "sampler='imh' has no step to tune"),
        (
            dict(sampler="laplace", grid={"step_size": [0.1]}),
            ArgumentError,
            "sampler='laplace' has no step to tune",
        ),
        (
            dict(sampler="laplace", method="default"),
            ArgumentError,
            "sampler='laplace' has no step to tune",
        ),
        (
            dict(draws=10),
            TypeError,
            "tune() got an unexpected keyword argument 'draws'; it is an argument of fit()",
        ),
    ],
)
def test_bad_arguments_are_named(model, how, error, text):
    with pytest.raises(error) as caught:
        sgmc.tune(model, **{"seed": 1, "budget_steps": None if "time_limit" in how else 200, **how})
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "how, error, text",
    [
        (
            dict(tune="mamba", cov_type="robust"),
            NotSupported,
            "tune='mamba' with cov_type='robust'",
        ),
        (dict(tune="mamba", draws=0), ArgumentError, "draws=0"),
        (dict(tune=lambda model: 1), ArgumentError, "or what sgmc.tune returned"),
    ],
)
def test_bad_arguments_of_a_fit_that_tunes_are_named(model, how, error, text):
    with pytest.raises(error) as caught:
        model.fit(**how)
    assert text in str(caught.value)


def test_what_a_result_has_chosen_is_not_given_again(model, tuned):
    with pytest.raises(
        ArgumentError, match="step_size is given, and chosen by tune=: leave one of them out"
    ):
        model.fit(tune=tuned, step_size=0.1)


def test_only_models_are_tuned():
    with pytest.raises(ArgumentError, match="tune needs a model such as sgmc.Logit.from_formula"):
        sgmc.tune("y ~ x")
