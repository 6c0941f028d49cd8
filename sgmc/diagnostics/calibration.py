"""How well predictions fit outcomes: calibration errors, log-loss, root mean square error."""

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.data.arrays import shaped
from sgmc.arguments.data.draws import as_points
from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Floats, Ints
from sgmc.errors import DataError


def ece(probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = 10) -> float:
    r"""Return the expected calibration error: how far predicted probabilities are from frequencies,
    on average.

    :math:`\sum_b (n_b / n) |\mathrm{freq}_b - \mathrm{conf}_b|` over bins of equal width of the
    confidence (Naeini, Cooper and Hauskrecht 2015; Guo et al. 2017, eq. 3), freq the share of
    successes and conf the mean confidence in the bin.

    Parameters
    ----------
    probabilities : array_like, (n,) or (n, k)
        (n,): of a success; a success is outcome 1, the confidence the probability itself.  (n, k):
        of k classes; the confidence is that of the most probable class, a success that it is the
        outcome.
    outcomes : array_like, (n,)
        0 and 1, or classes 0 to k - 1.
    bins : int

    Returns
    -------
    float
    """
    share, gap = _gaps(probabilities, outcomes, bins)
    return float(share @ gap)


def mce(probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = 10) -> float:
    r"""Return the maximum calibration error: :math:`\max_b |\mathrm{freq}_b - \mathrm{conf}_b|`
    over the bins that hold rows.

    Guo et al. (2017, eq. 5); a bin of few rows decides it as well as one of many.

    Parameters
    ----------
    probabilities, outcomes, bins
        As in `ece`.

    Returns
    -------
    float
    """
    share, gap = _gaps(probabilities, outcomes, bins)
    return float(gap[share > 0].max())


def log_loss(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    r"""Return the mean of :math:`-\log p_i`, the predicted probability of what was observed (Nemeth
    and Fearnhead 2021, section 6.1).

    Parameters
    ----------
    probabilities, outcomes
        As in `ece`.

    Returns
    -------
    float
        Infinite where something was observed that was predicted to be impossible.
    """
    p, y = _predictions(probabilities, outcomes)
    with np.errstate(divide="ignore"):
        return float(-np.log(p[np.arange(len(y)), y]).mean())


def rmse(predictions: ArrayLike, outcomes: ArrayLike) -> float:
    r"""Return the root mean square error, :math:`(\sum_i (y_i - \hat y_i)^2 / n)^{1/2}`.

    Parameters
    ----------
    predictions, outcomes : array_like, (n,)

    Returns
    -------
    float
    """
    predictions, outcomes = as_points("predictions", predictions), as_points("outcomes", outcomes)
    shaped("outcomes", outcomes, predictions.shape)
    return float(np.sqrt(np.mean((predictions - outcomes) ** 2)))


def _predictions(probabilities: ArrayLike, outcomes: ArrayLike) -> tuple[Floats, Ints]:
    """Probabilities (n, k) and outcomes as numbers of classes (n,)."""
    p, y = as_points("probabilities", probabilities), as_points("outcomes", outcomes)
    if p.min() < 0 or p.max() > 1:
        raise DataError(f"probabilities must be between 0 and 1, not {p.min():g} to {p.max():g}")
    if p.shape[1] == 1:
        p = np.column_stack([1 - p, p])
    elif np.abs(p.sum(axis=1) - 1).max() > 1e-6:
        raise DataError("probabilities of the classes must sum to one in every row")
    if y.shape != (len(p), 1) or not np.isin(y, np.arange(p.shape[1])).all():
        raise DataError(f"outcomes must be ({len(p)},), of the numbers 0 to {p.shape[1] - 1}")
    return p, y[:, 0].astype(np.intp)


def _gaps(probabilities: ArrayLike, outcomes: ArrayLike, bins: int) -> tuple[Floats, Floats]:
    """Share of the rows in each bin, and |frequency - confidence| there (0 where there are
    none).
    """
    bins = whole("bins", bins, 1)
    p, y = _predictions(probabilities, outcomes)
    binary = np.ndim(probabilities) == 1 or np.shape(probabilities)[1] == 1
    confidence = p[:, 1] if binary else p.max(axis=1)
    success = y if binary else p.argmax(axis=1) == y
    place = np.minimum((confidence * bins).astype(np.intp), bins - 1)
    off = np.bincount(place, success - confidence, bins)
    count = np.bincount(place, minlength=bins)
    return count / len(y), np.abs(off) / np.maximum(count, 1)
