"""Schemes that know the rows: their shared parts, the noise that the plan expects of them,
and posteriors of fits.
"""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from _ext.probes import draw
from scipy import stats

import sgmc
from sgmc.core.engine import evaluate
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.fit.noise import (
    MAX_STRATA,
    draws_of_laplace,
    groups_of,
    noise_of,
    pilot,
    shared_rows,
    subsampler,
)
from sgmc.fit.plan import Choice
from sgmc.fit.settings import check_settings
from sgmc.models.regression.problem import regression_problem
from sgmc.registry import room
from sgmc.subsampling.preferential import UNIFORM_SHARE, Alias, Preferential
from sgmc.subsampling.stratified import Strata, Stratified
from sgmc.subsampling.uniform import FullBatch

SCHEMES = sorted(room("subsampling"))
KNOWING = [name for name in SCHEMES if room("subsampling")[name].needs]


def stream(seed=1):
    """The package's random stream of that seed."""
    return Rng(seed_sequence(seed, "chain", 0))


# ---- probabilities -------------------------------------------------------------------------------

SIZES = {
    "one": [3.0],
    "equal": np.ones(7),
    "zeros": np.zeros(5),
    "some zero": [0.0, 2.0, 0.0, 1.0],
    "one large": np.r_[1e12, np.ones(99)],
    "tiny": [1e-310, 3e-310],
    "many": np.random.default_rng(0).gamma(0.1, size=10_000),
}


@pytest.mark.parametrize("name", SIZES)
def test_the_alias_table_has_the_probabilities(name):
    """n p_i = keep_i + sum of 1 - keep_k over the columns k that lead to i, to rounding; weights
    are at most 1 / UNIFORM_SHARE.
    """
    shared, n = Alias(SIZES[name]), len(SIZES[name])
    s = np.asarray(SIZES[name]) / max(np.max(SIZES[name]), 1e-320)
    held = np.array(shared.keep)
    np.add.at(held, shared.other, 1 - shared.keep)
    np.testing.assert_allclose(held / n, shared.p, rtol=1e-9)
    expected = s / s.sum() if s.any() else np.full(n, 1 / n)
    np.testing.assert_allclose(
        shared.p, (1 - UNIFORM_SHARE) * expected + UNIFORM_SHARE / n, rtol=1e-9
    )
    assert shared.p.sum() == pytest.approx(1, abs=1e-12)
    assert shared.weight.max() <= 1 / UNIFORM_SHARE * (1 + 1e-9)


def test_rows_come_as_often_as_they_should():
    """200,000 draws of 50 rows; planted: probabilities 5 % of the way to uniform."""
    shared = Alias(np.arange(50.0))
    rows, rng = Preferential(50, 1000, shared), stream()
    counts = sum(np.bincount(draw(rows, rng)[0].rows, minlength=50) for _ in range(200))
    assert stats.chisquare(counts, shared.p * counts.sum()).pvalue > 1e-4  # fixed seed
    assert stats.chisquare(counts, (0.95 * shared.p + 0.05 / 50) * counts.sum()).pvalue < 1e-4


@pytest.mark.parametrize("sizes", [[], [1.0, -1.0], [np.nan], [np.inf, 1.0], [[1.0]]])
def test_sizes_that_are_none_are_refused(sizes):
    with pytest.raises(ValueError, match="sizes of rows must be finite numbers"):
        Alias(sizes)


def test_schemes_of_other_rows_and_floors_that_leave_rows_out_are_refused():
    with pytest.raises(ValueError, match="probabilities of 3 rows for 4 rows"):
        Preferential(4, 2, Alias(np.ones(3)))
    with pytest.raises(ValueError, match="strata of 3 rows for 4 rows"):
        Stratified(4, 2, Strata([0, 1, 1]))
    with pytest.raises(ValueError, match="a batch of 0 of 3 rows"):
        Preferential(3, 0, Alias(np.ones(3)))
    for shared in (Alias, Strata):
        with pytest.raises(ValueError, match="a floor of 0"):
            shared(np.ones(3), floor=0)


def test_what_chains_share_cannot_be_changed():
    shared = Alias([1.0, 2.0])
    for array in (shared.p, shared.weight, shared.keep, shared.other):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


# ---- allocation ----------------------------------------------------------------------------------


def variance(sizes, spread, rows):
    """Of the stratified estimate of a sum."""
    return sum(n * n * s * s * (1 / m - 1 / n) for n, s, m in zip(sizes, spread, rows))


@pytest.mark.parametrize(
    "sizes, spread",
    [((30, 10, 5), (1, 2, 1)), ((20, 20), (1, 8)), ((40, 3, 2), (0.1, 5, 1)), ((25, 1), (1, 0))],
)
@pytest.mark.parametrize("m", [4, 7, 15, 26])
def test_neyman_allocation_is_the_best_there_is(sizes, spread, m):
    """Against all allocations with the same bounds, but for rounding to whole rows:
    5 % of the variance.
    """
    low = [min(2, n) for n in sizes]
    low = low if sum(low) <= m else [1] * len(sizes)
    possible = [
        rows
        for rows in itertools.product(*(range(a, n + 1) for a, n in zip(low, sizes)))
        if sum(rows) == m
    ]
    found = Strata(np.repeat(range(len(sizes)), sizes), spread, floor=1e-6).allocation(m)
    assert tuple(found) in possible
    best = min(variance(sizes, spread, rows) for rows in possible)
    assert variance(sizes, spread, found) <= 1.05 * best + 1e-9


