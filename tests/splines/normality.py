"""How far a posterior is from a standard normal law in a problem's coordinates."""

import numpy as np

from sgmc.core import engine


def departure(problem):
    """Mean over points of the squared length of what the gradient has beyond that of a standard
    normal law, as a share of the parameters.
    """
    gradient, points = problem.all_rows(), np.random.default_rng(5).normal(size=(5, problem.dim))
    return np.mean([(engine.full(gradient, x)[1] + x) ** 2 for x in points])
