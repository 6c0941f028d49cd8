"""Memory-mapped and read-only arrays are used where they are, where nothing needs a copy."""

import tracemalloc
import warnings

import numpy as np
import pytest

import sgmc
from sgmc.errors import SeparationWarning, SGMCWarning
from sgmc.fit import choose, noise
from sgmc.models.regression.rows.from_arrays import is_lent

N, D = 24_000, 80
NOTE = "The design matrix is used in place, without a copy."


@pytest.fixture(scope="module")
def rows():
    """(outcomes, design): sorted by outcome, so that nothing may rest on a random order of the
    rows.
    """
    random = np.random.default_rng(1)
    X = np.column_stack([np.ones(N), random.normal(size=(N, D - 1)) + 3.0])
    y = (random.random(N) < 1 / (1 + np.exp(1 - 0.3 * X[:, 1]))).astype(float)
    order = np.argsort(y, kind="stable")
    return y[order], X[order]


def mapped(X, folder, mode="r"):
    """X in a file."""
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode=mode)


def read_only(X, folder):
    """X, not to be written to."""
    X = X.view() if X.strides[-1] != X.itemsize else X.copy()
    X.setflags(write=False)
    return X


def fitted(y, X, **how):
    """A short fit; its warnings are of few draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return sgmc.Logit(y, X).fit(**{"seed": 1, "draws": 20, "chains": 2, **how})


def growth(y, X, **how):
    """(results, peak of what a fit allocated over the bytes of the design)."""
    fitted(y[::1000], X[::1000], **how)  # what is imported late is not the fit's
    tracemalloc.start()
    results = fitted(y, X, **how)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return results, peak / X.nbytes


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "how",
    [dict(), dict(precondition=None), dict(precondition="diag"), dict(sampler="mala", warmup=5)],
    ids=str,
)
@pytest.mark.parametrize("make", [mapped, read_only])
def test_the_rows_are_not_copied(make, how, rows, tmp_path):
    """Rows of 80 numbers: an outcome, an expansion and an index a chain are about a tenth of the
    rows.
    """
    X = make(rows[1], tmp_path)
    results, peak = growth(rows[0], X, subsample="uniform", **how)
    assert np.shares_memory(results._fit.problem.table.X, X) and NOTE in str(
        results.summary(details=True)
    )
    assert peak < 0.5
    assert growth(rows[0], X, **how)[1] > 1.0  # blocks need rows in random order: a copy


@pytest.mark.extended
@pytest.mark.parametrize("subsample", ["uniform", "replacement", "preferential", "stratified"])
def test_nor_those_of_plain_arrays_without_preconditioner(subsample, rows):
    y, X = (part[::8].copy() for part in rows)
    results = fitted(y, X, subsample=subsample, precondition=None)
    assert np.shares_memory(results._fit.problem.table.X, X)
    dense = fitted(y, X, subsample=subsample)
    assert not np.shares_memory(dense._fit.problem.table.X, X) and NOTE not in str(
        dense.summary(details=True)
    )


@pytest.mark.extended("strided")
@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray,
        lambda X: X[:, ::2],
        lambda X: X.astype(np.float32),
        lambda X: X.astype(">f8"),
        lambda X: X.astype(np.int8),
    ],
    ids=["Fortran", "strided", "float32", "big-endian", "integers"],
)
def test_what_does_not_fit_is_copied(make, rows):
    y, X = rows[0][::8].copy(), read_only(make(rows[1][::8]), None)
    results = fitted(y, X, subsample="uniform")
    assert not np.shares_memory(results._fit.problem.table.X, X)
    assert NOTE not in str(results.summary(details=True))


def test_float32_stays_where_it_is_if_so_wished(rows):
    X = read_only(rows[1].astype(np.float32), None)
    results = fitted(rows[0], X, subsample="uniform", dtype="float32")
    assert np.shares_memory(results._fit.problem.table.X, X)


def test_which_arrays_are_lent(tmp_path):
    X = np.zeros((4, 3))
    assert is_lent(mapped(X, tmp_path, "r+"))
    assert is_lent(np.asarray(mapped(X, tmp_path))[1:])
    assert is_lent(read_only(X, None))
    assert not is_lent(X) and not is_lent(X[1:])


def assert_alike(one, other):
    """Means within 5 Monte Carlo errors, sds within 8 % (their error is sd / sqrt(2 ESS), ESS over
    2000).
    """
    assert (np.abs(one.params - other.params) < 5 * np.hypot(one.mcse(), other.mcse())).all()
    assert (np.abs(one.bse / other.bse - 1) < 0.08).all()


@pytest.fixture(scope="module")
def exact(rows):
    """An exact posterior of every other row and five columns."""
    y, X = rows[0][::2].copy(), rows[1][::2, :5].copy()
    return y, X, sgmc.Logit(y, X).fit(seed=1, sampler="hmc")


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "how",
    [
        dict(),
        dict(precondition="diag"),
        dict(gradient="cv"),
        dict(subsample="preferential"),
        dict(subsample="stratified"),
        dict(subsample="replacement", sampler="sghmc"),
    ],
    ids=str,
)
def test_the_posterior_is_that_of_a_copy(how, exact, tmp_path):
    y, X, reference = exact
    results = sgmc.Logit(y, mapped(X, tmp_path)).fit(
        seed=2, **{"subsample": "uniform", "sampler": "lmsgld", **how}
    )
    assert results._fit.problem.table.given
    assert_alike(results, reference)
    # in the order of the rows
    np.testing.assert_allclose(results.predict(), reference.predict(X), atol=0.01)
    again = sgmc.Logit(y, read_only(X, None)).fit(
        seed=2, **{"subsample": "uniform", "sampler": "lmsgld", **how}
    )
    np.testing.assert_array_equal(again.draws, results.draws)


@pytest.mark.cover(0)
@pytest.mark.parametrize("subsample", ["uniform", "stratified"])
def test_noise_is_seen_in_all_of_a_sorted_table(subsample, exact, monkeypatch):
    """As if there were more rows than are looked at, in a table sorted by a predictor:
    the first rows would mislead.
    """
    y, X, _ = exact
    order = np.argsort(X[:, 1], kind="stable")
    y, X = y[order], X[order]
    how = dict(sampler="sgld-cv", subsample=subsample, batch_size=500, step_size=0.01, thin=1)
    expected = fitted(y, read_only(X, None), **how).gradient_noise().tau
    monkeypatch.setattr(noise, "PILOT_ROWS", 2000)
    found = fitted(y, read_only(X, None), **how).gradient_noise().tau
    # sds of 2000 rows: 3 % or so, with heavy tails 10 %
    np.testing.assert_allclose(found, expected, rtol=0.15)
    monkeypatch.setattr(choose, "pilot_rows", lambda *of_what: 2000)
    first = fitted(y, read_only(X, None), **how).gradient_noise().tau
    assert np.abs(first / expected - 1).max() > 0.15  # the mistake is seen


def test_separated_columns_in_place(exact):
    y, X, _ = exact
    column = np.zeros(len(y))
    column[-30:] = 1.0  # all of them successes
    X = np.column_stack([X, column])
    found = []
    for table, subsample in ((read_only(X, None), "uniform"), (X, "block")):
        with pytest.warns(SeparationWarning, match="some values of x6 have only one outcome"):
            found.append(
                sgmc.Logit(y, table).fit(seed=1, sampler="lmsgld", subsample=subsample, draws=2000)
            )
    assert_alike(*found)
