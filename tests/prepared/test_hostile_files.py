"""Prepared files that someone has changed and sealed again: each is refused by name, or gives the
fit of the file that was written.
"""

import copy
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError
from sgmc.prepared import layout
from sgmc.prepared.reading import read
from sgmc.prepared.schema import FACTS
from tests.faults.children import Child, Raised, forking, of

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
BIG = 1 << 62
NASTY = (None, True, -1, 0, 7, 2.0, 1e300, float("nan"), BIG, 10**40, "", "|O", "\ud800", "x" * 99)
NASTY += ([], [[]], [None], [-1], [BIG], [2**32, 2**32], {}, {"a": 1}, {"x": None}, [["a", 1, 2]])
TYPES = ("|O", "O", "<f8,<f8", "<U9", "|V8", "<f4", ">f8", "<i8", "<u8", "<f2", "<M8[s]", "|b1", 1)
FORMULAS = {
    "dense": "y ~ x + z",
    "coded": "y ~ x * g",
    "several": "c ~ x + z",
    "columns": "y ~ x + (1 | g)",
}
VERBS = {name: sgmc.mnlogit if name == "several" else sgmc.logit for name in FORMULAS}
MOST = 3 << 30  # bytes of address space that a child may take more


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Prepared files of each kind, as bytes."""
    rng, n, found = np.random.default_rng(0), 300, {}
    frame = pd.DataFrame(
        {"x": rng.normal(size=n), "z": rng.normal(size=n), "w": 1.0 + (np.arange(n) % 2)}
    )
    frame["g"] = [f"l{k % 40:02d}" for k in range(n)]
    frame["c"], frame["y"] = rng.choice(list("abc"), n), rng.integers(0, 2, n)
    for name, formula in FORMULAS.items():
        path = tmp_path_factory.mktemp("written") / name
        sgmc.prepare(formula, frame, path, weights="w", seed=1, compress=False)
        found[name] = path.read_bytes()
    return found


def tree_of(content):
    """The manifest of a file."""
    start = layout.HEAD.unpack_from(content, len(layout.MAGIC))[1]
    return start, json.loads(content[start:])


def sealed(content, tree):
    """The file with another manifest, and a checksum that fits."""
    start = layout.HEAD.unpack_from(content, len(layout.MAGIC))[1]
    text = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    head = layout.HEAD.pack(layout.FORMAT, start, len(text), hashlib.sha256(text).digest())
    body = content[len(layout.MAGIC) + layout.HEAD.size : start]
    return layout.MAGIC + head + body + text


def with_rows(content, name, change):
    """The file with other rows in a section."""
    path_free = bytearray(content)
    one = tree_of(content)[1]["sections"][name]
    dtype, shape = np.dtype(one["dtype"]), one["shape"]
    rows = np.frombuffer(content, dtype, int(np.prod(shape)), one["start"]).reshape(shape).copy()
    change(rows)
    path_free[one["start"] : one["start"] + rows.nbytes] = rows.tobytes()
    if name in ("recipe", "mean", "sd", "scale", "shift"):
        tree = tree_of(content)[1]
        tree["sections"][name]["sha256"] = hashlib.sha256(rows.tobytes()).hexdigest()
        return sealed(bytes(path_free), tree)
    return bytes(path_free)


def fitted(kind, path):
    """The coefficients of a short fit of a file."""
    table = sgmc.open(path)
    str(table), repr(table)
    how = {"draws": 20, "chains": 1, "seed": 1}
    return np.asarray(VERBS[kind](FORMULAS[kind], table, weights="w", **how).params)


def read_again(kind, path):
    """What a fit reads of a file: the first row of each part, and how many there are."""
    table = sgmc.open(path)
    str(table), repr(table)
    known = read(FORMULAS[kind], table, outcome="category", scope={}, weights="w")[0]
    return np.r_[known.y[:9], len(known.y), known.weights[:9], known.spec.exog_names == []]


def confined(action):
    """`action`, where no more than so much memory can be had: a huge request is an error."""
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    used = pages * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST, used + MOST))
    return action()


def verdicts(kind, path, contents, action):
    """Of each content what `action` made of it, or the error that it raised."""
    found = []
    for name, content in contents.items():
        path.write_bytes(content)
        try:
            found.append((name, action(kind, path)))
        except BaseException as error:
            raised = Raised(
                type(error).__name__, str(error), [c.__name__ for c in type(error).__mro__]
            )
            found.append((name, raised))
    return found


def refused_or_the_same(kind, written, contents, path, action=fitted, columns=()):
    """How many contents are refused, by errors that name the file, or one of some columns;
    the others make no difference.
    """
    contents = {"as written": written[kind], **contents}
    found = Child(lambda: confined(lambda: verdicts(kind, path, contents, action))).done()
    (_, whole), *others = found
    assert not isinstance(whole, Raised), whole
    refused = 0
    for name, one in others:
        if isinstance(one, Raised):
            assert of(one, "SGMCError"), (name, one)
            assert str(path) in one.words or any(f"'{x}'" in one.words for x in columns), (
                name,
                one,
            )
            assert len(one.words) < 1000, name
            refused += 1
        else:
            np.testing.assert_array_equal(one, whole, err_msg=str(name))
    return refused


def changed(content, place, value):
    """The file with another value at a place of its manifest."""
    tree = copy.deepcopy(tree_of(content)[1])
    inner = tree
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return sealed(content, tree)


TRIED = {name: fitted if name == "dense" else read_again for name in FORMULAS}


@forking
@pytest.mark.parametrize("kind", FORMULAS)
def test_facts_are_what_they_may_be(kind, written, tmp_path):
    content = written[kind]
    facts = tree_of(content)[1]["facts"]
    assert set(facts) <= set(FACTS)
    places = [("facts",), ("sections",), *(("facts", name) for name in [*FACTS, "other"])]
    places += [("facts", "arguments", name) for name in ("weights", "subset", "missing", "most")]
    places += [("facts", "columns", 0), ("facts", "left_out", "x")]
    contents = {(p, k): changed(content, p, v) for p in places for k, v in enumerate(NASTY)}
    refused = refused_or_the_same(kind, written, contents, tmp_path / "file", TRIED[kind])
    assert refused > 0.7 * len(contents)


@forking
@pytest.mark.parametrize("kind", FORMULAS)
def test_sections_are_what_they_may_be(kind, written, tmp_path):
    content = written[kind]
    sections = tree_of(content)[1]["sections"]
    contents = {}
    for name, one in sections.items():
        known = {"dtype": one["dtype"], "shape": one["shape"], "start": one["start"], "sha256": ""}
        for part, value in known.items():
            more = [*NASTY, *TYPES] if part == "dtype" else [*NASTY]
            if part == "shape":
                more += [[*value, 1], value[:-1], [-k for k in value], [2 * k for k in value]]
                more += [[k + 1 for k in value], [float(k) for k in value], value[::-1]]
            if part == "start":
                more += [value + 8, value + 4096, value - 4096, -4096, float(value) + 0.5, 2**63]
            for k, other in enumerate(more):
                if other != value or type(other) is not type(value):
                    contents[name, part, k] = changed(content, ("sections", name, part), other)
        tree = copy.deepcopy(tree_of(content)[1])
        del tree["sections"][name]
        contents[name, "lacks"] = sealed(content, tree)
        contents[name, "nothing"] = changed(content, ("sections", name), None)
        contents[name, "another"] = changed(content, ("sections", name + "s"), one)
    refused = refused_or_the_same(kind, written, contents, tmp_path / "file", TRIED[kind])
    # what stays whole: the number of a place as 4096.0, and checksums of rows, read when asked
    assert refused > 0.75 * len(contents)


@forking
def test_manifests_that_are_none(written, tmp_path):
    texts = (b"", b"{", b"[]", b"1", b"null", b"{}", b'{"sections": 1, "facts": 2}', b"\xff\xfe")
    texts += (b"[" * 100_000, b'{"sections": {}, "facts": {}}', b"9" * 10_000, b'"\\ud800"')
    contents = {k: sealed(written["dense"], text) for k, text in enumerate(texts)}
    refused = refused_or_the_same("dense", written, contents, tmp_path / "file")
    assert refused == len(texts)


def test_a_manifest_has_a_bound(written, tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "MOST_MANIFEST", 1000)
    (tmp_path / "file").write_bytes(written["dense"])
    with pytest.raises(DataError, match="manifest of .* bytes, and at most 1,000 are read"):
        sgmc.open(tmp_path / "file")


def at(row, value):
    """Put a value into a row."""

    def put(rows):
        rows[row] = value

    return put


ROWS = {
    "dense": {"X": (np.nan, np.inf, -np.inf), "y": (2, -1, 0.5, np.nan, np.inf, 1e300),
              "weights": (-1, np.nan, np.inf), "order": (-1, -BIG, BIG, 10**13)},
    "coded": {"codes": (-1, -(2**31), 2**31 - 1, 10**6, 39, 40, 80, 100), "numbers": (np.nan,),
              "factors": (np.nan, np.inf), "weights": (-1, np.nan)},
    "several": {"y": (-1, 3, 1e6, 0.5, np.nan, 1e300)},
    "columns": {"column 0": (np.inf,), "column 2": (-2, -(2**31), 2**31 - 1, 40, 10**6),
                "column 3": (2, -1, -BIG, BIG)},
}  # fmt: skip


@forking
@pytest.mark.parametrize("kind", ROWS)
def test_rows_are_looked_at_before_they_are_used(kind, written, tmp_path):
    def predicted(kind, path):
        table = sgmc.open(path)
        how = {"draws": 20, "chains": 1, "seed": 1}
        res = VERBS[kind](FORMULAS[kind], table, weights="w", **how)
        return np.sort(np.asarray(res.predict()).ravel())

    content, contents = written[kind], {}
    for name, values in ROWS[kind].items():
        for value in values:
            for row in (0, 299):
                contents[name, value, row] = with_rows(content, name, at(row, value))
    contents = {k: v for k, v in contents.items() if v != content}
    refused = refused_or_the_same(kind, written, contents, tmp_path / "file", predicted, "yx")
    harmless = sum(k[0] == "order" and k[1] > 0 for k in contents)  # a place that is far off
    assert refused == len(contents) - harmless


@pytest.mark.parametrize("name", ["mean", "sd", "scale", "shift"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_moments_are_finite(name, value, written, tmp_path):
    (tmp_path / "file").write_bytes(with_rows(written["dense"], name, at(1, value)))
    with pytest.raises(DataError, match=f"file is damaged, or has a column 'x' .* its {name} is"):
        sgmc.open(tmp_path / "file")
