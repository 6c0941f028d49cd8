"""Simulation-based calibration of terms with a second parameter, the fast form: `python -m
tests.splines.sbc` is the full one.
"""

import numpy as np
import pytest

from ..sbc import p_values
from .sbc import names, ranks

REPLICATES = 40


@pytest.mark.parametrize("case", ["ar1", "bym2"])
def test_ranks_are_uniform(case):
    """With another seed one of the 4 p-values would be below 1e-3 in about 4 of 1,000."""
    assert p_values(ranks(case, REPLICATES)).min() > 1e-3


@pytest.mark.extended
@pytest.mark.parametrize(
    "distort",
    [
        lambda draws: draws.mean(axis=0) + 0.4 * (draws - draws.mean(axis=0)),
        lambda draws: draws * np.where(np.array(names("ar1")) == "sd(ar1(t))", 1.6, 1.0),
    ],
    ids=["sds x 0.4", "sd of the series x 1.6"],
)
def test_mistakes_show_in_the_ranks(distort):
    assert p_values(ranks("ar1", REPLICATES, distort=distort)).min() < 1e-3
