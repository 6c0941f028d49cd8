"""How far one posterior's moments are from a reference's."""

from typing import Any

import numpy as np

from sgmc.arguments.data.arrays import shaped
from sgmc.arguments.data.draws import as_points, mean_and_sd
from sgmc.arguments.types import Floats
from sgmc.errors import ArgumentError


def relative_sd_error(result: Any, reference: Any) -> float:
    r"""Return the error of posterior standard deviations, :math:`\lVert \hat\sigma - \sigma
    \rVert_2 / \lVert \sigma \rVert_2`.

    Coullon, South and Nemeth (2023, section 4.1).  The largest sds decide it: give parameters of
    like units.

    Parameters
    ----------
    result, reference : Results or (mean, sd)
        With sds (d,); results' coefficients are matched by name.

    Returns
    -------
    float
    """
    _, sd, _, true = _matched(result, reference)
    return float(np.linalg.norm(sd - true) / np.linalg.norm(true))


def standardised_mean_error(result: Any, reference: Any) -> Floats:
    r"""Return errors of posterior means in the reference's sds, :math:`(\hat\mu_j - \mu_j) /
    \sigma_j`.

    Parameters
    ----------
    result, reference : Results or (mean, sd)
        As in `relative_sd_error`.

    Returns
    -------
    ndarray, (d,)
        In the order of `result`.
    """
    mean, _, true, sd = _matched(result, reference)
    return (mean - true) / sd


def _matched(result: Any, reference: Any) -> tuple[Floats, Floats, Floats, Floats]:
    """Means and sds of both, (d,) each."""
    (mean, sd, names), (true, spread, known) = (
        _moments("result", result),
        _moments("reference", reference),
    )
    if names is not None and known is not None:
        if sorted(names) != sorted(known):
            odd = sorted(set(names) ^ set(known))
            raise ArgumentError(
                f"result and reference have not the same coefficients: {', '.join(odd[:5])}"
            )
        order = [known.index(name) for name in names]
        true, spread = true[order], spread[order]
    shaped("reference", true, mean.shape)
    if (spread <= 0).any():
        raise ArgumentError("the reference's sds must be positive")
    return mean, sd, true, spread


def _moments(what: str, given: Any) -> tuple[Floats, Floats, list[str] | None]:
    """Mean, sd and names (None: none) of results or of a pair."""
    if hasattr(given, "params") and hasattr(given, "bse"):
        return given.params.to_numpy(), given.bse.to_numpy(), list(given.params.index)
    mean, sd = (
        as_points(f"{part} of {what}", values)[:, 0]
        for part, values in zip(("mean", "sd"), mean_and_sd(what, given))
    )
    return mean, shaped(f"sd of {what}", sd, mean.shape), None
