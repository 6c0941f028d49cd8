"""Columns that many rows have alike: products with them, and fits of structured terms."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.core.designs.design import Repeated64, design
from sgmc.core.expansion import of_rows, row_curvatures
from sgmc.fit.settings import check_settings
from sgmc.models.regression.families.poisson import PoissonLog
from sgmc.models.regression.latent.sampled.blocks import crossed_rows
from sgmc.models.regression.latent.sampled.blocks.gram import Gram


def tables(n=1000, levels=7, seed=0):
    """A table whose columns 2 .. 8 are those of a level, the last one empty, and the levels."""
    random = np.random.default_rng(seed)
    code = np.sort(random.integers(0, levels, n)).astype(np.int32)
    X = np.column_stack([np.ones(n), random.normal(size=n), random.normal(size=(levels, 7))[code]])
    return np.column_stack([X, np.zeros(n)]), code


@pytest.mark.parametrize("rows", [slice(None), [5, 999, 3, 3, 4, 500, 501, 502], slice(2, 3)])
@pytest.mark.parametrize("mixed", [False, True])
def test_products_are_those_of_the_whole_table(rows, mixed):
    """Of neighbours in any order of levels; sums differ by rounding alone."""
    X, code = tables()
    order = np.random.default_rng(1).permutation(len(X)) if mixed else np.arange(len(X))
    X, code = np.ascontiguousarray(X[order][rows]), np.ascontiguousarray(code[order][rows])
    code = np.unique(code, return_inverse=True)[1].astype(np.int32)
    y = np.random.default_rng(2).poisson(1.0, len(X)).astype(float)
    one, other = PoissonLog(Repeated64(X, code, 2, 9), y), PoissonLog(design(X), y)
    theta = 0.2 * np.random.default_rng(3).normal(size=10)
    for here, there in zip(of_rows(one, theta), of_rows(other, theta)):
        assert np.allclose(here, there, rtol=1e-12, atol=1e-12)
    assert np.allclose(row_curvatures(one, theta), row_curvatures(other, theta), rtol=1e-12)


def frame(n=9000):
    """Counts of neighbouring regions."""
    random = np.random.default_rng(4)
    df = pd.DataFrame({"x": random.normal(size=n), "r": random.integers(0, 12, n)})
    df["p"] = random.poisson(np.exp(0.3 * df.x + 0.5 * np.sin(df.r)))
    df["k"] = (random.random(n) < 0.4) * 1.0
    return df


EDGES = [(j, j + 1) for j in range(11)]
TERMS = ["car(r, EDGES)", "ar1(r)", "bym2(r, EDGES)"]


def problem_of(formula):
    settings = check_settings(seed=1)
    model = sgmc.Poisson.from_formula(formula, frame())
    return model.suited(None, settings).problem(None, settings)


@pytest.mark.parametrize("term", TERMS)
def test_densities_and_centres_are_those_of_all_rows(term, monkeypatch):
    """Searches end within .1 sd of each other, and densities at a point differ by rounding."""
    found = problem_of(f"p ~ x + {term}")
    assert isinstance(found.model.X, Repeated64)
    monkeypatch.setattr(crossed_rows, "FEWEST_ALIKE", 10**9)
    whole = problem_of(f"p ~ x + {term}")
    assert not isinstance(whole.model.X, Repeated64)
    theta = whole.coordinates.map(np.random.default_rng(5).normal(size=whole.dim))
    for here, there in zip(of_rows(found.model, theta), of_rows(whole.model, theta)):
        assert np.allclose(here, there, rtol=1e-10, atol=1e-8)
    centre = whole.coordinates.map.inverse(found.coordinates.map(np.zeros(found.dim)))
    assert np.abs(centre).max() < 0.2


def test_gram_is_that_of_all_rows():
    rows = problem_of("p ~ x + car(r, EDGES)").own.rows
    assert rows.alike is not None
    w = np.random.default_rng(6).random((len(rows.alike), 1, 1))
    X = np.concatenate([rows.columns, rows.curves], axis=1)
    assert np.allclose(Gram(rows).fixed(w), X.T @ (w[:, 0] * X), rtol=1e-10, atol=1e-9)


def test_rows_that_differ_are_left():
    random = np.random.default_rng(7)
    assert crossed_rows.numbers_of(random.normal(size=(9000, 9))) is None
    assert crossed_rows.numbers_of(np.zeros((100, 9))) is None
    few = random.normal(size=(5, 9))[random.integers(0, 5, 9000)]
    assert len(np.unique(crossed_rows.numbers_of(few))) == 5


def test_predictions_have_the_rows_in_their_order():
    df = frame()
    results = sgmc.poisson("p ~ x + car(r, EDGES)", df, seed=1)
    mean = results.predict(df.head(50))
    assert np.allclose(results.predict()[:50], mean, rtol=1e-10)
    assert results.log_lik().shape[-1] == len(df)
    own = stats.poisson.logpmf(df.p, results.predict())
    assert np.corrcoef(own, results.log_lik().reshape(-1, len(df)).mean(axis=0))[0, 1] > 0.99
