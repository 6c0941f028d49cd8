"""A copy of the source tree in which faults are planted, built in place."""

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ONE_MODULE = """
import runpy, sys
from setuptools import setup
of = runpy.run_path("setup.py")
class Build(of["Build"]):
    def write_names(self):
        pass
ours = [one for one in of["extensions"]() if one.sources[0] == sys.argv[1]]
setup(script_args=["-q", "build_ext", "--inplace"], cmdclass={"build_ext": Build}, ext_modules=ours)
"""


class Tree:
    """A copy of this tree; what differs from it since is copied anew, and built."""

    def __init__(self, place):
        self.root = Path(place)
        if not self.root.exists():
            shutil.copytree(ROOT, self.root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        changed = [self.renewed(p) for part in ("sgmc", "tests") for p in (ROOT / part).rglob("*")]
        if {".pyx", ".pxd", ".c", ".h"} & set(changed):
            self.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], check=True)

    def renewed(self, path):
        """Copy a source that differs, and return its suffix; None where it does not."""
        own = self.root / path.relative_to(ROOT)
        if not path.is_file() or "__pycache__" in path.parts or path.suffix in EXTENSION_SUFFIXES:
            return None
        if own.exists() and own.read_bytes() == path.read_bytes():
            return None
        own.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, own)
        return path.suffix

    def run(self, command, **how):
        """Run a command in the copy."""
        own = {"PYTHONPATH": str(self.root), "OPENBLAS_NUM_THREADS": "1"}
        env = {**os.environ, **own, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=self.root, env=env, text=True, **how)

    def find(self, room, name, old):
        """Return the file of a mutant: the one that has its text once, in its room if it moved."""
        base = self.root / "sgmc"
        named = [base / name, *sorted((base / room).rglob("*.py*")), *sorted(base.rglob("*.py*"))]
        for path in filter(Path.is_file, named):
            if path.suffix in (".py", ".pyx") and path.read_text().count(old) == 1:
                return path
        raise LookupError(f"{room}: no file has {old!r} once")

    def plant(self, path, old, new):
        """Put text in the place of another, build, and return what undoes it."""
        text, facts = path.read_text(), path.stat()
        binaries = [p for s in EXTENSION_SUFFIXES if (p := path.with_suffix(s)).exists()]
        kept = {one: one.read_bytes() for one in binaries if path.suffix == ".pyx"}

        def undo():
            path.write_text(text)
            if not kept:
                os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
            for one, content in kept.items():
                one.unlink(missing_ok=True)  # the file of a process that has loaded it stays
                one.write_bytes(content)
                shutil.copymode(ROOT / one.relative_to(self.root), one)

        path.write_text(text.replace(old, new))
        if kept:
            for one in kept:
                one.unlink()
            source = path.relative_to(self.root).as_posix()
            built = self.run([sys.executable, "-c", ONE_MODULE, source], capture_output=True)
            if built.returncode or not all(one.exists() for one in kept):
                undo()
                raise ValueError(built.stdout[-500:] + built.stderr[-1500:])
        return undo
