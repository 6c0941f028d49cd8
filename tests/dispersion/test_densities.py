"""Densities of counts whose dispersion has predictors: the compiled model and the family's own
against scipy's; derivatives, moments, simulated outcomes.
"""

import numpy as np
import pytest
from _ext.probes import Probe, block, listed
from scipy import stats

from sgmc.core.designs.design import design
from sgmc.models.regression.families.negativebinomial import (
    DispersionFamily,
    DispersionLog,
    NegativeBinomialLog,
)

COUNTS = np.array([0.0, 0.0, 1.0, 2.0, 9.0, 60.0])
PLACES = [(e, u) for e in (-3.0, -0.5, 0.0, 1.2, 3.5) for u in (-3.0, -0.4, 0.0, 1.4)]


def log_likelihood(y, eta, u):
    """log p by scipy."""
    a = np.exp(-u)
    return stats.nbinom(a, 1 / (1 + np.exp(eta + u))).logpmf(y)


def model(X, y, first, single=False, **how):
    """The compiled model."""
    return DispersionLog(design(X, single), y, predictor=np.arange(X.shape[1]) >= first, **how)


def test_densities_are_scipys():
    """To 1e-10; the compiled ones lack the factorials, which cancel between places."""
    compiled, off = Probe(model(np.ones((6, 2)), COUNTS, 1)), []
    for eta, u in PLACES:
        right = log_likelihood(COUNTS, eta, u)
        stack = np.broadcast_to(np.array([eta, u])[:, None, None], (2, 6, 1))
        found = DispersionFamily(1).log_density(COUNTS[:, None], stack)[:, 0]
        np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-10)
        off.append(compiled.value([eta, u], block(0, 6)) - right.sum())
    np.testing.assert_allclose(off, off[0], rtol=1e-10, atol=1e-9)


def test_exchanged_parts_and_a_turned_sign_are_seen():
    """Planted: the two predictors change places; alpha is its inverse."""
    right = log_likelihood(COUNTS, 0.9, -0.7)
    assert np.abs(log_likelihood(COUNTS, -0.7, 0.9) - right).max() > 0.1
    assert np.abs(log_likelihood(COUNTS, 0.9, 0.7) - right).max() > 0.1


