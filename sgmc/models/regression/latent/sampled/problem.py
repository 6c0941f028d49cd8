"""The posterior of a regression with effects of several factors, effects among its parameters."""

from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from sgmc import registry
from sgmc.coordinates.approximations.modes import ModeSearch
from sgmc.coordinates.independent.transport import scaled_by_draws
from sgmc.coordinates.priors.prior_tails import tail_bounds
from sgmc.coordinates.shapes.dispersion import (
    ROUNDED_MORE,
    exact_fit,
    exact_fit_of_rows,
)
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.whitening import undo_centring
from sgmc.coordinates.whitened.whole import WholeCoordinates
from sgmc.core.bank import ThinnedDraws
from sgmc.core.random.rng import seed_sequence
from sgmc.core.system.deadline import OutOfTime
from sgmc.fit.parts import (
    ACCEPTED,
    MOST_PATHS,
    Defaults,
    Observations,
    Record,
    Shape,
    Signs,
    paths_between_draws,
    refuse_too_many,
    rotating_paths,
)
from sgmc.fit.plan import GRADIENT
from sgmc.fit.problem import SEARCH, Problem
from sgmc.models.regression.bases.predictors.two_predictors import shifts
from sgmc.models.regression.bases.predictors.varying import Varying
from sgmc.models.regression.latent.covariance.fold import FoldedEffects
from sgmc.models.regression.latent.covariance.group_warnings import undecided
from sgmc.models.regression.latent.densities.effects_prior import Loaded
from sgmc.models.regression.latent.densities.shared import Shared
from sgmc.models.regression.latent.integrated.problem import refuse as refuse_with_groups
from sgmc.models.regression.latent.sampled.centre.edf import edf_of_smooths
from sgmc.models.regression.latent.sampled.centre.row_information import overlapping
from sgmc.models.regression.latent.sampled.independent.direct import effects_transport
from sgmc.models.regression.latent.sampled.independent.proposals import proposals
from sgmc.models.regression.latent.sampled.margins import (
    centre_and_margins,
    margins_so_far,
)
from sgmc.models.regression.latent.sampled.memory import MOST_MADE_AT_ONCE
from sgmc.models.regression.latent.sampled.refusals import refuse
from sgmc.models.regression.latent.sampled.resolution import Resolution
from sgmc.models.regression.latent.sampled.setup import set_up
from sgmc.models.regression.latent.sampled.tails import falls, falls_of_normal
from sgmc.models.regression.problem import by_products, identity, strata_of
from sgmc.models.regression.rows.narrow import rounded

GRADIENTS = 3  # of a path
NEAR_ZERO = 3.0  # sds of an sd's coordinate from zero: it may be zero
# sds from zero within which chains have to be able to come near it: at 5 the region below a tenth
# of the sd still holds some thousandths of the posterior, as tails are longer than a Gaussian's
WITHIN_REACH = 6.0
# of nuts, whose paths have about so many gradients, and of which so many lead from draw to draw
LEAPFROGS, NUTS_PATHS = 8, 3
MOST_ROOT = 256  # effects of a root
DRAWS_OF_SDS, FEWEST_OF_SDS = 64, 8  # draws that tell sds in the stead of a root
EACH, SHARED_STEPS = 16, 40  # walkers of a chain where rows are dense, and steps of their warmup


@dataclass(frozen=True)
class SampledEffects:
    """What results read of a posterior with effects among its parameters; rows of the model are
    rows.

    Attributes
    ----------
    rows : CrossedRows
    effects : Effects
    edf : dict
        See `edf_of_smooths`.
    """

    rows: object
    effects: object
    edf: dict


