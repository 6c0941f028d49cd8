"""Checkpoint files that are damaged, foreign or cannot be written are refused."""

import os
import pickle

import numpy as np
import pytest

from sgmc.core.system import files
from sgmc.core.system.files import Damaged, read_sealed, write_sealed
from sgmc.errors import ArgumentError, CheckpointWarning
from sgmc.fit.checkpoint import KIND, read

from .cases import fit, same

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


# ---- files ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A checkpoint as bytes, of several kB."""
    path = tmp_path_factory.mktemp("written") / "run"
    fit(20, chains=1, checkpoint=path)
    return path.read_bytes()


def refused(path, content):
    """The message with which a file of that content is refused."""
    path.write_bytes(content)
    with pytest.raises(ArgumentError) as raised:
        read(str(path))
    return str(raised.value)


def test_a_truncated_checkpoint_is_refused(written, tmp_path):
    lengths = [*range(0, len(written), 1024), 1, 16, 17, 20, 56, len(written) - 1]
    assert len(lengths) > 10
    for length in lengths:
        assert "delete it to start afresh" in refused(tmp_path / "run", written[:length])
    assert "cut short or too long" in refused(tmp_path / "run", written + b"\0")


def test_a_flipped_bit_is_noticed_wherever_it_is(written, tmp_path):
    for at in [*range(70), *np.random.default_rng(0).integers(0, len(written), 200)]:
        changed = bytearray(written)
        changed[at] ^= 1 << at % 8
        assert "cannot be used: the file" in refused(tmp_path / "run", bytes(changed))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x1,x2\n1,2\n",
        pickle.dumps({"sgmc": 1}),
        b"\0" * 5000,
        b"sgmc checkpoint 0\n" + b"\0" * 100,
    ],
)
def test_a_file_of_another_kind_is_refused(content, tmp_path):
    message = refused(tmp_path / "run", content)
    assert "run' cannot be used: the file does not begin with 'sgmc checkpoint 1'" in message


def test_a_checkpoint_of_another_version_is_refused(written, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(written)
    write_sealed(path, KIND, {**read_sealed(path, KIND), "version": "0.0"})
    with pytest.raises(ArgumentError, match="was written by sgmc 0.0, this is"):
        read(str(path))


def test_sealed_files_give_back_what_was_written(tmp_path):
    tree = {
        "a": [1, 2**70, -1.5, float("inf"), None, True, "é\n"],
        "b": {"c": np.arange(6.0).reshape(2, 3), "d": {}},
        "e": np.array([], dtype=np.uint64),
        "f": np.float64(0.1),
        "g": (np.array([1, 2], dtype=np.intp), np.int64(3)),
    }
    write_sealed(tmp_path / "file", b"kind", tree)
    again = read_sealed(tmp_path / "file", b"kind")
    assert again["a"] == tree["a"]
    assert again["b"]["d"] == {}
    assert again["f"] == 0.1
    assert again["g"][1] == 3
    for one, other in (
        (again["b"]["c"], tree["b"]["c"]),
        (again["e"], tree["e"]),
        (again["g"][0], tree["g"][0]),
    ):
        assert one.dtype == other.dtype and np.array_equal(one, other)
    with pytest.raises(Damaged, match="does not begin with 'other'"):
        read_sealed(tmp_path / "file", b"other")


@pytest.mark.parametrize(
    "path, text",
    [
        ("", "must be a file, and this is a folder; add a name"),
        ("nowhere/run", "in a folder that exists"),
        (3, "checkpoint=3 must be a path"),
    ],
)
def test_paths_that_cannot_be(path, text, tmp_path):
    with pytest.raises(ArgumentError, match=text):
        fit(20, checkpoint=path if path == 3 else tmp_path / path)


def full_disk(*_):
    """os.fsync of a disk without room."""
    raise OSError(28, "No space left on device")


def test_a_checkpoint_that_cannot_be_written_is_refused_at_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "fsync", full_disk)
    with pytest.raises(ArgumentError, match="run' cannot be written: No space left on device"):
        fit(20, checkpoint=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_does_not_end_the_run(tmp_path, monkeypatch):
    """The file keeps the state before; the warning says so, and the run can go on from it."""
    real, calls = os.fsync, []

    def fsync(handle):
        calls.append(handle)
        # file and folder of the first writing
        return real(handle) if len(calls) <= 2 else full_disk()

    monkeypatch.setattr(files.os, "fsync", fsync)
    with pytest.warns(CheckpointWarning, match="could not be written: No space left"):
        results = fit(60, checkpoint=tmp_path / "run")
    assert "CheckpointWarning" in str(results.summary()) and same(results, fit(60))
    monkeypatch.undo()
    assert same(fit(60, checkpoint=tmp_path / "run"), results)
