"""Simulation-based calibration of learned scales, the fast form: `python -m tests.scales.sbc` is
the full one.
"""

import numpy as np
import pytest

import sgmc

from ..sbc import p_values
from .sbc import D, ranks

REPLICATES = 40


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("ols, horseshoe", marks=pytest.mark.extended),
        "logit, ridge",
        "ols, r2d2",
    ],
)
def test_ranks_are_uniform(name):
    """With another seed one of the 8 or 9 p-values would be below 1e-3 in about 9 of 1,000."""
    assert p_values(ranks(name, REPLICATES)).min() > 1e-3


@pytest.mark.extended
@pytest.mark.parametrize(
    "mistake",
    [
        dict(distort=lambda draws: draws.mean(axis=0) + 0.5 * (draws - draws.mean(axis=0))),
        pytest.param(
            dict(distort=lambda draws: draws * np.where(np.arange(draws.shape[1]) == D + 1, 2, 1)),
            marks=pytest.mark.extended,
        ),
        dict(prior=sgmc.normal(0, 2.5)),
    ],
    ids=["sds x 0.5", "global scale x 2", "another prior"],
)
def test_mistakes_show_in_the_ranks(mistake):
    if "prior" in mistake:  # which has no global scale
        mistake["distort"] = lambda draws: np.insert(draws, D + 1, 1.0, axis=1)
    assert p_values(ranks("ols, horseshoe", REPLICATES, **mistake)).min() < 1e-3
