"""Simulation-based calibration, the fast form: ``python -m tests.survival.sbc`` is the full one."""

import numpy as np
import pytest

import sgmc

from ..sbc import p_values
from .sbc import CALIBRATED, PRIORS, ranks

REPLICATES = 40


@pytest.mark.extended
@pytest.mark.parametrize("law", CALIBRATED)
def test_ranks_are_uniform(law):
    """With another seed one of the 12 p-values would be below 1e-3 in about 12 of 1,000."""
    assert p_values(ranks(law, REPLICATES)).min() > 1e-3


@pytest.mark.extended
@pytest.mark.parametrize(
    "mistake",
    [
        dict(distort=lambda draws: draws.mean(axis=0) + 0.5 * (draws - draws.mean(axis=0))),
        dict(prior={**PRIORS, "sigma": sgmc.exponential(scale=0.05)}),
        dict(distort=lambda draws: np.column_stack([draws[:, :3], 1.3 * draws[:, 3:]])),
    ],
    ids=["sds x 0.5", "another prior of sigma", "sigma x 1.3"],
)
def test_mistakes_show_in_the_ranks(mistake):
    assert p_values(ranks("weibull", REPLICATES, **mistake)).min() < 1e-3
