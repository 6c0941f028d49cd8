"""Slopes v . g of the log posterior, which piecewise-deterministic samplers ask for, agree with
estimates of g.
"""

import numpy as np
import pytest
from _ext.probes import Scripted
from _ext.toys import MatrixFactorisation

from .cases import (
    GRADIENTS,
    SCHEMES,
    estimates,
    estimator,
    law,
    make_map,
    normal_prior,
    regression,
    slopes,
    stream,
    table,
)

N, M = 6, 3


def models():
    rng = np.random.default_rng(2)
    ratings = MatrixFactorisation(
        [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], rng.normal(size=N), 3, 2, 1
    )
    return {
        "logit": regression("logit", table(N, 3)),
        "csr": regression("logit", table(N, 3), "csr"),
        "ratings": ratings,
    }


MODELS = models()


@pytest.mark.cover
@pytest.mark.parametrize("map", ["none", "scaling", "affine", "positive"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_slope_is_v_times_the_estimate(scheme, name, model, map):
    """The same on every batch, not only on average; its variance is unbiased, but for blocks."""
    model, cls = MODELS[model], GRADIENTS[name]
    if "curvature" in cls.needs and model.width == 0:
        with pytest.raises(NotImplementedError, match="no curvatures"):
            estimator(cls, model, SCHEMES[scheme](N, M), stream(0))
        return
    (draws, p, _), rng = (
        law(SCHEMES[scheme], N, 4 if scheme == "stratified" else M),
        np.random.default_rng(3),
    )
    x, v = rng.normal(size=model.dim), rng.normal(size=model.dim)
    a, b = (
        estimator(
            cls,
            model,
            Scripted(N, draws),
            stream(0),
            prior=normal_prior(model.dim),
            map=make_map(map, model.dim),
            centre=np.full(model.dim, 0.2),
        )
        for _ in range(2)
    )
    found = np.array(slopes(a, draws, x, v))
    expected = np.array([g @ v for g, _ in estimates(b, draws, x)])
    assert found[:, 0] == pytest.approx(expected, rel=1e-10, abs=1e-10)
    if scheme != "block":
        assert p @ found[:, 1] == pytest.approx(
            p @ (expected - p @ expected) ** 2, rel=1e-9, abs=1e-12
        )
