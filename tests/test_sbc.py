"""Simulation-based calibration, the fast form: `python tests/sbc.py` is the full one."""

import numpy as np
import pytest

import sgmc

from .sbc import NAMES, PRIOR, p_values, ranks

REPLICATES = 40


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "family",
    [
        "logit",
        "poisson",
        "ols",
        "negativebinomial",
        "beta",
        "ordinal",
        "zeroinflated",
        "hurdle",
        "dispersion",
        "sigma",
        "phi",
        "discrimination",
        "sequential",
    ],
)
def test_ranks_are_uniform(family):
    """With another seed one of the 59 p-values would be below 1e-3 in about 59 of 1,000."""
    assert p_values(ranks(family, REPLICATES)).min() > 1e-3


@pytest.mark.cover(0)
@pytest.mark.parametrize("family", ["poisson", "negativebinomial"])
@pytest.mark.parametrize(
    "mistake",
    [
        dict(distort=lambda draws: draws.mean(axis=0) + 0.5 * (draws - draws.mean(axis=0))),
        dict(distort=lambda draws: draws + draws.std(axis=0)),
        dict(prior={**PRIOR, "a": sgmc.normal(2, 0.2), "b": sgmc.normal(2, 0.2)}),
    ],
    ids=["sds x 0.5", "means + 1 sd", "another prior"],
)
def test_mistakes_show_in_the_ranks(mistake, family):
    assert p_values(ranks(family, REPLICATES, **mistake)).min() < 1e-4


def test_ranks_count_the_draws_below():
    found = ranks("poisson", 3, distort=lambda draws: np.full_like(draws, 1e9))
    assert found.shape == (3, len(NAMES)) and (found == 0).all()


@pytest.mark.extended
def test_a_few_ranks_of_two_predictors_are_in_the_middle():
    """Three tables, five parameters: the mean of 15 ranks has an sd of 7.5 around 49.5.  Planted:
    draws that are three sds too high.
    """
    assert 20 < ranks("dispersion", 3).mean() < 79
    shifted = ranks("dispersion", 3, distort=lambda draws: draws + 3 * draws.std(axis=0))
    assert shifted.mean() < 20
