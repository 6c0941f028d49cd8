"""The posterior of a regression in sampler coordinates, and how it is built from a table."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sgmc.arguments.data.limited import as_numbers, is_bounded, is_records, is_truncated
from sgmc.coordinates.approximations.variational import variational
from sgmc.coordinates.identification.separation import linear_predictor
from sgmc.coordinates.priors.densities import Quadratic
from sgmc.coordinates.priors.prior_tails import tail_bounds
from sgmc.coordinates.transforms.maps import Affine
from sgmc.coordinates.whitened.score_covariance import few_clusters, heavy_leverage
from sgmc.coordinates.whitened.whitening import undo_centring
from sgmc.core.designs.design import design, rotate
from sgmc.core.system import deadline
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import NotSupported, SeparationWarning
from sgmc.fit.choose import WIDE
from sgmc.fit.noise import groups_of
from sgmc.fit.parts import EXACT, Defaults, Forms, Observations, Shape
from sgmc.fit.paths import refuse_unbounded
from sgmc.fit.plan import GRADIENT
from sgmc.fit.problem import CURVATURE, SEARCH, Problem, Workspace
from sgmc.fit.tolerance import SMALLEST_BATCH
from sgmc.models.regression.coordinates import (
    chosen_coordinates,
    preconditioner,
    rotated_prior,
    triangular_coordinates,
)
from sgmc.models.regression.mode.bounded import (
    bounds_intercept,
    refuse_beside_ends,
    with_ends,
    without_ends,
)
from sgmc.models.regression.mode.search import (
    explained,
    find_regression_mode,
    moments_of_outcomes,
    resolve_priors,
)
from sgmc.models.regression.prior_alone import Alone, prior_found, silent
from sgmc.models.regression.rows.prepare import as_given, in_file, prepare, stays
from sgmc.models.regression.rows.summed import transport_of

# the exact sampler of lopsided columns: where several meet, what their maps leave is skewed, and a
# draw of nuts costs about as many gradients as one of mala, which has a tenth of its worth
SKEWED = "nuts"
EIGENVECTORS = (
    4  # times d^3: operations, in the units of `deadline`, of all eigenvectors that whitening takes
)


@dataclass(frozen=True)
class RegressionForms(Forms):
    """Other coordinates of a regression.

    Attributes
    ----------
    terms : PriorTerms
        The prior of phi.
    """

    terms: object

    def nearest(self, problem):
        # of wide tables with one linear predictor a row
        where, model = problem.coordinates, problem.model
        wide = problem.products and model.width == 1 and problem.dim >= WIDE
        if problem.laplace is not None or not (wide and where.rotated and where.map is None):
            return problem
        found = variational(problem.single or model, partial(self.prior_terms, problem))
        if found is None:
            return problem
        centre, root = found
        with one_blas_thread():
            moved = replace(where, map=Affine(centre, root), white=where.white @ root)
        return replace(problem, coordinates=moved, laplace=where)

    def prior_terms(self, problem, y):
        """Gradient and precision (d,) or (d, d) of the log prior at natural coordinates y (d,)."""
        if isinstance(problem.prior, Quadratic):
            precision = np.asarray(problem.prior.precision)
            return -precision * y - np.asarray(problem.prior.slope), precision
        where = problem.coordinates
        with one_blas_thread():
            _, gradient, precision = self.terms(where.origin + where.L @ y)
            return where.L.T @ gradient, where.L.T @ precision @ where.L


def tail_index(nobs, dim, table, priors, family):
    """Of every parameter: with normal errors and flat priors, sigma's too, coefficients have a t
    distribution with n - d - 1 degrees of freedom, and sigma a density that falls as sigma^(d - n);
    of n times, those count that bound sigma.  0 for other regressions, whose index is not known.
    """
    normal = family.name in ("ols", "survreg") and bool(family.auxiliary)
    if is_records(table.y) and is_truncated(table.y).any():
        return 0.0
    if not normal or any(family != "flat" for family in priors.columns("family")):
        return 0.0
    return 1 / max(nobs - one_sided(table) - dim, 1)


def tail_by_priors(priors, warnings):
    """See `Shape`."""
    if not any(isinstance(one, SeparationWarning) for one in warnings):
        return 0.0
    coefficients = priors.names[: len(priors.names) - priors.auxiliary]
    return float(np.nanmax(tail_bounds(priors, coefficients), initial=0.0))


def one_sided(table):
    """Observations that are known from one side only."""
    y, weight = table.y, table.weight
    if not is_records(y):
        return 0
    one = ~is_bounded(y)
    return float(one.sum() if weight is None else weight[one].sum())


def strata_of(table):
    """The stratum of each row: those given, or the outcome's levels or quantile groups."""
    if table.strata is None:
        return groups_of(as_numbers(table.y))
    return groups_of(table.strata, SMALLEST_BATCH)


