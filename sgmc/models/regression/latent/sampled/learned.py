"""Coefficients with learned prior scales beside effects.

All parameters are then (beta, b, phi, eta, v, g, u): logs v of local scales and g of global
parameters, which are in no row, stand before those of auxiliary parameters.  The search for the
centre is that of (beta, b, phi, eta, u), with normal laws in the place of the learned priors.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.models.regression.bases.predictors.two_predictors import of_columns
from sgmc.models.regression.latent.covariance.group_effects import MixedPriors
from sgmc.models.regression.latent.densities.effects_prior import EffectsPrior
from sgmc.models.regression.latent.integrated.problem import padded
from sgmc.models.regression.latent.integrated.rows import sds_alone
from sgmc.models.regression.latent.sampled.independent.direct import summed_rows
from sgmc.models.regression.latent.shrunk.centre import LearnedScales
from sgmc.models.regression.latent.shrunk.groups import LearnedPriors, groups_of, with_globals
from sgmc.models.regression.latent.shrunk.problem import density, hyperpriors_of, shrunk_of
from sgmc.models.regression.latent.shrunk.shrinking import Shrunk, ShrunkPrior


class LearnedMixedPriors(LearnedPriors, MixedPriors):
    """Priors of coefficients, of parameters of effects, global parameters and auxiliary ones."""


@dataclass(frozen=True)
class LearnedBeside:
    """What learned scales add to a `CrossedSetup`.

    Attributes
    ----------
    where : array (k,) of int
        Coefficients with learned scales.
    scales : LearnedScales
        Of these alone.
    whole : Shrunk
        Among all parameters.
    model : Model
    prior : Prior
    priors : PriorTable
        Of what is printed.
    summed : tuple or None
        See `CrossedSetup`.
    power : float
        See `ShrunkMap`.
    """

    where: np.ndarray
    scales: LearnedScales
    whole: Shrunk
    model: object
    prior: object
    priors: object
    summed: tuple | None
    power: float

    @property
    def others(self):
        """Places of all parameters but the scales."""
        return np.r_[0 : self.whole.d, self.whole.size - self.whole.log_params : self.whole.size]

    @property
    def own(self):
        """Places of these coefficients, of local scales, global and auxiliary parameters."""
        return np.r_[self.where, self.whole.d : self.whole.size]

    @property
    def kept(self):
        """Places of these coefficients and auxiliary parameters among the `others`."""
        end = self.whole.d + self.whole.log_params
        return np.r_[self.where, self.whole.d : end]

    def places(self, printed):
        """Places of what is printed, by those among the `others`."""
        at, whole = np.searchsorted(printed, self.whole.d), self.whole
        return np.r_[printed[:at], whole.first_group : whole.size]

    def moving(self, effects):
        """Places of coordinates that move effects or local scales alone."""
        return np.r_[effects, self.own[: self.whole.locals]]


def learned_beside(rows, priors, family, units, columns, start, shift, bent, summing):
    """The `LearnedBeside`.

    Parameters
    ----------
    rows : CrossedRows
    priors : PriorTable
        Of all but the scales, as written.
    family : Family
    units : Scales
    columns : array (d,) of int
        The linear predictor of each coefficient.
    start : array
        First guess of (beta, phi, eta, u).
    shift, bent : array
        See `PriorTerms`.
    summing : bool
        Whether few rows may have the sums of all.
    """
    groups, table, blocks = groups_of(priors), rows.fixed, rows.blocks
    where = np.sort(np.concatenate([one.places for one in groups]))
    own = shrunk_of(groups, where, priors, family, units, columns)
    own = own.replaced(d=len(where), where=np.arange(len(where)))
    whole = own.replaced(d=blocks.size - blocks.log_params, where=where)
    sds = sds_alone(table, family, columns, start, priors.intercepts)[where]
    first = start[len(start) - own.log_params] if own.log_params else 0.0
    hyperpriors = hyperpriors_of(groups, own, sds, first)
    shown = with_globals(priors, groups, hyperpriors, own.log_params, LearnedMixedPriors)
    rows = rows.widened(own.locals + own.groups)
    kernel = of_columns(family, rows.predictor).kernel
    fixed = density(shown, where, padded(shift, len(columns)), whole, with_zeros(bent, own))
    return LearnedBeside(
        where,
        LearnedScales(own, groups, hyperpriors),
        whole,
        kernel(rows.stored, table.response, table.offset, table.multiplicity),
        ShrunkPrior(whole, EffectsPrior(rows.blocks, fixed)),
        shown,
        summed_rows(rows, family) if summing else None,
        family.auxiliary[0].power if family.auxiliary else 0.0,
    )


def with_zeros(bent, shrunk):
    """`bent` of all that is printed: global parameters are logs."""
    return np.insert(bent, len(bent) - shrunk.log_params, np.zeros(shrunk.groups))
