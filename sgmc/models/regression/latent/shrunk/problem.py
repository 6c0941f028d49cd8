"""The posterior of a regression with learned scales, and how it is built from a table."""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy import sparse

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.coordinates.approximations.mode import PriorTerms, posterior_mode
from sgmc.coordinates.approximations.modes import ModeSearch
from sgmc.coordinates.priors.prior_table import density_of, resolve
from sgmc.coordinates.priors.prior_tails import tail_bounds
from sgmc.coordinates.shapes.dispersion import dispersed_mode
from sgmc.coordinates.whitened.whitening import undo_centring
from sgmc.core.designs.design import design
from sgmc.core.system.deadline import OutOfTime
from sgmc.fit.parts import (
    Defaults,
    Observations,
    Shape,
    each_step,
    paths_between_draws,
    rotating_paths,
)
from sgmc.fit.plan import GRADIENT
from sgmc.fit.problem import SEARCH, Problem
from sgmc.formula.designs.coded import CodedTable
from sgmc.models.regression.bases.predictors.two_predictors import of_columns, predictors_of, shifts
from sgmc.models.regression.latent.shrunk.centre import (
    LearnedScales,
    about,
    among_coefficients,
    gaussian,
    search,
)
from sgmc.models.regression.latent.shrunk.conditionals import (
    TURNS_WARMUP,
    conditioned,
    scale_conditionals,
)
from sgmc.models.regression.latent.shrunk.coordinates import (
    learned_coordinates,
    ridge_coordinates,
    turned_coordinates,
)
from sgmc.models.regression.latent.shrunk.direct import counted_rows, ridge_draws
from sgmc.models.regression.latent.shrunk.groups import (
    LearnedPriors,
    as_flat,
    as_normal,
    groups_of,
    refuse_many,
    with_globals,
)
from sgmc.models.regression.latent.shrunk.rotated import rotated_ridge
from sgmc.models.regression.latent.shrunk.shrinking import LOCAL_KINDS, Shrunk, ShrunkPrior
from sgmc.models.regression.mode.bounded import (
    bounds_intercept,
    flattened,
    refuse_beside_ends,
    without_ends,
)
from sgmc.models.regression.mode.margins import (
    MOST_SEARCHES,
    margins_of,
    signs_near,
    without_laws,
)
from sgmc.models.regression.mode.recession import Likelihood
from sgmc.models.regression.mode.search import alone, first_guess, moments_of_outcomes, scales
from sgmc.models.regression.problem import identity, strata_of
from sgmc.models.regression.rows.prepare import prepare
from sgmc.priors import flat

# gradients of a path, at 50 to 200 coefficients: without local scales, and with them
FEW_LEAPS, MANY_LEAPS = 6, 12
# families whose log likelihood is concave in the coefficients, which are all that it has
CONCAVE = ("logit", "probit", "cloglog", "loglog", "poisson")
ALONE = 1e-10  # eigenvalue of the products of columns of length one: below it they are collinear


