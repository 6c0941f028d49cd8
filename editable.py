"""Hook of an editable install: `import sgmc` first compiles what has changed.

`pip install -e .` copies this file beside the installed packages, with a line that calls `install`
when Python starts; a wheel has neither.  The hook compares times and sizes of all Cython and C
files with those of the last build.  If they differ, a child process runs ``setup.py build_ext
--inplace``.  ``SGMC_REBUILD=0`` switches the hook off.
"""

import os
import sys

SUFFIXES = (".pyx", ".pxd", ".c", ".h", ".inc")
NAMES = os.path.join("sgmc", "api", "names.py")  # the build writes a table of what it lists
NEEDED = ("Cython", "numpy", "scipy", "setuptools")  # build isolation has removed its own


def install(root):
    """Watch the tree at `root` from now on."""
    sys.meta_path.insert(0, Hook(root))


class Hook:
    """A finder that finds nothing, but brings a tree up to date when `sgmc` is imported from it."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path=None, target=None):
        """See `importlib.abc.MetaPathFinder`."""
        if name == "sgmc" and os.environ.get("SGMC_REBUILD") != "0":
            import importlib
            from importlib.machinery import PathFinder

            home = os.path.join(self.root, "sgmc", "__init__.py")
            spec = PathFinder.find_spec(name)
            if spec and spec.origin and os.path.realpath(spec.origin) == os.path.realpath(home):
                refresh(self.root)
                importlib.invalidate_caches()


def refresh(root):
    """Compile what has changed since the last build; one process does it, and others wait."""
    if sources(root) == last(root):
        return
    os.makedirs(os.path.join(root, "build"), exist_ok=True)
    with open(os.path.join(root, "build", "editable.lock"), "w") as file:
        lock(file)
        now, before = sources(root), last(root)
        if now != before:
            prepare(root, now, before)
            compile_tree(root)
            remember(root, now)


def sources(root):
    """Return path -> (time of the last change, size) of the files that compiled modules rest on."""
    found, folders = {}, [os.path.join(root, "sgmc")]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIXES) or entry.path.endswith(NAMES):
                    info = entry.stat()
                    found[os.path.relpath(entry.path, root)] = [info.st_mtime_ns, info.st_size]
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return found


def record(root):
    """Return the file that holds `sources` at the last build for this version of Python."""
    return os.path.join(root, "build", f"editable-{sys.implementation.cache_tag}.json")


def last(root):
    """Return `sources` at the last build; nothing where there was none."""
    import json

    try:
        with open(record(root), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def remember(root, now):
    """Record that the modules are those of these sources."""
    import json

    os.makedirs(os.path.join(root, "build"), exist_ok=True)
    with open(record(root), "w", encoding="utf-8") as file:
        json.dump(now, file)


def prepare(root, now, before):
    """Remove modules without sources; date changed files that look older than the last build."""
    from importlib.machinery import EXTENSION_SUFFIXES

    for path in set(before) - set(now):
        stem, suffix = os.path.splitext(os.path.join(root, path))
        module = stem + EXTENSION_SUFFIXES[0]
        if suffix == ".pyx" and os.path.exists(module):
            os.remove(module)
    built = os.stat(record(root)).st_mtime_ns if before else 0
    for path, (changed, size) in now.items():
        if before.get(path) != [changed, size] and changed < built:
            os.utime(os.path.join(root, path))  # a copy with the times of its original
            info = os.stat(os.path.join(root, path))
            now[path] = [info.st_mtime_ns, info.st_size]


def compile_tree(root):
    """Build in place, in a child process, or raise with what the compiler wrote."""
    import subprocess
    from importlib.util import find_spec

    missing = [name.lower() for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"Compiled sources of sgmc have changed in {root}, but {', '.join(missing)} is missing "
            f"here, which compiling needs.\nRun `pip install {' '.join(missing)}`, or set "
            "SGMC_REBUILD=0 to import the modules of the last build."
        )
    print(f"sgmc: compiling what has changed in {root}", file=sys.stderr, flush=True)
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=root,
        env={**os.environ, "SGMC_REBUILD": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise ImportError(
            f"sgmc could not be compiled in {root}:\n\n{done.stdout}\n"
            "Correct the sources and import it again, or set SGMC_REBUILD=0 to import the modules "
            "of the last build."
        )


def lock(file):
    """Lock a file until it is closed, as soon as no other process has it."""
    if os.name != "nt":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        return
    import msvcrt

    while True:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            break
        except OSError:  # raised after ten seconds
            pass
