"""A regression with effects of several factors as a density: rows, compiled model, priors, and
where the search for its centre begins.
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.coordinates.approximations.mode import PriorTerms
from sgmc.core.expansion import row_curvatures
from sgmc.core.random.rng import seed_sequence
from sgmc.models.regression.bases.predictors.two_predictors import of_columns, predictors_of, shifts
from sgmc.models.regression.latent.covariance.crossed_effects import effects_of_crossing
from sgmc.models.regression.latent.covariance.group_effects import MixedPriorsAlone, mixed_priors
from sgmc.models.regression.latent.densities.effects_prior import EffectsPrior, Loaded
from sgmc.models.regression.latent.integrated.problem import START, density
from sgmc.models.regression.latent.integrated.rows import guessed_beside, scales_of
from sgmc.models.regression.latent.sampled.blocks.crossed_rows import crossed_rows
from sgmc.models.regression.latent.sampled.blocks.gram import Gram
from sgmc.models.regression.latent.sampled.centre.search import CentreSearch
from sgmc.models.regression.latent.sampled.independent.direct import summed_rows
from sgmc.models.regression.latent.sampled.learned import LearnedBeside, learned_beside
from sgmc.models.regression.latent.shrunk.groups import as_normal
from sgmc.models.regression.mode.bounded import (
    bounds_intercept,
    refuse_beside_ends,
    without_ends,
)
from sgmc.models.regression.mode.search import first_guess, moments_of_outcomes, scales
from sgmc.models.regression.prior_alone import refuse_improper


@dataclass(frozen=True)
class CrossedSetup:
    """See above.

    Attributes
    ----------
    rows : CrossedRows
    model : Model
        Of (beta, b, phi, eta, u).
    prior : EffectsPrior
    priors : PriorTable
    effects : CrossedEffects
    centre : Centre
    starts : list of array (dim,)
        (beta, v, phi, eta, u).
    shift, bent : array
        See `PriorTerms`.
    summed : (CrossedRows, Model) or None
        Few rows that have the sums of all, see `summed_rows`; the centre is then theirs.
    learned : LearnedBeside or None
        What is sampled besides where prior scales are learned; all above is of the search.
    """

    rows: object
    model: object
    prior: object
    priors: object
    effects: object
    centre: CentreSearch
    starts: list
    shift: np.ndarray
    bent: np.ndarray
    summed: tuple | None
    learned: LearnedBeside | None = None

    @property
    def sampled(self):
        """What has the model, priors and sums of all that is sampled."""
        return self.learned or self

    def terms_of(self, priors):
        """The `PriorTerms` of priors of (beta, phi, eta, u)."""
        return PriorTerms(priors, self.shift, bent=self.bent)

    def density_of(self, priors):
        """The density of all parameters under such priors, compiled."""
        return EffectsPrior(self.rows.blocks, density(priors, self.shift, self.bent))


def set_up(data, family, crossing, prior, settings):
    """The `CrossedSetup` of a regression.

    Parameters
    ----------
    data : RegressionData
        Of the fixed part.
    family : Family
    crossing : Crossing
    prior : None, str, PriorSpec or dict
    settings : Settings
    """
    effects, log_params = effects_of_crossing(crossing), len(family.auxiliary)
    columns = predictors_of(data, family)
    d = len(columns)
    moved = not bounds_intercept(prior, data)
    rows = crossed_rows(data, columns, crossing, effects, log_params, settings, moved)
    table = rows.fixed
    outcome = moments_of_outcomes(table, family)
    spread = scales_of(data, crossing.terms, rows.Z, table.weight)
    spread = np.append(spread, np.ones(len(crossing.sizes)))
    units = scales(data, table.sd, family, *outcome)
    # the outcomes' unit is that of the first linear predictor
    spread = np.where(crossing.predictors > 0, spread * units.unit, spread)
    specified = priors = mixed_priors(prior, data, family, units, effects, spread, True)
    where = np.flatnonzero([one.learned for one in priors.specified])
    priors = as_normal(priors, where)
    if settings.prior_only:
        refuse_improper(priors)
        priors = MixedPriorsAlone(**vars(priors))
        table = replace(table, weight=np.zeros(len(table.y)))
        rows = replace(rows, fixed=table, table=replace(table, X=rows.table.X))
    refuse_beside_ends(priors, settings, table)
    shift = (table.mean if priors.centred else np.zeros(data.d)) - table.shift
    shift[data.intercepts] = 0.0
    shift = shifts(priors, shift, d)
    wide = of_columns(family, rows.predictor)
    model = wide.kernel(rows.stored, table.response, table.offset, table.multiplicity)
    # chains are told apart by draws of named samplers, which stay those of all rows
    summing = family.summed and not crossing.factors and settings.unchained
    summed = summed_rows(rows, family) if summing else None
    few, small = summed or (rows, model)
    gram = Gram(few)
    start = first_guess(without_ends(priors), family, table.offset, *outcome)
    priors = guessed_beside(priors, table, family, columns, start)
    first = d + effects.loading.size
    start[first : first + effects.spectrum.size] = [one.start for one in effects.spectral]
    sds = START * units.unit / spread
    effects = effects_of_crossing(crossing, scale_of(few, gram, small, start, sds))
    loading = effects.loading
    start[d : d + loading.q] = loading.curved(sds)
    rows, few = rows.with_blocks(loading=loading), few.with_blocks(loading=loading)
    bent = np.zeros(len(priors.names))
    bent[d : d + loading.q] = loading.scale
    random = np.random.Generator(np.random.PCG64(seed_sequence(settings.seed, "modes")))
    searched = without_ends(priors, poles=False)
    core, begin = (
        EffectsPrior(rows.blocks, density(one, shift, bent)) for one in (priors, searched)
    )
    terms = PriorTerms(searched, shift, bent=bent)
    centre = CentreSearch(few, gram, small, begin, terms, Loaded(rows.blocks), random)
    place = np.zeros(rows.blocks.size)
    place[rows.blocks.places] = start
    starts = [place]
    if any(one.logged for one in effects.spectral):  # there may be a mode of short length scales
        starts.append(place.copy())
        starts[1][rows.blocks.eta] = [one.short for one in effects.spectral]
    summed = summed and (few, small)
    learned = None
    if len(where):
        learned = learned_beside(
            rows, specified, family, units, columns, start, shift, bent, summing
        )
    return CrossedSetup(
        rows, model, core, priors, effects, centre, starts, shift, bent, summed, learned
    )


def scale_of(rows, gram, model, start, sds):
    """The sds (q,) above which coordinates of effects' sds turn into logs: what rows of a level
    tell of its effects, see `Loading`; of a smooth what they tell of the direction that they tell
    most of.
    """
    theta = np.zeros(rows.blocks.size)
    theta[rows.blocks.places] = start
    of = slice(rows.predictors)
    w = row_curvatures(model, theta, True)[:, of, of]
    out, blocks, tell = np.empty(len(sds)), rows.blocks, np.diag(gram.fixed(w))[rows.blocks.d :]
    tell = tell * blocks.ratios(theta)[blocks.effects - len(tell) :] ** 2
    ends = np.cumsum(np.asarray(blocks.levels)[np.asarray(blocks.start) >= len(rows.factor)])
    for j, own in enumerate(np.split(tell, ends[:-1]) if len(tell) else []):
        # without outcomes rows tell nothing
        out[len(rows.factor) + j] = 1 / np.sqrt(own.max()) if own.max() > 0 else sds[-1]
    for k, own in enumerate(gram.effects):
        mean = np.diagonal(gram.within(w, k), axis1=1, axis2=2).mean(axis=0)
        out[own] = np.where(mean > 0, 1 / np.sqrt(np.where(mean > 0, mean, 1.0)), sds[own])
    return out
