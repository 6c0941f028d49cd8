"""The prior of R^2 that `r2d2` has: beta with its mean and precision, whatever the number of
coefficients (Zhang, Naughton, Bondell & Reich 2022): local variances are gamma and add up to a
gamma variable, times an inverse gamma one it is R^2 / (1 - R^2).
"""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.models.regression.latent.shrunk.groups import Group

DRAWS = 20_000


@pytest.mark.parametrize("count", [1, 4, 12])
@pytest.mark.parametrize("mean, precision", [(0.3, 4.0), (0.6, 2.0)])
def test_the_share_explained_is_beta(count, mean, precision):
    """By Kolmogorov and Smirnov, of independent draws of the parts."""
    rng = np.random.default_rng(7)
    group = Group("g", sgmc.r2d2(mean, precision), np.arange(count))
    kind, shape = group.local
    whole = group.hyperprior(np.ones(count))
    assert kind == "root_gamma" and whole.family == "inverse_gamma"
    total = rng.gamma(shape, size=(DRAWS, count)).sum(axis=1)
    total *= whole.scale / rng.gamma(whole.df, size=DRAWS)
    share = total / (1 + total)
    law = stats.beta(mean * precision, (1 - mean) * precision)
    assert stats.kstest(share, law.cdf).pvalue > 1e-4
    assert share.mean() == pytest.approx(mean, abs=0.01)
