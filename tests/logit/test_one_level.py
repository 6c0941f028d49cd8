"""Outcomes that are all alike are fitted alike, however they are written, and warned of."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import SeparationWarning

X = np.random.default_rng(0).normal(size=50)


def fit(y):
    """A fit of few draws."""
    frame = pd.DataFrame({"x": X, "y": y})
    return sgmc.logit("y ~ x", frame, seed=1, draws=200, sampler="laplace")


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    ("values", "place"),
    [
        (["yes"] * 50, 1),
        (pd.Categorical(["yes"] * 50, categories=["no", "yes"]), 1),
        (pd.Categorical(["no"] * 50, categories=["no", "yes"]), 0),
        ([True] * 50, 1),
        ([False] * 50, 0),
    ],
)
def test_labels_and_numbers_have_one_posterior(values, place):
    """The same bits; the prior is proper, so that the posterior is."""
    word = "success" if place else "failure"
    with pytest.warns(SeparationWarning, match=f"in every row used, which is taken as {word}"):
        found = fit(values)
    with pytest.warns(SeparationWarning, match="all outcomes are the same"):
        plain = fit(np.full(50, place))
    np.testing.assert_array_equal(found.draws, plain.draws)
    assert (found.params["Intercept"] > 0) == bool(place)
