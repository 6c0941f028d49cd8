"""Designs whose factors stay codes are the dense ones, row by row and product by product."""

import pickle

import numpy as np
import pandas as pd
import pytest
from _ext import probes

import sgmc
from sgmc import formula
from sgmc.coordinates.identification.separation import coded_pairs, pairs
from sgmc.core.designs.design import design as stored
from sgmc.core.designs.design import products
from sgmc.errors import DataError, FormulaError
from sgmc.formula.designs.coding import Coding
from sgmc.formula.designs.design import CODED_COLUMNS

from .designs import N, design

TEXTS = [
    "y ~ g",
    "y ~ 0 + g",
    "y ~ . - `my var`",
    "y ~ x1 + g:flag",
    "y ~ g*flag*h",
    "y ~ x1*g + x2:x1:h",
    "y ~ C(g, Sum)*flag + np.log(x2)",
    "y ~ C(g, Poly):x1 + h:C(g, Helmert)",
    "y ~ 0 + bs(x1, df=4):g + g:bs(x2, df=3):h",
    "y ~ C(h, Treatment('r')) - 1 + I(x1 > 0):x2",
]


@pytest.fixture
def frame(frame, rng):
    return frame.assign(h=pd.Categorical(rng.choice(list("pqrs"), N), list("srqpo")))


@pytest.fixture
def coded(monkeypatch):
    """Factors of any size stay codes."""
    monkeypatch.setattr(formula.designs.design, "CODED_COLUMNS", 1)