def learned_problem(data, family, prior, settings):
    """The problem.

    Parameters
    ----------
    data : RegressionData
    family : Family
    prior : None, str, PriorSpec or dict
    settings : Settings
    """
    centre = not bounds_intercept(prior, data)
    table = prepare(data, settings.seed, settings.dtype, centre=centre)
    outcome = moments_of_outcomes(table, family)
    units = scales(data, table.sd, family, *outcome)
    priors = resolve(prior, data, family, units, learned=True, bounded=True, joint=True)
    columns = predictors_of(data, family)
    groups, d = groups_of(priors), len(columns)
    where = np.sort(np.concatenate([one.places for one in groups]))
    ends = as_normal(priors, where)
    refuse_beside_ends(ends, settings, table)
    shift = (table.mean if priors.centred else np.zeros(data.d)) - table.shift
    shift[data.intercepts] = 0.0
    shift = shifts(priors, shift, d)
    model = compiled(table, family, table.X)
    likelihood = Likelihood(table, data, family, priors, model, shift)
    likelihood.refuse_improper()
    guess = first_guess(without_ends(priors), family, table.offset, *outcome)
    shrunk = shrunk_of(groups, where, priors, family, units, columns)
    sds = alone(model, guess, priors.intercepts)[where]
    hyperpriors = hyperpriors_of(groups, shrunk, sds, guess[d] if shrunk.log_params else 0.0)
    learned = LearnedScales(shrunk, groups, hyperpriors)
    shown = with_globals(priors, groups, hyperpriors, shrunk.log_params, LearnedPriors)
    back = undo_centring(d, shifts(priors, table.shift, d), priors.intercepts)
    fixed = as_flat(priors, where)
    known = partial(density, shown, where, shift)
    made = partial(built, table, family, columns, shown, known)
    # columns of one predictor can be turned
    ridge = len(groups) == 1 and not shrunk.locals and isinstance(table.X, np.ndarray)
    ridge = ridge and not columns.any()
    # given sigma and the sd of a ridge, coefficients of normal outcomes are normal
    if (
        ridge
        and settings.unchained
        and family.summed
        and family.auxiliary
        and fixed.apart
        and fixed.conjugate(d)
    ):
        try:
            moved = ridge_draws(table, model, shown, shrunk, shift)
        except OutOfTime:  # the search ends at once, with what there is
            moved = None
        if moved is not None:
            whole = made(shrunk, ridge_coordinates(moved, back))
            flat = int((moved.precision.diagonal() == 0).sum())
            told = min(len(moved.sums.told), counted_rows(table) - flat)
            shape = tails(groups, shown, [told], *of_normal(table))
            return replace(whole, transport=moved, shape=shape)
    if isinstance(table.X, np.ndarray) and conditioned(family, groups, settings, fixed, d):
        known, timely = scale_conditionals(table, model, shown, shrunk, shift)
        drawn = made(shrunk, turned_coordinates(known, back))
        usual = replace(drawn.defaults, thinning=each_step, warmup=TURNS_WARMUP)
        return replace(
            drawn,
            conditionals=known,
            defaults=usual,
            stopped="" if timely else SEARCH,
            shape=shape_of(groups, shown, table, drawn.shape),
        )
    refuse_many(groups)
    stood = without_ends(ends, poles=False)
    terms, margins = PriorTerms(stood, shift), None
    terms.scale[where] = np.asarray(shrunk.unit)
    power = family.auxiliary[0].power if family.auxiliary else 0.0

    def find(start):
        if power:
            return dispersed_mode(model, terms, start, priors.auxiliary, power)
        return posterior_mode(model, terms, start)

    mode, warnings = find(guess)
    stopped, centre = "" if mode.whole else SEARCH, None
    rows = len(table.y)
    try:
        for _ in range(MOST_SEARCHES if mode.whole else 0):
            target = among_coefficients(model, terms, learned, find)
            mode, centre = search(target, learned, mode)
            if not len(ends.bent):
                break
            margins = margins_beside(ends, stood, shift, centre, rows)
            if margins.still(centre.found.mean[margins.own], ends.logged):
                break
            stood, before = replace(stood, used=margins.stand_ins(stood)), terms
            terms = PriorTerms(stood, shift)
            for one, other in ((terms.location, before.location), (terms.scale, before.scale)):
                one[where] = other[where]
    except OutOfTime:
        centre, stopped = None, SEARCH
    if centre is None:
        centre = about(gaussian(model, terms, learned, mode))
        margins = margins_beside(ends, stood, shift, centre, rows) if len(ends.bent) else None
    if ridge:
        M, centre, shrunk = rotated_ridge(centre, shrunk)
        learned = LearnedScales(shrunk, groups, hyperpriors)
        table.X[:, where], shift[where] = table.X[:, where] @ M, shift[where] @ M
        back[:, where] = back[:, where] @ M
    coordinates = learned_coordinates(learned, centre, power, back, priors.report, margins)
    warnings = warnings + (margins.warnings if margins else [])
    whole = replace(made(shrunk, coordinates), stopped=stopped, warnings=warnings)
    if family.summed and family.auxiliary:
        whole = replace(whole, shape=shape_of(groups, shown, table, whole.shape))
    elif family.name in CONCAVE and not columns.any() and likelihood.bounds_all():
        whole = replace(whole, shape=tails(groups, shown, told_all(groups), d, 0.0))
    return whole


