"""Posteriors of outcomes that are known in part against importance sampling with scipy's laws, and
planted mistakes.
"""

from functools import cache

import numpy as np
import pytest

import sgmc
from sgmc.arguments.data.limited import limited, numbers_of_ends
from tests.prior_scales import prior_scales

from ..importance import apart, around_the_mode
from ..reference.limited import log_density
from ..survival.tables import log_density as density_of_times
from ..survival.tables import outcomes
from ..survival.tables import simulated as times
from .cases import ends, formula, records, table

ROWS = 500
CASES = [
    (name, kind)
    for name in ("ols", "poisson", "negativebinomial")
    for kind in ("censored", "interval", "truncated", "between", "both")
]
FAST = [("ols", "both"), ("poisson", "truncated")]
SLOW = pytest.mark.extended


@cache
def fitted(name, kind):
    """Defaults only, but for draws enough to know sds to 1 %."""
    verb = getattr(sgmc, name)
    return verb(formula(name, kind), table(name, kind, ROWS, seed=4), seed=1, draws=3000)


@cache
def reference(name, kind, side=False, truncation=True):
    """Means and sds; `side` exchanges the sides of censoring, a mistake, as `truncation=False`."""
    frame = table(name, kind, ROWS, seed=4)
    one = ends(name, kind, frame)
    if side:
        y = frame.y.to_numpy()
        low, high = (np.where(np.isinf(end), y, np.inf * sign) for end, sign in zip(one, (-1, 1)))
        seen = one[0] == one[1]
        one = np.where(seen, y, low), np.where(seen, y, high), *one[2:]
    X = np.column_stack([np.ones(len(frame)), frame.x])
    numbers = numbers_of_ends(records(*ends(name, kind, frame)))  # of counts units are 1
    normal, counted = name == "ols", name == "poisson"
    unit, level = (numbers.std(), numbers.mean()) if normal else (1.0, 0.0)

    def log_posterior(theta):
        extra = 1.0 if counted else np.exp(theta[:, 2:])
        eta = theta[:, :2] @ X.T
        value = log_density(name, one, eta, extra, truncation).sum(axis=1)
        slope = theta[:, 1] * prior_scales(X[:, 1:])[0] / (2.5 * unit)
        middle = (theta[:, :2] @ X.mean(axis=0) - level) / (2.5 * unit)
        value = value - 0.5 * slope**2 - 0.5 * middle**2
        return value if counted else value + theta[:, 2] - np.exp(theta[:, 2]) / unit

    start = np.zeros(2 if counted else 3)
    start[0] = numbers.mean() if normal else np.log(numbers.mean())
    # mistakes are seen by five times as much as right numbers may be off, and more
    draws, size = 5_000 if (name, kind) in FAST else 8_000, 3_000
    if side or not truncation:
        draws, size = 1_000, 300
    points, weight = around_the_mode(log_posterior, start, np.full(len(start), 0.1), draws=draws)
    assert 1 / (weight**2).sum() > size
    points[:, 2:] = np.exp(points[:, 2:])
    mean = weight @ points
    return mean, np.sqrt(weight @ (points - mean) ** 2)


@pytest.mark.parametrize(
    "name, kind",
    [pytest.param(*one, marks=() if one in FAST else SLOW) for one in CASES],
)
def test_posteriors_are_right_at_default_settings(name, kind):
    """0.1 sd for means, 5 % for sds; errors of the references are below 0.02 sd and 2 %."""
    results = fitted(name, kind)
    mean, sd = apart(results, *reference(name, kind))
    assert mean < 0.1 and sd < 0.05
    assert results.verdict.trustworthy, results.verdict


@pytest.mark.parametrize("name, kind", [FAST[0], pytest.param("poisson", "both", marks=SLOW)])
def test_sides_that_are_exchanged_show(name, kind):
    assert apart(fitted(name, kind), *reference(name, kind, side=True))[0] > 1


@pytest.mark.parametrize(
    "name, kind", [*FAST, pytest.param("negativebinomial", "truncated", marks=SLOW)]
)
def test_a_normaliser_that_is_left_out_shows(name, kind):
    assert apart(fitted(name, kind), *reference(name, kind, truncation=False))[0] > 0.5


@pytest.mark.extended
@pytest.mark.parametrize("name", ("ols", "poisson", "negativebinomial"))
@pytest.mark.parametrize("kind", ("censored", "truncated"))
def test_the_truth_is_found_in_100_000_rows(name, kind):
    """Within four posterior sds of each parameter."""
    from .cases import ALPHA, COEFFICIENTS, SIGMA

    results = getattr(sgmc, name)(formula(name, kind), table(name, kind, 100_000), seed=1)
    truth = [*COEFFICIENTS[name], *{"ols": [SIGMA], "negativebinomial": [ALPHA]}.get(name, [])]
    assert (np.abs(results.params - truth) < 4 * results.bse).all()
    assert results.verdict.trustworthy, results.verdict


def test_what_the_formula_makes_is_what_is_written_out():
    """Of each kind the four ends, by hand."""
    from sgmc import formula as front

    for name, kind in CASES:
        frame = table(name, kind, ROWS)
        read = front.read(formula(name, kind), frame, outcome="numeric")
        for found, one in zip(ends(name, kind, frame), limited(read.y).dtype.names):
            expected = np.minimum(found, ends(name, kind, frame)[3]) if one == "high" else found
            np.testing.assert_array_equal(read.y[one], expected, err_msg=f"{name} {kind} {one}")


@cache
def delayed(n=400):
    """Weibull times of rows that were seen from an entry on."""
    frame = times("weibull", 2 * n, seed=5)
    entry = np.random.default_rng(6).uniform(0, 12, len(frame))
    return frame.assign(entry=entry)[frame.time > entry].head(n).reset_index(drop=True)


def of_times(results, frame, given=1.0):
    """Log likelihoods of times by scipy, (draw, row); `given=0` leaves the entries out."""
    eta = results.flat[:, :3] @ np.column_stack([np.ones(len(frame)), frame.a, frame.b]).T
    sigma = results.flat[:, 3:]
    law = density_of_times("weibull", outcomes(frame, "right"), eta, sigma)
    after = frame.entry.to_numpy() - 1j  # censored on the right at the entry
    return law - given * density_of_times("weibull", after, eta, sigma)


def test_times_count_given_that_rows_were_there():
    frame = delayed()
    results = sgmc.survreg("Surv(entry, time, event) ~ a + b", frame, seed=1)
    same = sgmc.survreg("trunc(Surv(time, event), low=entry) ~ a + b", frame, seed=1)
    np.testing.assert_array_equal(results.draws, same.draws)
    found = np.asarray(results.log_lik())
    np.testing.assert_allclose(found, of_times(results, frame), rtol=1e-8, atol=1e-8)
    assert np.abs(found - of_times(results, frame, given=0.0)).max() > 0.1  # planted
    truth = [2.0, 0.5, -0.8, 0.6]
    assert (np.abs(results.params - truth) < 3.5 * results.bse).all()
    without = sgmc.survreg("Surv(time, event) ~ a + b", frame, seed=1)
    assert (np.abs(without.params - truth) > 3.5 * without.bse).any()
    assert results.verdict.trustworthy, results.verdict
