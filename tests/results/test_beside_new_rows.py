"""Exposures of new rows by name, time ratios, and rows without trials in leave-one-out."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

FEW = dict(seed=1, draws=100, progress=False)


def frame():
    """Counts of exposures, successes of trials of which some are 0, times, in groups."""
    rng = np.random.default_rng(6)
    x, n, trials = rng.normal(size=150), rng.poisson(3, 150) + 1.0, rng.integers(0, 5, 150)
    df = pd.DataFrame({"x": x, "n": n, "trials": trials, "g": np.arange(150) % 10})
    df = df.assign(count=rng.poisson(n * np.exp(0.3 * x)), won=rng.binomial(trials, 0.4))
    return df.assign(time=rng.exponential(np.exp(0.5 * x)), seen=rng.random(150) < 0.7)


def test_exposures_are_columns_or_numbers_and_named_in_messages():
    df = frame()
    res = sgmc.poisson("count ~ x", df, exposure="n", **FEW)
    new = df.head(3)
    by_numbers = res.predict(new, exposure=new.n)
    pd.testing.assert_series_equal(res.predict(new, exposure="n"), by_numbers)
    with pytest.raises(ArgumentError, match="exposure='nn' is not a column of the new data"):
        res.predict(new, exposure="nn")
    with pytest.raises(DataError, match="exposure has 2 values, the new data have 3 rows"):
        res.predict(new, exposure=[1, 2])
    with pytest.raises(ArgumentError, match="exposure belongs to new rows: give exog too"):
        res.predict(exposure=2)


def test_exponentiated_coefficients_of_survival_times_are_time_ratios():
    res = sgmc.survreg("Surv(time, seen) ~ x", frame(), **FEW)
    table = res.summary_frame(exponentiate=True)
    median = np.median(res.flat[:, res.names.index("x")])
    # quantiles of chains together, whose interpolation is the only difference
    assert table.loc["x", "time ratio"] == pytest.approx(np.exp(median), rel=1e-6)
    assert "time ratio" in str(res.summary(exponentiate=True))


@pytest.mark.parametrize("groups", ["", " + (1 | g)"])
def test_rows_without_trials_decide_nothing(groups):
    df = frame()
    res = sgmc.logit(f"cbind(won, trials - won) ~ x{groups}", df, **FEW)
    none = (df.trials == 0).to_numpy()
    loo = res.loo()
    assert none.sum() > 20
    assert (loo.pareto_k[none] == 0).all()
    # log densities of no outcome are 0, to the rounding of integrals over groups
    np.testing.assert_allclose(loo.elpd_i[none], 0, atol=1e-8)


def test_effects_of_imputed_data_name_what_to_give():
    df = frame()
    res = sgmc.poisson("count ~ x", [df, df.assign(x=df.x + 0.1)], **FEW)
    with pytest.raises(
        ArgumentError, match="several imputed data sets has rows in each: give data="
    ):
        res.avg_comparisons()
    assert len(res.avg_comparisons(data=df)) == 1
