"""The list of all messages, each with a test that makes it: ``tests/MESSAGES.md``."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

from . import places

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "MESSAGES.md"
HEAD = """# Messages

Every error and warning of the package with a test that makes it. Written by
`pytest --messages=tests/MESSAGES.md`: tests that run replace lines, the other lines stay as they
are. Expressions in braces are filled in.
"""
ROW = re.compile(
    r"^\| `(?P<function>[^`]+)` \| `(?P<kind>[^`]+)` \| (?P<template>.*) \| (?P<by>.*) \|$"
)
NONE = "no test"


def read(text):
    """Return {key of a place: the test that makes its message, "" for none} of a page."""
    found, file = {}, None
    for line in text.splitlines():
        if line.startswith("## `"):
            file = line[4:-1]
        elif file and (row := ROW.match(line)):
            key = " | ".join((file, row["function"], row["kind"], plain(row["template"])))
            found[key] = row["by"].strip("`") if row["by"].startswith("`") else ""
    return found


def cell(template):
    """Return a template as a cell of a table."""
    return "`` " + template.replace("|", "\\|") + " ``"


def plain(cell_text):
    """Return the template of a cell."""
    return cell_text[3:-3].replace("\\|", "|")


def written(tests):
    """Return the page of {key of a place: test}, in the order of the sources."""
    lines, file = [HEAD], None
    for place in places.everywhere():
        if place.file != file:
            file = place.file
            lines.append(
                f"\n## `{file}`\n\n| function | raises | message | test |\n|---|---|---|---|\n"
            )
        test = tests.get(place.key)
        by = f"`{test}`" if test else NONE
        lines.append(f"| `{place.function}` | `{place.kind}` | {cell(place.template)} | {by} |\n")
    return "".join(lines)


def write(path, made):
    """Write the list with what the tests of a session made; what they did not is kept."""
    before = read(path.read_text()) if path.exists() else {}
    best = chosen(made)
    tests = {}
    for place in places.everywhere():
        old = before.get(place.key, "")
        if old and exists(old) and (old in made.get(place.key, ()) or place.key not in best):
            tests[place.key] = old
        elif place.key in best:
            tests[place.key] = best[place.key]
    path.write_text(written(tests))


def chosen(made):
    """Return the test that is listed for each place.

    Of those that make its message: one that catches the error itself, of these the one that makes
    fewest messages, of these the first by name.
    """
    counts = Counter(test for tests in made.values() for test in tests)
    found = {}
    for key, tests in made.items():
        named = [test for test in tests if "::" in test]
        if named:
            found[key] = min(named, key=lambda test: (not tests[test], counts[test], test))
    return found


def exists(test):
    """Return whether a test, ``tests/file.py::name``, is in the sources."""
    file, _, name = test.partition("::")
    path = ROOT / file
    return path.exists() and name in tests_of(path)


@cache
def tests_of(path):
    """Return the names of the tests in a file, as node ids have them."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)
            }
    return found
