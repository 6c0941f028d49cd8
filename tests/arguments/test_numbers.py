"""Single numbers."""

import math

import numpy as np
import pandas as pd
import pytest

from sgmc.arguments.numbers import fraction, level, number, positive, sizes, whole
from sgmc.errors import ArgumentError

from .tables import assert_gives

NOT_WHOLE = [1.5, 2.0, "2", True, np.True_, None, [2], np.array([2]), 1j, pd.NA, float("nan")]
NOT_REAL = ["2", True, np.True_, None, [2.0], np.array([2.0]), 1j, pd.NA, float("nan"), b"2"]
WHOLE = [
    ((2,), {}, 2),
    ((np.int64(2),), {}, 2),
    ((0,), {}, 0),
    ((10**12, 1), {}, 10**12),
    ((3, 0, 3), {}, 3),
    ((None,), {"none": True}, None),
    ((-1,), {}, (ArgumentError, "n=-1 must be a whole number, at least 0")),
    ((1, 2), {}, (ArgumentError, "n=1 must be a whole number, at least 2")),
    ((4, 0, 3), {}, (ArgumentError, "n=4 must be a whole number from 0 to 3")),
    ((0, 1), {"advice": "it counts rows"}, (ArgumentError, "at least 1; it counts rows")),
    ((10**12 + 1,), {}, (ArgumentError, "n=1000000000001 is too many: at most 1e+12")),
    ((10**30, 0, math.inf), {}, (ArgumentError, "is too many")),
]
NUMBER = [
    ((2,), 2.0),
    ((np.float32(0.5),), 0.5),
    ((np.array(0.5),), 0.5),
    ((-1e308,), -1e308),
    ((0.5, 0, 1), 0.5),
    ((0, 0, 1), (ArgumentError, "x=0 must be a number between 0 and 1")),
    ((1, 0, 1), (ArgumentError, "x=1 must be a number between 0 and 1")),
    ((10**400,), (ArgumentError, "must be a finite number")),
    ((math.inf,), (ArgumentError, "x=inf must be a finite number")),
    ((0, 0), (ArgumentError, "x=0 must be a positive number")),
    ((1, 2), (ArgumentError, "x=1 must be a number above 2")),
    ((1, -math.inf, 0), (ArgumentError, "x=1 must be a number below 0")),
]
SIZES = [
    (3, (3,)),
    ([3, np.int32(4)], (3, 4)),
    ((), ()),
    *[
        (bad, (ArgumentError, f"s={bad!r} must be a shape"))
        for bad in (0, -1, 2.5, True, (3, 0), (3, True), "3", None, {3})
    ],
]


@pytest.mark.parametrize("values, options, expected", WHOLE)
def test_whole(values, options, expected):
    assert_gives(lambda: whole("n", *values, **options), expected)


@pytest.mark.parametrize("value", NOT_WHOLE, ids=repr)
def test_what_is_not_whole(value):
    assert_gives(lambda: whole("n", value), (ArgumentError, f"n={value!r} must be a whole number"))


@pytest.mark.parametrize("values, expected", NUMBER)
def test_number(values, expected):
    assert_gives(lambda: number("x", *values), expected)


@pytest.mark.parametrize("value", NOT_REAL, ids=repr)
def test_what_is_no_number(value):
    assert_gives(
        lambda: number("x", value), (ArgumentError, f"x={value!r} must be a finite number")
    )
    assert_gives(
        lambda: fraction("x", value), (ArgumentError, f"x={value!r} must be a number between")
    )


@pytest.mark.parametrize(
    "value, options, expected",
    [
        (2, {}, 2.0),
        (None, {"none": True}, None),
        (math.inf, {"infinite": True}, math.inf),
        (math.inf, {}, (ArgumentError, "x=inf must be a positive number")),
        (None, {}, (ArgumentError, "x=None must be a positive number")),
        (0, {"advice": "give 1"}, (ArgumentError, "x=0 must be a positive number; give 1")),
    ],
)
def test_positive(value, options, expected):
    assert_gives(lambda: positive("x", value, **options), expected)


def test_level():
    assert_gives(lambda: level(0.05), 0.05)
    assert_gives(
        lambda: level(1), (ArgumentError, "alpha=1 must be a number between 0 and 1; give e.g.")
    )


@pytest.mark.parametrize("value, expected", SIZES)
def test_sizes(value, expected):
    assert_gives(lambda: sizes("s", value, "a shape"), expected)
