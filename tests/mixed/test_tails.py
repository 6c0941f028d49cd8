"""Tails of sds of few groups: their index is known, and moments that exist are printed."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.coordinates.priors.prior_table import PriorTable
from sgmc.coordinates.priors.prior_tails import tail_bounds
from sgmc.errors import TailWarning

# yields of dyestuff by batch (Davies & Goldsmith 1972; lme4's Dyestuff)
BATCHES = np.array(
    [
        [1545, 1440, 1440, 1520, 1580],
        [1540, 1555, 1490, 1560, 1495],
        [1595, 1550, 1605, 1510, 1560],
        [1445, 1440, 1595, 1465, 1545],
        [1595, 1630, 1515, 1635, 1625],
        [1520, 1455, 1450, 1480, 1445],
    ],
    dtype=float,
)
PRIORS = {
    "Intercept": sgmc.normal(1500, 150),
    "sd(1|batch)": sgmc.half_t(3, 150),
    "sigma": sgmc.exponential(scale=60),
}


def log_marginal(tau, sigma, means, within, rows, location=1500.0, scale=150.0):
    """log p(y | tau, sigma) with a normal intercept integrated out, but for constants: means of
    groups are normal with variance v, and sums of squares within them.
    """
    v = tau**2 + sigma**2 / rows
    precision = len(means) / v + scale**-2.0
    centre = (means.sum() / v + location / scale**2) / precision
    square = ((means - centre) ** 2).sum() / v + ((centre - location) / scale) ** 2
    free = len(means) * (rows - 1)
    value = -0.5 * len(means) * np.log(v) - 0.5 * np.log(precision) - 0.5 * square
    return value - free * np.log(sigma) - 0.5 * within / sigma**2, centre, 1 / precision


def moments():
    """Mean and sd of intercept, sd of batches and sigma, by a grid of (log tau, log sigma)."""
    means = BATCHES.mean(axis=1)
    within = ((BATCHES - means[:, None]) ** 2).sum()
    logs = np.linspace(-6, 12, 3000), np.linspace(3.2, 5.0, 150)
    tau, sigma = (np.exp(a) for a in np.meshgrid(*logs, indexing="ij"))
    found = np.vectorize(lambda t, s: log_marginal(t, s, means, within, 5))(tau, sigma)
    value, centre, variance = found
    value += stats.t(3).logpdf(tau / 150) - sigma / 60 + np.log(tau) + np.log(sigma)
    p = np.exp(value - value.max())
    p /= p.sum()
    out = {}
    for name, one, extra in (
        ("Intercept", centre, variance),
        ("sd(1|batch)", tau, 0.0),
        ("sigma", sigma, 0.0),
    ):
        mean = (p * one).sum()
        out[name] = mean, np.sqrt((p * ((one - mean) ** 2 + extra)).sum())
    return out


@pytest.mark.parametrize("groups", [1, 3, 6])
def test_the_index_of_an_sd_by_quadrature(groups):
    """The density falls as the power -(3 + 1 + J) far out, and its tail as -(3 + J)."""
    means = np.random.default_rng(groups).normal(1500, 50, groups)
    far = np.array([1e6, 1e7])
    value = np.array([log_marginal(t, 50.0, means, 1e4, 5)[0] for t in far])
    value += stats.t(3).logpdf(far / 150)
    power = np.diff(value)[0] / np.log(10)
    priors = PriorTable(
        list(PRIORS), list(PRIORS.values()), list(PRIORS.values()), [0], True, auxiliary=1
    )
    bounds = tail_bounds(priors, list(PRIORS), {"sd(1|batch)": groups})
    assert bounds[1] == pytest.approx(-1 / (power + 1), rel=1e-3)
    assert bounds[2] == 0.0


@pytest.mark.parametrize(
    ("prior", "bound"),
    [
        (sgmc.normal(0, 1), 0.0),
        (sgmc.laplace(0, 1), 0.0),
        (sgmc.student_t(4, 0, 1), 0.25),
        (sgmc.cauchy(0, 1), 1.0),
        (sgmc.flat(), np.nan),
    ],
)
def test_bounds_of_other_priors(prior, bound):
    used = [sgmc.normal(0, 1), prior]
    priors = PriorTable(["a", "b"], used, used, [], False)
    np.testing.assert_equal(tail_bounds(priors, ["b", "a", "else"])[[0, 2]], [bound, np.nan])


@pytest.mark.extended
@pytest.mark.filterwarnings(
    "ignore::sgmc.errors.LowESSWarning", "ignore::sgmc.errors.GroupsWarning"
)
@pytest.mark.parametrize("seed", [1, 3])
def test_moments_of_six_batches_are_printed(seed, recwarn):
    """Means and sds by a grid; of some 600 effective draws, with index 1/9, means are right to
    .06 sd and sds to 10 %.
    """
    frame = {"batch": np.repeat(list("ABCDEF"), 5), "y": BATCHES.ravel()}
    found = sgmc.ols("y ~ 1 + (1|batch)", frame, seed=seed, prior=PRIORS, draws=2000)
    assert not any(isinstance(one.message, TailWarning) for one in recwarn)
    index = found.tail_index()
    assert (index <= 1 / 9 + 1e-12).all()
    for name, (mean, sd) in moments().items():
        assert abs(found.params[name] - mean) < 0.15 * sd, name
        assert found.bse[name] == pytest.approx(sd, rel=0.2), name
    assert " - " not in str(found.summary())


def test_estimates_stay_where_nothing_is_known():
    """A heavy tail under a flat prior is estimated as before."""
    priors = SimpleNamespace(
        families=["flat"],
        columns=lambda _: [1.0],
        monotone=[],
        bounds=lambda: (np.array([-np.inf]),) * 2,
        names=["b"],
        centred=False,
        intercepts=[],
        auxiliary=0,
    )
    assert np.isnan(tail_bounds(priors, ["b"])).all()
