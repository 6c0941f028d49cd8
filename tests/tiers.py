"""Three tiers of tests: ``pytest`` runs the default tier, ``pytest --all`` the extended one, too,
and ``pytest --long`` every test.

Tests that are long are listed in ``tests/long.txt``.  Two marks name what ``--all`` adds:

``extended``
    This test, or this parameter (``pytest.param(..., marks=pytest.mark.extended)``); with names,
    ``extended("large", "wide")``, the test's sets of parameters that have these ids.
``cover(strength=2, by=None)``
    The default tier has a covering array of the test's parameters.  With strength 2 each pair of
    values that occurs in some test occurs in a chosen one; with strength 1 each value does; with
    strength 0 one test is enough.  A tuple counts as several parameters.  ``by`` is a function of
    the parameters, by their names, that returns what to cover in place of them.

Tests are chosen when parameters are made, so that the others are never built.
``pytest --tiers`` prints the number of tests of each file and tier, and runs no test.  A test that
is named on the command line (``file.py::test``) runs in any case.
"""

import functools
import heapq
import inspect
import itertools
from collections import Counter
from pathlib import Path

import pytest

TIERS = pytest.StashKey()  # {node id: one of NAMES} of all tests, built or not
NAMES = ("default", "extended", "long")
LONG = Path(__file__).with_name("long.txt")
MARKS = (
    "extended(*ids): the default tier is without this test, or its parameters of these ids",
    "cover(strength, by): the default tier has a covering array of the parameters",
)


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


def settings(params, by=None):
    """Return the (parameter, value) pairs of a test."""
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


def marked(strength=2, by=None):
    """Return the arguments of a `cover` mark with their defaults."""
    return strength, by


@functools.cache
def long():
    """Return the node ids that are listed as long."""
    return {line for line in LONG.read_text().splitlines() if not line.startswith("#")}


def tiers_of(definition, calls):
    """Return {node id: tier} of the tests of a function.

    Parameters
    ----------
    definition : pytest.Function
        The function, with its marks and those of its class and module.
    calls : list
        Its sets of parameters, each with ``id``, ``params`` and ``marks``; may be empty.
    """
    name, extended = definition.nodeid, definition.get_closest_marker("extended")
    if not calls:
        tier = {name: "extended" if extended else "default"}
        return tier | dict.fromkeys(tier.keys() & long(), "long")
    unknown = set(extended.args if extended else ()) - {call.id for call in calls}
    assert not unknown, f"{name}: no parameters have the ids {sorted(unknown)} of its mark"
    calls = {f"{name}[{call.id}]": call for call in calls}
    chosen = {
        node: call
        for node, call in calls.items()
        if all(mark.name != "extended" for mark in call.marks)
        and not (extended and call.id in (extended.args or [call.id]))
    }
    cover = definition.get_closest_marker("cover")
    if cover and chosen:
        strength, by = marked(*cover.args, **cover.kwargs)
        nodes, rows = list(chosen), [settings(call.params, by) for call in chosen.values()]
        chosen = {nodes[k] for k in covering(rows, strength)}
    tier = {node: "default" if node in chosen else "extended" for node in calls}
    return tier | dict.fromkeys(tier.keys() & long(), "long")


# ---- pytest's hooks ------------------------------------------------------------------------------


def pytest_addoption(parser):
    """``--all``, ``--long`` and ``--tiers``."""
    parser.addoption("--all", action="store_true", help="run the extended tier of tests, too")
    parser.addoption("--long", action="store_true", help="run every test")
    parser.addoption(
        "--tiers", action="store_true", help="print how many tests each tier has; run none"
    )


def pytest_configure(config):
    """Register the marks."""
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    config.stash[TIERS] = {}
    if config.getoption("--tiers") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--tiers counts the tests of one process: leave out -n")


def wanted(config):
    """Return the tiers that are asked for."""
    named = any("::" in argument for argument in config.args)
    everything = named or config.getoption("--long")
    return NAMES[: 3 if everything else 2 if config.getoption("--all") else 1]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_generate_tests(metafunc):
    """Keep the sets of parameters of the tiers that are asked for, once all are there."""
    result = yield
    config, definition = metafunc.config, metafunc.definition
    tier = tiers_of(definition, metafunc._calls)
    config.stash[TIERS].update(tier)
    kept = [
        call
        for call, one in zip(metafunc._calls, tier.values(), strict=False)
        if one in wanted(config)
    ]
    if kept:  # without any, pytest would build the test without parameters
        metafunc._calls[:] = kept
    return result


def pytest_collection_modifyitems(config, items):
    """Leave out the other tests without parameters, and those of which no parameter is kept."""
    tier = config.stash[TIERS]
    asked, kept, left = wanted(config), [], []
    for item in items:
        (kept if tier.get(item.nodeid, "default") in asked else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def table(collected):
    """Return the number of tests of each file and tier as lines of a table."""
    counts = Counter((name.split("::")[0], tier) for name, tier in collected.items())
    counts.update(("all files", tier) for tier in collected.values())
    files = [*sorted({file for file, _ in counts} - {"all files"}), "all files"]
    head = "| file | default | added by `--all` | added by `--long` |\n|---|---|---|---|\n"
    return head + "".join(
        f"| {file} | " + " | ".join(str(counts[file, tier]) for tier in NAMES) + " |\n"
        for file in files
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """With ``--tiers``: the table in place of the tests."""
    if not session.config.getoption("--tiers"):
        return None
    print("\n" + table(session.config.stash[TIERS]))
    return True
