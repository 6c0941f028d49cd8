"""Terms of other packages: one sentence says what is not there, and what is near."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import FormulaError, PowerWarning

FRAME = pd.DataFrame({"y": np.arange(6.0), "x": np.arange(6.0), "g": list("aabbcc")})


@pytest.mark.parametrize(
    "term, says",
    [
        ("hsgp(x)", r"use gp\(x\), a Gaussian process"),
        ("Matern(x, g)", r"covariances .* are not part .* use gp\(x\)"),
        ("spatial(x)", r"spatial effects .* are not part .* car\(region, graph\)"),
        ("icar(x)", r"spatial effects .* are not part .* car\(region, graph\)"),
        ("s(x):g", r"for a curve of each level write 'g \+ s\(x, by=g\)'"),
        ("g:s(x)", r"for a curve of each level write 'g \+ s\(x, by=g\)'"),
        ("g*s(x)", r"for a curve of each level write 'g \+ s\(x, by=g\)'"),
        ("s(x, 5)", r"2 are given: write k=5 for its size"),
        ("s(x):log(x)", r"write '\.\.\. \+ s\(x\)'"),
        ("me(x, 1)", "errors of measured predictors are not part"),
        ("i(g)", r"write C\(x\)"),
        ("EntityEffects", r"write C\(g\), or \(1 \| g\), of the column g of units"),
        ("ar(x)", r"temporal effects .* \(1 \| period\), or a smooth s\(x\) of time"),
        ("ar1(x + 0 | g)", r"for each level of a factor is ar1\(t, by=g\)"),
        ("f(x, model='iid')", r"INLA's f\(\).* write \(1 \| g\)"),
        ("I(offset(x))", "can only be added"),
        ("cbind(x, x)", "it is a response alone"),
        ("se(x)", "use the argument se= of sgmc.ols"),
    ],
)
def test_what_is_near_is_named(term, says):
    with pytest.raises(FormulaError, match=says):
        sgmc.ols(f"y ~ x + {term}", FRAME)


@pytest.mark.parametrize(
    "response, says",
    [
        ("x | trials(y)", r"write the counts, cbind\(k, n - k\)"),
        ("x | rate(y)", "use the argument exposure="),
        ("x | weights(y)", "use the argument weights="),
        ("mvbind(x, y)", "fit each by itself"),
    ],
)
def test_words_of_brms_left_of_the_tilde(response, says):
    with pytest.raises(FormulaError, match=says):
        sgmc.ols(f"{response} ~ x", FRAME)


def test_curves_of_levels_are_what_the_message_writes():
    rows = pd.DataFrame({"x": np.tile(np.linspace(0, 1, 30), 2), "g": list("ab") * 30})
    model = sgmc.OLS.from_formula("y ~ g + s(x, by=g)", rows.assign(y=rows.x**2))
    assert {"Intercept", "g[T.b]"} <= {*model.exog_names}


@pytest.mark.parametrize(
    "formula, square",
    [
        ("y ~ x^2", "I(x**2)"),
        ("y ~ x + x**2", "I(x**2)"),
        ("y ~ np.exp(x)**2 + g", "I(np.exp(x)**2)"),
        ("y ~ g * x^3", "I(x**2)"),
        ("y ~ (x + g)^2", None),
        ("y ~ .^2", None),
        ("y ~ x + I(x^2)", None),
        ("y ~ x + np.power(x, 2) + I((x + 1)**2)", None),
    ],
)
def test_a_power_of_one_column_is_told_of_once(formula, square):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sgmc.OLS.from_formula(formula, FRAME)
    told = [str(one.message) for one in caught if one.category is PowerWarning]
    assert len(told) == (square is not None)
    if square is not None:
        assert "the column itself, as in R." in told[0] and f"Write {square} for the" in told[0]
        assert model.exog_names[-1] in ("x", "np.exp(x)", "g[T.c]:x")


def test_the_power_in_a_prepared_file(tmp_path):
    with pytest.warns(PowerWarning):
        sgmc.prepare("y ~ x^2", FRAME, tmp_path / "t.sgmc")
    rows = FRAME.assign(y=[0.0, 3, 1, 2, 5, 4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of six rows
        file = sgmc.prepare("y ~ x^2", rows, tmp_path / "u.sgmc")
        fit = sgmc.ols("y ~ x^2", file, seed=1, draws=50)
    assert PowerWarning in map(type, fit.warnings)


@pytest.mark.parametrize("names", ["g", ["g", "x"]])
def test_names_of_the_index(names):
    with pytest.raises(FormulaError, match=r"'g' is in the index: give df.reset_index\(\)"):
        sgmc.ols("y ~ 1 + (1 | g)", FRAME.set_index(names))
    with pytest.raises(FormulaError) as caught:
        sgmc.ols("y ~ nonsense", FRAME.set_index(names))
    assert "index" not in str(caught.value)


def test_functions_of_the_user_go_first():
    def spatial(x):
        return x**2

    model = sgmc.OLS.from_formula("y ~ spatial(x)", FRAME)
    assert model.exog_names == ["Intercept", "spatial(x)"]
