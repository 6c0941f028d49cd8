"""Simulation-based calibration of group terms, the fast form: `python -m tests.mixed.sbc` is the
full one.
"""

import numpy as np
import pytest

import sgmc

from ..sbc import p_values
from .sbc import ranks

REPLICATES = 40


@pytest.mark.extended
@pytest.mark.parametrize(
    "name",
    [
        "logit",
        "ols, slopes",
        "ols, smooth",
        "ols, known errors",
        pytest.param("poisson", marks=pytest.mark.extended),
        pytest.param("logit, nested", marks=pytest.mark.extended),
    ],
)
def test_ranks_are_uniform(name):
    """With another seed one of the 22 p-values would be below 1e-3 in about 22 of 1,000."""
    assert p_values(ranks(name, REPLICATES)).min() > 1e-3


@pytest.mark.extended
@pytest.mark.parametrize(
    "mistake",
    [
        dict(distort=lambda draws: draws.mean(axis=0) + 0.5 * (draws - draws.mean(axis=0))),
        dict(distort=lambda draws: draws * np.where(np.arange(draws.shape[1]) == 2, 2**0.5, 1)),
        dict(sd=sgmc.half_normal(0.1)),
    ],
    ids=["sds x 0.5", "sd of the effects x sqrt 2", "another prior"],
)
def test_mistakes_show_in_the_ranks(mistake):
    assert p_values(ranks("logit", REPLICATES, **mistake)).min() < 1e-3


@pytest.mark.parametrize("mistake", ["se x 2"])
def test_wrong_errors_show_in_the_ranks(mistake, monkeypatch):
    """Slopes are then nearer to the middle of their draws; a factor of sqrt 2, which quadrature of
    eight schools shows, needs more replicates.
    """
    read = sgmc.OLS.from_formula

    def wrong(formula, frame, **how):
        return read(formula, frame.assign(se=2 * frame.se), **how)

    monkeypatch.setattr(sgmc.OLS, "from_formula", wrong)
    assert p_values(ranks("ols, known errors", 2 * REPLICATES)).min() < 1e-3
