"""The No-U-Turn sampler draws from its target, and mistakes in its trees are caught.

Rank tests are those of `test_exact_rank`: a right sampler is rejected with probability at most
ALPHA, one in 100,000 a test; seeds are fixed.
"""

import numpy as np
import pytest
from _ext import mistaken_trees
from _ext.toy_densities import Normal

from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import Keep
from sgmc.core.schedules import Constant
from sgmc.samplers.bases.trajectory import Trajectory

from .cases import GRADIENTS, SAMPLERS, SCHEMES, stream
from .montecarlo import LIMIT, distance
from .test_exact_rank import ALPHA, PACE, problem, rank_test

# leapfrog steps so short that trees have three or four levels, and so long that energies move
STEPS = {"normal": 0.35, "skew normal": 0.25, "funnel": 0.5, "logit": 0.4, "gamma": 0.3}


def tree(target, cls=Trajectory, max_depth=6):
    """A sampler at the target's step, with no metric."""
    return cls(2, STEPS[target], 0.8, "identity", 1.0, max_depth)


@pytest.mark.parametrize("target", PACE)
def test_ranks_are_uniform_at_deep_trees(target):
    assert rank_test(tree(target), *problem(target))[1] > ALPHA
