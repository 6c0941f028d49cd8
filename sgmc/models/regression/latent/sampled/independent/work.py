"""How effects of several factors are integrated out with least work, and when chains have less."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from sgmc.arguments.types import Floats, Ints
from sgmc.models.regression.latent.sampled.independent.interpolated import points_needed
from sgmc.models.regression.rows.effect_sums import MOST_A_DRAW, operations

# what work is counted for: draws of a fit at its defaults, and points of the ratios that its table
# has; points at which the density is compared with the exact one
USUAL_DRAWS, TABLE_POINTS, COMPARED_EXACTLY = 4000, 2000, 16
FAR_SHARE = 1e-4  # of draws, beyond the places where one root is tried for those of all
PRODUCTS_A_DRAW = 5  # of a draw's effects with their precision, see `inverse_root_times`
CALLS_OF_A_ROOT = 3e6  # operations that a root's calls take the time of
MOST_MEANS = 1 << 24  # numbers of a table's means
TABLE_REACH = 14.4  # sds from the mode to which the first tables reach, see `InterpolatedSums`
# of chains: gradients of a draw that is worth about as much, and operations that take the time of
# reading a number of the design with its code, and of moving one of a matrix from memory
GRADIENTS_OF_A_DRAW, READ_NUMBER, MOVED_NUMBER = 16, 20, 8


@dataclass(frozen=True)
class SumsPlan:
    """How effects are integrated out.

    Attributes
    ----------
    axes : array of int
        Numbers of the sds of `InterpolatedSums`; none where each point has a root of its own.
    most : float
        Floating-point operations of its tables.
    """

    axes: Ints
    most: float = 0.0


def planned(
    Z: sparse.csr_array, number: Ints, apart: Ints, d: int, reach: Floats
) -> SumsPlan | None:
    """Return the plan of least work; None where chains have less.

    Parameters
    ----------
    Z : sparse array (n, effects)
        Columns of the effects.
    number : array (effects,) of int
        Of the sd of each.
    apart : array (q,) of bool
        Whether no row has two effects of an sd.
    d : int
        Coefficients.
    reach : array (q,)
        See `reaches`.
    """
    counts, effects = np.bincount(number), len(number)
    # by their levels, those whose columns overlap last: these are no first kind
    order = np.lexsort((-counts, ~apart))
    m = int(counts[order[0]] * apart[order[0]])
    each = operations(m, effects - m + d + 1)
    plans = [SumsPlan(order[:0])]
    work = [(USUAL_DRAWS + TABLE_POINTS) * each if each <= MOST_A_DRAW else np.inf]
    for p in range(1, int(apart.sum()) + 1):
        axes, k = order[:p], int(counts[order[1:p]].sum())
        w = effects - m - k + d + 1
        points = float(points_needed(reach[axes], effects).prod())
        if points * w * max(k, w) > MOST_MEANS:
            continue
        root = k**3 / 3 + 2 * k**2 * w + k * w**2 + CALLS_OF_A_ROOT
        point = w**3 / 3 + 30 * w**2 + points * w**2
        cells = min(Z.nnz, m * k)
        draw = PRODUCTS_A_DRAW * (2 * k**2 + 4 * cells) + points * w * k + point
        work.append((points + COMPARED_EXACTLY) * root + TABLE_POINTS * point + USUAL_DRAWS * draw)
        plans.append(SumsPlan(axes))
    best = int(np.argmin(work))
    # a chain's gradient reads the rows, and moves its position by a dense root of all effects but
    # those of the largest factor: a draw's own products are about those of one gradient, so that
    # tables of many roots are all that may cost more
    each = READ_NUMBER * Z.nnz + MOVED_NUMBER * float(effects - m) ** 2
    chains = USUAL_DRAWS * GRADIENTS_OF_A_DRAW * each
    if best > 0 and work[best] < chains:
        return replace(plans[best], most=chains)
    return plans[0] if work[0] < np.inf else None


def reaches(loading: Any, told: Floats, mode: Floats, covariance: Floats) -> Floats:
    """Return how far axes of `InterpolatedSums` may reach from their middle, (q,).

    Parameters
    ----------
    loading : Loading
    told : array (q,)
        The largest product of a column of each effect with itself.
    mode : array (q + 1,)
        About that of (phi, u).
    covariance : array (q + 1, q + 1)
        About that of (phi, u).
    """
    phi, sds = np.abs(mode[:-1]), np.sqrt(np.diag(covariance)[:-1])
    ends = np.maximum([phi - TABLE_REACH * sds, phi + TABLE_REACH * sds], 0.0)
    low, high = np.log1p(told * (loading.sds(ends) * np.exp(-mode[-1])) ** 2)
    return 0.5 * (high - low)
