"""Maps and gradients of posteriors with learned scales against central differences."""

import numpy as np

from sgmc.core import engine
from sgmc.core.expansion import of_prior, of_rows


def assert_map_and_gradient(problem):
    """Assert that the inverse, the Jacobian and the gradient of a posterior are those of its map
    and density; differences of step 1e-5 are right to about 1e-6 of values of a hundred.
    """
    map, x = problem.coordinates.map, 0.5 * np.random.default_rng(2).normal(size=problem.dim)
    assert np.abs(map.inverse(map(x)) - x).max() < 1e-4  # tabulated quantiles
    step, each = 1e-5, np.eye(problem.dim)
    J = np.array([(map(x + step * e) - map(x - step * e)) / (2 * step) for e in each]).T
    log_jacobian = np.linalg.slogdet(J)[1]
    gradient, theta = problem.all_rows(), map(x)
    natural = of_rows(problem.model, theta)[0] + of_prior(problem.prior, theta)[0]
    assert abs(engine.density(gradient, x) - natural - log_jacobian) < 1e-4
    rises = [engine.density(gradient, x + e) - engine.density(gradient, x - e) for e in step * each]
    slope = engine.full(gradient, x)[1]
    assert np.abs(slope - np.array(rises) / (2 * step)).max() < 1e-4 * (1 + np.abs(slope).max())
