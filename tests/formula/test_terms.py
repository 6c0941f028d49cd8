"""R's dot and names: the design is patsy's for the formula written out,
and what a dot leaves out is said once.
"""

import warnings

import numpy as np
import pandas as pd
import patsy
import pytest

from sgmc import formula
from sgmc.errors import ColumnsLeftOutWarning

from .designs import AWKWARD, N, design


def check_against_patsy(text, expanded, frame):
    """Same columns as patsy's for the formula written out, in the same order."""
    table = formula.read(text, frame)
    expected = patsy.dmatrix(expanded, frame.rename(columns={"my var": "my_var"}))
    np.testing.assert_allclose(design(table), np.asarray(expected), rtol=1e-12, atol=1e-12)
    assert [as_patsy(name) for name in table.spec.exog_names] == expected.design_info.column_names
    slices = {as_patsy(name): where for name, where in table.spec.term_slices.items()}
    assert slices == dict(expected.design_info.term_name_slices)
    assert table.spec.has_intercept == ("Intercept" in slices)


def as_patsy(name):
    return name.replace("`my var`", "my_var").replace("my var", "my_var")


ALL = "x1 + x2 + g + flag + my_var"


@pytest.mark.parametrize(
    "text, expanded",
    [
        ("y ~ .", ALL),
        ("y~.", ALL),
        ("y ~ . - x1", "x2 + g + flag + my_var"),
        ("y ~ . - x1 - `my var`", "x2 + g + flag"),
        ("y ~ . - Q('my var')", "x1 + x2 + g + flag"),
        ("y ~ . + np.log(x2) - x2", "x1 + g + flag + my_var + np.log(x2)"),
        ("y ~ .:g - 1", f"({ALL}):g - 1"),
        ("y ~ 0 + .", f"0 + {ALL}"),
        ("y ~ .-1", f"{ALL} - 1"),
        ("y ~ (.)^2", f"({ALL})**2"),
        ("y ~ .^2", f"({ALL})**2"),
        ("y ~ .*g", f"({ALL})*g"),
        ("y ~ (x1 + g)**2", "(x1 + g)**2"),
        ("y ~ (x1+x2+g)^3", "(x1 + x2 + g)**3"),
        ("y ~ I(x1^2) + I(x1 ** 3)", "I(x1**2) + I(x1**3)"),
        ("y ~ g:flag", "g:flag"),
        ("y ~ 0 + g:flag + x1:g", "0 + g:flag + x1:g"),
        ("y ~ flag*g*x1", "flag*g*x1"),
        ("y ~ x1/g", "x1/g"),
        ("y ~ I(g == 'a`')", "I(g == 'a`')"),
        ("y ~ C(g, Sum) + C(flag):x1", "C(g, Sum) + C(flag):x1"),
        ("y ~ C(g, Treatment('c'))", "C(g, Treatment('c'))"),
        ("y ~ C(g, levels=['c', 'b', 'a'])", "C(g, levels=['c', 'b', 'a'])"),
        ("y ~ C(y)", "C(y)"),
        ("y ~ np.log(`my var`**2)", "np.log(my_var**2)"),
        ("y ~ center(x1) + standardize(x2)", "center(x1) + standardize(x2)"),
        ("y ~ scale(x1, ddof=1) + center(x1):g", "scale(x1, ddof=1) + center(x1):g"),
        (
            "y ~ standardize(np.log(x2)) + bs(center(x1), df=4)",
            "standardize(np.log(x2)) + bs(center(x1), df=4)",
        ),
        ("y ~ bs(x1, df=5):g + cr(x2, df=3)", "bs(x1, df=5):g + cr(x2, df=3)"),
        ("y ~ te(cr(x1, df=3), cr(x2, df=3))", "te(cr(x1, df=3), cr(x2, df=3))"),
        ("y ~ (x1 > 0) + abs(x1)", "(x1 > 0) + abs(x1)"),
        (
            "y ~ I(x1 > 0) + np.where(g == 'a', 'one', 'two')",
            "I(x1 > 0) + np.where(g == 'a', 'one', 'two')",
        ),
        ("y ~ 1", "1"),
        ("y ~\n x1 +\n x2", "x1 + x2"),
    ],
)
def test_design_equals_patsy_on_the_formula_written_out(frame, text, expanded):
    check_against_patsy(text, expanded, frame)


def test_dot_equals_get_dummies(frame):
    table = formula.read("y ~ .", frame)
    expected = pd.get_dummies(
        frame.drop(columns="y"),
        columns=["g", "flag"],
        drop_first=True,
        prefix_sep="[T.",
        dtype=float,
    )
    expected.columns = [name + "]" if "[" in name else name for name in expected]
    built = pd.DataFrame(design(table), columns=table.spec.exog_names)
    pd.testing.assert_frame_equal(built[expected.columns], expected)
    assert (built["Intercept"] == 1).all()


def test_dot_excludes_what_is_used_elsewhere(frame):
    frame = frame.assign(w=1.0, off=0.5, expo=2.0, keep=True, z=frame.x1**2 + 1)
    table = formula.read(
        "np.log(z) > 0.1 ~ .", frame, weights="w", offset="off", exposure="expo", subset="keep"
    )
    assert table.spec.exog_names == [
        "Intercept",
        "g[T.b]",
        "g[T.c]",
        "flag[T.True]",
        "y",
        "x1",
        "x2",
        "my var",
    ]
    table = formula.read(
        "y ~ .", frame[["y", "x1", "x2", "my var"]], subset="x1 < 1 and `my var` < 1.5"
    )
    assert table.spec.exog_names == ["Intercept", "x2"]


