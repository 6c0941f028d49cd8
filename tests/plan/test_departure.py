"""How far a posterior is from its Laplace approximation, as `auto` looks at it."""

import numpy as np
import pytest

from sgmc.fit.noise import Pilot


@pytest.mark.parametrize(
    "shift, ratio, wanted",
    [
        ([0.0, -0.3], [1.0, 1.0], 0.3),
        ([0.0, 0.0], [1.0, 1.4], 0.4),
        ([0.1, 0.0], [0.4, 1.0], 0.6),
        ([0.0, 0.0], [1.0, 1.0], 0.0),
    ],
)
def test_a_shift_or_a_change_of_an_sd_is_enough(shift, ratio, wanted):
    """The largest of either sign, of any parameter."""
    noise = np.zeros((1, 2)), np.zeros((1, 2, 2))
    found = Pilot(*noise, np.array(shift), np.array(ratio))
    assert found.departure == pytest.approx(wanted)


def test_noise_of_strata_adds_up():
    """Of a parameter, of the widest direction, of a coordinate; with a factor per stratum."""
    covariance = np.array([[[1.0, 0.5], [0.5, 2.0]], [[3.0, 0.0], [0.0, 1.0]]])
    noise = np.array([[1.0, 2.0], [3.0, 1.0]])
    found = Pilot(noise, covariance, np.zeros(2), np.ones(2))
    factors = np.array([0.5, 2.0])
    total = 0.5 * covariance[0] + 2 * covariance[1]
    assert found.worst_noise(factors) == pytest.approx(6.5)
    assert found.widest_noise(factors) == pytest.approx(np.linalg.norm(total, 2))
    np.testing.assert_allclose(found.tau(factors), np.sqrt(np.diag(total)))
