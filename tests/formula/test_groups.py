"""Group terms: what they take from a formula, and groups as codes."""

import pickle

import numpy as np
import pandas as pd
import patsy
import pytest

from sgmc import formula
from sgmc.errors import DataError, FormulaError

from .designs import N


@pytest.mark.parametrize(
    "text, fixed, effects, correlated",
    [
        ("y ~ x + (1 | g)", "1 + x", ["1"], True),
        ("y~x+(x|g)", "1 + x", ["1 + x"], True),
        ("y ~ (1 + x || g) + x", "1 + x", ["1 + x"], False),
        ("y ~ x + (1 | g) + (0 + x | g)", "1 + x", ["1", "0 + x"], True),
        ("y ~ (1 | g)", "1", ["1"], True),
        ("y ~ (1 | g) - 1 + x", "0 + x", ["1"], True),
        ("y ~ 0 + z*x + (z | g)", "0 + z*x", ["1 + z"], True),
        ("y ~ (x + z)^2 + (x:z | g)", "(x + z)**2", ["1 + x:z"], True),
        ("y ~ I(h | 1) + (I(h | 1) | g)", "I(h | 1)", ["1 + I(h | 1)"], True),
        ("y ~ bs(x, 4) + (0 + bs(x, 3) | g)", "bs(x, 4)", ["0 + bs(x, 3)"], True),
    ],
)
def test_designs_are_patsys_of_either_side_of_the_bar(grouped, text, fixed, effects, correlated):
    table = formula.read(text, grouped)
    grouping = table.grouping()
    X = np.empty((N, len(table.spec.exog_names)))
    table.fill(X)
    np.testing.assert_allclose(X, np.asarray(patsy.dmatrix(fixed, grouped)), atol=1e-12)
    assert len(grouping.terms) == len(effects)
    for term, code in zip(grouping.terms, effects):
        np.testing.assert_allclose(term.Z, np.asarray(patsy.dmatrix(code, grouped)), atol=1e-12)
        assert term.correlated is correlated and term.factor == "g"
    assert grouping.name == "g" and list(grouping.levels) == list("abcd")
    assert (grouping.levels[grouping.codes] == grouped.g).all() and grouping.sub is None


def test_rows_by_group_stay_in_their_order(grouped):
    grouping = formula.read("y ~ x + (1 | g)", grouped).grouping()
    assert np.array_equal(grouping.order, np.argsort(grouping.codes, kind="stable"))
    assert np.array_equal(np.diff(grouping.starts), np.bincount(grouping.codes))


def test_the_dot_leaves_out_the_factors_and_keeps_their_slopes(grouped):
    table = formula.read("y ~ . + (x | g/h)", grouped)
    assert table.spec.expanded == "y ~ 1 + z + x + `my g` + (x | g/h)"
    assert not table.left_out


@pytest.mark.parametrize("written", ["(1 | `my g`)", "(1 | Q('my g'))"])
def test_awkward_names(grouped, written):
    grouping = formula.read(f"y ~ x + {written}", grouped).grouping()
    assert grouping.name == "my g" and grouping.terms[0].label == "1 | `my g`"
    assert grouping.levels.dtype == grouped["my g"].dtype


def test_nested_factors(grouped):
    """Levels of the inner one are neighbours within those of the outer one."""
    grouping = formula.read("y ~ x + (1 + x | g/h)", grouped).grouping()
    assert (grouping.name, grouping.sub_name) == ("g", "g:h")
    assert [term.factor for term in grouping.terms] == ["g", "g:h"]
    pairs = list(zip(grouped.g, grouped.h))
    assert [grouping.sub_levels[k] for k in grouping.sub] == pairs
    assert list(grouping.sub_levels) == sorted(set(pairs))
    assert np.array_equal(grouping.order, np.lexsort((np.arange(N), grouping.sub)))
    assert np.array_equal(np.diff(grouping.starts), np.bincount(grouping.codes))
    # the same, of a factor whose levels have names of their own
    grouped["gh"] = [f"{b}{a}" for a, b in pairs]
    other = formula.read("y ~ x + (1 | gh) + (1 | g)", grouped).grouping()
    assert (other.name, other.sub_name) == ("g", "gh")
    assert list(other.sub_levels) == [f"{b}{a}" for a, b in grouping.sub_levels]
    assert np.array_equal(other.order, grouping.order)


