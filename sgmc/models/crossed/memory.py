"""The memory that a fit with crossed factors needs, besides that of a regression."""

import numpy as np

from sgmc.core.bank import BANK_MEMORY, MAX_BANKED
from sgmc.core.memory import Forecast

BORDER_MATRICES = 6  # of the border: precision, Schur complement, roots and their inverses
VECTORS = 6  # of a row, for each effect: codes, covariates, sums by level, cells


def forecast(fixed, data, crossing, settings):
    """The `Forecast` of a fit.

    Parameters
    ----------
    fixed : Forecast
        Of the regression without effects.
    data : RegressionData
    crossing : Crossing
    settings : Settings
    """
    names = [one.name for one in crossing.factors]
    effects = sum(len(term.columns) for term in crossing.terms)
    levels = np.array([len(one.index) for one in crossing.factors])
    width = [sum(len(t.columns) for t in crossing.terms if t.factor == name) for name in names]
    sizes = levels * width
    border = data.d + sizes.sum() - sizes.max()
    bank = min(4.0 * MAX_BANKED * sizes.sum(), float(BANK_MEMORY)) * settings.chains
    parts = {
        **fixed.parts,
        "effects of rows": 8.0 * VECTORS * data.n * effects,
        "matrices of all but the largest factor": 8.0 * BORDER_MATRICES * border**2,
        "whole draws": bank,
    }
    second = names[int(np.argsort(sizes)[-2])] if len(names) > 1 else names[0]
    blame = fixed.blame
    if max(parts, key=parts.get) == "matrices of all but the largest factor":
        blame = f"{second!r} has {levels[names.index(second)]:,} levels; join its rare ones"
    return Forecast(parts, blame, fixed.available)
