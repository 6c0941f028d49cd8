"""Disks without room: a limit of the size of files, and a small disk of its own."""

import os
import shutil
import subprocess
import warnings

import numpy as np
import pytest

import sgmc

from .children import Child, fit, forking, frame, of

resource = pytest.importorskip("resource", reason="limits of processes are POSIX")
pytestmark = [
    forking,
    pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]
SIZES = [0, 100, 2000, 5000, 20_000]


def with_files_of(size, action):
    """The action in a child whose files can have so many bytes."""

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return action()

    return Child(limited).done()


@pytest.mark.cover(0)
@pytest.mark.parametrize("size", SIZES)
def test_a_save_without_room_is_an_error_and_leaves_the_file_that_was_there(size, tmp_path):
    first, second, path = fit(20), fit(2000), tmp_path / "fit"
    first.save(path)
    found = with_files_of(size, lambda: second.save(path))
    assert of(found, "OSError", "SGMCError") and found.words
    np.testing.assert_array_equal(sgmc.load(path).draws, first.draws)
    assert os.listdir(tmp_path) == ["fit"]


@pytest.mark.cover(0)
@pytest.mark.parametrize("size", SIZES)
def test_a_fit_without_room_for_its_checkpoint_loses_no_draw(size, tmp_path):
    """It is refused at the start, or warns and keeps the draws; the file can be gone on from."""
    whole, path = fit(1000), tmp_path / "run"

    def run():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = fit(1000, checkpoint=path)
        return found.draws, [type(one.message).__name__ for one in caught]

    found = with_files_of(size, run)
    if of(found, "ArgumentError"):
        assert "cannot be written" in found.words and os.listdir(tmp_path) == []
        assert size <= 5000
    else:
        np.testing.assert_array_equal(found[0], whole.draws)
        assert "CheckpointWarning" in found[1]
        np.testing.assert_array_equal(fit(1000, checkpoint=path).draws, whole.draws)


@pytest.mark.cover(0)
@pytest.mark.parametrize("size", SIZES)
def test_a_table_without_room_is_an_error_and_can_be_made_later(size, tmp_path):
    path, df = tmp_path / "a.sgmc", frame(20_000).assign(z=np.arange(20_000.0))
    found = with_files_of(size, lambda: sgmc.prepare("y ~ x + z + g", df, path, seed=1))
    assert of(found, "DiskError"), found
    assert not path.exists()
    assert sgmc.prepare("y ~ x + z + g", df, path, seed=1).n == 20_000
    assert sgmc.open(path, check=True).n == 20_000


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 128 kB of its own."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root mounts disks")
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", place]).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_disk_that_is_full(small_disk):
    """The same on a disk: nothing is lost, nothing half-written is left."""
    small, large = fit(20), fit(8000)
    small.save(small_disk / "fit")
    with pytest.raises(OSError, match="No space left"):
        large.save(small_disk / "fit")
    np.testing.assert_array_equal(sgmc.load(small_disk / "fit").draws, small.draws)
    with pytest.raises(sgmc.errors.DiskError):
        sgmc.prepare("y ~ x + g", frame(40_000), small_disk / "a.sgmc", seed=1, compress=False)
    shutil.rmtree(small_disk / "a.sgmc.part", ignore_errors=True)
    found = fit(8000, checkpoint=small_disk / "run")
    np.testing.assert_array_equal(found.draws, large.draws)
    assert "CheckpointWarning" in str(found.summary())
    assert sorted(os.listdir(small_disk)) == ["fit", "run"]
