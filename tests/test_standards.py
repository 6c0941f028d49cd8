"""The audit of standards names tests and pages that exist, and counts its lines right."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "standards.md").read_text(encoding="utf-8")
STATES = ("met in part", "not met", "does not apply", "met")  # a state begins with one of these


def rows(page=PAGE):
    """(line, state, shown by) of the tables of standards."""
    body = page.split("## NIST linear regressions")[0]
    found = [line.strip("|").split("|") for line in body.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in found if row[0].strip() != "line"]


def wrong(page=PAGE):
    """Tests and pages that are named and are not there."""
    missing = []
    for path, _, name in re.findall(r"`(tests/[\w/]+\.py)(::(\w+))?`", page):
        file = DOCS.parent / path
        if not file.exists() or name and f"def {name}(" not in file.read_text(encoding="utf-8"):
            missing.append(f"{path}::{name}")
    links = re.findall(r"\]\(([^)#]+)\)", page)
    there = [link.startswith("https://") or (DOCS / link).exists() for link in links]
    return missing + [link for link, found in zip(links, there) if not found]


def test_what_is_named_is_there():
    assert wrong() == []


@pytest.mark.parametrize(
    "text", ["`tests/test_ols.py::test_nothing`", "`tests/none.py`", "[page](none.md)"]
)
def test_what_is_not_there_is_seen(text):
    assert len(wrong(text)) == 1


def test_lines_are_counted():
    states = [next(s for s in STATES if state.startswith(s)) for _, state, _ in rows()]
    found = [len(states), *(states.count(s) for s in ("met", *STATES[:3]))]
    counts = PAGE.split("<!-- counts -->")[1].split("<!-- end of counts -->")[0]
    assert [int(number) for number in re.findall(r"\d+", counts)] == found


def test_a_line_that_is_met_names_what_shows_it():
    assert all(shown for _, state, shown in rows() if not state.startswith("does not apply"))
