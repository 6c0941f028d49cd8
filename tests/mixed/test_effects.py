"""Effects of levels and predictions with them, against grids and closed forms."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc import registry
from sgmc.errors import ArgumentError
from sgmc.models.regression.latent.effects.random_effects import effects_of_fit

from .tables import table_of

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
VERBS = ["ols", "logit", "poisson", "cloglog", "gamma"]
LEVEL = 3  # the one that is looked at


@cache
def fitted(name, slopes=False):
    """A fit with few draws, whose law does not matter here."""
    frame = table_of(registry.room("families")[name].family)
    bars = "(1 + x1 | g)" if slopes else "(1 | g)"
    model = registry.room("families")[name].from_formula(f"y ~ x1 + x2 + {bars}", frame)
    return model.fit(seed=1, draws=500), frame


def at_one_point(name, copies):
    """`LevelEffects` at many copies of one draw, and that draw."""
    results, _ = fitted(name)
    return effects_of_fit(results._fit, 1, results.model.sizes)[0].with_draws(
        np.full(copies, 7)
    ), results.flat[7]


def by_grid(name, wrong=""):
    """Mean and sd of a level's effect given one draw, on a grid."""
    results, frame = fitted(name)
    draw, family = at_one_point(name, 1)[1], results.model.family
    rows = frame[frame.g == LEVEL]
    eta = results.model.spec.matrix(rows) @ draw[:3]
    sd = draw[3] * (np.sqrt(2) if wrong == "sd x sqrt 2" else 1.0)
    b = np.linspace(-8 * sd, 8 * sd, 4001)
    extra = draw[4:, None] if len(draw) > 4 else None
    value = family.log_density(rows.y.to_numpy()[:, None], eta[:, None] + b, extra).sum(axis=0)
    value = value if wrong == "prior forgotten" else value - 0.5 * (b / sd) ** 2
    p = np.exp(value - special.logsumexp(value))
    return p @ b, np.sqrt(p @ (b - p @ b) ** 2)


def errors(name, wrong=""):
    """Differences of draws and of averages over nodes to the grid, in its sd: of the mean of 20,000
    draws, of their sd, and of both by nodes.
    """
    effects, _ = at_one_point(name, 20_000)
    mean, sd = by_grid(name, wrong)
    draws, centre, covariance = (one[0] for one in effects.known(np.array([LEVEL])))
    return np.abs(
        [
            (draws.mean() - mean) / sd,
            draws.std() / sd - 1,
            (centre[0, 0] - mean) / sd,
            np.sqrt(covariance[0, 0, 0]) / sd - 1,
        ]
    )


@pytest.mark.extended("poisson", "cloglog", "gamma")
@pytest.mark.parametrize("name", VERBS)
def test_effects_given_parameters_are_those_of_a_grid(name):
    """20,000 draws: four Monte Carlo errors are 0.03; nodes are exact to 1e-3."""
    found = errors(name)
    assert found[:2].max() < 0.03 and found[2:].max() < 2e-3


@pytest.mark.mistake("effects of levels: {mistake}")
@pytest.mark.parametrize("mistake", ["sd x sqrt 2", "prior forgotten"])
@pytest.mark.parametrize("name", ["logit"])
def test_mistakes_in_effects_are_seen(name, mistake):
    assert errors(name, mistake)[:2].max() > 0.06


def test_two_effects_are_normal_in_closed_form():
    """Means and covariances of intercept and slope by matrices, at each draw."""
    results, frame = fitted("ols", slopes=True)
    effects, rows = effects_of_fit(results._fit, 1, results.model.sizes)[0], frame[frame.g == LEVEL]
    Z = np.column_stack([np.ones(len(rows)), rows.x1])
    draws, mean, covariance = (one[0] for one in effects.known(np.array([LEVEL])))
    for k in (0, 99, 800):
        root, sigma = effects.roots[k], results.flat[k, -1]
        G = root @ root.T
        V = Z @ G @ Z.T + sigma**2 * np.eye(len(rows))
        e = rows.y - results.model.spec.matrix(rows) @ results.flat[k, :3]
        assert np.allclose(mean[k], G @ Z.T @ np.linalg.solve(V, e), atol=1e-9)
        assert np.allclose(covariance[k], G - G @ Z.T @ np.linalg.solve(V, Z @ G), atol=1e-9)
    away = draws - mean
    assert np.abs(away.mean(axis=0) / away.std(axis=0)).max() < 4 / np.sqrt(len(away))


