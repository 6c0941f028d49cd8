"""Prepared files that someone has changed and sealed again, and children that try them."""

import copy
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd

import sgmc
from sgmc.prepared.file import layout
from sgmc.prepared.reading import read
from tests.faults.children import Child, Raised, of

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


def written_files(folder):
    """Prepared files of each kind, as bytes."""
    rng, n, found = np.random.default_rng(0), 300, {}
    frame = pd.DataFrame(
        {"x": rng.normal(size=n), "z": rng.normal(size=n), "w": 1.0 + (np.arange(n) % 2)}
    )
    frame["g"] = [f"l{k % 40:02d}" for k in range(n)]
    frame["c"], frame["y"] = rng.choice(list("abc"), n), rng.integers(0, 2, n)
    for name, formula in FORMULAS.items():
        path = folder / name
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
            named = str(path) in one.words or "sgmc.open(path" in one.words
            assert named or any(f"'{x}'" in one.words for x in columns), (
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


def at(row, value):
    """Put a value into a row."""

    def put(rows):
        rows[row] = value

    return put
