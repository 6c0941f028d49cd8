"""Proposals of regressions with normal errors and effects that are correlated, or have many sds:
sums are those of dense matrices, and posteriors those of importance sampling, in which effects are
part of a dense covariance of the rows.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse, stats

import sgmc
from sgmc.coordinates.independent import axes, integrated
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.rows import correlated_sums

DRAWS = 2_000  # of each of 4 chains
LIMIT = 4.5  # Monte Carlo errors, of which numbers of the reference have some, too
PRIOR = {
    "*": sgmc.normal(0.2, 1.5, autoscale=False),
    "Intercept": sgmc.normal(0, 5, autoscale=False),
    "sd": sgmc.half_t(5, 1, autoscale=False),
    "sigma": sgmc.exponential(scale=0.8, autoscale=False),
}
CENTRE, SDS = np.array([0.0, 0.2]), np.array([5.0, 1.5])
PROPOSALS = 12_000


def table(slope=0.5, n=60, seed=3):
    """Rows of ten and five levels with correlated effects of the first."""
    random = np.random.default_rng(seed)
    g, h, x = random.integers(0, 10, n), random.integers(0, 5, n), random.normal(size=n)
    b = random.multivariate_normal([0, 0], [[0.8, 0.4 * slope], [0.4 * slope, slope**2]], 10)[g]
    y = 1 + 0.5 * x + b[:, 0] + b[:, 1] * x + 0.6 * random.normal(size=5)[h]
    y += 0.7 * random.normal(size=n)
    return pd.DataFrame({"g": g, "h": h, "x": x, "y": y, "w": random.integers(1, 3, n) * 1.0})


CASES = {
    "groups": ("y ~ x + (x | g)", table(), None),
    "a slope without effect": ("y ~ x + (x | g)", table(slope=0.0), None),
    "weights": ("y ~ x + (x | g)", table(), "w"),
    "crossed": ("y ~ x + (x | g) + (1 | h)", table(), None),
}
NAMES = ["Intercept", "x", "sd(1|g)", "sd(x|g)", "cor(1,x|g)", "sigma"]


@cache
def reference(name):
    """Means and sds of NAMES, mean predictions of the rows, and the share of proposals that weights
    leave.
    """
    formula, frame, weights = CASES[name]
    crossed, n = "h" in formula, len(frame)
    X = np.column_stack([np.ones(n), frame.x])
    levels = np.equal.outer(frame.g.to_numpy(), np.arange(10)).astype(float)
    others = np.equal.outer(frame.h.to_numpy(), np.arange(5)).astype(float)
    w = np.ones(n) if weights is None else frame[weights].to_numpy()
    y = frame.y.to_numpy()

    def log_density(at, moments=False):
        """Of logs of sds, atanh of the correlation and log sigma, (m, k)."""
        first, second, rho = np.exp(at[:, 0]), np.exp(at[:, 1]), np.tanh(at[:, 2])
        sigma, z = np.exp(at[:, 3]), frame.x.to_numpy()
        own = first[:, None, None] ** 2 + (rho * first * second)[:, None, None] * np.add.outer(z, z)
        own = own + (second**2)[:, None, None] * np.outer(z, z)
        V = own * (levels @ levels.T) + sigma[:, None, None] ** 2 * np.diag(1 / w)
        if crossed:
            V += np.exp(at[:, 4])[:, None, None] ** 2 * (others @ others.T)
        root = np.linalg.cholesky(V)
        e = np.linalg.solve(root, np.broadcast_to(np.c_[X, y - X @ CENTRE], (len(at), n, 3)))
        A = np.swapaxes(e[:, :, :2], 1, 2) @ e[:, :, :2] + np.diag(SDS**-2.0)
        pull = np.einsum("mni,mn->mi", e[:, :, :2], e[:, :, 2])
        mean = np.linalg.solve(A, pull[..., None])[..., 0]
        # a weight of two is two rows alike, whose residuals have two factors of sigma
        value = -np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1) - at[:, 3] * (w - 1).sum()
        value += -0.5 * (e[:, :, 2] ** 2).sum(axis=1) + 0.5 * (mean * pull).sum(axis=1)
        value -= 0.5 * np.linalg.slogdet(A)[1]
        sds = [first, second, *([np.exp(at[:, 4])] if crossed else [])]
        value += sum(stats.t.logpdf(one, 5) + np.log(one) for one in sds)
        value += np.log1p(-(rho**2)) - sigma / 0.8 + at[:, 3]  # the correlation's prior is even
        if not moments:
            return value
        left = e[:, :, 2] - np.einsum("mni,mi->mn", e[:, :, :2], mean)
        left = np.linalg.solve(np.swapaxes(root, 1, 2), left[..., None])[..., 0]
        predicted = y - sigma[:, None] ** 2 / w * left
        known = mean + CENTRE, first, second, rho, sigma, predicted
        return value, np.column_stack(known), np.linalg.inv(A)

    start = np.array([-0.3, -0.7, 0.3, -0.3, *([-0.5] if crossed else [])])
    mode = optimize.minimize(lambda one: -log_density(one[None])[0], start, method="BFGS")
    centre, scale = mode.x, mode.hess_inv + 0.01 * np.eye(len(start))
    for size in (2_000, 2_000, PROPOSALS):  # of a law around what the ones before show
        law = stats.multivariate_t(centre, scale, df=4, seed=1)
        at = law.rvs(size)
        parts = [log_density(one, moments=True) for one in np.array_split(at, 20)]
        value, points, inner = (np.concatenate(one) for one in zip(*parts))
        weight = value - law.logpdf(at)
        share = np.exp(weight - weight.max())
        share /= share.sum()
        centre = share @ at
        scale = (share[:, None] * (at - centre)).T @ (at - centre)
    mean = share @ points
    variance = share @ (points - mean) ** 2
    variance[:2] += share @ np.diagonal(inner, axis1=1, axis2=2)
    few, worth = len(NAMES), 1 / (share @ share) / PROPOSALS
    return mean[:few], np.sqrt(variance[:few]), mean[few:], worth


@cache
def fitted(name):
    """The default fit of a case."""
    formula, frame, weights = CASES[name]
    return sgmc.ols(formula, frame, weights=weights, prior=PRIOR, draws=DRAWS, seed=1)


def off(name):
    """Errors of means and of sds in their Monte Carlo errors."""
    results, (mean, sd, *_) = fitted(name), reference(name)
    draws = results.to_frame()[NAMES].to_numpy()
    n = results.ess()[NAMES].to_numpy()
    return (
        (draws.mean(axis=0) - mean) / sd * np.sqrt(n),
        (draws.std(axis=0) / sd - 1) * np.sqrt(n / 2),  # draws with a kurtosis of up to 9
    )


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("name", CASES)
def test_posteriors_are_those_of_importance_sampling(name):
    """Whose proposals are worth a fifth of as many draws at least: errors of 2 % of an sd.  Means
    of rows have sds of 0.5 at most: 0.07 is 4.5 Monte Carlo errors of 1,000 effective draws.
    """
    *_, predicted, worth = reference(name)
    assert worth > 0.2
    results = fitted(name)
    assert results.sampler == sgmc.IMH()
    assert results.verdict.trustworthy
    mean, sd = off(name)
    assert np.abs(mean).max() < LIMIT
    assert np.abs(sd).max() < LIMIT
    of_rows = results.fittedvalues.to_numpy()
    assert np.abs(of_rows - predicted).max() < 0.07


def wide_noise(monkeypatch):
    """Standard normal numbers of coefficients times sqrt 2."""
    given = integrated.ConditionallyNormal.given
    monkeypatch.setattr(
        integrated.ConditionallyNormal, "given", lambda self, at, z: given(self, at, 2**0.5 * z)
    )


def same_weights(monkeypatch):
    """Proposals taken for draws."""
    monkeypatch.setattr(
        axes.ProposedScales, "log_weights", lambda self, points: np.zeros(len(points))
    )


def uncorrelated(monkeypatch):
    """Roots of the effects' covariance without correlations."""
    root = Loading.root

    class Diagonal(Loading):
        def root(self, phi):
            return root(self, phi) * np.eye(self.q)

    monkeypatch.setattr(correlated_sums, "Loading", Diagonal)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("mistake", [wide_noise, same_weights, uncorrelated])
