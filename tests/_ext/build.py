"""Build the compiled modules of the tests (`_ext.toys`, `_ext.probes`, ...), which no wheel holds.

They are built against the installed package, as a user's module is, into ``build/tests`` of this
checkout, when a test first imports one: once for each Python, state of the sources and state of
the package's contracts.
"""

import contextlib
import hashlib
import importlib.abc
import importlib.machinery
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import sgmc

SOURCES = Path(__file__).resolve().parent
BUILDS = SOURCES.parents[1] / "build" / "tests"
PACKAGE = Path(sgmc.__file__).resolve().parent


class Finder(importlib.abc.MetaPathFinder):
    """Find ``_ext`` where it is built; build it where that is not done yet."""

    def find_spec(self, fullname, path=None, target=None):
        """Put the folder on the path of this process and its children at the first import."""
        if fullname != "_ext":
            return None
        sys.meta_path.remove(self)
        place = BUILDS / f"{sysconfig.get_config_var('SOABI')}-{fingerprint()}"
        with alone():
            if not place.exists():
                build(place)
        sys.path.insert(0, str(place))
        os.environ["PYTHONPATH"] = with_path(place)
        return importlib.machinery.PathFinder.find_spec(fullname, path, target)


def make_importable():
    """Let tests import ``_ext``, and their child processes from then on."""
    sys.meta_path.insert(0, Finder())


@contextlib.contextmanager
def alone():
    """Let one process at a time go on: the others wait, and find what it has built."""
    BUILDS.mkdir(parents=True, exist_ok=True)
    with open(BUILDS / "lock", "w") as file:
        runpy.run_path(str(SOURCES.parents[1] / "editable.py"))["lock"](file)
        yield


def fingerprint():
    """Return a hash of the modules' sources and of the contracts they are compiled against."""
    sources = [*sorted(SOURCES.glob("*.py*")), *sorted(PACKAGE.rglob("*.pxd"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]


def with_path(place):
    """Return ``PYTHONPATH`` with a folder in front."""
    return os.pathsep.join(filter(None, [str(place), os.environ.get("PYTHONPATH", "")]))


def build(place):
    """Build in a folder of its own, then rename: elsewhere nothing is found half done."""
    with tempfile.TemporaryDirectory(dir=BUILDS) as work:
        copy = shutil.copytree(SOURCES, Path(work) / "sources")
        done = subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", "built"],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": with_path(PACKAGE.parent)},
            text=True,
            capture_output=True,
        )
        if done.returncode:
            raise RuntimeError(
                f"the compiled modules of the tests were not built:\n{done.stdout}{done.stderr}\n"
                "They need a C compiler, and Cython and setuptools: pip install '.[test]'"
            )
        try:
            os.rename(copy / "built", place)
        except OSError:
            if not place.exists():
                raise
