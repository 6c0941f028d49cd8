"""Simulated stand-ins of the literature's tables have their columns, sizes and rates."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

import sgmc

DATA = Path(__file__).resolve().parents[1] / "data"


def simulators():
    spec = importlib.util.spec_from_file_location("simulators", DATA / "simulators.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = simulators().SIMULATORS


@pytest.mark.extended("a9a", "meg", "flights")
@pytest.mark.parametrize(
    "name",
    [
        "a9a",
        "sepsis",
        "arrhythmia",
        "meg",
        "flights",
        "movielens-100k-u1-train",
        "movielens-100k-u1-test",
    ],
)
def test_a_stand_in_looks_like_the_table(name):
    try:
        real = sgmc.datasets.load(name, download=False)
    except sgmc.errors.DataError as error:
        pytest.skip(f"{name} is not here: {error}")
    made = TABLES[name]()
    assert len(made) == len(real) and set(made) <= set(real)
    numbers = pd.api.types.is_numeric_dtype
    assert [numbers(made[c]) for c in made] == [numbers(real[c]) for c in made]
    outcome = {"a9a": "y", "sepsis": "hospital_outcome_1alive_0dead"}.get(name)
    if outcome:  # a rate of the same kind, for which a logit costs what the real one does
        assert abs(made[outcome].mean() - real[outcome].mean()) < 0.05


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("*.csv")))
def test_the_small_tables_are_those_of_the_simulators(name):
    kept = pd.read_csv(DATA / f"{name}.csv")
    pd.testing.assert_frame_equal(
        kept, TABLES[name](len(kept)).round(4), check_dtype=False, rtol=1e-6
    )


def test_the_same_seed_is_the_same_table():
    assert TABLES["sepsis"](100).equals(TABLES["sepsis"](100))
    assert not TABLES["sepsis"](100).equals(TABLES["sepsis"](100, seed=1))
