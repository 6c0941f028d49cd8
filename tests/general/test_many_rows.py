"""What a fit of a user's density of many rows does without: gradients for the curvature, rows of
the pilot and of scores, and calls that another thread answers.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import sgmc
from sgmc.coordinates.approximations import laplace
from sgmc.fit import noise, stopping
from sgmc.fit.tolerance import SMALLEST_BATCH
from sgmc.results.checks.scores.stein import SCORE_BATCH, SCORE_NOISE, enough_for_scores

N, D = laplace.ROWS_ONE_SIDED, 3


class Counted(sgmc.Model):
    """A logistic regression that counts gradients of all rows."""

    parameters, prior = {"b": D}, {"b": sgmc.normal(0, 2.5)}

    def __init__(self, n=N):
        rng = np.random.default_rng(2)
        self.n, self.X, self.whole = n, rng.normal(size=(n, D)), 0
        self.y = (rng.random(n) < 1 / (1 + np.exp(-self.X @ np.array([0.5, -0.5, 1.0])))) * 1.0

    def log_lik(self, theta, rows):
        eta = self.X[rows] @ theta["b"]
        return self.y[rows] @ eta - np.logaddexp(0, eta).sum()

    def grad(self, theta, rows):
        X = self.X[rows]
        self.whole += len(X) == self.n
        return (self.y[rows] - 1 / (1 + np.exp(-X @ theta["b"]))) @ X


def precision(model, theta):
    """The curvature of the log posterior."""
    share = 1 / (1 + np.exp(-model.X @ theta))
    return (model.X.T * (share * (1 - share))) @ model.X + np.eye(D) / 2.5**2


def test_one_sided_differences_tell_the_curvature_of_many_rows():
    model = Counted()
    theta = np.array([0.5, -0.5, 1.0])

    def evaluate(u):
        at = {"b": u}
        prior = -0.5 * (u @ u) / 2.5**2, -u / 2.5**2
        every = slice(0, N)
        return model.log_lik(at, every) + prior[0], model.grad(at, every) + prior[1]

    exact, here = precision(model, theta), evaluate(theta)[1]
    model.whole = 0
    found = laplace.curvature(evaluate, theta, here)
    one_sided, model.whole = model.whole, 0
    central = laplace.curvature(evaluate, theta)
    assert one_sided == D and model.whole == 2 * D
    # a step of a thousandth of an sd times the posterior's skewness, some hundredths
    np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-4 * np.abs(exact).max())
    np.testing.assert_allclose(central, exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max())


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_the_pilot_looks_at_fewer_rows_once_it_has_seen_little_noise(monkeypatch):
    asked, row_noise = [], noise.row_noise

    def noted(of, y, rows, *rest):
        asked.append(np.size(rows))
        return row_noise(of, y, rows, *rest)

    monkeypatch.setattr(noise, "row_noise", noted)
    results = Counted().fit(seed=1, draws=50)
    few = results._fit.plan.pilot.worst_noise()
    assert asked == [noise.SINGLE_ROWS] + [noise.FEW_SINGLE_ROWS] * (2 * noise.PAIRS - 1)
    monkeypatch.setattr(noise, "FAR_LESS_NOISE", 0.0)
    asked.clear()
    many = Counted().fit(seed=1, draws=50)._fit.plan.pilot.worst_noise()
    assert set(asked) == {noise.SINGLE_ROWS}
    # noise is of fourth powers of the predictors, and few rows have most of it: of 800 looks at 500
    # rows it is told to a half; up to eight times as much would change no batch
    assert few == pytest.approx(many, rel=0.5) and many < noise.LITTLE_NOISE / 8


@pytest.mark.parametrize(
    "seen, rows", [(1e-9, SMALLEST_BATCH), (200 * SCORE_NOISE, 200), (9.0, SCORE_BATCH)]
)
def test_scores_have_as_many_rows_as_their_noise_asks_for(seen, rows):
    plan = SimpleNamespace(
        pilot=SimpleNamespace(worst_noise=lambda: seen),
        gradient="taylor",
        problem=SimpleNamespace(defaults=SimpleNamespace(estimator="taylor")),
    )
    assert enough_for_scores(plan, SCORE_BATCH) == rows
    plan.gradient = "simple"  # whose noise is not that of the scores
    assert enough_for_scores(plan, SCORE_BATCH) == SCORE_BATCH
    plan.pilot = None
    assert enough_for_scores(plan, SCORE_BATCH) == SCORE_BATCH


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_compiled_densities_are_counted_as_such():
    """One step in Python takes longer than many in compiled code, and draws are advised by that."""
    pytest.importorskip("numba")

    class Plain(sgmc.Model):
        n, parameters = 1, {"x": ()}

        def log_lik(self, theta, rows):
            return -0.5 * theta["x"] ** 2

        def grad(self, theta, rows):
            return {"x": -theta["x"]}

    compiled = sgmc.NumbaModel(lambda t: -0.5 * t.x**2, (), parameters={"x": ()})
    slow, fast = (
        stopping.counted_work(one.fit(seed=1, draws=50, sampler="mala")._fit)
        for one in (Plain(), compiled)
    )
    assert slow > 10 * fast


def test_a_loop_over_few_rows_gives_the_same_sums(monkeypatch):
    jnp = pytest.importorskip("jax.numpy")
    from sgmc.models.user import in_jax

    model = Counted(500)

    def log_lik(theta, data):
        X, y = data
        eta = X @ theta["b"]
        return y @ eta - jnp.logaddexp(0.0, eta).sum()

    compiled = sgmc.JaxModel(log_lik, (model.X, model.y), parameters={"b": D}).compiled()
    rng = np.random.default_rng(1)
    places, rows = rng.normal(size=(3, D)), rng.permutation(500)[: in_jax.ROWS_IN_PLACE]
    calls = [
        lambda at: compiled.pair(places[0], at),
        lambda at: compiled.apart(places[0], places[1], at),
        lambda at: compiled.expanded(places, 0.1, at),
    ]
    looped = [one(rows) for one in calls]
    monkeypatch.setattr(in_jax, "ROWS_IN_PLACE", 0)
    for one, found in zip(calls, looped):
        np.testing.assert_allclose(found, one(rows), rtol=1e-11)
    total = model.grad({"b": places[0]}, rows)
    np.testing.assert_allclose(looped[0][1:], total, rtol=1e-11)
