"""New data without rows: predictions of every kind of smooth are empty, not an error."""

import numpy as np
import pandas as pd
import pytest

import sgmc

TERMS = "te(x, z, k=4)", "te(x, z, k=4, by=f)", "s(x, k=5, by=f)", "gp(x, scale=1)", "ar1(t, by=f)"


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of outcomes that are noise
@pytest.mark.parametrize("term", TERMS)
def test_predictions_of_no_rows_are_empty(term):
    """``te()`` ended in numpy's words: products of columns could not be shaped."""
    rng = np.random.default_rng(2)
    df = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x", "z", "y"])
    df["f"], df["t"] = np.repeat(["a", "b"], 30), np.tile(np.arange(30), 2)
    res = sgmc.ols(f"y ~ {term}", df, seed=1, draws=200)
    none = df.iloc[:0]
    assert len(res.predict(none)) == 0
    assert res.get_prediction(none).summary_frame().shape[0] == 0
    assert np.shape(res.posterior_predict(none))[1] == 0