def test_ranef_is_the_table_of_ranef_draws():
    """Means within 4 Monte Carlo errors; quantiles of the same draws are the same."""
    results, frame = fitted("logit")
    table, draws = results.ranef("g"), results.ranef_draws("g")[..., 0]
    assert list(table.index) == sorted(frame.g.unique())
    error = (table["mean"] - draws.mean(axis=0)) / (draws.std(axis=0) / np.sqrt(len(draws)))
    assert np.abs(error).max() < 4
    assert np.allclose(table["2.5%"], np.quantile(draws, 0.025, axis=0))
    some = results.ranef_draws(levels=[5, 2])[..., 0]
    assert np.array_equal(some, draws[:, [5, 2]])
    assert not np.array_equal(some, results.ranef_draws(levels=[5, 2], seed=9)[..., 0])
    assert results.random_effects[2]["1"] == table.loc[2, "mean"]


def near_draws(found, eta):
    """Whether means are those at draws of linear predictors, to four Monte Carlo errors."""
    at_draws = special.expit(eta)
    error = at_draws.std(axis=1) / np.sqrt(at_draws.shape[1])
    return (np.abs(found - at_draws.mean(axis=1)) < 4 * error).all()


def test_predictions_have_the_effects():
    """E[y | x, g] is the average over draws of the inverse link with the level's effect."""
    results, frame = fitted("logit")
    new = frame.head(4).assign(g=[5, 2, 5, 2])
    eta = results.model.spec.matrix(new) @ results.flat[:, :3].T
    b = results.ranef_draws(levels=[5, 2])[:, [0, 1, 0, 1], 0].T
    assert near_draws(results.predict(new), eta + b) and not near_draws(results.predict(new), eta)
    assert np.allclose(results.predict(new, random=False), special.expit(eta).mean(axis=1))
    b = results.ranef_draws()[:, frame.g, 0].T
    eta = results.model.spec.matrix(frame) @ results.flat[:, :3].T + b
    assert near_draws(results.predict(), eta)


def test_new_levels_have_effects_of_their_own():
    """Rows of a new level share an effect in each draw, two new levels do not."""
    results, frame = fitted("ols")
    new = frame.head(3).assign(g=[77, 78, 77], x1=0.0, x2=0.0)
    rows = results.table_rows(new)
    eta = np.empty((3, rows.m))
    for at, part in rows.blocks():
        eta[rows.place(at)] = part
    effect = eta - results.flat[:, 0]
    assert np.allclose(effect[0], effect[2])
    assert abs(np.corrcoef(effect[0], effect[1])[0, 1]) < 4 / np.sqrt(rows.m)
    share = effect[:2] / results.flat[:, 3]  # of the population's sd
    assert np.abs(share.std(axis=1) - 1).max() < 4 / np.sqrt(2 * rows.m)
    lacking = pd.DataFrame(dict(x1=[0.0], x2=[0.0], g=[None]))
    assert np.isnan(results.predict(lacking)).all()


def test_what_is_not_there_is_refused():
    results, frame = fitted("ols")
    for call, what in [
        (lambda: results.ranef("h"), "no grouping factor 'h'"),
        (lambda: results.ranef_draws(levels=[99]), "there is no 99"),
        (lambda: results.predict(frame.assign(g=99), new_levels="error"), "99"),
        (lambda: results.predict(frame, new_levels="zero"), "new_levels"),
        (lambda: results.predict(frame.drop(columns="g")), "'g'"),
    ]:
        with pytest.raises((ArgumentError, sgmc.errors.FormulaError), match=what):
            call()


def test_saved_results_predict_without_effects(tmp_path):
    results, frame = fitted("ols")
    results.save(tmp_path / "fit.sgmc")
    loaded = sgmc.load(tmp_path / "fit.sgmc")
    expected = results.predict(frame, random=False)
    assert np.allclose(loaded.predict(frame, random=False), expected)
    longer = loaded.resume(draws=100, data=frame)
    assert np.array_equal(longer.draws[:, :500], results.draws)
