"""Scales and dispersions that are known: the posterior of the coefficients alone, and exact
samplers in continuous time on it.
"""

import numpy as np
import pandas as pd
import pytest
from _ext.probes import Probe, block
from scipy import special, stats

import sgmc
from sgmc.api import verbs
from sgmc.core.designs.design import design
from sgmc.errors import ArgumentError, NotSupported

N, D = 400, 3
rng = np.random.default_rng(8)
X = rng.normal(size=(N, D))
ETA = 0.3 + X @ [0.5, -0.4, 0.2]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
    real=ETA + 0.7 * rng.normal(size=N),
    heavy=ETA + 0.7 * rng.standard_t(4, size=N),
    counts=rng.negative_binomial(2, 1 / (1 + 0.5 * np.exp(ETA))).astype(float),
    positive=np.exp(ETA) * rng.gamma(4, 1 / 4, size=N),
    w=rng.integers(1, 4, size=N),
)
FRAME["share"] = rng.beta(8 * special.expit(ETA), 8 * special.expit(-ETA))
PRIOR = {"*": sgmc.normal(0, 2), "Intercept": sgmc.normal(0, 2)}
Z = np.column_stack([np.ones(N), X])
# verb, outcome, known, log density
CASES = {
    "ols": ("real", {"sigma": 0.7}, lambda y, eta: stats.norm.logpdf(y, eta, 0.7)),
    "rlm": ("heavy", {"sigma": 0.7, "df": 4}, lambda y, eta: stats.t.logpdf(y, 4, eta, 0.7)),
    "negativebinomial": (
        "counts",
        {"alpha": 0.5},
        lambda y, eta: stats.nbinom.logpmf(y, 2, 1 / (1 + 0.5 * np.exp(eta))),
    ),
    "gamma": (
        "positive",
        {"dispersion": 0.25},
        lambda y, eta: stats.gamma.logpdf(y, 4, scale=np.exp(eta) / 4),
    ),
    "inversegaussian": (
        "positive",
        {"dispersion": 0.3},
        lambda y, eta: stats.invgauss.logpdf(y, 0.3 * np.exp(eta), scale=1 / 0.3),
    ),
    "gaussianlog": (
        "positive",
        {"sigma": 0.9},
        lambda y, eta: stats.norm.logpdf(y, np.exp(eta), 0.9),
    ),
    "beta": (
        "share",
        {"phi": 8.0},
        lambda y, eta: stats.beta.logpdf(y, 8 * special.expit(eta), 8 * special.expit(-eta)),
    ),
}
BOUNDED = ("ols", "rlm", "negativebinomial")


def fit(name, **how):
    """A posterior of the coefficients."""
    outcome, known, _ = CASES[name]
    return getattr(verbs, name)(
        f"{outcome} ~ a + b + c", FRAME, prior=PRIOR, **{"seed": 1, **known, **how}
    )


def reference(name, results, **changed):
    """Mean and sd by importance sampling with 40,000 draws of a Student-t around the results' own
    moments.
    """
    outcome, _, log_density = CASES[name]
    law = stats.multivariate_t(
        results.params.to_numpy(), results.cov_params().to_numpy(), df=8, seed=4
    )
    theta = law.rvs(40_000)
    target = (
        np.array([log_density(FRAME[outcome].to_numpy(), Z @ t).sum() for t in theta])
        - (theta**2).sum(axis=1) / 8
    )
    weight = np.exp(target - law.logpdf(theta) - (target - law.logpdf(theta)).max())
    weight /= weight.sum()
    mean = weight @ theta
    return mean, np.sqrt(weight @ (theta - mean) ** 2)


@pytest.mark.extended
@pytest.mark.parametrize("name", CASES)
def test_posteriors_of_the_coefficients(name):
    """Means to 0.08 sd, sds to 6 %: four Monte Carlo errors of some 3,500 effective draws, 0.07 sd
    and 5 %, and the reference's own.
    """
    results = fit(name)
    mean, sd = reference(name, results)
    assert list(results.names) == ["Intercept", "a", "b", "c"] and results.model.family.known
    assert (np.abs(results.params - mean) / sd).max() < 0.08
    assert np.abs(results.bse / sd - 1).max() < 0.06
    (name_of_one, value), *_ = results.model.family.known.items()
    wrong = fit(name, **{name_of_one: 2 * value})  # a mistake: twice the value
    assert np.abs(wrong.bse / sd - 1).max() > 0.06


