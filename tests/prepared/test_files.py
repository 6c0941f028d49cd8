"""Files of prepared tables: what is written is read, and damage is reported."""

import pickle

import numpy as np
import pandas as pd
import pytest

from sgmc import formula as front
from sgmc.errors import ArgumentError, DataError, FormulaError
from sgmc.models.regression.families.logit import Logit
from sgmc.prepared.file import layout
from sgmc.prepared.file.prepared import open as opened
from sgmc.prepared.writers.writing import of_table

FORMULAS = ("y ~ x + z + g", "y ~ x * g + h")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame(
        {
            "x": rng.normal(3, 2, n),
            "z": rng.normal(size=n),
            "g": rng.choice(list("abcd"), n),
            "h": rng.choice([f"l{i}" for i in range(60)], n),
            "w": rng.integers(1, 4, n).astype(float),
        }
    )
    frame["y"] = np.where(rng.random(n) < 1 / (1 + np.exp(3 - frame["x"])), "yes", "no")
    frame.loc[5, "x"] = np.nan
    return frame


def made(frame, path, formula, **how):
    table = front.read(formula, frame, weights="w")
    how = {"arguments": {"weights": "w"}, "seed": 7, **how}
    return table, of_table(str(path), table, frame["y"].drop_duplicates(), **how)


@pytest.mark.parametrize("formula", FORMULAS)
def test_file_holds_the_table_in_another_order(frame, tmp_path, formula):
    table, prepared = made(frame, tmp_path / "a.sgmc", formula)
    place = np.searchsorted(table.rows, prepared.order)
    assert (np.sort(place) == np.arange(len(table.rows))).all()
    assert (place != np.arange(len(table.rows))).mean() > 0.9
    design = np.empty((len(table.rows), len(table.spec.exog_names)))
    table.fill(design)
    found = prepared.X if table.spec.coding is None else prepared.X.toarray()
    # (x - shift) + shift is x but for two roundings
    np.testing.assert_allclose(found + prepared.shift, design[place], atol=1e-14)
    np.testing.assert_array_equal(prepared.y, table.y[place])
    np.testing.assert_array_equal(prepared.weights, table.weights[place])


@pytest.mark.extended
@pytest.mark.parametrize("formula", FORMULAS)
def test_fit_of_a_prepared_table_has_the_mode_of_the_fit_in_memory(frame, tmp_path, formula):
    prepared = pickle.loads(pickle.dumps(made(frame, tmp_path / "a.sgmc", formula)[1]))
    ours = Logit.from_formula(formula, prepared).fit(sampler="imh", seed=1, draws=1500)
    theirs = Logit.from_formula(formula, frame, weights="w").fit(sampler="imh", seed=1, draws=1500)
    # draws of one stream around two modes that differ by rounding, and by Newton's tolerance
    np.testing.assert_allclose(ours.params, theirs.params, atol=0.01 * theirs.bse.max())


def test_other_formulas_and_arguments_are_refused(frame, tmp_path):
    prepared = made(frame, tmp_path / "a.sgmc", "y ~ x + g")[1]
    assert Logit.from_formula("y~x+g", prepared).data.n == prepared.n
    with pytest.raises(FormulaError, match="prepared with the formula 'y ~ x \\+ g', not 'y ~ x'"):
        Logit.from_formula("y ~ x", prepared)
    for weights in ("x", frame["w"]):
        with pytest.raises(ArgumentError, match="weights=.* is not what .* prepared with"):
            Logit.from_formula("y ~ x + g", prepared, weights=weights)


def test_damage_is_named(frame, tmp_path):
    path = tmp_path / "a.sgmc"
    prepared = made(frame, path, "y ~ x + g")[1]
    content = path.read_bytes()
    sections, end = layout.manifest(path)[0], len(content)
    design = sections["X"].start + 100
    cases = {
        "is cut short": content[: end // 2],
        "is cut short or too long": content + b" ",
        "is no file that sgmc.prepare has written": b"y,x\n1,2\n",
        "the checksum of its manifest": flipped(content, end - 5),
        "the checksum of its 'recipe'": flipped(content, sections["recipe"].start),
        "has format 9": content[: len(layout.MAGIC)] + b"\x09" + content[len(layout.MAGIC) + 1 :],
    }
    for message, damaged in cases.items():
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=message):
            opened(path)
    path.write_bytes(flipped(content, design))
    assert opened(path).n == prepared.n  # large parts are read only when asked
    with pytest.raises(DataError, match="the checksum of its 'X'"):
        opened(path, check=True)
    with pytest.raises(ArgumentError, match="must be a file that exists"):
        opened(tmp_path / "b.sgmc")


def flipped(content, place):
    """The bytes with one of them changed."""
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
