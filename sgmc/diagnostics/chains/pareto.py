"""The shape of a generalised Pareto law, fitted to the draws farthest out."""

import numpy as np
from scipy import special

from sgmc.arguments.types import Floats
from sgmc.diagnostics.chains import convergence

TAIL_SHARE, TAIL_ROOTS = (
    0.2,
    3.0,
)  # a tail is min(n/5, 3 sqrt(n / r)) draws, r their relative efficiency
FEWEST_TRIED = (
    30  # values of Zhang and Stephens' parameter, besides the root of the number of draws
)
PRIOR_SCALE = 3.0  # of their prior, in the reciprocal of the first quartile
PRIOR_SHAPE, PRIOR_DRAWS = 0.5, 10  # draws that the prior of the shape is worth
NEGLIGIBLE = 10 * np.finfo(float).eps  # weight of a value


def tail_shape(draws: Floats, upper: bool = True) -> float:
    """The shape k of one tail of draws (chain, draw); 0 where it is a single value.

    By Zhang and Stephens (2009, Technometrics 51:316), with the prior and the size of the tail of
    Vehtari, Simpson, Gelman, Yao and Gabry (2024, arXiv:1507.02646, appendix C and section 3.2).
    """
    values = np.sort(draws if upper else -draws, axis=None)
    halves = 2 * len(draws) * (draws.shape[1] // 2)  # draws that effective sizes are of
    efficiency = float(convergence.ess(draws[..., None], method="tail")[0]) / halves
    size = tail_size(len(values), efficiency)
    excess = values[-size:] - values[-size - 1]
    if excess[-1] - excess[0] < np.finfo(float).tiny:
        return 0.0
    return fitted_shape(excess)


def tail_size(count: int, efficiency: float) -> int:
    """How many of the draws are a tail."""
    if count * efficiency > (TAIL_ROOTS / TAIL_SHARE) ** 2:
        return int(TAIL_ROOTS * (count / efficiency) ** 0.5)
    return int(TAIL_SHARE * count)


def fitted_shape(excess: Floats) -> float:
    """The shape of the law of sorted distances from where the tail begins."""
    n = len(excess)
    size = FEWEST_TRIED + int(n**0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        grid = 1 - np.sqrt(size / (np.arange(1, size + 1) - 0.5))
        grid = grid / (PRIOR_SCALE * excess[int(n / 4 + 0.5) - 1]) + 1 / excess[-1]
        shape = np.log1p(-grid[:, None] * excess).mean(axis=1)
        profile = n * (np.log(-grid / shape) - shape - 1)
        weight = special.softmax(profile)
        kept = weight >= NEGLIGIBLE  # none where a quarter of the distances are zero
        theta = weight[kept] @ grid[kept] / weight[kept].sum() if kept.any() else 0.0
        found = np.log1p(-theta * excess).mean()
    return float((n * found + PRIOR_DRAWS * PRIOR_SHAPE) / (n + PRIOR_DRAWS))
