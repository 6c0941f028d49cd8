"""The posterior of a regression with grouped effects, the effects integrated out."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sgmc.coordinates.approximations.mode import Mode, PriorTerms
from sgmc.coordinates.approximations.modes import ModeSearch
from sgmc.coordinates.identification.collinearity import collinearity, overruled
from sgmc.coordinates.priors.prior_table import density_of
from sgmc.coordinates.priors.prior_tails import tail_bounds
from sgmc.coordinates.shapes.dispersion import exact_fit
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.whitening import Coordinates, undo_centring
from sgmc.core.designs.design import design
from sgmc.core.expansion import of_rows
from sgmc.core.random.rng import seed_sequence
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import ArgumentError, NotSupported, QuadratureWarning
from sgmc.fit.choose import left_open
from sgmc.fit.parts import EXACT, Defaults, Observations, Shape, Signs, each_step
from sgmc.fit.plan import GRADIENT
from sgmc.fit.problem import CURVATURE, SEARCH, Problem
from sgmc.formula.designs.coded import beside
from sgmc.models.regression.bases.predictors.two_predictors import predictors_of
from sgmc.models.regression.coordinates import about_zero, preconditioner
from sgmc.models.regression.latent.covariance.fold import FoldedEffects
from sgmc.models.regression.latent.covariance.group_effects import (
    closed_form,
    effects_of,
    mixed_priors,
    outer_first,
)
from sgmc.models.regression.latent.covariance.group_warnings import (
    near_zero,
    undecided,
    warnings_of,
)
from sgmc.models.regression.latent.densities.gaussian import GaussianMarginal
from sgmc.models.regression.latent.densities.nested import Nested
from sgmc.models.regression.latent.densities.quadrature import Quadrature
from sgmc.models.regression.latent.densities.rules import (
    FEW_EFFECTS,
    FEWEST_NODES,
    FEWEST_OF_NORMAL,
    scheme_of,
)
from sgmc.models.regression.latent.integrated.coordinates import whitened, with_signs
from sgmc.models.regression.latent.integrated.direct import (
    grouped_transport,
    parameters_proposed,
    summed_groups,
)
from sgmc.models.regression.latent.integrated.given_sd import (
    MOST_CONDITIONED,
    MOST_TABULATED,
    from_zero,
    given_sd,
)
from sgmc.models.regression.latent.integrated.group_laws import may_have_laws, with_laws
from sgmc.models.regression.latent.integrated.rows import (
    grouped_rows,
    guessed_beside,
    scales_of,
)
from sgmc.models.regression.latent.integrated.sandwich import (
    grouped_sandwich,
    refuse_leverages,
    refuse_near_zero,
)
from sgmc.models.regression.latent.integrated.search import (
    DRAWS,
    WARM_GROUPS,
    WARM_ROWS,
    IntegrationRule,
    find,
    find_several,
    near_mode,
    normal_points,
    warm_groups,
    with_rule,
)
from sgmc.models.regression.mode.bounded import (
    between_ends,
    bounds_intercept,
    refuse_beside_ends,
    without_ends,
)
from sgmc.models.regression.mode.search import (
    first_guess,
    may_have_clusters,
    moments_of_outcomes,
    refuse_search,
    scales,
)
from sgmc.models.regression.rows.narrow import rounded

CURVATURES = 40_000_000  # numbers of all groups' curvatures up to which they are kept
WORST_ERROR = 0.1  # of differences of log densities, nats, from which on no verdict is given
START = 0.5  # of an sd, in units of its prior
ROWS_OF_NORMAL = 1_000  # of a group, on average: from so many on its effects are about normal
SPREAD_OVER = 4  # times as many rows as the search begins with
SPARE_CELLS = 5e8  # cells of all steps: about a second
NESTED_WORK = 15.0  # times as long for each cell, measured
MOST_EXACT = 1e5  # numbers of rows and nodes up to which exact steps of several sds cost little
MOST_ALONG = 12  # parameters, of which some hundred proposals tell the covariance
ABOVE_ZERO = 5.0  # sds: where the logs of all are known to 0.2, a table of one of them is enough
MOST_THINNED = 16  # between draws: of eight schools they are then nearly independent
STEADY = "barker"  # chains of mala stay in the tails of sds that may be zero


@dataclass(frozen=True)
class IntegratedEffects:
    """What results read of a posterior with effects integrated out; rows of the model are groups.

    Attributes
    ----------
    rows : GroupedRows
    rule : Rule
    effects : Effects or None
        None where their sds are known.
    near_zero : list of int
        Effects whose sds may be zero.
    """

    rows: object
    rule: IntegrationRule
    effects: object = None
    near_zero: tuple = ()


@dataclass(frozen=True)
class GroupedMode:
    """The mode of a posterior with effects integrated out, as what `between_ends` begins with.

    Attributes
    ----------
    kernel : Model
    priors : PriorTable
    mode : Mode
    terms : PriorTerms
    shift, curved : array
        See `Separable`.
    """

    kernel: object
    priors: object
    mode: Mode
    terms: PriorTerms
    shift: np.ndarray
    curved: np.ndarray

    def terms_of(self, priors):
        """The `PriorTerms` of priors of these parameters."""
        return PriorTerms(priors, self.shift, bent=self.curved)

    def density_of(self, priors):
        """Priors of these parameters, compiled."""
        return density(priors, self.shift, self.curved)


@dataclass(frozen=True)
class FoldedSigns(Signs):
    """Signs of sds, which have the one that they have at the mode, so that draws are about one
    mode; or any, where they may be zero, so that chains are alike that seldom change it.
    """

    coordinates: Coordinates
    fold: FoldedEffects
    mode: Mode
    effects: object
    near_zero: list

    @property
    def names(self):
        # sds that may be zero, and correlations of such effects, have a kink where the sign changes
        pairs = zip(self.effects.cors, self.effects.loading.correlations())
        cors = [name for name, pair in pairs if set(pair) & set(self.near_zero)]
        return [*(self.effects.sds[j] for j in self.near_zero), *cors]

    def of(self, x):
        signed = self.coordinates.natural(x)[..., self.fold.places]
        return {
            self.effects.sds[j]: np.where(signed[..., j] < 0, -1.0, 1.0) for j in self.near_zero
        }

    def folded(self, x, entropy):
        mode, free = self.mode.theta, self.near_zero
        return with_signs(self.coordinates, self.fold, x, mode, free, entropy)


def observations(model, table, rule, nested=False):
    """The `Observations` of groups, with groups inside of them or not."""
    return Observations(
        nobs=table.nobs,
        # of rows, not of groups, with the nodes of each
        cells=len(table.y) * (model.width + rule.nodes),
        shuffled=True,
        identity=identity,
        unit="group",
        strata=refuse_strata,
        # inner effects are integrated out at each node of the outer ones
        repeated=NESTED_WORK * max(rule.nodes, 1) if nested else 1.0,
        grid=1.0 if nested else model.count / max(rule.nodes, 1),
        row_terms=model.row_terms,
    )


def identity(problem):
    """What tells the rows of groups and the mode from others."""
    table, rows, mode = problem.table, problem.own.rows, problem.mode
    dense = isinstance(table.X, np.ndarray)
    return [
        table.X if dense else np.asarray(problem.model.n),
        table.y,
        table.trials,
        table.offset,
        table.weight,
        table.se,
        rows.Z,
        rows.starts,
        mode.theta,
        mode.precision,
    ]


def estimator(model):
    """Of second order, where the groups' curvatures fit memory."""
    return GRADIENT if model.n * model.width**2 <= CURVATURES else "cv"


