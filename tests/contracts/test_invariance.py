"""Exact samplers leave a skewed law as it is; wrong rules of acceptance do not.

exp theta_j ~ Gamma(SHAPE_j, COUNT_j).  Chains start from that law, and after a few steps are still
distributed so.
"""

import numpy as np
import pytest
from _ext.mistakes import Louder
from _ext.probes import Tempered
from scipy.special import digamma, polygamma

from sgmc.coordinates.transforms.maps import Scaling
from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import Chain
from sgmc.core.schedules import Constant
from sgmc.models.regression.families.poisson import PoissonLog

from .cases import EXACT, GRADIENTS, SAMPLERS, SCHEMES, stream
from .montecarlo import LIMIT, standard_errors

SHAPE, COUNT = np.array([4.0, 9.0]), np.array([4, 3])  # sums of outcomes, and rows, of two groups
GROUP, OUTCOME = np.repeat(np.eye(2), COUNT, axis=0), np.array([1.0, 0, 2, 1, 5, 1, 3])
AFTER, CHAINS, H = 5, 20_000, 1.0
WALKERS = 4000
LOCKSTEP = {name: SAMPLERS[name](walkers=WALKERS) for name in ("mala", "hmc")}


def posterior(cls, dim, rng):
    """A gradient of the first `dim` groups' posterior, in coordinates whitened at the mode."""
    rows = COUNT[:dim].sum()
    model = PoissonLog(design(np.ascontiguousarray(GROUP[:rows, :dim])), OUTCOME[:rows])
    white = Scaling(np.log(SHAPE / COUNT)[:dim], 1 / np.sqrt(SHAPE[:dim]))
    return cls(model, Prior(dim), SCHEMES["block"](rows, rows), rng, map=white)


def starts(dim):
    """Independent draws of the law, in the same coordinates."""
    gamma = np.random.default_rng(7).gamma(SHAPE[:dim], size=(CHAINS, dim))
    return np.log(gamma / SHAPE[:dim]) * np.sqrt(SHAPE[:dim])


def central_moments(dim):
    """Mean, and central moments of order 2, 3 and 4,
    of log-gamma variables in those coordinates.
    """
    root = np.sqrt(SHAPE[:dim])
    variance, third, cumulant = (polygamma(k, SHAPE[:dim]) * root ** (k + 1) for k in (1, 2, 3))
    return (
        (digamma(SHAPE[:dim]) - np.log(SHAPE[:dim])) * root,
        variance,
        third,
        cumulant + 3 * variance**2,
    )


def departure(build, gradient, rng, walkers=1):
    """Departure of four moments and the coordinates' covariance from the law's,
    in Monte Carlo errors.
    """
    before = starts(gradient.dim)
    after = np.empty_like(before)
    for k in range(0, CHAINS, walkers):
        some = slice(k, k + walkers)
        chain = Chain(before[some].ravel(), build(gradient.dim, H), gradient, rng, Constant(H))
        chain.run(AFTER, False)
        after[some] = np.reshape(chain.x, (walkers, -1))
    assert np.corrcoef(before[:, 0], after[:, 0])[0, 1] < 0.9  # it does move
    mean, *rest = central_moments(gradient.dim)
    e = after - mean
    samples, expected = np.hstack([e, e**2, e**3, e**4]), np.concatenate([0 * mean, *rest])
    if gradient.dim == 2:
        samples, expected = np.column_stack([samples, e.prod(axis=1)]), np.append(expected, 0.0)
    return standard_errors(samples, expected).max()


@pytest.mark.cover(0)
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("name", EXACT)
def test_exact_samplers_leave_a_skewed_law_invariant(name, dim):
    rng = stream(7)
    assert departure(EXACT[name].build, posterior(GRADIENTS["simple"], dim, rng), rng) < LIMIT


@pytest.mark.extended
@pytest.mark.mistake("log ratio of acceptance x {factor}")
@pytest.mark.parametrize("factor", [0.5, 2.0, -1.0])
@pytest.mark.parametrize("name", EXACT)
def test_wrong_acceptance_is_caught(name, factor):
    """The log density ratio of acceptance halved, doubled and inverted, while the gradient stays
    right.
    """
    rng = stream(7)
    gradient = posterior(Tempered, 1, rng)
    gradient.factor = factor
    assert departure(EXACT[name].build, gradient, rng) > LIMIT


# ---- many walkers at once ------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("name", LOCKSTEP)
def test_walkers_leave_a_skewed_law_invariant(name, dim):
    rng = stream(7)
    gradient = posterior(GRADIENTS["simple"], dim, rng)
    assert departure(LOCKSTEP[name].build, gradient, rng, WALKERS) < LIMIT


@pytest.mark.mistake("walkers: log ratio of acceptance x {factor}")
@pytest.mark.parametrize("factor", [0.5, 2.0, -1.0])
@pytest.mark.parametrize("name", LOCKSTEP)
def test_wrong_acceptance_of_walkers_is_caught(name, factor):
    rng = stream(7)
    gradient = posterior(Tempered, 1, rng)
    gradient.factor = factor
    assert departure(LOCKSTEP[name].build, gradient, rng, WALKERS) > LIMIT


@pytest.mark.mistake("walkers: noise x {factor:.3g}")
@pytest.mark.parametrize("name, factor, right", [("mala", 1.0, True), ("mala", 2**0.5, False)])
def test_wrong_noise_of_walkers_is_caught(name, factor, right):
    """Of proposals; acceptance reckons with the right one."""
    rng = stream(7)
    found = departure(
        lambda dim, h: Louder(WALKERS, dim, h, factor),
        posterior(GRADIENTS["simple"], 1, rng),
        rng,
        WALKERS,
    )
    assert (found < LIMIT) == right
