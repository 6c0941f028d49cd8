"""Neural networks: gradients, networks that are regressions against these, a small one by several
samplers, hyperpriors, input.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from _ext import mistakes
from sgmc.core.contract import Gradient, Prior
from sgmc.core.engine import evaluate, full
from sgmc.core.expansion import of_rows
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError, DataError
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import Uniform

ACTIVATIONS, OUTCOMES = ("sigmoid", "tanh", "relu"), ("softmax", "gaussian", "poisson")
# five standard errors of 2,500 effective draws a side; in posterior sds, and relative
MEAN, SD = 0.1, 0.08

# of verdicts on runs as short as these
quiet = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def table(n=40, d=3, seed=0):
    """Inputs, and outcomes that any law takes: 0, 1, 2."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, 3, n).astype(float)


def network(outcome="softmax", n=40, **options):
    """A small one."""
    return sgmc.BNN(*table(n), outcome=outcome, **{"hidden": (4, 3), **options})


def somewhere(model, seed=1):
    """A theta that is not special."""
    theta = np.random.default_rng(seed).normal(size=model.layout().size) * 0.7
    if model.outcome == "gaussian":
        theta[model.layout().slices["sigma"]] = 0.8
    return theta


def slopes(function, theta):
    """The gradient by central differences."""
    return np.array(
        [(function(theta + h) - function(theta - h)) / 2e-6 for h in 1e-6 * np.eye(len(theta))]
    )


def plain_log_lik(model, theta, rows):
    """The log-likelihood of rows, written with numpy alone."""
    r = model.recipe
    parts, sigma = r.parts(theta)
    a = (model.X[rows] - r.centre) * r.unit
    for W, b in parts[:-1]:
        z = a @ W + b
        a = {"sigmoid": 1 / (1 + np.exp(-z)), "tanh": np.tanh(z), "relu": z * (z > 0)}[r.activation]
    eta, y = a @ parts[-1][0] + parts[-1][1], model.y[rows]
    if r.outcome == "softmax":
        return (eta[np.arange(len(y)), y.astype(int)] - np.log(np.exp(eta).sum(axis=1))).sum()
    if r.outcome == "gaussian":
        e = ((y - r.shift) / r.factor - eta[:, 0]) / sigma
        return (-0.5 * e**2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)).sum()
    from scipy.stats import poisson

    return poisson.logpmf(y, np.exp(eta[:, 0] + r.shift)).sum()


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", [(), (5,), (4, 3)])
def test_value_and_gradient(activation, outcome, hidden):
    model, rows = network(outcome, activation=activation, hidden=hidden), np.array([3, 17, 5, 5, 0])
    theta = somewhere(model)
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


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_noise_of_coordinates_is_that_of_single_rows(outcome, dtype):
    """Squares summed up by products of matrices, against row by row."""
    model = network(outcome, activation="tanh", dtype=dtype)
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


# ---- posteriors ----------------------------------------------------------------------------------


def departures(results, mean, sd):
    """Largest errors of means, in posterior sds, and of sds, relative, of draws (draw, number)."""
    return np.abs((results.mean(axis=0) - mean) / sd).max(), np.abs(
        results.std(axis=0) / sd - 1
    ).max()


@pytest.fixture(scope="module")
def straight():
    """Two classes that depend on three inputs."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    return X, (rng.random(120) < 1 / (1 + np.exp(-X @ [1.0, -0.5, 0.2] - 0.3))).astype(int)


@pytest.fixture(scope="module")
def logit(straight):
    """The differences of a softmax's weights have prior variances of two."""
    X, y = straight
    exog = np.column_stack([X, np.ones(len(X))])
    return sgmc.Logit(y, exog).fit(
        prior=sgmc.normal(0, np.sqrt(2)), sampler="mala", draws=4000, seed=1
    )


def differences(results):
    """Draws of the differences of two classes' weights and biases, the latter last."""
    W, b = results.draws_of("W1"), results.draws_of("b1")
    return np.concatenate([W[..., 1] - W[..., 0], b[..., 1:] - b[..., :1]], axis=-1).reshape(
        -1, W.shape[2] + 1
    )


def test_without_hidden_layers_it_is_a_logit(straight, logit):
    results = sgmc.BNN(*straight, hidden=(), scale=None).fit(sampler="mala", draws=4000, seed=1)
    mean, sd = departures(differences(results), logit.params, logit.bse)
    assert mean < MEAN and sd < SD


