"""One type for each column in all rows, whatever the first rows and the first file look like."""

import numpy as np
import pandas as pd
import pytest

from sgmc.errors import DataError
from sgmc.sources.opening import of

from .tables import CHUNK

FAR = 3 * CHUNK  # rows before the one that tells the type


def column(first, then):
    """A column that is `first` in many chunks and `then` in one row."""
    return [first] * FAR + [then]


# name: (values as text, dtype in pandas)
LATE = {
    "text after numbers": column("12", "A7"),
    "text after decimals": column("1.50", "n.a. yet"),
    "text after truth": column("True", "perhaps"),
    "numbers after truth": column("True", "1"),
    "decimal after whole": column("7", "7.25"),
    "gap after whole": column("7", ""),
    "gap after truth": column("True", ""),
    "whole after gaps": column("", "7"),
    "text after gaps": column("", "x"),
    "truth after gaps": column("", "False"),
    "gaps alone": column("", "NA"),
    "large after small": column("7", "9223372036854775808"),
    "large after negative": column("-7", "9223372036854775808"),
    "large after fractions": column("7.5", "9223372036854775808"),
    "exponents": column("7", "1e3"),
    "infinite": column("7.5", "inf"),
    "zeros ahead": column("007", "x"),
}


@pytest.mark.parametrize("values", LATE.values(), ids=LATE)
def test_a_type_is_that_of_all_rows(values, tmp_path, small_chunks):
    """As pandas finds it in the whole file at once, in each chunk, text as it is written."""
    path = tmp_path / "late.csv"
    lines = [f"{k},{value}" for k, value in enumerate(values)]
    path.write_text("\n".join(["k,late", *lines, ""]))
    expected = pd.read_csv(path, low_memory=False)
    chunks = list(of(path).chunks())
    assert len(chunks) == 4
    for k, chunk in enumerate(chunks):
        rows = expected.iloc[k * CHUNK : (k + 1) * CHUNK].reset_index(drop=True)
        pd.testing.assert_frame_equal(chunk, rows)
        assert (chunk.dtypes == expected.dtypes).all()
    pd.testing.assert_frame_equal(of(path).read(), expected)


def two_files(folder, first, second, suffix=".csv"):
    """A source of two files with a column x each."""
    for name, values in {"a": first, "b": second}.items():
        frame = pd.DataFrame({"k": range(len(values)), "x": values})
        if suffix == ".csv":
            frame.to_csv(folder / f"{name}.csv", index=False)
        else:
            frame.to_parquet(folder / f"{name}.parquet", index=False)
    return of(str(folder / f"*{suffix}"))


