"""Fits to imputed data sets: their pooled posterior against one by Gibbs sampling of the missing
values, Rubin's rules by hand, files and refusals.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.models.regression.imputed import ImputedResults, told, trust

N, SETS = 300, 60


def regression(X, y, rng):
    """Coefficients and sigma from the posterior under flat priors of them and of log sigma."""
    inverse = np.linalg.inv(X.T @ X)
    best = inverse @ (X.T @ y)
    e = y - X @ best
    sigma = np.sqrt(e @ e / rng.chisquare(len(y) - X.shape[1]))
    return rng.multivariate_normal(best, sigma**2 * inverse), sigma


@cache
def augmented(draws=3000):
    """Data sets, and parameters of ``y ~ x + z``, by Gibbs sampling of the missing z, which are
    normal given x (data augmentation, Tanner & Wong 1987).
    """
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    z = 0.6 * x + 0.8 * rng.normal(size=N)
    y = 1 + x - z + rng.normal(size=N)
    missing, z = rng.random(N) < 0.4, z.copy()
    z[missing] = 0.0
    one, found, tables = np.ones(N), [], []
    for k in range(draws + 200):
        b, s = regression(np.column_stack([one, x, z]), y, rng)
        a, t = regression(np.column_stack([one, x]), z, rng)
        precision = b[2] ** 2 / s**2 + 1 / t**2
        mean = (b[2] * (y - b[0] - b[1] * x) / s**2 + (a[0] + a[1] * x) / t**2) / precision
        z = np.where(missing, mean + rng.normal(size=N) / np.sqrt(precision), z)
        if k >= 200:
            found.append([*b, s])
            if k % (draws // SETS) == 0:
                tables.append(pd.DataFrame({"x": x, "z": z, "y": y}))
    return tables[:SETS], np.array(found)


@cache
def pooled(sets=SETS, **how):
    """The posterior of some of the data sets."""
    return sgmc.ols("y ~ x + z", augmented()[0][:sets], prior="flat", seed=1, draws=400, **how)


def test_the_pooled_posterior_is_that_of_all_unknowns():
    """0.2 sd for means: with a quarter of the information missing, 60 data sets tell these to 0.07;
    8 % for sds.  One data set, in which missing values were known, has too small sds.
    """
    truth = augmented()[1]
    results, (mean, sd) = pooled(), (truth.mean(axis=0), truth.std(axis=0))
    assert (np.abs(results.params - mean) < 0.2 * sd).all()
    assert (np.abs(results.bse / sd - 1) < 0.08).all()
    single = sgmc.ols("y ~ x + z", augmented()[0][0], prior="flat", seed=1)
    assert (single.bse / sd - 1).max() < -0.08


def test_draws_are_those_of_all_fits():
    results = pooled(5)
    assert isinstance(results, ImputedResults) and len(results.fits) == 5
    np.testing.assert_array_equal(results.draws, np.concatenate([f.draws for f in results.fits]))
    flat = results.draws.reshape(-1, 4)
    np.testing.assert_allclose(results.params, flat.mean(axis=0))
    np.testing.assert_allclose(results.bse, flat.std(axis=0, ddof=1), rtol=1e-4)
    np.testing.assert_allclose(results.conf_int()[0], np.quantile(flat, 0.025, axis=0), rtol=0.01)
    new = augmented()[0][0].head(4)
    expected = flat[:, :1] + flat[:, 1:2] * new.x.to_numpy() + flat[:, 2:3] * new.z.to_numpy()
    np.testing.assert_allclose(results.predict(new), expected.mean(axis=0))
    assert results.posterior_predict(new).shape == (len(flat), 4)


def test_shares_are_rubins():
    """Rubin (1987, section 3.3), written out once more."""
    results = pooled(5)
    m, names = 5, results.names
    Q = np.array([f.params for f in results.fits])
    U = np.array([f.bse**2 for f in results.fits])
    W, B = U.mean(axis=0), ((Q - Q.mean(axis=0)) ** 2).sum(axis=0) / (m - 1)
    T = W + (m + 1) / m * B
    r = (m + 1) * B / (m * W)
    nu = (m - 1) * (1 + 1 / r) ** 2
    found = results.imputation
    assert list(found.index) == names
    expected = {
        "within": np.sqrt(W),
        "between": np.sqrt(B),
        "total": np.sqrt(T),
        "share_between": 1 - W / T,
        "fmi": (r + 2 / (nu + 3)) / (r + 1),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6, err_msg=name)
    assert 0.1 < found["fmi"]["z"] < 0.9
    # of the pooled draws the variance is W + (m - 1) / m B, less than T
    np.testing.assert_allclose(results.bse**2, W + (m - 1) / m * B, rtol=0.01)


def test_the_same_data_set_has_nothing_between():
    """Streams differ, and Monte Carlo error is all that is between the fits."""
    table = augmented()[0][0]
    results = sgmc.ols("y ~ x + z", [table] * 4, seed=1)
    first, second = (one.draws for one in results.fits[:2])
    assert not np.array_equal(first, second)
    assert results.imputation["fmi"].max() < 0.02
    again = sgmc.ols("y ~ x + z", [table] * 4, seed=1)
    np.testing.assert_array_equal(results.draws, again.draws)
    alone = sgmc.ols("y ~ x + z", table, seed=results.fits[2].seed)
    # the intercept is drawn in other coordinates where the prior is told
    np.testing.assert_allclose(alone.draws[..., 1:], results.fits[2].draws[..., 1:], rtol=1e-9)


def test_all_fits_have_the_prior_of_the_first():
    tables = augmented()[0][:2]
    results = sgmc.ols("y ~ x + z", tables, seed=1, draws=400)
    first, second = (one.prior_summary()["used"] for one in results.fits)
    assert list(first) == list(second)
    own = sgmc.ols("y ~ x + z", tables[1], seed=1, draws=400).prior_summary()["used"]
    assert own["z"] != second["z"]


def test_the_verdict_is_that_of_the_worst():
    results = pooled(3)
    good = results.fits[0].verdict
    bad = replace(good, trustworthy=False, error=0.4, text="not trustworthy, for some reason.")
    assert trust(bad) < trust(good) and trust(replace(good, error=0.09)) < trust(good)
    assert trust(replace(good, error=None)) < trust(good)
    assert str(told(bad, 2, 3)) == "not trustworthy, for some reason (of data[2], the worst of 3)."
    fits = list(results.fits)
    fits[1].verdict, before = bad, fits[1].verdict
    try:
        made = ImputedResults.of_fits(fits, 1)
        assert not made.verdict.trustworthy and "data[1]" in str(made.summary())
    finally:
        fits[1].verdict = before


def test_the_summary_says_what_is_missing():
    text = " ".join(str(pooled(5).summary()).split())
    assert "within sd between sd total sd fmi" in text
    assert "Imputed data sets: 5; at most 0." in text and "data sets for stable intervals" in text
    assert "data sets for stable" not in str(
        sgmc.ols("y ~ x + z", [augmented()[0][0]] * 4, seed=1).summary()
    )


def test_files_have_it(tmp_path):
    results = pooled(3)
    results.save(tmp_path / "fit.sgmc")
    again = sgmc.load(tmp_path / "fit.sgmc")
    np.testing.assert_array_equal(again.draws, results.draws)
    pd.testing.assert_frame_equal(again.imputation, results.imputation)
    assert str(again.summary()) == str(results.summary()) and not again.fits


def test_other_verbs_take_lists():
    tables = augmented()[0][:3]
    results = sgmc.logit("y > 0 ~ x + z", tables, seed=1, draws=400)
    assert results.draws.shape[0] == 12 and results.imputation["fmi"].min() > 0
    arrays = [{name: one[name].to_numpy() for name in one} for one in tables]
    same = sgmc.logit("y > 0 ~ x + z", arrays, seed=1, draws=400)
    np.testing.assert_array_equal(same.draws, results.draws)


TABLE = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "g": list("abab"), "y": [1.0, 2.0, 2.0, 4.0]})


@pytest.mark.parametrize(
    "tables, error, message",
    [
        ([TABLE], DataError, "data is a list of one table"),
        ([TABLE, TABLE.drop(columns="x")], DataError, r"data\[1\] and data\[0\] .* such as 'x'"),
        ([TABLE, TABLE.head(3)], DataError, r"data\[1\] has 3 rows, and data\[0\] has 4"),
        ([TABLE, TABLE.assign(g=list("acac"))], DataError, r"other coefficients in data\[1\]"),
        ([TABLE, "two.parquet"], DataError, "has tables alone; read files first"),
    ],
)
def test_lists_are_checked(tables, error, message):
    with pytest.raises(error, match=message):
        sgmc.ols("y ~ x + g", tables, seed=1)


def test_what_does_not_go_with_lists(tmp_path):
    with pytest.raises(ArgumentError, match="checkpoint is one file"):
        sgmc.ols("y ~ x", [TABLE, TABLE], checkpoint=tmp_path / "run")
    results = pooled(3)
    for call in (results.loo, results.predict, lambda: results.fittedvalues):
        with pytest.raises(ArgumentError, match="each data set has rows of its own"):
            call()
    with pytest.raises(NotSupported, match="update: results of several data sets"):
        results.update(TABLE)
    with pytest.raises(ArgumentError, match="draws are of several data sets"):
        results.resume(100)


def test_tables_that_lose_other_numbers_of_rows_are_refused():
    """One value that was not imputed: fits of 300 and 299 rows were pooled without a word."""
    first, second = (one.copy() for one in augmented()[0][:2])
    second.loc[3, "z"] = np.nan
    message = r"data\[1\] has 1 row with missing values, and data\[0\] has 0: .* impute these"
    with pytest.raises(DataError, match=message):
        sgmc.ols("y ~ x + z", [first, second], seed=1)
    first.loc[3, "y"] = second.loc[3, "y"] = np.nan
    second.loc[3, "z"] = 0.0
    assert [one.nobs for one in sgmc.ols("y ~ x", [first, second], seed=1).fits] == [299, 299]


def test_a_list_of_rows_is_no_list_of_tables():
    rows = [{"y": 1.0, "x": 2.0}, {"y": 2.0, "x": 4.0}, {"y": 2.5, "x": 1.0}]
    with pytest.raises(
        DataError, match=r"not list of dicts: make a table of it, pd.DataFrame\(data"
    ):
        sgmc.ols("y ~ x", rows)


def in_order(verb, orders):
    """A fit to two tables of outcomes a, b (of `ordinal` also c) whose categories have `orders`."""
    rng = np.random.default_rng(5)
    kinds = np.array(list("ab" if verb == "logit" else "abc"))
    x, y = rng.normal(size=60), rng.choice(kinds, 60)
    tables = [
        pd.DataFrame({"x": x, "y": pd.Categorical(y, categories=list(one), ordered=True)})
        for one in orders
    ]
    return getattr(sgmc, verb)("y ~ x", tables, seed=1)


@pytest.mark.parametrize("verb, orders", [("logit", "ab ba"), ("ordinal", "abc cba")])
def test_outcomes_with_other_orders_of_their_levels_are_refused(verb, orders):
    """Slopes of opposite signs were pooled, silently: a success was another level in each table."""
    message = "the outcome 'y' has the levels .* in data\\[1\\] and .* in data\\[0\\]"
    with pytest.raises(DataError, match=message):
        in_order(verb, orders.split())
    first = orders.split()[0]
    assert list(in_order(verb, [first, first]).names)


def test_outcomes_of_other_kinds_are_refused():
    """Coefficients of red in one table were pooled with those of pink in another."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=60), rng.choice(["blue", "green", "red"], 60)
    tables = [pd.DataFrame({"x": x, "y": y})]
    tables.append(tables[0].replace("red", "pink"))
    with pytest.raises(DataError, match=r"'blue', 'green', 'pink' in data\[1\]"):
        sgmc.mnlogit("y ~ x", tables, seed=1)
