"""Rows in which a condition of ``subset=`` is unknown are left out, as in R, with a warning."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import RowsLeftOutWarning

# rows used of 30, of which 5 lack u and g, and warned of, by R's rules for NA
CONDITIONS = {
    "u != 2": (17, 5),
    "~(u == 2)": (17, 5),
    "u != 2 | x > 0": (23, 3),
    "u == 1": (8, 0),
    "u.isna() | u == 1": (13, 0),
    "not u == 2 and 0 < u < 9": (17, 0),
    "`the label` != 'b'": (17, 5),
    "g != ['b']": (22, 0),
    "u.notna() & u != 2": (17, 0),
    "u not in [2]": (22, 0),
    "g != 'b'": (17, 5),
    "label != 'b'": (17, 5),
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


@pytest.mark.parametrize("condition", CONDITIONS)
def test_unknown_conditions_leave_rows_out(condition):
    used, warned = CONDITIONS[condition]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        res = sgmc.ols("y ~ 1", frame(), subset=condition, draws=50, seed=1, progress=False)
    told = [str(one.message) for one in caught if one.category is RowsLeftOutWarning]
    assert res.nobs == used
    assert len(told) == bool(warned)
    assert all(f"leaves out {warned} rows in which" in one for one in told)


def test_prepared_rows_are_the_same(tmp_path):
    file = sgmc.prepare("y ~ 1", frame(), tmp_path / "rows", subset="u != 2")
    assert file.n == CONDITIONS["u != 2"][0]
