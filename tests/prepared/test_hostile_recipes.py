"""Recipes in prepared files that someone has changed and sealed again."""

import copy
import hashlib
import json
import struct

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError
from sgmc.prepared.file import layout
from tests.faults.children import forking

from .hostile import (
    FORMULAS,
    NASTY,
    VERBS,
    changed,
    refused_or_the_same,
    sealed,
    tree_of,
    written_files,
)

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
FEW, MANY = 40, 400  # changes of each kind of file
VALUES = [*NASTY, 10**9, -5, 3, 2, 1, 0.5, {"is": "tuple", "of": []}, {"is": "same", "as": 0}]
VALUES += [{"is": "same", "as": 3}, {"is": "dict", "keys": [], "values": []}]
VALUES += [{"is": "function", "name": "np.log"}, {"is": "none"}, {"__array__": 0}]
NEW = pd.DataFrame({"x": [0.5, 1.0], "z": [0.0, 1.0], "g": ["l01", "l02"]})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Prepared files of each kind, as bytes."""
    return written_files(tmp_path_factory.mktemp("written"))


def parts(content):
    """The JSON of the recipe in a file, and the arrays behind it."""
    one = tree_of(content)[1]["sections"]["recipe"]
    body = content[one["start"] : one["start"] + one["shape"][0]]
    (length,) = struct.unpack_from("<Q", body)
    return json.loads(body[8 : 8 + length]), body[8 + length :]


def with_recipe(content, tree, arrays):
    """The file with another recipe, its sections moved."""
    text = json.dumps(tree).encode()
    recipe = struct.pack("<Q", len(text)) + text + arrays
    manifest, body, at = copy.deepcopy(tree_of(content)[1]), b"", layout.PAGE
    for name, one in manifest["sections"].items():
        size = int(np.prod(one["shape"])) * np.dtype(one["dtype"]).itemsize
        part = content[one["start"] : one["start"] + size]
        if name == "recipe":
            part = recipe
            one |= {"shape": [len(part)], "sha256": hashlib.sha256(part).hexdigest()}
        one["start"] = at
        body += part + bytes(-len(part) % layout.PAGE)
        at += len(part) + -len(part) % layout.PAGE
    front = layout.MAGIC + layout.HEAD.pack(layout.FORMAT, at, 0, bytes(32))
    return sealed(front + bytes(layout.PAGE - len(front)) + body + b"{}", manifest)


def places(tree, place=()):
    """All places of a tree."""
    yield place
    keys = range(len(tree)) if isinstance(tree, list) else tree if isinstance(tree, dict) else ()
    for key in keys:
        yield from places(tree[key], (*place, key))


def hostile(content, times, rng):
    """Files with another value somewhere in their recipe, by place and value."""
    tree, arrays = parts(content)
    known, found = [*places(tree)][1:], {}
    for _ in range(times):
        *outer, last = known[rng.integers(len(known))]
        value, other = VALUES[rng.integers(len(VALUES))], copy.deepcopy(tree)
        inner = other
        for key in outer:
            inner = inner[key]
        inner[last] = value
        bits = bytearray(arrays)
        if bits and rng.random() < 0.3:
            bits[rng.integers(len(bits))] = rng.integers(256)
        found[(*outer, last), repr(value)[:40]] = with_recipe(content, other, bytes(bits))
    return found


def used(kind, path):
    """That a file can be fitted, and new rows be predicted."""
    table = sgmc.open(path)
    how = {"draws": 20, "chains": 1, "seed": 1}
    res = VERBS[kind](FORMULAS[kind], table, weights="w", **how)
    res.predict(NEW)
    return str(res.summary()) != ""


@pytest.mark.cover(0)
@forking
@pytest.mark.parametrize("times", [FEW, pytest.param(MANY, marks=pytest.mark.extended)])
@pytest.mark.parametrize("kind", FORMULAS)
def test_recipes_are_those_of_the_file(kind, times, written, tmp_path, request):
    if kind in ("coded", "several") and times == MANY:
        why = "the error of a fit with a damaged suffix does not name the file"
        request.applymarker(pytest.mark.xfail(reason=why))
    contents = hostile(written[kind], times, np.random.default_rng(times))
    places = ("x", "z", "g", "y", "c")
    refused = refused_or_the_same(kind, written, contents, tmp_path / "file", used, places)
    assert refused > 0.5 * len(contents)


@pytest.mark.parametrize("kind", ["dense", "coded"])
def test_a_recipe_of_another_file_is_refused(kind, written, tmp_path):
    other = {"dense": "coded", "coded": "dense"}[kind]
    (tmp_path / "file").write_bytes(with_recipe(written[kind], *parts(written[other])))
    with pytest.raises(DataError, match="file is damaged: its recipe is of another formula"):
        sgmc.open(tmp_path / "file")
    (tmp_path / "file").write_bytes(with_recipe(written[kind], *parts(written["columns"])))
    with pytest.raises(DataError, match="file has no recipe of a design in it"):
        sgmc.open(tmp_path / "file")
    (tmp_path / "file").write_bytes(with_recipe(written["columns"], *parts(written[kind])))
    with pytest.raises(DataError, match="file has no recipe of a design in it"):
        sgmc.open(tmp_path / "file")


@pytest.mark.parametrize("kind", ["dense", "columns"])
def test_the_code_of_a_subset_is_not_executed(kind, written, tmp_path):
    """Fits of other rows (`kfold(data=...)`) select them by the text in the file."""
    place, mark = tmp_path / "file", tmp_path / "mark"
    for text in (f"x.to_pickle('{mark}')", "@pd.read_pickle('a')", "x.__class__"):
        place.write_bytes(changed(written[kind], ("facts", "arguments", "subset"), text))
        with pytest.raises(ArgumentError, match="the subset in .*file has .* trust_formulas=True"):
            sgmc.open(place)
    place.write_bytes(changed(written[kind], ("facts", "arguments", "subset"), "x > -9"))
    assert sgmc.open(place).arguments["subset"] == "x > -9"
