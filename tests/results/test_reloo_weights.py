"""A row of frequency w stands for w rows: left out exactly, w - 1 of them stay."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import sgmc

from . import conjugate

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def test_one_of_a_row_of_frequency_three_is_left_out():
    """By the closed form, which is far from the one without all three."""
    df, row = conjugate.frame(), 7
    w = np.where(np.arange(len(df)) == row, 3.0, 1.0)
    how = dict(sigma=conjugate.SIGMA, prior=conjugate.PRIOR, sampler="laplace")
    results = sgmc.ols(conjugate.FORMULA, df.assign(w=w), weights="w", seed=1, **how)
    first = replace(results.loo(), pareto_k=np.where(w > 1, 1.0, 0.0))  # as if it were not known
    found = results.reloo(first, df.assign(w=w))

    def density(left):
        weights = w.copy()
        weights[row] = left
        mean, sd = conjugate.predictive([row], weights)
        return stats.norm.logpdf(df.y[row], mean[0], sd[0])

    assert found.elpd_i[row] == pytest.approx(density(2.0), abs=0.1)
    assert abs(density(2.0) - density(0.0)) > 1