@pytest.mark.extended
@pytest.mark.parametrize("sampler", ["zzcv", "zigzag", "bps"])
@pytest.mark.parametrize("name", BOUNDED)
def test_exact_samplers_in_continuous_time(name, sampler):
    """Path means to 4.5 of their Monte Carlo errors, which 12 of a hundred thousand normal numbers
    exceed by their 4 coefficients.
    """
    results = fit(name, sampler=sampler, draws=1000)
    mean, sd = reference(name, fit(name))
    path = results.path_summary()
    assert (np.abs(path["mean"] - mean) < 4.5 * np.hypot(path["mcse"], 0.01 * sd)).all()
    assert np.abs(path["sd"] / sd - 1).max() < 0.15


@pytest.mark.parametrize("name", [name for name in CASES if name not in BOUNDED])
def test_no_bounds_no_events(name):
    with pytest.raises(
        NotSupported, match=f"zzcv does not apply to {name}.*without limit in the linear predictor"
    ):
        fit(name, sampler="zzcv")


def test_learned_ones_are_refused_with_the_way_out():
    with pytest.raises(
        NotSupported, match=r"zzcv does not apply to ols.*not where sigma= is given"
    ):
        sgmc.ols("real ~ a", FRAME, sampler="zzcv")


def test_ols_is_the_normal_posterior_in_closed_form():
    results = fit("ols", sampler="laplace", draws=4000)
    precision = Z.T @ Z / 0.49 + np.eye(4) / 4
    mean = np.linalg.solve(precision, Z.T @ FRAME.real.to_numpy() / 0.49)
    sd = np.sqrt(np.diag(np.linalg.inv(precision)))
    assert (np.abs(results.params - mean) / sd).max() < 4 / np.sqrt(16_000)
    assert np.abs(results.bse / sd - 1).max() < 4 / np.sqrt(32_000)


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_hold_and_are_reached(name):
    """Scores and curvatures on a grid stay below the bounds of each row,
    and come within 1 % of that of curvature.
    """
    outcome, known, _ = CASES[name]
    family = {"ols": sgmc.OLS, "rlm": sgmc.RLM, "negativebinomial": sgmc.NegativeBinomial}[
        name
    ].chosen_family(**known)
    model = family.kernel(
        design(np.ones((N, 1))), FRAME[outcome].to_numpy(), None, FRAME.w.to_numpy(float)
    )
    steep, sharpest = model.row_bounds()
    probe, every = Probe(model), block(0, N)
    grid = np.linspace(-12, 12, 2401)[:, None]
    score = np.max([np.abs(probe.scores(eta, every)[0][:, 0]) for eta in grid], axis=0)
    curvature = np.max([np.abs(probe.curvatures(eta, every)[:, 0, 0]) for eta in grid], axis=0)
    assert (score <= steep * (1 + 1e-12)).all()
    assert (curvature <= sharpest * (1 + 1e-12)).all()
    assert (curvature > 0.99 * sharpest).all()


def test_values_that_are_none():
    with pytest.raises(ArgumentError, match="sigma=-1 must be a positive number; give None"):
        sgmc.ols("real ~ a", FRAME, sigma=-1)
    with pytest.raises(ArgumentError, match="sigma is given, and df to be learned"):
        sgmc.rlm("heavy ~ a", FRAME, sigma=1.0, df=None)
    with pytest.raises(ArgumentError, match="sigma"):
        sgmc.ols("real ~ a", FRAME, sigma=1.0, prior={"sigma": sgmc.exponential(1)})
    with pytest.raises(TypeError, match="sigma"):
        sgmc.logit("counts > 0 ~ a", FRAME, sigma=1.0)


def test_results_know_it(tmp_path):
    results = fit("ols", draws=500)
    assert "Known, not sampled: sigma = 0.7." in str(results.summary())
    assert results.resid_pearson.std() == pytest.approx(
        results.resid_response.std() / 0.7, rel=1e-6
    )
    simulated = results.posterior_predict(FRAME, draws=200)
    assert np.std(
        np.asarray(simulated) - np.asarray(results.predict(FRAME))[None], axis=1
    ).mean() == pytest.approx(0.7, rel=0.05)
    results.save(tmp_path / "r.sgmc")
    again = sgmc.load(tmp_path / "r.sgmc")
    assert again.model.family.known == {"sigma": 0.7}
    np.testing.assert_array_equal(
        again.resume(draws=100, data=FRAME).draws, fit("ols", draws=600).draws
    )
    assert np.isfinite(results.loo().elpd)
    assert np.isfinite(results.llf)
    assert np.isfinite(results.deviance)