@pytest.mark.extended("sizes3")
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 50), (2, 3, 95), (1000, 1, 10, 100), (7,)])
def test_allocations_are_whole_and_within_bounds(sizes):
    shared, n = Strata(np.repeat(range(len(sizes)), sizes)), sum(sizes)
    for m in range(len(sizes), n + 1):
        rows = shared.allocation(m)
        low = np.minimum(sizes, 2) if m >= np.minimum(sizes, 2).sum() else 1
        assert rows.sum() == m and (low <= rows).all() and (rows <= sizes).all()
    assert (shared.allocation(n) == sizes).all() and (shared.factors(n) == 0).all()
    for m in (len(sizes) - 1, n + 1):
        with pytest.raises(ValueError, match=f"a batch of {m} of {n} rows in {len(sizes)} strata"):
            shared.allocation(m)


@pytest.mark.parametrize("spread", [[1.0], [1.0, np.nan], [1.0, -1.0]])
def test_a_spread_of_other_strata_is_refused(spread):
    with pytest.raises(ValueError, match="spread must be 2 finite numbers"):
        Strata([0, 1, 1], spread)


def test_strata_of_outcomes():
    assert groups_of(np.array([1.0, 0, 1, 1])).tolist() == [1, 0, 1, 1]
    y = np.random.default_rng(0).normal(size=8000)
    groups = groups_of(y)
    assert np.bincount(groups).tolist() == [1000] * MAX_STRATA
    assert (np.diff(groups[np.argsort(y)]) >= 0).all()
    counts = np.random.default_rng(0).poisson(0.5, 8000)  # levels without ties broken
    assert all(
        len(set(groups_of(np.r_[counts, range(20)])[:8000][counts == k])) == 1 for k in set(counts)
    )


# ---- noise of the plan ---------------------------------------------------------------------------


