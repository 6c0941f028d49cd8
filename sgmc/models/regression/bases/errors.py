"""Outcomes whose standard errors are known one by one, as estimates of studies have them."""

import numpy as np

from sgmc.errors import ArgumentError, NotSupported
from sgmc.models.regression.bases.known import KnownFamily

INSTEAD = {
    "weights": "a standard error is the weight of its outcome, 1 / se^2: leave weights out, or for "
    "w equal studies divide se by sqrt(w)",
    "sigma": "sigma is one scale for all outcomes: give one of them",
}


class KnownErrors(KnownFamily):
    """y_i ~ N(eta_i, se_i^2) with every se_i known.

    The compiled model is the one of sigma = 1 in which row i counts 1 / se_i^2 times, see
    `Table.multiplicity`: -(y - eta)^2 / (2 se^2) is the log density up to what does not depend on
    coefficients.

    Parameters
    ----------
    whole : Family
        With sigma to be learned.
    se : array, (row,) or (row, 1), optional
        Of the rows in question; None where these are not known, as of new rows.
    """

    def __init__(self, whole, se=None):
        super().__init__(whole, (1.0,))
        self.known, self.se = {}, se

    @property
    def extra(self):
        """The standard errors as draws of auxiliary parameters are given."""
        return np.asarray(self.se, dtype=float)[None]

    @property
    def graded(self):
        """Whether intervals of single outcomes are known: their standard errors are."""
        return self.se is not None

    def of_errors(self, se):
        """The family of rows with these standard errors."""
        return KnownErrors(self.whole, se)

    def of_ends(self):
        """There is none: a row's density is then no power of that of sigma = 1."""
        raise NotSupported(
            "cens() and trunc() beside se: known standard errors go with outcomes that were all "
            "observed; leave one of them out",
            because="limit",
        )

    def best_constant(self, y, weights):
        """The mean of the outcomes, weighted by their precisions."""
        return np.average(y, weights=weights / self.se**2)

    def deviance(self, y, mean, extra=None):
        """(y - mean)^2 / se^2."""
        return self.whole.deviance(y, mean) / self.se**2


def with_errors(family, options, weight):
    """The family with known standard errors.

    Parameters
    ----------
    family : Family
    options : dict
        The model's own arguments.
    weight : array (n,) or None
        Frequency weights.

    Raises
    ------
    ArgumentError
        For a family that has no standard errors of outcomes, and what cannot stand beside them.
    """
    refuse_errors(family)
    given = {"weights": weight, "sigma": options.get("sigma")}
    for name, value in given.items():
        if value is not None:
            raise ArgumentError(f"{name} beside se: {INSTEAD[name]}")
    return KnownErrors(family)


def refuse_errors(family):
    """ArgumentError for a family that has no standard errors of outcomes."""
    if not family.errors:
        raise ArgumentError(
            f"se does not apply to {family.name}: known standard errors belong to outcomes that "
            "are estimates, with normal errors: use sgmc.ols()"
        )


def refuse_beside_errors(prior, settings):
    """ArgumentError or NotSupported for a prior of sigma, which is not there, and for the sandwich
    of scores, which stands in for a variance that is known here.
    """
    if isinstance(prior, dict) and "sigma" in prior:
        raise ArgumentError(
            "prior['sigma'] beside se: the outcomes have the standard errors given, and there is "
            "no sigma; leave it out"
        )
    if settings.robust:
        raise NotSupported(
            f"cov_type={settings.cov_type!r} beside se: the variances of the outcomes are taken as "
            "known; leave cov_type='nonrobust', or leave se out",
            because="limit",
        )
