"""Residuals, likelihoods and deviances of the data of the fit."""
import numpy as np
from scipy import optimize

from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.rows import fitted_rows, rows_of


def fitted(results, what="fittedvalues"):
    """E[y | x] of the rows, averaged over draws, and their outcomes, both in the order of the data."""
    if what.startswith("resid"):
        numbers_only(results, what)
    rows = fitted_rows(results, what).affordable()
    return rows.average(rows.family.mean), in_order(rows, rows.y)


def numbers_only(results, what):
    """Refuse residuals of outcomes that are kinds."""
    if results.model.family.outcome == "category":
        raise NotSupported(f"{what}: outcomes of {results.model.family_name} are kinds, which have no residuals; compare shares by "
                           "pp_check(), or look at log_lik()")


def in_order(rows, column):
    """A column of the table in the order of the output."""
    out = np.empty(rows.n)
    out[rows.place(slice(None))] = column
    return out


def pearson(results):
    """(y - E[y | x]) / sd(y | x), averaged over draws."""
    numbers_only(results, "resid_pearson")
    rows = fitted_rows(results, "resid_pearson").affordable()
    family = rows.family
    return rows.average(lambda eta, y: (y - family.mean(eta)) / np.sqrt(family.variance(eta, rows.extra)), rows.y)


def deviance_residuals(results):
    """sign(y - mu) times the root of the unit deviance at mu = E[y | x]."""
    mean, y = fitted(results, "resid_deviance")
    return np.sign(y - mean) * np.sqrt(results.model.family.deviance(y, mean, own_means(results)))


def own_means(results):
    """Posterior means (k, 1) of the family's own parameters, or None."""
    return fitted_rows(results, "deviance").at_mean().extra


def llf(results):
    """Log likelihood at the posterior means."""
    rows = fitted_rows(results, "llf").at_mean()
    return total(rows, rows.average(lambda eta, y: rows.family.log_density(y, eta, rows.extra), rows.y))


def deviance(results):
    """Deviance at the posterior means."""
    rows = fitted_rows(results, "deviance").at_mean()
    return total(rows, rows.average(lambda eta, y: rows.family.deviance(y, rows.family.mean(eta), rows.extra), rows.y))


def null_deviance(results):
    """Deviance of the best constant, beside the offset where there is one."""
    rows, family = fitted_rows(results, "null_deviance"), results.model.family
    offset = results._fit.problem.table.offset                 # that of the rows has the mode in it where the table was rotated
    frequency, extra = np.ones(rows.n) if rows.frequency is None else rows.frequency, own_means(results)

    def at(constant):
        return float(frequency @ family.deviance(rows.y, family.mean(constant + offset), extra))

    if offset is None:
        return float(frequency @ family.deviance(rows.y, family.best_constant(rows.y, frequency), extra))
    return float(optimize.minimize_scalar(at, bracket=(-1.0, 1.0)).fun)


def total(rows, values):
    """Sum over rows, each as often as its frequency weight says."""
    return float(values.sum() if rows.frequency is None else in_order(rows, rows.frequency) @ values)


def log_lik(results, exog, endog, offset, draws):
    """See `Results.log_lik`."""
    from sgmc.fitting.settings import whole

    if exog is not None and endog is None:
        raise ArgumentError("log_lik of new rows needs their outcomes: give endog, as numbers or as the name of a column")
    rows = fitted_rows(results, "log_lik") if exog is None and endog is None and offset is None else \
        rows_of(results, exog, offset, endog=endog)
    count = whole("draws", draws, 1)
    rows = rows if count is None else rows.of_equal_weight(count)
    rows.fits("log_lik")
    out = np.empty((rows.m, rows.n))
    for at, eta in rows.blocks():
        out[:, rows.place(at)] = rows.family.log_density(rows.y[at, None], eta, rows.extra).T
    return out
