"""Numbers that overflow where the search for the mode of a model with groups begins."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.errors import DataError


def test_densities_that_are_not_finite_are_refused_with_a_cure():
    """exp(-800) is zero: no count has a finite log density, wherever the search begins."""
    rng = np.random.default_rng(0)
    d = pd.DataFrame({"x": rng.normal(size=60), "g": np.arange(60) % 6, "y": rng.poisson(3, 60)})
    with pytest.raises(DataError, match="rescale predictors, outcomes and offsets"):
        sgmc.poisson("y ~ x + (1 | g)", d, offset=np.full(60, -800.0), seed=1, draws=50)


def test_so_they_are_beside_smooths_and_crossed_factors():
    rng = np.random.default_rng(0)
    d = pd.DataFrame({"x": rng.normal(size=60), "y": rng.random(60) < 0.5, "z": rng.random(60)})
    with pytest.raises(DataError, match="rescale predictors, outcomes and offsets"):
        sgmc.logit("y ~ s(z) + offset(9**9 * x)", d, seed=1, draws=50)


def test_gradients_that_overflow_at_large_sds_end_the_table_of_sds():
    """20 rows in three groups: a node at a large sd had a finite precision, and a gradient that
    was not, a raw ValueError of scipy.  Means are those of 32,000 draws by NUTS, within a tenth of
    the posterior sds, 1.15 of the intercept, 0.43 of the slope and 1.46 of the sd.
    """
    x = [-0.466, -0.415, 0.916, -0.04, 0.191, -0.422, -0.011, -1.254, -0.927, -0.76]
    x += [0.124, 0.122, 1.109, 0.133, -1.884, -1.449, -0.011, -0.249, 0.349, -0.177]
    y = [0, 2, 1, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 3, 0]
    g = [2, 1, 0, 2, 1, 1, 1, 1, 1, 1, 0, 2, 2, 0, 1, 0, 0, 0, 1, 2]
    with pytest.warns(sgmc.errors.GroupsWarning):
        found = sgmc.poisson("y ~ x + (1 | g)", {"x": x, "y": y, "g": g}, seed=2)
    assert found.verdict.trustworthy
    assert np.allclose(found.params, [-0.93, 0.19, 2.02], atol=[0.12, 0.05, 0.15])


def counts_of_three():
    """Counts of three groups whose means are far apart, which leave a long tail to the sd."""
    counts = [1, 0, 0, 1, 1, 0, 3, 2, 4, 2, 3, 2, 50, 40, 44, 55, 37, 60]
    return pd.DataFrame({"g": np.repeat(list("ABC"), 6), "p": counts})


def by_quadrature(data):
    """Mean and sd of sd(1|g) under the default priors: a sum over intercept and sd of products of
    sums over an effect.
    """
    y = data.p.to_numpy().reshape(3, 6)
    z, logs = np.linspace(-8, 8, 801), np.linspace(-2.5, 5.5, 81)
    intercepts, sds = np.linspace(-14, 14, 225), np.exp(logs)
    value = np.zeros((len(intercepts), len(sds)))
    for a, intercept in enumerate(intercepts):
        eta = intercept + sds[:, None] * z
        for counts in y:
            term = counts.sum() * eta - 6 * np.exp(np.minimum(eta, 50)) - z**2 / 2
            value[a] += special.logsumexp(term, axis=1)
    value += -(intercepts[:, None] ** 2) / (2 * 2.5**2)
    value += -2 * np.log1p((sds / 2.5) ** 2 / 3) + logs  # half-t of 3 degrees of freedom
    p = np.exp(value - value.max()).sum(axis=0)
    p /= p.sum()
    mean = p @ sds
    return mean, np.sqrt(p @ (sds - mean) ** 2)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tables_of_sds_end_where_integrals_are_too_coarse(seed):
    """Beyond, means given the sd swing to and fro, and densities grow without end: sds of 16.58
    were trusted.  The stated error is at most 0.1 sd; 0.15 leaves room for the quadrature's.
    """
    found = sgmc.poisson("p ~ 1 + (1 | g)", counts_of_three(), seed=seed)
    mean, sd = by_quadrature(counts_of_three())
    assert found.verdict.trustworthy
    assert abs(found.params["sd(1|g)"] - mean) < 0.15 * sd
    assert abs(found.bse["sd(1|g)"] / sd - 1) < 0.15
