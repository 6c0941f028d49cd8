"""Where sigma is as small as the rounding of outcomes, densities have a term for it: its slopes are
those of differences, and no density grows without limit.
"""

import numpy as np
import pytest

from sgmc.core.designs.design import design
from sgmc.core.expansion import of_rows
from sgmc.models.regression.families.gamma import GammaLog
from sgmc.models.regression.families.inversegaussian import InverseGaussianLog
from sgmc.models.regression.families.ols import GaussianIdentity, GaussianLogLink

MODELS = {
    GaussianIdentity: (lambda eta: eta, 1.0),
    GaussianLogLink: (np.exp, 1.0),
    GammaLog: (np.exp, 2.0),  # the auxiliary parameter is the log of a variance's factor
    InverseGaussianLog: (np.exp, 2.0),
}


@pytest.mark.parametrize("model", MODELS, ids=lambda one: one.__name__)
def test_slopes_of_perfect_fits_are_those_of_differences(model):
    """From where residuals are larger to far below the rounding of outcomes of order one."""
    mean, times = MODELS[model]
    X, coefficients = np.random.default_rng(3).normal(size=(20, 2)), np.array([0.5, -0.3])
    made = model(design(X), mean(X @ coefficients))
    values = []
    for u in times * np.array([-20.0, -33.0, -35.0, -37.0]):
        theta = np.append(coefficients, u)
        ends = [of_rows(made, theta + [0, 0, step])[0] for step in (1e-4, -1e-4)]
        slope = of_rows(made, theta)[1][2]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-3, abs=1e-2)
        values.append(slope)
    assert values[0] < 0 < values[-1]  # the density falls on both sides
