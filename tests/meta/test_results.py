"""What a fit with known standard errors says of outcomes: densities, predictions, summaries."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.errors import ArgumentError

from .studies import SCHOOLS

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
NEW = pd.DataFrame({"study": ["A", "new"]})
MANY = pd.DataFrame(
    {
        "y": np.random.default_rng(1).normal(size=60),
        "e": np.random.default_rng(2).uniform(0.2, 1.5, 60),
        "g": np.arange(60) // 6,
        "h": np.arange(60) // 2,
        "c": np.arange(60) % 5,
        "x": np.random.default_rng(3).normal(size=60),
    }
)
TERMS = {
    "one": "(1 | g)",
    "slopes": "(1 + x | g)",
    "nested": "(1 | g/h)",
    "crossed": "(1 | g) + (1 | c)",
}


@cache
def schools():
    return sgmc.ols("effect ~ 1 + (1 | study)", SCHOOLS, se="se", seed=2)


def test_densities_have_their_constants():
    results = sgmc.ols("effect ~ 1", SCHOOLS, se="se", seed=1)
    mean = results.flat[:, :1]
    expected = stats.norm.logpdf(SCHOOLS.effect.to_numpy(), mean, SCHOOLS.se.to_numpy())
    np.testing.assert_allclose(results.log_lik(), expected, rtol=1e-10)
    found = results.log_lik(SCHOOLS.head(3), "effect", se=SCHOOLS.se.head(3))
    np.testing.assert_allclose(found, expected[:, :3], rtol=1e-10)
    pearson = ((SCHOOLS.effect.to_numpy() - mean) / SCHOOLS.se.to_numpy()).mean(axis=0)
    np.testing.assert_allclose(results.resid_pearson, pearson, rtol=1e-10)


def test_leaving_out_a_study_is_its_marginal_density():
    """Studies of one row: given the parameters, others tell nothing of it."""
    results = schools()
    mu, tau = results.flat.T[:, :, None]
    spread = np.sqrt(tau**2 + SCHOOLS.se.to_numpy() ** 2)
    density = stats.norm.logpdf(SCHOOLS.effect.to_numpy(), mu, spread)
    left = results.left_out(False)
    found = np.empty(density.shape)
    for at, eta in left.blocks():
        found[:, left.place(at)] = left.log_density(at, eta).T
    np.testing.assert_allclose(found, density, atol=1e-8)
    assert results.loo().elpd == pytest.approx(-30.6, abs=1.0)


def test_new_studies_have_the_predictive_distribution_of_an_effect():
    """Of a new study the population's: variance tau^2 beside that of mu; its estimate has its own
    standard error beside.  20 % are five errors of sds of heavy-tailed draws.
    """
    results = schools()
    frame = results.get_prediction(NEW, new_levels="sample").summary_frame()
    mu, tau = results.flat.T
    assert list(frame.columns) == ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"]
    assert frame.mean_se[1] == pytest.approx(np.sqrt(mu.var() + (tau**2).mean()), rel=0.1)
    simulated = results.posterior_predict(NEW, se=[15.0, 100.0], seed=1)
    assert simulated[:, 1].std() == pytest.approx(100.0, rel=0.05)
    told = results.get_prediction(NEW, se=[15.0, 100.0]).summary_frame()
    assert told.obs_ci_upper[1] - told.obs_ci_lower[1] == pytest.approx(2 * 1.96 * 100, rel=0.1)


def test_outcomes_of_new_rows_need_their_errors():
    results = schools()
    with pytest.raises(ArgumentError, match="posterior_predict needs se= for the new rows"):
        results.posterior_predict(NEW)
    with pytest.raises(ArgumentError, match="log_lik needs se= for the new rows"):
        results.log_lik(SCHOOLS, "effect")
    plain = sgmc.ols("y ~ x", MANY, seed=1, draws=200)
    with pytest.raises(ArgumentError, match="fitted without known standard errors"):
        plain.posterior_predict(MANY, se="e")
    with pytest.raises(ArgumentError, match="^se"):
        plain.posterior_predict(MANY, se=1.0)


def test_the_summary_has_heterogeneity_and_no_sigma():
    text = str(schools().summary())
    assert "Heterogeneity I^2: 0." in text and "known standard errors from 9 to 18" in text
    assert "sigma" not in text and "single row" not in text
    assert re.search(r"Rows: +8\n", text)
    assert list(schools().names) == ["Intercept", "sd(1|study)"]


def test_effects_are_shrunk():
    table = schools().ranef("study")
    total = schools().params["Intercept"] + table["mean"].to_numpy()
    assert np.ptp(total) < 0.5 * np.ptp(SCHOOLS.effect)
    assert SCHOOLS.study[np.argmax(total)] == "A"


def test_pickled_fits_predict(tmp_path):
    schools().save(tmp_path / "fit")
    again = sgmc.load(tmp_path / "fit")
    found = again.predict(NEW.tail(1), new_levels="sample")
    assert abs(found.iloc[0] - schools().params["Intercept"]) < 1.0


@pytest.mark.extended("slopes", "nested", "crossed")
@pytest.mark.parametrize("kind", TERMS)
def test_equal_errors_are_a_known_sigma(kind):
    """Of one, of nested and of crossed factors: means to four errors of 1,200 draws."""
    formula = f"y ~ x + {TERMS[kind]}"
    ours = sgmc.ols(formula, MANY.assign(e=0.5), se="e", seed=1, draws=300)
    known = sgmc.ols(formula, MANY, sigma=0.5, seed=1, draws=300)
    assert list(ours.names) == list(known.names)
    assert (np.abs(ours.params - known.params) < 0.2 * known.bse).all()


@pytest.mark.parametrize("kind", ["one", "slopes", "nested"])
def test_unequal_errors_are_the_normal_marginal(kind):
    """Differences of log densities at random points against the marginal covariance in numpy."""
    from sgmc.core.expansion import of_rows
    from sgmc.fit.settings import check_settings

    model = sgmc.OLS.from_formula(f"y ~ x + {TERMS[kind]}", MANY, se="e")
    problem = model.problem(None, check_settings(seed=1))
    rows, q = problem.own.rows, problem.own.effects.loading.q
    rng, X, table = np.random.default_rng(5), np.asarray(problem.own.rows.table.X), rows.table
    found, expected = [], []
    for _ in range(4):
        theta = problem.mode.theta + 0.3 * rng.normal(size=len(problem.mode.theta))
        root = problem.own.effects.loading.root(theta[None, 2:])[0]
        groups = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
        same = (groups[:, None] == groups).astype(float)
        if kind == "nested":
            inner = rows.subgroups.starts
            sub = np.repeat(np.arange(len(inner) - 1), np.diff(inner))
            sds = np.diag(root) ** 2
            V = sds[0] * same + sds[1] * (sub[:, None] == sub)
        else:
            b = rows.Z @ root
            V = (b @ b.T) * same
        V = V + np.diag(table.se**2)
        expected.append(stats.multivariate_normal.logpdf(table.y, X @ theta[:2], V))
        found.append(of_rows(problem.model, theta, slope=False)[0])
        assert q == np.shape(root)[0]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), atol=1e-7)
