"""Results of equal and of weighted draws."""

import pytest

import sgmc

from .votes import FORMULA, frame


@pytest.fixture(scope="module")
def data():
    return frame()


@pytest.fixture(scope="module")
def results(data):
    return sgmc.logit(FORMULA, data, seed=1)


@pytest.fixture(scope="module")
def weighted(data):
    """Draws weighted by decreasing steps."""
    return sgmc.logit(
        FORMULA,
        data,
        seed=1,
        sampler="lmsgld",
        step_size=lambda t: 0.9 / (1 + t / 5000),
        thin=5,
        draws=2000,
    )


@pytest.fixture(params=["equal weights", "step-size weights"])
def either(request, results, weighted):
    return results if request.param == "equal weights" else weighted
