"""Precision of the logistic function, and of densities that are summed in float32."""

import numpy as np
import pytest
from scipy import special

from sgmc.coordinates.priors.densities import Quadratic
from sgmc.core.designs.design import design
from sgmc.core.engine import full_many
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.models.regression.families.logit import BernoulliLogit, expit
from sgmc.registry import room
from sgmc.subsampling.uniform import FullBatch

N, D, POINTS = 2_001, 70, 5
FAR = 680.0  # beyond it the function is clamped


def test_expit_is_right_to_a_few_units_in_the_last_place():
    x = np.concatenate([np.linspace(-40, 40, 20_001), np.linspace(-FAR, FAR, 20_001)])
    exact = special.expit(x.astype(np.longdouble)).astype(float)
    np.testing.assert_allclose(expit(x), exact, rtol=1e-15, atol=0)
    assert expit([-1e4, 1e4]).tolist() == pytest.approx([0.0, 1.0], abs=1e-290)
    assert np.isnan(expit([np.nan])).all()


@pytest.mark.parametrize("spread", [0.3, 30.0])
def test_totals_in_float32(spread):
    """Products have a relative error of about 1e-7 sqrt(d), sums of log densities of n rows one of
    1e-7 sqrt(n) of their terms: of terms of size `spread` together below 1e-5 spread sqrt(n).
    """
    random = np.random.default_rng(0)
    X, y = random.normal(size=(N, D)), (random.random(N) < 0.5).astype(float)
    points = spread * random.normal(size=(POINTS, D)) / np.sqrt(D)
    flat = Quadratic(np.zeros(D), np.zeros(D))
    found = []
    for single in (False, True):
        model = BernoulliLogit(design(X, single), y)
        rows = FullBatch(N)
        gradient = room("gradients")["simple"](model, flat, rows, Rng(seed_sequence(1, "chain")))
        found.append(full_many(gradient, points, False)[0])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-5 * spread * np.sqrt(N))
    assert (found[1] != found[0]).any()
