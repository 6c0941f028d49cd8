"""Posteriors at default settings against importance sampling in numpy, against truths of many rows,
and against fits with one number.
"""

import numpy as np
import pytest
from scipy import stats

import sgmc

from ..importance import apart
from .cases import FORMULAS, LAWS, SHIFT, fitted, reference, table

TRUE = np.array([0.3, -0.3, 0.4, -0.9, 0.3, 0.5])


@pytest.mark.extended("weibull", "lognormal", "loglogistic", "inversegaussian", "gaussianlog")
@pytest.mark.parametrize("name", LAWS)
def test_posteriors_are_right_at_default_settings(name):
    """0.1 sd and 5 % are promised; the reference has more than 4,000 effective draws, so that its
    own errors are below 0.03 sd and 2 %.
    """
    mean, sd, size = reference(name)
    assert size > 4_000
    off, wide = apart(fitted(name), mean, sd)
    assert off < 0.1 and wide < 0.05
    assert fitted(name).verdict.trustworthy


@pytest.mark.cover(0)
@pytest.mark.parametrize("mistake", ["exchanged", "sign", "jacobian"])
def test_mistakes_are_seen(mistake):
    """Planted in the reference: parts exchanged, the sign of the second predictor, the scale left
    out of the density.
    """
    mean, sd, _ = reference("ols", mistake)
    off, wide = apart(fitted("ols"), mean, sd)
    assert off > 0.5


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.extended
def test_many_rows_have_the_truth(name):
    """100,000 rows: means within 4 of their own sds, which are below 0.025, of the truth."""
    law, frame = LAWS[name], table(name, 100_000, 5)
    verb = getattr(sgmc, law.verb)
    results = verb(FORMULAS[0], frame, **{law.parameter: FORMULAS[1]}, **law.how, seed=1)
    true = TRUE + SHIFT.get(name, 0.0) * (np.arange(6) == 3)
    assert (np.abs(results.params - true) < 4 * results.bse).all() and results.bse.max() < 0.025
    assert results.verdict.trustworthy


@pytest.mark.extended
def test_censored_times_have_the_posterior_of_their_probabilities():
    """A third of the times censored on the right, by importance sampling: 0.1 sd and 5 %."""
    from ..importance import around_the_mode

    frame, rng = table("lognormal"), np.random.default_rng(8)
    end = np.exp(0.8 + 0.5 * rng.normal(size=len(frame)))
    seen = frame.y <= end
    frame = frame.assign(t=np.minimum(frame.y, end), event=seen.astype(int))
    assert 0.2 < 1 - seen.mean() < 0.5
    results = sgmc.survreg(
        "Surv(t, event) ~ x", frame, sigma="~ z", dist="lognormal", seed=1,
        prior=sgmc.normal(0, 1),
    )  # fmt: skip
    logs, z, x = np.log(frame.t.to_numpy()), frame.z.to_numpy(), frame.x.to_numpy()

    def value(points):
        eta = points[:, :1] + points[:, 1:2] * x
        zeta = points[:, 2:3] + points[:, 3:] * z
        w = (logs - eta) * np.exp(-zeta)
        total = np.where(seen, stats.norm.logpdf(w) - zeta, stats.norm.logsf(w)).sum(axis=1)
        total += stats.norm.logpdf(points[:, [1, 3]]).sum(axis=1)
        unit = np.std(logs)
        total += stats.norm.logpdf(points[:, 0] + points[:, 1] * x.mean(), logs.mean(), 2.5 * unit)
        middle = points[:, 2] + points[:, 3] * z.mean()
        return total + stats.norm.logpdf(middle, np.log(unit), 2.5)

    points, w = around_the_mode(value, np.array([0.3, 0.4, -0.9, 0.5]), np.ones(4))
    mean = w @ points
    off, wide = apart(results, mean, np.sqrt(w @ (points - mean) ** 2))
    assert off < 0.1 and wide < 0.05


@pytest.mark.extended
def test_degrees_of_freedom_are_learned_beside_predictors_of_sigma():
    """By importance sampling with log df the last coordinate: 0.1 sd and 6 % of its skewed law."""
    from ..importance import around_the_mode

    frame = table("rlm", 600, 9)
    results = sgmc.rlm("y ~ x", frame, sigma="~ z", df=None, seed=1, draws=8_000)
    assert results.names[-1] == "df"
    y, z, x = (frame[name].to_numpy() for name in "yzx")
    unit = np.std(y)

    def value(points):
        b, c, df = points[:, :2], points[:, 2:4], np.exp(points[:, 4:])
        eta, sigma = b[:, :1] + b[:, 1:] * x, np.exp(c[:, :1] + c[:, 1:] * z)
        total = stats.t.logpdf(y, df, eta, sigma).sum(axis=1)
        total += stats.norm.logpdf(b[:, 1], 0, 2.5 * unit / x.std(ddof=1))
        total += stats.norm.logpdf(c[:, 1], 0, 2.5 / z.std(ddof=1))
        total += stats.norm.logpdf(b[:, 0] + b[:, 1] * x.mean(), y.mean(), 2.5 * unit)
        total += stats.norm.logpdf(c[:, 0] + c[:, 1] * z.mean(), np.log(unit), 2.5)
        return total + stats.gamma.logpdf(df[:, 0], 2, scale=10) + points[:, 4]

    points, w = around_the_mode(value, np.array([0.3, 0.4, -0.9, 0.5, 1.5]), np.ones(5))
    points[:, 4] = np.exp(points[:, 4])
    mean = w @ points
    off, wide = apart(results, mean, np.sqrt(w @ (points - mean) ** 2))
    assert off < 0.1 and wide < 0.06


@pytest.mark.extended
def test_an_intercept_alone_is_one_sigma():
    """sigma = exp(gamma), the draws weighed by the ratio of the two priors: of sigma exponential
    against log sigma normal.  Errors of both runs together: 0.03 sd, 2 %.
    """
    frame = table("ols")
    two = sgmc.ols("y ~ x", frame, sigma="~ 1", seed=1)
    one = sgmc.ols("y ~ x", frame, seed=2)
    assert two.names == ["Intercept", "x", "sigma:Intercept"]
    draws, unit = two.flat.copy(), np.std(frame.y)
    u = draws[:, 2]
    log_w = u - np.exp(u) / unit - stats.norm.logpdf(u, np.log(unit), 2.5)
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    draws[:, 2] = np.exp(u)
    mean = w @ draws
    off, wide = apart(one, mean, np.sqrt(w @ (draws - mean) ** 2))
    assert off < 0.1 and wide < 0.06


def test_outcomes_in_other_units_have_the_same_posterior():
    """Priors move with the unit of the outcome: 1000 y has 1000 times the coefficients, and a log
    sigma larger by log 1000.  Errors of both runs: 0.06 sd.
    """
    frame = table("ols")
    plain = fitted("ols")
    large = sgmc.ols(FORMULAS[0], frame.assign(y=1000 * frame.y), sigma=FORMULAS[1], seed=1)
    moved = large.params.copy()
    moved.iloc[:3] /= 1000
    moved.iloc[3] -= np.log(1000)
    assert np.abs((moved - plain.params) / plain.bse).max() < 0.1
