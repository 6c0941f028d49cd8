"""Rows with some of the draws keep their weights."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.results.outcomes.data.rows import fitted_rows


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_draws_that_are_kept_keep_their_weights():
    """Of steps that shrink: means over draws are weighted, of some draws, too."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.integers(0, 2, 60)})
    step = sgmc.Polynomial(0.5, 10, 0.6)
    how = dict(sampler="sgld", step_size=step, thin=1, draws=60, chains=2, warmup=5, seed=1)
    rows = fitted_rows(sgmc.logit("y ~ x", frame, **how), "predict")
    assert rows.weights.max() > 2 * rows.weights.min()
    kept = np.arange(0, rows.m, 7)
    some = rows.with_draws(kept)
    np.testing.assert_array_equal(some.weights, rows.weights[kept])
    eta = np.concatenate([eta for _, eta in some.blocks()])
    each = 1 / (1 + np.exp(-eta))
    wanted = np.average(each, axis=1, weights=rows.weights[kept])
    np.testing.assert_allclose(np.sort(some.mean()), np.sort(wanted))
    assert np.abs(wanted - each.mean(axis=1)).max() > 1e-4
