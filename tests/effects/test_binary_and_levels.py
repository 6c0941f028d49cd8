"""Columns of 0 and 1 are compared 1 - 0; grids know the levels of the fit."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, FormulaError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@cache
def frame():
    """A dose of 0 and 1, labels, groups and a year that is a label."""
    rng = np.random.default_rng(2)
    n = np.arange(120)
    df = pd.DataFrame(
        {"t": n % 2, "x": rng.normal(size=120), "arm": np.array(["a", "b"])[n // 2 % 2]}
    )
    df = df.assign(g=n % 6, year=2000 + n % 3, kind=pd.Categorical(df.arm))
    return df.assign(y=(rng.random(120) < 0.3 + 0.4 * df.t).astype(int))


@cache
def fitted(formula="y ~ t * x + arm + C(year)"):
    """A fit of few draws."""
    return sgmc.logit(formula, frame(), seed=1, draws=100, progress=False)


def test_a_column_of_zeros_and_ones_is_compared_at_both():
    res, df = fitted(), frame()
    found = res.avg_comparisons("t")
    assert list(found.contrast) == ["1 - 0"]
    low, high = (res.posterior_epred(df.assign(t=k)) for k in (0, 1))
    # averages are of the same draws in another order of sums
    np.testing.assert_allclose(found.draws[0], (high - low).mean(axis=1), rtol=1e-9)
    assert list(res.avg_comparisons({"t": 1}).contrast) == ["+1"]
    assert list(res.avg_comparisons("x").contrast) == ["+1"]


def test_so_is_one_of_a_fit_of_arrays():
    df = frame()
    X = np.column_stack([np.ones(120), df.t, df.x])
    res = sgmc.Logit(df.y.to_numpy(), X).fit(seed=1, draws=100, progress=False)
    assert list(res.avg_comparisons("x2").contrast) == ["1 - 0"]


@pytest.mark.parametrize("given", [{"arm": ["a", "zz"]}, {"year": 2009}])
def test_grids_refuse_levels_that_the_fit_has_not(given):
    with pytest.raises(ArgumentError, match=r"has no level ('zz'|2009); it has ('a', 'b'|2000)"):
        sgmc.datagrid(fitted(), **given)


def test_so_do_those_of_tables_with_categories():
    with pytest.raises(ArgumentError, match="'kind' has no level 'zz'; it has 'a', 'b'"):
        sgmc.datagrid(frame(), kind=["a", "zz"])


def test_predictions_of_unknown_levels_are_refused():
    with pytest.raises(FormulaError, match="has the level 'zz'; known are 'a', 'b'"):
        fitted().predict(frame().head(2).assign(arm="zz"))


def test_grids_take_groups_new_ones_too():
    res = fitted("y ~ x + (1 | g)")
    grid = sgmc.datagrid(res, g=[0, 99], x=[0.0, 1.0])
    assert list(grid.g) == [0, 0, 99, 99]
    assert len(res.predictions(grid, random=True, new_levels="sample")) == 4
