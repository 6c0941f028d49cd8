"""The posterior of a regression in sampler coordinates, and how it is built from a table."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sgmc.coordinates.densities import Quadratic
from sgmc.coordinates.maps import Affine
from sgmc.coordinates.prior_tails import tail_bounds
from sgmc.coordinates.score_covariance import few_clusters
from sgmc.coordinates.separation import linear_predictor
from sgmc.coordinates.variational import variational
from sgmc.coordinates.whitening import undo_centring
from sgmc.core import deadline
from sgmc.core.blas import one_blas_thread
from sgmc.core.deadline import OutOfTime
from sgmc.core.design import design, rotate
from sgmc.core.storage import advise, mapping
from sgmc.errors import NotSupported
from sgmc.fit.decision import WIDE
from sgmc.fit.noise import groups_of
from sgmc.fit.paths import refuse_unbounded
from sgmc.fit.plan import GRADIENT
from sgmc.fit.problem import CURVATURE, EXACT, SEARCH, Problem
from sgmc.fit.tolerance import SMALLEST_BATCH
from sgmc.models.regression.bounded import (
    between_ends,
    bounds_intercept,
    refuse_beside_ends,
    without_ends,
)
from sgmc.models.regression.coordinates import (
    chosen_coordinates,
    preconditioner,
    rotated_prior,
    triangular_coordinates,
)
from sgmc.models.regression.prepare import as_given, in_file, prepare, stays
from sgmc.models.regression.prior_alone import Alone, prior_found, silent
from sgmc.models.regression.search import (
    explained,
    find_regression_mode,
    moments_of_outcomes,
    resolve_priors,
)

# the exact sampler of lopsided columns: where several meet, what their maps leave is skewed, and a
# draw of nuts costs about as many gradients as one of mala, which has a tenth of its worth
SKEWED = "nuts"
EIGENVECTORS = (
    4  # times d^3: operations, in the units of `deadline`, of all eigenvectors that whitening takes
)


@dataclass(kw_only=True)
class RegressionProblem(Problem):
    """The posterior of a regression.

    Attributes
    ----------
    mode : Mode
    table : Table
        Rows as the compiled model reads them.
    normal : bool
        Outcomes, or their logs, have errors of a scale that is sampled and tails that are bounded
        by a power, and means linear.
    log_concave : bool
        The likelihood has one mode, whatever the data.
    single : Model or None
        The compiled model with products of many points in float32, where the table is in whitened
        coordinates.
    terms : PriorTerms or None
        The prior of phi.
    laplace : Coordinates or None
        Those whitened at the mode, where `coordinates` are of another Gaussian.
    """

    mode: object
    table: object
    normal: bool = False
    log_concave: bool = True
    single: object = None
    terms: object = None
    laplace: object = None

    @cached_property
    def nearest(self):
        # of wide tables with one linear predictor a row
        where = self.coordinates
        wide = self.many and self.model.width == 1 and self.dim >= WIDE
        if self.laplace is not None or not (wide and where.rotated and where.map is None):
            return self
        found = variational(self.single or self.model, self.prior_terms)
        if found is None:
            return self
        centre, root = found
        with one_blas_thread():
            moved = replace(where, map=Affine(centre, root), white=where.white @ root)
        return replace(self, coordinates=moved, laplace=where, anchors={}, shared={}, limits={})

    def prior_terms(self, y):
        """Gradient and precision (d,) or (d, d) of the log prior at natural coordinates y (d,)."""
        if isinstance(self.prior, Quadratic):
            precision = np.asarray(self.prior.precision)
            return -precision * y - np.asarray(self.prior.slope), precision
        L = self.coordinates.L
        with one_blas_thread():
            _, gradient, precision = self.terms(self.coordinates.origin + L @ y)
            return L.T @ gradient, L.T @ precision @ L

    @property
    def approximation(self):
        return self.laplace or self.coordinates

    @property
    def own_nobs(self):
        """Observations of its own rows."""
        return self.model.n if self.table.weight is None else float(self.table.weight.sum())

    @property
    def nobs(self):
        return self.own_nobs

    @property
    def least_noise(self):
        return GRADIENT

    @property
    def free_names(self):
        # the parameters; auxiliary ones stand for their logs
        return self.priors.names

    @property
    def many(self):
        # those of dense tables
        return self.model.products and isinstance(self.table.X, np.ndarray)

    @property
    def unimodal(self):
        # so it is under priors that are log-concave, too, or nearly so
        return self.log_concave and not len(self.priors.shrunk)

    @property
    def tail_index(self):
        # with normal errors and flat priors, sigma's too, coefficients have a t distribution with n
        # - d - 1 degrees of freedom, and sigma a density that falls as sigma^(d - n); of n times,
        # those count that bound sigma
        if not self.normal or any(family != "flat" for family in self.priors.columns("family")):
            return 0.0
        rows = self.nobs - self.one_sided
        return 1 / max(rows - self.dim, 1)

    def tail_bounds(self, names):
        return tail_bounds(self.priors, names)

    @property
    def one_sided(self):
        """Observations that are known from one side only."""
        y, weight = self.table.y, self.table.weight
        if not np.iscomplexobj(y):
            return 0
        return float((y.imag < 0).sum() if weight is None else weight[y.imag < 0].sum())

    @property
    def file_bytes(self):
        columns = self.table.columns
        return sum(one.nbytes for one in columns if one is not None and mapping(one) is not None)

    def will_read(self, random):
        advise(self.table.columns, random)

    def strata(self):
        # those given, or the outcome's levels or quantile groups
        table = self.table
        if table.strata is None:
            return groups_of(table.y.real)
        return groups_of(table.strata, SMALLEST_BATCH)

    @property
    def fingerprint(self):
        """Arrays that tell this posterior from others: the table, strata included, in the sampler's
        coordinates, and these.
        """
        table, where, mode = self.table, self.coordinates, self.mode
        return [
            *arrays_of(table.X),
            table.y,
            table.trials,
            table.offset,
            table.weight,
            table.se,
            table.strata,
            mode.theta,
            mode.precision,
            where.L,
            where.origin,
            where.to_theta,
        ]

    @property
    def curvature_covariance(self):
        """Covariance of what is reported by the curvature at the mode alone: D T H^-1 T' D, D the
        slopes of the logs' exp.
        """
        white, where = self.mode.axes[0], self.coordinates
        with one_blas_thread():
            half, theta = where.back @ white, where.back @ self.mode.theta
            slope = np.where(
                self.priors.logged, np.exp(np.where(self.priors.logged, theta, 0.0)), 1.0
            )
            return slope[:, None] * (half @ half.T) * slope


def arrays_of(X):
    """What a design is made of: an array, a CSR array's three, or a coded table's."""
    if hasattr(X, "indptr"):
        return [X.data, X.indices, X.indptr]
    if not hasattr(X, "codes"):
        return [X]
    # of whatever type codes are: files of runs are to be known again
    return [part.astype(np.int32) if part is X.codes else part for part in X.arrays]


def regression_problem(data, family, prior, settings):
    """Table, mode, coordinates, model and prior of a regression.

    Parameters
    ----------
    data : RegressionData
    family : Family
    prior : None, str, PriorSpec or dict
    settings : Settings
    """
    refuse_unbounded(settings.sampler, family)
    precondition = preconditioner(len(data.parameter_names(family)), settings)
    kept = stays(data, settings, precondition)
    if data.prepared is not None:
        table = in_file(data, precondition)
    elif kept:
        table = as_given(data)
    else:
        centre = precondition is not None and not bounds_intercept(prior, data)
        table = prepare(data, settings.seed, settings.dtype, centre=centre)
    warned = []
    if family.working:
        family, table, warned = family.calibrated(table, data.endog_name)
    found = find_any_mode(table, data, family, prior, settings)
    found = replace(found, concerns=[*found.concerns, *warned])
    if not found.mode.whole:
        return as_far_as_known(found, family, SEARCH)
    try:
        return whitened(found, data, family, settings, precondition, kept)
    except OutOfTime:
        return as_far_as_known(found, family, CURVATURE)


def find_any_mode(table, data, family, prior, settings):
    """The mode of a table's posterior, whatever its priors: a `RegressionMode`."""
    outcome = moments_of_outcomes(table, family)
    priors = resolve_priors(prior, table, data, family, outcome, every_kind=True)
    if settings.prior_only:
        if priors.bounded.any():
            refuse_beside_ends(priors, settings, table)
        return prior_found(silent(table), priors, family, data, outcome)
    if priors.together and settings.sampler is not None and settings.sampler.sticky:
        raise NotSupported(
            f"{settings.sampler.name} does not apply to a prior of several coefficients together, "
            "as they do not stay at zero one by one; give each a prior of its own"
        )
    if not priors.bounded.any():
        return find_regression_mode(table, data, family, priors, settings, outcome)
    refuse_beside_ends(priors, settings, table)
    found = find_regression_mode(table, data, family, without_ends(priors), settings, outcome)
    return between_ends(found, priors)


