"""Smooths at the whole draws that a fit has kept."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sgmc.core.bank import MAX_BANKED
from sgmc.errors import ArgumentError, ExtrapolationWarning, warn
from sgmc.formula.designs.coded import beside
from sgmc.models.regression.bases.predictors.two_predictors import with_columns


@dataclass(frozen=True)
class CurveDraws:
    """Draws of what smooths are made of.

    Attributes
    ----------
    coefficients : array (m, d)
        Of the columns as the user has them.
    columns : array (m, k)
        Of the penalised columns; without smooths none.
    extra : array (a, m) or None
        Auxiliary parameters.
    parameters : array (m, parameters) or None
        What is printed, at the same draws; files of earlier releases have none.
    """

    coefficients: np.ndarray
    columns: np.ndarray
    extra: np.ndarray | None
    parameters: np.ndarray | None = None

    @classmethod
    def of_fit(cls, fit):
        """Those of a `Fit`, None where it has no whole draws."""
        problem, draws = fit.problem, whole_draws(fit)
        if draws is None:
            return None
        d, log_params = problem.own.rows.blocks.d, problem.own.rows.blocks.log_params
        where, last = problem.coordinates, draws[:, draws.shape[1] - log_params :]
        extra = where.report.numbers(last).T if log_params else None
        beta, printed = where.as_given(draws[:, :d]), where.printed(draws[:, where.places])
        return cls(beta, draws[:, problem.own.rows.dense[d:]], extra, printed)

    @classmethod
    def joined(cls, every, kept):
        """Those of several fits, at the `kept` draws of each."""
        of_each = list(zip(every, kept))
        coefficients = np.concatenate([one.coefficients[at] for one, at in of_each])
        columns = np.concatenate([one.columns[at] for one, at in of_each])
        parameters = np.concatenate([one.parameters[at] for one, at in of_each])
        extra = None
        if every[0].extra is not None:
            extra = np.concatenate([one.extra[:, at] for one, at in of_each], axis=1)
        return cls(coefficients, columns, extra, parameters)


def whole_draws(fit):
    """Whole draws (m, dim): coefficients of the table's columns, effects, phi, logs; None where
    there are none.
    """
    if not fit.problem.partial:
        kept = fit.x[:, :: spacing(fit)]
        return fit.problem.coordinates.natural(kept.reshape(-1, kept.shape[2]))
    if not fit.recorders:
        return None
    return np.concatenate([one.bank[0] for one in fit.recorders]).astype(float)


def spacing(fit):
    """How many draws of a chain lie between one whole draw and the next: with effects of levels as
    many as recorders keep are used, and without them all.
    """
    if fit.problem.partial:
        return fit.recorders[0].state()["spacing"]
    return math.ceil(fit.x.shape[1] / MAX_BANKED) if fit.problem.own.rows.codes.shape[1] else 1


def with_curves(rows, columns, draws, smooths, more=()):
    """`Rows` with the penalised columns (n, k) of smooths and their draws (m, k) beside others;
    `more` are the linear predictors of what stands behind those of the smooths.
    """
    coefficients = np.concatenate([rows.coefficients, draws], axis=1)
    predictor = [one.predictor for one in smooths for _ in range(sum(one.sizes))] + [*more]
    family = with_columns(rows.family, predictor)
    return replace(rows, family=family, X=beside(rows.X, columns), coefficients=coefficients)


def columns_of(smooths, data):
    """The penalised columns of new data (n, k); warns of rows beyond the ends of the knots."""
    found = []
    for one in smooths:
        x, w = one.read(data)
        far = one.outside(x)
        for j, name in enumerate(one.covariates.exog_names):
            count = int(far[:, j].sum())
            if count:
                basis = one.bases[j]
                warn(
                    ExtrapolationWarning(
                        f"{count} of {len(x)} new rows have {name} outside of {basis.low:g} to "
                        f"{basis.high:g}, the range that {one.label} was fitted to: there it "
                        f"{basis.beyond}.",
                        "Leave such rows out, or give knots=(low, high) in the formula to widen "
                        "the range.",
                    )
                )
        found.append(one.matrix(x, w))
    return np.concatenate(found, axis=1)


def found_curve(smooths, name):
    """The `Smooth` with a curve of that name, the curve's number among its multipliers, and the
    places of its columns among those of all.
    """
    begin, names = 0, []
    for one in smooths:
        sizes = one.sizes
        for by in range(one.width):
            names.append(one.curve(by))
            places = np.concatenate([[block.by == by] * k for block, k in zip(one.blocks, sizes)])
            if names[-1] == name or name is None:
                return one, by, begin + np.flatnonzero(places)
        begin += sum(sizes)
    if not names:
        raise ArgumentError("the model has no smooths, such as s(x)")
    raise ArgumentError(f"there is no smooth {name!r}: there are {', '.join(names)}")


def curve_at(smooth, by, places, draws, names, x):
    """Draws (n, m) of a curve or surface at covariates (n, c), its mean over the rows of the fit
    being zero; of one that is multiplied by a number the whole of it.
    """
    w = np.zeros((len(x), 1 if smooth.multipliers is None else smooth.width))
    w[:, by] = 1.0
    own = np.concatenate([[block.by == by] * k for block, k in zip(smooth.blocks, smooth.sizes)])
    out = smooth.matrix(x, w)[:, own] @ draws.columns[:, places].T
    lines, means = smooth.line_columns(x), smooth.means[by]
    for column, mean, labels in zip(lines.T, means, smooth.line_labels(by)):
        for label in labels:
            if label in names:
                shift = 0.0 if smooth.numeric else mean
                out += np.outer(column - shift, draws.coefficients[:, names.index(label)])
    return out
