"""The posterior of a regression with effects of several factors, effects among its parameters."""

from dataclasses import dataclass

import numpy as np

from sgmc import registry
from sgmc.coordinates.composed import Composed
from sgmc.coordinates.dispersion import exact_fit
from sgmc.coordinates.modes import ModeSearch
from sgmc.coordinates.prior_tails import tail_bounds
from sgmc.core.bank import ThinnedDraws
from sgmc.core.deadline import OutOfTime
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit.problem import (
    ACCEPTED,
    DRAWS_MEMORY,
    SEARCH,
    Problem,
    paths_between_draws,
    rotating_paths,
)
from sgmc.models.crossed.coordinates import CrossedCoordinates
from sgmc.models.crossed.edf import edf_of_smooths
from sgmc.models.crossed.effects import Loaded
from sgmc.models.crossed.refusals import refuse
from sgmc.models.crossed.setup import set_up
from sgmc.models.mixed.concerns import undecided
from sgmc.models.mixed.problem import refuse as refuse_with_groups
from sgmc.models.regression.narrow import rounded
from sgmc.models.regression.problem import arrays_of

GRADIENTS = 3  # of a path
NEAR_ZERO = 3.0  # sds of an sd's coordinate from zero: it may be zero
# sds from zero within which chains have to be able to come near it: at 5 the region below a tenth
# of the sd still holds some thousandths of the posterior, as tails are longer than a Gaussian's
WITHIN_REACH = 6.0
# of nuts, whose paths have about so many gradients, and of which so many lead from draw to draw
LEAPFROGS, NUTS_PATHS = 8, 3
EACH, SHARED_STEPS = 16, 40  # walkers of a chain where rows are dense, and steps of their warmup


@dataclass(kw_only=True)
class CrossedProblem(Problem):
    """The posterior of a regression with crossed factors; rows of the model are rows.

    Attributes
    ----------
    rows : CrossedRows
    effects : Effects
    edf : dict
        See `edf_of_smooths`.
    near, within_reach : list of int
        Effects and smooths whose sds may be zero, and those whose sds chains may bring near it.
    """

    rows: object
    effects: object
    edf: dict
    near: list
    within_reach: list

    surveyed, partial = False, True
    exact_sampler = "hmc"

    @property
    def table(self):
        """Rows as the compiled model reads them."""
        return self.rows.table

    @property
    def columns(self):
        """Places of all parameters but the effects."""
        return self.rows.blocks.places

    @property
    def nobs(self):
        weight = self.table.weight
        return self.model.n if weight is None else float(weight.sum())

    @property
    def cells(self):
        # a row has few numbers
        return self.model.n * (len(self.rows.dense) + self.rows.Z.shape[1])

    @property
    def least_noise(self):
        # there is no mini-batch
        return "simple"

    @property
    def free_names(self):
        return self.priors.names

    @property
    def fingerprint(self):
        table, where = self.table, self.coordinates.map.inner
        return [
            *arrays_of(table.X),
            table.y,
            table.trials,
            table.offset,
            table.weight,
            table.se,
            np.asarray(where.centre),
            where.roots,
        ]

    def tail_bounds(self, names):
        # by priors alone
        return tail_bounds(self.priors, names)

    def default_sampler(self):
        # effects of sds near zero are told as by their rows, where the posterior is no Gaussian and
        # steps of one size, found in a short warmup, are too long or too short by far
        if not self.within_reach:
            return rotating_paths()
        return registry.room("samplers")["nuts"](target_accept=ACCEPTED)

    def thinning(self, settings):
        if self.within_reach:
            return paths_between_draws(settings, self.cells, LEAPFROGS, NUTS_PATHS)
        return paths_between_draws(settings, self.cells, GRADIENTS)

    @property
    def flat_below(self):
        # where the rows of a level tell nothing of its effect
        return dict(zip(self.effects.sds, np.asarray(self.rows.blocks.loading.scale)))

    def kept(self, x):
        return self.coordinates.printed(x), self.priors.names

    def recorded(self, x):
        return self.coordinates.natural(x)[..., self.columns]

    def recorder(self, draws, plan):
        # means of all effects, and some whole draws
        if plan.spaced:
            raise NotSupported(
                "thin='distance' does not apply to crossed factors; give a number of steps"
            )
        return ThinnedDraws(draws, plan.thin, self.coordinates.map, self.dim, self.columns)

    def check_draws(self, settings):
        if settings.start_given:
            raise NotSupported(
                "init: a start needs effects of crossed factors, too, and numbers for coefficients "
                "and standard deviations do not give them; leave it, or give init='dispersed'"
            )
        if settings.keep is not None:
            raise ArgumentError(
                "keep does not apply to crossed factors: draws of all parameters but the effects "
                "are kept; leave it, and use ranef_draws()"
            )
        size = 8 * settings.positions * settings.chains * len(self.columns)
        if size > DRAWS_MEMORY:
            raise ArgumentError(
                f"{settings.kept_text} in {settings.chains} chains of {len(self.columns)} "
                f"parameters are {size / 2**30:.1f} GB, over the limit of 1 GB; keep fewer and "
                "thin more"
            )


