"""Strata of a column."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import (
    ArgumentError,
    DataError,
)

from .cases import FRAME, N, fit

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


# ---- strata --------------------------------------------------------------------------------------


@pytest.mark.extended
@pytest.mark.parametrize(
    "strata, groups",
    [("g", 3), (FRAME.g.to_numpy(), 3), (FRAME.g == "v", 2), ("b", 8), (np.arange(N) % 20, 20)],
    ids=["column", "labels", "bool", "numbers", "twenty"],
)
def test_strata_are_the_rows_with_a_label(strata, groups):
    done = fit(subsample="stratified", strata=strata)._fit
    (shared,) = done.problem.workspace.shared.values()
    labels = FRAME[strata] if isinstance(strata, str) else pd.Series(strata)
    assert len(shared.groups) == groups
    of = [labels.to_numpy()[done.problem.table.order[rows]] for rows in shared.groups]
    if groups == 8:  # of numbers with more than 32 values: ranges
        assert all(a.max() < b.min() for a, b in zip(of, of[1:]))
    else:
        assert [len(set(rows)) for rows in of] == [1] * groups


@pytest.mark.extended
def test_strata_change_the_noise_but_not_the_posterior():
    """The outcome's levels leave most of the noise of a;
    its own quantiles take it off the gradient of a.
    """
    by_outcome, by_a = (
        fit("lmsgld-simple", subsample="stratified", draws=800, **how)
        for how in (dict(), dict(strata="a"))
    )
    assert "a" in by_a.names
    scale = np.hypot(by_outcome.mcse(), by_a.mcse())
    # 1e-5 under normality, for 5 means
    assert (np.abs(by_outcome.params - by_a.params) < 4.5 * scale).all()
    assert not np.array_equal(by_a.draws, by_outcome.draws)


def test_a_checkpoint_belongs_to_its_strata(tmp_path):
    how = dict(
        sampler="sgld-simple",
        subsample="stratified",
        batch_size=100,
        step_size=0.01,
        draws=20,
        checkpoint=tmp_path / "run",
    )
    fit(**how, strata="g")
    with pytest.raises(ArgumentError, match="was made from other data"):
        fit(**how, strata=FRAME.g[::-1].to_numpy())


def test_strata_that_cannot_be_are_refused():
    many = FRAME.index.astype(str)
    for strata, message in (
        (many, "strata has 2000 levels; at most 32: join some of them"),
        ("gg", "strata='gg' is not a column of the data; did you mean 'g'"),
        (np.ones(3), "strata has 3 values, the data have 2000 rows"),
        (np.ones((N, 2)), "strata must be a column name or one value a row"),
    ):
        with pytest.raises(DataError, match=message):
            fit(subsample="stratified", strata=strata)
    with pytest.raises(ArgumentError, match="batch_size=2 is less than the 3 strata"):
        fit(subsample="stratified", strata="g", batch_size=2)
    gaps = FRAME.assign(g=FRAME.g.where(FRAME.a < 2))
    short = sgmc.logit(
        "y ~ a", gaps, subsample="stratified", strata="g", sampler="sgld", draws=10, seed=1
    )
    assert short.nobs == gaps.g.notna().sum()
    with pytest.raises(DataError, match="'?strata"):
        sgmc.logit("y ~ a", gaps, subsample="stratified", strata="g", missing="raise")


@pytest.mark.extended
def test_strata_of_models_from_arrays_are_those_of_formulas():
    X = np.column_stack([np.ones(N), FRAME.a])
    how = dict(sampler="sgld-simple", subsample="stratified", draws=50, seed=2)
    one = sgmc.Logit(FRAME.y, X, names=["Intercept", "a"], strata=FRAME.g).fit(**how)
    np.testing.assert_array_equal(one.draws, sgmc.logit("y ~ a", FRAME, strata="g", **how).draws)
    with pytest.raises(DataError, match="strata has missing or infinite values"):
        sgmc.Logit(FRAME.y, X, strata=FRAME.g.where(FRAME.a < 2))
    with pytest.raises(DataError, match="endog and strata have different indices"):
        sgmc.Logit(FRAME.y, FRAME[["a"]], strata=FRAME.g.iloc[::-1])
