"""Factors of many levels, whose sums are interpolated: against dense covariances, quadrature and
importance sampling, all in numpy.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.coordinates.independent import integrated
from sgmc.fit.settings import check_settings
from sgmc.models.regression.latent.sampled.blocks import inverse_root
from sgmc.models.regression.latent.sampled.blocks.elimination import Elimination
from sgmc.models.regression.latent.sampled.blocks.gram import as_sparse
from sgmc.models.regression.latent.sampled.blocks.inverse_root import inverse_root_times
from sgmc.models.regression.latent.sampled.independent import direct, work
from sgmc.models.regression.latent.sampled.independent.interpolated import InterpolatedSums

from ..crossed.insteval import Collapsed, by_importance
from .test_groups import assert_right, conditional, designed, fitted_several

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
# sds whose levels are not kept, the first without products with each other
AXES = {
    "crossed": [1, 0],
    "covariate, weights": [1],
    "level and curve": [0],
}


def interpolated(monkeypatch, axes):
    """Interpolate whatever the work."""
    plan = work.SumsPlan(np.array(axes), np.inf)
    monkeypatch.setattr(direct, "planned", lambda *_: plan)


@pytest.mark.parametrize("name", AXES)
def test_densities_and_means_are_those_of_dense_covariances(name, monkeypatch):
    """At twelve draws (sds, sigma): what polynomials leave unknown is below a thousandth of a nat,
    and means of rows are right to as much in units of sigma.
    """
    interpolated(monkeypatch, AXES[name])
    results, design = designed(name, 50)
    moved = results._fit.problem.transport
    assert isinstance(moved.sums, InterpolatedSums)
    z = np.random.default_rng(1).normal(size=(12, results._fit.problem.dim))
    z[:, : -1 - moved.ratios.q] = 0.0  # coefficients and effects in their means
    points = moved.grid(z[:, -1 - moved.ratios.q :])
    psi, u = points[:, :-1], points[:, -1:]
    ratios = moved.ratios.sds(psi)
    value, *_, predicted = conditional(*design, np.exp(np.column_stack([np.log(ratios) + u, u])))
    value += np.log(moved.ratios.steepness(psi) / ratios).sum(axis=1)
    assert np.ptp(moved.log_density(psi, u)[:, 0] - value) < 1e-3
    rows = results._fit.problem.own.rows
    theta = moved.map(moved.draws(z))[:, : rows.blocks.d + rows.blocks.effects]
    X = as_sparse(rows.table.X)[:, : theta.shape[1]]
    assert np.abs((theta @ X.T - predicted) / np.exp(u)).max() < 1e-3


@pytest.mark.extended
def test_the_posterior_is_that_of_quadrature(monkeypatch):
    interpolated(monkeypatch, AXES["crossed"])
    results, (*expected, _) = fitted_several("crossed")
    assert_right(results, expected)


@pytest.mark.parametrize("sds", [(0.0, 0.6), (0.4, 0.0), (0.0, 0.0)], ids=str)
def test_sds_near_zero_are_those_of_sums_that_are_not_interpolated(sds, monkeypatch):
    """The same standard normal numbers lead to the same numbers, to a thousandth of their sds;
    those without interpolation are tested by quadrature.
    """
    random = np.random.default_rng(7)
    s, d = random.integers(0, 120, 600), random.integers(0, 40, 600)
    y = sds[0] * random.normal(size=120)[s] + sds[1] * random.normal(size=40)[d]
    frame = pd.DataFrame({"y": 1 + y + random.normal(size=600), "s": s, "d": d})
    found = []
    for axes in ([], [0, 1]):
        interpolated(monkeypatch, axes)
        made = sgmc.OLS.from_formula("y ~ 1 + (1 | s) + (1 | d)", frame)
        moved = made.problem(None, check_settings(seed=1)).transport
        z = np.random.default_rng(2).normal(size=(4000, moved.map.dim))
        found.append(np.delete(moved.map(moved.draws(z)), np.s_[1:161], axis=1))
    plain, ours = found
    assert (np.abs(plain[:, 1:3]).min(axis=0) < 0.1)[np.array(sds) == 0].all()
    assert np.abs((ours - plain) / plain.std(axis=0)).max() < 1e-3


# ---- effects given the rest ----------------------------------------------------------------------


def sums_of(kinds, seed=2, n=160, levels=(30, 14, 5)):
    """The sums of random rows, their columns Z and X, residuals and weights."""
    random = np.random.default_rng(seed)
    codes = [np.unique(random.integers(0, m, n), return_inverse=True)[1] for m in levels]
    Z = np.concatenate([np.eye(code.max() + 1)[code] for code in codes], axis=1)
    number = np.repeat(np.arange(3), [code.max() + 1 for code in codes])
    X, e = np.column_stack([np.ones(n), random.normal(size=n)]), random.normal(size=n)
    w = random.integers(1, 4, n).astype(float)
    columns = sparse.csr_array(np.column_stack([X, e]))
    of = Elimination.of(sparse.csr_array(Z), number, (kinds[0], np.array(kinds[1:])), columns, w)
    sums = InterpolatedSums(of, np.array(kinds), np.inf)
    sums.anchored(np.array([0.5, 0.4, 0.3]))
    return sums, Z, number, np.column_stack([X, e]), w


@pytest.mark.parametrize("kinds", [[0], [0, 1], [0, 1, 2], [1, 0]])
@pytest.mark.parametrize("ratios", [[0.6, 0.3, 0.2], [1e-3, 0.9, 0.01]], ids=["usual", "near zero"])
def test_effects_have_their_mean_and_covariance(kinds, ratios):
    """(Z'WZ + R^-2)^-1 Z'We and that inverse, sds to a thousandth."""
    sums, Z, number, columns, w = sums_of(kinds)
    r = np.array([ratios])
    sums.left(np.array([0.5 * r[0], 2 * r[0]]))  # a table around
    pull = np.array([[0.3, -0.2, 1.0]])
    count = len(number)
    precision = Z.T @ (w[:, None] * Z) + np.diag(r[0, number] ** -2.0)
    covariance = np.linalg.inv(precision)
    mean = covariance @ Z.T @ (w * (columns @ pull[0]))
    every = np.vstack([np.zeros(count), np.eye(count)])
    found = sums.effects(np.repeat(r, count + 1, 0), np.repeat(pull, count + 1, 0), every)
    sd = np.sqrt(np.diag(covariance))
    assert np.abs((found[0] - mean) / sd).max() < 1e-3
    root = found[1:] - found[0]
    assert np.abs((root.T @ root - covariance) / np.outer(sd, sd)).max() < 2e-3


def test_inverse_roots_of_matrices_that_differ():
    random = np.random.default_rng(4)
    A = random.normal(size=(6, 20, 20)) / 20
    A = np.eye(20) + A @ np.swapaxes(A, 1, 2)
    z = random.normal(size=(20, 6))
    z[:, 3] = 0.0
    found, settled = inverse_root_times(lambda x: np.einsum("nij,jn->in", A, x), z)
    assert settled
    values, vectors = np.linalg.eigh(A)
    exact = np.einsum("nij,nj,nkj,kn->in", vectors, values**-0.5, vectors, z)
    assert np.abs(found - exact).max() < 1e-4


# ---- whole fits ----------------------------------------------------------------------------------

FORMULA = "y ~ service + (1|s) + (1|d) + (1|dept)"


@cache
def table():
    """Rows like InstEval's."""
    random = np.random.default_rng(8)
    share = [random.gamma(1.0, size=m) for m in (200, 80)]
    s, d = (random.choice(len(p), 2000, p=p / p.sum()) for p in share)
    dept, service = random.integers(0, 6, 2000), random.integers(0, 2, 2000)
    y = 3 + 0.2 * service + 0.3 * random.normal(size=200)[s] + 0.5 * random.normal(size=80)[d]
    y += 0.1 * random.normal(size=6)[dept] + 1.2 * random.normal(size=2000)
    return pd.DataFrame({"y": y, "service": service, "s": s, "d": d, "dept": dept})


@cache
def expected():
    """Means and sds of (coefficients, sds, sigma), by importance sampling around the first fit."""
    around = sgmc.ols(FORMULA, table(), seed=3, draws=250)
    return by_importance(Collapsed(table()), np.log(around.flat[:, 2:]), 1500)


def is_right(results):
    """Whether means are right to .1 posterior sd and sds to 8 %, that of the sd of six levels to
    25 %, as it has a long tail: of 4,000 draws and some 1,000 effective points, means are known to
    .04 sd, sds to 3 % and 10 %.
    """
    mean, sd, _ = expected()
    means = np.abs(results.flat.mean(axis=0) - mean) / sd
    sds = np.abs(results.flat.std(axis=0) / sd - 1)
    return bool((means < 0.1).all() and (sds < [0.08, 0.08, 0.08, 0.08, 0.25, 0.08]).all())


def test_a_fit_at_its_defaults_has_the_posterior_of_importance_sampling():
    results = sgmc.ols(FORMULA, table(), seed=1)
    assert isinstance(results._fit.problem.transport.sums, InterpolatedSums)
    assert results.sampler == sgmc.Direct() and results.verdict
    assert expected()[2] > 500
    assert is_right(results)


def noise_wide(monkeypatch):
    """Standard normal numbers times sqrt 2."""
    draws = integrated.ConditionallyNormal.draws
    monkeypatch.setattr(
        integrated.ConditionallyNormal, "draws", lambda self, z: draws(self, np.sqrt(2) * z)
    )


def determinant_off(monkeypatch):
    """A tenth less of the effects' determinant, in the tables and where they are compared: without
    any of it the density has no integral, and there is no table.
    """
    without = Elimination.without

    def less(self, given, ratios):
        left, log, means = without(self, given, ratios)
        return left, 0.9 * log, means

    monkeypatch.setattr(Elimination, "without", less)


def prior_dropped(monkeypatch):
    """The prior of (sd, sigma)."""
    monkeypatch.setattr(integrated, "of_priors", lambda prior, points: np.zeros(len(points)))


MISTAKES = {
    "noise x sqrt 2": noise_wide,
    "log determinant off": determinant_off,
    "prior dropped": prior_dropped,
}


@pytest.mark.extended
@pytest.mark.mistake("sums that are interpolated: {name}")
@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_are_seen(name, monkeypatch):
    expected()  # by the right sums
    MISTAKES[name](monkeypatch)
    results = sgmc.ols(FORMULA, table(), seed=1)
    assert results.sampler == sgmc.Direct() and not is_right(results)


def test_wide_noise_of_effects_is_seen(monkeypatch):
    """Which the numbers above do not show: in the test of covariances."""
    times = inverse_root.inverse_root_times
    monkeypatch.setattr(
        "sgmc.models.regression.latent.sampled.independent.interpolated.inverse_root_times",
        lambda product, z: times(product, np.sqrt(2) * z),
    )
    with pytest.raises(AssertionError):
        test_effects_have_their_mean_and_covariance([0, 1], [0.6, 0.3, 0.2])


# ---- the choice, and what ends it ----------------------------------------------------------------


def plan(levels, rows, seed=0):
    """The plan of factors of so many levels, of which sds are known as usual."""
    random = np.random.default_rng(seed)
    parts = [
        sparse.csr_array((np.ones(rows), (np.arange(rows), random.integers(0, m, rows))), (rows, m))
        for m in levels
    ]
    number = np.repeat(np.arange(len(levels)), levels)
    reach = 2 * work.TABLE_REACH / np.sqrt(2 * np.array(levels))
    apart = np.ones(len(levels), dtype=bool)
    return work.planned(sparse.csr_array(sparse.hstack(parts)), number, apart, 3, reach)


def test_the_choice_is_by_work():
    assert plan([20, 8], 200).axes.tolist() == []  # roots of few numbers
    assert plan([400, 100], 5_000).axes.tolist() == [0, 1]
    assert plan([14, 3_000, 1_000], 20_000).axes.tolist() == [1, 2]  # the 14 are kept
    assert plan([5_000, 4_000, 3_000, 2_000], 20_000) is None  # roots of 9,000, very many


def transport(**how):
    """That of the table's posterior."""
    model = sgmc.OLS.from_formula(FORMULA, table())
    return model.problem(None, check_settings(seed=1, **how)).transport


def test_tables_that_would_take_too_long_leave_chains(monkeypatch):
    assert transport() is not None and transport(sampler="hmc") is None
    monkeypatch.setattr(direct, "planned", lambda *_: work.SumsPlan(np.array([0, 1]), 1e3))
    assert transport() is None


def test_tables_that_are_not_right_leave_chains(monkeypatch):
    left = InterpolatedSums.left

    def off(self, ratios):
        P, logs = left(self, ratios)
        return P, 1.01 * logs

    monkeypatch.setattr(InterpolatedSums, "left", off)
    assert transport() is None


def test_a_fit_goes_on_with_the_same_bits():
    whole = sgmc.ols(FORMULA, table(), seed=1, draws=300, chains=2, threads=2)
    part = sgmc.ols(FORMULA, table(), seed=1, draws=200, chains=2, threads=1)
    assert np.array_equal(part.resume(100).draws, whole.draws)
