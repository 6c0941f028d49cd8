"""Walls of columns that have rows in common: rare outcomes and several factors or 0/1 columns,
under every binary family, against sums over a grid.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.coordinates.identification.separation import Wall
from sgmc.coordinates.shapes.separation_transform import Outcomes, disjoint_walls
from sgmc.models.regression.families.cauchit import Cauchit

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

LOG_OF_SUCCESS_AND_FAILURE = {
    "logit": lambda eta: (-np.logaddexp(0, -eta), -np.logaddexp(0, eta)),
    "probit": lambda eta: (special.log_ndtr(eta), special.log_ndtr(-eta)),
    "cloglog": lambda eta: (np.log(-np.expm1(-np.exp(np.clip(eta, -30, 5)))), -np.exp(eta)),
    "cauchit": lambda eta: (
        np.log(np.arctan2(1, -eta) / np.pi),
        np.log(np.arctan2(1, eta) / np.pi),
    ),
}


def two_factors(seed, n=300, rate=0.04):
    """Two factors of eight and six levels, and rare outcomes that depend on neither."""
    rng = np.random.default_rng(seed)
    table = {"g": rng.choice(list("abcdefgh"), n), "h": rng.choice(list("uvwxyz"), n)}
    return pd.DataFrame({**table, "y": (rng.random(n) < rate).astype(int)})


def overlapping(kind, n=60):
    """Two 0/1 columns of which the one is the other, lies within it, or has rows in common with it;
    no outcome is 1 where either is.
    """
    row = np.arange(n)
    a = row < 8
    b = {"alike": a, "nested": row < 20, "crossed": (row >= 4) & (row < 16)}[kind]
    y = (row % 5 < 2) & ~(a | b)
    return pd.DataFrame({"a": a, "b": b, "y": y}).astype(int).sample(frac=1, random_state=1)


def grid_moments(family, frame, scale):
    """Means and sds of intercept, a and b by a sum over a grid, all priors normal: the intercept's,
    of sd 2.5, at the columns' means.
    """
    c = np.linspace(-6, 4, 41)[:, None, None]
    a, b = np.meshgrid(*2 * (np.linspace(-5 * scale, 4 * scale, 181),), indexing="ij")
    means = frame[["a", "b"]].mean()
    intercept = c - means.a * a - means.b * b
    log = -0.5 * (c / 2.5) ** 2 - 0.5 * (a**2 + b**2) / scale**2
    for (one, other), part in frame.groupby(["a", "b"]).y:
        up, down = LOG_OF_SUCCESS_AND_FAILURE[family](intercept + one * a + other * b)
        with np.errstate(invalid="ignore"):
            log = log + sum(k * v for k, v in ((part.sum(), up), ((1 - part).sum(), down)) if k)
    mass = np.exp(log - np.nanmax(log))
    mass /= np.nansum(mass)
    values = (intercept, a[None], b[None])
    mean = [np.nansum(mass * v) for v in values]
    return mean, [np.sqrt(np.nansum(mass * (v - m) ** 2)) for v, m in zip(values, mean)]


@pytest.mark.cover(0)
@pytest.mark.parametrize("kind", ["alike", "nested", "crossed"])
@pytest.mark.parametrize(
    "family, scale",
    [
        ("logit", 2.5),
        ("logit", 10.0),
        *(
            pytest.param(name, scale, marks=pytest.mark.extended)
            for name in ("probit", "cloglog", "cauchit")
            for scale in (2.5, 10.0)
        ),
    ],
)
def test_posteriors_are_those_of_a_grid(family, scale, kind):
    """Means to 0.1 sd and sds to 10 %: three Monte Carlo errors of about 1,000 effective draws."""
    frame = overlapping(kind)
    prior = sgmc.normal(0, scale)
    results = getattr(sgmc, family)("y ~ a + b", frame, prior=prior, sampler="nuts", seed=1)
    mean, sd = grid_moments(family, frame, scale)
    draws = results.draws.reshape(-1, 3)
    assert (np.abs(draws.mean(axis=0) - mean) < 0.1 * np.array(sd)).all()
    np.testing.assert_allclose(draws.std(axis=0), sd, rtol=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_two_factors_with_rare_outcomes_are_fitted(seed):
    results = sgmc.logit("y ~ g + h", two_factors(seed), seed=1, draws=100, chains=2)
    assert results.sampler.name == "nuts" and np.isfinite(results.draws).all()


def test_five_columns_of_twenty_rows_are_fitted():
    """As arrays, counts, and updated: 0/1 columns that cover each other's rows."""
    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(20), rng.random((20, 5)) < 0.4]).astype(float)
    y = np.zeros(20)
    y[2] = 1.0
    for data in (y, np.column_stack([y, 2 - y])):
        model = sgmc.Logit(data, X)
        results = model.fit(prior=sgmc.normal(0, 50), seed=1, draws=50, chains=1)
        assert np.isfinite(results.draws).all()


