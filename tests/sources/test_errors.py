"""Sources that cannot be used: one sentence each that names the file and the column."""

import gzip
import os
import sys

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError, MissingExtra
from sgmc.sources.opening import of

from .tables import write

FRAME = pd.DataFrame({"y": [0, 1] * 20, "x": np.arange(40.0), "g": list("abcd") * 10})
TEXT = FRAME.assign(x="high")
LACKING = FRAME.drop(columns="x")
MORE = FRAME.assign(z=1)
NOT_MUCH = "y,x,g\n"


def files(**contents):
    """What writes files, by name with _ for the dot: frames, text or bytes."""

    def make(folder):
        for name, content in contents.items():
            path = folder / name.replace("_", ".")
            if isinstance(content, pd.DataFrame):
                write(content, path)
            elif isinstance(content, bytes):
                path.write_bytes(content)
            else:
                path.write_text(content)
        names = [str(folder / name.replace("_", ".")) for name in contents]
        return names if len(names) > 1 else names[0]

    return make


def cut(folder):
    """A Parquet file without its end."""
    write(FRAME, folder / "a.parquet")
    path = folder / "cut.parquet"
    path.write_bytes((folder / "a.parquet").read_bytes()[:-300])
    return str(path)


def changed(folder):
    """A Parquet file with other bytes among the rows."""
    write(FRAME, folder / "a.parquet")
    content = bytearray((folder / "a.parquet").read_bytes())
    content[4:60] = b"\xff" * 56
    (folder / "changed.parquet").write_bytes(content)
    return str(folder / "changed.parquet")


def stream(folder):
    """An Arrow stream, which is no Arrow file."""
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(FRAME)
    with pa.ipc.new_stream(folder / "stream.arrow", table.schema) as writer:
        writer.write_table(table)
    return str(folder / "stream.arrow")


def folders(folder):
    (folder / "year=2020").mkdir()
    return folder


def empty_folder(folder):
    (folder / "none").mkdir()
    return folder / "none"


def dataset(*frames):
    """A pyarrow Dataset of Parquet files."""

    def make(folder):
        dataset = pytest.importorskip("pyarrow.dataset")
        paths = files(**{f"{name}_parquet": frame for name, frame in zip("ab", frames)})(folder)
        return dataset.dataset(paths)

    return make


def query(folder):
    polars = pytest.importorskip("polars")
    return polars.LazyFrame({"y": [0, 1]}).with_columns(x=polars.col("absent"))


def scan(folder):
    return pytest.importorskip("polars").scan_csv(folder / "none.csv")


def partitions(folder):
    dask = pytest.importorskip("dask.dataframe")
    return dask.read_csv(files(a_csv=FRAME, b_csv=LACKING)(folder))


def at(path):
    return lambda folder: str(folder / path)


