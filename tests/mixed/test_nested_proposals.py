"""Nested groups have independent proposals of all parameters along axes, whether rows tell their
sds or not.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.coordinates.independent.axes import ProposedParameters


def table(seed, inner):
    """Counts of 20 groups with 6 subgroups each, whose effects have the sd `inner`."""
    random, n = np.random.default_rng(seed), 500
    outer = random.integers(0, 20, n)
    both = 6 * outer + random.integers(0, 6, n)
    x = random.normal(size=n)
    effects = 0.6 * random.normal(size=20)[outer] + inner * random.normal(size=120)[both]
    eta = 0.5 + 0.2 * x + effects
    return pd.DataFrame({"x": x, "g": outer, "h": both, "y": random.poisson(np.exp(eta))})


@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
@pytest.mark.parametrize("inner", [0.5, 0.05])
def test_the_posterior_is_that_of_chains(inner):
    """Means and sds within 4.5 Monte Carlo errors of both; an sd that were off by 6 % is seen."""
    frame = table(1, inner)
    res, chains = (
        sgmc.poisson("y ~ x + (1 | g / h)", frame, draws=3000, seed=seed, sampler=sampler)
        for seed, sampler in ((1, "auto"), (2, "mala"))
    )
    assert isinstance(res._fit.problem.transport, ProposedParameters)
    assert res.verdict.trustworthy
    error = [1 / np.sqrt(np.minimum(res.ess(kind), chains.ess(kind))) for kind in ("mean", "sd")]
    off = np.abs(res.params - chains.params) / chains.bse
    wide = np.abs(res.bse / chains.bse - 1)
    assert (off < 4.5 * np.sqrt(2) * error[0]).all()
    assert (wide < 4.5 * error[1]).all() and (4.5 * error[1] < 0.12).all()
