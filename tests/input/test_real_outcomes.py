"""Real outcomes in any type and unit, and the parameters that their families have beside
coefficients.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ConditionWarning, DataError

from .cases import REAL, X
from .comparisons import assert_in_other_units, assert_same

of_reals = pytest.mark.parametrize("case", REAL[:1], ids=repr)


@pytest.fixture(scope="module")
def plain():
    """A fit of the plain arrays, by kind of model."""
    return {case: case.model(case.y, X).fit(seed=1) for case in REAL[:1]}


# ---- types and units -----------------------------------------------------------------------------


@pytest.mark.cover(0)
@of_reals
@pytest.mark.parametrize(
    "dtype", [np.int8, np.int64, np.float32, ">f4", ">i2", "Int8", "Float64", Decimal, bool]
)
def test_types_of_real_outcomes(case, dtype):
    whole = np.clip(np.rint(case.y), 0, 1) if dtype is bool else np.rint(case.y)
    outcome = [Decimal(v) for v in whole] if dtype is Decimal else pd.Series(whole).astype(dtype)
    assert_same(case.model(outcome, X).fit(seed=1), case.model(whole, X).fit(seed=1))
    assert_same(case.formula("y ~ x1", y=outcome), case.formula("y ~ x1", y=whole))


@pytest.mark.cover(0)
@of_reals
@pytest.mark.parametrize("scale", [1e-30, 1e-8, 1e8, 1e30])
def test_units_of_real_outcomes_do_not_matter(case, scale, plain):
    assert_in_other_units(case.model(case.y * scale, X).fit(seed=1), plain[case], scale)
    assert_in_other_units(case.formula("y ~ x1 + x2 + g", y=case.y * scale), case.results, scale)


@of_reals
def test_priors_in_given_units_are_seen_to_matter(case, plain):
    """Planted: a prior that does not follow the outcome's units."""
    fixed = case.model(case.y * 1e-8, X).fit(seed=1, prior={"*": sgmc.normal(0, 2.5)})
    with pytest.raises(AssertionError):
        assert_in_other_units(fixed, plain[case], 1e-8)


@of_reals
def test_real_outcomes_far_from_zero(case, plain):
    assert_in_other_units(case.model(case.y + 1e6, X).fit(seed=1), plain[case], of=slice(1, None))


@pytest.mark.cover(0)
@of_reals
@pytest.mark.parametrize("prior", [None, "flat"])
def test_outcomes_without_noise_are_warned_of(case, prior):
    """The density of sigma has no bound at zero but for the outcomes' rounding errors."""
    with pytest.warns(ConditionWarning, match="the predictors fit the outcomes exactly"):
        assert (
            np.abs(
                case.model(X @ [1, 2, 3], X).fit(seed=1, prior=prior).params[:3] - [1, 2, 3]
            ).max()
            < 1e-4
        )


# ---- auxiliary parameters ------------------------------------------------------------------------


@pytest.mark.extended
@of_reals
def test_columns_with_the_name_of_an_own_parameter(case):
    [own] = case.auxiliary
    frame = case.frame.rename(columns={"x1": own, "x2": f"{own}_"})
    found = case.verb(f"y ~ {own} + {own}_", frame, seed=1)
    assert found.names == ["Intercept", own, f"{own}_", f"{own}__"]
    assert_same(found, case.fit(seed=1))
    one = case.verb(f"y ~ {own}", frame, seed=1)
    assert one.names == ["Intercept", own, f"{own}_"] and one.model.exog_names == ["Intercept", own]
    assert_same(one, case.verb("y ~ x1", case.frame, seed=1))
    assert_same(
        one, case.model(case.y, frame.assign(Intercept=1.0)[["Intercept", own]]).fit(seed=1)
    )
    priors = {own: sgmc.normal(0, 0.1), f"{own}_": sgmc.exponential(scale=3.0)}
    used = case.verb(f"y ~ {own}", frame, seed=1, prior=priors).prior_summary().used
    assert used[own] == "normal(0, 0.1)" and used[f"{own}_"] == "exponential(scale=3)"
    assert one.hypothesis(f"{own}_ > {own}").prob == (one.flat[:, 2] > one.flat[:, 1]).mean()
    start = one.params
    assert_same(
        case.verb(f"y ~ {own}", frame, seed=1, init=start),
        case.verb("y ~ x1", case.frame, seed=1, init=start.to_numpy()),
    )
    assert one.conf_int(cols=f"{own}_").shape == (1, 2)
    np.testing.assert_allclose(one.predict(frame), one.predict(), rtol=1e-9)


@of_reals
@pytest.mark.filterwarnings(
    "ignore::sgmc.errors.LowESSWarning",
    "ignore::sgmc.errors.ConvergenceWarning",
    "ignore::sgmc.errors.StepSizeWarning",
)
def test_starts_of_own_parameters_are_on_their_scale(case):
    """With tiny steps chains stay where they began."""
    start = [0.3, 0.5, -0.7, 2.0]
    far = case.fit(seed=1, init=start, sampler="mala", warmup=0, draws=500, step_size=1e-12)
    np.testing.assert_allclose(far.draws, np.broadcast_to(start, (4, 500, 4)), rtol=1e-3)


@pytest.mark.parametrize("verb", ["ols", "rlm", "quantreg"])
def test_an_offset_that_is_the_outcome_leaves_nothing_to_explain(verb):
    frame = pd.DataFrame({"y": np.arange(30.0), "g": list("abc") * 10})
    with pytest.raises(DataError, match="the outcome 'y' less the offset is 0 in every row used"):
        getattr(sgmc, verb)("y ~ g", frame, offset=frame.y.to_numpy(), seed=1)
