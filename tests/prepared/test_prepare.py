"""Files made of chunks: the rows of the reader in random order, whatever the memory, also after a
kill.
"""

import errno
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

from sgmc import formula as front
from sgmc.errors import ArgumentError, DataError, DiskError
from sgmc.prepared import prepare as making
from sgmc.prepared.file.prepared import VECTORS
from sgmc.prepared.file.prepared import open as opened
from sgmc.prepared.prepare import prepare
from sgmc.prepared.writers import records, shuffle
from sgmc.prepared.writers.staging import JOURNAL, StagingDirectory
from tests.conftest import ROOT
from tests.prepared.sources import Chunked
from tests.prepared.test_scan import CASES, FRAME


def read_both(case, path, size=100, **how):
    given = dict(case)
    formula, outcome = given.pop("formula"), given.pop("outcome", "binary")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared = prepare(formula, Chunked(FRAME, size), path, seed=5, **given, **how)
        table = front.read(formula, FRAME, **given, outcome=outcome, scope={})
    return prepared.of_outcome(outcome), table


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["formula"])
def test_rows_are_those_of_the_reader(case, tmp_path):
    prepared, table = read_both(case, tmp_path / "a.sgmc")
    assert prepared.spec.exog_names == table.spec.exog_names
    assert prepared.spec.levels == table.spec.levels
    assert (prepared.n, prepared.dropped) == (len(table.rows), table.dropped)
    place = np.searchsorted(table.rows, prepared.order)
    np.testing.assert_array_equal(np.sort(place), np.arange(prepared.n))
    np.testing.assert_array_equal(prepared.y, table.y[place])
    for name in VECTORS:
        ours, theirs = getattr(prepared, name), getattr(table, name)
        if theirs is None:
            assert ours is None
        else:
            np.testing.assert_array_equal(ours, theirs[place])
    design = np.empty((prepared.n, len(table.spec.exog_names)))
    table.fill(design)
    found = prepared.X if table.spec.coding is None else prepared.X.toarray()
    # an origin and then the rest of the mean are taken off: three roundings
    scale = np.abs(design).max(axis=0)
    np.testing.assert_allclose((found + prepared.shift) / scale, design[place] / scale, atol=1e-14)
    weight = np.ones(prepared.n) if table.weights is None else table.weights
    mean = weight @ design / weight.sum()
    np.testing.assert_allclose(prepared.mean, mean, rtol=1e-12, atol=1e-12)
    sd = np.sqrt(weight @ (design - mean) ** 2 / (weight.sum() - 1))
    np.testing.assert_allclose(prepared.sd, sd, rtol=1e-10, atol=1e-12)


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: case["formula"])
def test_float32_keeps_what_is_left_of_the_mean(case, tmp_path):
    wide, _ = read_both(case, tmp_path / "a.sgmc")
    narrow, _ = read_both(case, tmp_path / "b.sgmc", dtype="float32")
    for a, b in (
        ((wide.X, narrow.X),) if wide.spec.coding is None else ((wide.X.numbers, narrow.X.numbers),)
    ):
        assert b.dtype == np.float32
        np.testing.assert_allclose(b, a, rtol=3e-7, atol=3e-7 * np.abs(a).max())


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: case["formula"])
def test_the_file_does_not_depend_on_the_memory(case, tmp_path, monkeypatch):
    read_both(case, tmp_path / "a.sgmc")
    monkeypatch.setattr(shuffle, "BUCKET_COPIES", 1e4)
    counted = []
    monkeypatch.setattr(
        making, "bucket_count", lambda *a: counted.append(shuffle.bucket_count(*a)) or counted[-1]
    )
    read_both(case, tmp_path / "b.sgmc", memory_limit="64MB")
    assert counted[0] > 5
    assert (tmp_path / "a.sgmc").read_bytes() == (tmp_path / "b.sgmc").read_bytes()