@dataclass(frozen=True)
class ThinnedRecord(Record):
    """All parameters but the effects, means of these, and some whole draws.

    Attributes
    ----------
    columns : array of int
        Places of the parameters that are kept.
    """

    columns: np.ndarray

    def settled(self, problem, settings):
        refuse_too_many(settings, len(self.columns))
        return self

    def kept(self, problem, x):
        return problem.coordinates.printed(x), problem.priors.printed

    def theta(self, problem, x):
        return problem.coordinates.theta_of(x)

    def recorded(self, problem, x):
        return problem.coordinates.natural(x)[..., self.columns]

    def recorder(self, problem, draws, plan):
        map = problem.coordinates.map
        return ThinnedDraws(draws, plan.thin, map, problem.dim, self.columns)


@dataclass(frozen=True)
class SignsOfSmooths(Signs):
    """Signs of sds that chains may bring to zero, of which all draws are kept."""

    coordinates: WholeCoordinates
    phi: slice
    effects: object
    near: list  # sds that may be zero
    reached: list  # and those that chains may bring there

    def signed(self, x, places):
        """Sds by their names, with the signs of their draws."""
        signed = self.coordinates.natural(x)[..., self.phi]
        return {self.effects.sds[j]: signed[..., j] for j in places}

    def of(self, x):
        return {name: np.where(s < 0, -1.0, 1.0) for name, s in self.signed(x, self.near).items()}

    def untold(self, x):
        # draws go between two modes, of either sign: no Gaussian has scores like theirs
        return [name for name, s in self.signed(x, self.reached).items() if s.min() < 0 < s.max()]


@dataclass(frozen=True)
class SignsOfProposals(Signs):
    """Sds that are proposed without a sign: densities of those that may be zero end there, which
    gradients do not show.
    """

    names: tuple


