"""Warmup finds steps and scales of a badly scaled normal law, and then leaves them alone."""

import numpy as np
import pytest
from _ext.toy_densities import Funnel, Normal

from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant

from .cases import GRADIENTS, LEARNING, SCHEMES, TREES, stream
from .montecarlo import LIMIT, distance

STEPS, CORRELATION = 20_000, np.array([[1, 0.9], [0.9, 1]])
LEARNERS = {
    name: spec
    for name, spec in LEARNING.items()
    if spec.values().get("metric") in ("diag", "dense")
    and spec.values().get("integrator") != "exponential"
}
# sds 1 / RATIO and RATIO.  Diffusive samplers widen their scales by about the root of a window's
# length, which is too little for 10,000 in 1000 steps: mala and barker then end with scales of
# 0.003 to 0.1 of the right ones.
PROBLEMS = [(10, 1000), (100, 4000)]


def chain(spec, model, seed=1):
    """A chain from the mode, at the step that would be best were all sds one."""
    rng, step = stream(seed), spec.from_langevin(spec.first_step(model.dim))
    gradient = GRADIENTS["simple"](model, Prior(model.dim), SCHEMES["block"](1, 1), rng)
    return Chain(np.zeros(model.dim), spec.build(model.dim, step), gradient, rng, Constant(step))


def warmed(spec, model, warmup, adapt=True):
    """That chain after warmup."""
    made = chain(spec, model)
    made.sampler.plan_warmup(warmup)
    made.sampler.warming = adapt
    made.run(warmup, False)
    made.sampler.warming = False
    return made


def scaled(ratio):
    """Sds, and the law."""
    sd = np.array([1 / ratio, ratio])
    return sd, Normal(np.outer(sd, sd) * CORRELATION)


def learned(made):
    """The step's search and the metric."""
    state = made.sampler.state()
    return state["search"], {key: np.array(value) for key, value in state["metric"].items()}


@pytest.mark.parametrize("ratio, warmup", PROBLEMS)
@pytest.mark.parametrize("name", LEARNERS)
def test_warmup_reaches_acceptance_scales_and_law(name, ratio, warmup):
    """Acceptance within 0.15 of the target, at 30 of 30 seeds (26 for hmc with a diagonal metric
    after 1000 steps, which accepts 0.12 to 0.154 too often; the seed is fixed); scales that the
    metric has found within a factor 8 below the right ones and 2 above (0.18 to 1.41 at 30 seeds);
    means and covariances of 20,000 steps from the end of warmup on within LIMIT = 5 Monte Carlo
    errors (3.7 at most at 30 seeds): 5 comparisons, false rejection 4e-5 a test.
    """
    sd, model = scaled(ratio)
    made = warmed(LEARNERS[name], model, warmup)
    L = learned(made)[1]["L"]
    shares = (L[0] / sd) ** 2
    if len(L) == 2:
        root = np.linalg.solve(np.linalg.cholesky(np.outer(sd, sd) * CORRELATION), L)
        shares = np.linalg.eigvalsh(root @ root.T)
    assert shares.min() > 1 / 8**2 and shares.max() < 2**2
    made.recorder = FullRecorder(STEPS, 2, 1)
    made.run(STEPS)
    assert abs(made.sampler.accepted / made.sampler.proposed - LEARNERS[name].target_accept) < 0.15
    assert distance(np.asarray(made.recorder.draws) / sd, np.zeros(2), CORRELATION) < LIMIT


@pytest.mark.mistake("warmup without adaptation")
@pytest.mark.parametrize("name", LEARNERS)
def test_a_warmup_that_adapts_nothing_is_caught(name):
    made = warmed(LEARNERS[name], scaled(10)[1], 1000, adapt=False)
    made.run(1000, False)
    assert abs(made.sampler.accepted / made.sampler.proposed - LEARNERS[name].target_accept) > 0.15


@pytest.mark.parametrize("name", LEARNERS)
def test_the_metric_changes_at_the_ends_of_windows_alone(name):
    """Windows of 25, 50 and 100 steps, and one to the end as 200 and 400 do not fit, between 15 %
    and 90 % of 1000 steps; of nuts, by gradients, of 10 steps and more from the tenth to 85 %.
    """
    made, changes = chain(LEARNERS[name], scaled(10)[1]), []
    made.sampler.plan_warmup(1000)
    made.sampler.warming, before = True, learned(made)[1]["L"]
    for step in range(1, 1001):
        made.run(1, False)
        after = learned(made)[1]["L"]
        changes += [step] if (after != before).any() else []
        before = after
    by_gradients = LEARNERS[name].name in TREES
    assert changes == ([20, 40, 80, 160, 320, 850] if by_gradients else [175, 225, 325, 900])


@pytest.mark.parametrize("name", LEARNERS)
def test_nothing_is_learned_after_warmup(name):
    made = warmed(LEARNERS[name], scaled(10)[1], 300)
    step, (search, metric) = made.sampler.adapted_step, learned(made)
    made.run(1000, False)
    assert learned(made)[0] == search and made.sampler.adapted_step == step
    assert all((learned(made)[1][key] == metric[key]).all() for key in metric)


@pytest.mark.parametrize(
    "model, low, high",
    [(Normal(np.eye(2)), 0.9, 1.4), (Normal(np.eye(10)), 0.9, 1.3), (Funnel(10, 3.0), 0.0, 0.3)],
)
def test_energies_tell_a_funnel(model, low, high):
    """e_bfmi of 5000 steps: about one on normal laws (1.01 to 1.19), low on a funnel (0.09 to
    0.12); ranges of 6 seeds.
    """
    made = warmed(LEARNING["hmc-metric=identity"], model, 1000)
    made.run(5000, False)
    assert low < made.sampler.e_bfmi < high
