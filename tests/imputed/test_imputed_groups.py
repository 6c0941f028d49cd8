"""Imputed data sets with group terms, smooths, and columns that are made of all rows: pooled
effects and predictions against those of the fits, and against Gibbs sampling of all unknowns.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported

from .test_imputed import regression

# of a small sd, or a curve that is nearly straight
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
N, GROUPS, SETS = 240, 12, 40


@cache
def augmented(draws=4000):
    """Data sets, and parameters of ``y ~ x + z + (1 | g)``, by Gibbs sampling of the effects and of
    the missing z, which are normal given x; flat priors of the coefficients, of log sigma and of
    the effects' sd.
    """
    rng = np.random.default_rng(3)
    g, x = np.repeat(np.arange(GROUPS), N // GROUPS), rng.normal(size=N)
    z = 0.6 * x + 0.8 * rng.normal(size=N)
    y = 1 + x - z + rng.normal(size=GROUPS)[g] + rng.normal(size=N)
    missing, z = rng.random(N) < 0.4, z.copy()
    z[missing] = 0.0
    one, u, sd, found, tables = np.ones(N), np.zeros(GROUPS), 1.0, [], []
    per = N // GROUPS
    for k in range(draws + 300):
        b, s = regression(np.column_stack([one, x, z]), y - u[g], rng)
        a, t = regression(np.column_stack([one, x]), z, rng)
        precision = b[2] ** 2 / s**2 + 1 / t**2
        rest = y - u[g] - b[0] - b[1] * x
        mean = (b[2] * rest / s**2 + (a[0] + a[1] * x) / t**2) / precision
        z = np.where(missing, mean + rng.normal(size=N) / np.sqrt(precision), z)
        left = np.bincount(g, y - b[0] - b[1] * x - b[2] * z)
        precision = per / s**2 + 1 / sd**2
        u = left / s**2 / precision + rng.normal(size=GROUPS) / np.sqrt(precision)
        sd = np.sqrt(u @ u / rng.chisquare(GROUPS - 1))
        shift = u.mean() + sd / np.sqrt(GROUPS) * rng.normal()  # else the intercept moves slowly
        u, b[0] = u - shift, b[0] + shift
        if k >= 300:
            found.append([*b, sd, s])
            if k % (draws // SETS) == 0:
                tables.append(pd.DataFrame({"x": x, "z": z, "y": y, "g": g.astype(str)}))
    return tables[:SETS], np.array(found)


FLAT = {name: sgmc.flat() for name in ("Intercept", "x", "z", "sigma", "sd")}


def test_the_pooled_posterior_with_groups_is_that_of_all_unknowns():
    """0.2 sd for means and 10 % for sds: 40 data sets tell means to 0.09 sd with a quarter of the
    information missing, and 4,000 dependent draws of the Gibbs sampler tell sds to 4 %.  A single
    data set has a too small sd of z.
    """
    tables, truth = augmented()
    results = sgmc.ols("y ~ x + z + (1 | g)", tables, prior=FLAT, seed=1, draws=400)
    mean, sd = truth.mean(axis=0), truth.std(axis=0)
    assert results.names == ["Intercept", "x", "z", "sd(1|g)", "sigma"]
    assert (np.abs(results.params - mean) < 0.2 * sd).all()
    assert (np.abs(results.bse / sd - 1) < 0.1).all()
    single = sgmc.ols("y ~ x + z + (1 | g)", tables[0], prior=FLAT, seed=1)
    assert single.bse["z"] / sd[2] - 1 < -0.1


@pytest.fixture(scope="module")
def tables():
    """Three data sets that differ in x."""
    rng = np.random.default_rng(0)
    n = 200
    one = pd.DataFrame({"x": rng.normal(size=n), "z": rng.uniform(-2, 2, size=n)})
    g, h = rng.integers(0, 6, n), rng.integers(0, 5, n)
    one["g"], one["h"] = g.astype(str), h.astype(str)
    one["y"] = one.x + rng.normal(size=6)[g] + np.sin(one.z) + rng.normal(size=n)
    return [one.assign(x=one.x + 0.3 * rng.normal(size=n)) for _ in range(3)]


def average(of_fit, results):
    """The mean over the fits."""
    return np.mean([np.asarray(of_fit(one)) for one in results.fits], axis=0)


@pytest.mark.parametrize(
    "formula", ["y ~ x + (1 | g)", "y ~ x + (1 | g) + (1 | h)", "y ~ x + s(z)"]
)
def test_effects_and_predictions_are_those_of_all_fits(formula, tables, tmp_path):
    """Fits have as many draws, of which means over all are the means of the fits'."""
    results, new = sgmc.ols(formula, tables, seed=1), tables[0].head(4)
    expected = average(lambda one: one.predict(new), results)
    np.testing.assert_allclose(results.predict(new), expected, rtol=1e-9)
    if "|" in formula:
        expected = average(lambda one: one.ranef("g")["mean"], results)
        np.testing.assert_allclose(results.ranef("g")["mean"], expected, rtol=1e-8, atol=1e-10)
        drawn = results.ranef_draws("g")
        np.testing.assert_allclose(drawn.std(axis=0)[:, 0], results.ranef("g")["sd"], rtol=0.1)
    else:
        curve = average(lambda one: one.smooth("s(z)")["mean"], results)
        np.testing.assert_allclose(results.smooth("s(z)")["mean"], curve, rtol=1e-8, atol=1e-10)
    results.save(tmp_path / "fit.sgmc")
    again = sgmc.load(tmp_path / "fit.sgmc")
    assert type(again) is type(results) and str(again.summary()) == str(results.summary())
    np.testing.assert_array_equal(again.predict(new), results.predict(new))
    with pytest.raises(ArgumentError, match="each data set has rows of its own"):
        results.loo()


