"""Files of others as data: pipes, and text that is packed a thousand times."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError
from sgmc.sources import delimited, lines
from sgmc.sources.opening import of
from tests.faults.children import Child, Raised, forking

WIDE = 70 << 20  # bytes of one value


@pytest.mark.cover(0)
@forking
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet", "arrow"])
def test_pipes_are_not_waited_for(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    os.mkfifo(path)
    calls = {
        "a path": lambda: sgmc.logit("y ~ x", path),
        "a folder": lambda: sgmc.logit("y ~ x", tmp_path),
        "a pattern": lambda: sgmc.logit("y ~ x", str(tmp_path / "a*")),
        "prepare": lambda: sgmc.prepare("y ~ x", path, tmp_path / "b.sgmc"),
    }
    for name, call in calls.items():
        found = Child(call).done(30)
        assert isinstance(found, Raised) and found.kind == "DataError", (name, found)
        assert f"a.{suffix} is no regular file: save what it holds as one" in found.words


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_refused_by_name(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(DataError, match="a.csv is no regular file: save what it holds as one"):
        of(tmp_path / "a.csv")


@forking
def test_a_pipe_is_no_prepared_file(tmp_path):
    os.mkfifo(tmp_path / "a.sgmc")
    found = Child(lambda: sgmc.open(tmp_path / "a.sgmc")).done(30)
    assert "must be a file that exists" in found.words
    found = Child(lambda: sgmc.Prepared(str(tmp_path / "a.sgmc"))).done(30)
    assert "a.sgmc is no regular file" in found.words


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "content", [b"x,y\n1," + b"0" * WIDE, b"x" * WIDE, b'x,y\n1,"' + b"a" * WIDE]
)
def test_a_value_has_a_bound(content, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(content, 1))
    with pytest.raises(DataError, match="a.csv.gz has a line of more than 64 MB, which is no row"):
        sgmc.logit("y ~ x", path)


def test_lines_within_quotation_marks_have_one_too(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b'x,y\n1,"' + b"a\n" * (WIDE // 2), 1))
    with pytest.raises(DataError, match="of text in rows that are read together: does a quotation"):
        sgmc.logit("y ~ x", path)


def test_a_value_far_within_the_file_has_the_bound(tmp_path, monkeypatch):
    """After rows by which a file seems to be small."""
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n" + b"1,0\n0,1\n" * 4000 + b'"' + b"0" * WIDE, 1))
    with pytest.raises(DataError, match="has a line of more than 64 MB"):
        of(path).read()


@pytest.mark.cover(0)
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_rows_that_are_too_many_at_once_are_read_in_chunks(suffix, tmp_path, monkeypatch):
    path, n = tmp_path / f"a.{suffix}", 200_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=n).round(3), "g": rng.choice(["a", "b"], n)})
    frame.to_csv(path, index=False)
    source = of(path)
    whole = source.read()
    monkeypatch.setattr(delimited, "TEXT_AT_ONCE", 1 << 20)
    monkeypatch.setattr(lines.Lines.__init__, "__defaults__", (1 << 20,))
    pd.testing.assert_frame_equal(of(path).read(), whole)


def test_a_file_that_is_not_there_leaves_nothing_to_close(tmp_path):
    with pytest.raises(FileNotFoundError):
        lines.Lines(str(tmp_path / "none.csv"))
    empty = lines.Lines.__new__(lines.Lines)
    empty.close()
    assert empty.closed
