"""Whether chains enter the region where a standard deviation is nearly zero."""

from typing import NamedTuple

import numpy as np

from sgmc.diagnostics.chains.convergence import ess

LOWEST_SHARE = 0.03  # of the draws: in the region that is looked at, at most
FEWEST_NEAR_ZERO = 20  # draws in it: of fewer the density's shape is not known
NODES = np.linspace(0.0, 1.0, 129)  # of the region, for integrals by Simpson's rule
INNER = 1 / 3  # the part of it next to zero, whose draws are predicted from the others
STEEPEST = 60.0  # change of the log density over the region


class Shortfall(NamedTuple):
    """Draws next to zero, and how many there should be.

    Attributes
    ----------
    limit : float
        Draws below it are counted.
    seen, expected : float
        Shares of all draws.
    z : float
        Their difference in Monte Carlo errors.
    """

    limit: float
    seen: float
    expected: float
    z: float


def near_zero(sd: np.ndarray, scale: float) -> Shortfall | None:
    r"""Compare the draws of a standard deviation near zero with what its density implies there.

    The likelihood is an even function of a standard deviation :math:`\sigma` of effects, and a
    prior that is flat at zero leaves :math:`\log p(\sigma) = a + b \sigma^2 + O(\sigma^4)`, where
    :math:`\sigma` is below the error with which the rows of a level determine its effect.
    The slope b is fitted by maximum likelihood to the draws in the outer two thirds of a region
    [0, r], and the share of the inner third follows.  Chains of centred effects do not enter the
    neck of the funnel at zero (Papaspiliopoulos, Roberts & Skold 2007,
    doi:10.1214/088342307000000014): then fewer draws are seen there than expected.

    Parameters
    ----------
    sd : array (chain, draw)
        Without signs.
    scale : float
        Below which the expansion holds: the error of an effect as its rows determine it.

    Returns
    -------
    Shortfall or None
        None where fewer than 20 draws are in the region.
    """
    from scipy import integrate, optimize  # only here: they take long to import

    r = min(scale / 2, float(np.quantile(sd, LOWEST_SHARE)))
    u = sd.ravel() / r if r > 0 else np.full(1, np.inf)
    outer = u[(u > INNER) & (u <= 1.0)]
    count, inner = len(outer), int((u <= INNER).sum())
    if count + inner < FEWEST_NEAR_ZERO or count == 0:
        return None
    square = float((outer**2).mean())

    def moments(b: float) -> tuple[float, float, float]:
        """Mean and variance of u^2 in the outer part, and the odds of the inner one."""
        at = [INNER * NODES, INNER + (1 - INNER) * NODES]
        p = [np.exp(b * (x**2 - 1)) for x in at]
        low, whole = (integrate.simpson(one, x=x) for one, x in zip(p, at))
        first, second = (integrate.simpson(p[1] * at[1] ** k, x=at[1]) / whole for k in (2, 4))
        return first, second - first**2, low / whole

    ends = -STEEPEST, STEEPEST
    inside = moments(ends[0])[0] < square < moments(ends[1])[0]
    if not inside:  # all draws at one end of the outer part: no shape to go by
        return None
    b = optimize.brentq(lambda b: moments(b)[0] - square, *ends)
    _, variance, odds = moments(b)
    slope = (moments(b + 1e-3)[2] - moments(b - 1e-3)[2]) / 2e-3
    # counts are as good as those of fewer, independent draws
    one = (sd <= r).astype(float)[..., None]
    repeated = max(one.size / float(ess(one, method="mean")[0]), 1.0)
    noise = odds * count * (1 + odds) + count * slope**2 / variance
    z = (inner - odds * count) / np.sqrt(repeated * noise)
    return Shortfall(INNER * r, inner / sd.size, odds * count / sd.size, float(z))
