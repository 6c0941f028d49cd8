"""``pytest --messages=FILE``: note which test makes which message, and write the list.

Modules of the package are imported with a note around each place of `places`, which costs nothing
until a message is made.  Cython is compiled without notes: there the traceback of a caught error
has the line.  Workers of xdist send what they noted to the first process.
"""

import ast
import importlib.abc
import importlib.machinery
import os
import sys
import threading
from pathlib import Path

import pytest

from . import page, places

NOTE = "_note_message"  # the name of `note` in the modules of the package
ASKED = "SGMC_MESSAGES"  # the environment variable that workers inherit

current = ""  # the test that runs
made = {}  # {key of a place: {test: whether the test caught the error itself}}
last = {}  # {id of an error or warning: its key}, of the current test
lock = threading.Lock()


# ---- what is noted -------------------------------------------------------------------------------


def note(key, message):
    """Note that a place made a message, and return the message."""
    with lock:
        made.setdefault(key, {}).setdefault(current, False)
        last[id(message)] = key
    handled = sys.exc_info()[1]
    if handled is not None:
        note_traceback(handled)
    return message


def note_traceback(error):
    """Note the places in Cython that an error came by, and those of its causes."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        step = error.__traceback__
        while step is not None:
            name = step.tb_frame.f_code.co_filename
            if name.endswith(".pyx"):
                note_line(name, step.tb_lineno)
            step = step.tb_next
        error = error.__cause__ or error.__context__


def note_line(file, line):
    """Note the place at a line of Cython code."""
    for place in cython().get(file, ()):
        if place.lines[0] <= line <= place.lines[1]:
            made.setdefault(place.key, {})[current] = True


def cython():
    """Return the places of Cython files, by the names that tracebacks have."""
    if not hasattr(cython, "places"):
        cython.places = {}
        for place in places.everywhere():
            cython.places.setdefault(place.file, []).append(place)
    return cython.places


def caught(error):
    """Note that a test caught an error or warning itself."""
    note_traceback(error)
    key = last.get(id(error))
    if key is not None:
        made[key][current] = True


# ---- modules with notes --------------------------------------------------------------------------


class Loader(importlib.machinery.SourceFileLoader):
    """Load a module with a note around each of its places; nothing is cached."""

    def get_code(self, fullname):
        """See `importlib.abc.InspectLoader`."""
        path = Path(self.path)
        file = "/".join(fullname.split("."))
        file += "/__init__.py" if path.name == "__init__.py" else ".py"
        finder = places.Finder(file, wrapped)
        tree = finder.visit(ast.parse(path.read_bytes(), self.path))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        """See `importlib.abc.Loader`."""
        setattr(module, NOTE, note)
        super().exec_module(module)


def wrapped(place, call):
    """Return the call with a note around it."""
    name = ast.Name(NOTE, ast.Load())
    return ast.copy_location(ast.Call(name, [ast.Constant(place.key), call], []), call)


class Modules(importlib.abc.MetaPathFinder):
    """Find the Python modules of the package for `Loader`."""

    def find_spec(self, fullname, path=None, target=None):
        """See `importlib.abc.MetaPathFinder`."""
        if fullname.partition(".")[0] != "sgmc":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        source = spec and spec.origin or ""
        if source.endswith(".py") and Path(source).name not in places.SKIPPED:
            spec.loader = Loader(fullname, source)
        return spec


def install():
    """Load the package with notes, where the command line asks for it; before it is imported."""
    if any(argument.startswith("--messages") for argument in sys.argv):
        os.environ[ASKED] = "1"
    if ASKED in os.environ:
        assert "sgmc" not in sys.modules, "--messages: the package is imported already"
        sys.meta_path.insert(0, Modules())


# ---- pytest's hooks ------------------------------------------------------------------------------


def pytest_addoption(parser):
    """``--messages``."""
    parser.addoption(
        "--messages",
        metavar="FILE",
        help="write to FILE which test makes which message of the package",
    )


def pytest_configure(config):
    """Watch ``pytest.raises`` and ``pytest.warns``."""
    if not config.getoption("--messages"):
        return
    for cls, messages in (
        (pytest.RaisesExc, lambda self, error: [error] if error is not None else []),
        (pytest.WarningsRecorder, lambda self, error: [warned.message for warned in self]),
    ):
        watch(config, cls, messages)


def watch(config, cls, messages):
    """Have a context manager tell `caught` of its `messages(self, error)` when it is left."""
    leave = cls.__exit__

    def watched(self, kind, error, traceback):
        for one in messages(self, error):
            caught(one)
        return leave(self, kind, error, traceback)

    cls.__exit__ = watched
    config.add_cleanup(lambda: setattr(cls, "__exit__", leave))


def pytest_runtest_logstart(nodeid):
    """A test begins, with its fixtures."""
    global current
    current = nodeid.split("[")[0]
    last.clear()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """A worker ended: take what it noted."""
    take(getattr(node, "workeroutput", {}).get("messages", {}))


def take(others):
    """Add what another process noted."""
    for key, tests in others.items():
        for test, asserted in tests.items():
            mine = made.setdefault(key, {})
            mine[test] = mine.get(test, False) or asserted


def pytest_sessionfinish(session):
    """Send the notes of a worker; or write the list."""
    config = session.config
    if not config.getoption("--messages"):
        return
    if hasattr(config, "workeroutput"):
        config.workeroutput["messages"] = made
    else:
        page.write(Path(config.getoption("--messages")), made)
