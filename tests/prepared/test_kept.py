"""Formulas whose rows are read into memory: columns come back as they were, and so does the fit."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError, OutOfMemoryError
from sgmc.prepared.file import column_store
from sgmc.prepared.prepare import prepare
from tests.prepared.sources import Chunked

N = 600


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=N),
            "k": rng.integers(0, 5, N),
            "g": [f"g{i}" for i in rng.integers(0, 25, N)],
            "c": pd.Categorical(rng.choice(["lo", "mid"], N), categories=["mid", "hi", "lo"]),
            "flag": rng.random(N) < 0.5,
            "w": 1.0 + rng.integers(0, 2, N),
            "day": pd.Timestamp("2020-01-01"),
        }
    )
    frame["y"] = 0.5 * frame["x"] + rng.normal(size=25)[frame["g"].str[1:].astype(int)]
    frame["y"] += rng.normal(size=N)
    for name in ("x", "g", "c"):
        frame.loc[rng.random(N) < 0.03, name] = None
    return frame


CASES = [
    ("y ~ x + (1 | g)", {}),
    ("y ~ x + c + flag + (1 | g)", {"weights": "w", "subset": "k > 0"}),
    ("y ~ s(x) + C(k)", {}),
]


@pytest.mark.extended("y ~ x + c + flag + (1 | g)-given1", "y ~ s(x) + C(k)-given2")
@pytest.mark.parametrize("formula, given", CASES)
def test_fit_is_that_of_the_rows_in_memory(formula, given, frame, tmp_path):
    prepared = prepare(formula, Chunked(frame, 70), tmp_path / "a.sgmc", **given)
    how = {"seed": 1, "draws": 100, "chains": 2}
    beside = {k: v for k, v in given.items() if k == "weights"}
    theirs = sgmc.OLS.from_formula(formula, frame, **given)
    ours = sgmc.OLS.from_formula(formula, pickle.loads(pickle.dumps(prepared)), **beside)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few draws
        np.testing.assert_array_equal(ours.fit(**how).params, theirs.fit(**how).params)


KNOWN_IN_PART = [
    ("ols", "y ~ x | w", "y ~ x", {"sigma": "~ w"}),
    ("zeroinflated", "k ~ x + offset(x) | flag", "k ~ x + offset(x)|flag", {}),
    ("hurdle", "k ~ x + (1 | g) | w", "k ~ x + (1 | g) | w", {}),
    ("hurdle", "k ~ x + (1 | g)", "k ~ x + (1 | g)", {}),
    ("survreg", "Surv(w, flag) ~ x", "Surv(w, flag) ~ x", {}),
    ("ols", "trunc(y, high=2) ~ x", "trunc(y, high=2) ~ x", {}),
    ("ordinal", "k ~ x + cs(w)", "k ~ x+cs( w )", {"kind": "sequential"}),
]


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # few draws
@pytest.mark.parametrize("verb, formula, ours, beside", KNOWN_IN_PART)
def test_second_parts_and_outcomes_in_part(verb, formula, ours, beside, frame, tmp_path):
    fit, how = getattr(sgmc, verb), {"seed": 1, "draws": 40, "chains": 2, **beside}
    rows = {"subset": "not (y > 2)"}
    prepared = prepare(formula, Chunked(frame, 70), tmp_path / "a.sgmc", **rows)
    found, known = fit(ours, prepared, **how), fit(ours, frame, **rows, **how)
    np.testing.assert_array_equal(found.params, known.params)
    np.testing.assert_array_equal(found.predict(frame[:5]), known.predict(frame[:5]))
    with pytest.raises(FormulaError, match="was prepared with the formula"):
        sgmc.ols("y ~ x", prepared)


def test_columns_come_back(frame, tmp_path):
    prepared = prepare("y ~ x + k + c + flag + (1 | g)", Chunked(frame, 70), tmp_path / "a.sgmc")
    found = prepared.frame()
    assert list(found) == ["x", "k", "g", "c", "flag", "y"]
    for name, column in found.items():
        known = frame[name]
        assert (column.isna() == known.isna()).all()
        assert (column.dropna().to_numpy() == known.dropna().to_numpy()).all()
    assert list(found["c"].cat.categories) == ["mid", "hi", "lo"]
    assert (found["k"].dtype, found["flag"].dtype) == (np.int64, bool)
    assert "columns      6, float64" in str(prepared)


def test_what_is_refused(frame, tmp_path, monkeypatch):
    source, path = Chunked(frame, 70), tmp_path / "a.sgmc"
    with pytest.raises(DataError, match="'day' holds datetime64.*, which a prepared file does not"):
        prepare("y ~ day + (1 | g)", source, path)
    prepared = prepare("y ~ x + (1 | g)", source, path)
    with pytest.raises(FormulaError, match="was prepared with the formula"):
        sgmc.OLS.from_formula("y ~ x", prepared)
    with pytest.raises(ArgumentError, match="weights='w' is not what"):
        sgmc.OLS.from_formula("y ~ x + (1 | g)", prepared, weights="w")
    monkeypatch.setattr(column_store, "available", lambda: 1e4)
    with pytest.raises(OutOfMemoryError, match="group terms, smooths or two parts"):
        sgmc.OLS.from_formula("y ~ x + (1 | g)", prepared)
