"""Measures of predictions and posteriors: calibration, agreement with a reference, components of an
ICA, breaking points.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sgmc.diagnostics import (
    amari_distance,
    breaking_interval,
    breaking_point,
    ece,
    instability,
    log_loss,
    mce,
    relative_sd_error,
    rmse,
    standardised_mean_error,
)
from sgmc.errors import ArgumentError, DataError

P = np.array([0.05, 0.15, 0.12, 0.55, 0.58, 0.95, 1.0])
Y = np.array([0, 0, 1, 1, 0, 1, 1])


def test_calibration_by_hand():
    """Bins of ten: 0.05 | 0.15 0.12 | 0.55 0.58 | 0.95 1.0; frequencies 0, 1/2, 1/2, 1."""
    gaps, counts = np.array([0.05, 0.5 - 0.135, 0.565 - 0.5, 0.025]), np.array([1, 2, 2, 2])
    assert ece(P, Y) == pytest.approx(gaps @ counts / 7, rel=1e-12)
    assert mce(P, Y) == pytest.approx(gaps.max(), rel=1e-12)
    assert (
        ece(P, Y, bins=1)
        == pytest.approx(abs(Y.mean() - P.mean()), rel=1e-12)
        == pytest.approx(mce(P, Y, bins=1), rel=1e-12)
    )
    assert log_loss(P, Y) == pytest.approx(
        -np.log([0.95, 0.85, 0.12, 0.55, 0.42, 0.95, 1.0]).mean(), rel=1e-12
    )
    assert log_loss([1.0, 0.5], [0, 1]) == np.inf
    assert rmse([1, 2, 4], [1, 0, 5]) == pytest.approx(np.sqrt(5 / 3), rel=1e-12)


def test_calibration_of_classes():
    """Confidence is that of the most probable class: rows (0.7 right, 0.6 wrong, 0.5 right)."""
    p, y = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.25, 0.25, 0.5]]), [0, 2, 2]
    assert ece(p, y) == pytest.approx((0.3 + 0.6 + 0.5) / 3, rel=1e-12)
    assert mce(p, y) == pytest.approx(0.6, rel=1e-12)
    assert log_loss(p, y) == pytest.approx(-np.log([0.7, 0.1, 0.5]).mean(), rel=1e-12)
    assert log_loss(np.column_stack([1 - P, P]), Y) == log_loss(P, Y)


def test_calibrated_predictions_have_small_errors():
    """100,000 rows: an error of a bin is about 0.005;
    probabilities pushed to the ends are found out.
    """
    rng = np.random.default_rng(1)
    p = rng.random(100_000)
    y = (rng.random(100_000) < p).astype(int)
    pushed = np.clip(1.5 * (p - 0.5) + 0.5, 0, 1)
    assert ece(p, y) < 0.01 and mce(p, y) < 0.02 and ece(pushed, y) > 0.08
    assert log_loss(p, y) < log_loss(np.clip(pushed, 1e-3, 1 - 1e-3), y)


@pytest.mark.parametrize("function", [ece, mce, log_loss])
@pytest.mark.parametrize(
    "p, y, message",
    [
        ([0.5, 1.5], [0, 1], "probabilities must be between 0 and 1"),
        ([[0.5, 0.4]], [0], "must sum to one"),
        ([0.5, 0.5], [0, 2], "outcomes must be"),
        ([0.5, 0.5], [0], "outcomes must be"),
        ([[0.5, 0.5]], [2], "the numbers 0 to 1"),
    ],
)
def test_calibration_refuses(function, p, y, message):
    with pytest.raises(DataError, match=message):
        function(p, y)


def test_other_refusals():
    with pytest.raises(ArgumentError, match="bins"):
        ece(P, Y, bins=0)
    with pytest.raises(ArgumentError, match=r"outcomes has shape \(1, 1\); it must be \(2, 1\)"):
        rmse([1.0, 2.0], [1.0])
    with pytest.raises(ArgumentError, match=r"reference has shape \(2,\); it must be \(1,\)"):
        relative_sd_error(([1.0], [1.0]), ([1.0, 2.0], [1.0, 1.0]))
    with pytest.raises(ArgumentError, match="result must be the results of a fit or a pair"):
        relative_sd_error(3, ([1.0], [1.0]))
    with pytest.raises(ArgumentError, match=r"sd of result has shape \(1,\); it must be \(2,\)"):
        relative_sd_error(([1.0, 2.0], [1.0]), ([1.0], [1.0]))
    with pytest.raises(ArgumentError, match="sds must be positive"):
        standardised_mean_error(([1.0], [1.0]), ([1.0], [0.0]))
    with pytest.raises(ArgumentError, match="not the same coefficients: a, b"):
        relative_sd_error(Moments({"a": 1.0}, {"a": 1.0}), Moments({"b": 1.0}, {"b": 1.0}))
    for function, one, other in (
        (amari_distance, np.ones((2, 3)), np.ones((2, 2))),
        (amari_distance, np.eye(2), np.eye(3)),
        (instability, np.ones((4, 2, 2)), np.ones((5, 3))),
    ):
        with pytest.raises(ArgumentError, match="must be"):
            function(one, other)
    with pytest.raises(DataError, match="zeros"):
        amari_distance(np.diag([1.0, 0.0]), np.eye(2))


class Moments:
    """What results say of their moments."""

    def __init__(self, params, bse):
        self.params, self.bse = pd.Series(params), pd.Series(bse)


def test_agreement_by_hand():
    one = Moments({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.2})
    other = Moments({"b": 1.0, "a": 1.5}, {"b": 2.0, "a": 1.0})
    assert relative_sd_error(one, other) == pytest.approx(0.2 / np.sqrt(5), rel=1e-12)
    np.testing.assert_allclose(standardised_mean_error(one, other), [-0.5, 0.5])
    np.testing.assert_allclose(standardised_mean_error(one, ([1.5, 1.0], [1.0, 2.0])), [-0.5, 0.5])
    assert relative_sd_error(one, one) == 0


def test_agreement_of_results(equal):
    pair = equal.params.to_numpy(), 1.1 * equal.bse.to_numpy()
    assert relative_sd_error(equal, pair) == pytest.approx(0.1 / 1.1, rel=1e-12)
    assert (standardised_mean_error(equal, equal) == 0).all()


# ---- independent components ----------------------------------------------------------------------


def test_amari_distance():
    """Zero for scaled permutations; by hand for P = (1, 1/2; 1/4, 2): (1/2 + 1/8) + (1/4 + 1/4)."""
    rng = np.random.default_rng(2)
    A = rng.normal(size=(4, 4))
    W = np.diag([2.0, -1, 0.1, 5]) @ np.eye(4)[[2, 0, 3, 1]] @ np.linalg.inv(A)
    assert amari_distance(W, A) == pytest.approx(0, abs=1e-12)
    assert amari_distance(np.array([[1, 0.5], [0.25, 2]]), np.eye(2)) == pytest.approx(
        1.125, rel=1e-12
    )
    # the largest: 2 d (d - 1)
    assert amari_distance(np.ones((3, 3)), np.eye(3)) == pytest.approx(12, rel=1e-12)
    many = amari_distance(np.stack([W, W + 0.1, W + 0.5]), A)
    assert many.shape == (3,) and many[1] == amari_distance(W + 0.1, A) and many[0] < many[1]


def test_instability():
    rng = np.random.default_rng(3)
    W, x = rng.normal(size=(500, 2, 3, 1))[..., 0], rng.normal(size=(900, 3)) * [1, 2, 3]
    W = np.concatenate([W, np.zeros((500, 1, 3))], axis=1) + np.eye(3)
    expected = [sum(W[:, i, j].var() * x[:, j].var() for j in range(3)) for i in range(3)]
    np.testing.assert_allclose(instability(W, x), expected, rtol=1e-12)
    assert instability(W, x)[2] == 0


# ---- breaking point of Barker dynamics -----------------------------------------------------------


def test_breaking_point_solves_its_equation():
    """Phi(|g| / tau) = logistic(|z g|), compared by the logarithms of both tails,
    which keep their digits.
    """
    z, g = np.meshgrid([-2.0, -0.3, 0.1, 1.0, 5.0], [-30.0, -1.0, 0.01, 0.5, 8.0])
    tau = breaking_point(z, g)
    np.testing.assert_allclose(
        stats.norm.logsf(np.abs(g) / tau), -np.logaddexp(0, np.abs(z * g)), rtol=1e-10
    )
    np.testing.assert_allclose(breaking_point(z), 1.702 / np.abs(z), rtol=1e-12)
    # no noise above it can be undone: the extreme rule's probability is then less than the wanted
    # one, and below it more
    assert (stats.norm.cdf(np.abs(g) / (1.01 * tau)) < 1 / (1 + np.exp(-np.abs(z * g))))[1:3].all()


def test_breaking_point_at_the_ends():
    """4 / (sqrt(2 pi) |z|) for no gradient, without a step where the expansion takes over; (|g| /
    2 |z|)^(1/2) for large ones.
    """
    assert breaking_point(0.5, 0.0) == pytest.approx(2 * 4 / np.sqrt(2 * np.pi), rel=1e-12)
    below, above = breaking_point(1.0, [0.99999e-4, 1.00001e-4])
    assert below == pytest.approx(above, rel=1e-9)
    assert breaking_point(1.0, 1e6) == pytest.approx(np.sqrt(1e6 / 2), rel=1e-4)
    assert breaking_point(0.0, 1.0) == np.inf


def test_estimate_of_the_breaking_point_is_near_it_for_usual_moves():
    """1.702 / |z| is 7 % above it where the gradient is small, and within 7 % up to |z g| = 3."""
    z = 0.7
    ratio = breaking_point(z) / breaking_point(z, np.linspace(0, 3 / z, 50))
    assert 1.06 < ratio[0] < 1.07 and (np.abs(ratio - 1) < 0.07).all()


def test_the_breaking_point_is_in_its_interval():
    """Over all products z g from 1e-3 to 100, and near both ends of the interval somewhere; with
    0.009 in the place of 0.0095 it is outside somewhere.  The interval as printed is wider and,
    from z g = 12 on, wrong.
    """
    z = np.geomspace(1e-3, 100, 4000)
    tau = breaking_point(z, 1.0)
    low, high = breaking_interval(z, 1.0)
    assert ((low < tau) & (tau < high)).all()
    p = stats.norm.cdf(z / 1.702)
    with np.errstate(divide="ignore"):
        nearer = 1 / stats.norm.ppf(np.minimum(p + 0.009, 1)), 1 / stats.norm.ppf(p - 0.009)
    assert ((tau < nearer[0]) | (tau > nearer[1]) & (nearer[1] > 0)).any()
    wide = breaking_interval(z, 1.0, published=True)
    assert (wide[0] <= low)[z < 4].all() and (wide[1] >= high)[z < 4].all()
    assert np.isinf(wide[1][z < 3.99]).all()
    assert (wide[1] < tau)[z > 12].all()
    np.testing.assert_array_equal(breaking_interval(-z, -1.0), (low, high))
    assert breaking_interval(0.0, 1.0) == (pytest.approx(1 / stats.norm.ppf(0.5095)), np.inf)
