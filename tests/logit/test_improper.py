"""Improper posteriors are refused by name; separation by combinations of columns is warned of."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, special, stats

import sgmc
from sgmc.errors import DataError, SeparationWarning

RANDOM = np.random.default_rng(0)
N = 200
X1, X2 = RANDOM.normal(size=(2, N))
LEVEL = np.array(list("abcd"))[RANDOM.integers(0, 4, N)]
Y = RANDOM.integers(0, 2, N)
A, B = RANDOM.integers(0, 2, (2, N))
KIND = np.array(list("uvw"))[RANDOM.integers(0, 3, N)]
COUNT = RANDOM.poisson(2, N)
FRAME = pd.DataFrame(
    {
        "x": X1,
        "z": X2,
        "twice": 2 * X1,
        "g": LEVEL,
        "a": A,
        "b": B,
        "y": Y,
        "above": (X1 > 0) * 1,
        "both": np.where(A + B == 1, Y, A * B),
        "pure": np.where(LEVEL == "b", 1, Y),
        "kind": np.where((LEVEL == "b") & (KIND == "w"), "v", KIND),
        "count": np.where(LEVEL == "b", 0, COUNT),
        "one": 1,
        "zero": 0,
        "size": np.exp(0.3 * X2),
    }
)
SLOPE = {"x": "flat", "Intercept": sgmc.normal(0, 2.5)}
LEVELS = {"g": "flat", "Intercept": sgmc.normal(0, 2.5)}
FEW = pd.DataFrame({"x": [0.0, 1, 2], "y": [0.1, 1.3, 1.9]})

IMPROPER = {
    "a slope, the intercept's prior proper": (
        lambda: sgmc.logit("above ~ x", FRAME, prior=SLOPE),
        r"direction x \(.*, and the prior of x is flat",
    ),
    "a + b": (
        lambda: sgmc.logit("both ~ a + b", FRAME, prior="flat"),
        r"direction a \+ b - Intercept \(.*, and the priors of a, b, Intercept are flat",
    ),
    "a level all ones": (
        lambda: sgmc.logit("pure ~ g", FRAME, prior="flat"),
        r"direction g\[T.b\] \(.*, and the prior of g\[T.b\] is flat",
    ),
    "a level all ones, probit": (
        lambda: sgmc.probit("pure ~ g", FRAME, prior=LEVELS),
        r"the prior of g\[T.b\] is flat",
    ),
    "an empty cell": (
        lambda: sgmc.mnlogit("kind ~ g", FRAME, prior="flat"),
        r"direction w:g\[T.b\] \(.*, and the prior of w:g\[T.b\] is flat",
    ),
    "a level of zeros": (
        lambda: sgmc.poisson("count ~ g", FRAME, prior="flat"),
        r"direction g\[T.b\] \(",
    ),
    "a level of zeros, negative binomial": (
        lambda: sgmc.negativebinomial("count ~ g", FRAME, prior=LEVELS),
        r"direction g\[T.b\] \(",
    ),
    "all ones": (
        lambda: sgmc.logit("one ~ x", FRAME, prior="flat"),
        r"direction Intercept \(.*, and the prior of Intercept is flat",
    ),
    "all zero counts": (
        lambda: sgmc.poisson("zero ~ x", FRAME, prior="flat"),
        r"direction Intercept \(",
    ),
    "rows of weight 0": (
        lambda: sgmc.logit("y ~ x", FRAME, weights=FRAME.y.to_numpy(), prior="flat"),
        r"direction Intercept \(",
    ),
    "collinear, linear": (
        lambda: sgmc.ols("z ~ x + twice", FRAME, prior="flat"),
        r"constant in the direction (x - 0.5 twice|twice - 2 x) of",
    ),
    "constant": (
        lambda: sgmc.ols("z ~ x + one", FRAME, prior="flat"),
        r"constant in the direction one - Intercept of",
    ),
    "more coefficients than rows": (
        lambda: sgmc.OLS(Y[:9] + X1[:9], RANDOM.normal(size=(9, 12))).fit(prior="flat"),
        r"constant in the direction .* and \d+ more of the coefficients",
    ),
    "three rows, sigma flat": (
        lambda: sgmc.ols("y ~ x", FEW, prior="flat"),
        "3 rows and 2 coefficients with flat priors leave 1 degree of freedom for 'sigma'",
    ),
    "weights count as rows": (
        lambda: sgmc.ols("y ~ x", FEW, prior="flat", weights=np.array([1.0, 0.5, 0.5])),
        "2 rows and 2 coefficients with flat priors leave 0 degrees of freedom for 'sigma'",
    ),
    "inverse Gaussian, whose density has a limit": (
        lambda: sgmc.glm("size ~ x", FRAME, family="inversegaussian", prior="flat"),
        r"direction Intercept \(",
    ),
}


@pytest.mark.parametrize("label", IMPROPER)
def test_improper_posteriors_are_refused(label):
    call, words = IMPROPER[label]
    with pytest.raises(DataError, match="the posterior is improper: .*" + words):
        call()


@pytest.mark.parametrize("seed", range(8))
def test_a_rare_level_is_found_in_any_order_of_the_rows(seed):
    """Three rows of 200 have the level: programmes of few rows begin without them."""
    rare = FRAME.assign(g=np.where(np.arange(N) % 70 == 0, "rare", FRAME.g.to_numpy()))
    rare["pure"] = np.where(rare.g == "rare", 1, Y)
    with pytest.raises(DataError, match=r"the posterior is improper: .*g\[T.rare\]"):
        sgmc.logit("pure ~ g", rare, prior="flat", seed=seed)


PROPER = {
    "overlap": lambda **how: sgmc.logit("y ~ x + g", FRAME, prior="flat", **how),
    # the slope is flat, and separates with the intercept's help alone
    "bounded by the intercept's prior": lambda **how: sgmc.logit(
        "late ~ x", FRAME.assign(late=(X1 > 0.5) * 1), prior=SLOPE, **how
    ),
    "the level's prior is proper": lambda **how: sgmc.logit(
        "pure ~ x + g", FRAME, prior={"x": "flat"}, **how
    ),
    # that of the intercept holds it where predictors are at their means
    "the intercept is bounded at centred predictors": lambda **how: sgmc.logit(
        "pure ~ g", FRAME, prior={"g": "flat"}, **how
    ),
    "three rows": lambda **how: sgmc.ols(
        "y ~ x", FEW, prior={"x": "flat", "Intercept": "flat"}, **how
    ),
    "four rows, sigma flat": lambda **how: sgmc.ols(
        "y ~ x", pd.DataFrame({"x": range(4), "y": [0.1, 1.3, 1.9, 3.4]}), prior="flat", **how
    ),
    "gamma": lambda **how: sgmc.glm("size ~ x", FRAME, family="gamma", prior="flat", **how),
}


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("label", PROPER)
def test_proper_posteriors_are_fitted(label):
    assert np.isfinite(PROPER[label](seed=1, draws=200).draws).all()


SEPARATED = {
    "a + b": (lambda: sgmc.logit("both ~ a + b", FRAME, seed=1), r"by a \+ b - Intercept\."),
    "an empty cell": (lambda: sgmc.mnlogit("kind ~ g", FRAME, seed=1), r"by w:g\[T.b\]\."),
    "a level of zeros": (lambda: sgmc.poisson("count ~ g", FRAME, seed=1), r"by g\[T.b\]\."),
    "no intercept, probit": (
        lambda: sgmc.probit("pure ~ 0 + g", FRAME, seed=1),
        r"^some values of g\[b\] have only one outcome",
    ),
}


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("label", SEPARATED)
def test_separation_is_named(label):
    call, words = SEPARATED[label]
    said = [str(w) for w in call().warnings if isinstance(w, SeparationWarning)]
    assert len(said) == 1
    with pytest.warns(SeparationWarning, match=words):
        call()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32, float])
def test_sparse_tables_of_every_kind_of_number(dtype):
    table = np.column_stack([np.ones(N), A, B]).astype(dtype)
    with pytest.raises(DataError, match=r"direction x2 \+ x3 - const \("):
        sgmc.Logit(FRAME.both, sparse.csr_array(table)).fit(prior="flat", seed=1)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_single_columns_and_combinations_are_told_apart():
    frame = FRAME.assign(y=np.where(LEVEL == "b", 1, FRAME.both))
    said = [
        str(w)
        for w in sgmc.logit("y ~ a + b + g", frame, seed=1).warnings
        if isinstance(w, SeparationWarning)
    ]
    assert len(said) == 2
    assert said[0].startswith("some outcomes are separated (quasi-complete separation) by a + b")
    assert "g[T.b]" not in said[0] and said[1].startswith("some values of g[T.b] have only")


def test_a_level_without_contrary_outcomes_and_without_intercept_is_sampled():
    """Its coefficient's posterior has one dimension, as those of other levels."""
    with pytest.warns(SeparationWarning):
        results = sgmc.logit("pure ~ 0 + g", FRAME, prior=sgmc.normal(0, 10), seed=1, draws=4000)
    rows = (LEVEL == "b").sum()
    mean, sd = by_quadrature(lambda t: rows * special.log_expit(t), 10.0)
    place = results.names.index("g[b]")
    assert abs(results.params.iloc[place] - mean) < 0.08 * sd
    assert abs(results.bse.iloc[place] / sd - 1) < 0.05


