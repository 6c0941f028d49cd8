"""Mixture models as users meet them."""
import numpy as np

from sgmc.errors import ArgumentError
from sgmc.fitting.arrays import vector
from sgmc.fitting.settings import positive
from sgmc.model import Model
from sgmc.priors import normal


class TiedMeans(Model):
    """Two Gaussians with tied means: y_i ~ 1/2 N(theta1, v) + 1/2 N(theta1 + theta2, v) (Welling & Teh 2011, section 5.1).

    theta1 ~ N(0, 10) and theta2 ~ N(0, 1), variances; the posterior has two modes, (theta1, theta2) and (theta1 + theta2, -theta2) but
    for the prior, so that coordinates are the parameters and samplers with minibatches want the paper's `step_size`.

    Parameters
    ----------
    y : array_like (n,)
    variance : float
        v.
    """

    parameters = {"theta1": (), "theta2": ()}
    prior = {"theta1": normal(0, np.sqrt(10)), "theta2": normal(0, 1)}
    scaled = False
    title = "Tied Means"

    def __init__(self, y, variance=2.0):
        self.y, self.variance = vector("y", y), positive("variance", variance)
        self.n = len(self.y)
        if not self.n:
            raise ArgumentError("y has no rows")

    def kernel(self):
        """See `Model`."""
        from sgmc.models.mixture import TiedMeansKernel

        return TiedMeansKernel(self.y, self.variance)