def test_mistakes_are_seen(mistake, monkeypatch):
    fitted.cache_clear()
    mistake(monkeypatch)
    try:
        mean, sd = off("groups")
    finally:
        fitted.cache_clear()
    assert max(np.abs(mean).max(), np.abs(sd).max()) > LIMIT


# ---- sums ----------------------------------------------------------------------------------------


def points(loading, count=5, seed=7):
    """Ratios of sds and coordinates of correlations."""
    random = np.random.default_rng(seed)
    first = np.exp(random.normal(size=(count, loading.q)))
    return np.c_[first, random.normal(size=(count, loading.size - loading.q))]


def dense(loading, terms, Z, columns, w, ratios):
    """Products of columns in units of the rows' covariance, and half the log of its determinant."""
    root, k = loading.root(ratios), Z.shape[1]
    whole = np.zeros((k, k))
    for places, first in terms:
        width = places.shape[1]
        for level in places:
            at = slice(first, first + width)
            whole[np.ix_(level, level)] = root[at, at]
    V = Z @ whole @ whole.T @ Z.T + np.diag(1 / w)
    logs = 0.5 * (np.linalg.slogdet(V)[1] + np.log(w).sum())
    return columns.T @ np.linalg.solve(V, columns), logs, whole


def test_sums_of_groups_are_those_of_dense_matrices():
    """To rounding errors; groups with the same covariates count together."""
    frame, w = table().sort_values("g"), np.repeat([1.0, 2.0], 30)
    n, loading = len(frame), Loading([(2, True)])
    Z = np.column_stack([np.ones(n), np.round(frame.x)])
    columns = np.column_stack([np.ones(n), frame.x, frame.y])
    starts = np.append(np.flatnonzero(np.diff(frame.g, prepend=-1)), n)
    sums = correlated_sums.CorrelatedSums.of(columns, Z, w, starts, loading)
    places = np.arange(20).reshape(10, 2)
    spread = np.zeros((n, 20))
    for row, level in enumerate(frame.g):
        spread[row, places[level]] = Z[row]
    found, logs = sums.at(points(loading))
    for k, ratios in enumerate(points(loading)):
        right, log, _ = dense(loading, [(places, 0)], spread, columns, w, ratios)
        np.testing.assert_allclose(found[k], right, rtol=1e-9, atol=1e-9)
        assert logs[k] == pytest.approx(log, rel=1e-9)


