"""Choices, names and the nearest of them."""

import numpy as np
import pandas as pd
import pytest

from sgmc.arguments.choices import SHOWN_CHOICES, nearest, one_of
from sgmc.arguments.names import column_names, parameter, parameters, same_order, texts
from sgmc.errors import ArgumentError, DataError

from .tables import assert_gives

NAMES = ["Intercept", "x1", "x2"]


@pytest.mark.parametrize(
    "name, known, listed, expected",
    [
        ("sgdl", ["sald", "sgld"], "", "; did you mean 'sgld'?"),  # letters swapped, not replaced
        ("zzz", ["a", "b"], "", ""),
        ("zzz", ["a", "b"], "they are", "; they are: a, b"),
        ("zzz", [], "they are", ""),
        (3, ["a"], "known", "; known: a"),
        (
            "x",
            [f"column{i}" for i in range(SHOWN_CHOICES + 1)],
            "they are",
            f", column{SHOWN_CHOICES - 1}, ...",
        ),
    ],
)
def test_nearest(name, known, listed, expected):
    found = nearest(name, known, listed)
    assert found.endswith(expected) and (expected or not found)


@pytest.mark.parametrize(
    "value, choices, expected",
    [
        ("a", ("a", "b"), "a"),
        (np.str_("a"), ("a", "b"), "a"),
        (None, ("a", None), None),
        (2, (1, 2), 2),
        (np.int64(2), (1, 2), 2),
        (False, (False, True), False),
        ("c", ("a", "b"), (ArgumentError, "k='c' must be one of 'a', 'b'")),
        ("metrik", ("metric", "race"), (ArgumentError, "'race'; did you mean 'metric'?")),
        ("c", ("a",), (ArgumentError, "k='c' must be 'a'")),
        (None, ("a", "b"), (ArgumentError, "k=None must be one of 'a', 'b'")),
        (["a"], ("a", "b"), (ArgumentError, "k=['a'] must be one of")),
        (np.array(["a"]), ("a", "b"), (ArgumentError, "must be one of")),
        (pd.NA, ("a", "b"), (ArgumentError, "k=<NA> must be one of")),
        (float("nan"), (1, 2), (ArgumentError, "k=nan must be one of 1, 2")),
    ],
)
def test_one_of(value, choices, expected):
    assert_gives(lambda: one_of("k", value, choices), expected)


def test_what_else_may_be_chosen_is_in_the_message():
    expected = (ArgumentError, "scale='sd' must be 'covariance', or numbers")
    assert_gives(lambda: one_of("scale", "sd", ("covariance",), ", or numbers"), expected)


@pytest.mark.parametrize(
    "given, expected",
    [
        ("x1", ["x1"]),
        (("x2", "x1"), ["x2", "x1"]),
        (pd.Index(["x1"]), ["x1"]),
        ("x11", (ArgumentError, "cols: 'x11' is not a parameter; did you mean 'x1'?")),
        (["x1", 0], (ArgumentError, "cols: 0 is not a parameter; they are: Intercept, x1, x2")),
        (3, (ArgumentError, "cols=3 must be a list of parameters")),
    ],
)
def test_parameters(given, expected):
    assert_gives(lambda: parameters("cols", given, NAMES), expected)


def test_parameter():
    assert_gives(lambda: parameter("prior", "x1", dict.fromkeys(NAMES)), "x1")
    assert_gives(
        lambda: parameter("prior", ["x1"], NAMES), (ArgumentError, "prior: ['x1'] is not a")
    )


@pytest.mark.parametrize(
    "value, count, expected",
    [
        ("a", None, ["a"]),
        (("a", "b"), None, ["a", "b"]),
        ([], None, []),
        (["a", "b"], 2, ["a", "b"]),
        *[
            (bad, 2, (ArgumentError, f"keep={bad!r} must be names"))
            for bad in ("ab", ["a"], [1, 2], 3)
        ],
        (["a", 1], None, (ArgumentError, "keep=['a', 1] must be names")),
        (3, None, (ArgumentError, "keep=3 must be names")),
    ],
)
def test_texts(value, count, expected):
    assert_gives(lambda: texts("keep", value, "names", count), expected)


TWICE = pd.DataFrame(np.ones((2, 2)), columns=["a", "a"])


@pytest.mark.parametrize(
    "names, table, expected",
    [
        (["a", "b"], None, ["a", "b"]),
        (None, None, ["x1", "x2"]),
        (None, pd.DataFrame({"u": [1], 3: [2]}), ["u", "3"]),
        (
            ["a"],
            None,
            (ArgumentError, "names=['a'] must be 2 strings, one for each column of exog"),
        ),
        (["a", "a"], None, (ArgumentError, "names repeat: 'a'; give each column of exog its own")),
        (None, TWICE, (DataError, "exog has more than one column 'a'; rename or drop them")),
    ],
)
def test_column_names(names, table, expected):
    assert_gives(lambda: column_names(names, table, 2), expected)


@pytest.mark.parametrize(
    "values, foreign",
    [
        ([0.0, 1.0], False),
        (pd.Series([0.0, 1.0]), False),
        (pd.Series([0.0, 1.0], ["a", "b"]), False),
        (pd.DataFrame(np.ones((1, 2)), columns=["a", "b"]), True),
        (pd.DataFrame(np.ones((1, 2)), columns=["u", "v"]), True),
    ],
)
def test_labels_that_pass(values, foreign):
    assert_gives(lambda: same_order("init", values, ["a", "b"], foreign=foreign), None)


@pytest.mark.parametrize(
    "labels, foreign, error",
    [
        (["b", "a"], False, ArgumentError),
        (["u", "v"], False, ArgumentError),
        (["b", "a"], True, DataError),
        (["a", "v"], True, DataError),
    ],
)
def test_labels_in_another_order(labels, foreign, error):
    values = pd.DataFrame(np.ones((1, 2)), columns=labels)
    text = f"init is labelled {', '.join(labels)}; it must be a, b, in this order, or pass init.to"
    assert_gives(
        lambda: same_order("init", values, ["a", "b"], foreign=foreign, error=error), (error, text)
    )
