"""Fits that keep nothing per row of a table in a file, against fits that keep control values."""

import numpy as np
import pytest

from sgmc.core.contract import Anchor
from sgmc.core.designs.design import design
from sgmc.models.regression.families.logit import LogitFamily
from tests.files.tables import fitted, frame, prepared, streamed

N = 20_000
CASES = {
    "logit": ("logit", "binary ~ a + b + g + s", "binary", {}, {}),
    "coded": ("logit", "binary ~ a * g + h", "binary", {}, {}),
    "weighted": ("logit", "won + lost ~ a + b", "binary", {"weights": "w"}, {}),
    "ols": ("ols", "number ~ a + b + g", "numeric", {}, {}),
    "errors": ("ols", "number ~ a + b", "numeric", {"se": "e"}, {}),
    "poisson": ("poisson", "count ~ a + b", "numeric", {"exposure": "e"}, {}),
    "negativebinomial": ("negativebinomial", "count ~ a + b", "numeric", {}, {}),
    "mnlogit": ("mnlogit", "kind ~ a + b", "category", {}, {}),
    "flat": ("logit", "binary ~ a + b", "binary", {}, {"prior": "flat"}),
    "robust": ("logit", "binary ~ a", "binary", {"weights": "w"}, {"cov_type": "robust"}),
    "mala": ("logit", "binary ~ a", "binary", {}, {"sampler": "mala", "warmup": 20}),
    "replacement": ("logit", "binary ~ a + b", "binary", {}, {"subsample": "replacement"}),
    "stratified": ("logit", "binary ~ a + b", "binary", {}, {"subsample": "stratified"}),
    "preferential": ("poisson", "count ~ a", "numeric", {}, {"subsample": "preferential"}),
    **{
        name: ("logit", "binary ~ a + b", "binary", {}, {"sampler": "sgld", "gradient": name})
        for name in ("cv", "svrg", "saga", "switched", "taylor", "simple")
    },
}
# their priors or kernels are in units of the outcomes' variance, summed up in another order
BY_MOMENTS = ("ols", "errors", "negativebinomial")


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", CASES)
def test_draws_are_those_of_kept_control_values_to_the_bit(case, tmp_path, monkeypatch):
    """Scores at the mode that are computed again are the same numbers."""
    verb, formula, outcome, given, how = CASES[case]
    table = prepared(tmp_path / "a.sgmc", frame(N), formula, outcome, **given)
    how = {**given, **how}
    kept = fitted(verb, table, **how)
    streamed(monkeypatch)
    computed = fitted(verb, table, **how)
    if case in BY_MOMENTS:
        np.testing.assert_allclose(computed.draws, kept.draws, rtol=1e-8, atol=1e-10)
    else:
        np.testing.assert_array_equal(computed.draws, kept.draws)
    anchors = [one for one in computed._fit.problem.workspace.anchors.values() if one is not None]
    assert not any(len(one.scores) for one in anchors)


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "verb, formula, outcome",
    [
        ("logit", "binary ~ a + b + g", "binary"),
        ("logit", "binary ~ a * g + h", "binary"),
        ("ols", "number ~ a + b", "numeric"),
        ("poisson", "count ~ a + b", "numeric"),
        ("mnlogit", "kind ~ a + b", "category"),
    ],
)
def test_posterior_is_that_of_the_rows_in_memory(verb, formula, outcome, tmp_path, monkeypatch):
    """2,000 draws, some 1,500 effective ones: two means of them differ by a Monte Carlo error of
    0.037 sd, and sds by 2.6 %: 4 times these for the largest of a few dozen.
    """
    data = frame(N)
    table = prepared(tmp_path / "a.sgmc", data, formula, outcome)
    streamed(monkeypatch)
    ours = fitted(verb, table, draws=500, chains=4)
    theirs = fitted(verb, table, data, draws=500, chains=4)
    assert (abs(ours.params - theirs.params) / theirs.bse).max() < 0.15
    np.testing.assert_allclose(ours.bse, theirs.bse, rtol=0.11)


@pytest.mark.cover(0)
def test_the_comparison_sees_a_missing_prior(tmp_path, monkeypatch):
    """Planted mistake: the prior dropped, where it matters."""
    data = frame(N).iloc[:200]
    table = prepared(tmp_path / "a.sgmc", data, "binary ~ a + b", "binary")
    import sgmc

    streamed(monkeypatch)
    ours = fitted("logit", table, draws=500, chains=4, prior="flat")
    theirs = fitted("logit", table, data, draws=500, chains=4, prior=sgmc.normal(0, 0.3))
    assert (abs(ours.params - theirs.params) / theirs.bse).max() > 0.15


def model_of(table):
    return LogitFamily.kernel(design(table.X), table.y)


def test_anchor_without_rows_has_the_same_sums(tmp_path, monkeypatch):
    """Gradient and Hessian of an anchor that keeps nothing of the rows."""
    table = prepared(tmp_path / "a.sgmc", frame(N), "binary ~ a + b + s", "binary")
    centre = np.array([0.1, -0.2, 0.3, 0.4])
    kept = Anchor(model_of(table), centre, True)
    streamed(monkeypatch)
    bare = Anchor(model_of(table), centre, True)
    assert len(kept.scores) == N and not len(bare.scores) and not len(bare.curvature)
    np.testing.assert_array_equal(bare.full, kept.full)
    np.testing.assert_array_equal(bare.hessian, kept.hessian)