def crossed_design():
    """Columns of effects of two factors and of coefficients, terms, weights and loading."""
    frame = table()
    n, w = len(frame), np.random.default_rng(0).integers(1, 4, len(frame)).astype(float)
    loading = Loading([(2, True), (1, False), (2, True)])
    g, h = frame.g.to_numpy(), frame.h.to_numpy()
    terms = [
        (np.arange(20).reshape(10, 2), 0),
        (np.arange(20, 25).reshape(5, 1), 2),
        (np.arange(25, 35).reshape(5, 2), 3),
    ]
    Z, one = np.zeros((n, 35)), np.column_stack([np.ones(n), frame.x])
    for row in range(n):
        Z[row, terms[0][0][g[row]]] = one[row]
        Z[row, terms[1][0][h[row]]] = frame.x[row] ** 2
        Z[row, terms[2][0][h[row]]] = one[row]
    columns = np.column_stack([np.ones(n), frame.x, frame.y])
    return Z, columns, w, loading, terms


@pytest.mark.parametrize("apart", [0, 2])
def test_sums_of_crossed_effects_are_those_of_dense_matrices(apart):
    """With an elimination of the levels of a term, and without."""
    Z, columns, w, loading, terms = crossed_design()
    whole = sparse.csr_array(np.concatenate([Z, columns], axis=1))
    sums = correlated_sums.correlated_effect_sums(whole, w, loading, terms, apart)
    found, logs = sums.at(points(loading))
    for k, ratios in enumerate(points(loading)):
        right, log, _ = dense(loading, terms, Z, columns, w, ratios)
        np.testing.assert_allclose(found[k], right, rtol=1e-8, atol=1e-8)
        assert logs[k] == pytest.approx(log, rel=1e-9)


@pytest.mark.parametrize("apart", [0, 2])
def test_effects_have_the_law_of_dense_matrices(apart):
    """They are linear in standard normal numbers, whose images have the covariance, and in what is
    pulled, which leads to the mean: both to rounding errors.
    """
    Z, columns, w, loading, terms = crossed_design()
    whole = sparse.csr_array(np.concatenate([Z, columns], axis=1))
    sums = correlated_sums.correlated_effect_sums(whole, w, loading, terms, apart)
    ratios, pull = points(loading, 1), np.array([0.3, -0.2, 1.0])
    *_, root = dense(loading, terms, Z, columns, w, ratios[0])
    covariance = np.linalg.inv(np.linalg.inv(root @ root.T) + (Z.T * w) @ Z)
    m = sums.count
    z = np.concatenate([np.zeros((1, m)), np.eye(m)])
    found = sums.effects(np.repeat(ratios, m + 1, axis=0), np.tile(pull, (m + 1, 1)), z)
    mean = covariance @ (Z.T * w) @ (columns @ pull)
    np.testing.assert_allclose(found[0], mean, rtol=1e-7, atol=1e-9)
    moved = found[1:] - found[0]
    np.testing.assert_allclose(moved.T @ moved, covariance, rtol=1e-6, atol=1e-9)


