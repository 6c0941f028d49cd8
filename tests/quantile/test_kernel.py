"""The compiled working likelihood: its density, slopes and curvatures, and where its maximum is."""

import numpy as np
import pytest
from scipy import stats

from sgmc.core.designs.design import design as stored
from sgmc.core.expansion import expand, of_rows, row_curvatures
from sgmc.models.regression.families.quantreg import QuantRegFamily
from sgmc.models.regression.mode.check_loss import ROW, calibration
from sgmc.models.regression.rows.prepare import DesignTable

from .cases import TAUS, design, spreading

STEP = 1e-5  # of central differences, whose error is 1e-10 of curvatures of order one
NODES = np.linspace(-8, 8, 8001)  # of a normal law; the error at the loss's kink is below 1e-5


def kernel(rows=60, tau=0.3, bandwidth=0.7, scale=1.7, seed=3):
    """A model with any places, and where to look at it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    table = np.empty(rows, dtype=ROW)
    table["y"], table["residual"] = rng.normal(size=(2, rows))
    table["below"] = rng.random(rows)
    family = QuantRegFamily(tau, bandwidth, scale)
    offset, weight = rng.normal(size=rows), rng.integers(0, 4, rows).astype(float)
    return family.kernel(stored(X), table, offset, weight), rng.normal(size=3), X, table


def test_slopes_and_curvatures_are_those_of_the_density():
    model, at, _, _ = kernel()
    value, slope, curvature = expand(model, at)
    assert of_rows(model, at)[0] == pytest.approx(value)
    for j, e in enumerate(STEP * np.eye(3)):
        up, down = (of_rows(model, at + s * e) for s in (1, -1))
        assert slope[j] == pytest.approx((up[0] - down[0]) / (2 * STEP), rel=1e-6)
        assert -curvature[j] == pytest.approx((up[1] - down[1]) / (2 * STEP), rel=1e-6)


def smooth(r, tau, h):
    """The check loss convolved with a normal kernel, by quadrature."""
    moved, weights = r[:, None] - h * NODES, stats.norm.pdf(NODES)
    return (moved * (tau - (moved < 0))) @ weights / weights.sum()


def test_the_density_is_that_of_the_smooth_loss_and_its_mirror_image():
    model, at, X, table = kernel(rows=40)
    eta = X @ at + np.asarray(model.offset)
    e = table["residual"]
    t = eta - (table["y"] - e)
    tau, h, a = model.tau, model.bandwidth, model.scale
    mirrored = (smooth(e - t, tau, h) + smooth(e + t, tau, h)) / 2
    rows = a * ((tau - table["below"]) * t - mirrored + smooth(e, tau, h))
    assert of_rows(model, at)[0] == pytest.approx(np.asarray(model.weight) @ rows, abs=1e-3)


def test_curvatures_have_their_bound():
    model, _, _, _ = kernel()
    bound = model.row_bounds()[1]
    rng = np.random.default_rng(0)
    for _ in range(50):
        found = row_curvatures(model, rng.normal(size=3))[:, 0, 0]
        assert (found >= 0).all() and (found <= bound * (1 + 1e-12)).all()


def table_of(frame, X):
    """The table of a fit, as `calibration` reads it."""
    zero, d = np.zeros(X.shape[1]), X.shape[1]
    y = frame.y.to_numpy()
    return DesignTable(X, y, None, None, None, None, zero, X.mean(axis=0), np.ones(d), None)


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("factor", [0.2, 1.0, 5.0])
def test_the_maximum_is_the_minimum_of_the_check_loss_for_any_bandwidth(tau, factor):
    """Scores at the exact minimum vanish, to rounding, and rows' are tau - 1(below)."""
    frame = spreading(300, 5)
    X = design(frame, ["x", "z"])
    h, scale, rows = calibration(table_of(frame, X), tau, "y")
    model = QuantRegFamily(tau, factor * h, scale).kernel(stored(X), rows)
    at = np.linalg.lstsq(X, rows["y"] - rows["residual"], rcond=None)[0]
    _, slope, curvature = expand(model, at)
    sd = np.sqrt(np.diag(np.linalg.inv(curvature)))
    assert np.abs(slope * sd).max() < 1e-6
    one = [of_rows(model, at, slice(i, i + 1))[1][0] for i in range(300)]
    expected = scale * (tau - rows["below"])
    assert np.abs(np.array(one) - expected).max() < 1e-6 * scale
    assert np.sum((rows["below"] > 1e-6) & (rows["below"] < 1 - 1e-6)) <= 3


def test_plain_smoothing_would_move_the_maximum():
    """Planted: without shares of the rows the smooth loss has its minimum elsewhere."""
    frame = spreading(300, 5)
    X = design(frame, ["x", "z"])
    h, scale, rows = calibration(table_of(frame, X), 0.1, "y")
    at = np.linalg.lstsq(X, rows["y"] - rows["residual"], rcond=None)[0]
    wrong = np.array(rows)
    wrong["below"] = stats.norm.cdf(-rows["residual"] / h)
    _, slope, curvature = expand(QuantRegFamily(0.1, h, scale).kernel(stored(X), wrong), at)
    sd = np.sqrt(np.diag(np.linalg.inv(curvature)))
    assert np.abs(slope * sd).max() > 0.1  # a tenth of an sd, and 1e5 times the tolerance above
