"""Refusals of formulas that the tables of attacks and of sizes do not reach."""

import re

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import FormulaError, SGMCError
from sgmc.formula import read
from sgmc.formula.data.columns import plain
from sgmc.formula.evaluation import bounds, safe
from sgmc.formula.evaluation.code import Check, Refused
from sgmc.formula.outside import refuse_text
from sgmc.formula.response import Response
from sgmc.formula.syntax import parser

FRAME = pd.DataFrame({"y": np.arange(9) % 3, "x": np.arange(9.0), "z": [*range(8), np.inf]})


def outer():
    """A response that is evaluated in rows of a file or a partition."""
    parsed = parser.parse("np.outer(y, y) ~ x", FRAME.columns, {"np": np})
    return Response(parsed, None, False).value(FRAME, np.arange(len(FRAME)))


def second_design():
    """A design of two parts, of which the second is not finite."""
    sgmc.ZeroInflated.from_formula("y ~ x | z", FRAME).fit()


REFUSED = {
    "column 'x' holds what is no float64 number": lambda: plain(
        pd.Series([10**400], dtype=object, name="x"), slice(None)
    ),
    "must be one column of 9 values, its shape is (9, 9)": outer,
    "predictor 'zero:z' is not finite at row 8": second_design,
    "'_sgmc_0_' is a name of the package's own: rename it": lambda: read("y ~ _sgmc_0_", FRAME),
    "text must be a formula as str, not int": lambda: sgmc.formula(3, safe=True),
    "Q() has the name of a column in quotes, Q('7')": lambda: read("y ~ Q(7)", FRAME),
    "s(x, z): a smooth of one covariate, s(x); 2 are given: a surface of two is te(x, z)": (
        lambda: read("y ~ s(x, z)", FRAME)
    ),
    "s(x, 5): a smooth of one covariate, s(x); 2 are given: write k=5 for its size": (
        lambda: read("y ~ s(x, 5)", FRAME)
    ),
    "subset='x > @k': names with @ are not looked up; give a function of the table": (
        lambda: read("y ~ x", FRAME, subset="x > @k")
    ),
    "'x' is in the index: give df.reset_index()": lambda: read("y ~ x", FRAME.set_index("x")),
    "(1 | g)'); 'g' is in the index: give df.reset_index()": lambda: read(
        "y ~ x + (1 | g)", FRAME.assign(g=1, t=2).set_index(["g", "t"])
    ),
    "groups='g' is not a column of the data; columns are: y, x, z; 'g' is in the index": (
        lambda: read("y ~ x", FRAME.assign(g=1).set_index("g"), groups="g")
    ),
    "it has 10,005 characters; at most 10,000 are read": lambda: sgmc.formula(
        "y ~ " + "x" * 10_001, safe=True
    ),
}


def powers(lowest):
    """The design of new rows with exponents from there on, of a fit with none below zero."""
    rows = FRAME.assign(k=np.arange(len(FRAME)) % 5)
    table = read("y ~ I(2**k)", rows, outcome="numeric", scope={})
    return table.spec.matrix(rows.assign(k=rows.k + lowest))


REFUSED |= {"'I(2 ** k)': negative powers of whole numbers are fractions": lambda: powers(-1)}


def test_exponents_that_could_be_negative_and_are_not_are_computed():
    rows = FRAME.assign(k=FRAME.y + 1)
    table = read("y ~ I(2**(k - y))", rows, outcome="numeric", scope={})
    out = np.empty((len(table.y), 2))
    table.fill(out)
    assert (out[:, 1] == 2).all()


@pytest.mark.parametrize("message", REFUSED)
def test_refusals(message):
    with pytest.raises(SGMCError, match=re.escape(message)):
        REFUSED[message]()


def test_a_column_of_text_may_hold_the_sign_of_names():
    rows = FRAME.assign(who=["a@b", "c"] * 4 + ["c"])
    assert len(read("y ~ x", rows, subset="who == 'a@b'", outcome="numeric").y) == 4


@pytest.mark.parametrize("name", ["_parsed", "tree_of"])
def test_what_is_deeper_than_pythons_stack(monkeypatch, name):
    """Whatever depth that is: it differs between versions of Python."""

    def deep(*given):
        raise RecursionError

    parsed = parser.parse("y ~ x", FRAME.columns)
    monkeypatch.setattr(safe if name == "tree_of" else parser, name, deep)
    with pytest.raises(SGMCError, match="too deep to be read|too many terms written out"):
        parser.parse("y ~ x", FRAME.columns).terms_of(parsed.predictors)


def test_expressions_that_are_none_or_too_deep(monkeypatch):
    check = Check({"x"}, {})
    with pytest.raises(Refused, match=r"it is no expression \("):
        check.code("x +")

    def deep(*given, **more):
        raise MemoryError

    monkeypatch.setattr("sgmc.formula.evaluation.code.ast.parse", deep)
    with pytest.raises(Refused, match="it is too deep"):
        check.code("x")


def test_many_smooths_are_refused(monkeypatch):
    monkeypatch.setattr(bounds, "MOST_TAKEN_OFF", 1)
    with pytest.raises(SGMCError, match="there are 2 group terms and smooths; at most 1 are read"):
        sgmc.formula("y ~ s(x, k=5) + s(z, k=5)", safe=True)
    for text, most in [
        ("s(x, k=101)", "one covariate has at most 100"),
        ("te(x, z, k=(-300, -2))", "two covariates"),
    ]:
        with pytest.raises(SGMCError, match=f"a smooth of {most}"):
            sgmc.formula(f"y ~ {text}", safe=True)


def test_formulas_of_files_that_cannot_be_read():
    with pytest.raises(Refused, match="cannot read the formula: .*EOF in multi-line"):
        refuse_text("y ~ (x")


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("trunc(y, lower=0) ~ x", "keyword argument 'lower'; it takes y, low, high"),
        ("y ~ np.log(x, foo=1)", "keyword argument 'foo' .in the formula"),  # of C, no signature
    ],
)
def test_unexpected_arguments_of_functions_list_those_that_there_are(formula, told):
    frame = pd.DataFrame({"x": np.arange(1.0, 9), "y": np.arange(1.0, 9) ** 2})
    with pytest.raises(FormulaError, match=told):
        sgmc.ols(formula, frame, seed=1)
