"""The Stein discrepancy of a fit's draws, with scores that the data allow."""
import numpy as np

from sgmc.core.engine import scores
from sgmc.core.rng import Rng, seed_sequence
from sgmc.diagnostics.stein import ksd
from sgmc.fitting.pilot import slopes
from sgmc.subsampling.block import Block
from sgmc.subsampling.uniform import Everything, Uniform

LARGEST = 1000            # draws in the double sum
WORK = 1e8                # rows x parameters x draws of exact scores
FEWEST = 200              # draws: below, control-variate scores of more draws say more
BATCH = 1000


def stein_discrepancy(fit, entropy):
    """KSD in whitened coordinates of an evenly thinned part of the draws, and which scores it used.

    Returns
    -------
    ksd : float or None
        None for the sandwich, which is no density that draws could be compared with.
    scores : str
    """
    if fit.settings.robust:
        return None, "-"
    problem = fit.problem
    n, d = problem.model.n, problem.model.dim
    x = fit.x.reshape(-1, d)
    affordable = int(min(len(x), LARGEST, WORK / (n * d)))
    exact = affordable >= min(FEWEST, len(x))
    kept = np.unique(np.linspace(0, len(x) - 1, affordable if exact else min(len(x), LARGEST)).astype(int))
    rng = Rng(seed_sequence(entropy, "diagnostics"))
    gradient = problem.gradient("taylor", Everything(n) if exact else (Uniform if problem.table.given else Block)(n, min(n, BATCH)), rng)
    points = np.ascontiguousarray(x[kept])
    g = scores(gradient, points, rng)
    if len(kept) < 2 or not np.isfinite(g).all():
        return None, "-"
    where = problem.coordinates
    scale = None if where.whitened else where.inner / np.reshape(slopes(where, points[0]), (-1, 1))
    weights = None if fit.weights is None else np.tile(fit.weights, fit.x.shape[0])[kept]
    return float(ksd(points, g, weights=weights, scale=scale)), "exact" if exact else "taylor"
