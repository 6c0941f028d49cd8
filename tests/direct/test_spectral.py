"""Independent draws beside effects whose sds differ in a way that is learned: their density, and
draws of effects, against plain Gaussian algebra; the posterior against a grid.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.coordinates.independent.ratios import NormalByTotal
from sgmc.fit.settings import check_settings
from sgmc.models.regression.latent.sampled.independent import spectral_sums

EVERY = np.arange(14.0)
NEAR = {"a": ["b", "d"], "b": ["a", "c"], "c": ["b", "d"], "d": ["a", "c", "e"], "e": ["d"]}


@cache
def table():
    """90 rows of 14 times, of which two have none."""
    rng, n = np.random.default_rng(3), 90
    t = rng.choice(np.delete(EVERY, [4, 9]), n)
    t[:2] = 0, 13
    f = 0.7 * np.linalg.cholesky(by_lag(EVERY, 0.7)) @ rng.normal(size=14)
    frame = pd.DataFrame(dict(t=t, x=rng.normal(size=n), s=rng.uniform(size=n)))
    frame["region"], frame["w"] = rng.choice(list(NEAR), n), rng.integers(1, 4, n)
    mean = 0.5 + f[t.astype(int)] + 0.4 * frame.x + np.sin(7 * frame.s)
    return frame.assign(y=mean + 0.3 * rng.normal(size=n))


def by_lag(t, rho):
    """Covariances of an autoregression with an sd of one."""
    return float(rho) ** np.abs(np.subtract.outer(t, t))


def made(text, **how):
    """The problem with a transport."""
    frame = table()
    data = sgmc.OLS.from_formula(f"y ~ {text}", frame, scope={"g": NEAR}, **how)
    return data.problem(None, check_settings(seed=1))


CASES = {
    "a series": "x + ar1(t)",
    "a process": "x + gp(s)",
    "regions": "x + bym2(region, g)",
}


def marginal(problem, psi, u):
    """Log densities (n,) of (phi, eta, u) at points, coefficients and effects integrated out by the
    covariance of all rows, up to a constant; in the table's coordinates.
    """
    moved, blocks, rows = problem.transport, problem.own.rows.blocks, problem.own.rows
    X, weight = rows.fixed.X, rows.fixed.weight
    weight = np.ones(len(X)) if weight is None else weight
    each = np.repeat(np.arange(len(X)), weight.astype(int))  # weights are frequencies
    X, Z, y = X[each], rows.curves[each], rows.fixed.y[each]
    e, q, out = y - X @ moved.beta, moved.ratios.q, []
    for point, log_sigma in zip(psi, u):
        phi = moved.phi(point[None, :q], np.array([[log_sigma]]))[0, 0]
        theta = np.zeros(blocks.size)
        theta[blocks.phi], theta[blocks.eta] = phi, point[q:]
        sds = np.abs(blocks.loading.sds(phi))[np.asarray(blocks.number)]
        # the covariance of effects is that of the prior, by its curvature
        K = np.linalg.inv(precision_of(problem, theta) + 1e-300 * np.eye(len(sds)))
        V = Z @ K @ Z.T + np.exp(2 * log_sigma) * np.eye(len(e))
        inner = X.T @ np.linalg.solve(V, X) + moved.precision
        pull = X.T @ np.linalg.solve(V, e) + moved.slope
        value = 0.5 * pull @ np.linalg.solve(inner, pull) - 0.5 * e @ np.linalg.solve(V, e)
        value -= 0.5 * (np.linalg.slogdet(V)[1] + np.linalg.slogdet(inner)[1])
        out.append(value + moved.of_scales(point[None], np.array([[log_sigma]]))[0, 0])
    return np.array(out)


def precision_of(problem, theta):
    """Minus the second derivatives of the prior by the effects: it is quadratic in them."""
    from sgmc.core.expansion import of_prior

    blocks = problem.own.rows.blocks
    own = np.arange(blocks.d, blocks.d + blocks.effects)
    zero, out = of_prior(problem.prior, theta)[1][own], []
    for j in own:
        moved = theta.copy()
        moved[j] = 1.0
        out.append(zero - of_prior(problem.prior, moved)[1][own])
    return np.array(out)


def apart(problem, seed=0):
    """Largest difference of log densities but for a constant."""
    moved, rng = problem.transport, np.random.default_rng(seed)
    points = moved.grid(rng.normal(size=(12, len(moved.grid.low))))
    ours = moved.log_density(points[:, :-1], points[:, -1:])[:, 0]
    u = moved.log_sigma(points[:, :-1], points[:, -1:])[:, 0]
    return np.ptp(ours - marginal(problem, points[:, :-1], u))


@pytest.mark.parametrize("weights", [None, "w"], ids=["each row once", "weights"])
@pytest.mark.parametrize("case", CASES)
def test_densities_are_those_of_gaussian_algebra(case, weights):
    """To rounding, of which the reference's inverses have 3e-6 nats for a process."""
    problem = made(CASES[case], weights=weights)
    assert isinstance(problem.transport, NormalByTotal)
    assert apart(problem) < 1e-5


def test_mistakes_in_the_sums_are_seen(monkeypatch):
    """Of a step between times without rows; of the determinant; of sds that differ."""
    problem = made(CASES["a series"])
    filtered = spectral_sums.SeriesSums.filtered

    def shorter(self, r, rho, series):
        return filtered(self, r, 0.99 * rho, series)

    monkeypatch.setattr(spectral_sums.SeriesSums, "filtered", shorter)
    assert apart(problem) > 1e-3
    monkeypatch.setattr(spectral_sums.SeriesSums, "filtered", filtered)
    few = spectral_sums.SeriesSums.of_few
    monkeypatch.setattr(
        spectral_sums.SeriesSums, "of_few", lambda self, r: (few(self, r)[0], 1.1 * few(self, r)[1])
    )
    assert apart(problem) > 1e-3
    problem = made(CASES["a process"])
    monkeypatch.setattr(
        spectral_sums.SpectralSums, "of_others", lambda self, r: r[:, self.own].copy()
    )
    assert apart(problem) > 1e-3


