"""Sandwich covariances beside group terms: scores are those of groups, as the rows of one depend on
each other.
"""

import numpy as np

from sgmc.coordinates.approximations.mode import Mode
from sgmc.coordinates.whitened.sandwich import sandwich_coordinates, score_covariance
from sgmc.coordinates.whitened.score_covariance import cluster_covariance, few_clusters
from sgmc.coordinates.whitened.whitening import Coordinates
from sgmc.errors import ArgumentError, NotSupported, SGMCWarning
from sgmc.models.regression.latent.integrated.rows import GroupedRows


def refuse_leverages(cov_type: str) -> None:
    """NotSupported for HC3."""
    if cov_type == "HC3":
        raise NotSupported(
            "cov_type='HC3' with group terms: its leverages are of rows that are independent of "
            "each other; use cov_type='robust', whose scores are those of groups",
            because="mathematics",
        )


def refuse_near_zero(cov_type: str, near: list, effects) -> None:
    """NotSupported where the mode has no Gaussian around it."""
    if near:
        raise NotSupported(
            f"cov_type={cov_type!r}: {effects.sds[near[0]]} may be zero, and the sandwich is a "
            "Gaussian around a mode away from that; leave the group term out, or leave "
            "cov_type='nonrobust'",
            because="mathematics",
        )


def clusters_of_groups(groups, rows: GroupedRows, factor: str):
    """Return the cluster of each group, (k,), from that of each row of the user's table.

    Raises
    ------
    ArgumentError
        Where rows of a group are in several clusters, which then depend on each other.
    """
    _, codes = np.unique(np.asarray(groups)[rows.table.order], return_inverse=True)
    first = codes[rows.starts[:-1]]
    if (codes != np.repeat(first, np.diff(rows.starts))).any():
        raise ArgumentError(
            f"groups: rows of one level of {factor} are in several clusters, which depend on each "
            f"other by its effect; give clusters of whole levels, or leave ({factor}) out"
        )
    return first


def grouped_sandwich(
    mode: Mode, kernel, rows: GroupedRows, data, settings, factor: str, back, logs: int
) -> tuple[Coordinates, list[SGMCWarning]]:
    """Return coordinates in which the sandwich is the identity, see
    `sgmc.coordinates.whitened.sandwich`, and a warning, in a list, where groups or clusters are
    few.

    Parameters
    ----------
    mode : Mode
    kernel : Marginal
        Its rows are groups.
    rows : GroupedRows
    data : RegressionData
    settings : Settings
    factor : str
        The outer factor.
    back : array (dim, dim)
    logs : int
    """
    units = np.arange(kernel.n)
    if settings.cov_type == "cluster":
        units = clusters_of_groups(data.groups, rows, factor)
        V = cluster_covariance(kernel, mode.theta, units, None, data.d, rows.table.nobs)
    else:
        V = score_covariance(kernel, mode.theta)
    return sandwich_coordinates(mode, back, V, False, logs), few_clusters(units)
