"""Fits without some of the rows, and ranks of outcomes: against closed forms."""

import warnings

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.errors import (
    ArgumentError,
    InfluenceWarning,
    LowESSWarning,
    NotSupported,
    RefitWarning,
)
from sgmc.models.regression import refits

from . import conjugate

DRAWS = {"draws": 1000}


def exact(fold):
    """log p(y_i | y without the fold of i)."""
    y, out = conjugate.frame().y.to_numpy(), np.empty(len(fold))
    for one in np.unique(fold):
        rows = np.flatnonzero(fold == one)
        mean, sd = conjugate.predictive(rows, (fold != one).astype(float))
        out[rows] = stats.norm.logpdf(y[rows], mean, sd)
    return out


@pytest.mark.cover(0)
@pytest.mark.parametrize("groups", [None, "g"])
def test_folds_have_the_density_without_them(groups):
    """4,000 draws: .04, four Monte Carlo errors; .15 for the row far out."""
    res, df = conjugate.fitted(), conjugate.frame()
    found = res.kfold(df, 6, groups=groups, seed=2, **DRAWS)
    fold = refits.folds(len(df), 6, None if groups is None else df.g.to_numpy(), 2)
    wanted, usual = exact(fold), np.arange(len(df)) != 7
    np.testing.assert_allclose(found.elpd_i[usual], wanted[usual], atol=0.04)
    assert found.elpd_i[7] == pytest.approx(wanted[7], abs=0.15)
    assert found.elpd == pytest.approx(found.elpd_i.sum())
    assert found.se == pytest.approx(np.sqrt(len(df)) * found.elpd_i.std())
    assert found.by == "6-fold" and str(found).startswith("elpd_6-fold ")
    if groups:
        assert all(len(set(fold[df.g == g])) == 1 for g in df.g.unique())
    # planted: rows that are left in
    with_all = stats.norm.logpdf(df.y, *conjugate.predictive(slice(None), np.ones(len(df))))
    assert abs(with_all.sum() - wanted.sum()) > 10 * abs(found.elpd - wanted.sum())


def loo():
    """Leave-one-out by importance sampling, which cannot tell row 7."""
    with pytest.warns(InfluenceWarning, match="row 7 first"):
        return conjugate.fitted().loo()


@pytest.mark.extended
def test_folds_are_compared_with_loo():
    df = conjugate.frame()
    both = sgmc.compare(loo=loo(), kfold=conjugate.fitted().kfold(df, 12, **DRAWS))
    assert abs(both["elpd_diff"].max()) < 4 and both["bad_k"]["kfold"] == 0


@pytest.mark.filterwarnings("ignore::sgmc.errors.InfluenceWarning")  # of row 7
def test_folds_of_weighted_rows_are_not_compared_with_loo():
    """A model differed from itself: a fold leaves out all copies of a row, loo one."""
    df = conjugate.frame().assign(n=2)
    fit = sgmc.ols("y ~ x", df, weights="n", seed=1)
    folds = fit.kfold(df, 2)
    with pytest.raises(ArgumentError, match="loo leaves out one copy of a row, kfold all of"):
        sgmc.compare(a=fit.loo(), b=folds)
    with pytest.raises(ArgumentError, match="a is by 2-fold and b by loo"):
        sgmc.compare(b=fit, a=folds)
    assert sgmc.compare(folds, folds)["elpd_diff"].tolist() == [0, 0]


def test_what_importance_sampling_cannot_tell_is_fitted_again():
    """By a fit without that row, within .4: at five sds few of the 4,000 draws have its density."""
    found, df = loo(), conjugate.frame()
    again, wanted = conjugate.fitted().reloo(found, df), exact(np.arange(len(df)))
    assert again.elpd_i[7] == pytest.approx(wanted[7], abs=0.4)
    assert again.pareto_k.max() <= found.good_k and again.elpd == pytest.approx(again.elpd_i.sum())
    others = np.arange(len(df)) != 7
    assert np.array_equal(again.elpd_i[others], found.elpd_i[others])
    with pytest.raises(ArgumentError, match="must be what loo"):
        conjugate.fitted().reloo(again.elpd, df)


def test_arrays_and_weights():
    """A row of weight 3 stands for three: leaving it out leaves out all."""
    df = conjugate.frame()
    w = np.where(np.arange(len(df)) % 4 == 0, 3.0, 1.0)
    model = sgmc.OLS(df.y.to_numpy(), conjugate.design(), sigma=conjugate.SIGMA, weights=w)
    res = model.fit(seed=1, prior=sgmc.normal(0, 1), draws=500)
    found = res.kfold(model, 5)
    assert np.isfinite(found.elpd) and found.elpd == pytest.approx(w @ found.elpd_i)
    assert model.data.weight is not None and np.array_equal(model.data.weight, w)
    with pytest.raises(ArgumentError, match=r"data must be a model, such as sgmc.OLS\(y, X\)"):
        res.kfold(df, 5)


