"""Rows that a minibatch should not be left to find: few,
and each with much to say about some parameter.
"""

import numpy as np

from sgmc.core.expansion import leverages
from sgmc.fit.plan import VARIANCE_TOLERANCE

MAX_EXACT_SHARE = 0.2  # of the rows that may be computed at every step
# posterior sd of a linear predictor beyond which no expansion serves: always computed
MAX_EXPANDED_SD = 3.0


def high_leverage(model, coordinates, anchor):
    """Rows to compute at every step, because their second-order residuals would dominate the
    gradient noise.

    The residual of row i is about w_i' eta^2 / 2 with eta ~ N(0, s_i^2), |w_i'| <= w_i exp(2 s_i),
    and moves no parameter by more than s_i sds: it adds at most N (3/4) (w_i exp(2 s_i))^2 s_i^6
    to V1.  The set is the one that needs the fewest rows a step, itself and the batch that keeps
    the rest within the tolerance at h = 1.

    Returns
    -------
    rows : array of int
    """
    white = None if coordinates.rotated and coordinates.map is None else coordinates.inner
    s, w = leverages(model, white, anchor)
    wild = np.flatnonzero(s > MAX_EXPANDED_SD)
    share = np.exp(2 * np.minimum(s, MAX_EXPANDED_SD))  # in place: there are many rows
    share *= w
    share *= s**3
    share *= share
    share *= 0.75 * model.n
    share[wild] = 0.0
    largest = int(MAX_EXACT_SHARE * model.n)
    order = (
        np.argpartition(-share, largest)[: largest + 1]
        if largest + 1 < model.n
        else np.arange(model.n)
    )
    order = order[np.argsort(-share[order], kind="stable")]
    rest = share.sum() - np.concatenate([[0.0], np.cumsum(share[order])])
    cost = np.arange(len(order) + 1) + np.maximum(rest, 0.0) / (3 * VARIANCE_TOLERANCE)
    return np.union1d(wild, order[: int(np.argmin(cost))])
