"""Weights and offsets."""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.errors import WeightsWarning

from .cases import departure, expected, outcomes, table, with_ones

# ---- weights and offset --------------------------------------------------------------------------

OWN = {"Intercept": sgmc.normal(0, 2), "x": sgmc.normal(0, 2)}


THEIRS = [stats.norm(0, 2), stats.norm(0, 2)]


@pytest.mark.extended
@pytest.mark.parametrize("sampler", ["auto", "lmsgld", "sgld"])
def test_weights_are_repeated_rows(sampler):
    df = table(120).assign(w=lambda t: 1 + 4 * t.y)
    X, y = with_ones(df.x), df.y.to_numpy()
    many = np.repeat(np.arange(len(df)), df.w)
    reference, ignored = expected(X[many], y[many], THEIRS), expected(X, y, THEIRS)
    results = sgmc.logit("y ~ x", df, weights="w", prior=OWN, sampler=sampler, seed=1)
    repeated = sgmc.logit("y ~ x", df.iloc[many].reset_index(), prior=OWN, sampler=sampler, seed=1)
    assert departure(results, reference) < 1 < departure(results, ignored)
    assert departure(repeated, reference) < 1


def test_weight_zero_leaves_rows_out():
    df = table(120).assign(w=lambda t: (np.arange(len(t)) % 3 > 0).astype(float))
    some = df[df.w > 0]
    reference = expected(with_ones(some.x), some.y.to_numpy(), THEIRS)
    assert (
        departure(sgmc.logit("y ~ x", df, weights="w", prior=OWN, draws=2000, seed=1), reference)
        < 1
    )


def test_weights_that_count_for_far_fewer_rows_are_named():
    """Weights of least squares, of any unit: they widened intervals sevenfold without a word."""
    df = table(120).assign(w=lambda t: 0.02 + 0.01 * t.y)
    for fit in (
        lambda: sgmc.ols("y ~ x", df, weights="w", seed=1),
        lambda: sgmc.OLS(df.y, with_ones(df.x), weights=df.w).fit(seed=1),
    ):
        with pytest.warns(
            WeightsWarning, match=r"sum to 2.8 in 120 rows.* w / w.mean\(\)"
        ) as found:
            results = fit()
        assert [one.category for one in found].count(WeightsWarning) == 1
        assert "WeightsWarning" in str(results.summary())


@pytest.mark.parametrize("weight", [0.5, 1.0, "a few rows"])
def test_weights_that_count_for_enough(weight):
    df = table(120)
    w = (np.arange(120) % 5 == 0).astype(float) if weight == "a few rows" else np.full(120, weight)
    assert sgmc.ols("y ~ x", df, weights=w, seed=1, draws=500).nobs == w.sum()


@pytest.mark.cover(0)
@pytest.mark.parametrize("sampler", ["auto", "lmsgld", "sgld"])
def test_offset(sampler):
    df = table(120, (-1.0, 0.9)).assign(o=lambda t: np.where(t.index % 2, 2.0, -1.0))
    df["y"] = outcomes(-0.4 + 0.9 * df.x + df.o, 8)
    X, y = with_ones(df.x), df.y.to_numpy()
    results = sgmc.logit("y ~ x", df, offset="o", prior=OWN, sampler=sampler, seed=1)
    assert (
        departure(results, expected(X, y, THEIRS, offset=df.o.to_numpy()))
        < 1
        < departure(results, expected(X, y, THEIRS))
    )
    arrays = sgmc.Logit(y, X, offset=df.o, names=["Intercept", "x"]).fit(
        prior=OWN, sampler=sampler, seed=1
    )
    np.testing.assert_allclose(arrays.params, results.params, rtol=1e-10)