@quiet
def test_piecewise_deterministic_samplers_take_it(straight, logit):
    """Whitened at the mode, where scores are none: paths of minibatches,
    whose own error is about the tolerance.
    """
    results = sgmc.BNN(*straight, hidden=(), scale=None).fit(
        sampler="sbps", batch_size=60, draws=1000, chains=2, seed=1
    )
    mean, sd = departures(differences(results), logit.params, logit.bse)
    assert mean < 2 * MEAN and sd < 2 * SD


def test_a_dropped_prior_is_seen(straight, logit):
    how = dict(prior=sgmc.normal(0, 30), precondition=None, sampler="hmc", draws=1500, seed=1)
    results = sgmc.BNN(*straight, hidden=(), scale=None).fit(**how)
    mean, sd = departures(differences(results), logit.params, logit.bse)
    assert mean > MEAN


@quiet
@pytest.mark.parametrize("sampler", ["sghmc", "sgld"])
def test_a_wrong_slope_is_seen(straight, logit, sampler, monkeypatch):
    """Weights whose gradients are halved; the biases' are right."""
    right = sgmc.BNN.kernel
    how = dict(
        sampler=sampler,
        gradient="cv",
        step_size=0.2,
        batch_size=60,
        draws=1500,
        thin=4 if sampler == "sghmc" else 10,
        seed=1,
    )
    results = sgmc.BNN(*straight, hidden=(), scale=None).fit(**how)
    # of steps as long as these, too
    assert max(departures(differences(results), logit.params, logit.bse)) < 1.5 * MEAN
    monkeypatch.setattr(sgmc.BNN, "kernel", lambda self: mistakes.Bent(right(self), 6, 0.5))
    model = sgmc.BNN(*straight, hidden=(), scale=None)
    assert "grad is wrong for" in str(sgmc.check_model(model))
    assert max(departures(differences(model.fit(**how)), logit.params, logit.bse)) > 3 * MEAN


def test_without_hidden_layers_it_is_a_linear_regression():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = X @ [2.0, -1.0] + 0.5 + rng.normal(size=60)
    prior = {"*": sgmc.normal(0, 2), "sigma": sgmc.exponential(1)}
    results = sgmc.BNN(X, y, hidden=(), outcome="gaussian", scale=None).fit(
        prior=prior, sampler="mala", draws=4000, seed=1
    )
    exact = sgmc.OLS(y, np.column_stack([X, np.ones(60)])).fit(
        prior=prior, sampler="mala", draws=4000, seed=2
    )
    mean, sd = departures(results.draws.reshape(-1, 4), exact.params, exact.bse)
    assert mean < MEAN and sd < SD


class Plain(sgmc.Model):
    """A network of two tanh units for numbers, and its gradient, written with numpy alone."""

    parameters = {"W": (2,), "b": (2,), "V": (2,), "c": ()}
    prior = sgmc.normal(0, 1)
    scaled = False

    def __init__(self, x, y):
        self.x, self.y, self.n = x, y, len(y)

    def log_lik(self, theta, rows):
        a = np.tanh(np.outer(self.x[rows], theta["W"]) + theta["b"])
        return (
            self.y[rows] @ (a @ theta["V"] + theta["c"]) - np.exp(a @ theta["V"] + theta["c"]).sum()
        )

    def grad(self, theta, rows):
        x = self.x[rows]
        a = np.tanh(np.outer(x, theta["W"]) + theta["b"])
        e = self.y[rows] - np.exp(a @ theta["V"] + theta["c"])
        back = (e[:, None] * theta["V"]) * (1 - a**2)
        return {"W": x @ back, "b": back.sum(axis=0), "V": e @ a, "c": e.sum()}


@pytest.fixture(scope="module")
def bent():
    """Counts whose rates go up and down, and the posterior means and sds of their logs by
    `Plain`.
    """
    rng = np.random.default_rng(5)
    x = rng.uniform(-2, 2, 80)
    y = rng.poisson(np.exp(1 + np.sin(1.5 * x))).astype(float)
    results = Plain(x, y).fit(sampler=sgmc.HMC(target_accept=0.9), draws=700, seed=2)
    W, b, V, c = (results.draws_of(name).reshape(2800, -1) for name in ("W", "b", "V", "c"))
    at = np.linspace(-2, 2, 5)
    log_rate = (np.tanh(at[:, None, None] * W + b) * V).sum(axis=2).T + c
    return x[:, None], y, at[:, None], log_rate.mean(axis=0), log_rate.std(axis=0)


