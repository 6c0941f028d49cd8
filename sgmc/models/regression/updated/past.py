"""What is known of the log posterior of all earlier rows: the sum of its parts."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.data.limited import is_records, is_truncated
from sgmc.core.system.blas import one_blas_thread
from sgmc.errors import ArgumentError, NotSupported
from sgmc.models.regression.problem import RegressionForms
from sgmc.models.regression.updated.taylor import ExactRows, ExpandedRows

# of 300 such rows means are off by a tenth of an sd, which fourth derivatives do not tell
TRUNCATED = "the log posterior of truncated outcomes bends more than its derivatives tell"
MOST_UPDATED = 512  # of which a full precision matrix is carried on: 2 MB


@dataclass(frozen=True)
class Past:
    """The log posterior of all rows so far.

    Attributes
    ----------
    parts : tuple of Rows or Taylor
        That of the first fit, with its prior, and the likelihood of each update's rows.
    place : array (d,)
        The last mode; auxiliary parameters as logs.
    root : array (d, d)
        Of the covariance of the last Gaussian approximation.
    counts : tuple of float
        Observations of the first fit and of each update.
    drifts : tuple of float
        How far each update moved the mode, in sds of the posterior before it.
    """

    parts: tuple
    place: np.ndarray
    root: np.ndarray
    counts: tuple
    drifts: tuple = ()

    @property
    def nobs(self):
        """Observations so far."""
        return sum(self.counts)

    @property
    def at_hand(self):
        """Whether all rows are still there."""
        return all(isinstance(one, ExactRows) for one in self.parts)

    def expansion(self, theta):
        """(gradient, precision) at theta."""
        with one_blas_thread():
            found = [one.expansion(theta) for one in self.parts]
        return tuple(sum(pieces) for pieces in zip(*found))

    def gone(self):
        """The parts whose rows are gone."""
        return [one for one in self.parts if isinstance(one, ExpandedRows)]

    def straight(self):
        """The same with parts whose rows are gone up to the second order alone."""
        gone = (one.straight() for one in self.gone())
        return replace(
            self, parts=(*gone, *(one for one in self.parts if isinstance(one, ExactRows)))
        )

    def without_rows(self):
        """The same for a file: parts whose rows are there are expanded at the last mode, and what
        is expanded at one place is one part.
        """
        with one_blas_thread():
            found = [
                one.taylor(self.place, self.root)
                for one in self.parts
                if isinstance(one, ExactRows)
            ]
        if not found:
            return self
        first = found[0]
        curved = all(one.third is not None for one in found)
        joined = replace(
            first,
            gradient=sum(one.gradient for one in found),
            precision=sum(one.precision for one in found),
            third=sum(one.third for one in found) if curved else None,
            fourth=sum(one.fourth for one in found) if curved else None,
            nobs=sum(one.nobs for one in found),
            tilt=None if curved else sum(one.tilt for one in found),
        )
        return replace(self, parts=(*self.gone(), joined))


def past_of(results):
    """The `Past` of results, from their fit, or from the file that they were loaded from.

    Raises
    ------
    NotSupported, ArgumentError
        Where they cannot be carried on.
    """
    if results._fit is None:
        if isinstance(results._past, Past):
            return results._past
        raise ArgumentError(
            "update: "
            + (results._past or "these results were saved by a release without update")
            + "; fit all rows together"
        )
    refusal, because = refused(results)
    if refusal:
        raise NotSupported(f"update: {refusal}; fit all rows together", because=because)
    problem = results._fit.problem
    where, mode = problem.approximation, problem.mode
    update = problem.own
    before = None if update is None else update.past
    own = ExactRows(problem, prior=before is None)
    return Past(
        (*(() if before is None else before.parts), own),
        where.back @ mode.theta,
        where.back @ mode.axes[0],
        (*(() if before is None else before.counts), own.nobs),
        () if before is None else (*before.drifts, update.account.drift),
    )


def truncated(y):
    """Whether some outcomes could only be seen between bounds."""
    return is_records(y) and bool(is_truncated(y).any())


def refused(results):
    """Why results in memory cannot be carried on, in words, and its kind; empty where they can."""
    problem, model = results._fit.problem, results.model
    if not isinstance(problem.forms, RegressionForms):
        # old rows and new ones share these: the likelihood does not factor
        return (
            f"{model.title} has effects of groups, smooths, learned scales or levels that are "
            "integrated out, whose posterior has no Gaussian to carry on"
        ), "mathematics"
    if problem.prior_alone:
        return "these are draws of the prior alone", "mathematics"
    if truncated(problem.table.y):
        return TRUNCATED, "limit"
    if len(problem.priors.shrunk):
        return "a horseshoe prior has a pole at zero, which no Gaussian carries on", "mathematics"
    if problem.priors.monotone:
        why = "the increments of a monotonic effect, mo(x), have one sign, which no Gaussian has"
        return why, "mathematics"
    if problem.priors.bounded.any():
        return "a prior has ends, which no Gaussian carries on", "mathematics"
    if results.cov_type != "nonrobust":
        why = f"cov_type={results.cov_type!r} draws the sandwich, not the posterior"
        return why, "mathematics"
    if problem.stopped or results.stand_in:
        return "time_limit ended the fit before its mode was known", "limit"
    if len(problem.mode.theta) > MOST_UPDATED:
        return f"{len(problem.mode.theta)} parameters are more than {MOST_UPDATED}", "limit"
    return "", None


def kept_past(results):
    """What a file keeps of the past: `Past`, or why there is none."""
    refusal, _ = refused(results)
    return refusal or past_of(results).without_rows()
