"""Zero-variance control variates: what scores know of the error of a mean."""

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.choices import one_of
from sgmc.arguments.data.arrays import shaped
from sgmc.arguments.data.draws import as_points
from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Floats
from sgmc.diagnostics.scores.scales import as_sample
from sgmc.errors import ArgumentError


def control_variates(
    draws: ArrayLike,
    scores: ArrayLike,
    values: ArrayLike | None = None,
    *,
    order: int = 1,
    folds: int = 1,
    weights: ArrayLike | None = None,
) -> Floats:
    r"""Correct values of functions at draws, so that their means have less Monte Carlo error.

    For a polynomial P without constant, :math:`\Delta P + \nabla P \cdot s` has mean zero over the
    target (:math:`s = \nabla \log \pi`): the controls are :math:`s_j` for order 1, also
    :math:`2 + 2 x_j s_j` and :math:`x_j s_k + x_k s_j` for order 2.  They are fitted to the values
    by least squares and taken off (Mira, Solgi and Imparato 2013).  On a Gaussian target order 1
    leaves no error in means, order 2 none in second moments, whatever the draws: biased ones, too,
    are put right as far as the target is Gaussian.

    Parameters
    ----------
    draws, scores : array_like, (n, d)
        As in `ksd`; noisy scores that are right on average leave means right, with less gain.
    values : array_like, (n,) or (n, k), optional
        Of the functions whose means are wanted.  Default: the draws.
    order : {1, 2}
        Degree of P: d or d (d + 3) / 2 controls; the draws must be more, and should be ten times as
        many.
    folds : int
        1: coefficients from all draws, with a bias of order 1/n.  More: the draws in so many
        stretches, each corrected by the coefficients of the others, which leaves means of exact
        draws without bias.
    weights : array_like, (n,), optional
        Of the draws.

    Returns
    -------
    ndarray, shape of `values`
        Their (weighted) mean is the estimate.  `mcse` of them, chain by chain, is its Monte Carlo
        error where effective draws are many times the controls; `error_terms` have it elsewhere.
    """
    x, s, w = as_sample(draws, scores, weights)
    y = as_points("values", draws if values is None else values)
    shaped("values", y, (len(x), "k"))
    Z = controls(x, s, w, order)
    folds = whole("folds", folds, 1, max(1, len(x) // 2))
    corrected = np.empty_like(y)
    for stretch in np.array_split(np.arange(len(x)), folds):
        fitted = np.ones(len(x), dtype=bool)
        fitted[stretch] = folds == 1
        corrected[stretch] = y[stretch] - Z[stretch] @ coefficients(Z[fitted], y[fitted], w[fitted])
    return corrected.reshape(np.shape(draws if values is None else values))


def error_terms(
    draws: ArrayLike,
    scores: ArrayLike,
    corrected: ArrayLike,
    *,
    order: int = 1,
    weights: ArrayLike | None = None,
) -> Floats:
    r"""Numbers whose Monte Carlo error is that of the mean of `corrected` values.

    The mean of the controls that is taken off, and the coefficients that it is taken off with, are
    of the same draws.  As of any regression estimator, residuals :math:`e_t` therefore enter the
    estimate with factors :math:`g_t = 1 - \bar Z' S^{-1} (Z_t - \bar Z)`.  The plain spread of
    :math:`e_t` leaves that out, and is too small where effective draws are not many times the
    controls (Sarndal, Swensson & Wretman 1989, doi:10.1093/biomet/76.3.527).

    Parameters
    ----------
    draws, scores, order, weights
        As in `control_variates`.
    corrected : array_like, (n,) or (n, k)
        What it returned, best with folds: residuals of draws that coefficients were not fitted to.

    Returns
    -------
    ndarray, shape of `corrected`
    """
    x, s, w = as_sample(draws, scores, weights)
    e = as_points("corrected", corrected)
    shaped("corrected", e, (len(x), "k"))
    Z = controls(x, s, w, order)
    middle, root = w @ Z, np.sqrt(w)[:, None]
    _, size, axes = np.linalg.svd(root * (Z - middle), full_matrices=False)
    kept = size > size[0] * len(x) * np.finfo(float).eps
    along = axes[kept] / size[kept, None]
    g = 1 - (Z - middle) @ (along.T @ (along @ middle))
    return (w @ e + g[:, None] * (e - w @ e)).reshape(np.shape(corrected))


def controls(x: Floats, s: Floats, w: Floats, order: int) -> Floats:
    """Functions with mean zero over the target, (n, q); of draws in sds,
    for the condition of the least squares.
    """
    one_of("order", order, (1, 2))
    sd = np.sqrt(w @ np.square(x - w @ x))
    sd[sd == 0] = 1.0
    z, s = (x - w @ x) / sd, s * sd
    if order == 1:
        return s
    one, other = np.triu_indices(x.shape[1])
    return np.concatenate(
        [s, z[:, one] * s[:, other] + z[:, other] * s[:, one] + 2.0 * (one == other)], axis=1
    )


def coefficients(Z: Floats, y: Floats, w: Floats) -> Floats:
    """Weighted least squares of y on Z and a constant, without that of the constant."""
    if len(Z) <= Z.shape[1] + 1:
        raise ArgumentError(
            f"{Z.shape[1]} controls need more than {Z.shape[1] + 1} draws to fit them, not {len(Z)}"
        )
    w = w / w.sum()
    root = np.sqrt(w)[:, None]
    return np.linalg.lstsq(root * (Z - w @ Z), root * (y - w @ y), rcond=None)[0]
