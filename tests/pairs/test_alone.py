"""What needs more than a case: rows left out, data and labels that change after the fit."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc

from ..reference.regression import Regression
from .comparing import assert_near, assert_refused, assert_same, quiet
from .factors import DATA, FAMILIES, NEW, PLAIN
from .made import DRAWS, fitted, make

MANY = dict(seed=1, sampler="laplace", draws=4000, chains=2)


@pytest.fixture(scope="module")
def lever():
    """Twelve rows, one of which has almost all that is known about the slope."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": [*(0.03 * rng.normal(size=11)), 6.0]})
    return table.assign(y=table.x + rng.normal(size=12))


@pytest.fixture(scope="module")
def left_out(lever):
    """Exact log p(y_i | other rows) under the prior of the fit, sigma being 1.

    The reference's ratio of evidences, which is exact for normal outcomes of known sigma.
    """
    known = Regression("ols", ("column", "x"), lever)
    law = known.law.__class__(
        "identity", None, lambda y, m, a: stats.norm.logpdf(y, m, 1.0), {}, known.law.unit
    )
    known.__dict__["law"] = law
    return known.leave_one_out(np.zeros(2))


def test_a_fit_without_a_row_has_the_prior_of_the_fit(lever, left_out):
    """With a prior of its own scale, the fit without the last row has -4.62 there for -3.69."""
    results = sgmc.ols("y ~ x", lever, sigma=1.0, **MANY)
    loo = quiet(results.loo)
    folds = quiet(lambda: results.kfold(lever, k=12, **MANY))
    exact = quiet(lambda: results.reloo(loo, lever, **MANY))
    # a share of .02 of 8,000 draws is near the last row: 8 % of its density, an sd
    for found in (folds, exact):
        np.testing.assert_allclose(np.asarray(found.elpd_i), left_out, atol=0.3)
    np.testing.assert_allclose(np.asarray(loo.elpd_i)[:11], left_out[:11], atol=0.05)


@pytest.mark.cover(0)
@pytest.mark.parametrize("family", ["logit", "poisson", "gamma"])
def test_loo_is_that_of_refits(family):
    outcome, verb, given, _ = FAMILIES[family]
    table = DATA.head(40)
    how = dict(given, seed=1, sampler="mala", draws=1000, chains=2)
    results = quiet(lambda: getattr(sgmc, verb)(f"{outcome} ~ x", table, **how))
    start = np.asarray(results.flat).mean(axis=0)
    start[2:] = np.log(start[2:])
    wanted = Regression(family, ("column", "x"), table, outcome).leave_one_out(start)
    # ratios of evidences by Laplace's approximation are off by some hundredths in far rows
    np.testing.assert_allclose(np.asarray(quiet(results.loo).elpd_i), wanted, rtol=0.03, atol=0.02)


@pytest.mark.parametrize("table", ["frame", "dict", "polars", "arrays"])
def test_effects_are_of_the_rows_that_were_fitted(table, folder):
    """The user's table is changed in place after the fit."""
    case = PLAIN._replace(table=table, rows="of the fit", weights="weighted")
    wanted = make(case, folder).results.avg_predictions()
    if table == "arrays":
        X, y = make(case, folder).reference.design(DATA), DATA["count"].to_numpy()
        model = sgmc.Poisson(y, X, weights=DATA.w.to_numpy())
        results = quiet(lambda: model.fit(sampler="laplace", **DRAWS))
        X[:, 1] += 10
    else:
        import polars as pl

        held = {name: np.array(DATA[name]) for name in ("x", "t", "w", "count")}
        given = {"frame": pd.DataFrame(held, copy=False), "polars": pl.DataFrame(held)}
        given = given.get(table, held)
        how = dict(weights="w", sampler="laplace", **DRAWS)
        results = quiet(lambda: sgmc.poisson("count ~ x + t", given, **how))
        held["x"] += 10
        if table == "frame":
            given.loc[:, "x"] += 10
            given.loc[:, "t"] = 7.0
    try:
        found = results.avg_predictions()
    except sgmc.errors.SGMCError as error:  # of huge tables: it was changed, and is named
        assert "x" in str(error)
    else:
        np.testing.assert_allclose(found["estimate"], wanted["estimate"], rtol=1e-8)


