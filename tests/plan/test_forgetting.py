"""The rate at which underdamped dynamics forget is the slow eigenvalue of their drift."""

import numpy as np
import pytest

import sgmc


@pytest.mark.parametrize("friction", [0.3, 1.0, 1.99, 2.0, 2.5, 10.0])
def test_the_rate_is_the_slowest_eigenvalue(friction):
    """Of d theta = p dt, dp = -theta dt - C p dt, under- and overdamped."""
    drift = np.array([[0.0, 1.0], [-1.0, -friction]])
    slowest = -np.linalg.eigvals(drift).real.max()
    spec = sgmc.SGHMC(friction=friction)
    assert spec.rate == pytest.approx(slowest, rel=1e-6)
    assert spec.from_langevin(spec.langevin_time(0.07)) == pytest.approx(0.07)
