"""What families of outcomes of several kinds share."""

import numpy as np

from sgmc.models.regression.bases.family import Family


class Kinds(Family):
    """Base of families whose outcomes are kinds, each with a probability."""

    graded = False
    several = True

    @staticmethod
    def deviance(y, mean, extra=None):
        """-2 log p(y), `mean` having the kinds first."""
        chosen = np.broadcast_to(np.asarray(y, dtype=int), np.shape(mean)[1:])
        with np.errstate(divide="ignore"):
            return -2 * np.log(np.take_along_axis(np.asarray(mean), chosen[None], axis=0)[0])

    @staticmethod
    def best_constant(y, weights):
        # the same for all rows
        share = np.bincount(y.astype(int), weights)
        return np.repeat((share / share.sum())[:, None], len(y), axis=1)
