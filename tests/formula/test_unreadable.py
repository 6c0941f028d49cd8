"""What a formula or a call says that cannot be read: words of formulas, and what to write."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc import formula
from sgmc.errors import ArgumentError, DataError, FormulaError

N = 60


def frame_of():
    random = np.random.default_rng(0)
    data = pd.DataFrame({"y": random.normal(size=N), "x": random.normal(size=N)})
    data["z"], data["g"], data["b"] = random.normal(size=N), np.resize(list("abc"), N), 0
    return data.assign(b=np.arange(N) % 2)


FRAME = frame_of()
LOGIC = "write & for 'and', | for 'or' and ~ for 'not', each comparison in parentheses"
UNREADABLE = [
    ("y ~ x and z", f"cannot read 'x and z': {LOGIC}"),
    ("y ~ I(x > 0 or z > 0)", LOGIC),
    ("y ~ not b", LOGIC),
    ("y and z ~ x", LOGIC),
    ("y ~ x if z else g", "write np.where(condition, x, z)"),
    ("y ~ [x, z]", "cannot read '[x, z]': it is several values: add terms by +"),
    ("y ~ x, z", "it is several values: add terms by +"),
    ("y ~ {x}", "it is several values: add terms by +"),
    ("y ~ 'x'", "a constant is no term"),
    ("y ~ x + None", "cannot read 'None': a constant is no term"),
    ("y ~ x z", "cannot read 'x z': it is no expression"),
    ("y y ~ x", "cannot read 'y y': it is no expression"),
    ("y ~ x %in% z", "words between % are R's: of a term write a:b"),
    ("y ~ max(x, 0)", "for max and min of columns write np.maximum and np.minimum"),
    ("y ~ x + 2*z", "write I(2*x) for arithmetic"),
    ("y ~ x +", "the formula ends where a term should be"),
    ("y ~ (x", "a bracket is not closed: "),
    ("y ~ x)", "a bracket closes none: "),
    ("y ~ as.factor(g)", "as.factor() is R's: write factor(x), or C(x)"),
    ("y ~ . + as.factor(g)", "as.factor() is R's: write factor(x), or C(x)"),
    ("y ~ as.numeric(x)", "pd.to_numeric(df['x'])"),
    ("y ~ as.matrix(x)", "as.matrix() is R's: there is no such function here"),
    ("y ~ is.na(x)", "make a column of it before the fit"),
    ("y ~ ifelse(x > 0, 1, 0)", "use np.where(x > 0, 1, 0)"),
    ("y ~ cut(x, 3)", "use pd.cut(x, bins)"),
    ("y ~ ln(x)", "use log(x)"),
    ("c(y, z) ~ x", "cbind(successes, failures)"),
    ("y ~ df$x", "cannot read '$': name columns alone"),
    ("y ~ !b", "cannot read '!': write ~ for 'not'"),
    ("y ~ x \N{EN DASH} z", "this dash is no minus"),
    ("y ~ x \N{MULTIPLICATION SIGN} z", "write * or :"),
    ("y ~ \N{LEFT SINGLE QUOTATION MARK}x\N{RIGHT SINGLE QUOTATION MARK}", "quotes are ' or"),
    ("y ~ C(g, levels=['a', 'b'])", ": column 'g' has the level 'c'; known are 'a', 'b'"),
    ("y ~ I(x, z)", "cannot evaluate 'I(x, z)': TypeError: I() takes 1 positional argument"),
    ("y ~ X", "did you mean 'x'?"),
]


@pytest.mark.parametrize("text, said", UNREADABLE, ids=[text for text, _ in UNREADABLE])
def test_messages_are_in_words_of_formulas(text, said):
    with pytest.raises(FormulaError) as error:
        formula.read(text, FRAME, outcome="numeric")
    assert said in str(error.value)
    for word in ("SyntaxError", "<unknown>", "Error evaluating", "FormulaError", "truth value"):
        assert word not in str(error.value)


@pytest.mark.parametrize(
    "name",
    [
        "support.calls",
        "my var",
        "50% more",
        "2nd",
        "z (cm)",
        "x-score",
        "it's",
        "x\N{SUPERSCRIPT TWO}",
    ],
)
def test_names_that_want_backticks(name):
    data = FRAME.rename(columns={"z": name})
    with pytest.raises(FormulaError) as error:
        formula.read(f"y ~ {name} + g", data, outcome="numeric")
    assert f"write `{name}` in backticks" in str(error.value)
    assert name in formula.read(f"y ~ `{name}` + g", data, outcome="numeric").spec.exog_names
    for word in ("SyntaxError", "<unknown>"):
        assert word not in str(error.value)


def test_near_names_and_names_of_r_s_are_shown_as_they_are_written():
    data = FRAME.rename(columns={"z": "support.calls", "g": "as.factor(g)"})
    with pytest.raises(FormulaError, match=r"columns are: y, x, `support.calls`, `as.factor\(g\)`"):
        formula.read("y ~ unknown", data, outcome="numeric")
    read = formula.read("y ~ `as.factor(g)`", data, outcome="numeric")
    assert read.spec.exog_names[1] == "as.factor(g)[T.b]"


@pytest.mark.parametrize(
    "values, said",
    [([1, 2], "'b == 2 ~ ...'"), ([-1, 1], "'b == 1 ~ ...'"), ([0, 1, 5], "'b > 0 ~ ...'")],
)
def test_comparisons_that_are_advised_tell_outcomes_apart(values, said):
    data = FRAME.assign(b=np.resize(values, N))
    with pytest.raises(DataError) as error:
        formula.read("b ~ x", data)
    assert said in str(error.value)
    text = str(error.value).partition("as in '")[2].partition(" ~")[0]
    assert set(formula.read(f"{text} ~ x", data).y) == {0.0, 1.0}


@pytest.mark.parametrize(
    "values, cure",
    [
        ([1, "2"], "pd.to_numeric(df['z'], errors='coerce')"),
        ([1, "a"], "df['z'].astype(str)"),
        ([b"a", b"b"], "df['z'].str.decode('utf-8')"),
        ([pd.Interval(0, 1), pd.Interval(1, 2)], "df['z'].astype('category')"),
    ],
)
def test_columns_of_other_kinds_have_a_cure(values, cure):
    data = FRAME.assign(z=pd.Series((values * N)[:N], dtype=object))
    with pytest.raises(
        FormulaError, match="column 'z' is no predictor: it holds .*convert it"
    ) as error:
        formula.read("y ~ z", data, outcome="numeric")
    assert cure in str(error.value)
    converted = data.assign(z=eval(cure, {"df": data, "pd": pd}))
    assert formula.read("y ~ z + x", converted, outcome="numeric", missing="drop").spec


X, Y = FRAME[["x", "z"]].to_numpy(), FRAME.b.to_numpy()


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: sgmc.logit(FRAME, "b ~ x"), "'b ~ x': .*: it is a formula, which comes before"),
        (lambda: sgmc.Logit.from_formula(FRAME, "b ~ x"), "it is a formula, which comes before"),
        (lambda: sgmc.Logit(X, Y), r"endog has shape \(60, 2\) .* outcomes come first"),
        (lambda: sgmc.OLS(FRAME[["x", "z"]], FRAME.y), "outcomes come first"),
        (lambda: sgmc.Logit("b ~ x", FRAME), "'b ~ x' is a formula: use a verb"),
        (lambda: sgmc.Logit(FRAME, "b ~ x"), "'b ~ x' is a formula: use a verb"),
        (lambda: sgmc.logit(Y, X), "for arrays use .*, outcomes first"),
        (lambda: sgmc.logit("b ~ x", FRAME, subset="x = 1"), "assigns to a column: compare by =="),
    ],
)
def test_arguments_in_each_others_place(call, said):
    with pytest.raises((ArgumentError, DataError), match=said):
        call()


def test_counts_beside_one_column_are_outcomes():
    counts = np.column_stack([np.arange(N) % 4, np.arange(N) % 3])
    assert sgmc.Logit(counts, FRAME.x.to_numpy()).data.trials is not None
