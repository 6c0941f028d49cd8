"""What one pandas has written opens under another; files by `columns`."""

import numpy as np
import pandas as pd
import pytest

from sgmc.core.system.files import read_sealed
from sgmc.saved import LoadPermissions, foreign, plain_tree, restored

from .columns import HERE, KIND, TEXT, made

WRITTEN = (2, 3)  # of pandas: 2.2.2 and 3.1
NAMES = made()


@pytest.fixture(scope="module", params=WRITTEN)
def columns(request):
    """The columns of a file."""
    tree = read_sealed(HERE / f"columns_{request.param}.sgmc", KIND)
    return restored(tree["columns"], LoadPermissions(), "open(path")


def values(one):
    """Values and labels of a column, without their types."""
    if isinstance(one, pd.DataFrame):
        return {name: values(one[name]) for name in one}
    if isinstance(one, pd.Series):
        return [[None if pd.isna(v) else v for v in one], one.index.tolist(), one.name]
    return [one.tolist(), list(one.names)] if isinstance(one, pd.Index) else repr(one)


@pytest.mark.parametrize("name", NAMES)
def test_columns_of_each_pandas_open_here(name, columns):
    assert values(columns[name]) == values(NAMES[name])


@pytest.mark.parametrize("nan", [True, False])
@pytest.mark.parametrize("storage", ["python", "pyarrow", "pyarrow_numpy"])
def test_text_opens_under_a_pandas_whose_text_has_no_nan(storage, nan, monkeypatch):
    """pandas 2.2, where `StringDtype` takes no ``na_value``."""

    def string(storage):
        return TYPE(storage)

    TYPE = pd.StringDtype
    monkeypatch.setattr(foreign, "NAN_IN_TEXT", False)
    monkeypatch.setattr(foreign.pd, "StringDtype", string)
    found = foreign.text_column(storage, nan, TEXT)
    monkeypatch.undo()
    assert (found.dtype == object) == nan
    assert [None if pd.isna(one) else one for one in found] == TEXT


def test_text_opens_where_there_is_no_arrow(monkeypatch):
    def without(storage, **how):
        if storage == "pyarrow":
            raise ImportError
        return TYPE(storage, **how)

    TYPE = pd.StringDtype
    monkeypatch.setattr(foreign.pd, "StringDtype", without)
    found = foreign.text_column("pyarrow", False, TEXT)
    assert found.dtype.storage == "python" and found[0] == "b"


def test_files_are_those_of_the_table():
    """`columns` has been run after its table was changed."""
    here = restored(plain_tree(NAMES, "columns"), LoadPermissions(), "open(path")
    assert {*here} == {*NAMES} and np.isfinite(here["numbers"]).all()