@pytest.mark.extended("fit-nested", "loaded-nested", "pickled-nested")
@pytest.mark.parametrize("groups", ["intercepts", "slopes", "nested", "crossed"])
@pytest.mark.parametrize("life", ["fit", "loaded", "pickled"])
def test_labels_of_another_type_are_no_new_levels(groups, life, folder):
    results = make(PLAIN._replace(groups=groups, life=life), folder).results
    text = NEW.assign(s=NEW.s.astype(str))
    for name in ("predict", "get_prediction", "posterior_predict"):
        assert_refused(lambda name=name: getattr(results, name)(text), "s")


@pytest.mark.parametrize("groups", ["intercepts", "slopes", "nested", "crossed"])
def test_new_levels_are_named_in_one_warning(groups, folder):
    results = make(PLAIN._replace(groups=groups), folder).results
    with pytest.warns(sgmc.errors.SGMCWarning) as caught:
        results.predict(NEW.assign(s=NEW.s + 90))
    assert len([one for one in caught if issubclass(one.category, sgmc.errors.SGMCWarning)]) == 1
    assert "s" in str(caught[0].message)


@pytest.mark.extended("loaded-nested", "pickled-nested")
@pytest.mark.parametrize("groups", ["intercepts", "slopes", "nested", "crossed"])
@pytest.mark.parametrize("life", ["loaded", "pickled"])
def test_saved_fits_predict_what_the_fit_does(groups, life, folder):
    case = PLAIN._replace(groups=groups)
    here = make(case, folder).results
    there = make(case._replace(life=life), folder).results
    for rows in (NEW, NEW.assign(s=99, v="z", u="z"), pd.concat([NEW, NEW.assign(s=99)])):
        for name in ("predict", "posterior_predict"):
            found = quiet(lambda name=name, rows=rows: getattr(there, name)(rows))
            wanted = quiet(lambda name=name, rows=rows: getattr(here, name)(rows))
            np.testing.assert_allclose(found, wanted, rtol=1e-5)  # effects may be kept as float32


def test_saved_fits_of_smooths_beside_groups_predict_new_levels(folder, tmp_path):
    how = dict(seed=1, draws=40, chains=2)
    results = quiet(lambda: sgmc.poisson("count ~ x + s(q, k=6) + (1 | s)", DATA, **how))
    results.save(tmp_path / "saved")
    loaded = sgmc.load(tmp_path / "saved")
    for rows in (NEW, NEW.assign(s=99)):
        found, wanted = (quiet(lambda one=one: one.predict(rows)) for one in (loaded, results))
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_marginal_effects_of_columns_are_derivatives(folder):
    """get_margeff: mean over rows of the derivative of E[y] with respect to a column."""
    made = make(PLAIN._replace(rows="of the fit"), folder)
    slopes = made.reference.mean(made.draws, made.own)[..., None] * made.draws[:, None, 1:]
    found = made.results.get_margeff().margeff
    assert_same(made, found, slopes.mean(axis=(0, 1)), "get_margeff")


@pytest.mark.parametrize("groups", ["intercepts", "slopes"])
def test_random_effects_and_their_covariances(groups, folder):
    made = make(PLAIN._replace(groups=groups, rows="of the fit"), folder)
    d, results = made.draws[:, 3:], made.results
    cov = (d[:, 0] ** 2)[:, None, None]
    if groups == "slopes":
        across = d[:, 0] * d[:, 1] * d[:, 2]
        cov = np.stack([[d[:, 0] ** 2, across], [across, d[:, 1] ** 2]]).transpose(2, 0, 1)
    assert_same(made, results.cov_re, cov.mean(axis=0), "cov_re")
    for level, wanted in made.effects[0].items():
        error = wanted.std(axis=0, ddof=1) / np.sqrt(len(wanted))
        assert_near(results.random_effects[level], wanted.mean(axis=0), error, "random_effects")


def test_draws_are_cached_once(folder):
    """Fits of the plain case are shared: what is compared is what was made."""
    assert fitted(PLAIN, folder) is fitted(PLAIN, folder)