def both(frame, text, dtype=np.float64):
    """The coded design and the dense one."""
    table = formula.read(text, frame)
    return table.coded(np.arange(len(table.rows)), dtype), design(table, dtype).astype(float)


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_the_dense_design(coded, frame, text):
    X, dense = both(frame, text)
    row = formula.read(text, frame).design_bytes(np.dtype(np.float64)) / N
    assert X.shape == dense.shape and row == (X.nbytes - X[:0].nbytes) / N
    np.testing.assert_array_equal(X.toarray(), dense)
    B = np.random.default_rng(1).normal(size=(dense.shape[1], 3))
    np.testing.assert_allclose(X @ B, dense @ B, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(X @ B[:, 0], dense @ B[:, 0], rtol=1e-12, atol=1e-12)
    for rows in (slice(3, 9), np.array([5, 5, 0]), np.arange(N) % 3 == 0):
        np.testing.assert_array_equal(X[rows].toarray(), dense[rows])


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_kernels_are_those_of_the_dense_design(coded, frame, text, dtype):
    """To rounding: sums of 60 products, numbers in the table's precision."""
    X, dense = both(frame, text, dtype)
    exact = dict(rtol=1e-12, atol=1e-12) if dtype == np.float64 else dict(rtol=1e-5, atol=1e-5)
    y, theta = np.arange(N) % 2.0, np.random.default_rng(2).normal(size=X.shape[1])
    kernel = sgmc.Logit.family.kernel
    one, other = (probes.Probe(kernel(stored(table), y, None, None)) for table in (X, dense))
    np.testing.assert_allclose(products(stored(X), theta), dense @ theta, **exact)
    for run in (probes.block(7, 31, scale=2.0), probes.listed([3, 3, 50, 8, 0], scale=-1.0)):
        r = np.random.default_rng(3).normal(size=(run.m, 1))
        np.testing.assert_allclose(
            one.predictors(theta, run), other.predictors(theta, run), **exact
        )
        for squares in (False, True):
            found, wanted = (probe.add_scores(run, r, squares) for probe in (one, other))
            np.testing.assert_allclose(found, wanted, **exact)
        np.testing.assert_allclose(one.gradient(theta, run), other.gradient(theta, run), **exact)
        np.testing.assert_allclose(one.hessian(theta, run), other.hessian(theta, run), **exact)
    S = np.cov(np.random.default_rng(6).normal(size=(X.shape[1], 99)))
    for form in (S if S.ndim else S[None, None], None):
        found, wanted = (stored(table).forms(form) for table in (X, dense))
        np.testing.assert_allclose(found, wanted, **exact)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_moments_and_two_valued_columns(coded, frame, text, weighted):
    X, dense = both(frame, text)
    w = np.random.default_rng(4).integers(0, 4, N).astype(float) if weighted else np.ones(N)
    mean, sd = X.moments(w)
    repeated = np.repeat(dense, w.astype(int), axis=0)
    factors = np.setdiff1d(np.arange(X.shape[1]), X.places)
    np.testing.assert_allclose(mean[factors], repeated.mean(axis=0)[factors], atol=1e-12)
    np.testing.assert_allclose(sd[factors], repeated.std(axis=0, ddof=1)[factors], atol=1e-7)
    successes = (np.arange(N) % 2).astype(int)
    found, wanted = (
        see(X, successes, 1 - successes) for see, X in ((coded_pairs, X), (pairs, dense))
    )
    order = np.argsort(found[0])
    for a, b in zip(found, wanted):
        np.testing.assert_array_equal(a[..., order], b)


@pytest.mark.parametrize("text", TEXTS)
def test_new_data(coded, frame, text):
    table = formula.read(text, frame)
    spec = pickle.loads(pickle.dumps(table.spec))
    new = frame.iloc[::-3].copy()
    new.loc[new.index[2], "x1"] = np.nan
    new.loc[new.index[4], "h"] = None
    B = np.random.default_rng(5).normal(size=(len(spec.exog_names), 2))
    np.testing.assert_allclose(spec.table(new) @ B, spec.matrix(new) @ B, rtol=1e-12, atol=1e-12)
    with pytest.raises(FormulaError, match="level"):
        spec.table(new.assign(g="z", h="z"))


def test_large_factors_stay_codes_and_small_ones_do_not(rng):
    few, many = CODED_COLUMNS // 2, CODED_COLUMNS + 1
    frame = pd.DataFrame({"y": rng.integers(0, 2, 400), "x": rng.normal(size=400)})
    frame["small"] = [f"s{j % few}" for j in range(400)]
    frame["large"] = [f"l{j % many}" for j in range(400)]
    assert formula.read("y ~ x + small", frame).spec.coding is None
    assert isinstance(formula.read("y ~ x + large", frame).spec.coding, Coding)
    assert isinstance(sgmc.Logit.from_formula("y ~ small*x + small", frame).data.coded, bool)


def test_contrasts_of_many_levels_take_no_room(rng):
    """Dense, those of 20,000 levels would be 3.2 GB."""
    n = 40_000
    frame = pd.DataFrame({"y": rng.integers(0, 2, n), "id": [f"n{j // 2:05d}" for j in range(n)]})
    table = formula.read("y ~ id", frame)
    assert table.coded(np.arange(n), np.float64).nbytes < 5e6
    assert table.spec.exog_names[1] == "id[T.n00001]" and len(table.spec.exog_names) == n // 2


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("text, name", [("y ~ x1 + g", "x1"), ("y ~ g:x1", "g[a]:x1")])
def test_infinite_numbers_are_named(coded, frame, text, name):
    frame.loc[7, ["x1", "g"]] = np.inf, "a"
    with pytest.raises(DataError, match=rf"predictor .*{name[-2:]}.* is not finite at row 7"):
        both(frame, text)
    results = sgmc.logit(text, frame.drop(7), draws=20, chains=1, seed=1, sampler="laplace")
    with pytest.raises(DataError, match="infinite"):
        results.predict(frame)


def test_codes_of_other_rows_are_seen(coded, frame):
    X, dense = both(frame, "y ~ g*x1")
    X.codes[:] = np.roll(X.codes, 1, axis=0)
    assert not np.array_equal(X.toarray(), dense)


def test_parts_of_a_table(coded, frame):
    """The column of ones, of which nothing is stored, is where it belongs in parts of a table."""
    X, dense = both(frame, "y ~ x1 + g + h")
    assert X.ones == 0 and len(X.places) == 1
    v = np.random.default_rng(7).normal(size=N)
    np.testing.assert_allclose(X.rmatvec(v), v @ dense, rtol=1e-12, atol=1e-12)
    columns = np.flatnonzero(X.held(np.flatnonzero(X.counted(0))))
    left = np.delete(np.arange(dense.shape[1]), columns)
    np.testing.assert_array_equal(X.without(0, columns).toarray(), dense[:, left])
    alone = X.part([0], np.arange(1)).toarray()
    used = np.append(columns, X.places)
    np.testing.assert_array_equal(alone[:, used], dense[:, used])
    assert not np.delete(alone, used, axis=1).any()
    assert (X.part([0], np.arange(1), ones=True).toarray()[:, 0] == 1).all()
