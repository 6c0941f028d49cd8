"""``pytest --messages``: note which tests make which message of the package.

Modules of the package are imported with a note around each place of `places`, which costs nothing
until a message is made.  Cython is compiled without notes: there the traceback of an error that is
caught has the line.  Workers of xdist send what they noted to the first process, which writes
``build/messages.md``.  A run in which no tests were chosen, of whatever tier, fails if a place made
no message.
"""

import ast
import importlib.abc
import importlib.machinery
import os
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from . import places

NOTE = "_note_message"  # the name of `note` in the modules of the package
ASKED = "SGMC_MESSAGES"  # the environment variable that workers inherit
PAGE = Path("build", "messages.md")
SHOWN = 3  # tests of a message on the page
CHOICES = ("keyword", "markexpr", "deselect", "lf", "ignore", "ignore_glob", "maxfail")

current = ""  # the test that runs
made = {}  # {key of a place: the tests that made its message}
lock = threading.Lock()


# ---- what is noted -------------------------------------------------------------------------------


def note(key, message):
    """Note that a place made a message, and return the message."""
    add(key)
    caught(sys.exc_info()[1])
    return message


def add(key):
    """Note that the current test made the message of a place."""
    if current:
        with lock:
            made.setdefault(key, set()).add(current)


def caught(error):
    """Note the places in Cython that an error came by, and those of its causes."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        step = error.__traceback__
        while step is not None:
            name = step.tb_frame.f_code.co_filename
            if name.endswith(".pyx"):
                add_line(name, step.tb_lineno)
            step = step.tb_next
        error = error.__cause__ or error.__context__


def add_line(file, line):
    """Note the place at a line of Cython code."""
    for place in places.everywhere():
        if place.file == file and place.lines[0] <= line <= place.lines[1]:
            add(place.key)


# ---- modules with notes --------------------------------------------------------------------------


class Loader(importlib.machinery.SourceFileLoader):
    """Load a module with a note around each of its places; nothing is cached."""

    def get_code(self, fullname):
        path = Path(self.path)
        file = "/".join(fullname.split("."))
        file += "/__init__.py" if path.name == "__init__.py" else ".py"
        finder = places.Finder(file, wrapped)
        tree = finder.visit(ast.parse(path.read_bytes(), self.path))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        setattr(module, NOTE, note)
        super().exec_module(module)


def wrapped(place, call):
    """Return the call with a note around it."""
    name = ast.Name(NOTE, ast.Load())
    return ast.copy_location(ast.Call(name, [ast.Constant(place.key), call], []), call)


class Modules(importlib.abc.MetaPathFinder):
    """Find the Python modules of the package for `Loader`."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] != "sgmc":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        source = spec and spec.origin or ""
        if source.endswith(".py") and Path(source).name not in places.SKIPPED:
            spec.loader = Loader(fullname, source)
        return spec


def install():
    """Load the package with notes, where the command line asks for it; before it is imported."""
    if "--messages" in sys.argv:
        os.environ[ASKED] = "1"
    if ASKED in os.environ:
        assert "sgmc" not in sys.modules, "--messages: the package is imported already"
        sys.meta_path.insert(0, Modules())


# ---- the page ------------------------------------------------------------------------------------


def page():
    """Return the messages in the order of the sources, each with tests that make it.

    Tests that make few messages come first.
    """
    counts = Counter(test for tests in made.values() for test in tests)
    lines, file = ["# Messages\n"], None
    for place in places.everywhere():
        if place.file != file:
            file = place.file
            lines.append(f"\n## {file}\n\n")
        tests = sorted(made.get(place.key, ()), key=lambda test: (counts[test], test))[:SHOWN]
        lines.append(f"- `` {place.call} `` in `{place.function}`: {', '.join(tests) or 'none'}\n")
    return "".join(lines)


def missing():
    """Return the places whose message no test made."""
    return [place for place in places.everywhere() if place.key not in made]


def whole(config):
    """Return whether a session runs all tests of a tier."""
    chosen = any(config.getoption(name, None) for name in CHOICES)
    return not chosen and config.args_source is config.ArgsSource.TESTPATHS


# ---- pytest's hooks ------------------------------------------------------------------------------


def pytest_addoption(parser):
    """``--messages``."""
    parser.addoption(
        "--messages",
        action="store_true",
        help=f"write to {PAGE} which tests make which message of the package; a run of all tests "
        "fails for a message that none makes",
    )


def pytest_configure(config):
    """Watch ``pytest.raises``."""
    if not config.getoption("--messages"):
        return
    leave = pytest.RaisesExc.__exit__

    def watched(self, kind, error, traceback):
        caught(error)
        return leave(self, kind, error, traceback)

    pytest.RaisesExc.__exit__ = watched
    config.add_cleanup(lambda: setattr(pytest.RaisesExc, "__exit__", leave))


def pytest_runtest_logstart(nodeid):
    """A test begins, with its fixtures."""
    global current
    current = nodeid.split("[")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """A worker ended: take what it noted."""
    take(getattr(node, "workeroutput", {}).get("messages", {}))


def take(others):
    """Add what another process noted."""
    for key, tests in others.items():
        made.setdefault(key, set()).update(tests)


def pytest_sessionfinish(session):
    """Send the notes of a worker; or write the page, and fail where a message has no test."""
    config = session.config
    if not config.getoption("--messages"):
        return
    if hasattr(config, "workeroutput"):
        config.workeroutput["messages"] = {key: sorted(tests) for key, tests in made.items()}
        return
    path = config.rootpath / PAGE
    path.parent.mkdir(exist_ok=True)
    path.write_text(page(), encoding="utf-8")
    if whole(config) and missing() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    """Name the messages that no test of a whole run made."""
    if config.getoption("--messages") and whole(config):
        for place in missing():
            terminalreporter.write_line(f"no test makes this message: {place.key}", red=True)