def dispersion(values, block=8):
    """Variance of means of blocks of neighbours over what it is in random order."""
    blocks = values[: len(values) // block * block].reshape(-1, block).mean(axis=1)
    return blocks.var() / (values.var() / block)


def test_neighbours_in_the_file_are_strangers(tmp_path, monkeypatch):
    """Of a source in the order of the outcome; 124 blocks: the ratio has an sd of .13."""
    source = Chunked(FRAME.sort_values("positive"), 100)
    formula = "positive ~ z"
    prepared = prepare(formula, source, tmp_path / "a.sgmc", seed=1)
    assert abs(dispersion(np.asarray(prepared.y)) - 1) < 0.5
    assert abs(dispersion(np.argsort(prepared.order).astype(float)) - 1) < 0.5
    # planted: the shuffle is left out
    encode = records.Encoder.chunk

    def in_order(self, number, frame, first):
        for part in encode(self, number, frame, first):
            part["key"] = part["order"].astype(np.uint64) << np.uint64(50)
            yield part

    monkeypatch.setattr(records.Encoder, "chunk", in_order)
    unshuffled = prepare(formula, source, tmp_path / "b.sgmc", seed=1)
    assert dispersion(np.asarray(unshuffled.y)) > 5


KILLED = """
import os, signal, sys
from sgmc.prepared.writers import shuffle
from sgmc.prepared.prepare import prepare
sys.path.append(sys.argv[4])  # behind the installed package
from tests.prepared.sources import Chunked
from tests.prepared.test_scan import FRAME

shuffle.JOURNAL_BYTES, shuffle.BUCKET_COPIES = 0, 1e4
path, share = sys.argv[1], float(sys.argv[2])

def stop(done, total):
    if done >= share * total:
        os.kill(os.getpid(), signal.SIGKILL)

prepare(sys.argv[3], Chunked(FRAME, 50), path, weights="w", seed=5, progress=stop,
        memory_limit="64MB")
"""
DESIGN, COLUMNS, W = "y ~ x*g + h", "y ~ x*c + (1 | g)", {"weights": "w"}


@pytest.mark.extended
@pytest.mark.parametrize(
    "formula, share",
    [(DESIGN, 0.1), (DESIGN, 0.5), (DESIGN, 0.6), (DESIGN, 0.8), (DESIGN, 0.95), (COLUMNS, 0.6)],
)
def test_a_killed_call_goes_on_to_the_same_bits(formula, share, tmp_path):
    path = tmp_path / "a.sgmc"
    arguments = [str(path), str(share), formula, str(ROOT)]
    killed = subprocess.run([sys.executable, "-W", "ignore", "-c", KILLED, *arguments])
    assert killed.returncode == -signal.SIGKILL
    assert not path.exists() and os.path.exists(f"{path}.part")
    with pytest.raises(ArgumentError, match="another table: its formula is not this one's"):
        prepare("y ~ x", Chunked(FRAME, 50), path, weights="w", seed=5)
    if share > 0.3:
        with pytest.raises(ArgumentError, match="another table: its source"):
            prepare(formula, Chunked(FRAME[:-1], 50), path, weights="w", seed=5)
    source = Chunked(FRAME, 50)
    prepare(formula, source, path, weights="w")
    if share > 0.3:  # not from the beginning
        assert min(source.begun, default=9) > 3
    assert not os.path.exists(f"{path}.part")
    whole = tmp_path / "b.sgmc"
    prepare(formula, Chunked(FRAME, 50), whole, weights="w", seed=5)
    assert path.read_bytes() == whole.read_bytes()
    assert opened(path, check=True).n > 0


@pytest.mark.extended
@pytest.mark.parametrize("formula", [DESIGN, COLUMNS])
@pytest.mark.parametrize("left", [set(), {JOURNAL}, {JOURNAL, "bucket 0"}])
def test_a_call_killed_while_it_cleans_up_leaves_nothing_that_the_next_one_takes(
    left, formula, tmp_path, monkeypatch
):
    """The table has its name then; of its folder only `left` is removed.  The next call makes
    another table of the same name, and once more the first.
    """
    path, whole = tmp_path / "a.sgmc", tmp_path / "b.sgmc"

    def stopped(shop):
        for name in left & set(os.listdir(shop.folder)):
            os.unlink(shop.place(name))
        shop.leave()

    prepare(formula, Chunked(FRAME, 50), whole, weights="w", seed=5)
    prepare("y ~ x", Chunked(FRAME, 50), tmp_path / "c.sgmc", seed=5)
    monkeypatch.setattr(StagingDirectory, "discard", stopped)
    for one, other in ((formula, "y ~ x"), (formula, formula)):
        prepare(one, Chunked(FRAME, 50), path, weights="w", seed=5)
        assert path.read_bytes() == whole.read_bytes()
        prepare(other, Chunked(FRAME, 50), path, seed=5, **({} if other == "y ~ x" else W))
        expected = tmp_path / "c.sgmc" if other == "y ~ x" else whole
        assert path.read_bytes() == expected.read_bytes()


def test_two_calls_do_not_write_one_file(tmp_path):
    """The second is refused while the first one runs, and not after it."""
    path, refused = tmp_path / "a.sgmc", []

    class Twice(Chunked):
        def chunks(self, *given, **named):
            if not refused:
                refused.append(True)
                with pytest.raises(ArgumentError, match="another call is writing"):
                    prepare("y ~ x", Chunked(FRAME, 100), path, seed=5)
            return super().chunks(*given, **named)

    prepare("y ~ x", Twice(FRAME, 100), path, seed=5)
    assert refused and os.listdir(tmp_path) == ["a.sgmc"]
    prepare("y ~ x", Chunked(FRAME, 100), path, seed=5)


def test_infinite_numbers_are_named(tmp_path):
    frame = FRAME.assign(x=FRAME["x"].fillna(0).where(np.arange(len(FRAME)) != 321, np.inf))
    with pytest.raises(DataError, match="predictor 'x' is not finite at row 321"):
        prepare("y ~ x", Chunked(frame, 100), tmp_path / "a.sgmc")
    frame = FRAME.assign(x=FRAME["z"].where(np.arange(len(FRAME)) != 321, 1e200))
    with pytest.raises(DataError, match="predictor 'x' is not finite at row 321"):
        prepare("y ~ x", Chunked(frame, 100), tmp_path / "a.sgmc", dtype="float32")
    frame = frame.assign(x=np.where(np.arange(len(FRAME)) == 321, np.inf, 0.0))
    with pytest.raises(DataError, match="predictor 'x' is not finite in some row of the source"):
        prepare("y ~ x", Chunked(frame, 100), tmp_path / "a.sgmc")
    frame = FRAME.assign(positive=np.inf)
    with pytest.raises(DataError, match="the response 'positive' is infinite"):
        prepare("positive ~ z", Chunked(frame, 100), tmp_path / "a.sgmc")
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_written_is_said_in_a_sentence(tmp_path, monkeypatch):
    source, path = Chunked(FRAME, 100), tmp_path / "a.sgmc"
    for given, message in {
        ("weights", "w"): None,
        ("weights", 3): "weights must be the name of a column here, not int",
        ("offset", "nothing"): "offset='nothing' is not a column of the data",
        ("subset", 7): "subset must be an expression or a function here, not int",
        ("memory_limit", "1MB"): "memory_limit='1MB' must be bytes or text",
        ("memory_limit", "much"): "memory_limit='much' must be bytes or text",
        ("dtype", "int8"): "dtype='int8'",
    }.items():
        if message:
            with pytest.raises((ArgumentError, DataError), match=message):
                prepare("y ~ x", source, path, **{given[0]: given[1]})
    with pytest.raises(ArgumentError, match="in a folder that exists"):
        prepare("y ~ x", source, tmp_path / "no" / "a.sgmc")
    free = making.shutil.disk_usage(tmp_path)._replace(free=1000)
    with monkeypatch.context() as patch:
        patch.setattr(making.shutil, "disk_usage", lambda _: free)
        with pytest.raises(DiskError, match="needs about 16 MB of disk .*, and 0 MB are free"):
            prepare("y ~ x", source, path)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(shuffle, "written", full)
        with pytest.raises(DiskError, match="is full; make room and call again"):
            prepare("y ~ x", source, path, seed=1)
    assert prepare("y ~ x", source, path, seed=1).n > 0

    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "makedirs", forbidden)
    with pytest.raises(DiskError, match="a.sgmc: Permission denied"):
        prepare("y ~ x", source, path)