@cache
def imbalanced(n=20_000, rate=-4.0, seed=0):
    """A logit with three predictors and 3 % successes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = rng.random(n) < 1 / (1 + np.exp(-rate - X @ [1, -0.5, 0.5]))
    return pd.DataFrame(X, columns=list("abc")).assign(y=y.astype(int))


def parts(df, gradient, subsample, seed=3):
    """A choice and the noise that its plan expects, with the draws it is averaged over."""
    how = check_settings(sampler="lmsgld", gradient=gradient, subsample=subsample, seed=seed)
    model = sgmc.Logit.from_formula("y ~ .", df)
    problem = regression_problem(model.data, model.family, None, how)
    z = draws_of_laplace(seed, problem.model.dim)
    whole = problem.gradient(gradient, FullBatch(len(df)), stream(seed))
    choice = Choice(problem=problem, settings=how, gradient=gradient)
    seen = pilot(whole, problem.coordinates, z, True, shared_rows(choice))
    return choice, noise_of(replace(choice, pilot=seen)), np.concatenate([z, -z])


@pytest.mark.cover(0)
@pytest.mark.parametrize("gradient", ["simple", "cv", "taylor"])
@pytest.mark.parametrize("subsample", SCHEMES)
def test_the_noise_that_the_plan_expects_is_that_of_estimates(subsample, gradient):
    """4,000 estimates at each of the pilot's 16 draws of the Laplace approximation: 1 % of error;
    blocks of one permutation have a design effect besides, of some 10 % in 100 blocks.
    """
    choice, noise, z = parts(imbalanced(), gradient, subsample)
    batch, rng, problem = 200, stream(), choice.problem
    where = problem.coordinates
    estimator = problem.gradient(gradient, subsampler(choice, batch), rng)
    found, white = np.zeros(len(where.white)), where.white
    for one in z:
        g = np.array([evaluate(estimator, where.from_white(one), rng)[0] for _ in range(4000)])
        found += np.diag(white @ np.cov(g.T) @ white.T) / (white**2).sum(axis=1) / len(z)
    assert found.max() == pytest.approx(
        noise.of(batch, problem.model.n), rel=0.25 if subsample == "block" else 0.1
    )


@pytest.mark.parametrize(
    "gradient, preferential, stratified", [("simple", 8, 3), ("cv", 6, 1.1), ("taylor", 4, 1)]
)
def test_batches_of_equal_noise_are_smaller(gradient, preferential, stratified):
    """With 3 % successes: V of 200 rows drawn uniformly, over V of 200 rows of these schemes,
    is at least so much.
    """
    n = len(imbalanced())
    schemes = "uniform", "preferential", "stratified"
    uniform, by_size, by_outcome = (parts(imbalanced(), gradient, s)[1].of(200, n) for s in schemes)
    assert uniform / by_size > preferential and uniform / by_outcome > stratified


# ---- fits ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exact():
    """Two data sets with their posteriors by an exact sampler."""
    fair = sgmc.datasets.load("fair").assign(y=lambda df: df.affairs > 0).drop(columns="affairs")
    rare = imbalanced(4000, -3.5, 1)
    data = {"fair": fair, "rare": rare}
    return {
        name: (df, sgmc.logit("y ~ .", df, sampler="mala", seed=1, draws=8000))
        for name, df in data.items()
    }


def assert_right(results, exact):
    """Means within 0.1 sd, sds within 6 %: what the package promises of an sd,
    and the Monte Carlo error of both.
    """
    assert (np.abs(results.params - exact.params) < 0.1 * exact.bse).all()
    assert (np.abs(results.bse / exact.bse - 1) < 0.06).all()
    assert results.warnings == []


@pytest.mark.extended
@pytest.mark.parametrize("data", ["fair", "rare"])
@pytest.mark.parametrize("gradient", ["cv", "taylor", "saga", "svrg"])
@pytest.mark.parametrize("subsample", KNOWING)
def test_posteriors_at_derived_steps(subsample, gradient, data, exact):
    df, reference = exact[data]
    assert_right(
        sgmc.logit(
            "y ~ .", df, sampler=f"lmsgld-{gradient}", subsample=subsample, seed=2, draws=4000
        ),
        reference,
    )


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "data, subsample, how",
    [
        ("fair", "stratified", {}),
        ("rare", "stratified", {}),
        ("fair", "preferential", dict(batch_size=2000, step_size=0.05, thin=20)),
        ("rare", "preferential", dict(batch_size=1000, step_size=0.1, thin=15)),
    ],
)
def test_posteriors_without_control_values(subsample, data, how, exact):
    """Steps are given where the derived ones, short as they are with replacement, take long: V of 2
    and less, h V / 4 < 0.05.
    """
    df, reference = exact[data]
    assert_right(
        sgmc.logit(
            "y ~ .", df, sampler="lmsgld-simple", subsample=subsample, seed=2, draws=2500, **how
        ),
        reference,
    )


@pytest.mark.extended
@pytest.mark.parametrize("subsample", KNOWING)
def test_rows_of_weight_zero_change_nothing(subsample):
    """They are drawn by the floor alone, and count nothing;
    the posterior is that of the other rows.
    """
    df = imbalanced(3000, -2.0, 2)
    w = np.r_[np.zeros(1000), np.ones(1000), np.full(1000, 2.0)]
    X = df[["a", "b", "c"]].assign(one=1.0)
    reference = sgmc.Logit(df.y[1000:], X[1000:], weights=w[1000:]).fit(
        sampler="mala", seed=1, draws=8000
    )
    results = sgmc.Logit(df.y, X, weights=w).fit(
        sampler="lmsgld-cv", subsample=subsample, seed=2, draws=4000
    )
    assert_right(results, reference)
    if subsample == "preferential":
        fit = results._fit
        p = next(iter(fit.problem.workspace.shared.values())).p
        assert p[fit.problem.table.weight == 0] == pytest.approx(UNIFORM_SHARE / 3000, rel=1e-9)
        assert p[fit.problem.table.weight > 0].mean() > 5 * UNIFORM_SHARE / 3000


@pytest.mark.cover(0)
@pytest.mark.parametrize("outcome", [1, 2])
@pytest.mark.parametrize("subsample", KNOWING)
def test_strata_of_one_and_two_rows(subsample, outcome):
    """One success, or two, in 300 rows: drawn in every batch of the stratified scheme."""
    df = imbalanced(300, -2.0, 3).assign(y=(np.arange(300) < outcome).astype(int))
    how = dict(prior=sgmc.normal(0, 1), draws=4000)
    results = sgmc.logit(
        "y ~ a", df, sampler="lmsgld", subsample=subsample, batch_size=20, seed=1, **how
    )
    reference = sgmc.logit("y ~ a", df, sampler="mala", seed=1, **how)
    # skewed: a success or two
    assert (np.abs(results.params - reference.params) < 0.15 * reference.bse).all()
    if subsample == "stratified":
        assert shared_rows(results._fit.plan).allocation(20)[1] == outcome


@pytest.mark.extended
@pytest.mark.parametrize("subsample", KNOWING)
def test_runs_go_on(subsample):
    df, how = imbalanced(3000, -2.0, 2), dict(sampler="sgld-cv", subsample=subsample, seed=1)
    whole = sgmc.logit("y ~ a", df, draws=800, **how)
    np.testing.assert_array_equal(
        sgmc.logit("y ~ a", df, draws=500, **how).resume(draws=300).draws, whole.draws
    )
    np.testing.assert_array_equal(
        sgmc.logit("y ~ a", df, draws=800, threads=1, **how).draws, whole.draws
    )
