"""The posterior of an update in sampler coordinates."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.coordinates.approximations.modes import ModeSearch
from sgmc.coordinates.whitened.whitening import undo_centring
from sgmc.core.designs.design import design
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import ArgumentError, FormulaError, UpdateWarning
from sgmc.fit.parts import Evidence
from sgmc.fit.problem import CURVATURE
from sgmc.models.regression.coordinates import preconditioner
from sgmc.models.regression.mode.search import power_of, search_of
from sgmc.models.regression.problem import as_far_as_known, whitened
from sgmc.models.regression.rows.prepare import prepare
from sgmc.models.regression.updated.account import FIT_AGAIN, anchored
from sgmc.models.regression.updated.prior import Carried, CarriedPriors
from sgmc.models.regression.updated.weighed import weighed

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


def updated_problem(model, settings):
    """The problem of an `UpdatedRegression` for checked settings."""
    data, family, past = model.data, model.family, model.past
    precondition = preconditioner(len(data.parameter_names(family)), settings)
    table = prepared(data, settings, precondition)
    earlier = model.earlier.priors
    back = undo_centring(len(earlier.names), earlier.shifts(table.shift), earlier.intercepts)
    kernel = family.kernel(design(table.X), table.response, table.offset, table.multiplicity)

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
