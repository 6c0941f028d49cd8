"""Simulated outcomes, their intervals, pointwise likelihoods and residuals, against closed forms
and numpy on the draws.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError
from sgmc.models.regression.bases.family import Family
from sgmc.models.regression.families.logit import LogitFamily
from sgmc.results.outcomes.data import rows as rooms
from sgmc.results.outcomes.data.rows import Rows
from sgmc.results.outcomes.predicted.prediction import Prediction, simulated


def design(df, names):
    """The design of `votes`, by hand."""
    columns = {"Intercept": np.ones(len(df)), "g[T.b]": df.g == "b", "g[T.c]": df.g == "c"}
    return np.column_stack([columns.get(name, df.get(name)) for name in names]).astype(float)


def predictors(results, df):
    """Linear predictors (draw, row)."""
    return results.flat @ design(df, results.names).T


# ---- the family ----------------------------------------------------------------------------------

ETA = np.array([[-800.0, -40, -3, -0.2], [0, 0.2, 40, 800]])


@pytest.mark.parametrize("y", [0.0, 1.0])
def test_densities_of_the_logit(y):
    ours = LogitFamily.log_density(np.full((2, 1), y), ETA)
    np.testing.assert_allclose(ours, -np.logaddexp(0, -(2 * y - 1) * ETA), rtol=1e-12, atol=1e-300)
    moderate = np.abs(ETA) < 30
    np.testing.assert_allclose(
        ours[moderate], stats.bernoulli.logpmf(y, special.expit(ETA[moderate])), rtol=1e-12
    )
    np.testing.assert_allclose(
        LogitFamily.deviance(y, special.expit(ETA[moderate])), -2 * ours[moderate], rtol=1e-12
    )


def test_moments_of_the_logit():
    p = special.expit([[-3.0, 0.2, 5.0]])
    np.testing.assert_allclose(LogitFamily.variance([[-3.0, 0.2, 5.0]]), p * (1 - p), rtol=1e-12)
    assert (LogitFamily.variance(ETA[:, 1:3]) > 0).all()  # also where p rounds to one
    y = LogitFamily.simulate(np.full((4, 50_000), 1.2), np.random.default_rng(0))
    assert np.isin(y, (0, 1)).all()
    assert y.mean() == pytest.approx(special.expit(1.2), abs=4 * 0.42 / 200_000**0.5)


# ---- posterior_predict ---------------------------------------------------------------------------


def test_frequencies_of_simulated_outcomes(posterior, votes):
    new = votes[:40]
    y, p = posterior.posterior_predict(new), posterior.predict(new)
    assert y.shape == (len(posterior.flat), 40) and np.isin(y, (0, 1)).all()
    # a mean of Bernoulli outcomes, weighted draws in proportion to their weights: five standard
    # errors
    assert np.abs(y.mean(axis=0) - p).max() < 5 * 0.5 / len(y) ** 0.5


def test_a_data_set_comes_of_one_draw(equal, votes):
    # of rows that are all alike a data set has binomial successes given its draw: their variance is
    # that of the mixture
    new = pd.concat([votes[:1]] * 400)
    total = equal.posterior_predict(new).sum(axis=1)
    p = special.expit(predictors(equal, votes[:1]))[:, 0]
    expected = 400 * np.mean(p * (1 - p)) + 400**2 * p.var()
    assert total.var() == pytest.approx(expected, rel=0.1)
    assert expected > 3 * 400 * p.mean() * (1 - p.mean())


def test_weighted_draws_are_taken_in_proportion(votes, decaying):
    weights = np.array([1.0, 0, 2, 1])
    taken = Rows(
        LogitFamily, np.zeros((1, 1)), np.arange(4.0)[:, None], None, weights, np.zeros(1)
    ).of_equal_weight(8)
    assert taken.coefficients[:, 0].tolist() == [0, 0, 2, 2, 2, 2, 3, 3] and taken.weights is None
    assert decaying.posterior_predict(votes[:3], draws=500).shape == (500, 3)


def test_seeds_of_simulated_outcomes(equal, votes):
    new = votes[:20]
    np.testing.assert_array_equal(equal.posterior_predict(new), equal.posterior_predict(new))
    same = equal.posterior_predict(new, seed=np.random.SeedSequence(4))
    np.testing.assert_array_equal(equal.posterior_predict(new, seed=4), same)
    assert (equal.posterior_predict(new, seed=4) != equal.posterior_predict(new, seed=5)).any()
    with pytest.raises(ArgumentError, match="seed=-1"):
        equal.posterior_predict(new, seed=-1)


def test_outcomes_of_the_data_in_their_order(equal, votes):
    y = equal.posterior_predict()
    assert np.abs(y.mean(axis=0) - equal.predict()).max() < 5 * 0.5 / len(y) ** 0.5
    assert equal.posterior_predict(draws=10).shape == (10, 400)


def test_simulations_of_rows_with_gaps(equal, votes):
    new = votes[:4].copy()
    new.loc[2, "x1"] = np.nan
    y = equal.posterior_predict(new, draws=50)
    assert np.isnan(y[:, 2]).all() and np.isfinite(np.delete(y, 2, axis=1)).all()


def test_simulations_too_large_for_memory(equal, votes, monkeypatch):
    monkeypatch.setattr(rooms, "ROWS_MEMORY", 8 * 400 * 100)
    with pytest.raises(
        ArgumentError, match="posterior_predict of 400 rows and 4,000 draws is .* give draws=100"
    ):
        equal.posterior_predict()
    with pytest.raises(ArgumentError, match="log_lik of 400 rows"):
        equal.log_lik()
    assert equal.posterior_predict(draws=100).shape == equal.log_lik(draws=100).shape == (100, 400)
    with pytest.raises(ArgumentError, match="give fewer rows"):
        equal.log_lik(pd.concat([votes] * 101), "y")


@pytest.mark.parametrize("draws", [0, -1, 1.5, "all"])
def test_numbers_of_draws_refused(equal, draws):
    for method in (equal.posterior_predict, equal.log_lik, equal.pp_check):
        with pytest.raises(ArgumentError, match="draws="):
            method(draws=draws)


def test_chunks_change_nothing(equal, votes, monkeypatch):
    whole = equal.log_lik(), equal.resid_pearson, equal.get_prediction(votes).summary_frame()
    monkeypatch.setattr(rooms, "CELLS", 4000 * 7)
    for one, other in zip(
        whole, (equal.log_lik(), equal.resid_pearson, equal.get_prediction(votes).summary_frame())
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)


# ---- log_lik -------------------------------------------------------------------------------------


@pytest.mark.extended
@pytest.mark.parametrize(
    "how",
    [
        {},
        dict(sampler="mala"),
        dict(precondition="diag"),
        dict(offset="off"),
        dict(weights="count"),
    ],
    ids=str,
)
def test_likelihoods_are_those_of_scipy(votes, how):
    fit = sgmc.logit("y ~ x1 + x2 + g", votes, seed=1, draws=1500, **how)
    eta = predictors(fit, votes) + (votes.off.to_numpy() if "offset" in how else 0)
    expected = stats.bernoulli.logpmf(votes.y.to_numpy(), special.expit(eta))
    np.testing.assert_allclose(fit.log_lik(), expected, rtol=1e-8)
    np.testing.assert_allclose(
        fit.log_lik(votes, "y", offset=votes.off if "offset" in how else None), expected, rtol=1e-8
    )
    w = votes["count"] if "weights" in how else 1
    eta = design(votes, fit.names) @ fit.params + (votes.off if "offset" in how else 0)
    assert fit.llf == pytest.approx(
        (w * stats.bernoulli.logpmf(votes.y, special.expit(eta))).sum(), rel=1e-10
    )


def test_likelihoods_of_new_outcomes(votes):
    text = votes.assign(y=np.where(votes.y, "yes", "no"))
    fit = sgmc.logit("y ~ x1 + x2 + g", text, seed=1)
    expected = stats.bernoulli.logpmf(
        votes.y[:9].to_numpy(), special.expit(predictors(fit, votes[:9]))
    )
    for endog in (text.y[:9], "y", votes.y[:9]):
        np.testing.assert_allclose(fit.log_lik(text[:9], endog), expected, rtol=1e-8)
    with pytest.raises(FormulaError, match="level 'perhaps'; known are 'no', 'yes'"):
        fit.log_lik(text[:2], ["yes", "perhaps"])
    with pytest.raises(DataError, match="endog has missing"):
        fit.log_lik(text[:2], ["yes", None])


@pytest.mark.parametrize(
    "how, error, text",
    [
        (dict(exog=True), ArgumentError, "needs their outcomes: give endog"),
        (dict(endog="y"), ArgumentError, "endog belongs to new rows"),
        (dict(offset=0.0), ArgumentError, "offset belongs to new rows"),
        (
            dict(exog=True, endog=[1, 0]),
            DataError,
            "endog has 2 values, the new data have 400 rows",
        ),
        (dict(exog=True, endog=np.full(400, 0.5)), DataError, "must be 0 or 1"),
        (dict(exog=True, endog="z"), ArgumentError, "endog='z' is not a column"),
    ],
    ids=str,
)
def test_likelihoods_refused(equal, votes, how, error, text):
    with pytest.raises(error, match=text):
        equal.log_lik(**({**how, "exog": votes} if "exog" in how else how))


# ---- residuals -----------------------------------------------------------------------------------


def test_residuals_average_over_draws(posterior, votes, normalised):
    w, y = normalised(posterior)[1], votes.y.to_numpy()
    p = special.expit(predictors(posterior, votes))
    np.testing.assert_allclose(posterior.fittedvalues, w @ p, rtol=1e-9)
    np.testing.assert_allclose(posterior.resid_response, y - w @ p, rtol=1e-8)
    np.testing.assert_allclose(
        posterior.resid_pearson, w @ ((y - p) / np.sqrt(p * (1 - p))), rtol=1e-8
    )
    deviance = -2 * np.log(np.where(y, w @ p, 1 - w @ p))
    np.testing.assert_allclose(
        posterior.resid_deviance, np.where(y, 1, -1) * np.sqrt(deviance), rtol=1e-8
    )
    assert (np.abs(p.mean(axis=0) - w @ p).max() > 1e-6) == (posterior.weights is not None)


# ---- intervals of outcomes -----------------------------------------------------------------------


class Normal(Family):
    """Normal outcomes; its auxiliary parameter is the sd."""

    mean = staticmethod(np.asarray)

    @staticmethod
    def simulate(eta, rng, extra=None):
        """eta + sd z."""
        return eta + extra[0] * rng.standard_normal(eta.shape)


def normal_rows(weights=None, m=40_000):
    """Two rows, predictors normal(1, 0.5) and normal(-2, 1) over draws, sd 2."""
    z = np.random.default_rng(5).standard_normal((m, 2)) * [0.5, 1.0] + [1.0, -2.0]
    return Rows(Normal, np.eye(2), z, np.full((1, m), 2.0), weights, np.zeros(2))


def test_intervals_of_outcomes_of_a_normal(equal):
    rows = normal_rows()
    table = Prediction(rows, equal, 3).summary_frame(alpha=0.1)
    assert table.columns.tolist() == [
        "mean",
        "mean_se",
        "mean_ci_lower",
        "mean_ci_upper",
        "obs_ci_lower",
        "obs_ci_upper",
    ]
    for row, mean, sd in zip(table.to_numpy(), (1.0, -2.0), (0.5, 1.0)):
        # a quantile's standard error is 0.011 sd here: five of them
        np.testing.assert_allclose(
            row[2:4], stats.norm(mean, sd).ppf([0.05, 0.95]), atol=0.055 * sd
        )
        np.testing.assert_allclose(
            row[4:],
            stats.norm(mean, np.hypot(sd, 2)).ppf([0.05, 0.95]),
            atol=0.055 * np.hypot(sd, 2),
        )
    pd.testing.assert_frame_equal(table, Prediction(rows, equal, 3).summary_frame(alpha=0.1))
    assert (
        Prediction(rows, equal, 4).summary_frame(alpha=0.1)["obs_ci_lower"] != table["obs_ci_lower"]
    ).all()


def test_coverage_of_intervals_of_outcomes(equal):
    table = Prediction(normal_rows(), equal, 3).summary_frame(alpha=0.2)
    new = np.random.default_rng(8).standard_normal((2, 20_000)) * np.hypot([[0.5], [1.0]], 2) + [
        [1.0],
        [-2.0],
    ]
    inside = (new > table.obs_ci_lower.to_numpy()[:, None]) & (
        new < table.obs_ci_upper.to_numpy()[:, None]
    )
    # five standard errors of a share of 20,000, and as much for the limits' own
    assert np.abs(inside.mean(axis=1) - 0.8).max() < 0.02
    without = (new > table.mean_ci_lower.to_numpy()[:, None]) & (
        new < table.mean_ci_upper.to_numpy()[:, None]
    )
    assert without.mean() < 0.5  # the interval of the mean is another thing


def test_weights_of_draws_in_intervals_of_outcomes(equal):
    rows = normal_rows()
    # moves a normal(1, 0.5) to normal(1.25, 0.5)
    tilted = normal_rows(np.exp(rows.coefficients[:, 0]))
    table = Prediction(tilted, equal, 3).summary_frame()
    assert table["mean"][0] == pytest.approx(1.25, abs=0.02)
    limits = stats.norm(1.25, np.hypot(0.5, 2)).ppf([0.025, 0.975])
    np.testing.assert_allclose(table.loc[0, ["obs_ci_lower", "obs_ci_upper"]], limits, atol=0.1)


def test_zeros_and_ones_have_no_intervals(equal, votes):
    assert "obs_ci_lower" not in equal.get_prediction(votes).summary_frame()


def test_own_parameters_go_with_their_draws():
    m = 3000
    extra = np.repeat([[0.0, 5.0]], m // 2, axis=1)
    rows = Rows(Normal, np.ones((2, 1)), np.zeros((m, 1)), extra, None, np.zeros(2))
    y = np.concatenate([y for _, y in simulated(rows, np.random.default_rng(1))])
    assert (y[:, rows.extra[0] == 0] == 0).all()
    assert y[:, rows.extra[0] == 5].std() == pytest.approx(5, rel=0.1)
    few = rows.with_draws(np.arange(0, m, 2))
    assert few.extra.shape == (1, m // 2)
    assert few.extra[0, -1] == 5
    assert rows.at_mean().extra == pytest.approx(2.5)
    two, weights = np.array([[0.0], [4.0]]), np.array([3.0, 1.0])
    weighted = Rows(Normal, np.ones((1, 1)), two, 1 + two.T, weights, np.zeros(1)).at_mean()
    assert weighted.extra.tolist() == [[2.0]] and weighted.coefficients.tolist() == [[1.0]]


def test_a_prediction_can_be_asked_twice(equal, votes, monkeypatch):
    monkeypatch.setattr(rooms, "CELLS", 4000 * 7)
    prediction = equal.get_prediction(votes)
    pd.testing.assert_frame_equal(prediction.summary_frame(), prediction.summary_frame())
    np.testing.assert_allclose(
        prediction.predicted_mean, prediction.summary_frame()["mean"], rtol=1e-12
    )
    np.testing.assert_array_equal(
        prediction.conf_int(0.2), prediction.summary_frame(0.2)[["mean_ci_lower", "mean_ci_upper"]]
    )