def moments(problem, count=6000):
    """Mean and covariance of effects over sigma by many draws, and by Gaussian algebra, at one
    point of (psi, u) and of the coefficients.
    """
    moved, blocks, rows = problem.transport, problem.own.rows.blocks, problem.own.rows
    rng = np.random.default_rng(2)
    point = moved.grid(np.zeros((1, len(moved.grid.low))))
    psi = point[:, :-1]
    u = moved.log_sigma(psi, point[:, -1:])[0, 0]
    pull = np.append(rng.normal(size=blocks.d), 1.0)
    scales = np.repeat(moved.scales(psi), count, axis=0)
    z = rng.normal(size=(count, blocks.effects))
    draws = moved.sums.effects(scales, np.tile(pull, (count, 1)), z)
    theta = np.zeros(blocks.size)
    theta[blocks.phi] = moved.phi(psi[:, : moved.ratios.q], np.array([[u]]))[0, 0]
    theta[blocks.eta] = psi[0, moved.ratios.q :]
    X, Z = rows.fixed.X, rows.curves
    e = np.column_stack([X, rows.fixed.y - X @ moved.beta]) @ pull
    covariance = np.linalg.inv(Z.T @ Z + np.exp(2 * u) * precision_of(problem, theta))
    return draws, covariance @ (Z.T @ e), covariance


@pytest.mark.parametrize("case", CASES)
def test_effects_are_drawn_given_all_else(case, monkeypatch):
    """6,000 draws: means to .052 sd, four of their standard errors, and variances to 7 %; those of
    a series whose filter has other variances are not.
    """
    problem = made(CASES[case])

    def off():
        draws, mean, covariance = moments(problem)
        sd = np.sqrt(np.diag(covariance))
        # along the effects and along directions of them, which have other covariances
        away = (draws - mean) @ np.linalg.inv(np.linalg.cholesky(covariance)).T
        one = np.abs((draws.mean(axis=0) - mean) / sd).max(), np.abs(away.mean(axis=0)).max()
        return max(one), np.abs(away.var(axis=0) - 1).max()

    means, variances = off()
    assert means < 0.052 and variances < 0.075
    if case != "a series":
        return
    filtered = spectral_sums.SeriesSums.filtered
    monkeypatch.setattr(
        spectral_sums.SeriesSums,
        "filtered",
        lambda self, r, rho, series: (
            (variance, mean, 1.2 * left, known)
            for variance, mean, left, known in filtered(self, r, rho, series)
        ),
    )
    assert off()[1] > 0.11


def test_series_with_a_vague_sigma_have_the_posterior_of_a_grid():
    """One row a time leaves sigma and the correlation to each other, down to a sigma of zero: 4,000
    independent draws have means to .016 sd and sds to 1.5 %, three times that are allowed.  Chains
    that stay away from zero are off by .9 sd of sigma (hmc of 4,000 draws).
    """
    rng, n = np.random.default_rng(1), 60
    e = np.linalg.cholesky(by_lag(np.arange(n), 0.7)) @ rng.normal(size=n)
    frame = pd.DataFrame(dict(t=np.arange(n), y=e + 0.5 * rng.normal(size=n)))
    prior = {
        "Intercept": sgmc.normal(0, 2),
        "sd": sgmc.half_normal(1),
        "sigma": sgmc.exponential(scale=1),
    }
    res = sgmc.ols("y ~ ar1(t)", frame, prior=prior, seed=1)
    assert res.verdict.trustworthy
    names = ["sd(ar1(t))", "rho(ar1(t))", "sigma"]
    mean, sd = by_grid(frame.y.to_numpy())
    np.testing.assert_allclose((res.params[names] - mean) / sd, 0.0, atol=0.05)
    np.testing.assert_allclose(res.bse[names], sd, rtol=0.05)
    mean, sd = by_grid(frame.y.to_numpy(), power=2.0)
    assert np.abs((res.params[names] - mean) / sd).max() > 0.1


def by_grid(y, power=1.0):
    """Means and sds of (sd, rho, sigma); `power` is that of 1 - rho^2 in the prior."""
    n = len(y)
    sds, rhos = np.linspace(0.02, 3, 60), np.linspace(-0.97, 0.985, 60)
    sigmas = np.linspace(0.005, 1.6, 60)
    points, weight = [], []
    for rho in rhos:
        values, vectors = np.linalg.eigh(by_lag(np.arange(n), rho))
        white, one = vectors.T @ y, vectors.sum(axis=0)
        s, g = np.meshgrid(sds, sigmas, indexing="ij")
        v = s[..., None] ** 2 * values + g[..., None] ** 2
        told, pull = (one**2 / v).sum(-1) + 0.25, (one * white / v).sum(-1)
        value = 0.5 * (pull**2 / told - (white**2 / v).sum(-1) - np.log(v).sum(-1) - np.log(told))
        value += stats.halfnorm.logpdf(s) - g + power * np.log1p(-(rho**2))
        weight.append(value.ravel())
        points.append(np.column_stack([s.ravel(), np.full(s.size, rho), g.ravel()]))
    weight = np.concatenate(weight)
    weight = np.exp(weight - weight.max())
    points = np.concatenate(points)
    mean = np.average(points, axis=0, weights=weight)
    return mean, np.sqrt(np.average((points - mean) ** 2, axis=0, weights=weight))