# ---- the law of proposals ------------------------------------------------------------------------


def law(spread=None):
    """Of numbers whose first two are near zero and folded; the third turns with both."""
    root = np.array([[0.6, 0.0, 0.0], [0.2, 0.5, 0.0], [0.1, -0.2, 0.7]])

    def log_density(at):
        return -np.log1p(((at - np.array([0.4, 0.7, 0.2])) ** 2).sum(axis=1))

    made = axes.Axes(np.array([0.4, 0.7, 0.2]), root, root, 2, ((2, 0, 1),), spread)
    return made.along(log_density)


def sigma(head):
    """Of two effects whose correlation is a half."""
    return head[:, :, None] * head[:, None] * np.array([[1.0, 0.5], [0.5, 1.0]])


def apart(head):
    """Of two effects without one."""
    return head[:, :, None] * head[:, None] * np.eye(2)


SPREAD = axes.Spread(sigma, 2, np.array([[0.3]]), np.array([[1.1, -0.7]]))


@pytest.mark.parametrize(
    ("spread", "error"), [(None, 0.01), (SPREAD, 0.016)], ids=["alike", "by sds"]
)
def test_its_draws_have_its_density(spread, error):
    """A density over that of its draws has a mean of one, of densities within its reach, up to
    three standard errors of 200,000 draws.
    """
    made = law(spread)
    at = made(np.random.default_rng(1).normal(size=(200_000, 3)))
    assert (at[:, :2] > 0).all()
    volume = np.log(np.linalg.det(made.root))
    for centre in ([0.5, 0.6, 0.0], [0.05, 0.9, 0.4]):
        other = np.sum(stats.norm.logpdf(at, centre, 0.3), axis=1)
        inside = stats.norm.sf(0, centre[:2], 0.3).prod()
        share = np.exp(other - made.log_density(at) + volume) / inside
        assert share.mean() == pytest.approx(1, abs=3 * error)


def test_a_spread_that_is_left_out_is_seen():
    """Draws are of widths by the first numbers, and the density is not: a planted mistake."""
    made = law(SPREAD)
    at = made(np.random.default_rng(1).normal(size=(200_000, 3)))
    volume = np.log(np.linalg.det(made.root))
    other = np.sum(stats.norm.logpdf(at, [0.5, 0.6, 0.0], 0.3), axis=1)
    inside = stats.norm.sf(0, [0.5, 0.6], 0.3).prod()
    share = np.exp(other - (made.log_density(at) + made.widths(made.roots(at))) + volume) / inside
    assert abs(share.mean() - 1) > 0.1


def test_covariances_are_told_by_those_at_larger_sds():
    """Of that form they are so at any other point, up to rounding."""
    along = np.array([[0.8, 0.1], [-0.2, 0.6], [0.05, 0.0]])
    true = axes.Spread(apart, 2, np.diag([0.2, 0.3, 0.1]), along)
    places = np.array([[0.5, 0.7, 0, 0, 0], [1.5, 0.7, 0, 0, 0], [0.5, 1.9, 0, 0, 0]])
    found = axes.Spread.of(apart, 2, places, true(places))
    np.testing.assert_allclose(found.along, along, atol=1e-12)
    np.testing.assert_allclose(found(places + 1), true(places + 1), rtol=1e-9, atol=1e-12)


def test_a_fold_that_is_left_out_is_seen():
    """Density that falls on the other side of zero is missing: a planted mistake."""
    made = replace(law(), even=0, pairs=())
    at = law()(np.random.default_rng(1).normal(size=(200_000, 3)))
    volume = np.log(np.linalg.det(made.root))
    other = np.sum(stats.norm.logpdf(at, [0.05, 0.9, 0.4], 0.3), axis=1)
    inside = stats.norm.sf(0, [0.05, 0.9], 0.3).prod()
    share = np.exp(other - made.log_density(at) + volume) / inside
    assert abs(share.mean() - 1) > 0.1