def test_a_source_that_changes_is_noticed(tmp_path):
    class Growing(Chunked):
        identity = "the same"

        def chunks(self, start=0, columns=None):
            yield from super().chunks(start, columns)
            if len(self.begun) > 4:
                yield self.frame[columns][:10].reset_index(drop=True)

    with pytest.raises(DataError, match="has changed while it was read: 1007 rows now, 997 before"):
        prepare("y ~ x", Growing(FRAME, 100), tmp_path / "a.sgmc")


def test_functions_of_the_user_are_given_again(tmp_path):
    def twice(x):
        return 2 * x

    here = prepare("y ~ twice(x)", Chunked(FRAME, 100), tmp_path / "a.sgmc")
    with pytest.raises(ArgumentError, match=r"the file needs twice.*functions=\{'twice': twice\}"):
        opened(tmp_path / "a.sgmc")
    again = opened(tmp_path / "a.sgmc", functions={"twice": twice})
    assert np.array_equal(again.X, here.X)


def test_progress_is_reported(tmp_path):
    seen = []
    prepare(
        "y ~ np.log(positive) + x", Chunked(FRAME, 100), tmp_path / "a.sgmc",
        progress=lambda done, total: seen.append(done / total),
    )  # fmt: skip
    assert seen == sorted(seen) and seen[-1] == 1 and len(set(seen)) > 10


def test_a_frame_is_a_source(tmp_path):
    prepared = prepare("y ~ x", FRAME, tmp_path / "a.sgmc")
    assert "rows         9" in str(prepared) and "columns      2, float64" in str(prepared)
