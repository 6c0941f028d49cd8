"""Linear combinations of parameters, in words or as a matrix, and their posterior."""

import numpy as np
import pandas as pd

from sgmc.arguments.data.arrays import numeric
from sgmc.arguments.names import parameters
from sgmc.arguments.numbers import level
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, DataError
from sgmc.results.parameters.expression import difference


def combinations(wanted, names):
    """Labels, constants (k,) and weights (k, d) of linear combinations.

    Parameters
    ----------
    wanted : str, list of str, dict, Series, DataFrame or array
        See `Results.contrast`.
    names : list of str
        Of the parameters.
    """
    if isinstance(wanted, str):
        wanted = [wanted]
    if (
        isinstance(wanted, (list, tuple))
        and wanted
        and all(isinstance(text, str) for text in wanted)
    ):
        pairs = [difference(text, names) for text in wanted]
        return list(wanted), np.array([a for a, _ in pairs]), np.array([u for _, u in pairs])
    if isinstance(wanted, (dict, pd.Series)):
        wanted = pd.Series(wanted).to_frame().T.set_axis(["c0"])
    if isinstance(wanted, pd.DataFrame) and not isinstance(wanted.columns, pd.RangeIndex):
        parameters("contrast", wanted.columns, names)
        labels = [str(label) for label in wanted.index]
        wanted = wanted.reindex(columns=names, fill_value=0.0)
    else:
        labels = None
    weights = numeric("contrast", wanted).astype(float)
    weights = weights[None] if weights.ndim == 1 else weights
    if weights.ndim != 2 or weights.shape[1] != len(names) or not len(weights):
        raise ArgumentError(
            f"contrast has shape {weights.shape}; it must have {len(names)} columns: "
            f"{', '.join(names[:8])}"
        )
    if not np.isfinite(weights).all():
        raise DataError("contrast has missing or infinite weights")
    return labels or [f"c{i}" for i in range(len(weights))], np.zeros(len(weights)), weights


def contrast(results, wanted, alpha):
    """Return the posterior of linear combinations; see `Results.contrast`."""
    labels, constants, weights = combinations(wanted, results.names)
    return posterior_frame(results.draws @ weights.T + constants, results.weights, labels, alpha)


def posterior_frame(draws, weights, labels, alpha):
    """Mean, sd, interval and P(>0) of quantities (chain, draw, quantity), a row each."""
    low, high = moments.quantile(draws, [level(alpha) / 2, 1 - alpha / 2], weights)
    return pd.DataFrame(
        {
            "mean": moments.mean(draws, weights),
            "sd": moments.sd(draws, weights),
            f"[{alpha / 2:.3g}": low,
            f"{1 - alpha / 2:.3g}]": high,
            "P(>0)": moments.share_above(draws, 0, weights),
        },
        index=labels,
    )
