"""Fits of sources: those of the same rows in pandas, or of a file that is prepared for them."""

import gc
import os

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError
from sgmc.prepared import filing, opening

from .tables import READERS, TEXT_SUFFIXES, parts, table, typed, write, written

FORMULAS = [
    "y ~ x + text",
    "y ~ .",
    "y ~ C(late) + np.log(count + 1) + b",
    "y ~ x + gaps + flag + word",
]
pytestmark = [
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
    pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning"),
]


def in_polars(folder):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: list(column) for name, column in table().items()}, strict=False)
    return frame.lazy(), frame


def in_dask(folder):
    dask = pytest.importorskip("dask.dataframe")
    data = dask.from_pandas(table(), npartitions=4)
    return data, data.compute().reset_index(drop=True)


def in_dataset(folder):
    dataset = pytest.importorskip("pyarrow.dataset")
    data = dataset.dataset(written(typed(table()), folder, ".parquet"))
    return data, data.to_table().to_pandas()


def in_files(suffix):
    def make(folder):
        if suffix not in TEXT_SUFFIXES:
            pytest.importorskip("pyarrow")
        frame = table() if suffix in TEXT_SUFFIXES else typed(table())
        paths = written(frame, folder, suffix)
        return paths, pd.concat([READERS[suffix](path) for path in paths], ignore_index=True)

    return make


KINDS = {
    **{suffix: in_files(suffix) for suffix in READERS},
    "dataset": in_dataset,
    "polars": in_polars,
    "dask": in_dask,
}


@pytest.mark.cover(0)
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_the_draws_are_those_of_the_same_rows_in_memory(make, tmp_path):
    data, frame = make(tmp_path)
    for formula in FORMULAS[:2] if "csv" not in str(data) else FORMULAS:
        found, expected = (sgmc.logit(formula, rows, seed=1, draws=50) for rows in (data, frame))
        assert found.model.exog_names == expected.model.exog_names
        np.testing.assert_array_equal(found.draws, expected.draws)


@pytest.fixture
def paths(tmp_path):
    """A table in three CSV files."""
    return written(table(), tmp_path, ".csv")


@pytest.fixture
def no_memory(monkeypatch):
    """A machine on which nothing is simply read."""
    monkeypatch.setattr(opening, "available", lambda: 1000.0)


def test_arguments_beside_the_formula(paths):
    given = dict(weights="count", offset="single", subset="small > -5", seed=1, draws=50)
    expected = sgmc.logit("y ~ x", pd.concat(map(pd.read_csv, paths), ignore_index=True), **given)
    np.testing.assert_array_equal(sgmc.logit("y ~ x", paths, **given).draws, expected.draws)
    mask = table().small > -5
    given |= dict(weights=table()["count"], subset=lambda frame: frame.small > -5)
    np.testing.assert_array_equal(sgmc.logit("y ~ x", paths, **given).draws, expected.draws)
    given |= dict(subset=mask)
    np.testing.assert_array_equal(sgmc.logit("y ~ x", paths, **given).draws, expected.draws)


def test_other_verbs_and_models(paths):
    frame = pd.concat(map(pd.read_csv, paths), ignore_index=True)
    for data in (paths, frame):
        results = [
            sgmc.ols("x ~ y + text", data, seed=1, draws=50),
            sgmc.glm("count ~ x", data, family="poisson", seed=1, draws=50),
            sgmc.Logit.from_formula("y ~ x", data).fit(seed=1, draws=50),
            sgmc.ols("x ~ y + (1 | late)", data, seed=1, draws=50),
        ]
        if data is paths:
            found = results
    for one, other in zip(found, results):
        np.testing.assert_array_equal(one.draws, other.draws)


def test_a_run_goes_on_with_the_files(paths, tmp_path):
    given = dict(seed=1, sampler="sgld", step_size=0.1, batch_size=50)
    first = sgmc.logit("y ~ x", paths, draws=50, **given)
    first.save(tmp_path / "fit")
    again = sgmc.load(tmp_path / "fit").resume(draws=50, data=paths)
    np.testing.assert_array_equal(again.draws, first.resume(draws=50).draws)


def close(found, expected):
    """Whether posteriors agree: 4,000 nearly independent draws each have means with a standard
    error of .022 sd for their difference (.1 is 4.5 of them) and sds of 1.6 % (7 %).
    """
    apart = np.abs(found.params - expected.params) / expected.bse
    assert apart.max() < 0.1 and np.abs(found.bse / expected.bse - 1).max() < 0.07


@pytest.mark.cover(0)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_that_are_too_many_are_prepared(suffix, tmp_path, no_memory):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    frame = table().sort_values(["y", "x"], ignore_index=True)  # the worst order there is
    data = written(frame, tmp_path, suffix)
    found = sgmc.logit("y ~ x + text", data, seed=1)
    close(found, sgmc.logit("y ~ x + text", frame, seed=1))
    again = sgmc.logit("y ~ x + text", data, seed=1)
    np.testing.assert_array_equal(found.draws, again.draws)  # the order of rows has its own seed


