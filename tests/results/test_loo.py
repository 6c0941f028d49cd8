"""Leave-one-out accuracy against ArviZ and against fits without a row, comparisons of models,
posterior predictive checks.
"""

import re

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats
from scipy import special

import sgmc
from sgmc.errors import ArgumentError, InfluenceWarning
from sgmc.results.outcomes.criticism import loo as rooms
from sgmc.results.outcomes.criticism.loo import leave_one_out
from sgmc.results.outcomes.criticism.row_samples import Sample, drawn, estimated, expected
from sgmc.results.outcomes.data.rows import fitted_rows, rows_of
from sgmc.results.outcomes.predicted.residuals import in_order


@pytest.fixture(scope="module")
def all_rows(equal):
    """All rows left out."""
    return equal.loo()


def test_loo_is_that_of_arviz(equal, all_rows):
    density = equal.log_lik().reshape(*equal.draws.shape[:2], -1)
    r_eff = float(equal.ess("mean").mean()) / len(equal.flat)
    elpd_i, k, p_i = array_stats.loo(density, chain_axis=0, draw_axis=1, r_eff=r_eff)
    np.testing.assert_allclose(all_rows.elpd_i, elpd_i, rtol=1e-9)
    np.testing.assert_allclose(all_rows.pareto_k, k, atol=1e-6)
    # by formula: ArviZ 0.8 divides by n, ArviZ 1.3 by n - 1
    se = np.sqrt(len(elpd_i) * np.var(elpd_i))
    assert (all_rows.elpd, all_rows.se, all_rows.p) == pytest.approx(
        (elpd_i.sum(), se, p_i.sum()), rel=1e-7
    )
    assert all_rows.p_se == pytest.approx(np.sqrt(len(p_i) * np.var(p_i)), rel=1e-6)
    assert all_rows.subsampling_se == all_rows.p_subsampling_se == 0
    assert len(all_rows.rows) == all_rows.n == 400
    assert re.fullmatch(
        r"elpd_loo -\d+\.\d\d \(se [\d.]+, Monte Carlo error [\d.]+\), p_loo [\d.]+; "
        r"Pareto k above 0\.70: 0 of 400 rows",
        str(all_rows),
    )


def test_loo_against_fits_without_a_row(votes, all_rows):
    # the same priors: autoscaled ones would change with the row
    for i in (0, 7, int(np.argmin(all_rows.elpd_i))):
        fit = sgmc.logit("y ~ x1 + x2 + g", votes.drop(index=i), seed=2, prior=sgmc.normal(0, 2.5))
        density = fit.log_lik(votes.loc[[i]], "y")
        assert all_rows.elpd_i[i] == pytest.approx(np.log(np.exp(density).mean()), abs=0.02)


@pytest.mark.extended
def test_weights_of_draws_are_in_the_importance_weights(equal, decaying, all_rows):
    one = decaying.loo()
    # another chain of the same posterior: the sum of 400 errors of importance sampling, each about
    # 0.002
    assert one.elpd == pytest.approx(all_rows.elpd, abs=0.3)
    assert one.p == pytest.approx(all_rows.p, abs=0.3)
    rows = rows_of(equal)
    tilt = np.exp(0.5 * (equal.flat[:, 3] - equal.params.iloc[3]) / equal.bse.iloc[3])
    tilted = leave_one_out(type(rows)(**{**vars(rows), "weights": tilt}), 1.0)
    density = rows.family.log_density(
        rows.y[:, None], np.concatenate([eta for _, eta in rows.blocks()])
    )
    np.testing.assert_allclose(
        tilted[1], np.log(np.average(np.exp(density), axis=1, weights=tilt)), rtol=1e-9
    )
    exact = -np.log(np.average(np.exp(-density), axis=1, weights=tilt))  # smoothing apart
    np.testing.assert_allclose(tilted[0], exact, atol=0.02)
    assert np.abs(leave_one_out(rows, 1.0)[0] - exact).max() > 0.03


