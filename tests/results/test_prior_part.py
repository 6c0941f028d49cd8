"""What the prior says alone, and its part of a posterior: against closed forms and ArviZ."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import sgmc
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.priors import distributions, savage_dickey, sensitivity

from . import conjugate

SPECS = [
    sgmc.normal(1, 2),
    sgmc.student_t(4, 1, 2),
    sgmc.cauchy(0, 1),
    sgmc.laplace(-1, 0.5),
    sgmc.gamma(2, scale=1.5),
    sgmc.inverse_gamma(3, scale=2),
    sgmc.exponential(scale=2),
    sgmc.half_normal(1.5),
    sgmc.half_t(4, 1.5),
    sgmc.horseshoe(scale=0.3, slab=2.0, autoscale=False),
]


@pytest.mark.extended
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_draws_have_the_density(spec):
    """Kolmogorov and Smirnov with 4,000 draws: p above 1e-3; of a scale x sqrt 2 it is below."""
    random = np.random.Generator(np.random.PCG64(1))
    draws = distributions.drawn(spec, 4000, random)
    low = 0.0 if spec.positive else -np.inf

    def density(x):
        return np.exp(distributions.log_density(spec, x))

    edges = [low, 0.0, np.inf] if low < 0 else [low, 1.0, np.inf]
    total = sum(integrate.quad(density, a, b, limit=200)[0] for a, b in zip(edges, edges[1:]))
    if spec.family != "horseshoe":  # whose slab has a constant of its own
        assert total == pytest.approx(1, abs=1e-6)
    grid = np.quantile(draws, np.linspace(0.02, 0.98, 49))
    ends = np.concatenate([[low], grid])
    between = [
        sum(integrate.quad(density, c, d, limit=200)[0] for c, d in zip(cut[:-1], cut[1:]))
        for a, b in zip(ends, ends[1:])
        for cut in [[a, 0.0, b] if a < 0 < b else [a, b]]
    ]
    expected = np.cumsum(between) / total
    apart = np.abs(expected - np.linspace(0.02, 0.98, 49)).max()
    assert apart < stats.kstwo.ppf(0.999, 4000)
    wide = distributions.drawn(spec, 4000, random) * np.sqrt(2)
    assert stats.ks_2samp(draws, wide).pvalue < 1e-3


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": rng.normal(5, 2, 400), "z": rng.normal(size=400)})
    return sgmc.OLS.from_formula("y ~ x + z", df.assign(y=3 + rng.normal(size=400)))


def test_prior_predictions_have_the_variance_of_the_priors(model):
    """4,000 draws: variances within 12 %, four Monte Carlo errors of heavy-tailed means."""
    given = {"*": sgmc.normal(0, 0.3), "sigma": sgmc.exponential(scale=1.5)}
    theta = model.prior_draws(given, draws=4000, seed=1)
    y = model.prior_predict(given, draws=4000, seed=1)
    frame = model.data.source.frame
    centred = frame[["x", "z"]] - frame[["x", "z"]].mean()
    sd = 2.5 * frame.y.std()
    wanted = sd**2 + 0.09 * (centred**2).sum(axis=1) + 2 * 1.5**2
    np.testing.assert_allclose(y.var(axis=0), wanted, rtol=0.12)
    assert theta["x"].std() == pytest.approx(0.3, rel=0.05)
    at_zero = np.sqrt(sd**2 + 0.09 * (frame[["x", "z"]].mean() ** 2).sum())
    assert theta["Intercept"].std() == pytest.approx(at_zero, rel=0.05)
    same = model.prior_draws(given, draws=4000, seed=1)
    assert theta.equals(same)


def test_priors_without_draws_are_named(model):
    with pytest.raises(ArgumentError, match="the prior of 'x', flat, has no draws"):
        model.prior_draws({"x": "flat"})
    with pytest.raises(ArgumentError, match="takes its scale from the outcomes: give scale="):
        model.prior_draws("horseshoe")
    with pytest.raises(NotSupported, match="regressions without group terms"):
        df = conjugate.frame()
        sgmc.OLS.from_formula("y ~ x + (1 | g)", df).prior_predict()


# ---- power scaling -------------------------------------------------------------------------------


def moved(which, j):
    """The sensitivity of a parameter by the normal laws of the powers, on a grid."""
    mean, covariance = conjugate.posterior()
    sd = np.sqrt(covariance[j, j])
    x = np.linspace(-12, 12, 200_001) * sd + mean[j]

    def distance(power):
        powers = {"prior_power": power} if which == "prior" else {"power": power}
        m, c = conjugate.posterior(**powers)
        values = []
        for sign in (1, -1):
            p = stats.norm.cdf(sign * x, sign * mean[j], sd)
            q = stats.norm.cdf(sign * x, sign * m[j], np.sqrt(c[j, j]))
            # the part beyond the draws is none of ArviZ's either
            inside = (x > mean[j] - 3.6 * sd) & (x < mean[j] + 3.6 * sd)
            p, q = p[inside], q[inside]
            middle = (p + q) / 2
            area = (p * np.log2(p / middle) + q * np.log2(q / middle)).sum()
            values.append(np.sqrt(area / (p + q).sum()))
        return max(values)

    low, high = sensitivity.ALPHAS
    return (-distance(low) / np.log2(low) + distance(high) / np.log2(high)) / 2


@pytest.mark.cover(0)
@pytest.mark.parametrize("which", ["prior", "likelihood"])
def test_sensitivity_is_that_of_the_normal_laws(which):
    """16,000 draws: within 10 %, of which the range of the draws is the larger part."""
    found = conjugate.fitted().sensitivity()[which]
    wanted = [moved(which, j) for j in range(3)]
    np.testing.assert_allclose(found, wanted, rtol=0.1, atol=2e-4)


def test_a_forgotten_prior_is_seen(monkeypatch):
    monkeypatch.setattr(sensitivity, "log_density", lambda spec, values: 0.5 * values**2)
    found = conjugate.fitted().sensitivity()["prior"]
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(found, [moved("prior", j) for j in range(3)], rtol=0.1)


def test_sensitivity_is_arviz_own():
    pytest.importorskip("arviz_base")
    stats_of = pytest.importorskip("arviz_stats")
    res = conjugate.fitted()
    theta = res.draws
    prior = sum(stats.norm.logpdf(theta[..., j], 0, sd) for j, sd in enumerate(conjugate.SDS))
    eta = theta @ conjugate.design().T
    density = stats.norm.logpdf(conjugate.frame().y.to_numpy(), eta, conjugate.SIGMA)
    data = __import__("arviz_base").from_dict(
        {"posterior": {"theta": theta}, "log_prior": {"p": prior}, "log_likelihood": {"y": density}}
    )
    found = res.sensitivity()
    for which in ("prior", "likelihood"):
        wanted = stats_of.psense(data, group=which)["theta"].to_numpy()
        # ArviZ takes the tail size of four chains, here they are one
        np.testing.assert_allclose(found[which], wanted, rtol=0.02, atol=2e-4)


def test_diagnoses():
    assert sensitivity.diagnosis(0.01, 0.2) == ""
    assert sensitivity.diagnosis(0.1, 0.2) == "prior and data disagree"
    assert sensitivity.diagnosis(0.1, 0.01) == "the prior decides, not the data"


# ---- Savage and Dickey ---------------------------------------------------------------------------

POINTS = {"z = 0": [0, 0, 1], "x = 0.5": [0, 1, 0], "x = z + 0.4": [0, 1, -1]}
VALUES = {"z = 0": 0.0, "x = 0.5": 0.5, "x = z + 0.4": 0.4}


def exact(statement, sds=conjugate.SDS):
    mean, covariance = conjugate.posterior()
    w = np.array(POINTS[statement], dtype=float)
    value = VALUES[statement]
    posterior = stats.norm.logpdf(value, w @ mean, np.sqrt(w @ covariance @ w))
    return posterior - stats.norm.logpdf(value, 0, np.sqrt(w**2 @ sds**2))


@pytest.mark.parametrize("statement", POINTS)
def test_bayes_factors_are_those_of_the_normal_laws(statement):
    """Within four Monte Carlo errors, and these below .1."""
    found = conjugate.fitted().bayes_factor(statement)
    assert found["mcse"] < 0.1
    assert found["log_BF01"] == pytest.approx(exact(statement), abs=4 * found["mcse"])
    # planted: a prior of another scale
    other = exact(statement, conjugate.SDS * 2)
    assert abs(found["log_BF01"] - other) > 4 * found["mcse"]


def test_densities_in_the_tail():
    """Of normal draws 2.5 sds out: a plain kernel estimate would be 8 % too large."""
    random = np.random.default_rng(1)
    found, error = savage_dickey.log_density_at_zero(random.normal(2.5, 1, (4, 20_000)), None)
    assert found == pytest.approx(stats.norm.logpdf(2.5), abs=3 * error + 0.01)
    assert error < 0.05


def test_points_without_an_answer_are_refused():
    res = conjugate.fitted()
    with pytest.raises(ArgumentError, match="must be an equation"):
        res.bayes_factor("x > 0")
    with pytest.raises(ArgumentError, match="effective draws are beyond that point"):
        res.bayes_factor("x = 5")
    flat = sgmc.ols(conjugate.FORMULA, conjugate.frame(), prior="flat", seed=1)
    with pytest.raises(ArgumentError, match="the prior of 'x' is flat"):
        flat.bayes_factor("x = 0.5")
    usual = conjugate.frame().drop(index=7)
    robust = sgmc.ols(conjugate.FORMULA, usual, cov_type="HC3", seed=1)
    for ask in (lambda: robust.bayes_factor("x = 0"), robust.sensitivity):
        with pytest.raises(NotSupported, match="does not apply to cov_type"):
            ask()


GROUPED = {
    "integrated": ("y ~ x + (1 + x | g)", ["g"]),
    "sampled": ("y ~ x + (1 | g) + (1 | h)", ["g", "h"]),
}


@pytest.fixture(scope="module", params=GROUPED)
def grouped(request):
    """A fit with effects of groups, and its table."""
    rng, n = np.random.default_rng(3), 240
    frame = pd.DataFrame(
        {"x": rng.normal(2, 1.5, n), "g": np.arange(n) % 12, "h": np.arange(n) % 7}
    )
    effects = rng.normal(size=12)[frame.g] + 0.6 * rng.normal(size=7)[frame.h]
    slopes = 0.5 * rng.normal(size=12)[frame.g] if request.param == "integrated" else 0.0
    frame["y"] = 1 + (0.3 + slopes) * frame.x + effects + rng.normal(size=n)
    formula, factors = GROUPED[request.param]
    prior = {"cor": sgmc.lkj(2)} if request.param == "integrated" else None
    return sgmc.ols(formula, frame, prior=prior, seed=1, draws=500), frame, factors


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_likelihoods_and_priors_are_those_of_joint_draws(grouped):
    """Log likelihoods given effects, and log priors but for a constant, by scipy."""
    fit, frame, factors = grouped
    theta = fit._joint_draws
    at = dict(zip(fit.names, theta.T))
    mean = at["Intercept"] + np.outer(frame.x, at["x"])
    for factor in factors:
        drawn = fit.ranef_draws(factor)[:, frame[factor]]
        Z = np.stack([np.ones(len(frame)), frame.x], axis=1)[:, : drawn.shape[2]]
        mean += np.einsum("mnq,nq->nm", drawn, Z)
    expected = stats.norm.logpdf(frame.y.to_numpy()[:, None], mean, at["sigma"]).sum(axis=0)
    found = sensitivity.log_likelihood(fit.table_rows())
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    unit, spread = frame.y.std(ddof=0), frame.x.std()
    prior = stats.norm.logpdf(
        at["Intercept"] + frame.x.mean() * at["x"], frame.y.mean(), 2.5 * unit
    )
    prior += stats.norm.logpdf(at["x"], 0, 2.5 * unit / spread)
    prior += stats.expon.logpdf(at["sigma"], scale=unit)
    for name in (one for one in fit.names if one.startswith("sd(")):
        scale = 2.5 * unit / (spread if "x|" in name else 1.0)
        prior += stats.t.logpdf(at[name], 3, 0, scale)
    if "cor(1,x|g)" in at:
        prior += np.log1p(-(at["cor(1,x|g)"] ** 2))
    assert np.ptp(sensitivity.log_prior(fit, theta) - prior) < 1e-6


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_points_beside_groups(grouped):
    """The density of the prior is the closed form's; that of the posterior is near a normal law's,
    within four Monte Carlo errors and a tenth, which tails of a t law with few groups may be off.
    """
    fit, frame, _ = grouped
    place = round(fit.params["x"] + fit.bse["x"], 3)
    found = fit.bayes_factor(f"x = {place}")
    scale = 2.5 * frame.y.std(ddof=0) / frame.x.std()
    assert found["log_prior"] == pytest.approx(stats.norm.logpdf(place, 0, scale), abs=1e-9)
    normal = stats.norm.logpdf(place, fit.params["x"], fit.bse["x"])
    assert abs(found["log_posterior"] - normal) < 4 * found["mcse"] + 0.1
    with pytest.raises(NotSupported, match="compare loo"):
        fit.bayes_factor("sd(1|g) = 0")
