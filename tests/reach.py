"""``pytest --changed``: the tests that changed files can reach, the likeliest to fail first.

Changed are the files that differ from a commit (``--changed=main``; the last one if none is named)
and those that are new.  A file reaches what imports it, and what names it: ``sgmc.logit``,
``sampler="sgld"``, ``room("families")``.  A compiled module is reached by its declarations, too.
What is neither a module nor a helper of tests (a page, a table) reaches the tests that have its
name or its folder's in them.
"""

import functools
import re
import subprocess
from collections import defaultdict, deque
from pathlib import Path

import pytest

from sgmc import registry
from sgmc._names import HOMES

from .architecture.sources import PACKAGE, SOURCES, cython_imports, module_name
from .mutants.nearest import nearest

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
NAMED = re.compile(r"""["']([\w-]+)["']|\bsgmc\.(\w+)""")  # literals, and names of the package
RELATIVE = re.compile(r"^\s*from (\.+)([\w.]*) import (\(.*?\)|.*?)$", re.M | re.S)
ROOMS = re.compile(r"""\broom\(["'](\w+)["']\)(?!\[["'])""")  # all leaves of a room, not one
DOCSTRING = re.compile(r'""".*?"""', re.S)
FIXTURE = re.compile(r"@pytest\.fixture.*\n(?:@.*\n)*def (\w+)")
LEAF = re.compile(r"""^    (?:room, )?name = (?:"\w+", )?"([\w-]+)\"""", re.M)


def git(*command):
    """Return the lines that git prints."""
    how = dict(cwd=ROOT, check=True, capture_output=True, text=True)
    return subprocess.run(["git", *command], **how).stdout.splitlines()


def changed(commit):
    """Return {path: first lines of what differs from a commit}; new files differ as a whole."""
    found = {ROOT / line: [0] for line in git("ls-files", "--others", "--exclude-standard")}
    found |= {ROOT / line: [] for line in git("diff", "--name-only", commit)}
    path = None
    for line in git("diff", "--unified=0", "--no-prefix", commit):
        if line.startswith("+++ "):
            path = ROOT / line[4:]
        elif line.startswith("@@ ") and path in found:
            found[path].append(int(re.search(r"\+(\d+)", line).group(1)))
    return found


@functools.cache
def leaves():
    """Return {room: {name: module}} of the rooms that the registry searches."""
    found = {}
    for kind, package in registry.ROOMS.items():
        folder = ROOT.joinpath(*package.split("."))
        found[kind] = {
            name: module_name(path)
            for path in sorted(folder.glob("*.py*"))
            if path in SOURCES
            for name in LEAF.findall(path.read_text())
        }
    return found


def of_names(words, kinds):
    """Return the modules of the leaves of these rooms that have one of these names."""
    return {module for kind in kinds for name, module in leaves()[kind].items() if name in words}


def uses_of_source(path):
    """Return the modules that a module of the package imports or names.

    Names of families are words of other meanings, too: of these, imports count alone.
    """
    text = DOCSTRING.sub("", path.read_text())
    words = {literal for literal, _ in NAMED.findall(text)}
    return cython_imports(text) | of_names(words, registry.ROOMS.keys() - {"families"})


def uses_of_test(path):
    """Return the modules that a file of the tests imports or names, helpers of tests among them."""
    text = path.read_text()
    words = {literal or name for literal, name in NAMED.findall(text)}
    found = cython_imports(text) | of_names(words, registry.ROOMS)
    found |= {HOMES[word] for word in words & HOMES.keys()}
    for kind in ROOMS.findall(text):
        found |= set(leaves().get(kind, {}).values())
    for dots, module, names in RELATIVE.findall(text):
        folder = path.parents[len(dots) - 1].joinpath(*filter(None, module.split(".")))
        found.add(folder.with_suffix(".py"))
        found |= {folder / f"{name}.py" for name in re.findall(r"\w+", names)}
    for conftest in (folder / "conftest.py" for folder in path.parents):
        if TESTS in conftest.parents and conftest.exists():
            fixtures = FIXTURE.findall(conftest.read_text())
            if any(re.search(rf"\b{name}\b", text) for name in fixtures):
                found.add(conftest)
    return found


def users():
    """Return {module or path: what uses it}: modules by dotted names, files of tests by paths."""
    found = defaultdict(set)
    for path in SOURCES:
        for used in uses_of_source(path):
            found[used].add(module_name(path))
    for path in TESTS.rglob("*.py"):
        for used in uses_of_test(path):
            found[used].add(path)
    return found


def reached(paths):
    """Return {test file: its distance} of the tests that changed files can reach."""
    found, known = users(), {path: module_name(path) for path in SOURCES}
    tests = set(TESTS.rglob("*.py"))
    distance = {}
    for path in paths:
        if path.name == "conftest.py":
            distance |= {test: 0 for test in tests if path.parent in test.parents}
        elif path in known or path in tests:
            distance[known.get(path, path)] = 0
        elif path.suffix in (".h", ".c", ".inc"):  # compiled into the modules beside it
            distance |= {known[one]: 0 for one in known if one.parent == path.parent}
        else:
            words = (path.name, path.relative_to(ROOT).parts[0])
            distance |= {
                test: 0 for test in tests if any(f'"{word}"' in test.read_text() for word in words)
            }
    queue = deque(distance)
    while queue:
        one = queue.popleft()
        for user in found[one] - distance.keys():
            distance[user] = distance[one] + 1
            queue.append(user)
    return {path: distance[path] for path in tests & distance.keys()}


def ranked(differing):
    """Return {test file: its rank} for what differs: by the words near it, and near at first."""
    found = dict.fromkeys(differing, -1)  # a test that is changed itself
    for path, lines in differing.items():
        if path in SOURCES:
            for line in lines:
                for rank, name in enumerate(nearest(path.relative_to(PACKAGE), line, {})):
                    test = TESTS / name
                    found[test] = min(rank, found.get(test, rank))
    return found


# ---- pytest's hooks, of a session with --changed -------------------------------------------------


class Plugin:
    """Collect the files of tests that are reached from what differs from a commit."""

    def __init__(self, commit):
        differing = changed(commit)
        self.distance, self.rank = reached(differing), ranked(differing)

    def pytest_report_header(self):
        """State how much is run."""
        files = [path for path in self.distance if path.name.startswith("test_")]
        every = sum(1 for _ in TESTS.rglob("test_*.py"))
        return f"changed files reach {len(files)} of {every} files of tests"

    def pytest_ignore_collect(self, collection_path):
        """Leave out the files that are not reached."""
        test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
        return True if test and collection_path not in self.distance else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        """Run those first that are likeliest to see a fault."""
        items.sort(key=lambda item: self.rank.get(item.path, len(self.rank)))
