"""Priors of coefficients and intercepts."""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.errors import ShapeWarning

from .cases import FLAT, departure, expected, table, with_ones

# ---- priors --------------------------------------------------------------------------------------

PRIORS = {
    "normal": (sgmc.normal(1, 0.4), stats.norm(1, 0.4)),
    "student_t": (sgmc.student_t(4, 1, 0.3), stats.t(4, 1, 0.3)),
    "laplace": (sgmc.laplace(0, 0.2), stats.laplace(0, 0.2)),
    "cauchy": (sgmc.cauchy(0, 0.2), stats.cauchy(0, 0.2)),
    "flat": (sgmc.flat(), FLAT),
}


@pytest.mark.parametrize("name", PRIORS)
def test_priors_of_one_coefficient(name):
    df, (ours, theirs) = table(60, (0.0, 0.5)), PRIORS[name]
    results = sgmc.logit("y ~ 0 + x", df, prior=ours, draws=4000, seed=1)
    assert departure(results, expected(df[["x"]], df.y.to_numpy(), [theirs])) < 1
    if theirs is not FLAT:  # a mistake: the prior forgotten
        assert departure(results, expected(df[["x"]], df.y.to_numpy(), [FLAT])) > 1


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", PRIORS)
def test_priors_of_slope_and_intercept(name):
    df, (ours, theirs) = table(60, (0.3, 0.5), shift=2.0), PRIORS[name]
    X, y = with_ones(df.x), df.y.to_numpy()
    results = sgmc.logit("y ~ x", df, prior=ours, draws=4000, seed=1)
    # one prior is for the slopes; flat for all
    intercept = FLAT if name == "flat" else stats.norm(0, 2.5)
    assert departure(results, expected(X, y, [intercept, theirs], centre=df.x.mean())) < 1
    if theirs is not FLAT:
        assert departure(results, expected(X, y, [intercept, FLAT], centre=df.x.mean())) > 1


@pytest.mark.parametrize("name", ["laplace", "cauchy"])
def test_the_laplace_approximation_under_a_sharp_prior_is_warned_of(name):
    with pytest.warns(ShapeWarning, match="mala"):
        sgmc.logit(
            "y ~ 0 + x", table(60, (0.0, 0.5)), prior=PRIORS[name][0], sampler="laplace", seed=1
        )


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.ShapeWarning")
@pytest.mark.parametrize("sampler", ["sgld", "lmsgld", "vsgbd", "csgbd"])
@pytest.mark.parametrize("name", ["laplace", "cauchy"])
def test_unadjusted_steps_under_a_sharp_prior_are_right_or_warned_of(name, sampler):
    df, (ours, theirs) = table(60, (0.0, 0.5)), PRIORS[name]
    results = sgmc.logit("y ~ 0 + x", df, prior=ours, sampler=sampler, draws=4000, seed=1)
    right = departure(results, expected(df[["x"]], df.y.to_numpy(), [theirs])) < 1
    assert right or any(isinstance(w, ShapeWarning) for w in results.warnings)


def test_auto_under_a_sharp_prior_with_heavy_tails():
    df, (ours, theirs) = table(60, (0.0, 0.5)), PRIORS["cauchy"]
    results = sgmc.logit("y ~ 0 + x", df, prior=ours, chains=16, seed=1)
    mean, sd = expected(df[["x"]], df.y.to_numpy(), [theirs])
    # of 16 chains the Monte Carlo error is 2 %
    assert abs(results.bse.iloc[0] / sd[0] - 1) < 0.05 or results.warnings


def test_intercept_prior_by_name_is_the_formulas_intercept():
    df = table(60, (0.5, 0.5), shift=2.0)
    X, y, priors = with_ones(df.x), df.y.to_numpy(), [stats.norm(1.5, 0.3), stats.norm(0, 1)]
    given, centred = expected(X, y, priors), expected(X, y, priors, centre=df.x.mean())
    prior = {"Intercept": sgmc.normal(1.5, 0.3), "x": sgmc.normal(0, 1)}
    results = sgmc.logit("y ~ x", df, prior=prior, draws=2000, seed=1)
    assert departure(results, given) < 1 < departure(results, centred)


def test_default_intercept_prior_is_at_centred_predictors():
    df = table(60, (0.5, 0.5), shift=5.0)
    X, y, priors = with_ones(df.x), df.y.to_numpy(), [stats.norm(0, 2.5), stats.norm(0, 0.5)]
    results = sgmc.logit("y ~ x", df, prior={"x": sgmc.normal(0, 0.5)}, draws=2000, seed=1)
    assert (
        departure(results, expected(X, y, priors, centre=df.x.mean()))
        < 1
        < departure(results, expected(X, y, priors))
    )


@pytest.mark.extended
def test_prior_by_term_and_by_column():
    df = table(80).assign(g=lambda t: np.where(t.x > 0.2, "b", "a"))
    X, y = np.column_stack([df.g == "a", df.g == "b"]), df.y.to_numpy()
    cases = {
        "g": [stats.norm(1, 0.3)] * 2,
        "g[a]": [stats.norm(1, 0.3), stats.norm(0, 2)],
        "*": [stats.norm(1, 0.3)] * 2,
    }
    references = {}
    for key, priors in cases.items():
        prior = {"*": sgmc.normal(0, 2), key: sgmc.normal(1, 0.3)}
        results = sgmc.logit("y ~ 0 + g", df, prior=prior, draws=2000, seed=1)
        references[key] = expected(X, y, priors)
        assert departure(results, references[key]) < 1
    assert departure(results, references["g[a]"]) > 1


def test_autoscale_divides_by_the_sd_of_the_predictor():
    df = table(60, (0.3, 0.5)).assign(x=lambda t: 100 * t.x)
    X, y, scale = with_ones(df.x), df.y.to_numpy(), 0.4 / df.x.std()
    results = sgmc.logit("y ~ x", df, prior=sgmc.normal(0, 0.4, autoscale=True), draws=2000, seed=1)
    assert (
        departure(
            results, expected(X, y, [stats.norm(0, 2.5), stats.norm(0, scale)], centre=df.x.mean())
        )
        < 1
    )
    assert (
        departure(
            results, expected(X, y, [stats.norm(0, 2.5), stats.norm(0, 0.4)], centre=df.x.mean())
        )
        > 1
    )
