"""New rows with levels that a fit has not seen: warned of once, meant, or written otherwise."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError, FormulaError, NewLevelsWarning

FORMULAS = {
    "one factor": "y ~ x + (1 | g)",
    "nested": "y ~ x + (1 | g/h)",
    "crossed": "y ~ x + (1 | g) + (1 | h)",
    "smooth": "y ~ s(x) + (1 | g)",
}
CALLS = {
    "predict": lambda res, new, **how: res.predict(new, **how),
    "get_prediction": lambda res, new, **how: res.get_prediction(new, **how).summary_frame(),
    "posterior_predict": lambda res, new, **how: res.posterior_predict(new, draws=5, **how),
    "log_lik": lambda res, new, **how: res.log_lik(new, "y", draws=5, **how),
}


@cache
def table():
    rng = np.random.default_rng(8)
    g, h, x = rng.integers(1, 8, 160), rng.integers(1, 5, 160), rng.normal(size=160)
    y = x + rng.normal(size=8)[g] + 0.5 * rng.normal(size=5)[h] + rng.normal(size=160)
    return pd.DataFrame(dict(g=g, h=h, x=x, y=y))


@cache
def fitted(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sgmc.ols(FORMULAS[name], table(), seed=1, draws=40)


@pytest.mark.extended("nested-predict", "crossed-predict", "smooth-predict")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", FORMULAS)
def test_new_levels_are_warned_of_once_per_call(name, call):
    new = table().head(4).assign(g=[1, 98, 99, 98])
    with pytest.warns(NewLevelsWarning, match=r"2 new levels of g \(98, 99\)") as seen:
        CALLS[call](fitted(name), new)
    assert len(seen) == 1 and "np." not in str(seen[0].message)
    assert "new_levels='sample'" in seen[0].message.advice
    assert "random=False" in seen[0].message.advice and "no known one" not in str(seen[0].message)


@pytest.mark.parametrize("name", FORMULAS)
def test_nothing_is_said_of_levels_that_are_known_or_meant(name):
    new = table().head(4)
    fitted(name).predict(new)
    meant = fitted(name).predict(new.assign(g=98), new_levels="sample")
    with pytest.warns(NewLevelsWarning, match="and no known one"):
        assert np.array_equal(fitted(name).predict(new.assign(g=98)), meant)
    fitted(name).predict(new.assign(g=98), random=False)
    fitted(name).avg_predictions(data=new.assign(g=98))  # effects are zero there


@pytest.mark.parametrize("name", FORMULAS)
def test_labels_of_another_type_are_refused_with_the_cure(name):
    """Taken for new levels, they would give the population's means: 0.7 apart here."""
    new, res = table().head(4), fitted(name)
    with pytest.raises(DataError, match=r"'g' are of another type.* df\['g'\].astype\(int\)"):
        res.predict(new.astype({"g": str}))
    with pytest.raises(DataError, match="'g' are of another type"):
        res.predict(new.astype({"g": object}).assign(g=[1, "2", 3, 4]))
    for same in (float, "category", object, "Int64"):
        assert np.array_equal(res.predict(new.astype({"g": same})), res.predict(new))


@pytest.mark.parametrize("name", ["nested", "crossed"])
def test_labels_of_the_other_factor_too(name):
    with pytest.raises(DataError, match="labels of 'h' are of another type"):
        fitted(name).predict(table().head(4).astype({"h": str}))


def test_levels_of_ranef_draws_too():
    with pytest.raises(DataError, match="labels of 'g' are of another type"):
        fitted("one factor").ranef_draws("g", ["1"])
    with pytest.raises(DataError, match="labels of 'g' are of another type"):
        fitted("nested").ranef_draws("g:h", [("1", 1)])


@pytest.mark.parametrize("name", FORMULAS)
def test_rows_without_the_groups_are_told_of_random(name):
    with pytest.raises(FormulaError, match="no column 'g'.*random=False"):
        fitted(name).predict(table().head(2).drop(columns="g"))


@pytest.mark.parametrize("name", ["one factor", "smooth"])
def test_levels_asked_for_without_a_factor_are_refused_by_its_name(name):
    with pytest.raises(DataError, match="labels of 'g' are of another type"):
        fitted(name).ranef_draws(levels=["3"])
