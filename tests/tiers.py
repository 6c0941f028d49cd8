"""Three tiers of tests: ``pytest`` runs the default tier, ``pytest --all`` the extended one, too,
and ``pytest --long`` every test.

Tests that are long are listed in ``tests/long.txt``.  Two marks name what ``--all`` adds:

``extended``
    This test, or this parameter (``pytest.param(..., marks=pytest.mark.extended)``).
``cover(strength=2, by=None)``
    The default tier has a covering array of the test's parameters.  With strength 2 each pair of
    values that occurs in some test occurs in a chosen one; with strength 1 each value does; with
    strength 0 one test is enough.  A tuple counts as several parameters.  ``by`` is a function of
    the parameters, by their names, that returns what to cover in place of them.

``pytest --tiers`` prints the number of tests of each file and tier, and runs no test;
``--tiers=FILE`` writes that table.  A test that is named on the command line (``file.py::test``)
runs in any case.
"""

import heapq
import inspect
import itertools
from collections import Counter
from pathlib import Path

import pytest

TIERS = pytest.StashKey()  # {node id: one of NAMES} of all that was collected
NAMES = ("default", "extended", "long")
LONG = Path(__file__).with_name("long.txt")
MISTAKES = pytest.StashKey()  # the tests of planted mistakes, without their parameters
MARKS = (
    "extended: the default tier is without this test",
    "cover(strength, by): the default tier has a covering array of the parameters",
)
HEAD = """# Tests by file and tier

Written by `pytest --tiers=tests/TIERS.md`. `pytest` runs the default tier, `pytest --all` the
extended one, too, and `pytest --long` every test.

| file | default | added by `--all` | added by `--long` |
|---|---|---|---|
"""


# ---- covering arrays -----------------------------------------------------------------------------


def interactions(row, strength):
    """Return the sets of `strength` settings of a row, all of them if it has fewer."""
    return set(itertools.combinations(row, min(strength, len(row))))


def covering(rows, strength=2):
    """Choose few rows that have each interaction of `strength` settings that any row has.

    The choice is greedy: the row with most new interactions, the first of equals.  What a row adds
    never grows, so its last count is an upper bound, which is renewed when the row is first in the
    queue.

    Parameters
    ----------
    rows : sequence of tuple of hashable
        The settings of each row, in one order of parameters.
    strength : int
        Number of settings in an interaction.

    Returns
    -------
    list of int
        Places of the chosen rows, in order.
    """
    of_row = [interactions(row, strength) for row in rows]
    missing, chosen = set().union(*of_row), []
    queue = [(-len(some), k) for k, some in enumerate(of_row)]
    heapq.heapify(queue)
    while missing:
        bound, k = heapq.heappop(queue)
        new = of_row[k] & missing
        if len(new) == -bound:
            chosen.append(k)
            missing -= new
        else:
            heapq.heappush(queue, (-len(new), k))
    return sorted(chosen)


# ---- tests as rows -------------------------------------------------------------------------------


def settings(item, by=None):
    """Return the (parameter, value) pairs of a test."""
    params = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    if by is not None:
        params = {"by": tuple(by(*(params[name] for name in inspect.signature(by).parameters)))}
    pairs = []
    for name, value in sorted(params.items()):
        parts = value if type(value) is tuple else [value]
        pairs += [((name, place), comparable(part)) for place, part in enumerate(parts)]
    return tuple(pairs)


def comparable(value):
    """Return a hashable value, which for 1, 1.0 and True is not the same."""
    try:
        hash(value)
    except TypeError:
        value = repr(value)
    return type(value), value


def name_of(item):
    """Return the node id of a test without its parameters."""
    return item.nodeid.split("[")[0]


def arguments(strength=2, by=None):
    """Return the arguments of a `cover` mark with their defaults."""
    return strength, by


def covered(items):
    """Return the tests of each function with a `cover` mark: its strength and (test, row) pairs."""
    groups = {}
    for item in items:
        mark = item.get_closest_marker("cover")
        if mark and not item.get_closest_marker("extended"):
            strength, by = arguments(*mark.args, **mark.kwargs)
            group = groups.setdefault(name_of(item), (strength, []))[1]
            group.append((item, settings(item, by)))
    return list(groups.values())


def long():
    """Return the node ids that are listed as long."""
    return {line for line in LONG.read_text().splitlines() if not line.startswith("#")}


def extended(items):
    """Return the tests that are not of the default tier."""
    found = {item for item in items if item.get_closest_marker("extended")}
    for strength, group in covered(items):
        chosen = set(covering([row for _, row in group], strength))
        found |= {item for k, (item, _) in enumerate(group) if k not in chosen}
    return found


# ---- pytest's hooks ------------------------------------------------------------------------------


def pytest_addoption(parser):
    """``--all``, ``--long`` and ``--tiers``."""
    parser.addoption("--all", action="store_true", help="run the extended tier of tests, too")
    parser.addoption("--long", action="store_true", help="run every test")
    parser.addoption(
        "--tiers",
        nargs="?",
        const="-",
        metavar="FILE",
        help="print, or write to FILE, how many tests each tier has; run none",
    )


def pytest_configure(config):
    """Register the marks."""
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    if config.getoption("--tiers") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--tiers counts the tests of one process: leave out -n")


def pytest_collection_modifyitems(config, items):
    """Leave out what is not of the tiers that are asked for."""
    out, listed = extended(items), long()
    tier = {item.nodeid: NAMES[2 if item.nodeid in listed else item in out] for item in items}
    config.stash[TIERS] = tier
    config.stash[MISTAKES] = {name_of(item) for item in items if item.get_closest_marker("mistake")}
    wanted = NAMES[: 3 if config.getoption("--long") else 2 if config.getoption("--all") else 1]
    named = any("::" in argument for argument in config.args)
    left = [item for item in items if tier[item.nodeid] not in wanted]
    if left and not (named or config.getoption("--tiers")):
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if tier[item.nodeid] in wanted]


def table(collected):
    """Return the number of tests of each file and tier as a page."""
    counts = Counter((name.split("::")[0], tier) for name, tier in collected.items())
    counts.update(("all files", tier) for tier in collected.values())
    files = [*sorted({file for file, _ in counts} - {"all files"}), "all files"]
    return HEAD + "".join(
        f"| {file if file == 'all files' else f'`{file}`'} | "
        + " | ".join(str(counts[file, tier]) for tier in NAMES)
        + " |\n"
        for file in files
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """With ``--tiers``: the table in place of the tests."""
    place = session.config.getoption("--tiers")
    if not place:
        return None
    page = table(session.config.stash[TIERS])
    if place == "-":
        print("\n" + page)
    else:
        Path(place).write_text(page)
    return True
