"""Separation of binary outcomes: the likelihood then has no maximum, and only the prior bounds some coefficients."""
from dataclasses import dataclass

import numpy as np

from sgmc.core.design import products
from sgmc.errors import DataError, SeparationWarning
from sgmc.fitting.mode import newton

CHUNK = 1 << 16
SUSPECT = 0.1             # share of misclassified rows below which complete separation is worth a second look
FEW = 4                   # contrary outcomes up to which a coefficient's posterior is markedly skewed (skewness 1/sqrt(k))


@dataclass(frozen=True)
class Wall:
    """A two-valued column, one value of which hardly ever, or never, occurs with one of the outcomes.

    Attributes
    ----------
    column : int
    common : float
        The other value, as stored in the table.
    rows, contrary : int
        Rows with the value in question, and those of them with the rarer outcome.
    gap : float
        The value in question minus the other.
    usual : int
        Sign of the linear predictor that the usual outcome asks for.
    """

    column: int
    common: float
    rows: int
    contrary: int
    gap: float
    usual: int


def separation(X, y, names, intercept):
    """Walls, and a SeparationWarning (in a list) where some of them are without contrary outcomes.

    With an intercept that is quasi-complete separation.  Quasi-complete separation by combinations of predictors is not
    looked for.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)
        Outcomes 0/1.
    names : list of str
    intercept : int or None

    Returns
    -------
    walls : list of Wall
    concerns : list of SeparationWarning
    """
    walls = [] if intercept is None else lopsided_columns(X, y)
    pure = [names[w.column] for w in walls if w.contrary == 0]
    if not pure:
        return walls, []
    shown = ", ".join(pure[:6]) + (f" and {len(pure) - 6} more" if len(pure) > 6 else "")
    return walls, [SeparationWarning(f"one value of {shown} goes with a single outcome (quasi-complete separation).",
                                     "The prior alone bounds that side of these coefficients; merge rare levels or set the prior.")]


def complete_separation(model, wide_prior, mode, y, eta):
    """A SeparationWarning, in a list, where some linear predictor classifies every row.

    That of the mode may, or the one that Newton's method reaches from there with the priors all but gone; the latter is tried
    where few rows are misclassified.

    Parameters
    ----------
    model : Model
    wide_prior : PriorTerms
    mode : array (d,)
    y, eta : array (n,)
        Outcomes 0/1 and linear predictors at the mode.
    """
    wrong = ((2 * y - 1) * eta <= 0).mean()
    if 0 < wrong < SUSPECT:
        try:
            eta = linear_predictor(model, newton(model, wide_prior, mode, limit=25)[0])
        except DataError:
            pass                  # even that is improper: the mode's own linear predictor decides
        wrong = ((2 * y - 1) * eta <= 0).mean()
    if wrong:
        return []
    return [SeparationWarning("the predictors separate the outcomes completely: every row can be classified without error.",
                              "Coefficients are bounded by the prior alone; check for a predictor that encodes the outcome.")]


def linear_predictor(model, theta):
    """Linear predictors of all rows, offset included."""
    return products(model.X, theta) + (np.asarray(model.offset) if len(model.offset) else 0.0)


def lopsided_columns(X, y):
    """Walls of a table: two-valued columns, one of whose values occurs at most FEW times with one of the outcomes."""
    head = X[:1000]
    columns = np.flatnonzero(((head == head.min(axis=0)) | (head == head.max(axis=0))).all(axis=0))   # hardly more than wanted
    chunks = [slice(a, a + CHUNK) for a in range(0, len(y), CHUNK)]
    low = np.min([X[c, columns].min(axis=0) for c in chunks], axis=0)
    high = np.max([X[c, columns].max(axis=0) for c in chunks], axis=0)
    middle = 0.5 * (low + high)
    cells = np.zeros((2, 2, len(columns)), dtype=int)         # value (high, low) x outcome (1, 0)
    two_valued = low < high
    for c in chunks:
        part, outcome = X[c, columns], y[c] > 0.5
        two_valued &= ((part == low) | (part == high)).all(axis=0)
        up = part > middle
        cells += [[(v & o[:, None]).sum(axis=0) for o in (outcome, ~outcome)] for v in (up, ~up)]
    contrary = cells.min(axis=1)
    side = contrary.argmin(axis=0)                            # 0: the high value is lopsided
    found = np.flatnonzero(two_valued & (contrary.min(axis=0) <= FEW) & (contrary[0] != contrary[1]))
    usual = np.where(cells[:, 0] > cells[:, 1], 1, -1)        # sign of the linear predictor of the usual outcome
    return [Wall(int(columns[k]), float((low, high)[side[k]][k]), int(cells[side[k], :, k].sum()),
                 int(contrary[side[k], k]), float((high - low)[k] * (1, -1)[side[k]]), int(usual[side[k], k]))
            for k in found]
