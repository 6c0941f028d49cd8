"""Autoregressions before the first and after the last time of a fit: their law given the series.

They have no memory but of the nearest time, so that a draw of a series goes on from its end by
f(t + g) ~ N(rho^g f(t), sd^2 (1 - rho^(2 g))), with the sd and the rho of that draw.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.core.random.rng import seed_sequence

SEED_OF_PATHS = 0  # all calls have the same paths, as all have the same draws of the series


def continued(
    smooths: list[Any], data: Any, columns: Floats, parameter: Callable[[str], Floats]
) -> tuple[Floats, Floats, list[int]]:
    """Columns (n, k) of new data, one for each time beyond an end, draws (m, k) of the series
    there, and the linear predictor of each.

    Parameters
    ----------
    smooths : list of Smooth
    data : table
    columns : array (m, all columns)
        Draws of the coefficients of the penalised columns.
    parameter : function of str
        Draws (m,) of an sd or a rho by its name.
    """
    found, drawn, predictors, begin = [], [], [], 0
    for one in smooths:
        if one.bases[0].continues:
            x, w = one.read(data)
            for by in range(one.width):
                own = begin + np.flatnonzero(
                    np.repeat([block.by == by for block in one.blocks], one.sizes)
                )
                steps, paths = beyond(one, by, x[:, 0], columns[:, own], parameter)
                at = np.rint(one.bases[0].steps(x[:, 0]))
                found.append(np.equal.outer(at, steps) * w[:, [by]])
                drawn.append(paths)
                predictors += [one.predictor] * len(steps)
        begin += sum(one.sizes)
    if not found:
        return np.empty((0, 0)), np.empty((0, 0)), []
    return np.concatenate(found, axis=1), np.concatenate(drawn, axis=1), predictors


def beyond(
    smooth: Any, by: int, x: Floats, columns: Floats, parameter: Callable[[str], Floats]
) -> tuple[Floats, Floats]:
    """Numbers (k,) of the steps of times x (n,) that are beyond an end, and draws (m, k) there of
    the series with a multiplier, columns (m, r) being draws of its coefficients.
    """
    basis, names = smooth.bases[0], smooth.names
    last = basis.elements - 1
    steps = np.unique(np.rint(basis.steps(x[np.isfinite(x)])))
    steps = steps[(steps < 0) | (steps > last)]
    if not len(steps):
        return steps, np.empty((len(columns), 0))
    (own,) = (j for j, block in enumerate(smooth.blocks) if block.by == by)
    root = smooth.roots[0] @ smooth.blocks[own].turn
    ends = basis.combined(np.array([basis.low, basis.high]), root) @ columns.T
    sd = parameter(f"sd({names[own]})")
    rho = parameter(f"rho({names[own]})") if basis.rho is None else np.full(len(sd), basis.rho)
    random = np.random.Generator(np.random.PCG64(seed_sequence(SEED_OF_PATHS, "predict", own)))
    paths = np.empty((len(columns), len(steps)))
    for start, end, order in (
        (last, ends[1], np.flatnonzero(steps > last)),
        (0, ends[0], np.flatnonzero(steps < 0)[::-1]),
    ):
        at, value = start, end
        for k in order:
            share = rho ** abs(steps[k] - at)
            noise = sd * np.sqrt(1 - share**2) * random.standard_normal(len(sd))
            at, value = steps[k], share * value + noise
            paths[:, k] = value
    return steps, paths
