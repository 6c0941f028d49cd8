"""Noise of estimators whose control values are of earlier places is larger by their staleness."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.fit.plan import widest_noise_at
from sgmc.registry import room


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_noise_with_stale_values():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=500)})
    frame["y"] = (rng.random(500) < 1 / (1 + np.exp(-frame.x))).astype(int)
    results = sgmc.logit("y ~ x", frame, sampler="sgld-cv", seed=1, draws=50, batch_size=20)
    fit, x = results._fit, results._fit.x[0, -1]
    known = widest_noise_at(fit.plan, x)
    estimators = {name: cls.staleness for name, cls in room("gradients").items()}
    assert estimators["cv"] == 1 and max(estimators.values()) > 1
    for name in ("svrg", "saga"):
        other = widest_noise_at(replace(fit.plan, gradient=name), x)
        assert other == pytest.approx(estimators[name] * known, rel=1e-6)