def test_joint_factors(grouped):
    grouping = formula.read("y ~ x + (1 | g:h)", grouped).grouping()
    assert grouping.name == "g:h" and grouping.sub is None
    assert [grouping.levels[k] for k in grouping.codes] == list(zip(grouped.g, grouped.h))


@pytest.mark.parametrize("kind", ["category", "string", "Int64", "int8", "bool", "date"])
def test_kinds_of_columns_and_missing_groups(grouped, rng, kind):
    """Rows without a group are dropped; categories that do not occur are no levels."""
    values = rng.integers(0, 2 if kind == "bool" else 4, N)
    column = {
        "category": lambda: pd.Categorical.from_codes(values, list("dcbae")),
        "string": lambda: pd.Series(np.array(list("dcba"))[values]).astype("string"),
        "Int64": lambda: pd.Series(values).astype("Int64"),
        "int8": lambda: values.astype("int8"),
        "bool": lambda: values.astype(bool),
        "date": lambda: pd.Timestamp("2026-01-01") + pd.to_timedelta(values, "D"),
    }[kind]()
    grouped["g"] = pd.Series(column)
    lacking = [3, 10] if kind not in ("int8", "bool") else []
    grouped.loc[lacking, "g"] = None
    table = formula.read("y ~ x + (1 | g)", grouped)
    grouping = table.grouping()
    assert table.dropped == len(lacking) and len(grouping.codes) == N - len(lacking)
    kept = grouped.g.iloc[table.rows]
    assert (np.asarray(grouping.levels[grouping.codes]) == np.asarray(kept)).all()
    assert list(grouping.levels) == (list("dcba") if kind == "category" else sorted(kept.unique()))
    groups, Z = pickle.loads(pickle.dumps(grouping.spec)).new(grouped)
    codes, new = groups[0]
    assert np.array_equal(codes[table.rows], grouping.codes) and not len(new)
    assert (codes[lacking] == -1).all() and np.array_equal(Z[0], np.ones((N, 1)))
    if lacking:
        with pytest.raises(DataError, match=r"2 rows have missing values, in 'g' \(2\)"):
            formula.read("y ~ x + (1 | g)", grouped, missing="raise")


def test_missing_slopes_and_subsets(grouped):
    grouped.loc[5, "x"] = np.nan
    table = formula.read("y ~ z + (x | g)", grouped, subset="h > 0", weights=np.arange(N) + 1.0)
    kept = grouped[(grouped.h > 0) & grouped.x.notna()]
    grouping = table.grouping()
    assert np.array_equal(table.rows, kept.index) and np.array_equal(table.weights, kept.index + 1)
    assert np.array_equal(grouping.terms[0].Z[:, 1], kept.x)
    assert (grouping.levels[grouping.codes] == kept.g).all()


@pytest.mark.parametrize("text", ["y ~ x + (1 | g)", "y ~ x + (x | g/h)"])
def test_new_levels_are_numbered_on(grouped, text):
    spec = formula.read(text, grouped).grouping().spec
    new = pd.DataFrame(
        {"x": [0.0, 1, 2, 3, np.nan], "g": ["b", "q", "e", "q", None], "h": [1, 1, 2, 1, 1]}
    )
    (codes, found), *inner = spec.new(new)[0]
    assert list(codes) == [1, 5, 4, 5, -1] and list(found) == ["e", "q"]
    if inner:
        codes, found = inner[0]
        known = len(spec.factors[1].index)
        assert list(codes[1:]) == [known + 1, known, known + 1, -1]
        assert list(found) == [("e", 2), ("q", 1)] and spec.factors[1].index[codes[0]] == ("b", 1)
        assert np.isnan(spec.new(new)[1][0][4]).all()


def test_a_design_for_predictions_needs_its_columns(grouped):
    spec = formula.read("y ~ x + (1 | g)", grouped).grouping().spec
    with pytest.raises(
        FormulaError, match="the data have no column 'g', which the groups 'g' need"
    ):
        spec.new(grouped.drop(columns="g"))