def by_quadrature(log_lik, scale):
    """Mean and sd of one coefficient under a normal prior."""
    t = np.linspace(-12 * scale, 12 * scale, 400_001)
    log = log_lik(t) + stats.norm(0, scale).logpdf(t)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = weight @ t
    return mean, np.sqrt(weight @ (t - mean) ** 2)


ALIKE = {
    "logit, ones": (sgmc.Logit, 1.0, special.log_expit),
    "logit, zeros": (sgmc.Logit, 0.0, lambda t: special.log_expit(-t)),
    "probit, zeros": (sgmc.Probit, 0.0, lambda t: stats.norm.logcdf(-t)),
    "poisson, zeros": (sgmc.Poisson, 0.0, lambda t: -np.exp(t)),
}


@pytest.mark.parametrize("label", ALIKE)
def test_outcomes_that_are_all_alike_against_quadrature(label):
    model, value, log_lik = ALIKE[label]
    with pytest.warns(SeparationWarning, match="^all outcomes are the same"):
        results = model(np.full(30, value), np.ones((30, 1))).fit(
            prior={"const": sgmc.normal(0, 2.5)}, seed=1, draws=4000
        )
    mean, sd = by_quadrature(lambda t: 30 * log_lik(t), 2.5)
    assert abs(results.params.iloc[0] - mean) < 0.1 * sd
    assert abs(results.bse.iloc[0] / sd - 1) < 0.08


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_counts_without_failures_have_the_posterior_of_single_outcomes():
    table = pd.DataFrame({"s": [4, 6, 5], "f": [0, 0, 0], "x": [0.0, 1, 3]})
    single = table.loc[np.repeat([0, 1, 2], table.s), ["x"]].assign(s=1)
    how = dict(prior={"*": sgmc.normal(0, 1), "Intercept": sgmc.normal(0, 2)}, seed=1, draws=4000)
    one, other = sgmc.logit("s + f ~ x", table, **how), sgmc.logit("s ~ x", single, **how)
    assert np.abs((one.params - other.params) / other.bse).max() < 0.1
    assert np.abs(one.bse / other.bse - 1).max() < 0.08


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_negative_binomial_counts_of_zero_are_fitted():
    results = sgmc.negativebinomial("zero ~ x", FRAME, seed=1)
    assert results.params["Intercept"] < -3 and np.isfinite(results.draws).all()
