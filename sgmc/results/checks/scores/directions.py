"""Draws of more dimensions than implied moments can tell, beside scores along some directions."""

from dataclasses import dataclass

import numpy as np

from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.diagnostics.chains.convergence import mcse
from sgmc.diagnostics.scores.implied import FEWEST_PER_DIMENSION

RANDOM_DIRECTIONS = 64


@dataclass(frozen=True)
class Along:
    """Errors of draws along directions, the first of them the average over all.

    Attributes
    ----------
    mean, sd : array (1 + RANDOM_DIRECTIONS,)
        Of means, in sds (the average: their root mean square), and relative ones of sds.
    mcse_mean, mcse_sd : array (1 + RANDOM_DIRECTIONS,)
    """

    mean: np.ndarray
    sd: np.ndarray
    mcse_mean: np.ndarray
    mcse_sd: np.ndarray


def along_random(some, entropy):
    r"""Errors along random directions v of whitened coordinates, `Along`.

    Of draws of the target :math:`E[v's] = 0` and :math:`E[(v'(x - m))(v's)] = -1`; of draws that
    are off by b and too wide by a factor 1 + e, on a target that is nearly a standard Gaussian
    there, -b and :math:`-(1 + e)^2`.  The average over all directions, :math:`E[(x - m)'s] = -d`,
    has a Monte Carlo error smaller by :math:`\sqrt d`.

    Parameters
    ----------
    some : Scored or None
    entropy : int

    Returns
    -------
    Along or None
        None where implied moments tell more.
    """
    if some is None or len(some.draws) >= FEWEST_PER_DIMENSION * some.draws.shape[1]:
        return None
    d = some.draws.shape[1]
    w = np.full(len(some.draws), 1 / len(some.draws)) if some.weights is None else some.weights
    w = w / w.sum()
    rng = Rng(seed_sequence(entropy, "diagnostics", 2))
    directions = rng.normals(d * RANDOM_DIRECTIONS).reshape(d, RANDOM_DIRECTIONS)
    directions /= np.linalg.norm(directions, axis=0)
    away = some.draws - w @ some.draws
    all_over = (away * some.scores).sum(axis=1, keepdims=True) / d
    slopes = some.scores @ directions
    products = np.hstack([all_over, (away @ directions) * slopes])
    level = w @ some.scores
    noise = (w**2 @ (some.scores - level) ** 2).sum()  # of independent draws' levels
    overall = np.sqrt(max(level @ level - noise, 0.0) / d)
    return Along(
        np.append(overall, -w @ slopes),
        (-w @ products - 1) / 2,
        np.append(np.sqrt(noise) / d, mcse(slopes[None], weights=w)),
        mcse(products[None], weights=w) / 2,
    )
