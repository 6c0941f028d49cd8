"""The posterior of an update in sampler coordinates."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.data.limited import columns_of
from sgmc.coordinates.approximations.modes import ModeSearch
from sgmc.coordinates.whitened.whitening import undo_centring
from sgmc.core import expansion
from sgmc.core.designs.design import design
from sgmc.core.system import deadline
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import ArgumentError, FormulaError, UpdateWarning
from sgmc.fit.parts import Evidence
from sgmc.fit.problem import CURVATURE
from sgmc.models.regression.coordinates import preconditioner
from sgmc.models.regression.mode.search import power_of, search_of
from sgmc.models.regression.problem import as_far_as_known, whitened
from sgmc.models.regression.rows.data import as_floats
from sgmc.models.regression.rows.prepare import prepare
from sgmc.models.regression.updated.account import FIT_AGAIN, anchored
from sgmc.models.regression.updated.prior import Carried, CarriedPriors
from sgmc.models.regression.updated.taylor import ExactRows
from sgmc.models.regression.updated.weighed import weighed
from sgmc.results.outcomes.data.rows import fitted_rows
from sgmc.results.outcomes.predicted.residuals import in_order

FEWEST_CHANGES = 8  # of outcomes from row to row: the same ones by chance once in 2^8
SAME_ROWS = 1e-7  # of derivatives in posterior sds: sums of the same rows differ by rounding errors
UNSEEN = "update keeps the coefficients that there are: fit all rows together, or leave them out"


@dataclass(frozen=True)
class Update(Evidence):
    """What an update has beside the rows that are new, and what the verdict is told of it.

    Attributes
    ----------
    past : Past
        Of the earlier rows.
    account : Account
    other : Weighed or None
    coordinates : Coordinates
    names : list of str
    """

    past: object
    account: object
    other: object
    coordinates: object
    names: list

    def differences(self, fit):
        """Differences of the draws from the old ones, weighed, and their errors, (2, d) each; None
        where weights are of no use.
        """
        if self.other is None or not self.other.usable:
            return None
        if "differences" not in fit.computed:
            weights = None if fit.weights is None else np.tile(fit.weights, len(fit.x))
            apart = self.other.apart(self.coordinates.theta(fit.x), weights)
            fit.computed["differences"] = apart
        return fit.computed["differences"]

    def extra_checks(self, fit):
        found, apart = [self.account.concern()], self.differences(fit)
        if apart is not None:
            found.append(self.other.concern(*apart, self.names))
        elif not self.account.known:
            found.append(
                UpdateWarning(
                    f"the new rows move the mode by {self.account.drift:.2g} posterior sds, and "
                    f"how much of the earlier rows is neglected is unknown for "
                    f"{len(self.names)} parameters: the old draws are too few, or too far "
                    "away, to be weighed by the new rows.",
                    FIT_AGAIN,
                )
            )
        return [one for one in found if one is not None]

    def error_allowance(self, fit):
        # what is neglected, or where that is not known the differences from the old draws, weighed,
        # with twice their errors
        if self.account.known:
            return self.account.neglected, "what the update neglects"
        apart, errors = self.differences(fit)
        size = float((np.abs(apart) + 2 * errors).max())
        return size, "the distance from the old draws, weighed by the new rows"


def refuse_rows_of_fit(model, kernel, back):
    """ArgumentError where new rows are those of the fit, which would count twice: they have the
    same outcomes in the same order, and the same derivatives of the likelihood at the old mode.

    Parameters
    ----------
    model : UpdatedRegression
    kernel : Model
        Of the new rows.
    back : array (dim, dim)
        From the coordinates of `kernel` to those of the past.
    """
    if model.earlier._fit is None:
        return
    rows = fitted_rows(model.earlier, "update")
    old = np.stack([in_order(rows, one) for one in columns_of(rows.y)])
    new = np.stack([as_floats(one) for one in columns_of(model.data.y)])
    # few outcomes, or such as hardly change, may well be the same in other rows
    changes = (old[:, 1:] != old[:, :-1]).any(axis=0).sum()
    if not np.array_equal(new, old) or changes < FEWEST_CHANGES:
        return
    place, inverse = model.past.place, np.linalg.inv(back)
    with one_blas_thread():
        _, gradient, precision = expansion.expand(kernel, inverse @ place)
        gradient, precision = inverse.T @ gradient, inverse.T @ precision @ inverse
    known = ExactRows(model.earlier._fit.problem, prior=False).expansion(place)
    size = np.sqrt(np.abs(np.diag(known[1])))
    off = [(gradient - known[0]) / size, (precision - known[1]) / np.outer(size, size)]
    if max(np.abs(one).max() for one in off) < SAME_ROWS:
        raise ArgumentError(
            f"update: new_data has the {len(model.data.y):,} rows of the fit itself, which would "
            "count twice: give new rows alone. To fit the table again call the verb, such as "
            f"sgmc.{model.family.name}(...); for more draws call resume()"
        )


def updated_problem(model, settings):
    """The problem of an `UpdatedRegression` for checked settings."""
    data, family, past = model.data, model.family, model.past
    precondition = preconditioner(len(data.parameter_names(family)), settings)
    table = prepared(data, settings, precondition)
    earlier = model.earlier.priors
    back = undo_centring(len(earlier.names), earlier.shifts(table.shift), earlier.intercepts)
    kernel = family.kernel(design(table.X), table.response, table.offset, table.multiplicity)
    refuse_rows_of_fit(model, kernel, back)

    def search(terms, start):
        mode, warnings = search_of(kernel, terms, table, family)(start, True)
        if not mode.whole:
            raise OutOfTime
        return mode, warnings

    try:
        terms, mode, warnings, account = anchored(past, search, back)
    except OutOfTime:
        raise ArgumentError(
            "update: time_limit ended the search for the new mode; give more time"
        ) from None
    priors = CarriedPriors.of(earlier, terms, past.nobs)
    found = Carried(
        table=table,
        priors=priors,
        shift=-table.shift,
        model=kernel,
        likelihood=None,
        terms=terms,
        mode=replace(mode, anchor=None),
        cavities=[],
        power=power_of(family),
        warnings=warnings,
        modes=ModeSearch(1, (1.0,), can_search=False),
    )
    other = None
    try:
        with deadline.leaving(0.0):
            other = weighed(model.earlier, kernel, back)
        made = whitened(found, data, family, settings, precondition, False)
    except OutOfTime:
        made = as_far_as_known(found, family, CURVATURE)
    own = Update(past, account, other, made.coordinates, priors.names)
    seen = replace(made.rows, nobs=past.nobs + made.rows.nobs)
    return replace(made, rows=seen, own=own, evidence=(own,))


def prepared(data, settings, precondition):
    """The table of the new rows; FormulaError, with the way out, for levels that are new."""
    try:
        return prepare(data, settings.seed, settings.dtype, centre=precondition is not None)
    except FormulaError as error:
        raise FormulaError(f"the new rows: {error}; {UNSEEN}") from error
