"""Errors of what is printed are computed of a few parameters and a few draws at a time: the parts
change nothing, nor does the short way that coordinates along straight lines have.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.coordinates.whitened.whitening import Coordinates
from sgmc.diagnostics.chains import moments
from sgmc.models.regression.latent.covariance.fold import FoldedEffects
from sgmc.results.checks.scores.stein import checked
from sgmc.results.report.accuracy import accuracy, quantiles_of


def table(n=1500):
    random = np.random.default_rng(3)
    df = pd.DataFrame({"a": random.normal(size=n), "b": random.normal(size=n)})
    df["h"] = np.arange(n) % 25
    df["z"] = 5 + df.a + 0.2 * random.normal(size=25)[df.h] + random.normal(size=n)
    df["y"] = (df.z > 5).astype(int)
    df["apart"] = np.where(df.y == 1, random.integers(0, 2, n), 0)
    return df


FITS = {
    "rotated": lambda: sgmc.logit("y ~ a + b", table(), seed=1, draws=300),
    "scaled": lambda: sgmc.logit("y ~ a + b", table(), seed=1, draws=300, precondition="diag"),
    "a log": lambda: sgmc.ols("z ~ a + b", table(), seed=1, draws=300, sampler="lmsgld"),
    "walls": lambda: sgmc.logit("y ~ a + apart", table(), seed=1, draws=300),
    "an sd": lambda: sgmc.logit("y ~ a + (1 | h)", table(), seed=1, draws=300),
}


@pytest.fixture(scope="module", params=FITS)
def fit(request):
    return FITS[request.param]()._fit


def errors(fit):
    theta, names = fit.problem.kept(fit.x)
    some = checked(fit, fit.settings.seed)
    return accuracy(fit, theta, names, some, quantiles_of(theta, fit.weights))


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_parts_and_straight_lines_change_nothing(fit, monkeypatch):
    """To 1e-7: sums of products have other orders."""
    whole = errors(fit)
    fit.computed.clear()
    monkeypatch.setattr(moments, "NUMBERS_AT_ONCE", 2)  # a parameter, and a draw, at a time
    monkeypatch.setattr(Coordinates, "affine", False)
    pd.testing.assert_frame_equal(errors(fit), whole, rtol=1e-7, atol=1e-7)
    assert whole[["mean_error", "sd_error", "low_error"]].notna().all(axis=None)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_an_sd_without_its_sign_moves_along_no_straight_line(monkeypatch):
    """An sd near zero, of which a third of the draws have either sign."""
    data = table()
    data["y"] = (data.b + np.random.default_rng(4).logistic(size=len(data)) > 0).astype(int)
    fit = sgmc.logit("y ~ b + (1 | h)", data, seed=1, draws=300)._fit
    assert isinstance(fit.problem.coordinates.report.signs, FoldedEffects)
    right = errors(fit).loc["sd(1|h)"]
    fit.computed.clear()
    monkeypatch.setattr(Coordinates, "affine", True)
    assert abs(errors(fit).loc["sd(1|h)"].mean_error - right.mean_error) > 0.1
