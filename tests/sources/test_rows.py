"""Every kind of source has the rows, dtypes and categories of the same table in pandas."""

import numpy as np
import pandas as pd
import pytest

from sgmc.formula.data.frames import as_frame
from sgmc.sources.opening import of

from .tables import CHUNK, READERS, TEXT_SUFFIXES, N, parts, table, typed, written

# of dask, which calls pandas in a way that this deprecates
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")


def of_files(suffix):
    """Three files, and pandas' own reading of them."""

    def make(folder):
        if suffix not in TEXT_SUFFIXES:
            pytest.importorskip("pyarrow")
        frame = table() if suffix in TEXT_SUFFIXES else typed(table())
        paths = written(frame, folder, suffix)
        expected = pd.concat([READERS[suffix](path) for path in paths], ignore_index=True)
        return str(folder / f"*{suffix}"), expected

    return make


def of_dataset(folder):
    dataset = pytest.importorskip("pyarrow.dataset")
    data = dataset.dataset(written(typed(table()), folder, ".parquet"))
    return data, data.to_table().to_pandas()


def of_filter(folder):
    dataset = pytest.importorskip("pyarrow.dataset")
    data = dataset.dataset(written(typed(table()), folder, ".parquet"))
    data = data.filter(dataset.field("x") > -0.5)
    return data, data.to_table().to_pandas()


def of_folders(folder):
    """Files in folders, of whose names the Dataset makes a column."""
    dataset = pytest.importorskip("pyarrow.dataset")
    for k, part in enumerate(parts(table())):
        (folder / f"year={2020 + k}").mkdir()
        part.to_parquet(folder / f"year={2020 + k}" / "rows.parquet", index=False)
    data = dataset.dataset(folder, partitioning="hive")
    return data, data.to_table().to_pandas()


def of_memory(folder):
    """A Dataset that has no files."""
    pa, dataset = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.dataset")
    data = dataset.dataset(pa.Table.from_pandas(typed(table()), preserve_index=False))
    return data, data.to_table().to_pandas()