@pytest.mark.extended
def test_a_weighted_row_is_so_many_rows(votes):
    def fit(**how):
        return sgmc.logit(
            "y ~ x1", how.pop("data", votes), seed=1, prior=sgmc.normal(0, 2.5), draws=1500, **how
        ).loo()

    weighted = fit(weights="count")
    repeated = fit(data=votes.loc[votes.index.repeat(votes["count"])].reset_index(drop=True))
    assert weighted.elpd == pytest.approx(repeated.elpd, abs=0.3)
    assert weighted.se == pytest.approx(repeated.se, rel=0.01)
    assert weighted.p == pytest.approx(repeated.p, abs=0.2)
    assert repeated.n == votes["count"].sum() != weighted.n


def test_a_sample_of_rows(equal, all_rows):
    some = equal.loo(rows=40, seed=0)
    assert len(some.rows) == len(some.elpd_i) == 40 and (np.diff(some.rows) > 0).all()
    np.testing.assert_allclose(some.elpd_i, all_rows.elpd_i[some.rows], rtol=1e-12)
    assert some.se == pytest.approx(all_rows.se, rel=0.02)
    assert some.p_se == pytest.approx(all_rows.p_se, rel=0.25)
    assert "40 of 400 rows (sampling errors: 0." in str(some)


HEAVY = 3000


@pytest.fixture(scope="module", params=["logit", "poisson", "ols"])
def heavy(request):
    """A fit whose rows matter very unequally, and all of its rows left out."""
    rng = np.random.default_rng(0)
    X = np.clip(rng.standard_t(3, size=(HEAVY, 4)), -6, 6)
    eta = 0.2 + 0.5 * X @ [0.8, -0.5, 0.3, 0]
    y = {
        "logit": lambda: (rng.random(HEAVY) < special.expit(eta)).astype(int),
        "poisson": lambda: rng.poisson(np.exp(0.4 * eta)),
        "ols": lambda: eta + rng.standard_t(4, size=HEAVY),
    }[request.param]()
    table = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    results = getattr(sgmc, request.param)("y ~ a + b + c + d", table, seed=1)
    return results, results.loo()


def sampled_errors(heavy, draw):
    """Standardised errors (seed, 2) of elpd and p by 400 samples of 150 rows, and their errors."""
    results, whole = heavy
    rows, ones = fitted_rows(results, "loo"), np.ones(HEAVY)
    guess, lpd = expected(rows), in_order(rows, leave_one_out(rows, 1.0)[1])
    errors, sizes = [], []
    for seed in range(400):
        sample = draw(guess.size, 150, seed)
        found = [
            estimated(values[sample.rows], approximate, ones, sample)
            for values, approximate in (
                (whole.elpd_i, guess.elpd),
                (lpd - whole.elpd_i, guess.p),
            )
        ]
        errors.append([(one[0] - t) / one[1] for one, t in zip(found, (whole.elpd, whole.p))])
        sizes.append([one[1] for one in found])
    return np.array(errors), np.mean(sizes, axis=0)


@pytest.mark.cover(0)
def test_sampled_totals_have_honest_errors(heavy):
    """Root mean squares of 400 errors of elpd, 1 +- 0.035, and of p; about 95 % are below 2."""
    errors, _ = sampled_errors(heavy, drawn)
    elpd, p = np.sqrt(np.mean(errors**2, axis=0))
    assert 0.9 < elpd < 1.1 and 0.85 < p < 1.15
    assert (np.mean(np.abs(errors) < 2, axis=0) > 0.92).all()


@pytest.mark.extended
def test_sampling_by_size_gains(heavy):
    """Against simple samples of as many rows, whose errors are larger and less honest."""

    def simple(size, count, seed):
        return drawn(np.ones(len(size)), count, seed)

    assert (1.2 * sampled_errors(heavy, drawn)[1] < sampled_errors(heavy, simple)[1]).all()