def crossed_problem(data, family, crossing, prior, settings):
    """The problem.

    Parameters
    ----------
    data, family, crossing, prior, settings
        See `set_up`.
    """
    refuse_with_groups(settings, len(crossing.codes), "rows")
    refuse(data, crossing, settings)
    found = set_up(data, family, crossing, prior, settings)
    rows, loaded, stopped, known = found.rows, found.centre.loaded, "", {}
    told = []
    near, reached, exact, moved, margins = [], [], [], None, None
    try:
        centre, covariance, margins = centre_and_margins(found)
        near = near_zero(centre.place, covariance, rows.blocks, NEAR_ZERO)
        near = [] if settings.prior_only else near  # data have not said that they may be
        reached = near_zero(centre.place, covariance, rows.blocks, WITHIN_REACH)
        # effects that are correlated with others of their level are not told one by one
        alone = np.repeat(rows.blocks.width, rows.blocks.width) == 1
        reached = [j for j in reached if alone[j] or j in near]
        scaled = family.auxiliary and family.linear_predictors == 1 and not settings.prior_only
        if scaled:
            exact = exact_fit(found.model, centre.place[-1], errors=ROUNDED_MORE)
        elif isinstance(found.model, Varying) and not settings.prior_only:
            mean = rows.fixed.mean - rows.fixed.shift
            mean[found.sampled.priors.intercepts] = 1.0
            exact = exact_fit_of_rows(found.model, family.columns, mean, centre.place)
        rows = rows.with_blocks(**found.centre.informative(centre, reached))
        loaded, known = Loaded(rows.blocks), edf_of_smooths(crossing.spec.smooths, rows, centre)
        if settings.unchained and normal_given_sds(family, found, data.d):
            moved = effects_transport(found, loaded, centre.place, covariance, settings)
        apart = () if margins is None else margins.places
        apart = np.array([j for j in apart if j < rows.blocks.d], dtype=int)
        if moved is None:  # else there are no chains, which these coordinates are for
            told = overlapping(found.centre, centre, rows.blocks, apart)
            if found.learned is not None:
                told += shared_with_coefficients(rows, data, crossing, apart, near)
        inner, arrays = whitening(found, loaded, told, centre, covariance, moved, margins)
    except OutOfTime:
        rows, loaded, moved, told = found.rows, found.centre.loaded, None, []
        stopped, centre = SEARCH, found.centre.reached
        margins = margins_so_far(found, centre)
        inner, arrays = between(centre.precision, centre.place, margins)
    d = rows.blocks.d
    lows = tuple(one.parameter.low for one in found.effects.spectral if not one.logged)
    fold = FoldedEffects(d, rows.blocks.loading, lows)
    whole = Composed(reduce(Composed, told, loaded), inner)
    places, moving = rows.blocks.places, np.arange(d, d + rows.blocks.effects)
    if found.learned is not None:
        places, moving = found.learned.places(places), found.learned.moving(moving)
    sampled, priors = found.sampled, found.sampled.priors
    where = WholeCoordinates(
        whole if margins is None else margins.behind(whole),
        places,
        moving,
        undo_centring(d, shifts(priors, rows.fixed.shift, d), priors.intercepts),
        Report(priors.auxiliary, fold, priors.report),
        arrays,
    )
    table, effects = rows.table, found.effects
    # a row has few numbers
    each = len(rows.dense) + rows.Z.shape[1]
    cells = sampled.model.n * each
    chained = sampled.summed[1] if sampled.summed else sampled.model
    # of smooths alone, all of the few parameters are kept, and walkers have products of matrices
    alone = not crossing.factors
    products = alone and by_products(sampled.model, table)
    made = Problem(
        model=sampled.model,
        prior=sampled.prior,
        coordinates=where,
        priors=priors,
        free_names=priors.names,
        rows=Observations(
            nobs=table.nobs,
            cells=cells,
            shuffled=settings.approximate,
            strata=partial(strata_of, table),
            identity=identity,
        ),
        defaults=local_steps()
        if len(priors.shrunk)
        # trees of paths diverge at ends, where slopes have no bound, and paths of one length hardly
        else defaults([] if alone or margins is not None else reached, chained.n * each, products),
        searched=ModeSearch(1, (1.0,), can_search=False),
        stopped=stopped,
        warnings=undecided(near, effects)
        + exact
        + rounded(rows.fixed, data)
        + list(margins.warnings if margins else ()),
        record=Record() if alone or biased(settings) else ThinnedRecord(places),
        shape=Shape(
            tail_bounds=partial(tail_bounds, priors, decay=falls(found, family)),
            # where the rows of a level tell nothing of its effect
            flat_below=dict(zip(effects.sds, np.asarray(rows.blocks.loading.scale))),
        ),
        signs=SignsOfSmooths(where, rows.blocks.phi, effects, near, reached) if alone else Signs(),
        products=products,
        prior_alone=settings.prior_only,
        table=table,
        own=SampledEffects(rows, effects, known),
        evidence=(Resolution(effects.spectral),),
    )
    if stopped:
        return made
    made = replace(made, summed=sampled.summed and sampled.summed[1])
    if not settings.unchained:
        return made
    if not normal_given_sds(family, found, data.d):
        return with_proposals(made, found, centre, covariance, settings, near)
    if moved is None:
        return made
    decay, settled = falls_of_normal(found, family)
    bounds = partial(tail_bounds, found.priors, decay=decay)
    shape = replace(made.shape, tail_bounds=bounds, settled=settled)
    return replace(made, transport=moved.behind(where.map), shape=shape)


def normal_given_sds(family, found, d):
    """Whether coefficients and effects are normal given sigma and the sds of effects alone."""
    priors = found.priors
    if found.learned is not None:
        return False
    conjugate = bool(family.auxiliary) and priors.conjugate(d) and not priors.bounded.any()
    return conjugate and family.summed


