"""Predictions averaged over draws."""
import numpy as np
import pandas as pd

from sgmc.diagnostics import moments
from sgmc.errors import ArgumentError, DataError
from sgmc.fitting.arrays import check_index, first_place, numeric, table_of_numbers
from sgmc.formula.frames import pandas_or_same

CELLS = 1 << 20           # rows x draws evaluated at a time
WORK = 4e8                # rows x draws evaluated in all; beyond, draws are thinned evenly, to at least FEWEST
FEWEST = 200


def design_of(results, exog, offset):
    """Rows to predict: (design, offset vector, index)."""
    spec, names = results.model.spec, results.names
    if exog is None:
        raise ArgumentError("predict needs new data: these results were loaded from a file, or saved without theirs")
    if spec is not None:
        X = spec.matrix(exog)
    else:
        exog = pandas_or_same(exog)
        X = table_of_numbers("exog", exog)
        X = X[None, :] if X.ndim == 1 and X.shape[0] == len(names) else X
        if X.ndim != 2 or X.shape[1] != len(names):
            raise DataError(f"exog has shape {np.shape(exog)}; it must have {len(names)} columns: {', '.join(names[:8])}")
        check_columns(exog, names)
    place = first_place(X, np.isinf)
    if place is not None:
        raise DataError(f"the new data are infinite in {names[place[1]]!r} at row {place[0]}; leave such rows out")
    index = exog.index if hasattr(getattr(exog, "index", None), "equals") else None
    check_index(exog=exog, offset=offset)
    return X, check_offset(results, offset, X.shape[0]), index if index is not None and len(index) == X.shape[0] else None


def check_columns(exog, names):
    """Refuse a frame that has the columns of the design, but not in their order: it would be read by position."""
    columns = [str(c) for c in getattr(exog, "columns", ())]
    if set(columns) & set(names) and columns != names:
        found, wanted = ", ".join(columns[:8]), ", ".join(names[:8])
        raise DataError(f"exog has the columns {found}; it must have {wanted}, in this order, or pass exog.to_numpy()")


def check_offset(results, offset, n):
    """The offset of n new rows; asked for by name where the fit had one."""
    if offset is None:
        if "offset" in results.model.given:
            raise ArgumentError("the model was fitted with an offset: predict needs offset= for the new rows (0 for none)")
        return np.zeros(n)
    if isinstance(offset, str):
        raise ArgumentError(f"offset={offset!r}: predict takes the numbers themselves, e.g. offset=new[{offset!r}]")
    offset = numeric("offset", offset)
    if offset.ndim > 1 or offset.ndim and len(offset) != n:
        shown = f"{len(offset)} values" if offset.ndim == 1 else f"shape {offset.shape}"
        raise DataError(f"offset has {shown}, the new data have {n} rows")
    if np.isinf(offset).any():
        raise DataError("offset has infinite values; leave such rows out")
    return np.broadcast_to(offset, (n,))


def with_exposure(results, exog, offset, exposure):
    """The offset of new rows with the log of their exposure, which is asked for by name where the fit had one."""
    if exposure is None:
        if exog is not None and "exposure" in results.model.given:
            raise ArgumentError("the model was fitted with an exposure: predict needs exposure= for the new rows (1 for none)")
        return offset
    if not results.model.family.counts:
        raise ArgumentError(f"exposure does not apply to {results.model.family_name}: it belongs to models of counts")
    if isinstance(exposure, str):
        raise ArgumentError(f"exposure={exposure!r}: predict takes the numbers themselves, e.g. exposure=new[{exposure!r}]")
    check_index(exog=exog, exposure=exposure)
    size = numeric("exposure", exposure)
    if not (size > 0).all():
        raise DataError("exposure must be positive")
    if offset is None and "offset" in results.model.given:
        return None                                            # asked for where it is missed
    return np.log(size) + (0.0 if offset is None else numeric("offset", offset))


def rows(results, exog, offset):
    """(table, coefficients (draws, d), offset, index, order): what a linear predictor is made of.

    For the data of the fit the table is the fit's own, in its own coordinates and order.
    """
    fit = results._fit
    if exog is not None or fit is None:
        X, off, index = design_of(results, exog, offset)
        return X, results.flat, off, index, None
    table, where = fit.problem.table, fit.problem.coordinates
    model = fit.problem.model
    natural = where.natural(fit.x.reshape(-1, fit.x.shape[2]))
    off = np.asarray(model.offset) if len(model.offset) else np.zeros(model.n)
    return table.X, natural, off, None, table.order


def posterior_of_mean(results, exog, offset):
    """Draws of E[y | x]: an iterator of blocks (rows of the output, (rows, draws) means), the index, and draws' numbers."""
    X, coefficients, off, index, order = rows(results, exog, offset)
    n, m = X.shape[0], len(coefficients)
    kept = np.arange(m) if n * m <= WORK else np.unique(np.linspace(0, m - 1, max(FEWEST, int(WORK // n))).astype(int))
    size = max(1, CELLS // len(kept))

    def blocks():
        for a in range(0, n, size):
            eta = X[a:a + size] @ coefficients[kept].T + off[a:a + size, None]
            out = np.arange(a, min(a + size, n)) if order is None else order[a:a + size]
            yield out, results.model.family.mean(eta)

    return blocks(), n, index, kept


def predict(results, exog, offset):
    """Posterior mean of E[y | x]; a Series where the new data have an index."""
    blocks, n, index, kept = posterior_of_mean(results, exog, offset)
    weights = None if results.weights is None else results.flat_weights[kept]
    out = np.empty(n)
    for at, mean in blocks:
        out[at] = np.average(mean, axis=1, weights=weights)
    return out if index is None else pd.Series(out, index)


class Prediction:
    """E[y | x] of some rows: posterior mean, sd and intervals."""

    def __init__(self, blocks, n, index, kept, weights):
        self._blocks, self._index = list(blocks) if n <= 1 << 16 else blocks, index
        self._n, self._weights = n, None if weights is None else weights[kept]

    def summary_frame(self, alpha=0.05):
        """DataFrame with mean, mean_se, mean_ci_lower, mean_ci_upper (statsmodels' names; a posterior's meaning)."""
        from sgmc.results.results import check_alpha

        levels, out = [check_alpha(alpha) / 2, 1 - alpha / 2], np.empty((self._n, 4))
        for at, mean in self._blocks:
            draws = mean.T[None]                               # one chain of (draw, row)
            low, high = moments.quantile(draws, levels, self._weights)
            out[at] = np.column_stack([moments.mean(draws, self._weights), moments.sd(draws, self._weights), low, high])
        return pd.DataFrame(out, self._index, ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"])
