"""How often intervals have the true coefficients; `benchmarks/quantiles.py` has the full table."""

import numpy as np
import pytest
from scipy import stats

import sgmc

from .cases import TAUS, spreading, truth

ROWS, SETS = 500, 30
# 90 coefficients, at 93 %, as the sandwich of 500 rows has at tau .1: their share is below .85 with
# probability .002, were they independent
LOW = 0.85


def shares(tau, sets=SETS, working=False):
    """The share of coefficients that are in their interval."""
    inside = []
    for seed in range(sets):
        res = sgmc.quantreg(
            "y ~ x + z", spreading(ROWS, 100 + seed), tau=tau, sampler="laplace", seed=seed
        )
        if working:
            sd = np.sqrt(np.diag(res.cov_params(cov_type="nonrobust"))) / 2
            low, high = (res.params.to_numpy() + s * stats.norm.ppf(0.975) * sd for s in (-1, 1))
        else:
            low, high = res.conf_int().to_numpy().T
        inside.append((low <= truth(tau)) & (truth(tau) <= high))
    return np.mean(inside)


@pytest.mark.extended
def test_intervals_cover():
    assert shares(0.1) > LOW


@pytest.mark.extended
def test_half_the_sd_is_seen():
    """Planted: intervals of half the working sd, as a loss of four times the scale has."""
    assert shares(0.5, sets=20, working=True) < LOW


@pytest.mark.extended
@pytest.mark.parametrize("tau", TAUS)
def test_intervals_of_many_sets_cover(tau):
    """600 coefficients: the standard error of the share is .009."""
    assert 0.90 < shares(tau, sets=200) < 0.98
