"""Families of counts: exposures, offsets, large counts."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import sgmc
from sgmc.errors import ArgumentError, DataError

from .tables import COUNTS


def test_an_exposure_is_the_offset_of_its_log():
    how = dict(seed=1, draws=200)
    one = sgmc.poisson("y ~ x", COUNTS, exposure="e", offset="o", **how)
    two = sgmc.poisson("y ~ x", COUNTS, offset=np.log(COUNTS.e) + COUNTS.o, **how)
    arrays = sgmc.Poisson(
        COUNTS.y, sm.add_constant(COUNTS[["x"]]), exposure=COUNTS.e, offset=COUNTS.o
    ).fit(**how)
    np.testing.assert_array_equal(one.draws, two.draws)
    np.testing.assert_array_equal(one.draws, arrays.draws)
    new = COUNTS.iloc[:7]
    np.testing.assert_allclose(
        one.predict(new, exposure=new.e, offset=new.o),
        two.predict(new, offset=np.log(new.e) + new.o),
    )
    np.testing.assert_allclose(
        one.predict().to_numpy() if hasattr(one.predict(), "to_numpy") else one.predict(),
        two.predict(),
    )
    frame = one.get_prediction(new, exposure=new.e, offset=new.o).summary_frame()
    assert (frame["mean_ci_lower"] < frame["mean"]).all()
    assert (frame["mean"] < frame["mean_ci_upper"]).all()


@pytest.mark.parametrize(
    "how, error, message",
    [
        (dict(), ArgumentError, "the model was fitted with an exposure: predict needs exposure="),
        (dict(), ArgumentError, "for the new rows, exposure='e' where they have"),
        (
            dict(exposure=1, offset="oo"),
            ArgumentError,
            "offset='oo' is not a column of the new data",
        ),
        (
            dict(exposure="hours"),
            ArgumentError,
            "exposure='hours' is not a column of the new data",
        ),
        (dict(exposure=-COUNTS.e), DataError, "exposure must be finite numbers, positive"),
        (
            dict(exposure=COUNTS.e),
            ArgumentError,
            "the model was fitted with an offset: predict needs offset=",
        ),
        (dict(exposure=COUNTS.e[::-1], offset=COUNTS.o), DataError, "different indices"),
    ],
    ids=str,
)
def test_predictions_ask_for_exposure_and_offset_by_name(how, error, message):
    results = sgmc.poisson("y ~ x", COUNTS, exposure="e", offset="o", seed=1)
    with pytest.raises(error, match=message):
        results.predict(COUNTS, **how)


@pytest.mark.parametrize(
    "y, message",
    [
        ([-1, 2, 3], "must hold counts, 0, 1, 2, ..; it has -1"),
        ([0.5, 2, 3], "it has 0.5"),
    ],
)
def test_outcomes_that_are_no_counts_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        sgmc.poisson("y ~ x", pd.DataFrame({"y": y, "x": [1.0, 2, 4]}))


def test_large_counts_and_large_designs_find_their_mode():
    """Newton's method begins at zero, where exp(eta) is far from a million counts."""
    frame = COUNTS.assign(y=(1e6 * np.exp(0.3 * COUNTS.x)).astype(int))
    found, expected = sgmc.poisson("y ~ x", frame, seed=1), smf.poisson("y ~ x", frame).fit(disp=0)
    np.testing.assert_allclose(found.params, expected.params, atol=5e-5)  # sds are 4e-5