def whitened(found, data, family, settings, precondition, kept):
    """The problem in the coordinates that suit it.

    Raises
    ------
    OutOfTime
        Before the table is changed.
    """
    table, model, mode, priors = found.table, found.model, found.mode, found.priors
    deadline.check(operations=EIGENVECTORS * len(mode.theta) ** 3)
    with explained(family):
        walls, concerns = found.trouble(data, family)
    dense = isinstance(table.X, np.ndarray)
    rotated = precondition == "dense" and dense and not kept and model.width == 1
    rotated = rotated and found.constraints is None
    single, known = None, mode.anchor
    groups = None if data.groups is None else data.groups[slice(None) if kept else table.order]
    if groups is not None:
        concerns = [*concerns, *few_clusters(groups)]
    where = chosen_coordinates(found, precondition, rotated, walls, settings, groups)
    core = found.density()
    if rotated:
        deadline.check(operations=1.0 * data.n * data.d**2)
        if known is not None and np.array_equal(where.origin, known.centre):
            eta, known = np.asarray(known.predictors), known.rotated(where.L)
        else:
            eta, known = linear_predictor(model, where.origin), None
        rotate(table.X, where.L)
        model, single = (
            family.kernel(design(table.X, one), table.response, eta, table.multiplicity)
            for one in (False, True)
        )
        core = rotated_prior(core, priors.gaussian and where.map is None, found.terms, where)
    return built(
        found,
        family,
        model=model,
        single=single,
        known=known,
        prior=core,
        coordinates=where,
        concerns=concerns,
    )


def as_far_as_known(found, family, stopped):
    """The problem around the place that a search has reached when the time was up."""
    priors = found.priors
    back = undo_centring(found.model.dim, priors.shifts(found.table.shift), priors.intercepts)
    return built(
        found,
        family,
        model=found.model,
        prior=found.density(),
        coordinates=triangular_coordinates(found.mode, back, found.priors.auxiliary)
        if found.constraints is None
        else found.where(back, "dense"),
        concerns=found.concerns,
        stopped=stopped,
    )


def built(found, family, *, coordinates, kind=None, **how):
    """The `RegressionProblem` of what was found, or one of another kind."""
    return (kind or RegressionProblem)(
        coordinates=replace(coordinates, report=found.priors.report),
        priors=found.priors,
        searched=found.modes.moved(coordinates.back),
        terms=found.terms,
        shuffled=not found.table.given,
        mode=found.mode.without_rows(),
        table=found.table,
        normal=family.name in ("ols", "survreg") and bool(family.auxiliary),
        prior_alone=isinstance(found, Alone),
        log_concave=family.log_concave,
        exact_sampler=SKEWED if coordinates.walled else EXACT,
        **how,
    )