@pytest.mark.extended
def test_expected_terms_are_near_those_of_all_draws(heavy):
    results, whole = heavy
    guess = expected(fitted_rows(results, "loo"))
    assert np.corrcoef(guess.elpd, whole.elpd_i)[0, 1] > 0.999
    assert guess.p.sum() == pytest.approx(whole.p, rel=0.5)


def test_samples_have_the_probabilities_that_they_state():
    """Frequencies over 4,000 samples within 4.5 errors; rows with too large a share are always
    taken, and none twice.
    """
    size = np.append(np.random.default_rng(1).gamma(0.3, size=60), [50.0, 80.0])
    taken, probability = np.zeros(62), np.zeros(62)
    for seed in range(4000):
        sample = drawn(size, 12, seed)
        assert len(np.unique(sample.rows)) == 12
        taken[sample.rows] += 1
        probability[sample.rows] = sample.probability
    assert probability.sum() == pytest.approx(12) and (probability[-2:] == 1).all()
    error = np.sqrt(probability * (1 - probability) / 4000)
    assert (np.abs(taken / 4000 - probability) <= 4.5 * error).all()


def test_the_difference_estimator_is_that_of_arviz(equal):
    arviz = pytest.importorskip("arviz_stats.loo", reason="arviz-stats[xarray] is not installed")
    pytest.importorskip("arviz_base", reason="arviz-base is not installed")
    chosen = np.sort(np.random.default_rng(2).choice(400, 30, replace=False))
    theirs = arviz.loo_subsample(
        equal.to_arviz(log_likelihood=True), chosen, method="lpd", pointwise=True
    )
    density = equal.log_lik()
    approximate = special.logsumexp(density, axis=0) - np.log(len(density))
    sample = Sample(chosen, np.full(30, 30 / 400))
    found = estimated(np.asarray(theirs.elpd_i)[chosen], approximate, np.ones(400), sample)
    assert found == pytest.approx((theirs.elpd, theirs.subsampling_se, theirs.se), rel=1e-9)


def test_many_rows_are_sampled(equal, monkeypatch):
    monkeypatch.setattr(rooms, "ALL_ROWS", 399)
    monkeypatch.setattr(rooms, "SAMPLED_ROWS", 25)
    one, again = equal.loo(), equal.loo()
    assert len(one.rows) == 25 and one.elpd == again.elpd
    assert one.subsampling_se > 0 and one.p_subsampling_se > 0
    assert len(equal.loo(rows=399).rows) == 399  # as many as there may be without a sample
    assert len(equal.loo(rows=1000).rows) == 400


@pytest.mark.parametrize("rows", [0, 1, 2.5, "all"])
def test_numbers_of_rows_refused(equal, rows):
    with pytest.raises(ArgumentError, match="rows="):
        equal.loo(rows=rows)


def test_too_few_draws(votes):
    with pytest.warns(sgmc.SGMCWarning):
        fit = sgmc.logit("y ~ x1", votes, seed=1, draws=9)
    with pytest.raises(ArgumentError, match="loo needs at least 100 draws .* there are 36"):
        fit.loo()


def test_influential_rows_are_warned_of():
    rng = np.random.default_rng(0)
    x = np.append(rng.normal(size=60), 12.0)
    y = np.append(rng.random(60) < special.expit(2 * x[:60]), False)
    fit = sgmc.Logit(y, np.column_stack([np.ones(61), x])).fit(
        seed=1, sampler="mala", draws=4000, prior=sgmc.normal(0, 10)
    )
    with pytest.warns(
        InfluenceWarning, match=r"1 of 61 rows have a Pareto k above 0\.70.*row 60 first"
    ):
        one = fit.loo()
    assert np.argmax(one.pareto_k) == 60


# ---- comparisons ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def smaller(votes):
    """Without the predictors that matter most."""
    return sgmc.logit("y ~ x2", votes, seed=5)


