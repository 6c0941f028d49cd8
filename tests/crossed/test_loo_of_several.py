"""Leaving out levels whose effects are in several linear predictors: densities by grids of the
effects, and a model of one predictor, whose effects are integrated out by other code.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc
from sgmc.models.regression.latent.sampled.left_out_of_several import LevelsOfSeveral

from ..reference import families
from .test_several_predictors import TABLE, WITH_GROUPS

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
SOME = [3, 40, 77]  # of the whole draws
NODES = 160  # of a grid of an effect, 8 sds to each side


@pytest.fixture(scope="module")
def zeros():
    return sgmc.zeroinflated(WITH_GROUPS, TABLE, seed=1, chains=2, draws=100)


def grid(sds):
    """Points of a grid of effects with these sds, (q, nodes), and logs of their probabilities."""
    t = np.linspace(-8, 8, NODES)
    points = np.array(np.meshgrid(*[t] * len(sds), indexing="ij")).reshape(len(sds), -1)
    log_p = stats.norm.logpdf(points).sum(axis=0) + len(sds) * np.log(t[1] - t[0])
    return points, log_p


def found(results, factor):
    """Log densities of the levels of a factor at some draws, (level, draw)."""
    left = results.left_out(factor).with_draws(SOME)
    out = np.empty((left.n, len(SOME)))
    out[left.place(np.arange(left.n))] = left.densities(left.X[:, 0])[0]
    return out


def of_zeros(results, moved=0):
    """Those of the levels of h, of zero-inflated counts: of one effect, in the predictor of the
    zeros; `moved` to the other one where it is 1.
    """
    draws = results.ranef_draws("g")[SOME]
    theta = results.whole("test")[SOME]
    beta = results._fit.problem.coordinates.as_given(theta[:, :4])
    phi = theta[:, results._fit.problem.own.rows.blocks.phi]
    sds = results._fit.problem.own.effects.loading.root(phi)[:, 3, 3]
    out = np.empty((5, len(SOME)))
    for level in range(5):
        own = TABLE[TABLE.h == level]
        g, z, y = (own[name].to_numpy() for name in "gzy")
        for s, (b, u, sd) in enumerate(zip(beta, draws, sds)):
            points, log_p = grid([sd])
            eta = np.array([b[0] + b[1] * own.x + u[g, 0], b[2] + b[3] * z + u[g, 1] + u[g, 2] * z])
            eta = np.repeat(eta[..., None], points.shape[1], axis=2)
            eta[(1 + moved) % 2] += sd * points[0]
            value = [families.inflated(y, eta[..., k].T, None).sum() for k in range(NODES)]
            out[level, s] = special.logsumexp(value + log_p)
    return out


def test_zeros_have_the_density_of_a_grid(zeros):
    """Log densities of 120 rows to .002: of the nine nodes of an effect."""
    np.testing.assert_allclose(found(zeros, "h"), of_zeros(zeros), atol=2e-3)
    assert np.abs(found(zeros, "h") - of_zeros(zeros, moved=1)).max() > 0.1


def test_kinds_have_the_density_of_a_grid():
    """Of an effect in each equation: 49 nodes, to .005."""
    rng = np.random.default_rng(3)
    g, x = rng.integers(0, 5, 100), rng.normal(size=100)
    u = rng.normal(size=(2, 5))[:, g] + np.array([[0.5], [-0.5]]) * x
    kind = np.argmax(np.vstack([0 * x, u]) + rng.gumbel(size=(3, 100)), axis=0)
    d = pd.DataFrame({"kind": np.array(list("abc"))[kind], "x": x, "g": g})
    results = sgmc.mnlogit("kind ~ x + (1 | g)", d, seed=1, chains=2, draws=100)
    theta = results.whole("test")[SOME]
    beta = results._fit.problem.coordinates.as_given(theta[:, :4])
    phi = theta[:, results._fit.problem.own.rows.blocks.phi]
    sds = np.einsum("mii->mi", results._fit.problem.own.effects.loading.root(phi))
    wanted = np.empty((5, len(SOME)))
    for level in range(5):
        own, y = d[d.g == level], kind[d.g == level]
        for s, (b, sd) in enumerate(zip(beta, sds)):
            points, log_p = grid(sd)
            eta = [
                b[2 * k] + b[2 * k + 1] * own.x.to_numpy()[:, None] + sd[k] * points[k]
                for k in (0, 1)
            ]
            every = np.array([0 * eta[0], *eta])
            value = np.take_along_axis(every, y[None, :, None], 0)[0] - special.logsumexp(every, 0)
            wanted[level, s] = special.logsumexp(value.sum(axis=0) + log_p)
    np.testing.assert_allclose(found(results, True), wanted, atol=5e-3)


@pytest.fixture(scope="module")
def normal():
    """Normal outcomes of 15 levels, by the model of one predictor and by that of two."""
    rng = np.random.default_rng(4)
    g, x = np.arange(150) % 15, rng.normal(size=150)
    d = pd.DataFrame({"x": x, "g": g, "w": rng.integers(1, 3, 150)})
    d["y"] = 0.5 * x + rng.normal(size=15)[g] + 0.8 * rng.normal(size=150)
    how = dict(seed=2, chains=10, draws=300, weights="w")
    one = sgmc.ols("y ~ x + (1 | g)", d, **how)
    return one, sgmc.ols("y ~ x + (1 | g)", d, sigma="~ 1", **how)


def test_a_constant_scale_is_the_model_of_one_predictor(normal):
    """Whose log densities are closed forms: they differ by the prior of sigma, which 150 rows make
    no difference to, and by Monte Carlo errors, of which the sum's is told.
    """
    one, two = (results.loo(group=True) for results in normal)
    assert two.unit == "groups" and two.n == 15
    assert np.abs(one.elpd_i - two.elpd_i).max() < 0.25
    assert abs(one.elpd - two.elpd) < 4 * np.hypot(one.mcse, two.mcse) < 1


@pytest.mark.parametrize("mistake", ["own effect kept", "effects without a law"])
def test_mistakes_move_densities(normal, monkeypatch, mistake):
    one, joint = normal[0].loo(group=True), LevelsOfSeveral.joint
    if mistake == "own effect kept":
        plain = LevelsOfSeveral.plain

        def kept(self, rows, points, apart):
            held = self.problem.own.rows
            place = held.places(apart)[held.codes[rows, apart]][:, 0]
            return plain(self, rows, points, apart) + points[:, place].T

        monkeypatch.setattr(LevelsOfSeveral, "plain", kept)
    else:
        monkeypatch.setattr(
            LevelsOfSeveral,
            "joint",
            lambda self, *a: joint(self, *a) + 0.25 * (a[-1] ** 2).sum(axis=2),
        )
    found = normal[1].loo(group=True, seed=2)  # without a seed it is the one computed before
    assert np.abs(one.elpd_i - found.elpd_i).max() > 0.25
