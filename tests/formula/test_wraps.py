"""Whole numbers of expressions that would leave int64: an error, never a wrong design."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import FormulaError
from sgmc.formula import read
from sgmc.formula.data import chunks

RNG = np.random.default_rng(0)
N = 40
FRAME = pd.DataFrame(
    {
        "y": RNG.normal(size=N),
        "x": RNG.integers(4_000_000_000, 5_000_000_000, N),
        "i32": RNG.integers(2_000_000_000, 2_100_000_000, N).astype(np.int32),
        "u8": RNG.integers(250, 256, N).astype(np.uint8),
        "small": RNG.integers(-3, 9, N),
        "t0": 1_700_000_000_000_000_000 + RNG.integers(0, 10**9, N),
        "t1": 1_700_000_000_000_000_000 - RNG.integers(0, 10**9, N),
        "none": pd.array(RNG.integers(4_000_000_000, 5_000_000_000, N), dtype="Int64"),
        "g": np.tile(["a", "b"], N // 2),
        "b": np.tile([True, False], N // 2),
    }
)
WRAPS = [
    "I(x**2)", "I(x * x)", "I(i32**3)", "I(i32 * i32 * i32)", "I(u8**8)", "I(none**2)",
    "I(t0 * 6)", "I(t0 + t0 + t0 + t0 + t0 + t0)", "I(-t0 - t0 * 5)", "np.square(x)",
    "np.power(x, 2)", "np.multiply(x, x)", "abs(x * x)", "np.log(x * x)", "I((x * x) // x)",
    "I(x * x / 1e6)", "poly(x * x, 2)", "C(x * x > 5)", "np.where(b, x * x, 0)", "I(2**u8)",
    "g:I(x**2)", "offset(x * x) + small", "center(x**2)",
]  # fmt: skip
FITS = [
    "I(i32**2)", "I(u8**7)", "I(t0 - t1)", "I(t0 * 5)", "I(small**20)", "I(small * small)",
    "I((0 * x + 1)**100)", "I(x - i32)", "I(-x)", "I(0 - u8)", "x:i32", "I(1.0 * x * x)",
    "I(x**2.0)", "I(x / 2)", "I(b * x)", "I((x - 4500000000)**2)", "I(small**0)", "np.log(x)",
    "I(x // 7 % 5)", "I(x & 3)", "C(small)",
]  # fmt: skip


def design(formula, frame=FRAME):
    """The design of a formula."""
    table = read(formula, frame, outcome="numeric", scope={})
    out = np.empty((len(table.y), len(table.spec.exog_names)))
    table.fill(out)
    return out


@pytest.mark.parametrize("term", WRAPS)
def test_numbers_that_leave_the_range_are_refused(term):
    with pytest.raises(FormulaError, match=r"leave the range of 64 bits.*1\.0 \* \w+ in the place"):
        design(f"y ~ {term}")


def test_without_the_check_the_design_is_wrong(monkeypatch):
    """The planted mistake: what the check is for."""
    right = design("y ~ I((1.0 * x)**2)")
    monkeypatch.setattr(chunks, "refuse_int_overflow", lambda *_: None)
    assert not np.allclose(design("y ~ I(x**2)"), right)


@pytest.mark.parametrize("term", FITS)
def test_numbers_that_fit_are_as_they_were(term, monkeypatch):
    found = design(f"y ~ {term}")
    monkeypatch.setattr(chunks, "refuse_int_overflow", lambda *_: None)
    assert (found == design(f"y ~ {term}")).all()


def test_exact_whole_numbers_are_kept():
    """Differences of nanoseconds since 1970 have no digits left in float64."""
    exact = (FRAME["t0"] - FRAME["t1"]).to_numpy()
    assert (design("y ~ I(t0 - t1)")[:, 1] == exact).all()
    assert ((FRAME["t0"].astype(float) - FRAME["t1"].astype(float)) != exact).any()


@pytest.mark.parametrize("term", ["I(x**-1)", "I(small**-2)", "I(2**small)"])
def test_negative_powers_name_the_cure(term):
    with pytest.raises(FormulaError, match=r"negative.*powers.*x \*\* -1\.0"):
        design(f"y ~ {term}")


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_responses_and_new_rows_are_looked_at():
    with pytest.raises(FormulaError, match=r"'x \* x'.*leave the range"):
        design("x * x ~ small")
    fit = sgmc.ols("y ~ I(i32**2)", FRAME, sampler="laplace", draws=20, chains=1, seed=1)
    later = FRAME.assign(i32=FRAME["x"])
    with pytest.raises(FormulaError, match=r"'I\(i32 \*\* 2\)'.*the column 'i32' as floats"):
        fit.predict(later)