def test_the_same_question_is_computed_once():
    """With its warning each time; another seed, and other rows, are other questions."""
    x = np.random.default_rng(0).normal(size=60)
    df = pd.DataFrame({"x": x, "y": x + np.where(np.arange(60) == 3, 30, 0)})
    results = sgmc.ols("y ~ x", df, draws=300, seed=1)
    found = []
    for how in ({}, {}, {"rows": 60}, {"seed": 2}):
        with pytest.warns(InfluenceWarning, match="have a Pareto k above"):
            found.append(results.loo(**how))
    assert found[0] is found[1]
    assert found[2] is not found[0] and found[3] is not found[0]


@pytest.mark.extended
def test_comparisons(equal, smaller, all_rows):
    table = sgmc.compare(small=smaller, large=equal)
    assert table.index.tolist() == ["large", "small"]
    assert table.columns.tolist() == [
        "elpd",
        "se",
        "p",
        "elpd_diff",
        "diff_se",
        "subsampling_se",
        "bad_k",
    ]
    difference = all_rows.elpd_i - smaller.loo().elpd_i
    assert table.loc["small", "elpd_diff"] == pytest.approx(difference.sum(), rel=1e-9)
    assert table.loc["small", "diff_se"] == pytest.approx(np.sqrt(400) * difference.std(), rel=1e-9)
    assert table.loc["large", ["elpd_diff", "diff_se"]].tolist() == [0, 0]
    assert table.loc["small", "elpd_diff"] > 20
    assert sgmc.compare(all_rows, smaller).index.tolist() == ["model0", "model1"]


@pytest.mark.extended
def test_comparisons_of_samples(equal, smaller, all_rows, monkeypatch):
    whole = sgmc.compare(small=smaller, large=all_rows).loc["small"]
    monkeypatch.setattr(rooms, "ALL_ROWS", 100)
    monkeypatch.setattr(rooms, "SAMPLED_ROWS", 100)
    some = sgmc.compare(small=smaller, large=equal).loc["small"]
    assert 0 < some["subsampling_se"] < 0.3 and whole["subsampling_se"] == 0
    assert some["elpd_diff"] == pytest.approx(whole["elpd_diff"], abs=4 * some["subsampling_se"])
    assert some["diff_se"] == pytest.approx(whole["diff_se"], rel=0.05)
    one = equal.loo()
    mixed = sgmc.compare(small=smaller, large=one).loc["small"]
    assert mixed["elpd_diff"] == pytest.approx(whole["elpd_diff"], abs=4 * mixed["subsampling_se"])


def test_comparisons_refused(votes, equal, all_rows):
    other = sgmc.logit("y ~ x1", votes[:300], seed=1)
    swapped = sgmc.logit("y ~ x1", votes[::-1], seed=1)
    contrary = sgmc.logit("y ~ x1", votes.assign(y=votes.x2 > 1), seed=1)
    weighted = sgmc.logit("y ~ x1", votes, seed=1, weights="count")
    for models, text in [
        ((all_rows, other.loo(rows=20)), "not of the same outcomes in the same order"),
        (
            (all_rows, swapped.loo(rows=20)),
            "the rows are in another order; fit both to the same table",
        ),
        ((all_rows, contrary), "the outcomes themselves differ (400 rows each)"),
        ((all_rows, weighted.loo(rows=20)), "different weights"),
        ((equal,), "at least two"),
        ((all_rows, equal.loo(rows=50)), "judged by different rows"),
        ((equal, votes), "model1 is DataFrame"),
    ]:
        with pytest.raises(ArgumentError, match=re.escape(text)):
            sgmc.compare(*models)


@pytest.mark.parametrize("discrete, formula", [("poisson", "n ~ x"), ("logit", "b ~ x")])
def test_densities_are_not_compared_with_probabilities(discrete, formula):
    """They were ranked, although another unit of the outcome would rank them otherwise."""
    rng = np.random.default_rng(3)
    df = pd.DataFrame({"x": rng.normal(size=80)})
    df["n"] = rng.poisson(np.exp(df.x / 2))
    df["b"] = (df.n > 0).astype(int)
    one = getattr(sgmc, discrete)(formula, df, seed=1)
    with pytest.raises(ArgumentError, match="a has densities of its outcomes and b has prob"):
        sgmc.compare(b=one, a=sgmc.ols(formula, df, seed=1))
    alike = {"poisson": sgmc.negativebinomial, "logit": sgmc.probit}[discrete]
    assert len(sgmc.compare(one, alike(formula, df, seed=1))) == 2


