"""Zero-variance control variates: exact on Gaussians, right and of less error elsewhere."""

import numpy as np
import pytest

from sgmc.diagnostics import control_variates, mcse
from sgmc.errors import ArgumentError


def test_control_variates_leave_no_error_on_a_gaussian():
    """Means by order 1, second moments by order 2, to rounding,
    from draws that are not even of the target.
    """
    rng = np.random.default_rng(13)
    mean = np.array([0.5, -1.0, 3.0])
    covariance = np.array([[1.0, 0.6, 0.1], [0.6, 2.0, 0.0], [0.1, 0.0, 0.5]])
    x = 1.5 * rng.normal(size=(100, 3))
    s = -(x - mean) @ np.linalg.inv(covariance)
    np.testing.assert_allclose(control_variates(x, s), np.tile(mean, (100, 1)), atol=1e-10)
    for options in ({}, {"folds": 4}, {"weights": rng.gamma(1.0, size=100)}):
        moments = control_variates(x, s, x[:, [0]] * x, order=2, **options)
        np.testing.assert_allclose(
            moments, np.tile(covariance[0] + mean[0] * mean, (100, 1)), atol=1e-9
        )
    units = np.array([1e-6, 1.0, 1e6])
    np.testing.assert_allclose(
        control_variates(x * units, s / units, x[:, 0], order=2), np.full(100, 0.5), atol=1e-9
    )


def logistic_sample(rng, n):
    """Draws of independent logistic variables (mean 0, variance pi^2 / 3)
    and scores -tanh(x / 2).
    """
    x = rng.logistic(size=(n, 2))
    return x, -np.tanh(x / 2)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("folds", [1, 5])
def test_control_variates_are_right_and_gain(order, folds):
    """200 samples of 500: z of the mean below 4; errors as the MCSE says (+- 15 %),
    and less than the plain ones.
    """
    rng = np.random.default_rng(14)
    means, errors, plain = [], [], []
    for _ in range(200):
        x, s = logistic_sample(rng, 500)
        values = np.column_stack([x[:, 0], x[:, 0] ** 2])
        better = control_variates(x, s, values, order=order, folds=folds)
        (
            means.append(better.mean(axis=0)),
            errors.append(mcse(better[None])),
            plain.append(values.mean(axis=0)),
        )
    means, plain, truth = np.array(means), np.array(plain), np.array([0, np.pi**2 / 3])
    z = (means.mean(axis=0) - truth) / (means.std(axis=0) / np.sqrt(200))
    assert (np.abs(z) < 4).all()
    np.testing.assert_allclose(np.mean(errors, axis=0), means.std(axis=0), rtol=0.15)
    gain = plain.var(axis=0) / means.var(axis=0)
    assert gain[0] > 5 and (gain[1] > 3 if order == 2 else gain[1] > 0.8)


def test_control_variates_need_the_laplacian_and_the_sign():
    """E(x s) = -1: without the 2 of 2 + 2 x s, or with scores of U,
    the second moment is off by more than 20 %.
    """
    x, s = logistic_sample(np.random.default_rng(15), 5000)
    Z = np.column_stack([s, 2 * x * s, x[:, 0] * s[:, 1] + x[:, 1] * s[:, 0]])
    y = x[:, 0] ** 2
    slope = np.linalg.lstsq(Z - Z.mean(axis=0), y - y.mean(), rcond=None)[0]
    wrong, right = (y - Z @ slope).mean(), control_variates(x, s, y, order=2).mean()
    assert abs(control_variates(x, -s, y, order=2).mean() - np.pi**2 / 3) > 0.2 * np.pi**2 / 3
    assert abs(right - np.pi**2 / 3) < 0.1 and abs(wrong - np.pi**2 / 3) > 0.2 * np.pi**2 / 3


def test_folds_take_coefficients_from_the_other_draws():
    rng = np.random.default_rng(16)
    x, w = rng.normal(0.2, 1.2, (300, 3)), rng.gamma(1.0, size=300)
    s = rng.normal(size=(300, 3)) - x
    y = np.sin(x[:, 0])
    done = control_variates(x, s, y, folds=3, weights=w)
    for k in range(3):
        own = np.arange(100 * k, 100 * k + 100)
        other = np.delete(np.arange(300), own)
        root = np.sqrt(w[other])
        design = np.column_stack([np.ones(200), s[other]]) * root[:, None]
        slope = np.linalg.lstsq(design, y[other] * root, rcond=None)[0][1:]
        np.testing.assert_allclose(done[own], y[own] - s[own] @ slope, rtol=1e-9)


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(order=3), "order must be 1 or 2"),
        (dict(folds=9), "folds must be an integer from 1 to 4"),
        (dict(values=np.ones(8)), "values must have a row a draw"),
        (dict(draws=np.ones((3, 2)), scores=np.ones((3, 2))), "2 controls need more than 3 draws"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    x = np.random.default_rng(17).normal(size=(9, 2))
    with pytest.raises(ArgumentError, match=message):
        control_variates(**({"draws": x, "scores": -x} | change))
