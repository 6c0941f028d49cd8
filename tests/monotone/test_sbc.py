"""Simulation-based calibration of monotonic effects, the fast form: `python -m tests.monotone.sbc`
is the full one.
"""

import pytest

from ..sbc import p_values
from .sbc import ranks

REPLICATES = 40


@pytest.mark.extended("logit")
@pytest.mark.parametrize("case", ["ols", "logit"])
def test_ranks_are_uniform(case):
    """With another seed one of the p-values would be below 1e-3 in about 5 of 1,000."""
    assert p_values(ranks(case, REPLICATES)).min() > 1e-3


@pytest.mark.extended
def test_sds_that_are_wrong_show_in_the_ranks():
    def narrow(draws):
        return draws.mean(axis=0) + 0.4 * (draws - draws.mean(axis=0))

    assert p_values(ranks("ols", REPLICATES, distort=narrow)).min() < 1e-3
