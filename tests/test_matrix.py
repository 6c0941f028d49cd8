"""docs/matrix.md says what goes together: cells tried again, and the page of what is stored."""

import importlib
import json
import pickle
import sys
from pathlib import Path

import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported

DOCS = Path(__file__).parents[1] / "docs"
ABSENT = "which is not installed: pip install"
SAMPLE = 30  # cells that the default tier tries
TABLES = sorted(json.loads((DOCS / "matrix.json").read_text())["tables"])


@pytest.fixture(scope="module")
def matrix():
    """docs/matrix.py, which is forgotten afterwards."""
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module("matrix")
    sys.path.remove(str(DOCS))
    for name in ("matrix", "cells"):
        sys.modules.pop(name, None)


def assert_as_stored(matrix, cells):
    """Cells come out as the page has them; those of absent packages are left out."""
    stored, calls, found = matrix.read(), matrix.cells.calls(), []
    for cell in cells:
        outcome = matrix.cells.attempt(cell, calls[cell])
        if ABSENT not in getattr(outcome, "text", ""):
            found.append(matrix.differs(cell, outcome, stored))
    assert len(found) > 0.8 * len(cells)
    assert not any(found), "\n".join(filter(None, found)) + "\nrun python docs/matrix.py"


def test_cells_of_every_table_come_out_as_stored(matrix):
    """Spread evenly over works and refusals, so that each table and each kind has some."""
    tables, stored = {}, matrix.read()
    for cell in matrix.cells.calls():
        found = stored["tables"][cell.table][cell.row][cell.column]
        kind = stored["reasons"][found][0] if isinstance(found, int) else found
        tables.setdefault((cell.table, kind), []).append(cell)
    firsts = [some[len(some) // 2] for some in tables.values()]
    step = len(firsts) / SAMPLE
    assert_as_stored(matrix, [firsts[int(k * step)] for k in range(SAMPLE)])


@pytest.mark.extended
@pytest.mark.parametrize("table", TABLES)
def test_all_cells_come_out_as_stored(table, matrix):
    assert_as_stored(matrix, [cell for cell in matrix.cells.calls() if cell.table == table])


def test_the_page_is_of_what_is_stored_and_has_no_faults(matrix):
    stored = matrix.read()
    assert matrix.PAGE.read_text() == matrix.page(stored)
    cells = {
        matrix.cells.Cell(table, row, column): found
        for table, rows in stored["tables"].items()
        for row, some in rows.items()
        for column, found in some.items()
    }
    assert set(cells) == set(matrix.cells.calls())
    assert matrix.FAULT not in cells.values()


def test_a_cell_that_comes_out_otherwise_is_seen(matrix):
    stored = matrix.read()
    cell = matrix.cells.Cell("families", "ols", "x")
    refused = matrix.cells.Refused("limit", "another reason")
    assert not matrix.differs(cell, matrix.cells.WORKS, stored)
    assert "another reason" in matrix.differs(cell, refused, stored)
    assert matrix.differs(cell, matrix.cells.Fault("TypeError"), stored)
    number = next(k for k, (kind, _) in enumerate(stored["reasons"]) if kind == "mathematics")
    stored["tables"]["families"]["ols"]["x"] = number
    text = stored["reasons"][number][1]
    assert not matrix.differs(cell, matrix.cells.Refused("mathematics", text), stored)
    assert matrix.differs(cell, matrix.cells.Refused("not yet", text), stored)


def test_a_reason_is_one_for_all_families_samplers_and_terms(matrix):
    assert matrix.key("hmc with (1 | g): ols, 3 rows") == matrix.key(
        "mala with (x | g): rlm, 4 rows"
    )
    assert matrix.key("loo has no rows") != matrix.key("kfold has no rows")


def test_errors_carry_the_kind_of_their_reason():
    assert NotSupported("a").because == "not yet"
    assert ArgumentError("a").because == "mathematics"
    kept = pickle.loads(pickle.dumps(NotSupported("a", because="limit")))
    assert (str(kept), kept.because) == ("a", "limit")
    assert isinstance(sgmc.errors.DiskError("full", because="limit"), OSError)
