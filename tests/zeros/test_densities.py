"""Densities of zero-inflated and hurdle counts: the compiled model and the family's own against
scipy's; moments, simulated outcomes, derivatives.
"""

import numpy as np
import pytest
from _ext.probes import Probe, block, listed
from scipy import special, stats

from sgmc.core.designs.design import design
from sgmc.models.regression.bases.predictors.zeros import CountsWithZeros
from sgmc.models.regression.families.hurdle import HurdleFamily
from sgmc.models.regression.families.zeroinflated import ZeroInflatedFamily

from .cases import DISTS, VERBS

FAMILIES = {"zeroinflated": ZeroInflatedFamily, "hurdle": HurdleFamily}
SIZES = {"poisson": 2, "negativebinomial": 3}
COUNTS = np.array([0.0, 0.0, 1.0, 2.0, 9.0, 60.0])
BOTH = [(verb, dist) for verb in VERBS for dist in DISTS]


def log_likelihood(verb, dist, y, eta, zeta, alpha):
    """log p of counts (n,) by scipy's distributions."""
    mu, pi = np.exp(eta), special.expit(zeta)
    count = (
        stats.poisson(mu) if dist == "poisson" else stats.nbinom(1 / alpha, 1 / (1 + alpha * mu))
    )
    none = count.pmf(0)
    if verb == "hurdle":
        return np.where(y == 0, np.log(pi), np.log1p(-pi) + count.logpmf(y) - count.logsf(0))
    return np.where(y == 0, np.log(pi + (1 - pi) * none), np.log1p(-pi) + count.logpmf(y))


def model(verb, dist, X, y, first, **how):
    """The compiled model."""
    return CountsWithZeros(
        design(X),
        y,
        predictor=np.arange(X.shape[1]) >= first,
        dispersed=dist != "poisson",
        hurdle=verb == "hurdle",
        **how,
    )


def places(dist):
    """(eta, zeta, alpha) of some places."""
    alphas = [0.05, 0.7, 4.0] if dist != "poisson" else [None]
    etas, zetas = (-3.0, -0.5, 0.0, 1.2, 3.5), (-4.0, 0.3, 3.0)
    return [(e, z, a) for e in etas for z in zetas for a in alphas]


