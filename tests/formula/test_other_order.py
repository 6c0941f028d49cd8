"""Expressions that bring values to other rows are refused; those that only look around are not."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import FormulaError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

REORDERED = (
    "x.sample(frac=1)",
    "x.sort_values()",
    "x[::-1]",
    "np.sort(x)",
    "np.array(sorted(x))",
    "np.log(np.sort(x) ** 2)",
    "np.random.default_rng(1).permutation(x)",
    "arm.sort_values()",
    "pd.cut(x.sample(frac=1), [-9, 0, 9])",
)
KEPT = ("np.searchsorted(np.sort(x), x)", "x.rank()", "x.clip(-1, 1)", "x.shift(fill_value=0)")


def frame():
    """Numbers and labels of eighty rows, whose index is no range."""
    rng = np.random.default_rng(0)
    x, arm = rng.normal(size=80), rng.choice(["a", "b"], 80)
    return pd.DataFrame({"y": x + rng.normal(size=80), "x": x, "arm": arm}, index=range(80, 0, -1))


def fitted(formula, df):
    """A fit of few draws in closed form."""
    return sgmc.ols(formula, df, draws=50, seed=1, progress=False)


@pytest.mark.parametrize("code", REORDERED)
def test_values_of_other_rows_are_refused(code):
    with pytest.raises(FormulaError, match="values of the rows in another order"):
        fitted(f"y ~ {code}", frame())


@pytest.mark.parametrize("code", KEPT)
def test_values_in_the_order_of_the_rows_are_used(code):
    assert fitted(f"y ~ {code}", frame()).names[1].startswith(code[:5])


@pytest.mark.parametrize("code", ["C(arm, base=2)", "factor(arm, ref='b')"])
def test_other_arguments_of_factors_are_named_with_what_to_write(code):
    with pytest.raises(FormulaError, match=r"no argument '(base|ref)'.*relevel\(g, ref='a'\)"):
        fitted(f"y ~ {code}", frame())
