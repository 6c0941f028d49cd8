"""A model and a race."""

import pytest

import sgmc

from .races import frame


@pytest.fixture(scope="module")
def model():
    """A logistic regression."""
    return sgmc.Logit.from_formula("y ~ a + b", frame())


@pytest.fixture(scope="module")
def tuned(model):
    """A race of 27 arms."""
    return sgmc.tune(model, budget_steps=600, seed=1)
