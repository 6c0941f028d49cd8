"""An exposure is an offset of its log, and both together add up."""

import numpy as np
import pandas as pd

import sgmc
from sgmc.models.regression.rows.data import total_offset


def test_the_sum_of_both():
    offset, exposure = np.array([0.5, -1.0, 0.0]), np.array([1.0, 2.0, 10.0])
    wanted = offset + np.log(exposure)
    np.testing.assert_allclose(total_offset(offset, exposure)[0], wanted)
    np.testing.assert_allclose(total_offset(None, exposure)[0], np.log(exposure))
    np.testing.assert_allclose(total_offset(offset, None)[0], offset)


def test_a_fit_with_both_is_that_with_their_sum():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=50), "o": rng.normal(size=50)})
    frame = frame.assign(t=rng.gamma(2.0, size=50), both=lambda one: one.o + np.log(one.t))
    frame["y"] = rng.poisson(np.exp(0.3 * frame.x + frame.both))
    one = sgmc.poisson("y ~ x", frame, offset="o", exposure="t", seed=1)
    other = sgmc.poisson("y ~ x", frame, offset="both", seed=1)
    np.testing.assert_allclose(one.params, other.params, atol=1e-6)
    np.testing.assert_allclose(one.predict(), other.predict(), rtol=1e-6)