def test_effects_of_a_logit_are_pooled(tables):
    """0.01 of a probability: pooled means are over draws of the effects, a fit's over their law."""
    results, new = sgmc.logit("y > 0 ~ x + (1 | g)", tables, seed=1), tables[0].head(4)
    expected = average(lambda one: one.predict(new), results)
    np.testing.assert_allclose(results.predict(new), expected, atol=0.01)
    text = str(results.summary())
    assert "data[0]: Intraclass" in text and "Sampling of data[0]" in text


@pytest.mark.parametrize("term", ["center(x)", "standardize(x)", "poly(x, 2)"])
def test_columns_made_of_all_rows_are_those_of_the_first_data_set(term, tables):
    """Coefficients of columns with means of each data set cannot be pooled: predictions would not
    be the fits'.
    """
    results, new = sgmc.ols(f"y ~ {term}", tables, seed=1), tables[0].head(4)
    expected = average(lambda one: one.predict(new), results)
    np.testing.assert_allclose(results.predict(new), expected, rtol=1e-9)
    by_hand = results.fits[1].model.spec.matrix(new)
    np.testing.assert_array_equal(by_hand, results.fits[0].model.spec.matrix(new))


@pytest.mark.parametrize(
    "formula, error, message",
    [
        ("y ~ center(x) + (1 | g)", DataError, "other columns of data.1. than of data.0."),
        ("y ~ s(x)", DataError, "other knots or centres in data.1. than in data.0."),
    ],
)
def test_what_imputed_values_change_beside_effects(formula, error, message, tables):
    with pytest.raises(error, match=message):
        sgmc.ols(formula, tables, seed=1)


def test_groups_are_the_same_in_all_data_sets(tables):
    other = tables[1].assign(g=tables[1].g.replace("5", "0"))
    for formula in ("y ~ x + (1 | g)", "y ~ x + (1 | g) + (1 | h)"):
        with pytest.raises(DataError, match="g has other levels in data.1. .* such as '5'"):
            sgmc.ols(formula, [tables[0], other], seed=1)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_draws_with_weights_are_not_pooled(tables):
    decaying = sgmc.Polynomial(1e-3, 1.0, 0.55)
    with pytest.raises(NotSupported, match="decreasing steps, whose draws have weights"):
        sgmc.ols("y ~ x", tables, seed=1, sampler="sgld", step_size=decaying, draws=50)


@pytest.mark.parametrize("formula", ["y ~ x + (1 | g)", "y ~ x + (1 | g) + (1 | u)"])
def test_groups_in_another_order_are_refused(formula):
    """Effects are pooled by places; tables of categories in other orders ended in an IndexError."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=60), "u": np.arange(60) % 7})
    table["y"], g = rng.normal(size=60), np.repeat(list("abc"), 20)
    tables = [table.assign(g=pd.Categorical(g, categories=list(one))) for one in ("abc", "cba")]
    with pytest.raises(DataError, match=r"g has its levels in another order in data\[1\]"):
        sgmc.ols(formula, tables, seed=1)
