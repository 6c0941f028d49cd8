"""What rows have at the mode is let go of once there are scores, and computed where wanted."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.contract import Anchor
from sgmc.results.checks.scores.stein import scores_at

N = 20_000


@pytest.fixture(scope="module")
def res():
    random = np.random.default_rng(0)
    x = random.standard_cauchy(N)  # a few rows of high leverage, which are always computed
    frame = pd.DataFrame({"x": x / 30, "z": random.normal(size=N)})
    p = 1 / (1 + np.exp(-frame.x - 0.5 * frame.z))
    return sgmc.logit(
        "y ~ x + z", frame.assign(y=(random.random(N) < p).astype(int)), sampler="lmsgld", seed=1
    )


def test_nothing_of_the_rows_is_kept(res):
    problem = res._fit.problem
    anchors = [problem.workspace.known, problem.mode.anchor, *problem.workspace.anchors.values()]
    arrays = [a for one in anchors if one for a in (one.scores, one.predictors, one.curvature)]
    assert problem.workspace.anchors and not any(len(a) for a in arrays)


def test_minibatch_scores_are_those_with_rows_kept(res):
    """The same batches: to rounding, relative to the score's size near the mode, sqrt(3)."""
    fit = res._fit
    points = np.ascontiguousarray(fit.x[0, :20])
    found = scores_at(fit, points, 5, "taylor")
    problem = fit.problem
    kept, key = problem.workspace.anchors, True
    whole = Anchor(problem.model, kept[key].centre, True).with_exact(kept[key].exact)
    assert len(whole.scores) == N and len(whole.exact)
    problem.workspace.anchors = {key: whole}
    wanted = scores_at(fit, points, 5, "taylor")
    problem.workspace.anchors = kept
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)
