"""The horseshoe's density with a slab, in closed form: exp(z) E1(z), z = b^2 / (2 scale^2), times
exp(-b^2 / (2 slab^2)).
"""

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.coordinates.priors.prior_table import density_of
from sgmc.core.expansion import of_prior
from sgmc.fit.settings import check_settings


@pytest.mark.parametrize("scale, slab", [(1.0, 2.0), (0.2, 2.0), (3.0, 0.5)])
def test_differences_of_the_density(scale, slab):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=80), "y": rng.integers(0, 2, 80)})
    model = sgmc.Logit.from_formula("y ~ x", frame)
    prior = {
        "x": sgmc.horseshoe(scale=scale, slab=slab, autoscale=False),
        "Intercept": sgmc.normal(0, 1),
    }
    problem = model.problem(prior, check_settings(seed=1))

    def density(b):
        z = b**2 / (2 * scale**2)
        return z + np.log(special.exp1(z)) - b**2 / (2 * slab**2)

    b = np.array([-4.0, -0.7, 0.1, 0.5, 2.0, 5.0])
    prior = density_of(problem.priors, np.zeros(2))
    found = np.array([of_prior(prior, np.array([0.0, one]))[0] for one in b])
    np.testing.assert_allclose(np.diff(found), np.diff(density(b)), rtol=1e-8, atol=1e-8)
