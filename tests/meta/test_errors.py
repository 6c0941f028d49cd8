"""What cannot be a standard error, or stand beside one, is said before anything is computed."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported

from .studies import SCHOOLS

FORMULA = "effect ~ 1 + (1 | study)"


def fit(**how):
    return sgmc.ols(FORMULA, SCHOOLS, **{"se": "se", "seed": 1, "draws": 100, **how})


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, 1e-200, 1e200])
def test_errors_are_positive_and_finite(value):
    wrong = SCHOOLS.assign(se=SCHOOLS.se.where(SCHOOLS.study != "C", value))
    with pytest.raises(DataError, match="se must hold standard errors, positive and finite"):
        sgmc.ols(FORMULA, wrong, se="se")
    with pytest.raises(DataError, match="^se"):
        sgmc.OLS(SCHOOLS.effect, np.ones((8, 1)), se=wrong.se)


def test_errors_are_as_long_as_the_data_and_aligned():
    with pytest.raises(DataError, match="se"):
        fit(se=[1.0, 2.0])
    with pytest.raises(DataError, match="data and se have different indices"):
        fit(se=pd.Series(SCHOOLS.se.to_numpy(), index=list("abcdefgh")))
    with pytest.raises(DataError, match="se='sd' is not a column"):
        fit(se="sd")


def test_missing_errors_are_named():
    gaps = SCHOOLS.assign(se=SCHOOLS.se.where(SCHOOLS.study != "C"))
    with pytest.raises(DataError, match="se"):
        sgmc.ols(FORMULA, gaps, se="se", missing="raise")
    model = sgmc.OLS.from_formula("effect ~ 1", gaps, se="se")
    assert model.data.n == 7 and model.data.dropped == 1


@pytest.mark.parametrize(
    "given, error, says",
    [
        ({"weights": np.ones(8)}, ArgumentError, "weights beside se: .* leave weights out"),
        ({"sigma": 1.0}, ArgumentError, "sigma beside se"),
        ({"prior": {"sigma": sgmc.exponential()}}, ArgumentError, "there is no sigma"),
        ({"cov_type": "robust"}, NotSupported, "cov_type='robust' beside se"),
    ],
)
def test_what_cannot_stand_beside_errors(given, error, says):
    with pytest.raises(error, match=says):
        fit(**given)


@pytest.mark.parametrize("verb", [sgmc.rlm, sgmc.logit, sgmc.poisson])
def test_other_families_refuse_errors(verb):
    with pytest.raises(ArgumentError, match="se does not apply to .*use sgmc.ols"):
        verb(FORMULA, SCHOOLS, se="se")


def test_a_log_link_refuses_errors():
    with pytest.raises(ArgumentError, match="se does not apply"):
        sgmc.glm("effect ~ 1", SCHOOLS, family="gaussian", link="log", se="se")


def test_arrays_and_generalised_models_take_errors():
    arrays = sgmc.OLS(SCHOOLS.effect, np.ones((8, 1)), se=SCHOOLS.se).fit(seed=1, draws=200)
    general = sgmc.glm("effect ~ 1", SCHOOLS, family="gaussian", se="se", seed=1, draws=200)
    assert list(arrays.names) == ["const"] and list(general.names) == ["Intercept"]
    assert arrays.params.iloc[0] == pytest.approx(general.params.iloc[0], abs=1e-9)
