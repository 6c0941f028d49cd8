"""Results of fits with learned scales: names, groups, predictions, files, starts, time limits."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import SGMCWarning

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
PRIOR = {"C(g)": sgmc.ridge(group="g"), "*": sgmc.horseshoe(2, learned=True)}


@cache
def table():
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(200, 4)), columns=list("abcd"))
    y = frame.a - 0.5 * frame.b + random.normal(size=200)
    return frame.assign(g=random.choice(list("uvw"), 200), y=y)


@pytest.fixture(scope="module")
def res():
    return sgmc.ols("y ~ a + b + c + d + C(g)", table(), prior=PRIOR, seed=1, draws=200)


def test_names_and_positive_parameters(res):
    names = ["Intercept", "C(g)[T.v]", "C(g)[T.w]", *"abcd", "sd(g)", "tau(horseshoe)", "sigma"]
    assert list(res.params.index) == names
    assert (res.draws[..., -3:] > 0).all()
    assert "horseshoe(nonzero=2, slab=2.5*, learned=True)" in " ".join(str(res.summary()).split())


def test_names_in_arviz(res):
    pytest.importorskip("arviz_base")
    assert list(res.names) == list(res.to_arviz()["posterior"].data_vars)


def test_predictions_are_of_the_coefficients(res):
    new = table().head(5)
    X = np.column_stack([np.ones(5), new.g == "v", new.g == "w", new[list("abcd")]]).astype(float)
    expected = (res.flat[:, :7] @ X.T).mean(axis=0)
    assert res.predict(new).to_numpy() == pytest.approx(expected, abs=1e-10)
    assert np.asarray(res.predict())[:5] == pytest.approx(expected, abs=1e-10)


def test_saved_and_resumed(res, tmp_path):
    res.save(tmp_path / "fit")
    loaded = sgmc.load(tmp_path / "fit")
    assert loaded.params.equals(res.params)
    more = loaded.resume(draws=50, data=table())
    assert more.draws.shape[1] == 250
    assert np.array_equal(more.draws[:, :200], res.draws)


def test_the_same_seed_gives_the_same_bits(res):
    again = sgmc.ols("y ~ a + b + c + d + C(g)", table(), prior=PRIOR, seed=1, draws=200, threads=1)
    assert np.array_equal(again.draws, res.draws)


def test_starts_in_reported_numbers():
    start = np.array([0.1, 1.0, -0.5, 0.05, 0.9])
    model = sgmc.OLS.from_formula("y ~ a + b", table())
    fit = model.fit(
        prior=sgmc.r2d2(), init=start, draws=1, warmup=0, thin=1, step_size=1e-9, sampler="mala"
    )
    assert fit.draws[0, 0] == pytest.approx(start, rel=1e-3)


def test_time_limit_leaves_a_marked_result():
    found = sgmc.ols("y ~ a + b", table(), prior=sgmc.ridge(), time_limit=1e-4, seed=1)
    assert "not trustworthy" in str(found.summary())


def test_frequency_weights_are_rows():
    weights = np.arange(200) % 3
    repeated = table().loc[np.repeat(table().index, weights)].reset_index(drop=True)
    how = dict(prior=sgmc.ridge(), seed=1, draws=2000)
    first = sgmc.ols("y ~ a + b", table(), weights=weights, **how)
    second = sgmc.ols("y ~ a + b", repeated, **how)
    # the same posterior: means of 8,000 draws agree to 4 sqrt(2 / 5000) = 0.08 sd
    assert np.abs((first.params - second.params) / second.bse).max() < 0.08


@pytest.mark.cover(0)
@pytest.mark.parametrize("family", ["rlm", "poisson", "negativebinomial", "probit"])
def test_families(family):
    y = {"poisson": np.exp(0.3 * table().a).round(), "negativebinomial": np.exp(table().a).round()}
    y |= {"rlm": table().y, "probit": (table().y > 0).astype(int)}
    frame = table().assign(y=y[family])
    fit = getattr(sgmc, family)(
        "y ~ a + b + c + d", frame, prior=sgmc.horseshoe(2, learned=True), seed=2, draws=300
    )
    assert fit.rhat().max() < 1.05
    assert abs(fit.params["a"]) > 3 * abs(fit.params["c"])


def test_no_warning_where_the_data_tell_everything():
    """A ridge of four coefficients at defaults is trusted, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", SGMCWarning)
        fit = sgmc.ols("y ~ a + b + c + d", table(), prior=sgmc.ridge(), seed=1)
    assert "Verdict: trustworthy" in str(fit.summary())


def test_collinear_predictors_under_a_ridge():
    """Axes in which the likelihood is diagonal leave no correlation that changes with the sd."""
    random = np.random.default_rng(7)
    X = random.normal(size=(100, 20))
    X[:, 10:] = X[:, :10] + 1e-3 * random.normal(size=(100, 10))
    y = X[:, 0] + random.normal(size=100)
    fit = sgmc.OLS(y, np.column_stack([np.ones(100), X])).fit(prior={"*": sgmc.ridge()}, seed=1)
    assert fit.ess().min() > 1000  # of 4,000 draws; without these axes 69
    assert np.asarray(fit.predict()) == pytest.approx(
        np.column_stack([np.ones(100), X]) @ fit.params[:21], abs=1e-8
    )


def test_an_sd_that_is_known_not_to_exist_is_no_reason_against_the_others():
    """tau2 ~ 1 / Gamma(1, 1) under local variances of Gamma(1 / 8, 1): its density falls as
    tau2^-(2 + 1), the likelihood being that of eight coefficients which rows tell.
    """
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 8))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    frame["y"] = X[:, 0] - 0.8 * X[:, 1] + random.normal(size=60)
    res = sgmc.ols("y ~ .", frame, prior=sgmc.r2d2(), draws=4000, seed=1)
    assert list(res.bse.index[res.bse.isna()]) == ["tau2(r2d2)"]
    assert res.verdict.trustworthy and "Of tau2(r2d2) there is no sd" in str(res.verdict)
    light = sgmc.ols("y ~ .", frame, prior=sgmc.r2d2(precision=9), draws=2000, seed=1)
    assert light.bse.notna().all() and "there is no sd" not in str(light.verdict)
