"""The memory that a fit with a factor of very many levels needs, besides that of the others."""

from dataclasses import replace

import numpy as np

from sgmc.models.regression.latent.integrated.problem import CURVATURES

NUMBERS_OF_ROWS = 10  # of a row: levels, codes, orders and multipliers while it is sorted by group


def forecast(head, model):
    """The `Forecast` of a fit.

    Parameters
    ----------
    head : Forecast
        Of the regression without the factor.
    model : LevelsRegression
    """
    data, sizes = model.data, np.diff(model.grouping.starts)
    if not data.coded:  # rows of a group are told by a few numbers
        return head
    width = width_of_groups(data, int(sizes.max()))
    kept = width**2 if len(sizes) * width**2 <= CURVATURES else 0
    return replace(
        head,
        parts={
            **head.parts,
            "rows, by group": 8.0 * NUMBERS_OF_ROWS * data.n,
            "scores and curvatures of groups": 8.0 * len(sizes) * (3 * width + kept),
        },
    )


def width_of_groups(data, largest):
    """How many coefficients rows of a group may know of: ones, numbers, and of the columns of
    factors those that occur in a group of so many rows, or all where these are not far fewer.
    """
    table = data.source.table
    numbers = len(table.places) + (table.ones >= 0)
    columns = data.d - numbers
    few = min(columns, largest)
    return numbers + (few if 2 * few <= columns else columns)
