"""Laws of networks' outcomes in the units of the outcomes."""

import numpy as np
import pytest

from sgmc.models.network import distributions

ETA = np.array([[0.3, -0.2], [-1.0, 0.5], [0.0, 0.0]])


@pytest.mark.parametrize(
    "kind, sigma", [(distributions.Gaussian, 0.7), (distributions.Heteroscedastic, None)]
)
def test_ten_times_the_outcomes_have_a_tenth_of_the_density(kind, sigma):
    y = np.random.default_rng(0).gamma(2.0, size=30)
    (one, table), (other, tenfold) = kind.read(y, "columns"), kind.read(10 * y + 3, "columns")
    np.testing.assert_allclose(other.expected(ETA), 10 * one.expected(ETA) + 3)
    np.testing.assert_allclose(other.sds(ETA, sigma), 10 * one.sds(ETA, sigma))
    found = [
        law.log_density(ETA, sigma, part[:3]) for law, part in ((one, table), (other, tenfold))
    ]
    np.testing.assert_allclose(found[1], found[0] - np.log(10))
    np.testing.assert_allclose(one.inside(table), other.inside(tenfold))


def test_sds_of_their_own_are_the_exponential_of_the_last_layer():
    """In units of the outcomes' sd, which is 4 here."""
    law = distributions.Heteroscedastic((), np.array([1.0]), np.array([4.0]))
    np.testing.assert_allclose(law.sds(ETA, None)[:, 0], 4 * np.exp(ETA[:, 1]))
    drawn = [law.simulate(ETA, None, np.random.default_rng(k)) for k in range(4000)]
    np.testing.assert_allclose(np.std(drawn, axis=0), 4 * np.exp(ETA[:, 1]), rtol=0.06)
