"""Grouped rows with frequencies have the likelihood of rows written out."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.fit.settings import check_settings

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
PRIOR = {"Intercept": sgmc.normal(0, 2), "x": sgmc.normal(0, 2), "sd": sgmc.half_normal(1)}
OWN = {"OLS": {"sigma": sgmc.exponential(scale=1.0)}, "Poisson": {}, "Logit": {}}


@pytest.fixture(scope="module")
def frame():
    """Rows whose frequencies go with x."""
    rng = np.random.default_rng(9)
    g, x = np.repeat(np.arange(7), 6), rng.normal(size=42)
    frame = pd.DataFrame({"g": g, "x": x, "w": 1 + (x > 0) * 2})
    eta = 0.3 + 0.5 * x + rng.normal(size=7)[g]
    return frame.assign(
        OLS=eta + rng.normal(size=42),
        Poisson=rng.poisson(np.exp(eta / 2)),
        Logit=(rng.random(42) < 1 / (1 + np.exp(-eta))).astype(int),
    )


@pytest.mark.parametrize("verb", OWN)
def test_modes_are_those_of_rows_written_out(verb, frame):
    """And curvatures there, to the tolerance of the search."""
    long = frame.loc[frame.index.repeat(frame.w)].reset_index(drop=True)
    found = []
    for data, how in ((frame, {"weights": "w"}), (long, {}), (frame, {})):
        model = getattr(sgmc, verb).from_formula(f"{verb} ~ x + (1 | g)", data, **how)
        found.append(model.problem({**PRIOR, **OWN[verb]}, check_settings(seed=1)).mode)
    weighted, written, once = found
    sd = np.sqrt(np.diag(np.linalg.inv(written.precision)))
    assert np.abs((weighted.theta - written.theta) / sd).max() < 1e-3
    np.testing.assert_allclose(weighted.precision, written.precision, rtol=1e-2, atol=1e-2)
    assert np.abs((once.theta - written.theta) / sd).max() > 0.05