@pytest.mark.parametrize("verb, dist", BOTH)
def test_densities_are_scipys(verb, dist):
    """To 1e-10; the compiled ones lack the factorials, which cancel between places."""
    one, found, expected = FAMILIES[verb](1, dist=dist), [], []
    compiled = Probe(model(verb, dist, np.ones((6, 2)), COUNTS, 1))
    for eta, zeta, alpha in places(dist):
        right = log_likelihood(verb, dist, COUNTS, eta, zeta, alpha)
        at = np.array([eta, zeta] if alpha is None else [eta, zeta, np.log(alpha)])
        stack = at[:, None, None]
        np.testing.assert_allclose(
            one.log_density(COUNTS[:, None], np.broadcast_to(stack, (len(stack), 6, 1)))[:, 0],
            right,
            rtol=1e-10,
            atol=1e-10,
        )
        found.append(compiled.value(at, block(0, 6)))
        expected.append(right.sum())
    off = np.array(found) - expected
    np.testing.assert_allclose(off, off[0], rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("verb", VERBS)
def test_rows_together_are_those_of_one_after_the_other(verb):
    """Of Poisson counts, of which 128 are computed together: to 1e-12 of the sum of sizes, and
    of scipy to 1e-9, as logs of differences from 1 lose digits there, where
    means go from 0.002 to 400 and many are close to log 2, beside which formulas change.
    """
    rng = np.random.default_rng(5)
    eta, zeta = rng.uniform(-6, 6, 300), rng.uniform(-8, 8, 300)
    eta[:100] = np.log(np.log(2)) + rng.normal(0, 1e-3, 100)
    y = rng.choice(COUNTS, 300)
    probe = Probe(model(verb, "poisson", np.column_stack([eta, zeta]), y, 1))
    value = probe.value(np.ones(2), block(0, 300))
    one = log_likelihood(verb, "poisson", y, eta, zeta, None) + special.gammaln(y + 1) * (y > 0)
    fine = np.isfinite(one)  # probabilities of scipy underflow
    assert fine.sum() > 250
    alone = np.array([probe.value(np.ones(2), block(i, 1)) for i in range(300)])
    size = 1 + np.abs(alone)
    np.testing.assert_allclose((alone - one)[fine] / size[fine], 0, atol=1e-9)
    assert abs(value - alone.sum()) < 1e-12 * size.sum()


@pytest.mark.parametrize("verb, dist", BOTH)
def test_another_part_is_seen(verb, dist):
    """Planted: the two parts change places."""
    right = log_likelihood(verb, dist, COUNTS, 0.4, -0.9, 0.7)
    wrong = log_likelihood(verb, dist, COUNTS, -0.9, 0.4, 0.7)
    assert np.abs(right - wrong).max() > 0.1


@pytest.mark.parametrize("verb, dist", BOTH)
def test_derivatives_are_those_of_the_value(verb, dist):
    """By differences, whose error is 1e-8; parts of three and two columns, an offset, weights."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 5)), rng.choice(COUNTS, 40)
    how = dict(offset=rng.normal(size=40) / 3, weight=rng.random(40) + 0.5)
    one = model(verb, dist, X, y, 3, **how)
    probe, at, run = Probe(one), rng.normal(size=one.dim) / 2, listed([3, 30, 3, 0, 17, 8])
    steps = 1e-5 * np.eye(one.dim)
    for rows in (run, block(0, 40)):
        slopes = [(probe.value(at + e, rows) - probe.value(at - e, rows)) / 2e-5 for e in steps]
        np.testing.assert_allclose(probe.gradient(at, rows), slopes, rtol=1e-6, atol=1e-5)
        bent = [(probe.gradient(at + e, rows) - probe.gradient(at - e, rows)) / 2e-5 for e in steps]
        np.testing.assert_allclose(probe.hessian(at, rows), -np.array(bent), rtol=1e-5, atol=1e-5)
    expected = probe.curvatures(at, block(0, 40), expected=True)
    assert np.linalg.eigvalsh(expected).min() > -1e-12


@pytest.mark.parametrize("verb, dist", BOTH)
def test_an_offset_belongs_to_the_count_alone(verb, dist):
    y, X = COUNTS, np.ones((6, 2))
    moved = Probe(model(verb, dist, X, y, 1, offset=np.full(6, 0.3)))
    plain, at = Probe(model(verb, dist, X, y, 1)), np.array([0.1, -0.5, 0.2][: SIZES[dist]])
    there = at + np.array([0.3, 0.0, 0.0][: len(at)])
    assert moved.value(at, block(0, 6)) == pytest.approx(plain.value(there, block(0, 6)), rel=1e-12)


@pytest.mark.parametrize("verb, dist", BOTH)
def test_moments_and_simulated_outcomes(verb, dist):
    """By sums over 0, .., 3000 to 1e-9; 40,000 outcomes to five errors."""
    one, y = FAMILIES[verb](1, dist=dist), np.arange(3001.0)
    for eta, zeta in ((-2.0, 0.5), (1.3, -0.8)):
        at = [eta, zeta] + [np.log(0.7)] * (dist != "poisson")
        p = np.exp(log_likelihood(verb, dist, y, eta, zeta, 0.7))
        stack = np.array(at)[:, None, None]
        mean, sd = p @ y, np.sqrt(p @ y**2 - (p @ y) ** 2)
        assert p.sum() == pytest.approx(1, abs=1e-9)
        assert one.mean(stack)[0, 0] == pytest.approx(mean, rel=1e-9)
        assert one.variance(stack)[0, 0] == pytest.approx(sd**2, rel=1e-9)
        assert one.zero_probability(stack)[0, 0] == pytest.approx(p[0], rel=1e-9)
        many = np.broadcast_to(stack, (len(at), 1, 40_000))
        drawn = one.simulate(many, np.random.default_rng(1))[0]
        assert abs(drawn.mean() - mean) < 5 * sd / 200
        share = np.bincount(drawn.astype(int), minlength=4)[:4] / 40_000
        np.testing.assert_allclose(share, p[:4], atol=5 * 0.5 / 200)


@pytest.mark.parametrize("verb, dist", BOTH)
def test_nothing_overflows(verb, dist):
    for eta in (-1e5, -700.0, 500.0, 1e5):
        for zeta in (-1e5, 0.0, 1e5):
            one = Probe(model(verb, dist, np.ones((6, 2)), COUNTS, 1))
            at = np.array([eta, zeta, 0.3][: SIZES[dist]])
            assert not np.isnan(one.value(at, block(0, 6)))
            assert np.isfinite(one.gradient(at, block(0, 6))).all()
