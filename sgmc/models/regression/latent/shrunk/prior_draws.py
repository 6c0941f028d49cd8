"""Independent draws of priors whose scales are learned: of these first, then of coefficients."""

import numpy as np

from sgmc.coordinates.priors.prior_table import PriorTable, resolve
from sgmc.core.random.rng import seed_sequence
from sgmc.errors import ArgumentError
from sgmc.models.regression.bases.predictors.two_predictors import predictors_of
from sgmc.models.regression.latent.shrunk.groups import (
    LearnedPriors,
    as_normal,
    groups_of,
    refuse_known,
    with_globals,
)
from sgmc.models.regression.latent.shrunk.problem import shrunk_of
from sgmc.models.regression.latent.shrunk.shrinking import LOCAL_KINDS
from sgmc.models.regression.mode.search import scales
from sgmc.results.priors.distributions import from_spoken, prior_draws


def learned_prior_draws(table, data, family, prior, outcome, count, seed):
    """The `PriorTable` of what is printed, and draws (draw, parameter) of it in natural units.

    Parameters
    ----------
    table : Table
    data : RegressionData
    family : Family
    prior : PriorSpec or dict
    outcome : (float, float)
        Mean and variance of the outcomes.
    count : int
    seed : int or SeedSequence

    Raises
    ------
    ArgumentError
        For a horseshoe whose global scale follows from what the outcomes tell.
    """
    units = scales(data, table.sd, family, *outcome)
    priors = resolve(prior, data, family, units, learned=True, bounded=True, joint=True)
    refuse_known(priors)
    groups, columns = groups_of(priors), predictors_of(data, family)
    for one in groups:
        if one.spec.nonzero is not None:
            raise ArgumentError(
                f"the prior of {one.name!r}, {one.spec}, takes its scale from the outcomes: give "
                "scale="
            )
    where = np.sort(np.concatenate([one.places for one in groups]))
    shrunk = shrunk_of(groups, where, priors, family, units, columns)
    hyperpriors = [one.hyperprior(None) for one in groups]
    shown: PriorTable = with_globals(priors, groups, hyperpriors, shrunk.log_params, LearnedPriors)
    d = len(columns)
    drawn = prior_draws(as_normal(shown, where), np.eye(d), count, seed)
    random = np.random.Generator(np.random.PCG64(seed_sequence(seed, "predict", 4)))
    drawn[:, where] *= sds_of(shrunk, drawn[:, d:], random)
    drawn[:, :d] = drawn[:, :d] @ from_spoken(priors, table.mean).T
    return shown, drawn


def sds_of(shrunk, positive, random):
    """Sds (draw, k) of coefficients, by draws of global and auxiliary parameters and new local
    scales; s^2 = 1 / (1 / (unit e^A)^2 + 1 / slab^2), see `ShrunkPrior`.
    """
    count, k = len(positive), shrunk.k
    kind, log_scale = np.asarray(shrunk.local), np.zeros((count, k))
    cauchy, gamma = kind == LOCAL_KINDS["half_cauchy"], kind == LOCAL_KINDS["root_gamma"]
    log_scale[:, cauchy] = np.log(np.abs(random.standard_cauchy((count, cauchy.sum()))))
    shape = np.asarray(shrunk.shape)[gamma]
    log_scale[:, gamma] = 0.5 * np.log(random.gamma(shape, size=(count, len(shape))))
    log_scale += np.asarray(shrunk.share) * np.log(positive[:, np.asarray(shrunk.group)])
    if shrunk.log_params:
        log_scale += np.asarray(shrunk.noise) * np.log(positive[:, [shrunk.groups]])
    wide = np.exp(log_scale) * np.asarray(shrunk.unit)
    return 1 / np.hypot(1 / wide, 1 / np.asarray(shrunk.slab))
