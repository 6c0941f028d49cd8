"""Refusals of data in partitions that need no fit: what holds no rows, paths, arguments."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import sgmc
from sgmc.cluster import blocks, gathering
from sgmc.cluster.recipe import EncodingRecipe
from sgmc.errors import ArgumentError, DataError, MissingExtra, SGMCError

from .frames import Frames, outcomes
from .test_refusals import FORMULA, Unread

CLIENT = SimpleNamespace(compute=None, scheduler_info=None)


@pytest.fixture(scope="module")
def table():
    return outcomes(900)


def model(table, formula=FORMULA, **how):
    """A model of rows in three partitions."""
    return sgmc.Logit.from_formula(formula, Frames(table, 3), **how)


REFUSED = {
    "the rows of a DataFrame are in this process": lambda t: blocks.blocks_of(t, CLIENT),
    "data has no partition; give a table that has rows": lambda t: blocks.Traffic().run(
        "survey", SimpleNamespace(map_blocks=lambda function: []), None
    ),
    "memory() does not apply to data in partitions": lambda t: model(t).memory(),
    "there is no column 'x'": lambda t: EncodingRecipe.check_columns(
        SimpleNamespace(columns=["x"]), t[[]]
    ),
    "groups must be the name of a column": lambda t: sgmc.logit(
        FORMULA, Unread(), groups=t.g.to_numpy()
    ),
    "memory_limit does not apply to data in partitions": lambda t: sgmc.logit(
        FORMULA, Unread(), memory_limit="64MB"
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refusals(table, message):
    with pytest.raises(SGMCError, match=re.escape(message)):
        REFUSED[message](table)


def test_paths_need_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sgmc\[dask\]'"):
        blocks.blocks_of("table.csv", CLIENT)


def test_paths_that_cannot_be_read(monkeypatch):
    def read_csv(path):
        raise FileNotFoundError(path)

    frames = SimpleNamespace(dataframe=SimpleNamespace(read_csv=read_csv))
    monkeypatch.setitem(sys.modules, "dask", frames)
    with pytest.raises(ArgumentError, match=r"data='table\.txt' is no \.parquet or \.csv file"):
        blocks.blocks_of("table.txt", CLIENT)
    with pytest.raises(DataError, match=r"data='none\.csv' cannot be read: none\.csv"):
        blocks.blocks_of("none.csv", CLIENT)


def test_rows_that_are_gone_after_the_first_look(table):
    seen = model(table)
    seen.blocks = Frames(table.assign(z=np.nan), 3)
    with pytest.raises(DataError, match="every row of every partition has a missing value"):
        seen.fit()


def test_a_reservoir_without_a_mode_names_its_size(table, monkeypatch):
    def resolve(*given):
        raise DataError("x is constant")

    monkeypatch.setattr(gathering, "resolve_priors", resolve)
    with pytest.raises(DataError, match=r"a reservoir of \d+ of 600 rows: x is constant; or give"):
        model(table, reservoir=100).fit()
