"""Where values are among the levels of a factor."""

import numpy as np
import pandas as pd
import pytest

from sgmc.errors import FormulaError
from sgmc.formula.data.columns import LevelIndexer, codes_of, levels_of

LEVELS = ("a", "b", "c")


def categories(values, known):
    return pd.Series(pd.Categorical(values, categories=known))


def test_categories_are_looked_up_once_for_all_chunks():
    """A table of 100,000 levels is read in many chunks, all with the same categories."""
    column, places, looked = categories(list("abcab"), list("cab")), LevelIndexer(LEVELS, "g"), []
    own = places.index.get_indexer
    places.index = type("Counted", (), {"get_indexer": lambda _, x: looked.append(1) or own(x)})()
    found = [places.of(column.iloc[k : k + 2]) for k in (0, 2, 4)]
    assert np.concatenate(found).tolist() == [0, 1, 2, 0, 1] and len(looked) == 1


def test_other_categories_are_looked_up_anew():
    places = LevelIndexer(LEVELS, "g")
    assert places.of(categories(list("ab"), list("ab"))).tolist() == [0, 1]
    assert places.of(categories(list("ba"), list("ba"))).tolist() == [1, 0]
    with pytest.raises(FormulaError, match="column 'g' has the level 'd'; known are 'a', 'b', 'c'"):
        places.of(categories(["d"], ["d"]))


def test_missing_values_and_unused_categories_have_no_place():
    column = categories(["b", None, "a"], ["unused", "b", "a"])
    assert levels_of(column) == ("b", "a")
    assert codes_of(column, ("b", "a"), "g").tolist() == [0, -1, 1]
