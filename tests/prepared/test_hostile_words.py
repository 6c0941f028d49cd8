"""What is said of prepared files that were changed and sealed again, one message after another."""

import copy
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import sgmc
from sgmc.core.system.files import Damaged
from sgmc.errors import DataError
from sgmc.prepared.file import column_store, layout, recipe, rows, schema
from sgmc.saved import designs

from .hostile import at, changed, sealed, with_rows, written_files

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
MANIFESTS = {
    "is damaged: its section 'y' must be of the type '<f8', not '|O'": ("y", "dtype", "|O"),
    "is damaged: its section 'y' must be of the shape (300), not [-1]": ("y", "shape", [-1]),
    "is damaged: its section 'y' is not at byte": ("y", "start", 0),
}
ROWS = {
    "codes of a factor must be from 0 to 39, and are from -1 to": ("codes", -1),
    "numbers of the design are not finite in some row": ("numbers", np.nan),
    "weights must be finite numbers, zero or more": ("weights", -1),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Prepared files of each kind, as bytes."""
    return written_files(tmp_path_factory.mktemp("written"))


@pytest.fixture
def opened(written, tmp_path):
    """A function that opens a file of some kind."""

    def made(kind, content=None):
        path = tmp_path / "file"
        path.write_bytes(written[kind] if content is None else content)
        return sgmc.open(path)

    return made


@pytest.mark.parametrize("words", MANIFESTS)
def test_sections(words, written, opened):
    content = changed(written["dense"], ("sections", *MANIFESTS[words][:2]), MANIFESTS[words][2])
    with pytest.raises(DataError, match=f"file {re.escape(words)}"):
        opened("dense", content)


def test_manifests(written, opened, tmp_path):
    content = written["dense"]
    for words, text in {
        "has no manifest in it (JSONDecodeError)": b"{",
        "is damaged: its manifest has no facts": b'{"sections": {}, "facts": 3}',
        "is damaged: it has no fact 'kind'": b'{"sections": {}, "facts": {}}',
    }.items():
        with pytest.raises(DataError, match=f"file {re.escape(words)}"):
            opened("dense", sealed(content, text))
    with pytest.raises(DataError, match="file has a fact 'other', which this release does not"):
        opened("dense", changed(content, ("facts", "other"), 1))
    with pytest.raises(DataError, match="file is damaged: its 'n' must be a number of rows, at"):
        opened("dense", changed(content, ("facts", "n"), -1))
    with pytest.raises(Damaged, match="is no regular file"):
        layout.manifest(tmp_path)


@pytest.mark.parametrize("words", ROWS)
def test_rows(words, written, opened):
    name, value = ROWS[words]
    table = opened("coded", with_rows(written["coded"], name, at(3, value)))
    with pytest.raises(DataError, match=f"file is damaged: {words}.*; prepare it again"):
        rows.check_rows(table)


def test_codes_that_are_not_whole():
    with pytest.raises(DataError, match="a.sgmc is damaged: outcomes must be whole numbers; prep"):
        rows.check_codes("a.sgmc", "outcomes", np.array([0.0, 0.5]), 0, 2)


def test_recipes(opened):
    table = opened("coded")
    spec, d = table.spec, len(table.mean)
    facts = {"formula": table.formula, "n": table.n, "dtype": "<f8"}
    found = {"spec": spec, "outcome_levels": None, "examples": table.examples}
    cases = {
        "its recipe lacks the design": {**found, "spec": 3},
        "its recipe lacks what the outcomes are": {**found, "outcome_levels": ()},
    }
    for words, one in cases.items():
        with pytest.raises(Damaged, match=words):
            recipe.check_design(one, {}, facts)
    with pytest.raises(Damaged, match="its section 'y' is not what its recipe makes"):
        recipe.check_sections({"y": (np.dtype(float), (3,))}, {"y": np.zeros(4)})
    for words, change in {
        "a factor of its design lacks a column, or code": {"code": 3},
        "its factor 'g' has no levels, or some twice": {"levels": ("a", "a")},
        "its factor 'g' has other contrasts": {"levels": ("a", "b")},
    }.items():
        other = copy.deepcopy(spec)
        vars(next(one for one in other.factors if one.label == "g")).update(change)
        with pytest.raises(Damaged, match=words):
            designs.check_factors(other)
    with pytest.raises(Damaged, match="the columns of its design are not those of its recipe"):
        designs.check_blocks(spec, d + 1)


def test_blocks(opened, monkeypatch):
    table = opened("coded")
    spec, d = copy.deepcopy(table.spec), len(table.mean)
    spec.term_slices["g"] = slice(3, d + 1)
    with pytest.raises(Damaged, match="a term of its design has other columns"):
        designs.check_blocks(spec, d)
    spec._blocks[1] = replace(spec._blocks[1], columns=slice(0, 39))
    with pytest.raises(Damaged, match="columns of its design overlap, or lack"):
        designs.check_blocks(spec, d)
    monkeypatch.setattr(designs, "available", lambda: 100.0)
    with pytest.raises(Damaged, match="has more combinations of levels than fit into memory"):
        designs.check_blocks(table.spec, d)


def test_contrasts_are_whole_before_anything_is_made_of_them(opened):
    """Compiled code of scipy does not ask."""
    table = opened("coded")
    spec = copy.deepcopy(table.spec)
    matrix = sparse.csr_array(next(iter(spec.blocks_with_levels)).categorical[0][1].matrix)
    matrix.indices[0] = 1 << 30
    place = spec._blocks.index(next(iter(spec.blocks_with_levels)))
    contrasts = (replace(spec._blocks[place].contrasts[0], matrix=matrix),)
    spec._blocks[place] = replace(spec._blocks[place], contrasts=contrasts)
    with pytest.raises(ValueError, match="indices"):
        designs.check_blocks(spec, len(table.mean))


def test_columns(opened):
    table = opened("columns")
    facts = {"columns": table.columns, "n": table.n}
    for words, columns in {
        "its recipe lacks the columns": 3,
        "its columns are not those of its source": [with_(table.kept[0], name="other")],
        "its column 'g' has no levels, or some twice": [
            with_(one, levels=("a", "a")) for one in table.kept if one.name == "g"
        ],
    }.items():
        with pytest.raises(Damaged, match=words):
            column_store.check_columns({"columns": columns}, {"recipe": b""}, facts)
    assert schema.is_text("a") and not schema.is_text("\ud800")


def with_(one, **values):
    """A column with other attributes."""
    other = copy.copy(one)
    vars(other).update(values)
    return other