def whitening(found, loaded, told, centre, covariance, moved, margins):
    """The map to (beta, v, psi) from coordinates that are about standard normal, and its arrays.

    Parameters
    ----------
    found : CrossedSetup
    loaded : Loaded
    told : list of Overlapping
    centre : GaussianApproximation
    covariance : array (k, k)
        About that of psi.
    moved : ConditionallyNormal, ProposedScales or None
        The transport to independent draws, or proposals.
    margins : Margins or None
    """
    if moved is not None and moved.sums.roots_size > MOST_ROOT:
        # chains alone need a root of all effects, and a draw takes longer to move by it, from
        # memory, than to be made
        count = max(min(DRAWS_OF_SDS, MOST_MADE_AT_ONCE // loaded.dim), FEWEST_OF_SDS)
        scaling = scaled_by_draws(moved, count, loaded.dim)
        return scaling, (np.asarray(scaling.centre), np.asarray(scaling.scale))
    place, precision = found.centre.joint(centre, covariance, loaded, told)
    return between(precision, place, margins)


def between(precision, place, margins):
    """The `Arrow` around a place, which leaves parameters of `Margins` to their map, and what tells
    it and these from others.
    """
    arrow = precision.arrow(place, () if margins is None else margins.places)
    arrays = np.asarray(arrow.centre), arrow.roots
    return arrow, arrays if margins is None else (*arrays, *margins.arrays)


def with_proposals(made, found, centre, covariance, settings, near):
    """The problem with independent proposals, where these are worth it."""
    # their Gaussians know nothing of ends and poles
    away = len(found.priors.bent) or found.learned is not None
    if found.summed or settings.sampler is not None or away:
        return made
    random = np.random.Generator(np.random.PCG64(seed_sequence(settings.seed, "pilot", 2)))
    try:
        moved = proposals(made, found.centre, centre, covariance, random)
    except OutOfTime:
        return made
    signs = SignsOfProposals(tuple(found.effects.sds[j] for j in near))
    return replace(made, transport=moved, signs=signs) if moved else made


def shared_with_coefficients(rows, data, crossing, kept, near):
    """A `Shared` for each term of one effect a level that has a coefficient of its own, which is
    not among those `kept`; sds of effects `near` zero are not clear of it.
    """
    out, names = [], list(data.names)
    for t, term in enumerate(crossing.terms):
        name = term.part + term.columns[0]
        if len(term.columns) > 1 or rows.blocks.d > len(names) or name not in names:
            continue
        if names.index(name) not in kept:
            clear = rows.blocks.start[t] not in near
            out.append(Shared(rows.blocks, t, names.index(name), clear))
    return out


def local_steps():
    """The `Defaults` beside horseshoes: near their poles paths of many gradients diverge, where
    steps of one are refused and made again.
    """
    return Defaults(
        estimator=GRADIENT,
        exact_sampler="mala",
        unsurveyed="effects of levels or smooths",
        sampler=registry.room("samplers")["mala"](),
    )


def defaults(within_reach, cells, products):
    """The `Defaults`, by the sds of crossed effects that chains may bring near zero."""
    sampler, gradients, most = rotating_paths(EACH if products else 1), GRADIENTS, MOST_PATHS
    if within_reach:
        # effects of sds near zero are told as by their rows, where the posterior is no Gaussian and
        # steps of one size, found in a short warmup, are too long or too short by far
        sampler = registry.room("samplers")["nuts"](target_accept=ACCEPTED)
        gradients, most = LEAPFROGS, NUTS_PATHS
    return Defaults(
        estimator=GRADIENT,
        exact_sampler="hmc",
        unsurveyed="effects of levels or smooths",
        sampler=sampler,
        thinning=partial(paths_between_draws, cells=cells, gradients=gradients, most=most),
        warmup=SHARED_STEPS if products else None,  # walkers learn a step together
    )


def biased(settings):
    """Whether there is no accept-reject, so that the verdict needs scores of whole draws: a sampler
    of mini-batches is named, or asked for by their arguments.
    """
    return settings.approximate and (settings.sampler is None or not settings.sampler.exact)


def near_zero(place, covariance, blocks, limit):
    """Numbers of the effects whose sds are within so many of their own sds of zero."""
    phi = place[blocks.phi][: blocks.loading.q]
    sd = np.sqrt(np.diag(covariance)[: len(phi)])
    return [int(j) for j in np.flatnonzero(np.abs(phi) < limit * sd)]