@pytest.mark.extended
def test_the_same_rows_give_the_same_bits_however_they_are_stored(tmp_path, no_memory):
    pytest.importorskip("pyarrow")
    draws = []
    for k, suffix in enumerate((".parquet", ".feather", ".csv")):
        (tmp_path / str(k)).mkdir()
        data = written(table(), tmp_path / str(k), suffix)
        draws.append(sgmc.logit("y ~ x + gaps + text", data, seed=1, draws=50).draws)
    write(table(), tmp_path / "all.parquet")
    draws.append(
        sgmc.logit("y ~ x + gaps + text", tmp_path / "all.parquet", seed=1, draws=50).draws
    )
    for one in draws[1:]:
        np.testing.assert_array_equal(one, draws[0])


def test_a_cache_is_used_again(paths, tmp_path, no_memory, monkeypatch):
    cache = tmp_path / "cache"
    cache.mkdir()
    given = dict(cache=cache, seed=1, draws=50)
    first = sgmc.logit("y ~ x", paths, **given)
    assert len(os.listdir(cache)) == 1
    with monkeypatch.context() as patched:
        patched.setattr(filing, "prepare", lambda *a, **k: pytest.fail("prepared again"))
        again = sgmc.logit("y ~ x", paths, **given)
        sgmc.logit("y ~ x", paths, **{**given, "seed": 2})
        sgmc.Logit.from_formula("y ~ x", paths, cache=cache).fit(seed=1, draws=50)
    np.testing.assert_array_equal(again.draws, first.draws)


OFFSET = 1.0


def shifted(x):
    """A function of a formula that depends on a global."""
    return x + OFFSET


@pytest.mark.extended
def test_a_cache_is_of_all_that_it_is_made_of(paths, tmp_path, no_memory, monkeypatch):
    """Another formula, argument, type, function, or file: another table."""
    cache = tmp_path / "cache"
    cache.mkdir()
    base = dict(formula="y ~ shifted(x)", data=paths)
    others = [
        {},
        dict(formula="y ~ shifted(x) + b"),
        dict(weights="count"),
        dict(subset="small > 0"),
        dict(subset=lambda frame: frame.small > 0),
        dict(missing="raise"),
        dict(dtype="float32"),
        dict(data=paths[:2]),
        dict(data=paths[::-1]),
    ]
    for k, other in enumerate(others, 1):
        sgmc.logit(**{**base, **other}, cache=cache, seed=1, draws=20)
        assert len(os.listdir(cache)) == k, other
    monkeypatch.setitem(globals(), "OFFSET", 2.0)
    sgmc.logit(**base, cache=cache, seed=1, draws=20)
    assert len(os.listdir(cache)) == k + 1
    with open(paths[0], "a+") as file:
        file.seek(0)
        file.write(file.readlines()[-1])
    found = sgmc.logit(**base, cache=cache, seed=1, draws=20)
    assert len(os.listdir(cache)) == k + 2 and found.nobs == len(table()) + 1


@pytest.mark.extended
def test_a_temporary_file_goes_with_the_results(paths, tmp_path, no_memory, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(filing.tempfile, "tempdir", str(place))
    made, prepare = [], filing.prepare
    monkeypatch.setattr(filing, "prepare", lambda *a, **k: made.append(a[2]) or prepare(*a, **k))
    found = sgmc.logit("y ~ x", paths, seed=1, draws=50)
    assert made[0].startswith(str(place))
    longer = found.resume(draws=50)
    assert longer.draws.shape[1] == 100
    del found, longer
    gc.collect()
    assert os.listdir(place) == []


def test_masks_and_arrays_belong_to_memory(paths, no_memory):
    for given in (dict(weights=table()["count"]), dict(subset=table().small > 0)):
        with pytest.raises(ArgumentError, match="is an array, and the rows are too many"):
            sgmc.logit("y ~ x", paths, **given)


def test_functions_of_a_given_scope(paths, no_memory):
    """Not of the caller alone."""
    found = sgmc.Logit.from_formula("y ~ moved(x)", paths, scope={"moved": shifted}).fit(seed=1)
    expected = sgmc.Logit.from_formula("y ~ shifted(x)", paths).fit(seed=1)
    np.testing.assert_array_equal(found.draws, expected.draws)


def test_groups_of_prepared_files(paths, no_memory):
    found = sgmc.ols("x ~ y + (1 | text)", paths, seed=1, draws=50)
    frame = pd.concat(map(pd.read_csv, paths), ignore_index=True)
    expected = sgmc.ols("x ~ y + (1 | text)", frame, seed=1, draws=50)
    np.testing.assert_allclose(found.params, expected.params, rtol=1e-8)


def test_progress_is_of_the_file_first(paths, no_memory):
    told = []
    sgmc.logit("y ~ x", paths, seed=1, draws=50, progress=lambda *pair: told.append(pair))
    assert told[0] == (0, 1000) and (1000, 1000) in told


def test_parts_without_rows(tmp_path):
    for name, part in zip("abc", (table()[:0], *parts(table())[::2])):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    assert sgmc.logit("y ~ x + text", tmp_path, seed=1, draws=50).nobs == 890
