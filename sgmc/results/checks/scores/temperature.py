"""Whether draws are as wide as the posterior, in blocks of parameters, by scores alone."""

from typing import NamedTuple

import numpy as np

from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.chains.visits import batch_mcse
from sgmc.results.checks.scores.stein import SCORE_WORK, scores_at
from sgmc.results.outcomes.data.rows import evenly

SCORED_DRAWS, FEWEST_SCORED_DRAWS = 4000, 40
SHARE = 0.1  # of the fit's own passes over the data, that scores may take
SCORE_STEP = 1e-4  # of differences of scores, in sds of the coordinates


class Temperatures(NamedTuple):
    """How much too wide draws are, relative to the sd, by two temperatures each.

    Attributes
    ----------
    blocks : list of str, (k,)
        Names of parameters; all together come first.
    wide, mcse : array (2, k)
    """

    blocks: list
    wide: np.ndarray
    mcse: np.ndarray


def temperatures(fit, whole, entropy):
    r"""Temperatures of blocks of coordinates, `Temperatures`; one in draws of the posterior.

    With scores s, a place c and random signs v,

    - :math:`-E[(x - c)'s] / d`, the virial one, to which wide directions contribute as much as
      narrow ones;
    - :math:`E[s's] / E[-v' \nabla s \, v]` (Rugh 1997, Phys. Rev. Lett. 78:772; Butler, Ayton,
      Jepps and Evans 1998, J. Chem. Phys. 109:6519), to which directions contribute by their
      precision, so that it shows noise of gradients and too long steps.

    Both hold for any density on all of R^d, by integration by parts, whatever its shape, and
    within each of several modes; the square root of a temperature is the ratio of sds.  Where the
    model simulates its scores, s's is the product of two that were simulated independently.

    Parameters
    ----------
    fit : Fit
    whole : array (chain, draw, dim)
        Draws of all of the sampler's coordinates.
    entropy : int

    Returns
    -------
    Temperatures or None
        None where scores of FEWEST_SCORED_DRAWS draws cost more than SHARE of the fit.
    """
    problem = fit.problem
    chains, draws, d = whole.shape
    work = max(SCORE_WORK / problem.rows.cells, SHARE * fit.passes) / 3
    count = int(min(SCORED_DRAWS, work, chains * draws)) // chains
    if count * chains < FEWEST_SCORED_DRAWS:
        return None
    kept = evenly(draws, count)
    x, w = whole[:, kept], None if fit.weights is None else fit.weights[kept]
    centre, spread = moments.mean(whole, fit.weights), moments.sd(whole, fit.weights)
    signs = Rng(seed_sequence(entropy, "diagnostics", 3)).normals(x.size).reshape(x.shape)
    away = SCORE_STEP * spread * np.sign(signs)
    s, ahead, back = (
        scores_at(fit, np.ascontiguousarray(at.reshape(-1, d)), entropy, "exact").reshape(x.shape)
        for at in (x, x + away, x - away)
    )
    other = simulated_again(fit, x.reshape(-1, d), s.reshape(-1, d), entropy).reshape(x.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        curvature = -(ahead - back) / (2 * away)
    moved = (s != 0).any(axis=(0, 1))  # others have updates of their own
    names = np.array([name.partition("[")[0] for name in problem.free_names])[moved]
    blocks, of = np.unique(names, return_inverse=True)
    groups = [np.full(len(of), True), *(of == k for k in range(len(blocks)))]
    virial, square, bend = (
        np.stack([part[..., moved][..., group].mean(axis=2) for group in groups], axis=2)
        for part in (-(x - centre) * s, s * other, curvature)
    )
    mean = moments.mean(bend, w)
    hot = moments.mean(square, w) / mean
    return Temperatures(
        ["all parameters", *(str(name) for name in blocks)],
        (np.stack([moments.mean(virial, w), hot]) - 1) / 2,
        np.stack([batch_mcse(virial, w), batch_mcse((square - hot * bend) / mean, w)]) / 2,
    )


def simulated_again(fit, points, scores, entropy):
    """Scores at the points with a randomness of their own, or the same where they have none."""
    few = len(points[:FEWEST_SCORED_DRAWS])
    for asked in (few, len(points)):
        again = scores_at(fit, np.ascontiguousarray(points[:asked]), entropy + 1, "exact")
        if np.array_equal(again, scores[:asked]):
            return scores
    return again
