"""Sds that are sampled with a sign: what scores cannot tell does not count against draws."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.models.regression.latent.sampled.problem import SignsOfProposals, SignsOfSmooths
from sgmc.results.checks.scores.stein import scored
from sgmc.results.report.verdict import FEWEST_ERRORS, TRUSTED_ERROR, told_by_scores

SEED = 6
MOST_BY_CHANCE = 5.0  # standard errors of a mean of 22 scores: one in 80,000 such tests is beyond


def means_of_scores(done):
    """E[s] of each of the sampler's coordinates, in standard errors, all but independent draws."""
    s = scored(done, done.settings.seed, "exact").scores
    return s.mean(axis=0) / (s.std(axis=0) / np.sqrt(len(s)))


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_modes_of_either_sign_are_told_by_draws():
    """Chains go between a mode and its reflection, and no affine map of draws is of both."""
    rng = np.random.default_rng(SEED)
    d = pd.DataFrame(rng.uniform(-2, 2, (500, 2)), columns=["q", "p"])
    eta = 0.5 + 0.5 * np.sin(2 * d.q) + 0.125 * d.q * np.cos(2 * d.p)
    d["count"] = rng.poisson(np.exp(eta))
    r = sgmc.poisson("count ~ te(q, p, k=4)", d, seed=1, draws=4000)
    done = r._fit
    assert isinstance(done.problem.signs, SignsOfSmooths)
    untold = done.problem.signs.untold(done.x)
    signed = done.problem.coordinates.natural(done.x)[..., done.problem.own.rows.blocks.phi]
    both = (signed < 0).any((0, 1)) & (signed > 0).any((0, 1))
    assert untold == list(np.array(done.problem.own.effects.sds)[both])
    # scores would say that sds are off, beyond chance, of draws of an exact sampler whose
    # effective size is in the thousands
    table = r.accuracy()
    assert not told_by_scores(done.plan.spec, table)
    table = table.loc[untold]
    sure = table.sd_error.abs() - FEWEST_ERRORS * table.mcse_sd_error
    assert sure.max() > TRUSTED_ERROR / 2, table


@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
def test_ends_of_proposed_sds_are_told_by_draws():
    """An sd that is proposed from zero on has a density that ends there, so that Stein's identity
    has a term of the end; scores of all other coordinates have mean zero.
    """
    rng = np.random.default_rng(1)
    d = pd.DataFrame({"x": rng.normal(size=400), "t": np.arange(400) % 20})
    d["won"] = (rng.random(400) < 1 / (1 + np.exp(-0.5 * d.x))).astype(int)
    r = sgmc.logit("won ~ x + rw1(t)", d, seed=1)
    done = r._fit
    assert isinstance(done.problem.signs, SignsOfProposals)
    assert done.problem.signs.names == ("sd(rw1(t))",)
    off = np.abs(means_of_scores(done))
    assert off[-1] > 2 * MOST_BY_CHANCE and (off[:-1] < MOST_BY_CHANCE).all(), off
    assert r.verdict.trustworthy, r.verdict
