"""Fits that have no sums over partitions are those of their rows in memory, bit by bit."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.cluster import collection
from sgmc.errors import ArgumentError, DataError, OutOfMemoryError

from .frames import Frames, outcomes

HOW = {"seed": 1, "draws": 50, "chains": 2}
CASES = [
    ("logit", "b ~ x + (1 | s)", {"nodes": 5, "weights": "w", "subset": "e > 0.6"}),
    ("ols", "y ~ s(x) + z", {}),
    ("ols", "y ~ bs(x, df=4) + offset(np.log(e))", {}),
    ("ols", "y ~ mo(k)", {}),
    ("ols", "y ~ x", {"sigma": "~ z"}),
    ("ols", "y ~ x", {"prior": sgmc.ridge()}),
    ("zeroinflated", "count ~ x | g", {"subset": lambda frame: frame.e > 0.6}),
    ("ordinal", "k ~ x", {}),
    ("survreg", "Surv(e, above) ~ x", {}),
    ("ols", "trunc(y, high=50) ~ x", {}),
    ("quantreg", "y ~ x", {}),
    ("logit", "b ~ x", {"cov_type": "cluster", "groups": "s"}),
    ("logit", "b ~ x", {"sampler": "zigzag"}),
    ("logit", "b ~ x", {"tune": "default"}),
    ("logit", "b ~ x", {"prior_only": True}),
]


@pytest.fixture(scope="module")
def table():
    frame = outcomes(600)
    frame["s"] = np.arange(600) % 12
    frame["k"] = pd.qcut(frame.x, 4, labels=["a", "b", "c", "d"])
    return frame


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # few draws
@pytest.mark.parametrize("verb, formula, how", CASES)
def test_fits_are_those_of_the_rows(verb, formula, how, table):
    fit = getattr(sgmc, verb)
    found, known = (fit(formula, data, **HOW, **how) for data in (Frames(table, 3), table))
    np.testing.assert_array_equal(found.params, known.params)
    assert found.nobs == known.nobs
    said = "Rows of 3 partitions were read into this process: "
    assert said in " ".join(str(found.summary()).split()) and said not in str(known.summary())


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # few draws
def test_a_model_reads_rows_only_for_what_needs_them(table):
    frames = Frames(table, 3)
    model = sgmc.Logit.from_formula("b ~ x", frames)
    assert "600 rows in 3 partitions" in repr(model)
    phases = [one["phase"] for one in model.traffic.passes]
    robust = model.fit(**HOW, cov_type="robust")
    assert phases == ["first look"] and robust.cov_type == "robust"
    assert [one["phase"] for one in model.traffic.passes] == ["first look", "columns"]
    assert model.traffic.passes[-1]["rows"] == len(table)


def test_rows_that_do_not_fit_are_refused(table, monkeypatch):
    monkeypatch.setattr(collection, "available", lambda: 4e4)
    with pytest.raises(
        OutOfMemoryError, match="effects of groups and smooths.*fit a sample of the"
    ):
        sgmc.logit("b ~ x + z + g + (1 | s)", Frames(table, 3))
    with pytest.raises(ArgumentError, match="reservoir=500 does not apply: effects of groups"):
        sgmc.logit("b ~ x + (1 | s)", Frames(table, 3), reservoir=500)


def test_levels_are_counted_once_and_not_for_each_row():
    """A categorical column of 10,000 levels has a byte or two a row, whatever its sample holds."""
    levels = [f"level {k}" for k in range(10_000)]
    sample = pd.DataFrame({"f": pd.Categorical(levels[:50], categories=levels), "x": np.ones(50)})
    assert collection.row_bytes(sample) == 10.0


def test_orders_of_levels_that_differ_are_refused(table):
    frames = Frames(table, 3)
    other = frames.frames[1].k.cat.reorder_categories(["d", "c", "b", "a"])
    frames.frames[1] = frames.frames[1].assign(k=other)
    with pytest.raises(DataError, match="levels of 'k' are in another order in some partitions"):
        sgmc.ordinal("k ~ x", frames)
