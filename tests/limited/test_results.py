"""What results of outcomes known in part have: predictions, likelihoods, files, groups, smooths."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported

from ..reference.limited import log_density
from .cases import ends, formula, table

HOW = dict(seed=1, draws=500)
SLOW = pytest.mark.extended
NAMES = ("ols", "poisson", "negativebinomial")
CLASSES = {"ols": sgmc.OLS, "poisson": sgmc.Poisson, "negativebinomial": sgmc.NegativeBinomial}
FRAME = {name: table(name, "both", 300) for name in NAMES}
for frame in FRAME.values():
    frame["g"], frame["z"] = np.arange(len(frame)) % 12, np.linspace(0, 1, len(frame))
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture(scope="module", params=NAMES)
def fitted(request):
    """Name, table and results of a family."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.SGMCWarning)
        verb = getattr(sgmc, request.param)
        results = verb(formula(request.param, "both"), FRAME[request.param], **HOW)
    return request.param, FRAME[request.param], results


def test_likelihoods_are_of_what_is_known(fitted):
    name, frame, results = fitted
    draws = results.flat[:20]
    extra = draws[:, 2:] if draws.shape[1] > 2 else 1.0
    eta = draws[:, :1] + draws[:, 1:2] * frame.x.to_numpy()
    expected = log_density(name, ends(name, "both", frame), eta, extra)
    found = np.asarray(results.log_lik())[:20]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    loo = results.loo()
    total = np.log(np.exp(np.asarray(results.log_lik())).mean(axis=0)).sum()
    assert loo.elpd < total < loo.elpd + 2 * len(results.names)
    new = sgmc.trunc(sgmc.cens(frame.y, frame.c), low=-1.0 if name == "ols" else 1)
    np.testing.assert_allclose(
        np.asarray(results.log_lik(frame, endog=new))[:20], expected, rtol=1e-8, atol=1e-8
    )


def test_predictions_are_of_the_outcome_itself(fitted):
    """Neither censored nor truncated: means exactly, simulated ones within five standard errors."""
    name, frame, results = fitted
    eta = results.flat[:, :1] + results.flat[:, 1:2] * frame.x.to_numpy()[:3]
    expected = (eta if name == "ols" else np.exp(eta)).mean(axis=0)
    np.testing.assert_allclose(results.predict(frame[:3]), expected, rtol=1e-10)
    drawn = np.asarray(results.posterior_predict(frame[:3], seed=2))
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - expected) < 5 * error).all()
    assert drawn.min() < (-1 if name == "ols" else 1) and drawn.max() > 5


def test_files_have_it(fitted, tmp_path):
    _, frame, results = fitted
    results.save(tmp_path / "fit.sgmc")
    again = sgmc.load(tmp_path / "fit.sgmc")
    np.testing.assert_array_equal(again.draws, results.draws)
    np.testing.assert_array_equal(again.predict(frame[:2]), results.predict(frame[:2]))


def test_the_summary_counts_them(fitted):
    _, frame, results = fitted
    text = " ".join(results.summary().as_text().split())
    assert f"{(frame.c == 'right').sum()} are censored on the right" in text
    assert f"{len(frame)} could only be seen between bounds" in text


@pytest.mark.parametrize("what", ["resid_pearson", "deviance", "null_deviance"])
def test_residuals_are_refused(fitted, what):
    with pytest.raises(NotSupported, match=f"{what} needs .* some are censored or truncated"):
        getattr(fitted[2], what)


def test_checks_and_updates_are_refused(fitted):
    _, frame, results = fitted
    with pytest.raises(NotSupported, match="loo_pit needs .* some are censored"):
        results.loo_pit()
    with pytest.raises(NotSupported, match="pp_check needs .* some are censored"):
        results.pp_check()
    with pytest.raises(NotSupported, match="update: .* truncated outcomes bends"):
        results.update(frame[:5])


