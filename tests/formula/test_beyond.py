"""Terms of other packages: one sentence says what is not there, and what is near."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import FormulaError

FRAME = pd.DataFrame({"y": np.arange(6.0), "x": np.arange(6.0), "g": list("aabbcc")})


@pytest.mark.parametrize(
    "term, says",
    [
        ("hsgp(x)", r"Gaussian processes, and spatial effects .* car\(region, graph\)"),
        ("Matern(x, g)", "Gaussian processes, and spatial effects"),
        ("spatial(x)", "Gaussian processes, and spatial effects"),
        ("icar(x)", "Gaussian processes, and spatial effects"),
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


def test_functions_of_the_user_go_first():
    def spatial(x):
        return x**2

    model = sgmc.OLS.from_formula("y ~ spatial(x)", FRAME)
    assert model.exog_names == ["Intercept", "spatial(x)"]
