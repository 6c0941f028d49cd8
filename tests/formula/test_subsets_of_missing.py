"""Rows of ``subset=`` in which a column of the condition is missing are told of."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError, SubsetWarning

# rows used of 30, of which 5 lack u and g, and how many of these a warning tells of
CONDITIONS = {
    "u != 2": (22, 5),
    "~(u == 2)": (22, 5),
    "u != 2 | x > 0": (26, 5),
    "x > 0 | u == 1": (19, 2),  # kept by x
    "u == 1": (8, 0),
    "u.isna() | u == 1": (13, 0),
    "not u == 2 and 0 < u < 9": (17, 0),
    "`the label` != 'b'": (22, 5),
    "u.notna() & u != 2": (17, 0),
    "g != 'b'": (22, 5),
    "x > 0": (15, 0),
}


def frame():
    """u is 1, 2, 3 in turn and missing in the first five rows, x alternates in sign."""
    n = np.arange(30)
    u = np.where(n < 5, np.nan, n % 3 + 1.0)
    g = pd.Series(np.array(["a", "b", "c"])[n % 3], dtype=object).where(n >= 5, None)
    df = pd.DataFrame(
        {"x": np.where(n % 2, 1.0, -1.0), "u": u, "g": g, "label": g.astype("category")}
    )
    return df.assign(y=np.sin(n), **{"the label": df.label})


def told(condition):
    """Rows used by a fit, and the warnings of its subset."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        res = sgmc.ols("y ~ 1", frame(), subset=condition, draws=50, seed=1, progress=False)
    return res.nobs, [one.message for one in caught if one.category is SubsetWarning]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_that_a_condition_keeps_without_a_value_are_told_of(condition):
    used, missing = CONDITIONS[condition]
    rows, found = told(condition)
    assert rows == used and len(found) == bool(missing)
    assert all(f"keeps {missing} rows in which" in str(one) for one in found)


def test_both_cures_do_what_they_say():
    _, (warning,) = told("u != 2")
    without, with_them = re.findall(r"'(\(u != 2\) [^']*)'", str(warning))
    assert told(without) == (17, []) and told(with_them) == (22, [])


def test_variables_are_not_read():
    with pytest.raises(DataError, match="names with @ are not looked up; give a function"):
        sgmc.ols("y ~ x", frame().assign(y=1.0), subset="x > @k")