def in_polars():
    polars = pytest.importorskip("polars")
    columns = {name: column.tolist() for name, column in table().items()}
    frame = polars.DataFrame(columns, strict=False)
    levels = polars.Enum(["low", "mid", "high"])
    grades = polars.Series(["high", "low", "mid"] * (N // 3), dtype=levels)
    return frame.with_columns(
        grade=grades, local=polars.col("text").cast(polars.Categorical), none=polars.lit(None)
    )


def of_polars(folder):
    frame = in_polars()
    return frame.lazy(), as_frame(frame)


def of_query(folder):
    """A query over a file."""
    polars = pytest.importorskip("polars")
    in_polars().write_parquet(folder / "rows.parquet")
    data = polars.scan_parquet(folder / "rows.parquet").filter(polars.col("x") > 0)
    return data.with_columns(twice=2 * polars.col("x")), as_frame(
        data.with_columns(twice=2 * polars.col("x")).collect()
    )


def of_dask(folder):
    dask = pytest.importorskip("dask.dataframe")
    data = dask.from_pandas(typed(table()), npartitions=5)
    return data, data.compute().reset_index(drop=True)


def of_dask_files(folder):
    dask = pytest.importorskip("dask.dataframe")
    pytest.importorskip("pyarrow")
    data = dask.read_parquet(written(typed(table()), folder, ".parquet"))
    return data, data.compute().reset_index(drop=True)


def of_unknown_categories(folder):
    """dask does not know the categories before it reads them."""
    dask = pytest.importorskip("dask.dataframe")
    data = dask.from_pandas(table(), npartitions=5)
    data["text"] = data["text"].astype("category")
    return data, data.compute().reset_index(drop=True)


KINDS = {
    **{suffix: of_files(suffix) for suffix in READERS},
    "dataset": of_dataset,
    "filtered dataset": of_filter,
    "dataset of folders": of_folders,
    "dataset in memory": of_memory,
    "polars": of_polars,
    "polars query": of_query,
    "dask": of_dask,
    "dask files": of_dask_files,
    "dask unknown categories": of_unknown_categories,
}
kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
same = pd.testing.assert_frame_equal


@pytest.mark.cover(0)
@kinds
def test_all_rows_are_those_of_pandas(make, tmp_path):
    data, expected = make(tmp_path)
    source = of(data)
    assert source.columns == list(expected.columns)
    same(source.read(), expected)
    assert source.rows in (len(expected), None)
    size = expected.memory_usage(index=False, deep=True).sum()
    # an estimate by the first rows, or three partitions
    assert 0.5 * size < source.bytes < 2.5 * size
    assert of(data).identity == source.identity


@pytest.mark.extended(".parquet", "dask", "dask files", "dask unknown categories")
@kinds
def test_chunks_are_the_rows_in_order(make, tmp_path, small_chunks):
    data, expected = make(tmp_path)
    source = of(data)
    chunks = list(source.chunks())
    assert [len(chunk) for chunk in chunks[:-1]] == [CHUNK] * (len(chunks) - 1)
    for k, chunk in enumerate(chunks):
        rows = expected.iloc[k * CHUNK : (k + 1) * CHUNK].reset_index(drop=True)
        same(chunk, rows)
        assert (chunk.dtypes == expected.dtypes).all()  # of categories, too
        assert chunk.index.equals(pd.RangeIndex(len(chunk)))


@pytest.mark.cover(0)
@kinds
def test_chunks_begin_anywhere_with_any_columns(make, tmp_path, small_chunks):
    data, expected = make(tmp_path)
    source, names = of(data), ["text", "x", "late"]
    whole = -(-len(expected) // CHUNK)
    for start in range(whole + 1):
        chunks = list(source.chunks(start, names))
        assert len(chunks) == whole - start
        for k, chunk in enumerate(chunks, start):
            rows = expected[names].iloc[k * CHUNK : (k + 1) * CHUNK].reset_index(drop=True)
            same(chunk, rows)
    narrow = of(data).only(names)
    same(narrow.read(), expected[names])
    assert narrow.bytes < source.bytes and narrow.chunk_size == source.chunk_size


def test_rows_follow_the_order_of_files(tmp_path):
    """Those of a pattern and of a folder by their names, those of a list as given."""
    paths = []
    for k in (10, 2, 1):
        paths.append(str(tmp_path / f"{k}.csv"))
        pd.DataFrame({"k": [k, k]}).to_csv(paths[-1], index=False)
    assert of(paths).read().k.tolist() == [10, 10, 2, 2, 1, 1]
    for data in (str(tmp_path / "*.csv"), tmp_path, str(tmp_path)):
        assert of(data).read().k.tolist() == [1, 1, 10, 10, 2, 2]
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden.csv").touch()
    assert len(of(tmp_path).read()) == 6


def test_groups_of_rows_that_are_skipped_are_not_read(tmp_path, monkeypatch, small_chunks):
    pytest.importorskip("pyarrow")
    from pyarrow.parquet import ParquetFile

    source = of(written(typed(table()), tmp_path, ".parquet"))
    list(source.chunks(0, ["x"]))
    read, iterate = [], ParquetFile.iter_batches

    def counting(file, size, groups, columns):
        read.append(columns)
        return iterate(file, size, groups, columns)

    monkeypatch.setattr(ParquetFile, "iter_batches", counting)
    list(
        source.chunks(6, ["x"])
    )  # rows 768 to 899: the groups 760-829 and 830-899 of the last file
    assert read == [["x"]] * 2
    source.read()
    assert read[-1] == source.columns


def test_an_identity_changes_with_a_file(tmp_path):
    paths = written(table(), tmp_path, ".csv")
    first = of(paths).identity
    assert of(paths[:2]).identity != first != of(paths[::-1]).identity
    with open(paths[1], "a") as file:
        file.write("\n")
    assert of(paths).identity != first


def test_tables_in_memory_are_no_sources():
    frame = table()
    for data in (frame, {"x": [1.0]}, np.ones(3), [1.0, 2.0], []):
        assert of(data) is None
    if polars := pytest.importorskip("polars"):
        assert of(polars.DataFrame({"x": [1.0]})) is None
