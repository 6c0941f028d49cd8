"""Two tiers of tests: ``pytest`` runs the default tier, ``pytest --all`` runs every test.

Two marks name what only ``--all`` runs:

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

TIERS = pytest.StashKey()  # {node id: "default" or "extended"} of all that was collected
MISTAKES = pytest.StashKey()  # the tests of planted mistakes, without their parameters
MARKS = (
    "extended: only --all runs this test",
    "cover(strength, by): the default tier has a covering array of the parameters",
)
HEAD = """# Tests by file and tier

Written by `pytest --tiers=tests/TIERS.md`. `pytest` runs the default tier, `pytest --all` both.

| file | default | only with `--all` |
|---|---|---|
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


def extended(items):
    """Return the tests that only ``--all`` runs."""
    found = {item for item in items if item.get_closest_marker("extended")}
    for strength, group in covered(items):
        chosen = set(covering([row for _, row in group], strength))
        found |= {item for k, (item, _) in enumerate(group) if k not in chosen}
    return found


# ---- pytest's hooks ------------------------------------------------------------------------------


def pytest_addoption(parser):
    """``--all`` and ``--tiers``."""
    parser.addoption("--all", action="store_true", help="run every test, not the default tier only")
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
    """Leave out what is not of the default tier."""
    out = extended(items)
    config.stash[TIERS] = {item.nodeid: ("default", "extended")[item in out] for item in items}
    config.stash[MISTAKES] = {name_of(item) for item in items if item.get_closest_marker("mistake")}
    named = any("::" in argument for argument in config.args)
    if out and not (named or config.getoption("--all") or config.getoption("--tiers")):
        config.hook.pytest_deselected(items=[item for item in items if item in out])
        items[:] = [item for item in items if item not in out]


def table(collected):
    """Return the number of tests of each file and tier as a page."""
    counts = Counter((name.split("::")[0], tier) for name, tier in collected.items())
    lines = [
        f"| `{file}` | {counts[file, 'default']} | {counts[file, 'extended']} |"
        for file in sorted({file for file, _ in counts})
    ]
    totals = (
        sum(n for (_, tier), n in counts.items() if tier == one) for one in ("default", "extended")
    )
    return HEAD + "\n".join([*lines, "| all files | {} | {} |".format(*totals)]) + "\n"


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