class SmoothProblem(CrossedProblem):
    """The posterior of a regression with smooths and no factor: all of its few parameters are kept,
    and chains have walkers whose densities are products of matrices.
    """

    partial, recorded, kept = False, Problem.recorded, Problem.kept
    recorder = Problem.recorder

    def check_draws(self, settings):
        if settings.start_given:
            raise NotSupported(
                "init: a start needs coefficients of smooths, too, and numbers for coefficients "
                "and standard deviations do not give them; leave it, or give init='dispersed'"
            )
        Problem.check_draws(self, settings)

    @property
    def many(self):
        # those of dense tables
        return self.model.products and isinstance(self.table.X, np.ndarray)

    @property
    def warmup(self):
        # walkers learn a step together
        return SHARED_STEPS if self.many else None

    def sign_draws(self, x):
        signed = self.coordinates.natural(x)[..., self.rows.blocks.phi]
        return {self.effects.sds[j]: np.where(signed[..., j] < 0, -1.0, 1.0) for j in self.near}

    def default_sampler(self):
        return rotating_paths(EACH) if self.many else rotating_paths()

    def thinning(self, settings):
        return paths_between_draws(settings, self.cells, GRADIENTS)


def crossed_problem(data, family, crossing, prior, settings):
    """The `CrossedProblem`.

    Parameters
    ----------
    data, family, crossing, prior, settings
        See `set_up`.
    """
    refuse_with_groups(settings, len(crossing.codes))
    refuse(data, crossing, settings)
    found = set_up(data, family, crossing, prior, settings)
    rows, loaded, stopped, known = found.rows, found.centre.loaded, "", {}
    near, reached, exact = [], [], []
    try:
        centre, covariance = found.centre.search(found.start)
        near = near_zero(centre.place, covariance, rows.blocks, NEAR_ZERO)
        reached = near_zero(centre.place, covariance, rows.blocks, WITHIN_REACH)
        # effects that are correlated with others of their level are not told one by one
        alone = np.repeat(rows.blocks.width, rows.blocks.width) == 1
        reached = [j for j in reached if alone[j] or j in near]
        exact = exact_fit(found.model, centre.place[-1]) if family.auxiliary else []
        rows = rows.with_blocks(**found.centre.informative(centre, reached))
        loaded, known = Loaded(rows.blocks), edf_of_smooths(crossing.spec.smooths, rows, centre)
        place, precision = found.centre.joint(centre, covariance, loaded)
        arrow = precision.arrow(place)
    except OutOfTime:
        rows, loaded = found.rows, found.centre.loaded
        stopped, arrow = SEARCH, found.centre.reached.map
    shift, logs = rows.fixed.shift, len(family.auxiliary)
    where = CrossedCoordinates(Composed(loaded, arrow), rows.blocks, shift, data.intercept, logs)
    kind = CrossedProblem if crossing.factors else SmoothProblem
    return kind(
        model=found.model,
        prior=found.prior,
        coordinates=where,
        priors=found.priors,
        concerns=undecided(near, found.effects) + exact + rounded(rows.fixed, data),
        stopped=stopped,
        searched=ModeSearch(1, (1.0,), can_search=False),
        shuffled=False,
        rows=rows,
        effects=found.effects,
        edf=known,
        near=near,
        within_reach=reached,
    )


def near_zero(place, covariance, blocks, limit):
    """Numbers of the effects whose sds are within so many of their own sds of zero."""
    phi = place[blocks.phi][: blocks.loading.q]
    sd = np.sqrt(np.diag(covariance)[: len(phi)])
    return [int(j) for j in np.flatnonzero(np.abs(phi) < limit * sd)]