def margins_beside(ends, stood, shift, centre, rows):
    """The `Margins` of the parameters that no Gaussian describes and that have no learned scales.

    Parameters
    ----------
    ends : PriorTable
        Of (beta, u), with ends.
    stood : PriorTable
        With the normal laws that stood for theirs.
    shift : array (d,)
        See `Separable`.
    centre : ScalesMode
    rows : int
        Of the table.
    """
    precision, mean = centre.precision, centre.found.mean
    covariance, every = np.linalg.inv(precision), np.arange(len(mean))

    def cavity(own):
        others = PriorTerms(flattened(stood, own), shift)
        spread = covariance[np.ix_(own, own)]
        return without_laws(spread, mean, own, PriorTerms(stood, shift), others)

    return margins_of(ends, signs_near(ends, precision, mean, rows), cavity, every)


def shape_of(groups, shown, table, unknown):
    """The `Shape` of tails with normal outcomes, or what is `unknown`: where rows do not tell all
    coefficients, those of local scales are not known to be told.

    The prior N(0, s^2) of a coefficient with s below a slab falls as a normal law, whatever its
    scales are, and so does its density, in directions that rows tell nothing of, too.
    """
    found = unknown
    if full_rank(table):
        found = tails(groups, shown, told_all(groups), *of_normal(table))
    slabs = [one for one in groups if one.spec.family == "horseshoe" and one.spec.slab < np.inf]
    if not slabs:
        return found
    names = {shown.names[j] for one in slabs for j in one.places}

    def bounds(asked):
        light = np.array([name in names for name in asked], dtype=bool)
        return np.where(light, 0.0, found.tail_bounds(asked))

    return replace(found, tail_bounds=bounds, settled=(*found.settled, *sorted(names)))


def full_rank(table):
    """Whether rows tell each coefficient by itself, and sigma."""
    if not isinstance(table.X, np.ndarray) or counted_rows(table) <= table.X.shape[1]:
        return False
    G = np.zeros((table.X.shape[1],) * 2)
    for start in range(0, len(table.X), CHUNK_ROWS):
        some = table.X[start : start + CHUNK_ROWS].astype(float)
        if table.weight is not None:
            some = some[table.weight[start : start + CHUNK_ROWS] > 0]
        G += some.T @ some
    scale = np.sqrt(np.diag(G))
    return bool((scale > 0).all() and np.linalg.eigvalsh(G / np.outer(scale, scale))[0] > ALONE)


def told_all(groups):
    """Coefficients of each group, of which rows tell each by itself."""
    return [len(one.places) for one in groups]


def of_normal(table):
    """(d, tail) of `tails` with normal outcomes."""
    d = table.X.shape[1]
    return d, 1 / (counted_rows(table) - d) if full_rank(table) else None


def tails(groups, shown, told, d, tail):
    """The `Shape` of tails; `told`: coefficients of each group that rows tell.

    The likelihood of d coefficients that rows tell falls with the tail index `tail`, whatever their
    prior: as that of a t law with normal outcomes, and exponentially (0) where it is concave and
    bounds them; None: that is unknown.  As their scale grows the density falls by the share of each
    prior that is then near the estimate: as 1 / sd of a ridge, by tau2^-min(a, 1/2) under local
    variances of Gamma(a, 1).
    """
    decay = {}
    for one, count in zip(groups, told):
        kind, shape = one.local
        share = 1.0 if kind == "none" else min(shape, 0.5)
        # a horseshoe has a slab, which a scale without end leaves as it is
        decay[one.name] = 0.0 if one.spec.family == "horseshoe" else count * share
    coefficients = shown.names[:d]

    def bounds(names):
        found = tail_bounds(shown, names, decay)
        if tail is not None:
            found[np.isin(names, coefficients)] = tail
        return found

    settled = tuple(one.name for one in groups if one.spec.family != "horseshoe")
    return Shape(tail_bounds=bounds, settled=settled)


def built(table, family, columns, shown, density, shrunk, coordinates):
    """The problem.

    Parameters
    ----------
    table : Table
    family : Family
    columns : array (d,) of int
        The linear predictor of each coefficient.
    shown : PriorTable
        Of what is printed.
    density : callable
        From `shrunk` to the compiled prior, but for what `ShrunkPrior` adds.
    shrunk : Shrunk
    coordinates : WholeCoordinates
    """
    kernel = whole_kernel(table, family, columns, shrunk.size - shrunk.log_params)
    # local scales are in no row, and the map takes work of its own
    cells = kernel.n * shrunk.d + shrunk.k**2
    leaps = MANY_LEAPS if shrunk.locals else FEW_LEAPS
    return Problem(
        model=kernel,
        prior=ShrunkPrior(shrunk, density(shrunk)),
        coordinates=coordinates,
        priors=shown,
        free_names=shown.names,
        rows=Observations(
            nobs=table.nobs,
            cells=cells,
            shuffled=not table.given,
            strata=partial(strata_of, table),
            identity=identity,
        ),
        defaults=Defaults(
            estimator=GRADIENT,
            exact_sampler="hmc",
            unsurveyed="a learned prior scale",
            sampler=rotating_paths(),
            thinning=partial(paths_between_draws, cells=cells, gradients=leaps),
        ),
        searched=ModeSearch(1, (1.0,), can_search=False),
        table=table,
    )


