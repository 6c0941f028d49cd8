"""Densities and kernels of counts of successes and failures."""

import numpy as np
import pytest
from _ext.probes import Probe, block
from scipy import stats

from sgmc.core.designs.design import design

from ..families.tables import FAMILIES
from .counts import ETA, LINK, counted

# ---- densities and kernels -----------------------------------------------------------------------


@pytest.mark.parametrize("name", LINK)
def test_densities_are_scipys(name):
    eta = np.linspace(*ETA[name], 9)
    for y, n in [(0, 0), (0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (150, 400)]:
        found = (
            FAMILIES[name].of_trials(np.full(9, float(n))).log_density(np.full(9, float(y)), eta)
        )
        np.testing.assert_allclose(
            found, stats.binom.logpmf(y, n, LINK[name].inverse(eta)), rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("name", LINK)
def test_a_row_of_counts_is_so_many_single_outcomes(name):
    shares, singles, total = counted(name)
    at = np.array([0.7, -1.1])
    for what in ("value", "gradient", "hessian"):
        one, other = (
            getattr(Probe(m), what)(at, block(0, n)) for m, n in ((shares, 12), (singles, total))
        )
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", LINK)
def test_gradient_and_curvature_are_derivatives(name):
    probe, at, rows, step = Probe(counted(name)[0]), np.array([0.7, -1.1]), block(0, 12), 1e-5
    e = step * np.eye(2)
    slope = [(probe.value(at + d, rows) - probe.value(at - d, rows)) / (2 * step) for d in e]
    differences = [
        (probe.gradient(at - d, rows) - probe.gradient(at + d, rows)) / (2 * step) for d in e
    ]
    np.testing.assert_allclose(probe.gradient(at, rows), slope, rtol=1e-6)
    np.testing.assert_allclose(probe.hessian(at, rows), differences, rtol=1e-6)


@pytest.mark.parametrize("eta", [-800.0, 800.0])
@pytest.mark.parametrize("name", LINK)
def test_shares_at_extreme_predictors_have_finite_numbers(name, eta):
    probe = Probe(
        FAMILIES[name].kernel(
            design(np.ones((3, 1))), np.array([0.1, 0.5, 0.9]), None, np.array([10.0, 2, 10])
        )
    )
    for what in (probe.value, probe.gradient, probe.hessian):
        assert np.isfinite(what([eta], block(0, 3))).all()


@pytest.mark.parametrize("eta", [-800.0, -30.0, 30.0, 800.0])
def test_tails_of_the_new_links_are_exact(eta):
    """Against their leading terms: log P of the unlikely outcome."""
    unlikely = float(eta < 0)
    cauchit = FAMILIES["cauchit"].log_density(np.array([unlikely]), np.array([eta]))[0]
    assert cauchit == pytest.approx(np.log(np.arctan(1 / abs(eta)) / np.pi), rel=1e-14)
    loglog = FAMILIES["loglog"].log_density(np.array([unlikely]), np.array([eta]))[0]
    assert loglog == pytest.approx(-np.exp(min(-eta, 700)) if eta < 0 else -eta, rel=1e-12)
    assert loglog == FAMILIES["cloglog"].log_density(np.array([1 - unlikely]), np.array([-eta]))[0]