def test_a_default_fit_of_two_factors_is_trusted_and_mixes():
    """305 effective draws of 4,000 were those of mala in the same coordinates."""
    results = sgmc.logit("y ~ g + h", two_factors(0), prior=sgmc.normal(0, 2.5), seed=1)
    assert results.ess().min() > 1000
    assert "Verdict: trustworthy" in str(results.summary())


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "formula, cities, n",
    [
        ("churn ~ city * plan", 20, 800),
        ("churn ~ city * plan * x", 8, 800),
        pytest.param("churn ~ city * plan", 57, 3000, marks=pytest.mark.extended),
    ],
)
def test_interactions_with_empty_cells_are_fitted_and_name_these_once(formula, cities, n):
    """At defaults; walls of main effects and of interactions lie within each other."""
    rng = np.random.default_rng(1)
    city = rng.choice([f"c{k}" for k in range(cities)], n, p=rng.dirichlet(np.full(cities, 0.9)))
    plan = rng.choice(list("bmws"), n, p=[0.5, 0.3, 0.1, 0.1])
    churn = (rng.random(n) < 0.1).astype(int)
    frame = pd.DataFrame({"city": city, "plan": plan, "x": rng.normal(size=n), "churn": churn})
    assert (pd.crosstab(city, plan) == 0).any(axis=None)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        results = sgmc.logit(formula, frame, seed=1, draws=5, warmup=5, chains=1)
    assert np.isfinite(results.draws).all()
    assert sum("no row has city[" in str(one.message) for one in seen) == 1


def walls(*rows):
    """Columns of so many rows without contrary outcomes."""
    return [Wall(j, 0.0, m, 0, 1.0, -1) for j, m in enumerate(rows)]


def information(*sets):
    """Of indicators of sets of rows, each row with an information of 1."""
    columns = np.zeros((30, len(sets)))
    for j, one in enumerate(sets):
        columns[list(one), j] = 1.0
    return columns.T @ columns


def test_rows_of_nested_walls_are_taken_out():
    basis, left, chosen = disjoint_walls(walls(2, 5, 9), information(range(2), range(5), range(9)))
    assert chosen.all() and [w.rows for w in left] == [2, 3, 4]
    np.testing.assert_array_equal(basis, [[1, -1, 0], [0, 1, -1], [0, 0, 1]])


def test_of_walls_alike_one_is_left():
    _, _, chosen = disjoint_walls(walls(4, 4), information(range(4), range(4)))
    assert chosen.sum() == 1


def test_a_wall_without_rows_of_its_own_is_left_to_the_gaussian():
    """The first one's rows are those of the two others, each of which has more."""
    sets = range(6), (*range(3), *range(10, 20)), (*range(3, 6), *range(20, 30))
    _, _, chosen = disjoint_walls(walls(6, 13, 13), information(*sets))
    assert chosen.tolist() == [False, True, True]


@pytest.mark.parametrize("pull", [4.0, 0.5, -0.5])
def test_a_wall_is_where_the_rows_have_the_likelihoods_slope(pull):
    """Of 15 rows with 3 contrary outcomes, which a prior may draw to either side of where they
    would be: the slope of cauchit rises again beyond.  By the closed form, to a table's steps.
    """
    eta = -Outcomes(Cauchit.family, -1).wall(15, 3, pull)
    share = np.arctan2(1, -eta) / np.pi
    density = 1 / np.pi / (1 + eta**2)
    assert 12 * density / share - 3 * density / (1 - share) == pytest.approx(pull, abs=0.02)


