"""The prior as a posterior of no data: one row of weight zero, whose predictors are zero."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.data.limited import is_records
from sgmc.coordinates.approximations.mode import PriorTerms, posterior_mode
from sgmc.coordinates.approximations.modes import ModeSearch
from sgmc.coordinates.priors.prior_table import PriorTable
from sgmc.core.designs.design import design
from sgmc.errors import ArgumentError, NotSupported
from sgmc.models.regression.mode.bounded import with_ends, without_ends
from sgmc.models.regression.mode.recession import Likelihood
from sgmc.models.regression.mode.search import RegressionMode, first_guess


@dataclass(frozen=True)
class PriorsAlone(PriorTable):
    """Priors of a fit with `prior_only=True`."""

    def described(self):
        return f"Draws of the prior alone: the outcomes do not count. {super().described()}"


class Alone(RegressionMode):
    """The prior alone: data that tell nothing are no trouble."""

    def trouble(self, data, family):
        return [], self.warnings


def silent(table):
    """One row of a table, of weight zero and with predictors of zero, and the moments of all.

    Its outcome is the largest, so that the compiled model knows how many kinds there are.
    """
    k = int(np.argmax(table.y["high"] if is_records(table.y) else table.y))
    y, trials, se = (
        None if part is None else np.array(part[k : k + 1])
        for part in (table.y, table.trials, table.se)
    )
    return replace(
        table,
        X=np.zeros((1, len(table.sd))),
        y=y,
        trials=trials,
        offset=None,
        weight=np.zeros(1),
        strata=None,
        order=np.zeros(1, dtype=np.intp),
        se=se,
    )


def prior_found(table, priors, family, data, outcome):
    """The `RegressionMode` of a prior.

    Parameters
    ----------
    table : Table
        Of `silent`.
    priors : PriorTable
    family : Family
    data : RegressionData
    outcome : (float, float)
        Mean and variance of the outcomes, where the search begins.

    Raises
    ------
    ArgumentError
        For a prior that is flat.
    NotSupported
        For a horseshoe, whose pole no sampler visits without data.
    """
    refuse_improper(priors)
    priors = PriorsAlone(**vars(priors))
    if priors.bounded.any():
        return with_ends(prior_found(table, without_ends(priors), family, data, outcome), priors)
    shift = (table.mean if priors.centred else 0 * table.mean) - table.shift
    shift[data.intercepts] = 0.0
    shift = priors.shifts(shift)
    model = family.kernel(design(table.X), table.response, table.offset, table.multiplicity)
    terms = PriorTerms(priors, shift)
    mode, warnings = posterior_mode(
        model, terms, first_guess(priors, family, None, *outcome), False
    )
    likelihood = Likelihood(table, data, family, priors, model, shift)
    searched = ModeSearch(1, (1.0,))
    return Alone(table, priors, shift, model, likelihood, terms, mode, [], 0.0, warnings, searched)


def refuse_improper(priors):
    """ArgumentError or NotSupported for priors that cannot be drawn from, see `prior_found`."""
    for name, one, bounded in zip(priors.names, priors.used, priors.bounded):
        if one.family == "flat" and not (bounded and np.isfinite(one.bounds).all()):
            raise ArgumentError(
                f"prior_only=True: the prior of {name!r} is flat, from which nothing can be drawn; "
                "give it a proper one, e.g. sgmc.normal(0, 2.5)"
            )
    if len(priors.shrunk):
        raise NotSupported(
            f"prior_only=True with {priors.used[priors.shrunk[0]]}: draw it by prior_draws() of "
            "the model",
            because="limit",
        )
