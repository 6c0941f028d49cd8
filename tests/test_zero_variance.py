"""Zero-variance control variates: exact on Gaussians, right and of less error elsewhere."""

import numpy as np
import pytest
from scipy import signal, special, stats

import sgmc
from sgmc.diagnostics import control_variates, mcse
from sgmc.diagnostics.scores.zero_variance import error_terms
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


@pytest.mark.extended("1-2", "5-1", "5-2")
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


def chain(rng, n, d, correlation):
    """Draws of a chain whose variables are logs of gamma ones of shape 20, and their scores."""
    steps = rng.normal(size=(n, d)) * np.sqrt(1 - correlation**2)
    steps[0] /= np.sqrt(1 - correlation**2)
    normal = signal.lfilter([1], [1, -correlation], steps, axis=0)
    x = np.log(stats.gamma.ppf(stats.norm.cdf(normal), 20.0))
    return x, 20.0 - np.exp(x)


@pytest.mark.extended
@pytest.mark.parametrize("order, correlation", [(1, 0.5), (2, 0.5), (2, 0.85)])
def test_errors_count_what_coefficients_cost(order, correlation):
    """Root mean squares of 200 x 6 standardised errors; with 27 controls and about 80 effective
    draws the residuals alone give 1.3.
    """
    rng = np.random.default_rng(18)
    errors, alone = [], []
    for _ in range(200):
        x, s = chain(rng, 1000, 6, correlation)
        better = control_variates(x, s, order=order, folds=5)
        off = better.mean(axis=0) - special.digamma(20.0)
        errors.append(off / mcse(error_terms(x, s, better, order=order)[None]))
        alone.append(off / mcse(better[None]))
    assert 0.9 < np.sqrt(np.mean(np.square(errors))) < 1.1
    assert correlation < 0.8 or np.sqrt(np.mean(np.square(alone))) > 1.2


def test_weighted_factors_are_those_of_the_regression():
    """The factors are those of the formula, with weights of the draws."""
    rng = np.random.default_rng(19)
    x, w = rng.normal(size=(300, 2)), rng.gamma(1.0, size=300)
    s, w = 0.3 + rng.normal(size=(300, 2)) - x, w / w.sum()
    e = np.sin(x[:, 0])
    z, scaled = s - w @ s, np.diag(w)
    g = 1 - z @ np.linalg.solve(z.T @ scaled @ z, w @ s)
    terms = error_terms(x, s, e, weights=w)
    np.testing.assert_allclose(terms, w @ e + g * (e - w @ e), rtol=1e-9)


# ---- of a logit with one coefficient, whose mean is known by quadrature --------------------------


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_means_of_a_logit_have_honest_errors():
    """Root mean squares of 150 standardised errors, 1 +- 0.06, of both orders."""
    rng = np.random.default_rng(20)
    x = rng.normal(size=200)
    y = (rng.random(200) < special.expit(0.8 * x)).astype(float)
    b = np.linspace(-1, 3, 4001)
    density = -np.logaddexp(0, np.outer(b, x)).sum(axis=1) + b * (x @ y) - b**2 / 8
    truth = np.average(b, weights=np.exp(density - density.max()))
    model, errors = sgmc.Logit(y, x[:, None]), []
    for seed in range(150):
        fit = model.fit(prior=sgmc.normal(0, 2), sampler="mala", seed=seed)
        tables = [fit.zv_means(order).iloc[0] for order in (1, 2)]
        errors.append([(table["mean"] - truth) / table["mcse"] for table in tables])
    rms = np.sqrt(np.mean(np.square(errors), axis=0))
    assert (rms > 0.9).all() and (rms < 1.1).all(), rms


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(order=3), "order=3 must be one of 1, 2"),
        (dict(folds=9), "folds=9 must be a whole number from 1 to 4"),
        (dict(values=np.ones(8)), r"values has shape \(8, 1\); it must be \(9, k\)"),
        (dict(draws=np.ones((3, 2)), scores=np.ones((3, 2))), "2 controls need more than 3 draws"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    x = np.random.default_rng(17).normal(size=(9, 2))
    with pytest.raises(ArgumentError, match=message):
        control_variates(**({"draws": x, "scores": -x} | change))
