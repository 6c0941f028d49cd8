"""Rows that a minibatch should not be left to find: few,
and each with much to say about some parameter.
"""

import numpy as np

from sgmc.core.expansion import leverages
from sgmc.core.storage import spans, too_many
from sgmc.fit.tolerance import VARIANCE_TOLERANCE

MAX_EXACT = 1 << 20  # the same of tables in files
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
    # a row is worth its computation from the share of noise at which a larger batch costs as much
    least, largest = 3 * VARIANCE_TOLERANCE / (0.75 * model.n), int(MAX_EXACT_SHARE * model.n) + 1
    large = too_many(model, 2 * model.width)
    if large:  # a list of more is of no use in a step, and may not fit into memory
        largest = min(largest, MAX_EXACT)
    wild, worth, shares = np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0)
    for rows in spans(model.n) if large else [slice(0, model.n)]:
        far, found, share = candidates(*leverages(model, white, anchor, rows), least)
        wild = np.concatenate([wild, rows.start + far])
        worth, shares = np.concatenate([worth, rows.start + found]), np.concatenate([shares, share])
        if len(worth) > largest:
            kept = np.sort(np.argsort(-shares, kind="stable")[:largest])
            worth, shares = worth[kept], shares[kept]
    return np.union1d(wild, worth)


def candidates(s, w, least):
    """Places of rows beyond any expansion, and of those with a share of the noise that exceeds
    `least`, with these shares.
    """
    # exp(2 s) w s^3 = sqrt(least) for the largest w at some s <= end: nearly all rows are below
    end = (np.sqrt(least) / max(w.max(initial=0.0), 1e-300)) ** (1 / 3)
    low = end * np.exp(-2 / 3 * min(end, MAX_EXPANDED_SD))
    looked = np.flatnonzero(s > min(low, MAX_EXPANDED_SD))
    s, w = s[looked], w[looked]
    wild = s > MAX_EXPANDED_SD
    share = np.where(wild, 0.0, (np.exp(2 * np.minimum(s, MAX_EXPANDED_SD)) * w * s**3) ** 2)
    worth = np.flatnonzero(share > least)
    return looked[wild], looked[worth], share[worth]


def outstanding(s, w, n):
    """The rows of `high_leverage` among those with predictors' sds s and curvatures w, of n rows in
    all, and their shares of the noise; of one that no expansion serves it is infinite.
    """
    wild, worth, share = candidates(s, w, 3 * VARIANCE_TOLERANCE / (0.75 * n))
    largest = int(MAX_EXACT_SHARE * n) + 1
    if len(worth) > largest:
        kept = np.argsort(-share, kind="stable")[:largest]
        worth, share = worth[kept], share[kept]
    rows = np.concatenate([wild, worth])
    share = np.concatenate([np.full(len(wild), np.inf), share])
    order = np.argsort(rows)
    return rows[order], share[order]
