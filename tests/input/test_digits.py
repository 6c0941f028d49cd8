"""Columns far from zero: float32 keeps digits of what is centred, and what float64 itself cannot
hold is said.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ConditionWarning, DataError

# fits by Laplace's approximation of few draws, for a look at means
pytestmark = pytest.mark.filterwarnings(
    "ignore::sgmc.errors.LowESSWarning", "ignore::sgmc.errors.GroupsWarning"
)

N = 1500
SETTINGS = {"seed": 1, "sampler": "laplace", "draws": 100}


@pytest.fixture(scope="module")
def frame():
    """A column at 1e7 with sd 1, outcomes and weights."""
    rng = np.random.default_rng(0)
    apart = rng.normal(size=N)
    return pd.DataFrame(
        {
            "x": 1e7 + apart,
            "y": 2 * apart + rng.normal(size=N),
            "b": (rng.random(N) < 1 / (1 + np.exp(-apart))).astype(int),
            "t": np.exp(apart + rng.normal(size=N)),
            "n": rng.poisson(np.exp(0.5 * apart)),
            "w": rng.integers(0, 4, N).astype(float),
            "g": [f"g{k:02d}" for k in rng.integers(0, 40, N)],
        }
    )


def arrays(frame, dtype, wanted):
    """A fit of arrays."""
    X = np.column_stack([np.ones(N), frame.x]).astype(dtype)
    return sgmc.OLS(frame.y, X, names=["Intercept", "x"]).fit(dtype=wanted, **SETTINGS)


def of_file(frame, dtype, tmp_path, prepared):
    """A fit of a file, or of a table prepared of it."""
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    source = str(path)
    if prepared:
        source = sgmc.prepare("y ~ x", source, str(tmp_path / f"{dtype}.sgmc"), dtype=dtype)
    return sgmc.ols("y ~ x", source, dtype=dtype, **SETTINGS)


WAYS = {
    "frame": lambda d, dtype, _: sgmc.ols("y ~ x", d, dtype=dtype, **SETTINGS),
    "weights": lambda d, dtype, _: sgmc.ols("y ~ x", d, weights="w", dtype=dtype, **SETTINGS),
    "logit": lambda d, dtype, _: sgmc.logit("b ~ x", d, dtype=dtype, **SETTINGS),
    "survreg": lambda d, dtype, _: sgmc.survreg("t ~ x", d, dtype=dtype, **SETTINGS),
    "coded": lambda d, dtype, _: sgmc.ols("y ~ x + g", d, dtype=dtype, **SETTINGS),
    "groups": lambda d, dtype, _: sgmc.ols("y ~ x + (1|g)", d, dtype=dtype, **SETTINGS),
    "two parts": lambda d, dtype, _: sgmc.zeroinflated("n ~ x | x", d, dtype=dtype, **SETTINGS),
    "arrays": lambda d, dtype, _: arrays(d, np.float64, dtype),
    "file": lambda d, dtype, tmp: of_file(d, dtype, tmp, False),
    "prepared": lambda d, dtype, tmp: of_file(d, dtype, tmp, True),
    "diag": lambda d, dtype, _: sgmc.ols(
        "y ~ x", d, dtype=dtype, seed=1, precondition="diag", sampler="mala", draws=100
    ),
}


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("way", WAYS)
def test_float32_rounds_what_is_centred(frame, way, tmp_path):
    """The same seed: draws differ by rounding errors alone, 6e-8 of centred numbers; those that
    were rounded to whole numbers moved the slope by 5 sds.
    """
    full, short = (WAYS[way](frame, dtype, tmp_path) for dtype in ("float64", "float32"))
    name = next(one for one in full.params.index if one == "x")
    # of few draws, where one of the two chains accepts what the other rejects they part
    near = {"diag": 0.02, "two parts": 0.02, "groups": 0.02, "coded": 0.2}.get(way, 1e-3)
    assert abs(full.params[name] - short.params[name]) < near * full.bse[name]
    assert short.bse[name] == pytest.approx(full.bse[name], rel=0.02)
    assert not any("digits" in str(one) for one in short.warnings)


@pytest.mark.extended
def test_an_origin_of_the_first_rows_is_not_all_that_is_taken_off():
    """A column with a trend over more rows than a chunk has: means of all rows are taken off."""
    rng = np.random.default_rng(3)
    n = 20_000
    x = 1e6 + np.arange(n) / n * 100
    y = 0.5 * (x - 1e6) + rng.normal(size=n)
    full, short = (
        sgmc.ols("y ~ x", {"x": x, "y": y}, dtype=dtype, **SETTINGS)
        for dtype in ("float64", "float32")
    )
    assert abs(full.params["x"] - short.params["x"]) < 0.01 * full.bse["x"]


@pytest.mark.parametrize(
    "given",
    [{"precondition": None, "sampler": "mala", "step_size": 1e-3}, {"formula": "y ~ x - 1"}],
)
def test_columns_that_are_not_centred_are_refused_in_float32(frame, given):
    settings = {"formula": "y ~ x", **SETTINGS, **given}
    with pytest.raises(DataError, match=r"dtype='float32' rounds column 'x', whose mean is 1e\+07"):
        sgmc.ols(data=frame, dtype="float32", **settings)


FAR = {
    "ols": lambda d, dtype: sgmc.ols("far ~ x", d, dtype=dtype, **SETTINGS),
    "smooth": lambda d, dtype: sgmc.ols("far ~ s(x)", d, dtype=dtype, **SETTINGS),
    "se": lambda d, dtype: sgmc.ols("far ~ x", d, se="t", dtype=dtype, **SETTINGS),
    "rlm": lambda d, dtype: sgmc.rlm("far ~ x", d, dtype=dtype, **SETTINGS),
    "quantreg": lambda d, dtype: sgmc.quantreg("far ~ x", d, dtype=dtype, **SETTINGS),
    "censored": lambda d, dtype: sgmc.ols("cens(far, c) ~ x", d, dtype=dtype, **SETTINGS),
    "sigma": lambda d, dtype: sgmc.ols("far ~ x", d, sigma="~ x", dtype=dtype, **SETTINGS),
    "log link": lambda d, dtype: sgmc.gamma("far ~ x", d, dtype=dtype, **SETTINGS),
    "offset": lambda d, dtype: sgmc.ols("t ~ x", d, offset="far", dtype=dtype, **SETTINGS),
}


@pytest.mark.parametrize("way", FAR)
def test_outcomes_far_from_zero_are_refused_in_float32(frame, way):
    """Linear predictors near 1e8 are multiples of 8 in float32: slopes were 20 sds off."""
    far = frame.assign(far=1e8 + frame.y, c=np.where(frame.b == 1, "right", "none"))
    with pytest.raises(DataError, match=r"dtype='float32' rounds the outcome .*'float64'"):
        FAR[way](far, "float32")


def test_what_brings_outcomes_near_zero_makes_float32_enough(frame):
    far = frame.assign(far=1e8 + frame.y, level=1e8)
    full, short = (
        sgmc.ols("far ~ x", far, offset="level", dtype=dtype, **SETTINGS)
        for dtype in ("float64", "float32")
    )
    assert abs(full.params["x"] - short.params["x"]) < 1e-3 * full.bse["x"]


def test_a_prepared_table_of_float32_refuses_far_outcomes(frame, tmp_path):
    far = frame.assign(y=1e8 + frame.y)
    for dtype in ("float64", "float32"):
        table = sgmc.prepare("y ~ x", far, str(tmp_path / f"{dtype}.sgmc"), dtype=dtype)
        if dtype == "float64":
            assert abs(sgmc.ols("y ~ x", table, **SETTINGS).params["x"] - 2) < 0.2
            continue
        with pytest.raises(DataError, match=r"dtype='float32' rounds the outcome 'y'"):
            sgmc.ols("y ~ x", table, **SETTINGS)


def test_overflow_in_float32_is_named(frame):
    X = np.column_stack([np.ones(N), frame.x])
    X[7, 1] = 1e39
    with pytest.raises(DataError, match="column 'x', row 7"):
        sgmc.OLS(frame.y, X, names=["Intercept", "x"]).fit(dtype="float32", **SETTINGS)


def test_arrays_of_float32_are_what_they_are(frame):
    with pytest.warns(
        ConditionWarning, match="column 'x' has numbers near 1e.07 .* float32 keeps 0"
    ):
        arrays(frame, np.float32, "float32")


def test_time_stamps_in_nanoseconds(frame):
    """Seconds apart: 7 digits are left, and the slope is that of seconds.  100 nanoseconds apart:
    256 is the distance of float64 numbers there.
    """
    count = np.arange(float(N))
    y = 0.5 * count + frame.y
    far = sgmc.ols("y ~ x", {"x": 1.7e18 + 1e9 * count, "y": y}, **SETTINGS)
    near = sgmc.ols("y ~ x", {"x": count, "y": y}, **SETTINGS)
    assert abs(1e9 * far.params["x"] - near.params["x"]) < 0.01 * near.bse["x"]
    assert not any("digits" in str(one) for one in far.warnings)
    with pytest.warns(ConditionWarning, match=r"column 'x' .* 1.7e\+18 .* float64 keeps 2 digits"):
        sgmc.ols("y ~ x", {"x": 1.7e18 + 100 * count, "y": y}, **SETTINGS)
    with pytest.warns(ConditionWarning, match="float64 keeps 2 digits"):
        sgmc.ols("y ~ x + (1|g)", {"x": 1.7e18 + 100 * count, "y": y, "g": frame.g}, **SETTINGS)