def identity(problem):
    """What tells a problem's table, strata included, and its mode from others."""
    table, mode = problem.table, problem.mode
    return [
        *arrays_of(table.X),
        table.y,
        table.trials,
        table.offset,
        table.weight,
        table.se,
        table.strata,
        *([] if mode is None else [mode.theta, mode.precision]),
    ]


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
    found = replace(found, warnings=[*found.warnings, *warned])
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
            "as they do not stay at zero one by one; give each a prior of its own",
            because="mathematics",
        )
    ends, plain = priors.bounded.any(), priors
    if ends:
        refuse_beside_ends(priors, settings, table)
        plain = without_ends(priors)
    # given sigma, normal priors of the coefficients leave these normal
    summing = family.summed and settings.unchained and plain.conjugate(data.d)
    found = find_regression_mode(table, data, family, plain, settings, outcome, summing)
    return with_ends(found, priors) if ends else found


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
        walls, warnings = found.trouble(data, family)
    dense = isinstance(table.X, np.ndarray)
    rotated = precondition == "dense" and dense and not kept and model.width == 1
    rotated = rotated and found.between is None and found.summed is None
    single, known = None, mode.anchor if found.summed is None else None
    groups = None if data.groups is None else data.groups[slice(None) if kept else table.order]
    if groups is not None:
        warnings = [*warnings, *few_clusters(groups)]
    where = chosen_coordinates(found, precondition, rotated, walls, settings, groups)
    # leverages are of equations by least squares: the check loss has none
    if settings.cov_type == "robust" and not (data.equations or family.working):
        coefficients = len(priors.names) - priors.auxiliary
        high = heavy_leverage(model, mode, where, table.weight, coefficients)
        warnings = [*warnings, *high]
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
    problem = built(
        found,
        family,
        model=model,
        single=single,
        known=known,
        prior=core,
        coordinates=where,
        warnings=warnings,
    )
    # chains have the sums of all rows, and draws of a normal law no ends
    if found.summed is None or found.between is not None:
        return replace(problem, summed=found.summed)
    problem = replace(problem, summed=found.summed)
    transport = transport_of(problem, found.terms(mode.theta)[1], mode)
    return replace(problem, transport=transport) if transport else replace(problem, summed=None)


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
        if found.between is None
        else found.between.coordinates(back, "dense", priors.auxiliary),
        warnings=found.warnings,
        stopped=stopped,
    )


def built(found, family, *, model, prior, coordinates, known=None, nobs=None, **how):
    """The problem of what was found; `known` is the anchor that the search has left, `nobs` given
    where observations are not those of the table.
    """
    table, mode, priors = found.table, found.mode.without_rows(), found.priors
    where = replace(coordinates, report=replace(coordinates.report, thresholds=priors.report))
    dim = model.dim if where.map is None else where.map.dim
    nobs = table.nobs if nobs is None else nobs
    return Problem(
        model=model,
        prior=prior,
        coordinates=where,
        priors=priors,
        workspace=Workspace(model, prior, where, known),
        free_names=priors.names,  # auxiliary ones stand for their logs
        rows=Observations(
            nobs=nobs,
            cells=model.n * dim,
            shuffled=not table.given,
            columns=table.columns,
            strata=partial(strata_of, table),
            identity=identity,
        ),
        defaults=Defaults(
            estimator=GRADIENT,
            exact_sampler=SKEWED if coordinates.walled else EXACT,
            why_exact="" if found.between is None else found.between.why_exact,
        ),
        searched=found.modes.transformed(coordinates.back),
        forms=RegressionForms(found.terms),
        shape=Shape(
            # under priors that are log-concave, too, or nearly so
            unimodal=family.log_concave and not (len(priors.shrunk) or priors.monotone),
            tail_index=tail_index(nobs, dim, table, priors, family),
            tail_by_priors=tail_by_priors(priors, how.get("warnings", ())),
            tail_bounds=partial(tail_bounds, priors),
        ),
        prior_alone=isinstance(found, Alone),
        products=by_products(model, table),
        table=table,
        mode=mode,
        **how,
    )


def by_products(model, table):
    """Whether densities at many points are products of matrices: those of dense tables."""
    return bool(model.products) and isinstance(table.X, np.ndarray)
