"""The No-U-Turn sampler draws from its target, and mistakes in its trees are caught.

Rank tests are those of `test_exact_rank`: a right sampler is rejected with probability at most
ALPHA, one in 100,000 a test; seeds are fixed.
"""

import numpy as np
import pytest
from _ext import mistaken_trees
from _ext.toy_densities import Funnel, Normal

from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.samplers.bases.trajectory import Trajectory

from .cases import GRADIENTS, SAMPLERS, SCHEMES, stream
from .montecarlo import LIMIT, distance
from .test_exact_rank import ALPHA, PACE, problem, rank_test

# leapfrog steps so short that trees have three levels and more
STEPS = {"normal": 0.35, "skew normal": 0.25, "funnel": 0.5, "logit": 0.4, "gamma": 0.3}
# p-values of 16,000 replicates: below 1e-12 for each of these
MISTAKES = {
    "Even": "funnel",
    "Lopsided": "normal",
    "Unreversed": "gamma",
    "Newest": "funnel",
    "Hasty": "logit",
    "Unfinished": "skew normal",
}


def tree(target, cls=Trajectory, max_depth=6):
    """A sampler at the target's step, with no metric."""
    return cls(2, STEPS[target], 0.8, "identity", 1.0, max_depth)


@pytest.mark.cover(0)
@pytest.mark.parametrize("max_depth", [1, 2, 6])
@pytest.mark.parametrize("target", PACE)
def test_ranks_are_uniform_at_deep_trees(target, max_depth):
    assert rank_test(tree(target, max_depth=max_depth), *problem(target))[1] > ALPHA


@pytest.mark.extended(*(f"{one}-nuts" for one in MISTAKES if one != "Unfinished"))
@pytest.mark.mistake("trees: {mistake}")
@pytest.mark.parametrize("name", ["nuts"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_trees_are_caught(name, mistake):
    """Even weights; a criterion of one end; a wrong kick backwards in time; the newest half, or the
    later part of a half, taken too often; halves that turned back kept.
    """
    target = MISTAKES[mistake]
    cls = getattr(mistaken_trees, mistake)
    assert rank_test(tree(target, cls), *problem(target))[1] < ALPHA


def warmed(model, spec, warmup=400, seed=1):
    """A chain after warmup, from one on all coordinates."""
    rng, d = stream(seed), model.dim
    step = spec.from_langevin(spec.first_step(d))
    gradient = GRADIENTS["simple"](model, Prior(d), SCHEMES["block"](1, 1), rng)
    chain = Chain(np.ones(d), spec.build(d, step), gradient, rng, Constant(step))
    chain.sampler.plan_warmup(warmup)
    chain.sampler.warming = True
    chain.run(warmup, False)
    chain.sampler.warming = False
    return chain


def correlated(dim, ratio):
    """A covariance with sds from 1 to `ratio` and correlations 0.9^|j - k|."""
    sd = np.geomspace(1, ratio, dim)
    j = np.arange(dim)
    return np.outer(sd, sd) * 0.9 ** np.abs(j[:, None] - j)


@pytest.mark.extended("20-identity", "20-diag", "20-dense")
@pytest.mark.parametrize("metric", ["identity", "diag", "dense"])
@pytest.mark.parametrize("dim", [1, 5, 20])
def test_means_and_covariances_of_normal_laws(dim, metric):
    """20,000 draws: within LIMIT = 5 Monte Carlo errors of the exact ones."""
    covariance = correlated(dim, 3.0)
    chain = warmed(Normal(covariance), SAMPLERS["nuts"](metric=metric))
    chain.recorder = FullRecorder(20_000, dim, 1)
    chain.run(20_000)
    sd = np.sqrt(np.diag(covariance))
    draws = np.asarray(chain.recorder.draws) / sd
    assert distance(draws, np.zeros(dim), covariance / np.outer(sd, sd)) < LIMIT


def test_a_dense_metric_is_that_of_a_normal_law_from_few_draws():
    """Gradients and draws together tell it: 60 draws of 20 parameters, whose sample covariance
    alone has eigenvalues from 0.2 to 2.5 of the right ones; a condition number of 60,000.
    """
    covariance = correlated(20, 100.0)
    chain = warmed(Normal(covariance), SAMPLERS["nuts"](metric="dense"), warmup=85)
    L = np.array(chain.sampler.state()["metric"]["L"])
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), L)
    assert np.abs(np.linalg.eigvalsh(whitened @ whitened.T) - 1).max() < 0.05


def test_what_is_told_of_trees():
    """Leapfrog steps after warmup are the gradients that the chain asked for; short paths of a
    limited depth are counted, and divergences of a step that is far too long.
    """
    chain = warmed(Normal(correlated(5, 3.0)), SAMPLERS["nuts"]())
    before = chain.gradient.touched
    chain.run(500, False)
    made = chain.sampler
    assert made.leapfrogs == chain.gradient.touched - before
    assert made.proposed == 500 and made.saturated == 0 and made.divergent == 0
    assert 1 < made.tree_depth < 4 and 0.6 < made.accepted / made.proposed < 0.95
    short = warmed(Normal(correlated(5, 30.0)), SAMPLERS["nuts"](max_depth=1, metric="identity"))
    short.run(500, False)
    assert short.sampler.saturated > 400 and short.sampler.tree_depth <= 1
    long = warmed(Funnel(10, 3.0), SAMPLERS["nuts"](target_accept=0.3))
    long.run(2000, False)
    assert long.sampler.divergent > 0


def test_a_chain_that_stopped_in_warmup_goes_on_as_if_it_had_not():
    """Bit by bit, while a dense metric is being learned."""
    model, spec = Normal(correlated(5, 3.0)), SAMPLERS["nuts"](metric="dense")

    def begun(steps):
        made = warmed(model, spec, warmup=0)
        made.sampler.plan_warmup(200)
        made.sampler.warming = True
        made.run(steps, False)
        return made

    whole, part, other = begun(150), begun(33), begun(0)
    other.set_state(part.state())
    other.run(117, False)
    assert (np.asarray(other.x) == np.asarray(whole.x)).all()
    assert other.sampler.adapted_step == whole.sampler.adapted_step
