"""CSR tables: the posterior of the dense table, and never made dense."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import sgmc
from sgmc.coordinates.identification.separation import pairs, stored_pairs
from sgmc.errors import DataError, SeparationWarning

CLASSES = [sparse.csr_array, sparse.csr_matrix]


def rare(n, d, seed, share=0.2):
    """(outcomes, CSR array): a column of ones, and d - 1 of which that share are ones."""
    random = np.random.default_rng(seed)
    X = sparse.csr_array(np.column_stack([np.ones(n), random.random((n, d - 1)) < share]) * 1.0)
    eta = X @ random.normal(scale=0.5, size=d)
    return (random.random(n) < 1 / (1 + np.exp(-eta))).astype(float), X


@pytest.fixture
def never_dense(monkeypatch):
    """Making a sparse array dense is an error."""

    def refused(self, *arguments, **keywords):
        raise AssertionError(f"{type(self).__name__} of shape {self.shape} was made dense")

    for cls in {base for one in CLASSES for base in one.__mro__}:
        for name in ("toarray", "todense", "__array__"):
            if name in vars(cls):
                monkeypatch.setattr(cls, name, refused)


def test_the_guard_sees_a_table_made_dense(never_dense):
    for cls in CLASSES:
        for densify in (lambda X: X.toarray(), lambda X: X.todense()):
            with pytest.raises(AssertionError, match="was made dense"):
                densify(cls(np.eye(3)))


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
@pytest.mark.parametrize(
    "how",
    [
        dict(),
        dict(precondition="diag"),
        dict(precondition=None, sampler="mala"),
        dict(subsample="uniform"),
        dict(sampler="sgld-saga"),
        dict(sampler="laplace"),
        dict(dtype="float32"),
    ],
    ids=str,
)
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_no_way_of_fitting_makes_it_dense(cls, how, never_dense):
    y, X = rare(1500, 12, 1)
    results = sgmc.Logit(y, cls(X), weights=np.ones(1500)).fit(seed=1, draws=300, **how)
    assert np.isfinite(results.draws).all() and str(results.summary())
    np.testing.assert_allclose(results.predict(cls(X)), results.predict(), rtol=1e-9)
    assert np.isfinite(results.get_prediction(cls(X[:9])).summary_frame()).all(axis=None)
    assert results.resume(draws=10).draws.shape[1] == 310


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "how",
    [dict(), dict(subsample="uniform"), dict(sampler="mala"), dict(precondition="diag")],
    ids=str,
)
def test_the_posterior_is_that_of_the_dense_table(how):
    """Means within 5 Monte Carlo errors; sds, whose error is about sd / sqrt(2 ESS), within 7 %.

    A wrong prior is seen.
    """
    y, X = rare(3000, 10, 2)
    one, other = (
        sgmc.Logit(y, table).fit(seed=seed, draws=2000, **how)
        for seed, table in ((1, X), (2, X.toarray()))
    )
    assert_alike(one, other)
    narrow = sgmc.Logit(y, X).fit(seed=1, draws=2000, prior=sgmc.normal(0, 0.3), **how)
    with pytest.raises(AssertionError):
        assert_alike(narrow, other)


def assert_alike(one, other):
    """Equal means and sds but for Monte Carlo error."""
    assert (np.abs(one.params - other.params) < 5 * np.hypot(one.mcse(), other.mcse())).all()
    assert (np.abs(one.bse / other.bse - 1) < 0.07).all()


@pytest.mark.extended
def test_separated_columns():
    """A column without contrary outcomes: half a normal, which Langevin steps meet only in the
    coordinates made for it.
    """
    y, X = rare(2000, 6, 3)
    column = (np.arange(2000) % 100 == 0)[:, None] * 1.0
    y[column[:, 0] == 1] = 1.0
    X = sparse.hstack([X, sparse.csr_array(column)], format="csr")
    found = []
    for table, sampler in ((X, "lmsgld"), (X.toarray(), "lmsgld"), (X.toarray(), "mala")):
        with pytest.warns(SeparationWarning, match="some values of x7 have only one outcome"):
            found.append(sgmc.Logit(y, table).fit(seed=len(found), draws=2000, sampler=sampler))
    assert_alike(found[0], found[1])
    assert_alike(found[0], found[2])
    theta = found[0].draws[0, :5]
    where = found[0]._fit.problem.coordinates
    # of linear interpolation
    np.testing.assert_allclose(where.theta(where.from_theta(theta[0])), theta[0], atol=1e-4)


@pytest.mark.parametrize("trials", [1, 40])
def test_lopsided_columns_of_both_storages(trials):
    random = np.random.default_rng(4)
    X = random.integers(0, 2, (500, 9)) * random.choice([-2.0, 0.5, 3.0], 9)
    X[:, 2] += 1.5  # two values, none of them zero
    X[:, 3] = random.choice([0.0, 1.0, 2.0], 500)
    X[:, 4], X[:, 5] = 0.0, 7.0
    X[:, 6] = random.normal(size=500)
    X[:, 7] = random.choice([-1.0, 1.0], 500)
    outcomes = np.stack(
        [successes := random.binomial(trials, 0.3, 500), trials - successes]
    ).astype(float)
    stored = sparse.csr_array(X)
    # explicit zeros
    stored.data[stored.indices == 8] *= random.integers(0, 2, (stored.indices == 8).sum())
    columns, *dense = pairs(stored.toarray(), *outcomes)
    found, *sparse_ones = stored_pairs(stored, *outcomes)
    assert found.tolist() == columns.tolist() == [0, 1, 2, 7, 8]
    for one, other in zip(sparse_ones, dense):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(
        dense[-1][0, :, 0], outcomes[:, X[:, 0] == X[:, 0].max()].sum(axis=1)
    )


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_memory_of_a_wide_table(never_dense):
    """100,000 rows of 150 columns are 120 MB when dense;
    what a fit and predictions allocate stays under half of that.
    """
    random = np.random.default_rng(5)
    X = sparse.csr_array(random.random((100_000, 150)) < 0.02, dtype=float)
    y = (random.random(100_000) < 0.4).astype(float)
    sgmc.Logit(y[:20_000], X[:20_000]).fit(seed=1, draws=100, chains=1).predict(X)  # loads modules
    tracemalloc.start()
    results = sgmc.Logit(y, X).fit(seed=1, draws=100, chains=1)
    fitting = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    results.predict(X)
    predicting = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(fitting, predicting) < 8 * np.prod(X.shape) / 2, (fitting, predicting)


def test_new_rows_that_are_damaged_or_infinite():
    y, X = rare(500, 5, 6)
    results = sgmc.Logit(y, X).fit(seed=1)
    new = X[:5]
    new.data[0] = np.inf
    with pytest.raises(DataError, match="infinite in 'const' at row 0"):
        results.predict(new)
    new = X[:5]
    new.data[0] = np.nan
    assert np.isnan(results.predict(new)).tolist() == [True, False, False, False, False]
    with pytest.raises(DataError, match="it must have 5 columns"):
        results.predict(X[:, :4])
