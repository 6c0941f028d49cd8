"""Errors about group terms say what to write."""

import numpy as np
import pytest

from sgmc import formula
from sgmc.errors import DataError, FormulaError


@pytest.mark.parametrize(
    "text, error, said",
    [
        ("y ~ x + 1 | g", FormulaError, "a group term stands in parentheses"),
        ("y ~ x*(1 | g)", FormulaError, "(1 | g) can only be added"),
        ("y ~ x - (1 | g)", FormulaError, "(1 | g) can only be added"),
        ("y ~ (x + (1 | g))", FormulaError, "can only be added"),
        ("y ~ x + (| g)", FormulaError, "(| g) lacks effects"),
        ("y ~ x + (1 |)", FormulaError, "(1 |) lacks a factor"),
        ("y ~ x + (1 | g | h)", FormulaError, "more than one bar"),
        ("y ~ x + (0 | g)", FormulaError, "(0 | g) has no effect"),
        ("y ~ x + (. | g)", FormulaError, "the dot cannot be used"),
        ("y ~ x + (1 | g + h)", FormulaError, "names columns: g, g:h or g/h"),
        ("y ~ x + (1 | g:h/z)", FormulaError, "names columns: g, g:h or g/h"),
        ("y ~ x + (1 | np.log(x))", FormulaError, "names columns: g, g:h or g/h"),
        ("y ~ x + (1 | g:g)", FormulaError, "'g' is there twice: drop one"),
        ("y ~ x + (1 | nowhere)", FormulaError, "'nowhere' is neither a column"),
        ("y ~ x + (1 | y)", FormulaError, "the response is a factor of groups too"),
        ("y ~ x + (1 | x)", DataError, "column 'x' holds numbers that are not whole"),
    ],
)
def test_errors_say_what_to_write(grouped, text, error, said):
    with pytest.raises(error) as raised:
        formula.read(text, grouped, scope={"np": np}).grouping()
    assert said in str(raised.value) and "_sgmc_" not in str(raised.value)
