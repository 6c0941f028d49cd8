"""The folder of a preparation that was interrupted is looked at before it is used."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError
from tests.faults.children import Child, forking, of

N = 400


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    return pd.DataFrame({"x": rng.normal(size=N), "y": rng.integers(0, 2, N)})


@pytest.fixture
def begun(frame, tmp_path, monkeypatch):
    """A preparation that has spread its rows and not gathered them: path and journal."""
    path = tmp_path / "table.sgmc"

    def stop(*_given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sgmc.prepared.prepare.gather", stop)
        with pytest.raises(KeyboardInterrupt):
            prepared(frame, path)
    return path, path.with_name("table.sgmc.part") / "journal"


def prepared(frame, path):
    return sgmc.prepare("y ~ x", frame, path, seed=1, compress=False)


def rows(table):
    return np.c_[table.X, table.y, table.order]


BIG = 1 << 62
CHANGES = {
    "made_of": (None, [], {}, {"seed": -1}, {"seed": "a"}),
    "buckets": (0, -1, 2, BIG, "1", 1.0, None),
    "chunk": (-1, "a", None, 0.5),
    "row": (-1, "a", None),
    "sizes": ([], [-1], [1.5], ["a"], 3, [BIG, BIG], None),
    "moments": (None, [], 3, "a"),
    "spread": ("yes", 1, None),
    "done": (-1, "a", BIG),
    "written": (-1, "a"),
    "other": (1,),
}


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", CHANGES)
def test_a_damaged_journal_is_none(name, frame, begun, tmp_path):
    """The preparation begins anew."""
    path, journal = begun
    whole = rows(prepared(frame, tmp_path / "whole.sgmc"))
    folder = {one: one.read_bytes() for one in journal.parent.iterdir()}
    for value in CHANGES[name]:
        journal.parent.mkdir(exist_ok=True)
        for one, content in folder.items():
            one.write_bytes(content)
        journal.write_text(json.dumps({**json.loads(folder[journal]), name: value}))
        np.testing.assert_array_equal(rows(prepared(frame, path)), whole)
    journal.parent.mkdir(exist_ok=True)
    journal.write_text("{" + "[" * 10_000)
    np.testing.assert_array_equal(rows(prepared(frame, path)), whole)


OTHERS = {  # name -> from what there is to something of other columns
    "moments": (
        lambda known: 1,
        lambda known: known[:2],
        lambda known: [known[0], *([0.0] for _ in known[1:])],
        lambda known: [known[0], *([*one, 0.0] for one in known[1:])],
        lambda known: [known[0], ["a", "b"], *known[2:]],
    ),
    "spreads": (lambda known: 1, lambda known: [[True] * 9, None]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_moments_of_other_columns_are_refused(name, frame, begun):
    path, journal = begun
    state = json.loads(journal.read_text())
    for change in OTHERS[name]:
        moments = {**state["moments"], name: change(state["moments"][name])}
        journal.write_text(json.dumps({**state, "moments": moments}))
        with pytest.raises(DataError, match="its moments are not those of these columns; delete"):
            prepared(frame, path)
        journal.parent.mkdir(exist_ok=True)


def test_a_folder_with_files_of_someone_stays_as_it_is(frame, tmp_path):
    """All of it would be removed in the end."""
    path, folder = tmp_path / "a.sgmc", tmp_path / "a.sgmc.part"
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    with pytest.raises(ArgumentError, match="has 'thesis.tex' in it, which is not of sgmc.prepare"):
        prepared(frame, path)
    assert (folder / "thesis.tex").read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
@pytest.mark.parametrize("name", ["table", "bucket 0", "journal", "findings", "lock"])
def test_links_in_the_folder_are_not_followed(name, frame, tmp_path):
    path, folder, aim = tmp_path / "a.sgmc", tmp_path / "a.sgmc.part", tmp_path / "mine"
    folder.mkdir()
    aim.write_text("mine")
    (folder / name).symlink_to(aim)
    with pytest.raises(ArgumentError, match=f"has '{name}' in it"):
        prepared(frame, path)
    assert aim.read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_folder_that_is_a_link_is_refused(frame, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a.sgmc.part").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ArgumentError, match="a.sgmc.part is a link: give another path"):
        prepared(frame, tmp_path / "a.sgmc")


@forking
@pytest.mark.parametrize("name", ["lock", "journal", "table", "findings"])
def test_pipes_in_the_folder_are_not_waited_for(name, frame, tmp_path):
    folder = tmp_path / "a.sgmc.part"
    folder.mkdir()
    os.mkfifo(folder / name)
    assert of(Child(lambda: prepared(frame, tmp_path / "a.sgmc")).done(30), "ArgumentError")


def test_a_preparation_without_a_seed_goes_on(frame, begun):
    """Its seed has more bits than a number of rows."""
    path, journal = begun
    state = json.loads(journal.read_text())
    state["made_of"]["seed"] = 1 << 127
    journal.write_text(json.dumps(state))
    assert sgmc.prepare("y ~ x", frame, path, compress=False).seed == 1 << 127


def test_rows_that_are_missing_are_refused(frame, begun):
    path, journal = begun
    journal.with_name("bucket 0").write_bytes(b"")
    with pytest.raises(DataError, match="rows of it are missing; delete it and call again"):
        prepared(frame, path)


@pytest.mark.parametrize("written", [1, N, N + 1, 10**15])
def test_rows_that_a_journal_alone_has_are_refused(written, frame, begun):
    path, journal = begun
    state = {**json.loads(journal.read_text()), "done": 1, "written": written}
    journal.write_text(json.dumps(state))
    with pytest.raises(DataError, match="rows of it are missing; delete it"):
        prepared(frame, path)


def test_rows_that_a_journal_lacks_are_refused(frame, begun):
    path, journal = begun
    journal.write_text(json.dumps({**json.loads(journal.read_text()), "done": 1}))
    with pytest.raises(DataError, match=f"it has 0 of {N} rows; delete it and call again"):
        prepared(frame, path)


def test_columns_that_a_journal_alone_has_are_refused(frame, tmp_path, monkeypatch):
    path, formula = tmp_path / "a.sgmc", "y ~ s(x)"

    def stop(*_given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sgmc.prepared.writers.write_columns.written", stop)
        with pytest.raises(KeyboardInterrupt):
            sgmc.prepare(formula, frame, path, seed=1)
    journal = path.with_name("a.sgmc.part") / "journal"
    journal.write_text(json.dumps({**json.loads(journal.read_text()), "written": 9, "row": 9}))
    with pytest.raises(DataError, match="rows of it are missing; delete it"):
        sgmc.prepare(formula, frame, path, seed=1)