def test_a_level_that_a_prior_draws_back_is_fitted():
    """Levels with a few outcomes of either kind under a Cauchy prior, with a cauchit link."""
    rows = [2, 9, 10, 14, 1, 9, 1, 14, 19, 5, 23, 9, 8, 3, 7, 3]
    ones = [0, 1, 1, 5, 0, 1, 0, 5, 1, 0, 2, 4, 0, 0, 1, 0]
    levels = np.repeat([f"l{k:02}" for k in range(16)], rows)
    y = np.concatenate([np.arange(m) < k for m, k in zip(rows, ones)]).astype(int)
    frame = pd.DataFrame({"level": levels, "y": y})
    results = sgmc.cauchit("y ~ level", frame, prior="cauchy", seed=1, draws=50, chains=1)
    assert np.isfinite(results.draws).all()


def empty_cell():
    """20 events of 20,000 rows, none in a cell of 60."""
    row = np.arange(20_000)
    return pd.DataFrame({"cell": (row < 60) * 1, "y": ((row > 60) & (row % 997 == 0)) * 1})


@pytest.mark.parametrize("family", ["logit", "probit", "cloglog", "cauchit"])
def test_mini_batches_serve_an_empty_cell_under_every_link(family):
    """Its wall has a map, in which the posterior is near enough to a Gaussian: without one an exact
    sampler is chosen, of which each step takes all rows.
    """
    fit, few = getattr(sgmc, family), dict(seed=1, draws=5, warmup=5, chains=1)
    assert fit("y ~ cell", empty_cell(), prior=sgmc.normal(0, 30), **few).sampler.name == "lmsgld"


def cell_and_intercept(family, frame, scale, intercept, cell):
    """Mean and sd of the cell's coefficient by a sum over a grid of both, from end to end: the
    intercept's prior is normal(0, 2.5), at the column's mean.
    """
    share = frame.cell.mean()
    c, b = np.meshgrid(np.linspace(*intercept, 501), np.linspace(*cell, 1801), indexing="ij")
    log = -0.5 * (c / 2.5) ** 2 - 0.5 * (b / scale) ** 2
    for value, part in frame.groupby("cell").y:
        up, down = LOG_OF_SUCCESS_AND_FAILURE[family](c + (value - share) * b)
        log = log + (part.sum() * up if part.sum() else 0.0) + (1 - part).sum() * down
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    mean = (mass * b).sum()
    return mean, np.sqrt((mass * (b - mean) ** 2).sum())


@pytest.mark.extended
@pytest.mark.parametrize("family", ["probit", pytest.param("cloglog", marks=pytest.mark.extended)])
def test_an_empty_rare_cell_among_many_rows(family):
    """Without walls chains of mala stay where the cell's prior begins.  Means to 0.1 sd, sds to
    10 %.
    """
    frame = empty_cell()
    results = getattr(sgmc, family)("y ~ cell", frame, prior=sgmc.normal(0, 30), seed=1)
    assert "Verdict: trustworthy" in str(results.summary())
    mean, sd = cell_and_intercept(family, frame, 30, (-9, -2), (-150, 30))
    assert results.params["cell"] == pytest.approx(mean, abs=0.1 * sd)
    assert results.bse["cell"] == pytest.approx(sd, rel=0.1)


@pytest.mark.cover(0)
@pytest.mark.parametrize("scale", [2.5, 30.0])
def test_a_separated_cauchit_is_that_of_a_grid(scale):
    """An empty cell of 40 in 2,000 rows, 200 events: the likelihood falls by a power of the
    coefficient, its wall's map knows that.  Means to 0.1 sd, sds to 5 %.
    """
    row = np.arange(2000)
    frame = pd.DataFrame({"cell": row < 40, "y": (row >= 40) & (row % 10 == 0)}).astype(int)
    results = sgmc.cauchit("y ~ cell", frame, prior=sgmc.normal(0, scale), seed=1)
    assert "Verdict: trustworthy" in str(results.summary())
    mean, sd = cell_and_intercept("cauchit", frame, scale, (-5, -2), (-6 * scale, 5 * scale))
    assert results.params["cell"] == pytest.approx(mean, abs=0.1 * sd)
    assert results.bse["cell"] == pytest.approx(sd, rel=0.05)
