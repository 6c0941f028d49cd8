"""Expressions whose value of a row depends on other rows: a new row has the value that it had among
the rows of the fit, or is refused by name.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError, FormulaError
from sgmc.formula import read
from sgmc.formula.designs.across import alike, looks_around

N = 120
RNG = np.random.default_rng(2)
TABLE = pd.DataFrame(
    {
        "x": RNG.uniform(1, 9, N),
        "balanced": np.tile([1.0, 2.0, 3.0], N // 3),  # both halves have the mean of all
        "five": np.tile([1, 2, 3, 4, 5], N // 5),  # and their range
        "years": np.repeat([2008.0, 2009.0, 2010.0], N // 3),  # sorted
        "y": RNG.normal(size=N),
        "e": RNG.uniform(1, 5, N),
    }
)

KEPT = [
    "I(x - x.mean())",
    "I(balanced - balanced.mean())",
    "I(years - years.mean())",
    "I((x - np.mean(x)) / x.std())",
    "I(x / x.max())",
    "I(-x.mean() ** 2 * x)",
    "I(x - len(x))",
    "x.clip(upper=x.quantile(0.9))",
    "np.where(x > x.median(), 1, 0)",
    "I((x - x.min()) / (x.max() - x.min()))",
    "center(x / x.max())",
    "C(x > x.mean())",
]
REFUSED = [
    "x.rank()",
    "np.cumsum(x)",
    "np.cumsum(balanced)",
    "x.diff().fillna(0)",
    "x.shift(1, fill_value=0)",
    "pd.qcut(x, 4)",
    "pd.cut(x, 4)",
    "pd.cut(five, 4)",
    "C(pd.cut(five, 4))",
    "x.rolling(3, min_periods=1).mean()",
]
PLAIN = [
    "np.log(x) + I(x ** 2)",
    "center(x)",
    "bs(x, df=4)",
    "poly(x, 2)",
    "C(five)",
    "pd.cut(x, [0, 3, 6, 10])",
    "np.sin(x) * np.exp(x)",
    "np.log(x) - x",
]


@pytest.mark.parametrize("term", KEPT + PLAIN)
def test_new_rows_have_the_values_that_they_had(term):
    spec = read(f"y ~ {term}", TABLE, outcome="numeric", scope=globals()).spec
    whole = spec.matrix(TABLE)
    for rows in ([7], [0], [N - 1], range(50, 60)):
        # rounding: numpy may compute a vector and one number by other instructions
        np.testing.assert_allclose(spec.matrix(TABLE.iloc[rows]), whole[rows], rtol=1e-12)


@pytest.mark.parametrize("term", ["I(x - x.mean())", "I(x / x.max())"])
def test_predictions_and_effects_of_what_is_kept(term, tmp_path):
    how = dict(seed=1, draws=1000, sampler="laplace", progress=False)
    res = sgmc.ols(f"y ~ {term}", TABLE, **how)
    one, wanted = TABLE.iloc[[7]], res.fittedvalues.iloc[7]
    assert list(res.params.index[:2]) == ["Intercept", term]
    res.save(tmp_path / "fit.sgmc")
    for fit in (res, sgmc.load(tmp_path / "fit.sgmc", trust_formulas=True)):
        assert fit.predict(one).iloc[0] == pytest.approx(wanted, rel=1e-12)
    assert res.predictions(one).estimate.iloc[0] == pytest.approx(wanted, rel=1e-9)
    np.testing.assert_allclose(res.predictions().estimate, res.fittedvalues, rtol=1e-9)


@pytest.mark.parametrize("term", REFUSED)
def test_what_needs_all_rows_is_refused_by_name(term):
    spec = read(f"y ~ {term}", TABLE, outcome="numeric", scope=globals()).spec
    with pytest.raises(
        FormulaError, match="in a row depends on other rows.*center.*fit again"
    ) as error:
        spec.matrix(TABLE.iloc[[7]])
    assert str(error.value).startswith(f"the value of {term} ")


def test_every_use_of_new_rows_refuses():
    how = dict(seed=1, draws=1000, sampler="laplace", progress=False)
    res = sgmc.ols("y ~ x.rank()", TABLE, **how)
    assert len(res.fittedvalues) == N and res.loo().elpd < 0
    for use in (
        lambda: res.predict(TABLE.iloc[[7]]),
        lambda: res.posterior_predict(TABLE.head(3)),
        lambda: res.avg_predictions(),
        lambda: res.avg_slopes("x"),
        lambda: res.update(TABLE.head(30)),
    ):
        with pytest.raises(FormulaError, match=r"x.rank\(\) in a row depends on other rows"):
            use()


def test_offsets_too():
    how = dict(seed=1, draws=1000, sampler="laplace", progress=False)
    res = sgmc.ols("y ~ x + offset(np.log(e / e.mean()))", TABLE, **how)
    found = res.predict(TABLE.iloc[[7]]).iloc[0]
    assert found == pytest.approx(res.fittedvalues.iloc[7], rel=1e-12)
    res = sgmc.ols("y ~ x + offset(e.rank() / 100)", TABLE, **how)
    with pytest.raises(
        FormulaError, match=r"offset\(e.rank\(\) / 100\) in a row depends on other rows"
    ):
        res.predict(TABLE.iloc[[7]])


def test_tables_that_are_read_in_pieces():
    """Numbers of all rows are those of all pieces; what needs the rows together is refused."""
    rng = np.random.default_rng(1)
    large = pd.DataFrame({"x": np.arange(200_000.0), "y": rng.normal(size=200_000)})
    table = read("y ~ I(x - x.mean())", large, outcome="numeric")
    out = np.empty((200_000, 2))
    table.fill(out)
    np.testing.assert_array_equal(out[:, 1], large.x - large.x.mean())
    for term in ("x.rank()", "center(x / x.max())"):
        with pytest.raises(DataError, match="200,000 rows are read a piece at a time"):
            read(f"y ~ {term}", large, outcome="numeric")


def test_the_comparison_itself():
    x = np.linspace(1, 2, 50)
    rows = np.arange(50)
    assert not looks_around(lambda some: x[some], rows)
    assert not looks_around(lambda some: 3.0, rows)  # no value a row
    assert not looks_around(lambda some: x[some], rows[:1])
    assert looks_around(lambda some: x[some] - x[some].mean(), rows)
    assert not alike(pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": [1.0], "b": [1.0]}))
    assert alike(pd.DataFrame({"a": [1.0, np.nan]}), pd.DataFrame({"b": [1 + 1e-12, np.nan]}))
