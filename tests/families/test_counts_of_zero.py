"""Counts that are all zero."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("verb", [sgmc.negativebinomial, sgmc.poisson])
def test_searches_that_step_too_far_do_not_warn(verb):
    """Their dispersion is free: steps went to where curvatures are 0 times infinity."""
    df = pd.DataFrame({"x": np.random.default_rng(0).normal(size=200), "y": 0})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert np.isfinite(verb("y ~ x", df, draws=100, seed=1).params).all()