@pytest.mark.extended("ols- + s(z)", "poisson- + (1 | g)")
@pytest.mark.parametrize("rhs", [" + (1 | g)", " + s(z)"])
@pytest.mark.parametrize("name", ("ols", "poisson"))
def test_groups_and_smooths_stand_beside(name, rhs):
    """There is no difference between levels, and no curve: coefficients stay within half a sd."""
    results = getattr(sgmc, name)(formula(name, "both") + rhs, FRAME[name], **HOW)
    plain = getattr(sgmc, name)(formula(name, "both"), FRAME[name], **HOW)
    assert abs(results.params["x"] - plain.params["x"]) < 0.5 * plain.bse["x"]
    if rhs == " + (1 | g)":
        assert np.isfinite(results.loo(group="g").elpd)


@pytest.mark.parametrize(
    "name, part", [("ols", "sigma"), pytest.param("negativebinomial", "dispersion", marks=SLOW)]
)
def test_scales_have_predictors(name, part):
    results = getattr(sgmc, name)(formula(name, "both"), FRAME[name], **{part: "~ z"}, **HOW)
    number = getattr(sgmc, name)(formula(name, "both"), FRAME[name], **HOW)
    assert abs(results.params["x"] - number.params["x"]) < number.bse["x"]
    assert np.isfinite(results.loo().elpd)


def test_known_scales_are_held():
    frame = FRAME["ols"]
    results = sgmc.ols(formula("ols", "both"), frame, sigma=1.5, **HOW)
    eta = results.flat[:5, :1] + results.flat[:5, 1:2] * frame.x.to_numpy()
    expected = log_density("ols", ends("ols", "both", frame), eta, 1.5)
    np.testing.assert_allclose(np.asarray(results.log_lik())[:5], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", NAMES[:2])
def test_arrays_have_the_posterior_of_the_formula(name):
    frame = FRAME[name]
    y = sgmc.trunc(
        sgmc.cens(frame.y.to_numpy(), frame.c.to_numpy()), low=-1.0 if name == "ols" else 1
    )
    X = np.column_stack([np.ones(len(frame)), frame.x])
    found = CLASSES[name](y, X).fit(**HOW)
    results = getattr(sgmc, name)(formula(name, "both"), frame, **HOW)
    np.testing.assert_allclose(found.params, results.params, atol=0.3 * results.bse.min())


def test_truncation_is_exact_in_means():
    """Of a truncated normal law with known sigma and a flat prior the intercept at the mode has the
    sample's mean as its own (exponential families).
    """
    frame = table("ols", "truncated", 400)
    results = sgmc.ols("trunc(y, low=-1.0) ~ 1", frame, sigma=2.0, prior="flat", seed=1, draws=4000)
    mean, sigma = results.params["Intercept"], 2.0
    law = stats.truncnorm((-1 - mean) / sigma, np.inf, mean, sigma)
    assert abs(law.mean() - frame.y.mean()) < 0.1 * law.std() / np.sqrt(len(frame))


def test_what_does_not_go_with_it():
    frame = FRAME["ols"].assign(s=1.0)
    with pytest.raises(NotSupported, match="cens.. and trunc.. beside se"):
        sgmc.ols("trunc(y, low=-1) ~ x", frame, se="s")
    for verb, why in (("gamma", "all observed"), ("logit", "labels"), ("ordinal", "labels")):
        with pytest.raises(ArgumentError, match=f"do not apply to .*{why}"):
            getattr(sgmc, verb)("cens(y, c) ~ x", frame)


def test_a_group_of_which_nothing_is_seen_is_separated():
    """All outcomes of a level are censored on the right: no maximum, and with flat priors no
    posterior; so of counts without zeros that are all one.
    """
    rng, a = np.random.default_rng(0), np.arange(80) % 4 == 0
    frame = pd.DataFrame({"a": a.astype(int), "y": np.where(a, 2.5, rng.normal(size=80))})
    frame["c"], frame["k"] = np.where(a, "right", "none"), np.where(a, 1, rng.poisson(2, 80) + 1)
    for verb, text in ((sgmc.ols, "cens(y, c) ~ a"), (sgmc.poisson, "trunc(k, low=1) ~ a")):
        with pytest.warns(sgmc.errors.SeparationWarning):
            verb(text, frame, **HOW)
        with pytest.raises(DataError, match="the posterior is improper"):
            verb(text, frame, prior="flat")
