"""The memory that a fit with crossed factors needs, besides that of a regression."""

import numpy as np

from sgmc.core.bank import BANK_MEMORY, MAX_BANKED
from sgmc.core.system.memory import Forecast

BORDER_MATRICES = 6  # of the border: precision, Schur complement, roots and their inverses
COLUMN_COPIES = 5  # of the columns of smooths: as given, by level, in the design, under weights
# draws that are made at once, in numbers, and copies of them on their way to parameters
MOST_MADE_AT_ONCE, COPIES_OF_DRAWS = 1 << 21, 8
VECTORS = 6  # of a row, for each effect: codes, covariates, sums by level, cells


def forecast(fixed, data, crossing, settings, summed):
    """The `Forecast` of a fit.

    Parameters
    ----------
    fixed : Forecast
        Of the regression without effects.
    data : RegressionData
    crossing : Crossing
    settings : Settings
    summed : bool
        Whether draws may be independent.
    """
    names = [one.name for one in crossing.factors]
    effects = sum(len(term.columns) for term in crossing.terms)
    curves = crossing.curves.shape[1]
    levels = np.array([len(one.index) for one in crossing.factors], dtype=int)
    width = [sum(len(t.columns) for t in crossing.terms if t.factor == name) for name in names]
    sizes = np.array(levels * width, dtype=int)
    border = data.d + curves + sizes.sum() - sizes.max(initial=0)
    bank = 4.0 * MAX_BANKED * (sizes.sum() + curves)
    bank = min(bank, float(BANK_MEMORY)) * settings.chains
    parts = {
        **fixed.parts,
        "effects of rows": 8.0 * data.n * (VECTORS * effects + COLUMN_COPIES * curves),
        "matrices of all but the largest factor": 8.0 * BORDER_MATRICES * border**2,
        "whole draws": bank,
    }
    if summed and settings.unchained:
        made = 8.0 * min(256 * (data.d + sizes.sum() + curves), MOST_MADE_AT_ONCE)
        parts["draws made at once"] = made * (settings.chains + COPIES_OF_DRAWS * settings.threads)
    blame = fixed.blame
    if names and max(parts, key=parts.get) == "matrices of all but the largest factor":
        second = names[int(np.argsort(sizes)[-min(len(names), 2)])]
        blame = f"{second!r} has {levels[names.index(second)]:,} levels; join its rare ones"
    return Forecast(parts, blame, fixed.available)
