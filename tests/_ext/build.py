"""Build the compiled modules of the tests (`_ext.toys`, `_ext.probes`, ...), which no wheel holds.

They are built against the installed package, as a user's module is, into ``build/tests`` of this
checkout: once for each Python, state of the sources and state of the package's contracts.
"""

import hashlib
import os
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


def make_importable():
    """Let this process and its children import ``_ext``; build it where that is not done yet."""
    place = BUILDS / f"{sysconfig.get_config_var('SOABI')}-{fingerprint()}"
    if not place.exists():
        build(place)
    sys.path.insert(0, str(place))
    os.environ["PYTHONPATH"] = with_path(place)


def fingerprint():
    """Return a hash of the modules' sources and of the contracts they are compiled against."""
    sources = [*sorted(SOURCES.glob("*.py*")), *sorted(PACKAGE.rglob("*.pxd"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]


def with_path(place):
    """Return ``PYTHONPATH`` with a folder in front."""
    return os.pathsep.join(filter(None, [str(place), os.environ.get("PYTHONPATH", "")]))


def build(place):
    """Build in a folder of its own, then rename: sessions that start together may both do it."""
    BUILDS.mkdir(parents=True, exist_ok=True)
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
