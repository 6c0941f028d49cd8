"""Residuals, likelihoods and deviances of the data of the fit."""

import numpy as np

from sgmc.arguments.numbers import whole
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.outcomes.data.beside import need_errors, need_trials
from sgmc.results.outcomes.data.labels import numbers
from sgmc.results.outcomes.data.large import room_for
from sgmc.results.outcomes.data.offers import (
    LAW,
    OBSERVED,
    OBSERVED_TIMES,
    RESIDUALS,
    UNIT_DEVIANCE,
    need,
)
from sgmc.results.outcomes.data.rows import family_of_rows, fitted_rows
from sgmc.results.outcomes.data.streams import Method
from sgmc.results.outcomes.predicted.prediction import labelled


def fitted(results):
    """E[y | x] of the rows, averaged over draws, in the order of the data; of counts, the
    probability of success.
    """
    rows = fitted_rows(results, "fittedvalues")
    return labelled(results, rows, rows.affordable_mean())


def response(results):
    """y - E[y | x], of counts too."""
    need(results, "resid_response", *RESIDUALS)
    rows = fitted_rows(results, "resid_response").affordable()
    return numbers(in_order(rows, rows.y) - expected(rows), rows.index, "residual")


def expected(rows):
    """E[y | x], averaged over draws, in the order of the data: of counts, counts."""
    return rows.average(lambda at, eta: rows.outcome(at).mean(eta))


def in_order(rows, column):
    """A column of the table in the order of the output."""
    out = room_for(rows.n)
    out[rows.place(slice(None))] = column
    return out


def pearson(results):
    """(y - E[y | x]) / sd(y | x), averaged over draws."""
    need(results, "resid_pearson", LAW, *RESIDUALS)
    rows = fitted_rows(results, "resid_pearson").affordable()

    def residual(at, eta):
        family = rows.outcome(at)
        return (rows.y[at, None] - family.mean(eta)) / np.sqrt(family.variance(eta, rows.extra))

    with np.errstate(invalid="ignore"):  # 0 / 0 of rows without trials
        return numbers(rows.average(residual), rows.index, "residual")


def deviance_residuals(results):
    """sign(y - mu) times the root of the unit deviance at mu = E[y | x]."""
    need(results, "resid_deviance", LAW, *RESIDUALS, UNIT_DEVIANCE)
    rows = fitted_rows(results, "resid_deviance").affordable()
    y, mean = in_order(rows, rows.y), expected(rows)
    beside = (None if one is None else in_order(rows, one) for one in (rows.trials, rows.se))
    family = family_of_rows(rows.family, *beside)
    # rounding of a perfect fit
    found = np.sign(y - mean) * np.sqrt(
        np.maximum(family.deviance(y, mean, rows.at_mean().extra), 0.0)
    )
    return numbers(found, rows.index, "residual")


def llf(results):
    """Log likelihood at the posterior means."""
    need(results, "llf", LAW)
    rows = fitted_rows(results, "llf").at_mean()
    return total(rows, rows.average(rows.log_density))


def deviance(results):
    """Deviance at the posterior means."""
    need(results, "deviance", LAW, OBSERVED_TIMES, OBSERVED, UNIT_DEVIANCE)
    rows = fitted_rows(results, "deviance").at_mean()
    return total(
        rows,
        rows.average(
            lambda at, eta: rows.outcome(at).deviance(
                rows.y[at, None], rows.outcome(at).mean(eta), rows.extra
            )
        ),
    )


def null_deviance(results):
    """Deviance of the best constant, beside the offset where there is one."""
    need(results, "null_deviance", LAW, OBSERVED_TIMES, OBSERVED, UNIT_DEVIANCE)
    rows = fitted_rows(results, "null_deviance")
    family = family_of_rows(rows.family, rows.trials, rows.se)
    # that of the rows has the mode in it where the table was rotated
    offset = results._fit.problem.table.offset
    frequency = np.ones(rows.n) if rows.frequency is None else rows.frequency
    if offset is not None and family.several:
        raise NotSupported(
            f"null_deviance: the best shares of {results.model.family_name} beside an offset have "
            "no closed form; compare with a fit of '1' as the only predictor",
            because="limit",
        )
    extra = rows.at_mean().extra

    def at(constant):
        return float(frequency @ family.deviance(rows.y, family.mean(constant + offset), extra))

    if offset is None:
        return float(
            frequency @ family.deviance(rows.y, family.best_constant(rows.y, frequency), extra)
        )
    from scipy.optimize import minimize_scalar  # only here: it takes long to import

    return float(minimize_scalar(at, bracket=(-1.0, 1.0)).fun)


def total(rows, values):
    """Sum over rows, each as often as its frequency weight says."""
    return float(
        values.sum() if rows.frequency is None else in_order(rows, rows.frequency) @ values
    )


def log_lik(results, exog, endog, offset, trials, draws, **how):
    """Return the log likelihood of each row at draws; see `Results.log_lik`."""
    if exog is not None:
        need_outcomes(endog)
    need_trials(results, exog, trials, "log_lik")
    need_errors(results, exog, how.get("se"), "log_lik")
    new = any(value is not None for value in (exog, endog, offset, trials, how.get("se")))
    rows = (
        results.table_rows(exog, offset, endog=endog, trials=trials, **how)
        if new
        else fitted_rows(results, "log_lik")
    )
    count = whole("draws", draws, 1, none=True)
    rows = with_count(rows, count)
    rows.fits("log_lik")
    return densities(rows)


def need_outcomes(endog):
    """ArgumentError where there are no outcomes of new rows."""
    if endog is None:
        raise ArgumentError(
            "log_lik of new rows needs their outcomes: give endog, as numbers or as the name of a "
            "column"
        )


def refuse_name(results, endog):
    """ArgumentError for the name of a column, which does not tell which times are censored;
    NotSupported where there are no densities of outcomes.
    """
    need(results, "log_lik", LAW)
    if results.model.family.outcome == "survival" and isinstance(endog, str):
        raise ArgumentError(
            f"endog={endog!r} is not enough, as times may be censored: give endog=sgmc.Surv(time, "
            "event) of the new rows, in memory"
        )


def densities_of(endog, draws):
    """Log densities of the outcomes of new rows, a `Method`."""
    need_outcomes(endog)
    count = whole("draws", draws, 1, none=True)
    return Method("log_lik", lambda rows, n: with_count(rows, count), densities)


def with_count(rows, count):
    """Rows with all draws as they are, or with `count` that count alike."""
    return rows if count is None else rows.of_equal_weight(count)


def densities(rows):
    """Log densities of single outcomes, (draw, row)."""
    out = np.empty((rows.m, rows.n))
    for at, eta in rows.blocks():
        out[:, rows.place(at)] = rows.log_density(at, eta).T
    return out
