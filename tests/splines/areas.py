"""Regions, their neighbours, and what effects of them are: nothing is shared with the package."""

import numpy as np
import pandas as pd

# a ring of four with a tail, a pair, and an island
NEIGHBOURS = {
    "north": ["east", "west"],
    "east": ["north", "south"],
    "south": ["east", "west", "cape"],
    "west": ["north", "south"],
    "cape": ["south"],
    "left": ["right"],
    "right": ["left"],
    "rock": [],
}
NAMES = list(NEIGHBOURS)
PIECES = [NAMES[:5], NAMES[5:7], NAMES[7:]]
TREE = pd.DataFrame(0.3 + 0.7 * np.eye(8), NAMES, NAMES)
TREE.iloc[:4, :4] += 0.4
TREE.iloc[0, 0] += 0.5


def laplacian(names, neighbours=NEIGHBOURS):
    """Neighbours of each on the diagonal, less one for each pair."""
    Q = np.zeros((len(names),) * 2)
    for i, one in enumerate(names):
        for other in neighbours[one]:
            Q[i, i] += 1
            Q[i, names.index(other)] -= 1
    return Q


def scaled_covariance(
    pieces=PIECES, neighbours=NEIGHBOURS, mean=lambda v: np.exp(np.log(v).mean())
):
    """Of effects that add up to zero in each piece and have a mean variance of one, as islands."""
    names = [one for piece in pieces for one in piece]
    out = np.zeros((len(names),) * 2)
    for piece in pieces:
        at, m = [names.index(one) for one in piece], len(piece)
        level = np.full((m, m), 1 / m)
        found = np.linalg.inv(laplacian(piece, neighbours) + level) - level
        out[np.ix_(at, at)] = found / mean(np.diag(found)) if m > 1 else 1.0
    return out


def table(seed=0, n=60, without="cape"):
    """Rows of all regions but one, with outcomes of each kind."""
    rng = np.random.default_rng(seed)
    effects = np.linalg.cholesky(scaled_covariance() + 0.1 * np.eye(8)) @ rng.normal(size=8)
    names = [one for one in NAMES if one != without]
    frame = pd.DataFrame({"region": names + [*rng.choice(names, n - len(names))]})
    frame["x"] = rng.normal(size=n)
    eta = 0.5 + 0.4 * frame.x + effects[[NAMES.index(one) for one in frame.region]]
    frame["y"] = eta + 0.6 * rng.normal(size=n)
    frame["count"] = rng.poisson(np.exp(eta))
    frame["won"] = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    frame["code"] = [10 * NAMES.index(one) for one in frame.region]
    return frame