@quiet
@pytest.mark.parametrize(
    "how",
    [
        dict(sampler=sgmc.HMC(target_accept=0.9), draws=1500),
        dict(
            sampler=sgmc.SGHMC(friction=20.0),
            step_size=0.01,
            batch_size=40,
            gradient="simple",
            draws=1200,
            thin=40,
        ),
    ],
    ids=str,
)
def test_a_small_network(bent, how):
    """Weights may change their places and signs; what the network says may not.

    Minibatches add about the tolerance to the sds.
    """
    x, y, at, mean, sd = bent
    results = sgmc.BNN(x, y, hidden=(2,), activation="tanh", outcome="poisson", scale=None).fit(
        seed=1, **how
    )
    off = departures(np.log(results.outputs(at)), mean, sd)
    loose = 1.2 if "step_size" not in how else 1.6
    assert off[0] < loose * MEAN and off[1] < 1.5 * loose * SD
    assert results.predict(at) == pytest.approx(np.exp(np.log(results.outputs(at))).mean(axis=0))


# ---- hyperpriors ---------------------------------------------------------------------------------


def test_the_prior_of_precisions():
    model = network(hyperprior=sgmc.gamma(2, 0.5), hidden=(3,), outcome="gaussian")
    prior, theta = model.prior_kernel(), somewhere(model)
    gradient = Simple(model.kernel(), prior, Uniform(40, 40), Rng(seed_sequence(1, "chain", 0)))
    value, grad = full(gradient, theta)
    assert grad == pytest.approx(slopes(lambda t: full(gradient, t)[0], theta), rel=1e-5, abs=1e-5)
    parts, at, expected = [9, 3, 3, 1], 0, of_rows(model.kernel(), theta)[0] - 0.5 * theta[16] ** 2
    for size, log_precision in zip(parts, theta[17:]):
        w, precision = theta[at : at + size], np.exp(log_precision)
        expected += (
            0.5 * size * log_precision
            - 0.5 * precision * (w @ w)
            + 2 * log_precision
            - 2 * precision
        )
        at += size
    assert value == pytest.approx(expected)


@quiet
def test_precisions_drawn_between_steps_have_the_same_law(straight):
    """Chen, Fox & Guestrin (2014, 4.2) against precisions sampled like weights by an exact
    sampler.
    """
    hyper = dict(hidden=(), scale=None, hyperprior=sgmc.gamma(3, 1))
    exact = sgmc.BNN(*straight, refresh=False, **hyper).fit(
        sampler=sgmc.HMC(target_accept=0.9), draws=800, seed=1
    )
    how = dict(sampler="sghmc", step_size=0.05, batch_size=100, draws=1500, thin=8, seed=1)
    drawn = sgmc.BNN(*straight, **hyper).fit(**how)
    wanted = exact.draws_of("log_precision").reshape(-1, 2)
    mean, sd = departures(
        drawn.draws_of("log_precision").reshape(-1, 2), wanted.mean(axis=0), wanted.std(axis=0)
    )
    assert mean < 1.5 * MEAN and sd < 1.5 * SD
    other = sgmc.BNN(*straight, **{**hyper, "hyperprior": sgmc.gamma(4, 1)}).fit(**how)
    assert (
        departures(
            other.draws_of("log_precision").reshape(-1, 2), wanted.mean(axis=0), wanted.std(axis=0)
        )[0]
        > 3 * MEAN
    )


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
    model = sgmc.BNN(X, y, hidden=(2,))
    short = dict(draws=4, warmup=4, chains=1, seed=1)
    derived = model.fit(**short)
    assert derived.sampler == sgmc.SGHMC(friction=20.0)
    assert derived._fit.plan.gradient == "svrg"
    assert derived._fit.plan.batch == 500
    assert model.fit(sampler="hmc", **short).sampler == sgmc.HMC()
    assert model.fit(sampler="sgld", step_size=1e-3, **short)._fit.plan.gradient == "simple"
    assert sgmc.BNN(X[:99], y[:99], hidden=(2,)).fit(**short).sampler == sgmc.HMC()
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
        (lambda: sgmc.BNN(np.ones((3, 1)), [0, 1]), "y has 2 values, X has 3 rows"),
        (lambda: sgmc.BNN(np.ones((3, 1)), [1, 1, 1]), "at least two classes"),
        (lambda: sgmc.BNN(np.ones((99, 1)), np.arange(99.0)), "outcome='gaussian'"),
        (lambda: sgmc.BNN(np.ones((3, 1)), [0, 1, -1], outcome="poisson"), "must be counts"),
        (lambda: sgmc.BNN(np.ones((3, 1)), [2.0, 2, 2], outcome="gaussian"), "y is 2 in every row"),
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
