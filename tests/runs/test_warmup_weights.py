"""Positions of warmup have the weight of the step that led to them, and the start of the first."""

import numpy as np
import pandas as pd
import pytest

import sgmc


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("warmup", [30, 90])
def test_weights_go_on_from_warmup_to_draws(warmup):
    """Of steps a (b + t)^-gamma: relative to one another they are these, at t = 0, 0, 1, ..."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=80), "y": rng.integers(0, 2, 80)})
    schedule = sgmc.Polynomial(0.4, 3.0, 0.5)
    how = dict(sampler="sgld", step_size=schedule, thin=1, warmup=warmup, draws=40, chains=2)
    found = sgmc.logit("y ~ x", frame, seed=1, keep_warmup=True, **how)
    steps = np.asarray(found.warmup.steps)
    assert steps[0] == 0 and steps[1] == 1 and steps[-1] == warmup
    before = (3.0 + np.maximum(steps - 1, 0)) ** -0.5
    after = (3.0 + warmup + np.arange(40)) ** -0.5
    np.testing.assert_allclose(found.warmup.weights / found.warmup.weights[0], before / before[0])
    np.testing.assert_allclose(found.weights / found.weights[0], after / after[0])
