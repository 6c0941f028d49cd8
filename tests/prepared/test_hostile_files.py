"""Prepared files that someone has changed and sealed again: each is refused by name, or gives the
fit of the file that was written.
"""

import copy
import os

import numpy as np
import pytest

import sgmc
from sgmc.errors import DataError
from sgmc.prepared.file import layout
from sgmc.prepared.file.schema import FACTS
from tests.faults.children import forking

from .hostile import (
    BIG,
    FORMULAS,
    NASTY,
    TYPES,
    VERBS,
    at,
    changed,
    fitted,
    read_again,
    refused_or_the_same,
    sealed,
    tree_of,
    with_rows,
    written_files,
)

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Prepared files of each kind, as bytes."""
    return written_files(tmp_path_factory.mktemp("written"))


TRIED = {name: fitted if name == "dense" else read_again for name in FORMULAS}


@pytest.mark.extended
@forking
@pytest.mark.parametrize("kind", FORMULAS)
def test_facts_are_what_they_may_be(kind, written, tmp_path):
    content = written[kind]
    facts = tree_of(content)[1]["facts"]
    assert set(facts) <= set(FACTS)
    places = [("facts",), ("sections",), *(("facts", name) for name in [*FACTS, "other"])]
    places += [("facts", "arguments", name) for name in ("weights", "subset", "missing", "most")]
    places += [("facts", "columns", 0), ("facts", "left_out", "x")]
    contents = {(p, k): changed(content, p, v) for p in places for k, v in enumerate(NASTY)}
    refused = refused_or_the_same(kind, written, contents, tmp_path / "file", TRIED[kind])
    assert refused > 0.7 * len(contents)


@pytest.mark.extended
@forking
@pytest.mark.parametrize("kind", FORMULAS)
def test_sections_are_what_they_may_be(kind, written, tmp_path):
    content = written[kind]
    sections = tree_of(content)[1]["sections"]
    contents = {}
    for name, one in sections.items():
        known = {"dtype": one["dtype"], "shape": one["shape"], "start": one["start"], "sha256": ""}
        for part, value in known.items():
            more = [*NASTY, *TYPES] if part == "dtype" else [*NASTY]
            if part == "shape":
                more += [[*value, 1], value[:-1], [-k for k in value], [2 * k for k in value]]
                more += [[k + 1 for k in value], [float(k) for k in value], value[::-1]]
            if part == "start":
                more += [value + 8, value + 4096, value - 4096, -4096, float(value) + 0.5, 2**63]
            for k, other in enumerate(more):
                if other != value or type(other) is not type(value):
                    contents[name, part, k] = changed(content, ("sections", name, part), other)
        tree = copy.deepcopy(tree_of(content)[1])
        del tree["sections"][name]
        contents[name, "lacks"] = sealed(content, tree)
        contents[name, "nothing"] = changed(content, ("sections", name), None)
        contents[name, "another"] = changed(content, ("sections", name + "s"), one)
    refused = refused_or_the_same(kind, written, contents, tmp_path / "file", TRIED[kind])
    # what stays whole: the number of a place as 4096.0, and checksums of rows, read when asked
    assert refused > 0.75 * len(contents)


@forking
def test_manifests_that_are_none(written, tmp_path):
    texts = (b"", b"{", b"[]", b"1", b"null", b"{}", b'{"sections": 1, "facts": 2}', b"\xff\xfe")
    texts += (b"[" * 100_000, b'{"sections": {}, "facts": {}}', b"9" * 10_000, b'"\\ud800"')
    contents = {k: sealed(written["dense"], text) for k, text in enumerate(texts)}
    refused = refused_or_the_same("dense", written, contents, tmp_path / "file")
    assert refused == len(texts)


def test_sections_end_where_the_manifest_begins(written, tmp_path):
    content = written["dense"]
    start, tree = tree_of(content)
    front = layout.MAGIC + layout.HEAD.pack(layout.FORMAT, start + 8, 0, bytes(32))
    longer = front + content[len(front) : start] + bytes(8) + content[start:]
    (tmp_path / "file").write_bytes(sealed(longer, tree))
    with pytest.raises(DataError, match=f"its sections end at byte {start}, not {start + 8}"):
        sgmc.open(tmp_path / "file")


def test_a_manifest_has_a_bound(written, tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "MOST_MANIFEST", 1000)
    (tmp_path / "file").write_bytes(written["dense"])
    with pytest.raises(DataError, match="manifest of .* bytes, and at most 1,000 are read"):
        sgmc.open(tmp_path / "file")


ROWS = {
    "dense": {"X": (np.nan, np.inf, -np.inf), "y": (2, -1, 0.5, np.nan, np.inf, 1e300),
              "weights": (-1, np.nan, np.inf), "order": (-1, -BIG, BIG, 10**13)},
    "coded": {"codes": (-1, -(2**31), 2**31 - 1, 10**6, 39, 40, 80, 100), "numbers": (np.nan,),
              "factors": (np.nan, np.inf), "weights": (-1, np.nan)},
    "several": {"y": (-1, 3, 1e6, 0.5, np.nan, 1e300)},
    "columns": {"column 0": (np.inf,), "column 2": (-2, -(2**31), 2**31 - 1, 40, 10**6),
                "column 3": (2, -1, -BIG, BIG)},
}  # fmt: skip


@pytest.mark.cover(0)
@forking
@pytest.mark.parametrize("kind", ROWS)
def test_rows_are_looked_at_before_they_are_used(kind, written, tmp_path):
    def predicted(kind, path):
        table = sgmc.open(path)
        how = {"draws": 20, "chains": 1, "seed": 1}
        res = VERBS[kind](FORMULAS[kind], table, weights="w", **how)
        return np.sort(np.asarray(res.predict()).ravel())

    content, contents = written[kind], {}
    for name, values in ROWS[kind].items():
        for value in values:
            for row in (0, 299):
                contents[name, value, row] = with_rows(content, name, at(row, value))
    contents = {k: v for k, v in contents.items() if v != content}
    refused = refused_or_the_same(kind, written, contents, tmp_path / "file", predicted, "yx")
    harmless = sum(k[0] == "order" and k[1] > 0 for k in contents)  # a place that is far off
    assert refused == len(contents) - harmless


@pytest.mark.parametrize("name", ["mean", "sd", "scale", "shift"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_moments_are_finite(name, value, written, tmp_path):
    (tmp_path / "file").write_bytes(with_rows(written["dense"], name, at(1, value)))
    with pytest.raises(DataError, match=f"file is damaged, or has a column 'x' .* its {name} is"):
        sgmc.open(tmp_path / "file")


@pytest.mark.parametrize("kind", ["dense", "coded", "columns"])
def test_a_file_that_was_cut_since_it_was_opened_is_refused(kind, written, tmp_path):
    """Reading what is not there any more would end the process."""
    path = tmp_path / "file"
    path.write_bytes(written[kind])
    table = sgmc.open(path)
    with path.open("rb+") as file:
        file.truncate(layout.PAGE)
    with pytest.raises(DataError, match="cut to 4096 of .* bytes since it was opened"):
        VERBS[kind](FORMULAS[kind], table, weights="w", draws=20, chains=1)


@pytest.mark.skipif(os.name != "posix", reason="a file that is mapped stays on Windows")
def test_a_file_that_was_removed_stays_mapped(written, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(written["dense"])
    table, whole = sgmc.open(path), fitted("dense", path)
    path.unlink()
    how = {"draws": 20, "chains": 1, "seed": 1}
    found = sgmc.logit(FORMULAS["dense"], table, weights="w", **how).params
    np.testing.assert_array_equal(found, whole)


def test_a_file_that_is_cut_while_it_is_opened_is_refused(written, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(written["dense"])
    section = layout.manifest(path)[0]["order"]
    path.write_bytes(written["dense"][: layout.PAGE])
    with pytest.raises(layout.Damaged, match="has been cut short while it was opened"):
        layout.mapped(path, section)
