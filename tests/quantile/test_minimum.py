"""The minimum of the check loss against scipy's linear programming."""

import numpy as np
import pytest

import sgmc
from sgmc.errors import ConditionWarning, DataError
from sgmc.models.regression.mode.check_loss import minimiser
from sgmc.models.regression.rows.prepare import DesignTable

from .cases import TAUS, by_simplex, check_loss, design, real, spreading

RELATIVE = 1e-8  # of the loss, far above the gap at which the search ends


def table_of(X, y, weight=None, offset=None):
    """A table as `minimiser` reads it."""
    d = X.shape[1]
    return DesignTable(X, y, None, offset, weight, None, np.zeros(d), np.zeros(d), np.ones(d), None)


@pytest.mark.parametrize("tau", [0.02, *TAUS])
@pytest.mark.parametrize("name", ["engel", "schools", "made", "ties"])
def test_losses_are_the_least(name, tau):
    if name in real():
        frame, outcome, predictors = real()[name]
    else:
        frame, outcome, predictors = spreading(200, 4), "y", ["x", "z"]
    X, y = design(frame, predictors), frame[outcome].to_numpy(dtype=float)
    y = y.round() if name == "ties" else y
    found = minimiser(table_of(X, y), tau, "y")
    _, least = by_simplex(X, y, tau)
    assert check_loss(found.residuals, tau) == pytest.approx(least, rel=RELATIVE)
    assert (found.below >= 0).all() and (found.below <= 1).all()
    balance = X.T @ (tau - found.below)
    assert np.abs(balance / np.abs(X).sum(axis=0)).max() < 1e-9
    clear = np.abs(found.residuals) > 1e-5 * y.std()
    assert np.abs(found.below - (found.residuals < 0))[clear].max() < 1e-3


def test_weights_and_offsets_count():
    frame, rng = spreading(150, 6), np.random.default_rng(1)
    X, y = design(frame, ["x", "z"]), frame.y.to_numpy()
    weight, offset = rng.integers(0, 4, 150).astype(float), rng.normal(size=150)
    found = minimiser(table_of(X, y, weight, offset), 0.3, "y")
    _, least = by_simplex(X, y - offset, 0.3, weight)
    assert check_loss(found.residuals, 0.3, weight) == pytest.approx(least, rel=RELATIVE)
    unweighted = minimiser(table_of(X, y, None, offset), 0.3, "y")
    assert check_loss(unweighted.residuals, 0.3, weight) > least * (1 + 1e-4)  # planted


def test_units_of_columns_do_not_matter():
    frame = spreading(300, 6)
    wide = frame.assign(x=1e6 * frame.x, z=1e-6 * frame.z)
    one, other = (
        sgmc.quantreg("y ~ x + z", f, tau=0.2, prior="flat", sampler="laplace", seed=1)
        for f in (frame, wide)
    )
    units = np.array([1, 1e-6, 1e6])
    assert other.params.to_numpy() / units == pytest.approx(one.params.to_numpy(), rel=1e-6)


def test_collinear_columns_are_left_to_the_prior():
    frame = spreading(200, 6)
    with pytest.warns(ConditionWarning, match="the data do not determine"):
        res = sgmc.quantreg("y ~ x + I(2 * x)", frame, seed=1)
    alone = sgmc.quantreg("y ~ x", frame, seed=1)
    both = res.params["x"] + 2 * res.params["I(2 * x)"]
    assert both == pytest.approx(alone.params["x"], abs=0.1 * alone.bse["x"])


def test_exact_fits_are_refused():
    frame = spreading(100, 6)
    with pytest.raises(DataError, match="fit the outcome 'y' exactly"):
        sgmc.quantreg("y ~ x", frame.assign(y=2 * frame.x))