def compiled(table, family, X):
    """The compiled model of a table with such a design."""
    return family.kernel(design(X), table.response, table.offset, table.multiplicity)


def whole_kernel(table, family, columns, width):
    """The compiled model of all parameters, those besides coefficients being in no row."""
    X = table.X
    if X.shape[1] < len(columns):  # each equation has the columns of the design
        equations = len(columns) // X.shape[1]
        family, X = family.in_equations(X.shape[1], equations), np.tile(X, (1, equations))
    wide = of_columns(family, np.append(columns, np.full(width - len(columns), -1)))
    return compiled(table, wide, widened(X, width))


def widened(X, width):
    """The design with empty columns up to `width`, nothing copied."""
    if not isinstance(X, CodedTable):
        n, d = X.shape
        none = np.empty((n, 0))
        cells = sparse.csr_array((0, width))
        return CodedTable(
            X, np.arange(d), none.astype(np.int32), cells, none, np.empty(0, dtype=np.int32)
        )
    cells = X.cells
    wide = (cells.data, cells.indices, cells.indptr)
    return replace(X, cells=sparse.csr_array(wide, shape=(cells.shape[0], width)))


def shrunk_of(groups, where, priors, family, units, columns):
    """The `Shrunk` of groups of coefficients."""
    group = np.empty(len(where), dtype=int)
    for i, one in enumerate(groups):
        group[np.isin(where, one.places)] = i
    by_group = [groups[i] for i in group]
    sigma = bool(family.identity and family.auxiliary and family.auxiliary[0].power)
    known = family.known.get("sigma", units.unit) if family.identity else 1.0
    noise = np.array([float(sigma and one.in_sigma) for one in by_group])
    unit = np.array([known if one.in_sigma else units.unit for one in by_group])
    unit[columns[where] > 0] = 1.0  # the outcomes' unit is that of the first linear predictor
    local = [one.local for one in by_group]
    slab = [priors.used[j].slab for j in where]
    return Shrunk(
        len(priors.names) - priors.auxiliary,
        len(groups),
        len(family.auxiliary),
        where=where,
        group=group,
        local=[LOCAL_KINDS[kind] for kind, _ in local],
        shape=[shape for _, shape in local],
        unit=np.where(noise > 0, 1.0, unit) / units.columns[where % len(units.columns)],
        slab=slab,
        share=[one.share for one in by_group],
        noise=noise,
    )


def hyperpriors_of(groups, shrunk, sds, first):
    """The prior of each global parameter.

    Parameters
    ----------
    groups : list of Group
    shrunk : Shrunk
    sds : array (k,)
        With which the data tell single coefficients.
    first : float
        About the log of the first auxiliary parameter.
    """
    sds = sds / (np.asarray(shrunk.unit) * np.exp(np.asarray(shrunk.noise) * first))
    return [one.hyperprior(sds[np.asarray(shrunk.group) == i]) for i, one in enumerate(groups)]


def density(shown, where, shift, shrunk, bent=None):
    """The compiled prior of all parameters, but for what `ShrunkPrior` adds.

    Parameters
    ----------
    shown : PriorTable
        With global parameters, before which local scales stand.
    where : array (k,) of int
        Coefficients with learned scales.
    shift, bent : array
        See `Separable`; `bent` of what `shown` has.
    shrunk : Shrunk
    """
    known, at = as_flat(shown, where), len(shown.names) - shrunk.groups - shrunk.log_params
    m, logged = shrunk.locals, known.logged
    if bent is not None:
        bent = np.insert(bent, at, np.zeros(m))
    known = replace(known, used=[*known.used[:at], *[flat()] * m, *known.used[at:]])
    return density_of(known, shift, bent, np.insert(logged, at, np.zeros(m, dtype=bool)))
