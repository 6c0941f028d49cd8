"""Formulas and frames made by hypothesis: designs are those of a slow reference, and whatever
cannot be read is refused by an error of the package.
"""

import warnings

import numpy as np
import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed")

from hypothesis import event, given
from hypothesis import strategies as st

from sgmc import formula
from sgmc.errors import SGMCError, SGMCWarning

from .designs import design
from .made import frames, several, text_of, trees
from .reference import Refused, Unspecified
from .reference import design as reference


def read(text, frame, **how):
    """The table, or the package's own error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        try:
            table = formula.read(text, frame, outcome="numeric", **how)
            return table, design(table)
        except SGMCError as error:
            assert str(error) and "_sgmc_" not in str(error)
            return error, None


def close(found, wanted):
    """Equal to rounding: a few units in the last place of the largest number of the column."""
    assert found.shape == wanted.shape
    scale = np.abs(wanted).max(axis=0, initial=0.0)
    assert (np.abs(found - wanted) <= 1e-12 * scale).all()


@st.composite
def cases(draw):
    """A frame, a tree, and the arguments besides."""
    frame = draw(frames())
    how = {}
    if draw(st.integers(0, 3)) == 0:
        how["weights"] = "w"
    if draw(st.integers(0, 3)) == 0:
        how["subset"] = "s"
    return frame, draw(trees(frame)), how


@pytest.fixture(autouse=True, scope="module")
def factors_stay_codes():
    """Also those of few levels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formula.designs.design, "CODED_COLUMNS", 1)
        yield


@several(150)
@given(cases())
def test_designs_are_those_of_the_reference(case):
    frame, tree, how = case
    text = f"y ~ {text_of(tree)}"
    before = frame.copy(deep=True)
    table, found = read(text, frame, **how)
    assert frame.equals(before)
    try:
        names, rows, wanted, offset = reference(tree, frame, "y", **how)
    except Unspecified:
        event("unspecified")
        return
    except Refused as reason:
        event(f"refused: {reason}")
        assert found is None, f"{text!r} has to be refused: {reason}"
        return
    event("a design")
    assert found is not None, f"{text!r}: {table}"
    assert table.spec.exog_names == names
    assert list(table.rows) == rows
    close(found, wanted)
    if offset is None:
        assert table.offset is None
    else:
        np.testing.assert_allclose(table.offset, offset, rtol=1e-12)
    np.testing.assert_array_equal(table.y, frame["y"].to_numpy()[rows])
    if table.spec.coding is not None:
        order = np.random.default_rng(0).permutation(len(rows))
        coded = table.coded(order, np.dtype(np.float64)).toarray()
        np.testing.assert_array_equal(coded[order], found)
    new = frame.iloc[rows[::-1]]
    np.testing.assert_array_equal(table.spec.matrix(new), found[::-1])
    again, same = read(table.spec.expanded, frame, **how)
    assert same is not None, f"{text!r} is {table.spec.expanded!r}: {again}"
    assert again.spec.exog_names == names
    close(same, wanted)