packed = gzip.compress(FRAME.to_csv(index=False).encode() * 50)
ERRORS = {
    "a column missing": (
        files(a_csv=FRAME, b_csv=LACKING),
        r"b\.csv has no column 'x', which .*a\.csv",
    ),
    "a column more": (files(a_csv=FRAME, b_csv=MORE), r"a\.csv has no column 'z', which .*b\.csv"),
    "a column missing, Parquet": (
        files(a_parquet=FRAME, b_parquet=LACKING),
        r"b\.parquet has no column 'x', which .*a\.parquet has",
    ),
    "a column missing, Dataset": (dataset(FRAME, LACKING), r"b\.parquet has no column 'x'"),
    "a column missing, dask": (partitions, r"partition 1 of .* has no column 'x'"),
    "text beside numbers": (
        files(a_csv=FRAME, b_csv=TEXT),
        r"'x' is a number in .*a\.csv and text in .*b\.csv; make it the same",
    ),
    "text beside numbers, Parquet": (
        files(a_parquet=FRAME, b_parquet=TEXT),
        r"'x' is a number in .*a\.parquet and text in .*b\.parquet",
    ),
    "text beside numbers, Arrow": (
        files(a_arrow=FRAME, b_arrow=TEXT),
        r"'x' is a number in .*a\.arrow and text in .*b\.arrow",
    ),
    "text beside numbers, Dataset": (dataset(FRAME, TEXT), r"'x' is double in .* in .*b\.parquet"),
    "truth beside numbers": (
        files(a_csv=FRAME, b_csv=FRAME.assign(x=FRAME.y == 1)),
        r"'x' is a number in .*a\.csv and true or false in .*b\.csv",
    ),
    "dates beside text, Parquet": (
        files(a_parquet=FRAME, b_parquet=FRAME.assign(g=pd.Timestamp("2020-01-01"))),
        r"'g' is text in .*a\.parquet and a date in .*b\.parquet",
    ),
    "no file matches": (at("*.parquet"), r"\*\.parquet' matches no file; check the folder"),
    "no such file": (at("none.csv"), r"none\.csv': there is no such file"),
    "an empty file": (files(a_csv=""), r"a\.csv is empty"),
    "an empty file, Parquet": (files(a_parquet=b""), r"a\.parquet cannot be read"),
    "no rows": (files(a_csv=NOT_MUCH), r"a\.csv has no rows"),
    "no rows, Parquet": (files(a_parquet=FRAME[:0]), r"a\.parquet has no rows"),
    "an empty folder": (empty_folder, r"none has no files"),
    "folders in a folder": (folders, r"has a folder 'year=2020' in it; pass pyarrow\.dataset"),
    "a Parquet file cut short": (cut, r"cut\.parquet cannot be read"),
    "a changed Parquet file": (changed, r"changed\.parquet cannot be read"),
    "no Parquet file": (files(a_parquet="y,x\n0,1\n"), r"a\.parquet cannot be read"),
    "no Arrow file": (files(a_arrow="y,x\n0,1\n" * 9), r"a\.arrow cannot be read"),
    "an Arrow stream": (stream, r"stream\.arrow cannot be read"),
    "bytes for text": (files(a_csv=bytes(range(128, 256)) * 9), r"a\.csv cannot be read: 'utf-8'"),
    "a long line": (files(a_csv="y,x,g\n0,1,a\n1,2,3,4\n"), r"a\.csv cannot be read: .*line 3"),
    "names twice": (files(a_csv="y,x,x\n0,1,2\n1,2,4\n"), r"a\.csv has more than one column 'x'"),
    "long lines": (files(a_csv="y,x,g\n0,1,a,2\n1,2,3,4\n"), r"a\.csv has more values in a line"),
    "a packed file cut short": (
        files(a_csv_gz=packed[: len(packed) // 2]),
        r"a\.csv\.gz cannot be read: Compressed file ended",
    ),
    "a file that is not packed": (
        files(a_csv_gz=NOT_MUCH),
        r"a\.csv\.gz cannot be read: Not a gzip",
    ),
    "an unknown suffix": (
        files(a_xlsx="x"),
        r"a\.xlsx is of an unknown kind; .* \.csv, .*\.parquet",
    ),
    "a prepared file": (files(a_sgmc="x"), r"is opened by sgmc\.open"),
    "files of two kinds": (
        files(a_csv=FRAME, b_tsv=FRAME),
        r"a\.csv is CSV and .*b\.tsv is TSV; give files of one kind",
    ),
    "a file twice": (lambda folder: [files(a_csv=FRAME)(folder)] * 2, r"a\.csv is there twice"),
    "an address": (lambda folder: "s3://bucket/x.parquet", r"is no file of this machine"),
    "an unknown column of a query": (query, r"LazyFrame\) cannot be evaluated: .*absent"),
    "a query of no file": (scan, r"LazyFrame\) cannot be evaluated: .*none\.csv"),
    "a list of what are no paths": (lambda folder: [1, 2], r"data must be a DataFrame"),
}
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")


@pytest.mark.parametrize("make, text", ERRORS.values(), ids=ERRORS)
def test_what_cannot_be_read(make, text, tmp_path, request):
    if "arquet" in request.node.name or "Arrow" in request.node.name:
        pytest.importorskip("pyarrow")
    data = make(tmp_path)
    with pytest.raises(DataError, match=text) as caught:
        sgmc.logit("y ~ x + g", data, seed=1)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_the_formula_is_read_before_the_rows(tmp_path, monkeypatch):
    """And columns of arguments, settings beside them: no row has been read."""
    path = files(a_csv=FRAME)(tmp_path)
    from sgmc.sources.delimited import Commas

    for reader in ("whole", "frames", "sample", "look"):
        monkeypatch.setattr(Commas, reader, lambda *given: pytest.fail("rows were read"))
    for error, text, given in (
        (FormulaError, "'xx' is neither a column", dict(formula="y ~ xx")),
        (
            DataError,
            "weights='w' is not a column of the data; columns are: y, x, g",
            dict(weights="w"),
        ),
        (ArgumentError, "cache=.*must be a folder that exists", dict(cache=tmp_path / "none")),
        (ArgumentError, "cache=3 must be a folder", dict(cache=3)),
        (ArgumentError, "memory_limit='1MB' must be bytes", dict(memory_limit="1MB")),
        (ArgumentError, "exposure does not apply to logit", dict(exposure="x")),
    ):
        with pytest.raises(error, match=text):
            sgmc.logit(**{"formula": "y ~ x", "data": path, **given})


def test_missing_values_are_refused_where_they_are_to_be(tmp_path):
    path = files(a_csv=FRAME.assign(x=FRAME.x.mask(FRAME.index == 3)))(tmp_path)
    with pytest.raises(DataError, match=r"1 row has missing values, in 'x' \(1\)"):
        sgmc.logit("y ~ x", path, missing="raise")
    assert sgmc.logit("y ~ x", path, seed=1).nobs == 39


def test_no_permission(tmp_path, monkeypatch):
    """Root may read anything: the reader is made to be refused."""
    path = files(a_csv=FRAME)(tmp_path)

    def refused(*given, **how):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(pd, "read_csv", refused)
    with pytest.raises(DataError, match=r"no permission to read .*a\.csv: change its mode"):
        of(path)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_without_pyarrow(name, tmp_path, monkeypatch):
    (tmp_path / name).write_bytes(b"whatever")
    for module in [one for one in sys.modules if one.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"needs pyarrow; pip install pyarrow"):
        of(tmp_path / name)


def test_a_file_that_changes_while_it_is_read(tmp_path):
    path = files(a_csv=FRAME)(tmp_path)
    source = of(path)
    source.parts[0].types(source.columns)
    TEXT.to_csv(path, index=False)
    with pytest.raises(DataError, match=r"a\.csv cannot be read: .*(convert|float)"):
        list(source.chunks())
    os.unlink(path)
    with pytest.raises(DataError, match=r"a\.csv is not there"):
        list(source.chunks())


def test_arguments_of_files_do_not_apply_to_memory(tmp_path):
    for given in (dict(cache=tmp_path), dict(memory_limit="1GB")):
        with pytest.raises(
            ArgumentError, match="does not apply to a table in memory: leave it out"
        ):
            sgmc.logit("y ~ x", FRAME, **given)


ELSEWHERE = {
    "outcomes": (lambda path: sgmc.Logit(path, FRAME[["x"]]), "endog must hold numbers"),
    "a design": (lambda path: sgmc.Logit(FRAME.y, path), "exog must hold numbers"),
    "documents": (lambda path: sgmc.LDA(path, 3), "counts must hold numbers"),
    "ratings": (
        lambda path: sgmc.BPMF(path, user="y", item="g", rating="x"),
        "must be a DataFrame",
    ),
    "a network": (lambda path: sgmc.BNN.from_formula("y ~ x", path), "not str: read"),
}


@pytest.mark.parametrize("call, text", ELSEWHERE.values(), ids=ELSEWHERE)
def test_models_from_arrays_take_no_paths(call, text, tmp_path):
    with pytest.raises(DataError, match=text):
        call(files(a_csv=FRAME)(tmp_path))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "x;y\n1,5;2,5\n2,5;3,5\n", r"';' between .*read_csv.*sep=';', decimal=','\)"),
        ("a.csv", "x;y\n1;2\n2;3\n", r"has ';' between its columns, not ','.*, sep=';'\), or"),
        ("a.csv", "x\ty\n1\t2\n", r"between its columns.*sep='.t'\), or write it with ','"),
        ("a.csv", "x|y\n1|2\n", r"has '\|' between its columns"),
        ("a.tsv", "x,y\n1,2\n", r"has ',' between its columns, not '.t'"),
        ("a.csv", "x,y\n1,2,3,4\n", "more values in a line than names"),
    ],
)
def test_other_separators_are_named(tmp_path, name, text, message):
    """Spreadsheets of many countries write semicolons, and decimal commas."""
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        sgmc.ols("y ~ x", str(tmp_path / name))


def test_names_may_hold_separators_where_values_do_not(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1\n2\n4\n5\n")
    assert sgmc.ols("`a;b` ~ 1", str(tmp_path / "a.csv"), seed=1).nobs == 4


def test_columns_without_a_name_are_no_name_twice(tmp_path):
    rows = "".join(f"{k},{k},{k % 5},{k % 3}\n" for k in range(20))
    (tmp_path / "a.csv").write_text(",,y,x\n" + rows)
    assert sgmc.OLS.from_formula("y ~ x", str(tmp_path / "a.csv")).data.n == 20