def test_scores_are_slopes_of_scipys_densities():
    """By differences of fourth order: their error is 1e-9 of the largest."""
    probe, h = Probe(model(np.ones((6, 2)), COUNTS, 1)), 1e-3
    for eta, u in PLACES:
        scores = probe.scores([eta, u], block(0, 6))[0]
        for k, step in enumerate(([1, 0], [0, 1])):

            def at(times, step=step):
                return log_likelihood(COUNTS, eta + times * h * step[0], u + times * h * step[1])

            slopes = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
            np.testing.assert_allclose(scores[:, k], slopes, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_derivatives_are_those_of_the_value(dtype):
    """By differences, whose error is 1e-8; parts of three and two columns, an offset, weights."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 5)).astype(dtype), rng.choice(COUNTS, 40)
    how = dict(offset=rng.normal(size=40) / 3, weight=rng.random(40) + 0.5)
    one = model(X, y, 3, **how)
    probe, at, run = Probe(one), rng.normal(size=one.dim) / 2, listed([3, 30, 3, 0, 17, 8])
    steps = 1e-5 * np.eye(one.dim)
    wide = Probe(model(X.astype(float), y, 3, **how))
    for rows in (run, block(0, 40)):
        slopes = [(wide.value(at + e, rows) - wide.value(at - e, rows)) / 2e-5 for e in steps]
        bent = [(wide.gradient(at + e, rows) - wide.gradient(at - e, rows)) / 2e-5 for e in steps]
        close = dict(rtol=1e-5, atol=1e-5) if dtype == np.float64 else dict(rtol=1e-4, atol=2e-3)
        np.testing.assert_allclose(probe.gradient(at, rows), slopes, **close)
        np.testing.assert_allclose(probe.hessian(at, rows), -np.array(bent), **close)
    expected = probe.curvatures(at, block(0, 40), expected=True)
    assert np.linalg.eigvalsh(expected).min() > 0


def test_the_expected_curvature_of_the_mean_is_that_of_outcomes():
    """By sums over 0, .., 2000 to 1e-9; that by both is 0.  That of log alpha is a bound of the
    metric: within a factor of 2.5 for these places.
    """
    y = np.arange(2001.0)
    probe = Probe(model(np.ones((2001, 2)), y, 1))
    for eta, u in ((0.3, -1.0), (2.0, 0.2)):
        p = np.exp(log_likelihood(y, eta, u))
        mean = np.einsum("i,ijk", p, probe.curvatures([eta, u], block(0, 2001)).reshape(-1, 2, 2))
        metric = probe.curvatures([eta, u], block(0, 1), expected=True).reshape(2, 2)
        np.testing.assert_allclose(mean[0], metric[0], atol=1e-9)
        assert 0.4 < mean[1, 1] / metric[1, 1] < 2.5


def test_one_alpha_is_the_same_model():
    """Values, gradients and curvatures where the second part is an intercept, with an offset and
    weights.
    """
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 3)), rng.choice(COUNTS, 30)
    how = dict(offset=rng.normal(size=30) / 3, weight=rng.random(30) + 0.5)
    two = Probe(model(np.column_stack([X, np.ones(30)]), y, 3, **how))
    one, at, rows = (
        Probe(NegativeBinomialLog(design(X), y, **how)),
        rng.normal(size=4),
        block(0, 30),
    )
    for what in ("value", "gradient", "hessian"):
        np.testing.assert_allclose(
            getattr(two, what)(at, rows), getattr(one, what)(at, rows), 1e-12
        )


def test_an_offset_belongs_to_the_mean_alone():
    X, at = np.ones((6, 2)), np.array([0.1, -0.5])
    moved, plain = Probe(model(X, COUNTS, 1, offset=np.full(6, 0.3))), Probe(model(X, COUNTS, 1))
    there = plain.value(at + [0.3, 0], block(0, 6))
    assert moved.value(at, block(0, 6)) == pytest.approx(there, rel=1e-12)


def test_moments_and_simulated_outcomes():
    """By sums over 0, .., 3000 to 1e-9; 40,000 outcomes to five errors."""
    one, y = DispersionFamily(1), np.arange(3001.0)
    for eta, u in ((-2.0, 0.5), (1.3, -0.8)):
        p, stack = np.exp(log_likelihood(y, eta, u)), np.array([eta, u])[:, None, None]
        mean, sd = p @ y, np.sqrt(p @ y**2 - (p @ y) ** 2)
        assert one.mean(stack)[0, 0] == pytest.approx(mean, rel=1e-9)
        assert one.variance(stack)[0, 0] == pytest.approx(sd**2, rel=1e-9)
        many = np.broadcast_to(stack, (2, 1, 40_000))
        drawn = one.simulate(many, np.random.default_rng(1))[0]
        assert abs(drawn.mean() - mean) < 5 * sd / 200
        share = np.bincount(drawn.astype(int), minlength=4)[:4] / 40_000
        np.testing.assert_allclose(share, p[:4], atol=5 * 0.5 / 200)


def test_nothing_overflows():
    one = Probe(model(np.ones((6, 2)), COUNTS, 1))
    for eta in (-1e5, -700.0, 500.0, 1e5):
        for u in (-1e5, -300.0, 0.0, 300.0, 1e5):
            assert np.isfinite(one.value([eta, u], block(0, 6)))
            assert np.isfinite(one.gradient([eta, u], block(0, 6))).all()
            assert np.isfinite(one.hessian([eta, u], block(0, 6))).all()


def test_nearly_poisson_counts_have_curvatures_that_are_numbers():
    """With alpha so small that differences would cancel, the curvature by log alpha is that of
    alpha ((y - mu)^2 - y) / 2, which vanishes.
    """
    one = Probe(model(np.ones((6, 2)), COUNTS, 1))
    for u in (-10.0, -25.0, -60.0):
        mu = np.exp(1.2)
        right = -np.exp(u) * ((COUNTS - mu) ** 2 - COUNTS).sum() / 2
        found = one.hessian([1.2, u], block(0, 6))[1, 1]
        assert found == pytest.approx(
            right, rel=0.05 if u > -11 else 0, abs=1e-11 if u < -11 else 0
        )
