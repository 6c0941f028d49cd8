"""How heavy the tails of draws are, and which moments they can tell."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.data.draws import as_chains, as_weights
from sgmc.arguments.types import Bools, Floats
from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.chains.moments import Quantiles
from sgmc.diagnostics.chains.pareto import tail_shape

# an index from which no number of draws tells a mean in practice (Vehtari et al. 2024, section 3.2)
NEVER = 0.7
FEWEST_TOLD = 100  # effective draws: of fewer, other checks speak
FEWEST_FITTED = 50  # draws, of which the ten farthest out are a tail
# standardised by the distance from the median to the 84 % quantile, which is one sd of a normal
# law: without a draw farther out the index is below 0.35 (of 4,000 draws of a t with 3 degrees of
# freedom, index 1/3, none is farther in one of 5,000 samples)
PLAIN = 6.0
WITHIN_ONE_SD = 0.16, 0.5, 0.84  # probabilities of the ends, and of the middle


def tail_index(
    draws: ArrayLike, weights: ArrayLike | None = None, quantiles: Quantiles | None = None
) -> Floats:
    r"""Return the tail index of each parameter, the larger of its two tails': a mean exists below
    1, an sd below 1/2.

    The shape k of a generalised Pareto law that is fitted to the
    :math:`\min(n/5, 3 \sqrt{n})` draws farthest out (Zhang and Stephens 2009,
    doi:10.1198/tech.2009.08017; Vehtari, Simpson, Gelman, Yao and Gabry 2024, arXiv:1507.02646).
    Its error is about :math:`(1 + k) / \sqrt{3 \sqrt{n}}`,
    0.1 for 4,000 draws.

    Parameters
    ----------
    draws : array_like, (chain, draw, parameter)
    weights : array_like, (draw,), optional
        Step-size weights, shared by the chains.
    quantiles : Quantiles, optional
        Of the draws, where they are known.

    Returns
    -------
    ndarray, (parameter,)
        0 where no draw is far out, or all that are have one value; NaN for parameters that are
        constant or not finite, and for fewer than 50 draws.
    """
    draws = as_chains(draws)
    if draws.shape[0] * draws.shape[1] < FEWEST_FITTED:
        return np.full(draws.shape[2], np.nan)
    if weights is not None:
        weights = as_weights(weights, draws.shape[1])
        draws, quantiles = draws[:, moments.systematic(weights, draws.shape[1])], None
    with np.errstate(invalid="ignore"):
        varies = np.isfinite(draws).all(axis=(0, 1)) & (np.ptp(draws, axis=(0, 1)) > 0)
    index = np.where(varies, 0.0, np.nan)
    if not varies.any():
        return index
    varying = draws if varies.all() else draws[..., varies]
    quantiles = quantiles and quantiles.of(varies)
    for k in np.flatnonzero(varies)[far_out(varying, quantiles=quantiles)]:
        one = draws[..., k]
        # units and places far from zero leave too few digits to the fit
        one = (one - np.median(one)) / one.std()
        index[k] = max(tail_shape(one, upper) for upper in (False, True))
    return index


def far_out(draws: Floats, beyond: float = PLAIN, quantiles: Quantiles | None = None) -> Bools:
    """Whether the tails of parameters need a look, (parameter,)."""
    lower, upper = ends_far_out(draws, beyond, quantiles)
    return lower | upper


def ends_far_out(draws: Floats, beyond: float = PLAIN, quantiles: Quantiles | None = None) -> Bools:
    """Whether the lower and the upper tail of parameters need a look, (2, parameter); `quantiles`
    of the draws, where they are known.
    """
    quantiles = quantiles or moments.Quantiles(draws, WITHIN_ONE_SD)
    low, centre, high = quantiles(WITHIN_ONE_SD)
    up, down = draws.max(axis=(0, 1)) - centre, centre - draws.min(axis=(0, 1))
    return np.array([down > beyond * (centre - low), up > beyond * (high - centre)])


def index_error(index: Any, draws: int) -> Any:
    """The standard error of a `tail_index` of so many draws, about: (1 + k) / sqrt(3 sqrt(n))."""
    return (1 + index) / np.sqrt(3 * np.sqrt(draws))


def largest_index(size: float | Floats) -> Any:
    """The tail index up to which `size` effective draws tell a mean, of an sd half of it:
    min(1 - 1 / log10 size, 0.7) (Vehtari et al. 2024, section 3.2.4).
    """
    with np.errstate(invalid="ignore"):
        return np.minimum(1 - 1 / np.log10(np.maximum(size, FEWEST_TOLD)), NEVER)
