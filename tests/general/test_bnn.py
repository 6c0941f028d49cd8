"""Neural networks: gradients, networks that are regressions against these, a small one by several
samplers, hyperpriors, input.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.contract import Gradient, Prior
from sgmc.core.engine import evaluate
from sgmc.core.expansion import of_rows
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError, DataError
from sgmc.gradients.simple import Simple
from sgmc.results.report.verdict import choosing
from sgmc.subsampling.uniform import Uniform

from .networks import ACTIVATIONS, OUTCOMES, network, quiet, slopes, somewhere, table


def plain_log_lik(model, theta, rows):
    """The log-likelihood of rows, written with numpy alone."""
    r = model.recipe
    parts, sigma = r.parts(theta)
    a = (model.X[rows] - r.centre) * r.unit
    for W, b in parts[:-1]:
        z = a @ W + b
        shares = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        squashed = {"sigmoid": 1 / (1 + np.exp(-z)), "tanh": np.tanh(z), "relu": z * (z > 0)}
        a = {**squashed, "softmax": shares}[r.activation]
    eta, y = a @ parts[-1][0] + parts[-1][1], model.y[rows]
    if r.outcome == "softmax":
        return (eta[np.arange(len(y)), y[:, 0].astype(int)] - np.log(np.exp(eta).sum(axis=1))).sum()
    from scipy.stats import norm, poisson

    if r.outcome == "poisson":
        return poisson.logpmf(y, np.exp(eta + r.law.shift)).sum()
    k = y.shape[1]
    spread = sigma if r.outcome == "gaussian" else np.exp(eta[:, k:])
    return norm.logpdf((y - r.law.shift) / r.law.factor, eta[:, :k], spread).sum()


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", [(), (5,), (4, 3)])
def test_value_and_gradient(activation, outcome, hidden):
    slopes_agree(network(outcome, activation=activation, hidden=hidden))


@pytest.mark.parametrize("outcome", ["gaussian", "heteroscedastic"])
def test_value_and_gradient_of_several_outcomes(outcome):
    model = network(outcome, several=True)
    slopes_agree(model)
    assert model.recipe.sizes[-1] == (2 if outcome == "gaussian" else 4)


def slopes_agree(model):
    """Value and gradient of some rows are those of numpy and of central differences."""
    rows, theta = np.array([3, 17, 5, 5, 0]), somewhere(model)
    value, grad = of_rows(model.kernel(), theta, rows)
    assert value == pytest.approx(plain_log_lik(model, theta, rows), rel=1e-10)
    assert grad == pytest.approx(
        slopes(lambda t: plain_log_lik(model, t, rows), theta), rel=1e-5, abs=1e-6
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_narrow_tables_stay_as_they_are(dtype):
    """Products in float32: sums of 200 rows are right to about 200 roundings of 6e-8."""
    X = np.random.default_rng(0).integers(0, 255, (200, 6)).astype(dtype)
    y = np.random.default_rng(1).integers(0, 3, 200)
    X.setflags(write=False)
    narrow = sgmc.BNN(X, y, hidden=(4,))
    wide = sgmc.BNN(
        X, y, hidden=(4,), dtype="float64", scale="table" if dtype == np.uint8 else "columns"
    )
    assert narrow.X is X and wide.X.dtype == np.float64
    theta = somewhere(narrow)
    value, grad = of_rows(narrow.kernel(), theta)
    exact, slope = of_rows(wide.kernel(), theta)
    assert value == pytest.approx(exact, rel=1e-5)
    assert grad == pytest.approx(slope, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize(
    "outcome, several", [(name, False) for name in OUTCOMES] + [("gaussian", True)]
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_noise_of_coordinates_is_that_of_single_rows(outcome, several, dtype):
    """Squares summed up by products of matrices, against row by row."""
    model = network(outcome, several=several, activation="tanh", dtype=dtype)
    kernel, theta, n, m = model.kernel(), somewhere(model), 40, 8
    both = []
    for kind in (Simple, Gradient):  # the base goes row by row
        stream = Rng(seed_sequence(1, "chain", 0))
        both.append(
            evaluate(kind(kernel, Prior(kernel.dim), Uniform(n, m), stream), theta, stream, True)
        )
    (g, sd), (h, spread) = both
    near = dict(rel=1e-9, abs=1e-9) if dtype == "float64" else dict(rel=1e-3, abs=1e-3)
    assert g == pytest.approx(h, **near) and sd == pytest.approx(spread, **near) and (sd > 0).all()


# ---- data in, predictions out --------------------------------------------------------------------

RUN = dict(
    sampler="sgld", step_size=0.01, batch_size=20, draws=40, warmup=20, thin=1, chains=2, seed=3
)


@quiet
def test_formula_and_arrays_are_the_same():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "y": rng.choice(["a", "b", "c"], 50),
            "u": rng.normal(size=50),
            "g": rng.choice(["s", "t"], 50),
        }
    )
    by_formula = sgmc.BNN("y ~ u + C(g)", frame, hidden=(3,)).fit(**RUN)
    names = list(by_formula.model.recipe.names)
    columns = {"u": frame["u"], "C(g)[T.t]": (frame["g"] == "t") * 1.0}
    X = np.column_stack([columns[name] for name in names])
    by_arrays = sgmc.BNN(X, frame["y"], hidden=(3,)).fit(**RUN)
    assert (by_formula.draws == by_arrays.draws).all()
    p = by_formula.predict_proba(frame.head())
    assert p == pytest.approx(by_arrays.predict_proba(X[:5])) and p.sum(axis=1) == pytest.approx(1)
    assert by_formula.classes == ("a", "b", "c")
    assert set(by_formula.predict(frame)) <= {"a", "b", "c"}
    assert set(np.unique(by_formula.posterior_predict(frame))) <= {"a", "b", "c"}
    scores = by_formula.calibration(frame, frame["y"])
    assert scores["error"] == (by_formula.predict(frame) != frame["y"]).mean()
    assert 0 <= scores["ece"] <= scores["mce"]
    assert (
        sgmc.BNN.from_formula("y ~ u + C(g)", frame, hidden=(3,)).fit(**RUN).draws
        == by_formula.draws
    ).all()


@quiet
def test_predictions_are_in_the_units_of_the_data():
    rng = np.random.default_rng(7)
    X = rng.normal(50, 10, size=(200, 2))
    y = 1000 + 30 * X[:, 0] + rng.normal(size=200)
    results = sgmc.BNN(X, y, hidden=(), outcome="gaussian").fit(seed=1, draws=500)
    assert results.predict(X) == pytest.approx(1000 + 30 * X[:, 0], abs=1)
    assert results.posterior_predict(X, most=400).std(axis=0).mean() == pytest.approx(1, rel=0.2)
    assert results.calibration(X, y)["rmse"] == pytest.approx(1, rel=0.15)


@quiet
def test_whole_draws_for_predictions_are_kept_evenly(monkeypatch):
    from sgmc.core import bank

    monkeypatch.setattr(bank, "MAX_BANKED", 8)
    model = network(hidden=(3,), n=60)
    everything = model.fit(**RUN)
    some = model.fit(keep=["b2"], **RUN)
    theta, weights = some.networks()
    kept = everything.draws[:, ::8]  # 40 draws in at most 8 places: every eighth
    assert theta.shape == (10, 24) and (weights == weights[0]).all()
    assert theta == pytest.approx(kept.reshape(10, 24), rel=1e-6)
    assert some.predict_proba(model.X) == pytest.approx(
        np.mean([model.recipe.outputs(t, model.X) for t in kept.reshape(10, 24)], axis=0), rel=1e-4
    )
    assert some.draws_of("b2").shape == (2, 40, 3)
    longer = model.fit(keep=["b2"], **{**RUN, "draws": 30}).resume(draws=10)
    assert (longer.networks()[0] == theta).all()


@quiet
def test_defaults_go_with_no_other_sampler():
    X, y = table(2500)
    model = sgmc.BNN(X, y, hidden=(12,))
    short = dict(draws=4, warmup=4, chains=1, seed=1)
    derived = model.fit(**short)
    assert derived.sampler == sgmc.SGHMC(friction=5.0)
    assert derived._fit.plan.gradient == "svrg"
    assert derived._fit.plan.batch == 500
    assert model.fit(sampler="hmc", **short).sampler == sgmc.HMC()
    assert model.fit(sampler="sgld", step_size=1e-3, **short)._fit.plan.gradient == "simple"
    assert model.fit(sampler="auto", **short).sampler == derived.sampler
    few, more = sgmc.BNN(X[:99], y[:99], hidden=(12,)), sgmc.BNN(X, y, hidden=(2,))
    assert few.fit(**short).sampler == sgmc.NUTS(target_accept=0.95)
    assert more.fit(**short).sampler == sgmc.HMC()
    for how, leads in (({}, False), ({"sampler": "hmc"}, True)):  # no advice leads back
        advice = choosing(few.fit(**short, **how)._fit)
        assert ("sampler='auto'" in advice) == leads
    assert (
        sgmc.BNN(X[:99], y[:99], hidden=(2,), hyperprior=sgmc.gamma(1)).fit(**short).sampler
        == derived.sampler
    )


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: sgmc.BNN([[1.0], [np.nan]], [0, 1]),
            "X has missing or infinite values .column 'x1'",
        ),
        (lambda: sgmc.BNN(np.ones((2, 2, 2)), [0, 1]), "reshape"),
        (lambda: sgmc.BNN(np.eye(3, 1), [0, 1]), "y has 2 values, X has 3 rows"),
        (lambda: sgmc.BNN(np.eye(3, 1), [1, 1, 1]), "at least two classes"),
        (lambda: sgmc.BNN(np.eye(99, 1), np.arange(99.0)), "outcome='gaussian'"),
        (lambda: sgmc.BNN(np.eye(3, 1), [0, 1, -1], outcome="poisson"), "must hold counts"),
        (lambda: sgmc.BNN(np.eye(3, 1), [2.0, 2, 2], outcome="gaussian"), "y is 2 in every row"),
        (lambda: sgmc.BNN(np.ones((3, 2)), [0, 1, 1]), "X is constant in every column"),
        (lambda: sgmc.BNN("y ~ u", pd.DataFrame({"y": [0, 1, 1], "u": [1, 2, np.nan]})), "missing"),
        (lambda: sgmc.BNN("y ~ 1", pd.DataFrame({"y": [0, 1]})), "has no inputs"),
    ],
)
def test_data_that_do_not_suit(make, message):
    with pytest.raises(DataError, match=message):
        make()


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(hidden=(0,)), "hidden=.0,. must be whole numbers"),
        (dict(activation="elu"), "activation='elu'"),
        (dict(activation="softmax", hidden=(3, 1)), "softmax of one unit is always 1"),
        (dict(outcome="probit"), "outcome='probit'"),
        (dict(scale="rows"), "scale='rows'"),
        (dict(dtype="float16"), "dtype='float16'"),
        (dict(hyperprior=2), "must be a gamma prior"),
        (
            dict(hyperprior=sgmc.gamma(1), refresh=True, outcome="gaussian"),
            "refresh=True goes with no Gaussian",
        ),
    ],
)
def test_arguments_that_are_none(options, message):
    with pytest.raises(ArgumentError, match=message):
        network(**options)


@quiet
def test_new_data_that_do_not_suit():
    results = network().fit(**RUN)
    for data, message in (
        (np.ones((2, 4)), "4 columns; they must have 3"),
        ([[1, 2, np.nan]], "missing or infinite"),
    ):
        with pytest.raises(DataError, match=message):
            results.predict(data)
    with pytest.raises(ArgumentError, match="none of the classes"):
        results.calibration(np.ones((1, 3)), [7])
    with pytest.raises(ArgumentError, match="does not apply to poisson"):
        network(outcome="poisson").fit(**RUN).predict_proba(np.ones((1, 3)))