whole, real, empty = [1, 2, 3], [0.5, 1.5, 2.5], [None] * 3
FITTING = {
    "whole and real": (whole, real, "float64"),
    "whole and gaps": (whole, empty, "float64"),
    "gaps and real": (empty, real, "float64"),
    "gaps and text": (empty, ["u", "v", "v"], None),
    "truth and gaps": ([True, False, True], empty, "object"),
    "gaps and gaps": (empty, empty, None),
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("first, second, dtype", FITTING.values(), ids=FITTING)
def test_files_that_fit_together(first, second, dtype, suffix, tmp_path):
    """In both orders; a file without a value of a column takes the type of the others."""
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    for pair in ((first, second), (second, first)):
        source = two_files(tmp_path, *pair, suffix)
        found = source.read().x
        assert dtype is None or found.dtype == dtype
        assert [v for v in found if not pd.isna(v)] == [
            v for v in pair[0] + pair[1] if v is not None
        ]
        chunk = next(source.chunks()).x
        pd.testing.assert_series_equal(chunk, found)


def test_a_number_type_without_values_is_no_number(tmp_path):
    """A month without any remark is a column of NaN to pandas, and no reason for an error."""
    pytest.importorskip("pyarrow")
    source = two_files(tmp_path, [np.nan] * 3, ["u", "v", "v"], ".parquet")
    assert source.read().x.dropna().tolist() == ["u", "v", "v"]


def categories(values, levels, ordered=False):
    return pd.Series(pd.Categorical(values, levels, ordered))


def read_two(tmp_path, first, second):
    pytest.importorskip("pyarrow")
    return two_files(tmp_path, first, second, ".parquet").read().x


def test_categories_that_are_the_same_keep_their_order(tmp_path):
    levels = ["z", "a", "m"]
    found = read_two(tmp_path, categories(list("za"), levels), categories(list("mm"), levels))
    assert found.dtype == pd.CategoricalDtype(levels)


def test_other_categories_are_joined_and_sorted(tmp_path):
    found = read_two(tmp_path, categories(list("zm"), ["z", "m"]), categories(list("a"), ["a"]))
    assert found.dtype == pd.CategoricalDtype(["a", "m", "z"])
    assert found.tolist() == ["z", "m", "a"]


def test_categories_and_text_are_text(tmp_path):
    found = read_two(tmp_path, categories(list("zm"), ["z", "m"]), list("ab"))
    assert not isinstance(found.dtype, pd.CategoricalDtype) and found.tolist() == list("zmab")


def test_ordered_categories_keep_one_order(tmp_path):
    levels = ["low", "mid", "high"]
    some = categories(["low", "high"], ["low", "high"], True)
    found = read_two(tmp_path, some, categories(["mid", "low"], levels, True))
    assert found.dtype == pd.CategoricalDtype(levels, True)
    with pytest.raises(DataError, match=r"'x' has ordered categories, .*b\.parquet"):
        read_two(
            tmp_path, categories(["mid"], levels, True), categories(["low"], levels[::-1], True)
        )


@pytest.mark.parametrize("levels", [list("cab"), list("zyxwvutsrqponm")], ids=len)
def test_dictionaries_of_each_group_of_rows(levels, tmp_path, small_chunks):
    """Of a file of many groups the categories are those that pandas reads."""
    pytest.importorskip("pyarrow")
    values = np.repeat(levels, 50)
    frame = pd.DataFrame({"x": pd.Categorical(values, levels), "k": np.arange(len(values))})
    path = tmp_path / "groups.parquet"
    frame.to_parquet(path, row_group_size=40)
    expected = pd.read_parquet(path)
    for k, chunk in enumerate(of(path).chunks()):
        assert chunk.x.dtype == expected.x.dtype
        assert chunk.x.tolist() == expected.x.iloc[k * CHUNK :][: len(chunk)].tolist()


def test_local_dictionaries_of_polars(tmp_path, small_chunks):
    """Groups of rows have dictionaries of their own, in the order of their first rows."""
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    text = ["b"] * 200 + ["c", "a"] * 100
    frame = polars.DataFrame({"x": polars.Series(text, dtype=polars.Categorical)})
    frame.write_parquet(tmp_path / "local.parquet", row_group_size=50)
    source = of(tmp_path / "local.parquet")
    expected = pd.read_parquet(tmp_path / "local.parquet").x
    found = source.read().x
    assert found.tolist() == text == expected.tolist()
    assert (
        len(
            {
                str(chunk.x.dtype) + str(list(chunk.x.dtype.categories))
                for chunk in source.chunks()
                if isinstance(chunk.x.dtype, pd.CategoricalDtype)
            }
        )
        <= 1
    )
    assert found.dtype == expected.dtype


def test_an_index_that_pandas_stored_is_no_column(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index([5, 7], name="id"))
    frame.to_parquet(tmp_path / "indexed.parquet")
    source = of(tmp_path / "indexed.parquet")
    assert source.columns == ["x"] and source.read().index.tolist() == [0, 1]


def test_columns_may_come_in_another_order(tmp_path):
    pd.DataFrame({"a": [1], "b": [2]}).to_csv(tmp_path / "1.csv", index=False)
    pd.DataFrame({"b": [4], "a": [3]}).to_csv(tmp_path / "2.csv", index=False)
    assert of(tmp_path).read().to_dict("list") == {"a": [1, 3], "b": [2, 4]}
