"""Whitening by an arrow-shaped precision, against dense algebra."""

import numpy as np
import pandas as pd
import pytest
from _ext import probes
from scipy import sparse

import sgmc
from sgmc import formula
from sgmc.coordinates.transforms.maps import Affine
from sgmc.coordinates.whitened.arrow import FEWEST_TIPS, Arrow
from sgmc.errors import DataError

TIPS, BORDER, ROWS = 30, 5, 200


@pytest.fixture
def arrow():
    """(centre, precision, tips) of dummies of a factor among columns of numbers."""
    rng = np.random.default_rng(0)
    d = TIPS + BORDER
    tips = np.sort(rng.permutation(d)[:TIPS])
    X = rng.normal(size=(ROWS, d))
    X[:, tips] = 0
    X[np.arange(ROWS), rng.choice(tips, ROWS)] = 1
    X[:, np.setdiff1d(np.arange(d), tips)[0]] = np.arange(ROWS) < 20  # zero in some of the levels
    return rng.normal(size=d), X.T @ X + 0.1 * np.eye(d), tips


def test_it_whitens(arrow):
    """To rounding, which a condition number of 1e4 leaves 1e-12 of."""
    centre, H, tips = arrow
    found = Arrow.of_matrix(*arrow)
    L = found.jacobian(centre)
    np.testing.assert_allclose(L.T @ H @ L, np.eye(len(H)), atol=1e-11)
    x = np.random.default_rng(1).normal(size=(2, 3, len(H)))
    np.testing.assert_allclose(found(x), x @ L.T + centre, atol=1e-12)
    np.testing.assert_allclose(found.inverse(found(x[0, 0])), x[0, 0], atol=1e-11)


def test_it_does_as_the_matrix(arrow):
    centre, _, _ = arrow
    found = Arrow.of_matrix(*arrow)
    matrix = Affine(centre, found.jacobian(centre))
    x, v = np.random.default_rng(2).normal(size=(2, len(centre)))
    for one, other in zip(probes.mapped(found, x, v), probes.mapped(matrix, x, v)):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


def test_kept_places_are_coordinates_and_the_others_are_told_by_them(arrow):
    """x adds to what all others are expected to be given these, with their own covariance."""
    centre, H, tips = arrow
    border = np.setdiff1d(np.arange(len(H)), tips)
    kept = border[[0, 2]]
    rest = np.setdiff1d(np.arange(len(H)), kept)
    blocks = np.diag(H)[tips].reshape(-1, 1, 1)
    cross = sparse.csr_array(H[np.ix_(tips, border)])
    found = Arrow(centre, tips[:, None], blocks, cross, H[np.ix_(border, border)], kept)
    x = np.random.default_rng(3).normal(size=(4, len(H)))
    theta = found(x)
    np.testing.assert_array_equal(theta[:, kept], x[:, kept])
    inner = H[np.ix_(rest, rest)]
    x[:, rest] = 0
    expected = (
        centre[rest]
        - np.linalg.solve(inner, H[np.ix_(rest, kept)] @ (x[:, kept] - centre[kept]).T).T
    )
    np.testing.assert_allclose(found(x)[:, rest], expected, atol=1e-11)
    L = found.jacobian(centre)[np.ix_(rest, rest)]
    np.testing.assert_allclose(L.T @ inner @ L, np.eye(len(rest)), atol=1e-11)
    assert found.log_scale == pytest.approx(np.linalg.slogdet(L)[1], abs=1e-9)
    np.testing.assert_allclose(found.inverse(theta), found.inverse(found(found.inverse(theta))))


@pytest.mark.parametrize("wrong", ["sign of the Schur complement", "border"])
def test_mistakes_are_seen(arrow, wrong):
    centre, H, tips = arrow
    border, made = np.setdiff1d(np.arange(len(H)), tips), H.copy()
    if wrong == "border":
        made[np.ix_(border, tips)] = made[np.ix_(tips, border)] = 0
    else:
        B = H[np.ix_(border, tips)]
        made[np.ix_(border, border)] += 2 * (B / np.diag(H)[tips]) @ B.T
    L = Arrow.of_matrix(centre, made, tips).jacobian(centre)
    assert np.abs(L.T @ H @ L - np.eye(len(H))).max() > 0.1


def test_a_singular_precision_is_refused(arrow):
    centre, H, tips = arrow
    j, k = np.setdiff1d(np.arange(len(H)), tips)[:2]
    H[k], H[:, k] = H[j], H[:, j]
    H[k, k] = H[j, k] = H[k, j] = H[j, j]
    with pytest.raises(DataError, match="collinear"):
        Arrow.of_matrix(centre, H, tips)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    n, levels = 12_000, FEWEST_TIPS + 2
    g, h = rng.integers(0, levels, n), rng.integers(0, 5, n)
    x, names = rng.normal(size=n), np.array([f"level{j}" for j in range(levels)])
    eta = -0.3 + 0.5 * x + rng.normal(size=levels)[g] * 0.5 + np.linspace(-0.5, 0.5, 5)[h]
    y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    return pd.DataFrame({"y": y, "x": x, "g": names[g], "h": names[h]})


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_the_posterior_is_that_of_the_dense_design(frame, monkeypatch):
    """134 means within 5 standard errors of a difference (chance of one beyond: 1e-4), and their
    sds, whose errors are about 1/sqrt(2 ESS) = .02 each, within 12 %.
    """
    how = dict(seed=1, chains=2, draws=1500)
    one = sgmc.logit("y ~ x + h + g", frame, **how)
    assert isinstance(one._fit.problem.coordinates.map, Arrow)
    monkeypatch.setattr(formula.designs.design, "CODED_COLUMNS", 10**9)
    other = sgmc.logit("y ~ x + h + g", frame, **how)
    assert not isinstance(other._fit.problem.coordinates.map, Arrow)
    error = np.hypot(one.mcse(), other.mcse())
    assert (np.abs(one.params - other.params) < 5 * error).all()
    np.testing.assert_allclose(one.bse, other.bse, rtol=0.12)
    assert one.verdict.trustworthy == other.verdict.trustworthy


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_levels_that_the_prior_ties_together_are_no_tips(frame):
    """The intercept's prior is of centred predictors, and says something of all levels: next to
    nothing where there are rows enough.
    """
    for rows, kind in ((400, Affine), (len(frame), Arrow)):
        results = sgmc.poisson("y ~ x + g", frame[:rows], seed=1, draws=50, sampler="mala")
        assert type(results._fit.problem.coordinates.map) is kind
