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
    rows, _ = outstanding(s, w, model.n)
    return rows


def outstanding(s, w, n):
    """The rows of `high_leverage` among those with predictors' sds s and curvatures w, of n rows in
    all, and their shares of the noise; of one that no expansion serves it is infinite.
    """
    # a row is worth its computation from the share of noise at which a larger batch costs as much
    least = 3 * VARIANCE_TOLERANCE / (0.75 * n)
    # exp(2 s) w s^3 = sqrt(least) for the largest w at some s <= end: nearly all rows are below
    end = (np.sqrt(least) / max(w.max(initial=0.0), 1e-300)) ** (1 / 3)
    low = end * np.exp(-2 / 3 * min(end, MAX_EXPANDED_SD))
    looked = np.flatnonzero(s > min(low, MAX_EXPANDED_SD))
    s, w = s[looked], w[looked]
    wild = s > MAX_EXPANDED_SD
    share = np.where(wild, 0.0, (np.exp(2 * np.minimum(s, MAX_EXPANDED_SD)) * w * s**3) ** 2)
    worth = np.flatnonzero(share > least)
    largest = int(MAX_EXACT_SHARE * n) + 1
    if len(worth) > largest:
        worth = worth[np.argsort(-share[worth], kind="stable")[:largest]]
    places = np.union1d(np.flatnonzero(wild), worth)
    return looked[places], np.where(wild, np.inf, share)[places]
