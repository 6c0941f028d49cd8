"""Draws are kept so rarely that those of the slowest direction, too, have forgotten one another."""

import numpy as np
import pytest

import sgmc

from .cases import WHITENED, planned


@pytest.mark.parametrize("ratio", [1.0, 8.0, 80.0])
@pytest.mark.parametrize("spec", [sgmc.SGLD(), sgmc.LMSGLD()], ids=str)
def test_correlations_of_kept_draws_are_at_most_exp_minus_two(spec, ratio):
    """Langevin dynamics at h shrink the mean of a direction of precision lambda by 1 - lambda h / 2
    a step, with h in units of 1 over the largest one."""
    where = type(WHITENED)(**vars(WHITENED) | {"min_precision": 1 / ratio, "whitened": False})
    found = planned(spec, 20.0, where=where)
    shrinks = 1 - found.langevin_time / ratio / 2
    assert shrinks**found.thin <= np.exp(-2) * (1 + 1e-9)
    assert shrinks ** (0.9 * found.thin - 1) > np.exp(-2.1)  # and not much more rarely
    assert shrinks**found.warmup < 1e-4