def test_the_same_folds_twice_are_the_same():
    """Also where the fit had no seed of its own."""
    df = conjugate.frame()
    res = sgmc.ols("y ~ x", df, draws=500, sampler="laplace", sigma=conjugate.SIGMA)
    assert res.kfold(df, 3).elpd == res.kfold(df, 3).elpd != res.kfold(df, 3, seed=5).elpd


def test_fits_that_are_not_trustworthy_are_counted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowESSWarning)
        with pytest.warns(RefitWarning, match="3 of 3 fits without some of the rows are not"):
            conjugate.fitted().kfold(conjugate.frame(), 3, draws=30)


def test_other_rows_are_refused():
    res, df = conjugate.fitted(), conjugate.frame()
    with pytest.raises(ArgumentError, match="the data have 50 rows that can be used, the fit had"):
        res.kfold(df.head(50), 5)
    with pytest.raises(ArgumentError, match="or their outcomes differ"):
        res.kfold(df.assign(y=df.y + 1), 5)
    with pytest.raises(ArgumentError, match="k=100 is more than the 60 rows"):
        res.kfold(df, 100)
    with pytest.raises(ArgumentError, match="groups='h' is not a column"):
        res.kfold(df, 5, groups="h")
    with pytest.raises(ArgumentError, match="data must be the table"):
        res.kfold(None, 5)


# ---- formulas ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "old, change, new",
    [
        ("y ~ x", "~ . + z", "y ~ x + z"),
        ("y ~ x + z", ". ~ . - z", "y ~ x + z - z"),
        ("y ~ x", "log(.) ~ .", "log(y) ~ x"),
        ("y ~ x + z", "~ .:g", "y ~ (x + z):g"),
        ("y ~ x", "other ~ . + np.log(z) + 0.5*z", "other ~ x + np.log(z) + 0.5*z"),
        ("y ~ x + (1 | g)", "~ . + z", "y ~ x + (1 | g) + z"),
    ],
)
def test_dots_stand_for_what_was_there(old, change, new):
    assert refits.updated_formula(old, change) == new


def test_a_changed_formula_is_a_fit_of_its_own():
    res, df = conjugate.fitted(), conjugate.frame()
    less = res.update("~ . - z", df, prior={k: conjugate.PRIOR[k] for k in ("Intercept", "x")})
    same = sgmc.ols(
        "y ~ x",
        df,
        sigma=conjugate.SIGMA,
        sampler="laplace",
        draws=4000,
        seed=1,
        prior={k: conjugate.PRIOR[k] for k in ("Intercept", "x")},
    )
    assert np.array_equal(less.draws, same.draws)
    with pytest.raises(ArgumentError, match="needs the table: give data="):
        res.update("~ . + w")
    with pytest.raises(ArgumentError, match="data belongs to a formula"):
        res.update(df, df)


# ---- ranks ---------------------------------------------------------------------------------------


def ranks():
    """P(y_new <= y_i | y without row i)."""
    n = len(conjugate.frame())
    out = np.empty(n)
    for i in range(n):
        mean, sd = conjugate.predictive([i], (np.arange(n) != i).astype(float))
        out[i] = stats.norm.cdf(conjugate.frame().y[i], mean[0], sd[0])
    return out


def test_ranks_are_those_of_the_other_rows():
    """4,000 of the draws: .04, five standard errors of a share."""
    found = conjugate.fitted().loo_pit()
    np.testing.assert_allclose(found, ranks(), atol=0.04)


def test_a_wrong_sd_of_outcomes_is_seen():
    wide = sgmc.ols(
        conjugate.FORMULA, conjugate.frame(), sigma=2**0.5 * conjugate.SIGMA, seed=1,
        prior=conjugate.PRIOR, sampler="laplace",
    )  # fmt: skip
    assert np.abs(wide.loo_pit() - ranks()).max() > 0.06


@pytest.mark.extended
def test_ranks_of_counts_are_even():
    rng = np.random.default_rng(4)
    x = rng.normal(size=600)
    df = {"x": x, "c": rng.poisson(np.exp(0.3 + 0.4 * x))}
    res = sgmc.poisson("c ~ x", df, seed=1)
    assert stats.kstest(res.loo_pit(), "uniform").pvalue > 0.01
    assert not np.array_equal(res.loo_pit(), res.loo_pit(seed=5))
    over = sgmc.poisson("c ~ x", {**df, "c": df["c"] * 4}, seed=1)  # overdispersed
    assert stats.kstest(over.loo_pit(), "uniform").pvalue < 1e-3
    binary = sgmc.logit("b ~ x", {**df, "b": (df["c"] > 1).astype(int)}, seed=1)
    with pytest.raises(NotSupported, match="one of a few kinds"):
        binary.loo_pit()


def test_the_plot_has_limits():
    pytest.importorskip("matplotlib")
    ax = conjugate.fitted().plot_loo_pit()
    assert (
        ax.get_xlabel() == "rank of each outcome in what the other rows predict"
        and len(ax.lines) == 1
    )
