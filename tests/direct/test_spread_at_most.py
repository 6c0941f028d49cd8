"""What the sd of log weights may be, by a few of them."""

import numpy as np
import pytest

from sgmc.coordinates.independent.transport import spread_at_most
from sgmc.fit.choose import FEW_PROPOSALS, PROPOSALS, SAME_POSTERIOR, SURELY_SAME


@pytest.mark.parametrize("power, sd", [(1, 1.0), (2, 2**0.5), (3, 15**0.5)])
def test_it_is_below_the_sd_in_few_samples(power, sd):
    """Of normal numbers and their powers, whose tails are longer: of 128 the sd itself is below its
    value more often than not, this one in a quarter of samples at most.  2,000 samples tell a share
    to 0.01, and that of cubes is 0.21.
    """
    z = np.random.default_rng(power).normal(size=(2000, 2 * PROPOSALS)) ** power
    low = [spread_at_most(one) < sd for one in z]
    assert np.mean(low) < 0.25 < 0.5 < np.mean(z.std(axis=1) < sd)


def test_weights_that_vary_twice_as_much_are_rarely_believed():
    """One parameter with a cubic log weight of twice the limit, at z and -z as in `choose`."""
    z = np.random.default_rng(0).normal(size=(4000, PROPOSALS))
    value = 2 * SAME_POSTERIOR * np.concatenate([z, -z], axis=1) ** 3 / 15**0.5
    few = np.concatenate([value[:, :FEW_PROPOSALS], -value[:, :FEW_PROPOSALS]], axis=1)
    most = [spread_at_most(one) for one in value]
    early = [spread_at_most(one) for one in few]
    # 4,000 samples tell such shares to 0.004; half the margin of each gives 0.05 and 0.04
    assert np.mean(np.array(most) <= SAME_POSTERIOR) < 0.02
    assert np.mean(np.array(early) <= SURELY_SAME * SAME_POSTERIOR) < 0.02


def test_what_is_not_finite_is_told_nothing_of():
    with np.errstate(invalid="ignore"):
        assert not spread_at_most(np.array([0.0, 1.0, -np.inf])) <= 1e9
    assert spread_at_most(np.zeros(4)) == 0
