"""Tied means (Welling & Teh 2011, section 5.1): gradient, and a posterior with two modes against
quadrature on a grid.
"""

import numpy as np
import pytest
from _ext import mistakes

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.errors import DataError

ROWS = 100
# four standard errors of 2,000 effective draws, in posterior sds and, of two modes' sd, relative
MEAN, SD = 0.09, 0.05
SGLD = dict(sampler="sgld", step_size=0.02, batch_size=50, thin=25)


@pytest.fixture(scope="module")
def y():
    rng = np.random.default_rng(29)  # two modes as far apart as in figure 1
    return rng.normal((rng.random(ROWS) < 0.5) * 1.0, np.sqrt(2))


@pytest.fixture(scope="module")
def exact(y):
    """Means and sds by the trapezium rule, to far below what is tested: the density is smooth and
    vanishes at the edges.
    """
    a, b = np.meshgrid(np.linspace(-4, 4, 401), np.linspace(-5, 5, 501), indexing="ij")
    log_p = (
        -(a**2) / 20
        - b**2 / 2
        + sum(np.logaddexp(-((one - a) ** 2) / 4, -((one - a - b) ** 2) / 4) for one in y)
    )
    p = np.exp(log_p - log_p.max())
    mean = np.array([np.average(a, weights=p), np.average(b, weights=p)])
    return (
        mean,
        np.sqrt(
            [np.average((a - mean[0]) ** 2, weights=p), np.average((b - mean[1]) ** 2, weights=p)]
        ),
        p,
    )


def departures(results, exact):
    """Largest errors of means, in posterior sds, and of sds, relative."""
    mean, sd, _ = exact
    return np.abs((results.params - mean) / sd).max(), np.abs(results.bse / sd - 1).max()


def test_the_posterior_has_two_modes(exact):
    """As in figure 1 of the paper."""
    p = exact[2][::2, ::2]  # a finer grid has steps along a ridge that is no grid line
    inner = p[1:-1, 1:-1]
    around = [
        p[1 + i : p.shape[0] - 1 + i, 1 + j : p.shape[1] - 1 + j]
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if i or j
    ]
    assert sum(np.all([inner > other for other in around], axis=0)[inner > 1e-3]) == 2


def test_value_and_gradient(y):
    kernel, rows = sgmc.TiedMeans(y).kernel(), np.array([3, 50, 7, 7])
    for theta in np.random.default_rng(2).normal(size=(5, 2)) * 3:
        value, grad = of_rows(kernel, theta, rows)
        density = (
            0.5
            * (
                np.exp(-((y[rows] - theta[0]) ** 2) / 4)
                + np.exp(-((y[rows] - theta.sum()) ** 2) / 4)
            )
            / np.sqrt(4 * np.pi)
        )
        assert value == pytest.approx(np.log(density).sum(), rel=1e-12)
        steps = 1e-6 * np.eye(2)
        slopes = [
            (of_rows(kernel, theta + h, rows)[0] - of_rows(kernel, theta - h, rows)[0]) / 2e-6
            for h in steps
        ]
        assert grad == pytest.approx(slopes, rel=1e-6, abs=1e-6)
    far = of_rows(kernel, [500.0, -1000.0])
    assert np.isfinite(far[0]) and np.isfinite(far[1]).all()


@pytest.mark.extended
@pytest.mark.parametrize(
    "sampler, draws", [("mala", 20_000), (sgmc.HMC(target_accept=0.95), 6000), ("barker", 15_000)]
)
def test_exact_samplers_find_both_modes(y, exact, sampler, draws):
    mean, sd = departures(sgmc.TiedMeans(y).fit(seed=1, sampler=sampler, draws=draws), exact)
    assert mean < MEAN and sd < SD


@pytest.mark.extended
def test_the_papers_sampler_with_minibatches(y, exact):
    """Means and sds are right, as they are those of two modes far apart; within each the draws are
    too wide, and the verdict says so.
    """
    results = sgmc.TiedMeans(y).fit(seed=1, draws=15_000, **SGLD)
    mean, sd = departures(results, exact)
    assert mean < MEAN and sd < SD
    assert "too wide, in their narrow directions" in results.verdict.text


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("sampler", ["mala", "sgld"])
def test_a_wrong_gradient_is_seen(y, exact, sampler, monkeypatch):
    """Where proposals are accepted or rejected, a wrong gradient only costs time:
    that one is seen by check_model, and when a fit starts.
    """
    right = sgmc.TiedMeans.kernel
    monkeypatch.setattr(sgmc.TiedMeans, "kernel", lambda self: mistakes.Untied(right(self)))
    assert "grad is wrong for 1 of 2 numbers, most for 'theta1'" in str(
        sgmc.check_model(sgmc.TiedMeans(y))
    )
    with pytest.raises(sgmc.errors.ArgumentError, match="grad is wrong for 1 of 2 numbers"):
        sgmc.TiedMeans(y).fit(seed=1, sampler=sampler)
    if sampler == "sgld":
        monkeypatch.setattr(sgmc.TiedMeans, "checked", False)
        assert departures(sgmc.TiedMeans(y).fit(seed=1, draws=5000, **SGLD), exact)[1] > 3 * SD


def test_what_it_refuses(y):
    with pytest.raises(DataError, match="y holds|y has"):
        sgmc.TiedMeans([1.0, np.nan])
    with pytest.raises(sgmc.errors.ArgumentError, match="variance=-1"):
        sgmc.TiedMeans(y, variance=-1)