def refuse_strata():
    """There are no outcomes of groups to tell strata by."""
    raise NotSupported(
        "subsample='stratified' does not apply to group terms, nor where the levels of a factor "
        "are integrated out: mini-batches are of groups, which have no outcome that strata would "
        "be told by; use subsample='block'",
        because="limit",
    )


def thinning(cells, settings):
    """Steps between draws of normal outcomes with sds that may be zero: these are skewed, and
    errors of their own sds are large beside those of other parameters, so that draws are made
    nearly independent where it costs little.
    """
    work = settings.draws * settings.chains * cells
    return int(np.clip(SPARE_CELLS // work, 1, MOST_THINNED))


def mixed_problem(data, family, grouping, prior, settings, nodes=None):
    """Table, mode, coordinates, model and prior of a regression with grouped effects.

    Parameters
    ----------
    data : RegressionData
        Of the fixed part.
    family : Family
    grouping : Grouping
    prior : None, str, PriorSpec or dict
    settings : Settings
    nodes : int, optional
        Of each effect; default: as many as are needed.
    """
    refuse(settings, len(grouping.levels))
    refuse_leverages(settings.cov_type)
    precondition = preconditioner(len(data.parameter_names(family)), settings)
    centre = precondition is not None and not bounds_intercept(prior, data)
    rows = grouped_rows(data, grouping, settings.seed, settings.dtype, centre)
    scheme = scheme_of(effects_of(grouping).loading.q, rows.subgroups is not None)
    scheme.refuse(nodes)
    table = rows.table
    outcome = moments_of_outcomes(table, family)
    spread = scales_of(data, outer_first(grouping), rows.Z, table.weight)
    units = scales(data, table.sd, family, *outcome)
    priors = mixed_priors(prior, data, family, units, effects_of(grouping), spread)
    refuse_beside_ends(priors, settings, table)
    shift = (table.mean if priors.centred else np.zeros(data.d)) - table.shift
    if data.intercept is not None:
        shift[data.intercept] = 0.0
    start = first_guess(without_ends(priors), family, table.offset, *outcome)
    priors = guessed_beside(priors, table, family, predictors_of(data, family), start)
    searched, bounded = without_ends(priors), len(priors.bent) > 0
    if bounded:  # chains, which ask for densities alone
        scheme = scheme.coarse()
    # effects of many rows are about normal, which a few nodes around their modes tell
    many = len(table.y) >= ROWS_OF_NORMAL * len(rows.level) and scheme.effects <= FEW_EFFECTS
    few = nodes or (FEWEST_OF_NORMAL if many else scheme.first)
    effects, kernel, start = begun(rows, family, grouping, few, start, START * units.unit / spread)
    bent = np.zeros(len(priors.names))
    bent[data.d : data.d + effects.loading.q] = effects.loading.scale
    terms = PriorTerms(searched, shift, bent=bent)
    small = None
    if kernel.closed and settings.unchained:
        small = few_rows(rows, kernel, family, effects, nonzero(table.sd), start)
    few = SPREAD_OVER * (WARM_ROWS + kernel.n)
    if not (kernel.closed or rows.subgroups or warm_groups(kernel)) and len(table.y) > few:
        # a part of each group tells where to begin: single steps with all rows cost more
        start = near_mode(spread_rows(rows, kernel, family, effects), terms, start)
    found, mode, warnings = find(small or kernel, terms, start)
    fold, modes = FoldedEffects(data.d, effects.loading), ModeSearch(1, (1.0,))
    wide = settings.modes == "search"
    if wide:
        refuse_search(priors, settings)
    if mode.whole and (wide or may_have_clusters(table, family, priors, settings)):
        random = np.random.Generator(np.random.PCG64(seed_sequence(settings.seed, "modes")))
        parts = None if wide else (table, family, outcome[1])
        usual = mode, warnings
        found, mode, warnings, modes = find_several(found, terms, usual, fold, random, parts)
    kernel, rule = (kernel if small else found), IntegrationRule(0, 0.0)
    if not kernel.closed and mode.whole:
        few = kernel.nodes
        if many and not nodes:  # away from the modes few nodes do not
            few, kernel = FEWEST_NODES, kernel.with_nodes(FEWEST_NODES)
        places = [place for place, _ in modes.gaussians]
        points = [*normal_points(mode, settings.seed), *places]
        kernel, rule = with_rule(kernel, points, nodes, scheme)
        if rule.nodes > few:  # which were too few for the mode as well
            kernel, mode, warnings = find(kernel, terms, mode.theta)
    back = undo_centring(len(priors.names), table.shift, priors.intercepts)
    report, given = Report(priors.auxiliary, fold, priors.report), None
    seen = partial(observations, table=table, nested=rows.subgroups is not None)
    skewed_sds = few_groups(kernel.n, seen(kernel, rule=rule).cells, effects)
    near = sds_near_zero(small or kernel, terms, mode, effects, data.d) if mode.whole else []
    # those of a named sampler, and chains that are given a start or a warmup, stay of all rows
    by_laws = settings.sampler is None and settings.unchained
    suited = suits_table(kernel, effects, settings, precondition)
    suited = suited and mode.whole and not bounded and modes.found == 1
    told = suited and (effects.loading.q == 1 or from_zero(mode, fold).min() >= ABOVE_ZERO)
    # of several sds a table has one alone, and of few rows many densities cost little
    along = suited and skewed_sds and kernel.dim <= MOST_ALONG and by_laws
    tabulated = not along or told and may_have_laws(kernel)
    # of several sds that may be zero, those that are not tabulated would not be about normal
    if suited and len(near) < 2 and tabulated:
        given = given_sd(kernel, terms, mode, fold, back, report)
    if given is not None:  # nodes have to do where its draws are, too
        z = np.random.default_rng(settings.seed).normal(size=(DRAWS, kernel.dim))
        kernel, rule = with_rule(kernel, [given.origin, *given.map(z)], nodes, scheme)
    warnings = warnings + inexact(rule, effects)
    warnings = warnings + warnings_of(rows, effects, family) + rounded(table, data)
    if kernel.glm.width > 1:
        warnings = warnings + exact_fit(kernel.glm, mode.theta[-priors.auxiliary])
    warnings = warnings + undecided(near, effects)
    if data.intercept is not None:
        hidden = overruled(mode, priors, terms.slope_of(mode.theta, priors.defaults))
        warnings = warnings + (
            hidden
            or collinearity(
                of_coefficients(mode, data.d),
                data.names,
                data.n,
                chosen=priors.chosen[: data.d],
                unseen=getattr(data.source, "unseen", None),
            )
        )
    between = None
    if settings.robust:
        refuse_near_zero(settings.cov_type, near, effects)
        of_sandwich = data, settings, effects.factor, back, priors.auxiliary
        where, few = grouped_sandwich(mode, kernel, rows, *of_sandwich)
        warnings = warnings + few
    elif bounded:
        grouped = GroupedMode(small or kernel, searched, mode, terms, shift, bent)
        between = between_ends(grouped, priors, len(table.y))
        mode, warnings = between.mode, warnings + between.warnings
        where = between.coordinates(back, precondition, priors.auxiliary)
    else:
        where = whitened(mode, back, precondition, priors.auxiliary, fold)
        if settings.sampler is not None and settings.sampler.sticky:
            where = about_zero(where, mode)
    plain = replace(where, report=report)
    where, folded = given or plain, FoldedSigns(plain, fold, mode, effects, near)
    seen, skewed = seen(kernel, rule=rule), near and kernel.closed
    # of one sd normal draws may do, whose densities cost less than laws
    single, pilot_seed = effects.loading.size == 1, seed_sequence(settings.seed, "pilot", 2)
    # each level of normal outcomes has a density that falls as 1 / sd
    decay = dict.fromkeys(effects.sds, len(rows.level) if kernel.closed else 0)
    found = Problem(
        model=kernel,
        prior=density(priors, shift, bent),
        coordinates=where,
        priors=priors,
        free_names=priors.names,
        rows=seen,
        defaults=Defaults(
            estimator=estimator(kernel),
            exact_sampler=STEADY if skewed else EXACT,
            thinning=partial(thinning, small.n * small.width if small else seen.cells)
            if skewed
            else each_step,
            why_exact=skewed_sds or ("" if between is None else between.why_exact),
            # weights of proposals have long tails where an sd that has no table may be zero
            nearly_normal=given is not None and told,
            by_laws=partial(with_laws, seed=pilot_seed) if by_laws and single else None,
        ),
        searched=modes.transformed(back),
        stopped=stopped(mode, rule),
        warnings=warnings,
        shape=Shape(tail_bounds=partial(tail_bounds, priors, decay=decay)),
        # the table of an sd begins at zero, and has no other sign
        signs=Signs() if given else folded,
        summed=small,
        table=table,
        mode=mode,
        own=IntegratedEffects(rows, rule, effects, near),
    )
    if given is not None and found.defaults.nearly_normal:
        found = with_laws(found, pilot_seed) if by_laws and not single else found
        if found.transport is not None or not along:
            return found
    if along:
        usual = replace(found.defaults, nearly_normal=False)
        whole = replace(found, coordinates=plain, signs=folded, defaults=usual)
        moved = parameters_proposed(whole, fold, terms, pilot_seed)
        return replace(whole, transport=moved) if moved else found
    # sums tell the density of sds and sigma, where all else is normal given these
    conjugate = bool(family.auxiliary) and priors.conjugate(data.d) and not priors.bounded.any()
    # of correlated effects there are proposals, and no independent draws that may be asked for
    alone = effects.loading.size == effects.loading.q or settings.sampler is None
    if kernel.closed and conjugate and alone and settings.unchained and mode.whole:
        of_groups = kernel.glm, effects.loading, rows, terms, mode
        moved = grouped_transport(found, *of_groups, seed_sequence(settings.seed, "pilot", 2))
        shape = replace(found.shape, settled=tuple(effects.sds))
        found = replace(found, transport=moved, shape=shape) if moved else found
    return found


def few_groups(groups, cells, effects):
    """What speaks for an exact sampler of so many groups and numbers of rows and nodes; empty where
    nothing does.
    """
    if effects.loading.size == 1 or groups > MOST_TABULATED or cells > MOST_EXACT:
        return ""
    return f"the sds of effects of {groups:,} groups are skewed"


def few_rows(rows, kernel, family, effects, sd, start):
    """The compiled model of few rows with the sums of each group; None where there is none."""
    found = summed_groups(rows, kernel.glm, family)
    if found is None:
        return None
    few, glm = found
    return kernel_of(glm, few, family, effects, None, units_of_steps(start, len(sd), family, sd))


def spread_rows(rows, kernel, family, effects):
    """The compiled model of a part of the rows of each group."""
    few = rows.spread(WARM_ROWS)
    table = few.table
    glm = family.kernel(design(table.X), table.response, table.offset, table.multiplicity)
    return kernel_of(glm, few, family, effects, kernel.nodes, np.asarray(kernel.unit))


def suits_table(kernel, effects, settings, precondition) -> bool:
    """Whether the parameters may be sampled given one sd, whose density has a table: they are few,
    and nothing is asked that coordinates whitened at the mode are for.
    """
    sampler = settings.sampler
    free = sampler is None or sampler.independent or sampler.direct
    # of more groups mini-batches cost less than the table, whose nodes take all of them
    narrow = kernel.dim <= MOST_CONDITIONED and kernel.n <= MOST_TABULATED and not kernel.closed
    whole = left_open(settings) and settings.precondition == "mode" and precondition == "dense"
    # a node alone is right around the mode, and the table goes far from it
    return free and narrow and whole and kernel.nodes > 1 and not settings.robust


def sds_near_zero(kernel, terms, mode, effects, first):
    """Return the effects whose sds may be zero; none where the time is up."""

    def log_density(at):
        return of_rows(kernel, at, slope=False)[0] + terms(at)[0]

    try:
        return near_zero(log_density, mode.theta, effects, first)
    except OutOfTime:
        return []


def stopped(mode, rule):
    """What the time was not enough for; empty where it was."""
    if not mode.whole:
        return SEARCH
    return CURVATURE if np.isnan(rule.error) else ""


def of_coefficients(mode, d):
    """The mode of the first d parameters, given the others."""
    return Mode(mode.theta[:d], mode.likelihood[:d, :d], mode.prior[:d, :d])


def begun(rows, family, grouping, nodes, start, sds):
    """Effects, compiled model and start of the search, with coordinates of sds that turn into logs
    above what a group's rows tell of its effects at the start.

    Parameters
    ----------
    rows : GroupedRows
    family : Family
    grouping : Grouping
    nodes : int or None
    start : array (dim,)
        Zeros in the places of the effects' parameters.
    sds : array (q,)
        Where the search begins.
    """
    table, effects = rows.table, effects_of(grouping)
    glm = family.kernel(design(table.X), table.response, table.offset, table.multiplicity)
    first, q = glm.X.d, effects.loading.q
    start = start.copy()
    start[first : first + q] = sds
    with deadline.suspended():  # of some groups alone
        precision = kernel_of(glm, rows, family, effects, nodes, None).precision(start, WARM_GROUPS)
    scale = np.where(precision > 0, 1 / np.sqrt(np.where(precision > 0, precision, 1.0)), sds)
    effects = effects_of(grouping, scale)
    start[first : first + q] = effects.loading.curved(sds)
    unit = units_of_steps(start, first, family, nonzero(table.sd))
    return effects, kernel_of(glm, rows, family, effects, nodes, unit), start


def units_of_steps(start, d, family, sd):
    """Of coefficients what moves predictors by about sigma, else 1: (dim,)."""
    unit = np.ones(len(start))
    unit[:d] = (np.exp(start[-1]) if family.identity and family.auxiliary else 1.0) / sd
    return unit


def nonzero(spread):
    """Standard deviations of columns, 1 of those that are constant."""
    return np.where(spread > 0, spread, 1.0)


def refuse(settings, units, unit="groups"):
    """ArgumentError for mini-batches of more than all units, which are groups or rows."""
    if settings.batch_size is not None and settings.batch_size > units:
        text = f"batch_size={settings.batch_size} exceeds the {units} {unit}"
        raise ArgumentError(text, because="limit")


def kernel_of(glm, rows, family, effects, nodes, unit):
    """The compiled model of groups."""
    scheme = scheme_of(effects.loading.q, rows.subgroups is not None)
    nodes = nodes or scheme.first
    if rows.subgroups is not None:
        return nested(glm, rows, family, effects, nodes, unit)
    return one_factor(glm, rows, family, effects.loading, nodes, unit, scheme.make)


def one_factor(glm, rows, family, loading, nodes, unit, rule):
    """The compiled model of the groups of one factor."""
    if closed_form(family):
        return GaussianMarginal(glm, rows.starts, rows.Z, loading, unit)
    return Quadrature(glm, rows.starts, rows.Z, loading, unit, nodes, rule)


def nested(glm, rows, family, effects, nodes, unit):
    """The compiled model of groups within groups."""
    table, inner, q = rows.table, rows.subgroups, effects.outer.q
    wide = design(beside(table.X, rows.Z[:, :q]))
    Z = np.ascontiguousarray(rows.Z[:, q:])

    def of_subgroups(apart, nodes):
        offset = (
            table.offset if apart is None else apart + (0 if table.offset is None else table.offset)
        )
        own = family.kernel(wide, table.response, offset, table.multiplicity)
        if closed_form(family):
            return GaussianMarginal(own, inner.starts, Z, effects.inner)
        return Quadrature(own, inner.starts, Z, effects.inner, None, nodes)

    return Nested(
        glm,
        rows.starts,
        rows.Z,
        effects.loading,
        of_subgroups,
        effects.outer,
        inner.first,
        unit,
        nodes,
    )


def density(priors, shift, bent):
    """The compiled prior of phi; parameters of the effects have no shift."""
    return density_of(priors, padded(shift, len(priors.names) - priors.auxiliary), bent)


def padded(shift, size):
    """The shift, (d,) or one for each intercept, with zeros for parameters of the effects."""
    return np.append(shift, np.zeros((*shift.shape[:-1], size - shift.shape[-1])), axis=-1)


def inexact(rule, effects):
    """A warning, in a list, where the nodes that memory and time allow are not enough."""
    if not rule.error > WORST_ERROR:
        return []
    scheme, what = rule.scheme, "quadrature nodes of each effect"
    if scheme.scattered:
        what = "points of each level's effects"
    more = scheme.finer(max(rule.nodes, scheme.most))
    return [
        QuadratureWarning(
            f"{rule.nodes} {what} of {effects.factor} leave errors of {rule.error:.2g} in "
            "differences of log densities.",
            f"Give more of them, such as nodes={more}, {scheme.count(more):,} points a group; or "
            "take slopes that vary little out of the group terms.",
        )
    ]
