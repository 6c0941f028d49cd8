"""Columns and offsets whose squares leave the range of float64 are refused by name: curvatures are
made of squares.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
RNG = np.random.default_rng(4)
N = 90
FRAME = pd.DataFrame({"x": RNG.normal(size=N), "z": RNG.normal(size=N), "g": RNG.integers(0, 9, N)})
FRAME["v"] = FRAME.x + RNG.normal(size=N)
FRAME["y"] = (FRAME.v > 0).astype(int)
FRAME["big"], FRAME["tiny"] = 1e300 * FRAME.x, 1e-300 * FRAME.x
FEW = dict(draws=20, chains=1, seed=1)
REFUSED = {
    "v ~ big": "column 'big' has numbers so large that their squares overflow: rescale it",
    "v ~ big:z": "column 'big:z' has numbers so large",
    "y ~ z + I(x * 1e300)": r"column 'I\(x \* 1e300\)' has numbers so large",
    "v ~ I(x * 1e160)": r"column 'I\(x \* 1e160\)' has numbers so large",
    "y ~ s(big)": "column 'big' has numbers so large",
    "v ~ z + tiny": "column 'tiny' has numbers that differ so little",
    "v ~ I(x * 1e-160)": "has numbers that differ so little",
    "v ~ x + offset(big)": r"offsets go up to .*e\+300: their squares overflow; rescale them",
}


@pytest.mark.parametrize("formula", REFUSED)
def test_formulas(formula):
    verb = sgmc.ols if formula[0] == "v" else sgmc.logit
    with np.errstate(all="ignore"), pytest.raises(DataError, match=REFUSED[formula]):
        verb(formula, FRAME, **FEW)


@pytest.mark.parametrize("scale, told", [(1e300, "so large"), (1e-300, "so little")])
def test_arrays(scale, told):
    X = np.column_stack([np.ones(N), scale * FRAME.x])
    with np.errstate(all="ignore"), pytest.raises(DataError, match=f"column 'x2' has .* {told}"):
        sgmc.OLS(FRAME.v, X).fit(**FEW)


def test_units_within_the_range_change_nothing_but_units():
    """Slopes in their units agree."""
    right = sgmc.ols("v ~ x", FRAME, seed=1).params["x"]
    for scale in (1e-100, 1e100):
        found = sgmc.ols("v ~ w", FRAME.assign(w=scale * FRAME.x), seed=1).params["w"]
        assert found * scale == pytest.approx(right, rel=1e-6)
