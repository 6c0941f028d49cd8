"""Savers of one path: each has a file of its own, and a reader beside them sees a whole one."""

import os
import re
import stat
import threading
import time
from pathlib import Path

import pytest

import sgmc
from sgmc.core.system.files import read_sealed, replacing, write_sealed
from sgmc.errors import ArgumentError
from tests.faults.children import Child, fit, forking

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
posix = pytest.mark.skipif(os.name != "posix", reason="links and modes of files")
CROWD, SECONDS = 4, 10.0


def mode(path):
    """The permissions of a file."""
    return stat.S_IMODE(os.stat(path).st_mode)


def write(path, content=b"new"):
    """Write a file as all of the package's are."""
    with replacing(path) as file:
        file.write(content)


@posix
@pytest.mark.parametrize("umask, expected", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_of_the_umask(umask, expected, tmp_path):
    before = os.umask(umask)
    try:
        write(tmp_path / "a")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == expected


@posix
@pytest.mark.parametrize("own", [0o600, 0o640, 0o666, 0o444])
def test_a_file_that_is_there_keeps_its_mode(own, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(own)
    with replacing(path) as file:
        (aside,) = tmp_path.glob(".sgmc-*.part")
        assert mode(aside) == own  # also while it is written
        file.write(b"new")
    assert path.read_bytes() == b"new" and mode(path) == own


@posix
def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "a", tmp_path / "link"
    link.symlink_to(Path("there") / "a")
    for content in (b"first", b"second"):  # the first time it points to nothing
        write(link, content)
        assert link.is_symlink() and target.read_bytes() == content
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["a", "link", "there"]


@posix
def test_what_lies_beside_the_path_is_not_written_to(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "a.part").symlink_to(tmp_path / "mine")
    write(tmp_path / "a")
    assert (tmp_path / "mine").read_text() == "mine" and (tmp_path / "a.part").is_symlink()


def test_paths_of_every_kind(tmp_path, monkeypatch):
    results = fit(20)
    monkeypatch.chdir(tmp_path)
    paths = ["a", b"b", Path("c"), os.fsencode(tmp_path / "d"), "e" * 255]
    for path in paths:
        results.save(path)
        assert (sgmc.load(path).draws == results.draws).all()
    assert sorted(os.listdir()) == ["a", "b", "c", "d", "e" * 255]
    for path, wanted in ((".", "a file, and this is a folder"), ("no/a", "a file in a folder that"),
                         ("a\0b", "a path"), (3, "a path"), (True, "a path")):  # fmt: skip
        with pytest.raises(ArgumentError, match=re.escape(f"path={path!r} must be {wanted}")):
            results.save(path)


def test_nothing_is_left_of_what_fails(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a") as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"old"


@forking
def test_what_a_killed_saver_leaves_has_a_name_of_its_own(tmp_path):
    def saving():
        with replacing(tmp_path / "a") as file:
            file.write(b"half")
            file.flush()
            (tmp_path / "begun").touch()
            time.sleep(60)

    child = Child(saving)
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)
    child.kill()
    (left,) = tmp_path.glob(".sgmc-*.part")
    assert not [*tmp_path.glob("[!.b]*")]  # no data: files with a dot are passed over
    write(tmp_path / "a")
    assert left.read_bytes() == b"half" and (tmp_path / "a").read_bytes() == b"new"


def save_and_load(path, results, seconds):
    """Save and load one path for some time; how often, and what went wrong."""
    times, wrong, until = 0, [], time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            results.save(path)
            if (sgmc.load(path).draws != results.draws).any():
                wrong.append("other draws")
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
        times += 1
    return times, wrong


@pytest.mark.extended
@forking
@pytest.mark.parametrize("seconds", [0.5, pytest.param(SECONDS, marks=pytest.mark.extended)])
def test_processes_that_save_and_load_one_path(seconds, tmp_path):
    path, results = tmp_path / "fit", fit(20)
    found = [
        one.done()
        for one in [Child(lambda: save_and_load(path, results, seconds)) for _ in range(CROWD)]
    ]
    assert not [wrong for _, wrong in found if wrong] and all(times for times, _ in found)
    assert os.listdir(tmp_path) == ["fit"]


@pytest.mark.extended
@pytest.mark.parametrize("seconds", [0.5, pytest.param(SECONDS, marks=pytest.mark.extended)])
def test_threads_that_save_and_load_one_path(seconds, tmp_path):
    path, results, found = tmp_path / "fit", fit(20), []
    run = [
        threading.Thread(target=lambda: found.append(save_and_load(path, results, seconds)))
        for _ in range(CROWD)
    ]
    for one in run:
        one.start()
    for one in run:
        one.join()
    assert len(found) == CROWD and not [wrong for _, wrong in found if wrong]
    assert os.listdir(tmp_path) == ["fit"]


def test_the_last_of_several_writers_wins(tmp_path):
    with replacing(tmp_path / "a") as first:
        first.write(b"first")
        write_sealed(tmp_path / "a", b"kind", {"x": 1})
        assert read_sealed(tmp_path / "a", b"kind") == {"x": 1}
    assert (tmp_path / "a").read_bytes() == b"first"