@pytest.mark.parametrize("text", ["np.log(x2) ~ .", "np.log(x2)~.", "x2 + 1 ~ .", "(x2) ~ ."])
def test_response_inside_an_expression_stays_out_of_the_dot(frame, text):
    table = formula.read(text, frame[["y", "x1", "x2"]], outcome="numeric")
    assert table.spec.exog_names == ["Intercept", "y", "x1"]


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_names(rng, name):
    data = pd.DataFrame({"y": [0, 1] * 10, name: rng.normal(size=20), "x": rng.normal(size=20)})
    table = formula.read("y ~ .", data)
    assert table.spec.exog_names == ["Intercept", name, "x"]
    np.testing.assert_array_equal(design(table)[:, 1], data[name])
    quoted = f"Q({name!r})" if "`" in name else f"`{name}`"
    assert formula.read(f"y ~ . - {quoted}", data).spec.exog_names == ["Intercept", "x"]
    table = formula.read(f"y ~ x + {quoted} + np.exp({quoted}):x", data)
    np.testing.assert_allclose(design(table)[:, 3], np.exp(data[name]) * data.x)
    again = formula.read(table.spec.expanded, data).spec
    assert again.exog_names == table.spec.exog_names
    assert formula.read(f"{quoted} ~ x", data, outcome="numeric").spec.endog_name == name


def test_labels_stay_distinct(rng):
    data = pd.DataFrame(
        {
            "y": [0, 1] * 10,
            "a": rng.normal(size=20),
            "b": rng.normal(size=20),
            "a:b": rng.normal(size=20),
        }
    )
    spec = formula.read("y ~ a:b + `a:b`", data).spec
    assert sorted(spec.exog_names) == ["Intercept", "`a:b`", "a:b"]
    assert len(spec.term_slices) == 3


def test_a_column_called_intercept(rng):
    data = pd.DataFrame({"y": [0, 1] * 10, "Intercept": rng.normal(size=20)})
    assert formula.read("y ~ .", data).spec.exog_names == ["Intercept", "`Intercept`"]
    assert formula.read("y ~ . - 1", data).spec.exog_names == ["Intercept"]


def test_function_and_column_of_one_name(frame):
    frame = frame.rename(columns={"x2": "center"})
    table = formula.read("y ~ center(center) + center", frame)
    np.testing.assert_allclose(design(table)[:, 1], frame.center - frame.center.mean(), atol=1e-12)
    np.testing.assert_array_equal(design(table)[:, 2], frame.center)


def test_keyword_arguments_are_no_columns(frame):
    frame["df"] = np.arange(N)
    assert len(formula.read("y ~ bs(x1, df=4)", frame).spec.exog_names) == 5


@pytest.mark.extended
def test_many_columns_do_not_reach_the_recursion_limit(rng):
    data = pd.DataFrame(rng.normal(size=(5, 3000))).rename(columns=str).assign(y=[0, 1, 0, 1, 1])
    assert formula.read("y ~ .", data).spec.exog_names[-1] == "2999"


def test_dot_leaves_out_with_one_warning(frame):
    frame["when"] = pd.date_range("2020-01-01", periods=N)
    frame["gap"] = frame.when - frame.when[0]
    frame["month"] = frame.when.dt.to_period("M")
    frame["one"] = 3
    frame["same"] = "s"
    frame["zip"] = [f"z{i % 51}" for i in range(N)]
    frame["unknown"] = np.nan
    frame["lists"] = [[i] for i in range(N)]
    frame["wave"] = frame.x1 + 1j
    frame["many"] = frame.zip.astype("category")
    with pytest.warns(ColumnsLeftOutWarning) as caught:
        table = formula.read("y ~ .", frame)
    expected = {
        "when": "dates",
        "gap": "dates",
        "month": "dates",
        "one": "constant",
        "same": "constant",
        "zip": "51 levels",
        "unknown": "all missing",
        "lists": "neither numbers nor text",
        "wave": "complex numbers",
        "many": "51 levels",
    }
    assert table.left_out == expected
    assert len(caught) == 1
    assert all(
        f"{name!r} ({reason})" in str(caught[0].message) for name, reason in expected.items()
    )
    assert caught[0].filename == __file__
    assert table.dropped == 0
    assert table.spec.exog_names == [
        "Intercept",
        "g[T.b]",
        "g[T.c]",
        "flag[T.True]",
        "x1",
        "x2",
        "my var",
    ]


def test_fifty_levels_stay_in_the_dot(frame):
    frame["zip"] = [f"z{i % 50:02}" for i in range(N)]
    assert formula.read("y ~ .", frame[["y", "zip"]]).spec.exog_names[-1] == "zip[T.z49]"


def test_no_warning_for_columns_named_in_the_formula(frame):
    frame["when"] = pd.date_range("2020-01-01", periods=N)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = formula.read("y ~ . - when + when.dt.month", frame)
    assert table.spec.exog_names[-1] == "when.dt.month"
    np.testing.assert_array_equal(design(table)[:, -1], frame.when.dt.month)


def test_dot_leaves_out_what_is_constant_in_the_rows_used(frame):
    frame["k"] = np.where(frame.x1 > 0, 1.0, 5.0)
    with pytest.warns(ColumnsLeftOutWarning, match="'k' \\(constant\\)"):
        formula.read("y ~ .", frame, subset="x1 > 0")
    frame.loc[frame.x1 <= 0, "x2"] = np.nan
    with pytest.warns(ColumnsLeftOutWarning, match="'k' \\(constant\\)"):
        table = formula.read("y ~ .", frame)
    assert table.dropped == (frame.x1 <= 0).sum()


def test_a_column_left_out_drops_no_rows(frame):
    frame["one"] = np.where(frame.x1 > 0, 1.0, np.nan)
    with pytest.warns(ColumnsLeftOutWarning):
        assert formula.read("y ~ .", frame).dropped == 0
