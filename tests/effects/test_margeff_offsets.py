"""Marginal effects of fits with offsets, from draws in closed form."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"x": rng.normal(1, 1, 300), "off": rng.normal(-1.5, 1, 300)})
    frame = frame.assign(w=rng.integers(1, 4, 300))
    frame["y"] = (rng.random(300) < special.expit(frame.x + frame.off)).astype(int)
    how = dict(offset="off", weights="w", seed=1, sampler="laplace", draws=500)
    return frame, sgmc.logit("y ~ x", frame, **how)


def slope(eta):
    """Of the logistic curve."""
    return special.expit(eta) * special.expit(-eta)


@pytest.mark.parametrize("at", ["mean", "median", "zero", "overall"])
def test_slopes_have_the_mean_offset(fitted, at):
    """At zero there is none (as in statsmodels); rows count by their weights."""
    frame, results = fitted
    a, b = results.flat.T
    w = frame.w / frame.w.sum()
    off = w @ frame.off
    long = np.repeat(frame.x, frame.w)
    places = {"mean": w @ frame.x, "median": np.median(long), "zero": 0.0}
    if at == "overall":
        each = slope(a + np.outer(frame.x, b) + frame.off.to_numpy()[:, None])
        wanted = b * (w.to_numpy() @ each)
    else:
        wanted = b * slope(a + b * places[at] + (0.0 if at == "zero" else off))
    found = results.get_margeff(at=at).summary_frame()
    assert found.iloc[0, 0] == pytest.approx(wanted.mean(), rel=1e-5)
    assert found.iloc[0, 1] == pytest.approx(wanted.std(ddof=1), rel=1e-2)
