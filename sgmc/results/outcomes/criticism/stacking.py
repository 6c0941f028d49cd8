"""Weights of models by leave-one-out predictive accuracy."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from sgmc.arguments.choices import one_of
from sgmc.arguments.seeds import entropy
from sgmc.arguments.types import Floats, Seed, Series
from sgmc.core.random.rng import seed_sequence
from sgmc.errors import ArgumentError, SGMCError
from sgmc.results.outcomes.criticism.loo import judged_alike, numbered_models, weights_of

METHODS = ("stacking", "pseudo-bma", "pseudo-bma+")
WEIGHTS_TOLERANCE = 1e-6  # of the mean log score: what another weight could still add
BOOTSTRAPS, BOOTSTRAP_CELLS = 4000, 1 << 20  # Monte Carlo error of a weight: at most .008


def model_weights(
    fits: Any,
    method: Literal["stacking", "pseudo-bma", "pseudo-bma+"] = "stacking",
    seed: Seed = None,
) -> Series:
    r"""Weigh models for predictions that average over them.

    Stacking maximises the leave-one-out log score of the mixture,
    :math:`\max_w \frac1n \sum_i \log \sum_k w_k p(y_i \mid y_{-i}, M_k)`; pseudo-BMA weights are
    in proportion to exp(elpd) (Yao, Vehtari, Simpson & Gelman 2018, eqs. 4 and 6,
    doi:10.1214/17-BA1091).  Pseudo-BMA+ averages these over how uncertain elpd is, by the Bayesian
    bootstrap of the rows (section 3.4): with :math:`\alpha \sim` Dirichlet(1, .., 1),
    :math:`z_k = n \sum_i \alpha_i \, \mathrm{elpd}_{ik}` and :math:`w_k` the mean of
    :math:`\exp(z_k) / \sum_l \exp(z_l)` over 4,000 draws of :math:`\alpha`.  Of many rows those
    of one sample count, by the inverse of their probabilities; a row of frequency weight w is w
    rows.

    Parameters
    ----------
    fits : list or dict of Results or Loo
        Of the same outcomes in the same order, as for `sgmc.compare`.
    method : {"stacking", "pseudo-bma", "pseudo-bma+"}
        Stacking is the better choice where no model is true; pseudo-BMA prefers one of similar
        models, however little the data tell between them, pseudo-BMA+ less so.
    seed : int, SeedSequence or Generator, optional
        Of the bootstrap of pseudo-BMA+; default that of the first fit, and 0 where all are `Loo`.

    Returns
    -------
    Series
        A weight for each model; they sum to one.

    Raises
    ------
    ArgumentError
        If the models are not of the same outcomes.
    """
    one_of("method", method, METHODS)
    if not isinstance(fits, (Mapping, list, tuple)):
        raise ArgumentError(
            f"model_weights: fits must be a list or dict of results, not {type(fits).__name__}"
        )
    named = numbered_models(fits)
    found = judged_alike(named, "model_weights")
    elpd = np.array([one.elpd for one in found.values()])
    if method == "pseudo-bma":
        return pd.Series(shares(elpd), list(found), name="weight")
    first = next(iter(found.values()))
    count = weights_of(first)[first.rows] / first.sample.probability
    scores = np.column_stack([one.elpd_i for one in found.values()])
    if method == "stacking":
        return pd.Series(stacked(scores, count), list(found), name="weight")
    if seed is None:
        seed = next((one.seed for one in named.values() if hasattr(one, "loo")), 0)
    weights = bootstrapped(elpd, scores, count, weights_of(first).sum(), entropy(seed))
    return pd.Series(weights, list(found), name="weight")


def shares(elpd: Floats) -> Floats:
    """Weights in proportion to exp(elpd), (.., model)."""
    weights = np.exp(elpd - elpd.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def bootstrapped(elpd: Floats, scores: Floats, count: Floats, n: float, seed: Any) -> Floats:
    """Weights (model,): means of `shares` over a Bayesian bootstrap of the rows.

    Parameters
    ----------
    elpd : array (model,)
        Of all rows; around these, rows of a sample show how uncertain they are.
    scores, count
        As in `stacked`.
    n : float
        Rows in all.
    seed : int
    """
    random = np.random.Generator(np.random.PCG64(seed_sequence(seed, "predict", 4)))
    middle, total = count / count.sum(), np.zeros(len(elpd))
    block = max(BOOTSTRAP_CELLS // len(count), 1)
    for start in range(0, BOOTSTRAPS, block):
        some = min(block, BOOTSTRAPS - start)
        alpha = random.standard_gamma(count, (some, len(count)))
        alpha /= alpha.sum(axis=1, keepdims=True)
        total += shares(elpd + n * ((alpha - middle) @ scores)).sum(axis=0)
    return total / BOOTSTRAPS


def stacked(scores: Floats, count: Floats) -> Floats:
    """Weights (model,) that maximise the log score of the mixture.

    Parameters
    ----------
    scores : array (row, model)
        Log predictive densities.
    count : array (row,)
        What each row counts.
    """
    from scipy.optimize import minimize  # only here: it takes long to import

    density = np.exp(scores - scores.max(axis=1, keepdims=True))
    count = count / count.sum()
    k = density.shape[1]

    def objective(w: Floats) -> tuple[float, Floats]:
        mixture = np.maximum(density @ w, 1e-300)
        return -count @ np.log(mixture), -density.T @ (count / mixture)

    found = minimize(
        objective,
        np.full(k, 1 / k),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * k,
        constraints=dict(type="eq", fun=lambda w: w.sum() - 1, jac=np.ones_like),
        options=dict(ftol=1e-14, maxiter=1000),
    )
    w = np.maximum(found.x, 0)
    w /= w.sum()
    gain = (-objective(w)[1]).max() - 1  # of a concave function: a bound of what is left
    if not gain <= WEIGHTS_TOLERANCE:
        raise SGMCError(
            f"model_weights: stacking did not converge, the log score may rise by {gain:.2g} per "
            "row; compare the fits by sgmc.compare(), or leave nearly equal ones out"
        )
    return w
