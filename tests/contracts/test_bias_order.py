"""Order of the bias of samplers whose gradients are exact, on a target that is not Gaussian, and
mistakes that change it.

The slope of log |error| on log step between two steps, a factor of up to two apart.  Tolerance: 2.5
Monte Carlo standard errors of the slope, and NEXT for what the next order adds at steps so long (by
quadrature of the transition: 0.01 for sgld, 0.2 for lmsgld, 0.3 for its case of baoab, where h =
e^2, 0.1 for vsgbd).  A slope is only accepted
where this tolerance is below one, so that no other order passes.  Errors are of the variance, or of
E cos 3x, which chains forget faster; benchmarks/bias_order.py has both, longer chains, three steps,
all samplers, and says why each order is what it is.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from _ext.probes import Shaken
from _ext.toy_densities import Wavy
from scipy.integrate import quad

from sgmc.core.contract import Prior
from sgmc.core.engine import Chain, full
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

from .cases import GRADIENTS, SAMPLERS, stream
from .montecarlo import BATCHES

DIM, NEXT = 256, 0.4
MOMENTS = {"variance": np.square, "E cos 3x": lambda x: np.cos(3 * x)}


@dataclass(frozen=True)
class Case:
    """A specification, the order of its bias, two steps, the moment that is read, and coordinates
    times steps of a chain.
    """

    spec: object
    order: int
    steps: tuple
    moment: str
    cost: float


CASES = {
    "sgld": Case(SAMPLERS["sgld"](), 1, (0.1, 0.2), "E cos 3x", 1e7),
    "lmsgld": Case(SAMPLERS["lmsgld"](), 2, (0.3, 0.6), "E cos 3x", 3e7),
    "baoab": Case(SAMPLERS["baoab"](friction=0.5), 2, (0.28, 0.56), "variance", 1.3e8),
    "baoab without memory": Case(
        SAMPLERS["baoab"](friction=1000.0), 4, (0.5, 0.8), "E cos 3x", 4e7
    ),
    "sghmc": Case(SAMPLERS["sghmc"](leapfrog=1, friction=0.5), 2, (0.17, 0.34), "variance", 9e7),
    "sgnht": Case(SAMPLERS["sgnht"](), 1, (0.05, 0.1), "E cos 3x", 2e7),
    "msgnht": Case(SAMPLERS["msgnht"](), 1, (0.05, 0.1), "E cos 3x", 2e7),
    # in sigma: 1 in h = 1.01 sigma^2
    "vsgbd": Case(SAMPLERS["vsgbd"](), 2, (0.3, 0.6), "E cos 3x", 1e7),
}


def truth(moment):
    """Its expectation under the density exp(-x^2/2 + cos 1.5 x)."""
    f = MOMENTS[moment]
    above, below = (
        quad(lambda x: g(x) * np.exp(-x * x / 2 + np.cos(1.5 * x)), -9, 9, epsabs=1e-13)[0]
        for g in (f, np.ones_like)
    )
    return above / below


def error(sampler, step, h, moment, cost):
    """Relative error of a moment in one chain of that Langevin time a step,
    and its standard error.
    """
    rng = stream(1)
    gradient = GRADIENTS["simple"](Wavy(DIM), Prior(DIM), FullBatch(1), rng)
    chain = Chain(np.random.default_rng(1).normal(size=DIM), sampler, gradient, rng, Constant(step))
    chain.run(int(20 / h), False)
    thin, means = max(1, int(0.2 / h)), []
    for _ in range(BATCHES):
        chain.recorder = FullRecorder(int(cost / DIM / BATCHES / thin), DIM, thin)
        chain.run(chain.recorder.draws.shape[0] * thin)
        means.append(MOMENTS[moment](np.asarray(chain.recorder.draws)).mean())
    expected = truth(moment)
    return np.mean(means) / expected - 1, np.std(means, ddof=1) / np.sqrt(BATCHES) / abs(expected)


def slope(case, make=None, cost=None):
    """Slope of log |error| on log step and its standard error, for that case's kernel or another,
    made from (step, h).
    """
    make = make or (lambda step, h: case.spec.build(DIM, step))
    times = [max(case.spec.langevin_time(step), step * step) for step in case.steps]
    return between(
        case,
        [
            error(make(e, h), e, h, case.moment, cost or case.cost)
            for e, h in zip(case.steps, times)
        ],
    )


def between(case, errors):
    """Slope and standard error from two errors, each with its own."""
    (a, sa), (b, sb) = errors
    ratio = np.log(case.steps[1] / case.steps[0])
    return np.log(abs(b / a)) / ratio, np.hypot(sa / a, sb / b) / ratio


def tolerance(spread):
    """Of a slope with that standard error."""
    return 2.5 * spread + NEXT


def test_the_gradient_of_the_target_is_its_derivative():
    """At independent places in each coordinate,
    by central differences, against the formula that `truth` integrates.
    """
    x = np.linspace(-3, 3, DIM)
    value, slopes = full(GRADIENTS["simple"](Wavy(DIM), Prior(DIM), FullBatch(1), stream(0)), x)
    below, at, above = (np.cos(1.5 * y) - y * y / 2 for y in (x - 1e-5, x, x + 1e-5))
    assert value == pytest.approx(at.sum())
    assert slopes == pytest.approx((above - below) / 2e-5, abs=1e-8)


@pytest.mark.extended
@pytest.mark.parametrize("name", CASES)
def test_bias_has_its_order(name):
    found, spread = slope(CASES[name])
    assert tolerance(spread) < 1
    assert abs(found - CASES[name].order) < tolerance(spread)


@pytest.mark.extended
@pytest.mark.mistake("order: noise x sqrt 2")
@pytest.mark.parametrize("name", CASES)
def test_noise_times_root_two_has_order_zero(name):
    """An error that short steps do not mend."""
    case = CASES[name]
    found, spread = slope(case, lambda step, h: Shaken(case.spec.build(DIM, step), h), 5e6)
    assert case.order - found > tolerance(spread)


@pytest.mark.extended
@pytest.mark.mistake("order: noise of order one too much")
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.order > 1])
def test_a_mistake_of_order_one_is_seen(name):
    """A share of the injected noise too much, as large as the step."""
    case = CASES[name]
    found, spread = slope(case, lambda step, h: Shaken(case.spec.build(DIM, step), h * step), 1e7)
    assert case.order - found > tolerance(spread)


@pytest.mark.extended
@pytest.mark.mistake("order: Euler's step")
@pytest.mark.parametrize("name", ["lmsgld"])
def test_the_step_of_euler_is_seen(name):
    """In place of the one of Leimkuhler and Matthews."""
    found, spread = slope(CASES[name], lambda step, h: SAMPLERS["sgld"]().build(DIM, step), 1e7)
    assert CASES[name].order - found > tolerance(spread)