# ---- posterior predictive checks -----------------------------------------------------------------


def test_checks_of_a_model_that_fits(posterior, votes):
    table = posterior.pp_check(groups=5, seed=3)
    assert table.index.tolist() == ["mean", "sd", *(f"mean of group {g}" for g in range(1, 6))]
    assert table.columns.tolist() == ["observed", "fitted", "replicated", "[0.025", "0.975]", "p"]
    fitted = np.asarray(posterior.fittedvalues)
    order, y = np.argsort(fitted, kind="stable"), votes.y.to_numpy()
    np.testing.assert_allclose(
        table["observed"], [y.mean(), y.std(), *y[order].reshape(5, 80).mean(axis=1)], rtol=1e-12
    )
    np.testing.assert_allclose(
        table["fitted"][2:], fitted[order].reshape(5, 80).mean(axis=1), rtol=1e-12
    )
    np.testing.assert_allclose(
        table["replicated"][2:], table["fitted"][2:], atol=5 * 0.06 / 500**0.5
    )
    assert (
        (table["observed"] >= table["[0.025"]) & (table["observed"] <= table["0.975]"])
    ).sum() >= 6
    assert table["p"].between(0.005, 0.995).all()


def test_spread_of_replicated_statistics(equal, votes):
    table = equal.pp_check(groups=1, draws=4000)
    y = equal.posterior_predict(seed=9)
    np.testing.assert_allclose(
        table.loc["mean", ["[0.025", "0.975]"]],
        np.quantile(y.mean(axis=1), [0.025, 0.975]),
        atol=0.004,
    )
    np.testing.assert_allclose(
        table.loc["sd", ["[0.025", "0.975]"]],
        np.quantile(y.std(axis=1), [0.025, 0.975]),
        atol=0.002,
    )


def test_checks_find_a_curve_that_was_left_out():
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, 2000)
    df = pd.DataFrame(
        {"x": x, "y": (rng.random(2000) < special.expit(x + 1.5 * x**2 - 2)).astype(int)}
    )
    wrong, right = (
        sgmc.logit(f, df, seed=1).pp_check(groups=8) for f in ("y ~ x", "y ~ x + I(x**2)")
    )
    assert (wrong["p"] < 0.001).any()
    assert (wrong["p"] > 0.999).any()
    assert right["p"].between(0.005, 0.995).all()
    assert (wrong["p"][wrong["observed"] > wrong["0.975]"]] < 0.05).all()


def test_checks_count_weights(votes):
    fit = sgmc.logit("y ~ x1", votes, seed=1, weights="count")
    table = fit.pp_check(groups=3)
    assert table.loc["mean", "observed"] == pytest.approx(
        np.average(votes.y, weights=votes["count"]), rel=1e-12
    )
    assert table.loc["mean", "replicated"] == pytest.approx(table.loc["mean", "observed"], abs=0.02)


def test_groups_that_weigh_nothing(votes):
    fit = sgmc.logit("y ~ x1", votes.assign(w=(votes.x1 > -1).astype(float)), seed=1, weights="w")
    table, kept = fit.pp_check(groups=20), votes[votes.x1 > -1]
    alone = sgmc.logit("y ~ x1", kept, seed=1).pp_check(groups=20)
    np.testing.assert_allclose(table.observed, alone.observed)
    assert table.loc["mean", "observed"] == pytest.approx(votes.y[votes.x1 > -1].mean(), rel=1e-12)


@pytest.mark.parametrize(
    "how", [dict(groups=0), dict(groups=401), dict(alpha=2), dict(groups=None)], ids=str
)
def test_checks_refused(equal, how):
    with pytest.raises(ArgumentError, match=next(iter(how))):
        equal.pp_check(**how)
