"""Regressions with group terms from formulas."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, FormulaError, NotSupported

from .tables import published

SHORT = dict(draws=50, warmup=50, seed=1)
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture
def frame():
    rng = np.random.default_rng(2)
    g, x = np.repeat(np.arange(12), 8), rng.normal(size=96)
    kinds = rng.choice(["a", "b", "c"], 96)
    return pd.DataFrame({"g": g, "x": x, "kind": kinds, "y": rng.integers(0, 2, 96)})


def test_sleepstudy_at_its_defaults():
    """Near the maximum of the likelihood by lme4, which half-t priors hardly move; sds are
    skewed to the right, by a fifth of an sd.
    """
    results = sgmc.ols("Reaction ~ Days + (Days | Subject)", published("sleepstudy"), seed=1)
    expected = pd.Series(
        {
            "Intercept": 251.405,
            "Days": 10.467,
            "sd(1|Subject)": 23.78,
            "sd(Days|Subject)": 5.717,
            "cor(1,Days|Subject)": 0.08,
            "sigma": 25.592,
        }
    )
    assert list(results.params.index) == list(expected.index)
    assert ((results.params - expected).abs() < 0.7 * results.bse).all()
    assert results.verdict.trustworthy


def test_verbs_and_classes_are_the_same(frame):
    one = sgmc.logit("y ~ x + (1 | g)", frame, **SHORT)
    other = sgmc.Logit.from_formula("y ~ x + (1 | g)", frame).fit(**SHORT)
    assert np.array_equal(one.draws, other.draws)
    shuffled = frame.sample(frac=1, random_state=1)
    text = shuffled.assign(g=shuffled.g.map("{:02d}".format))
    assert list(sgmc.logit("y ~ x + (1 | g)", text, **SHORT).params.index) == list(one.params.index)


@pytest.mark.parametrize("sampler", ["mala", "hmc", "imh", "barker", "sgld-cv", "laplace"])
def test_samplers_of_regressions(frame, sampler):
    results = sgmc.logit("y ~ x + (1 | g)", frame, sampler=sampler, **SHORT)
    assert np.isfinite(results.draws).all() and (results.draws[..., 2] >= 0).all()


def test_models_without_group_terms_refuse_them(frame):
    with pytest.raises(NotSupported, match=r"BNN has no group terms .*leave \(1 \| g\) out"):
        sgmc.BNN.from_formula("x ~ y + (1 | g)", frame)


def test_nodes_are_as_given_and_resumed(frame, tmp_path):
    results = sgmc.logit("y ~ x + (1 | g)", frame, nodes=3, **SHORT)
    assert "by 3 quadrature nodes per group" in str(results.summary(details=True))
    results.save(tmp_path / "fit")
    longer = sgmc.load(tmp_path / "fit").resume(50, data=frame)
    assert np.array_equal(longer.draws, results.resume(50).draws)


@pytest.mark.parametrize("verb, formula", [("ols", "x ~ (1 | g)"), ("logit", "y ~ x")])
def test_nodes_are_refused_where_there_are_none(frame, verb, formula):
    with pytest.raises(ArgumentError, match="nodes=5"):
        getattr(sgmc, verb)(formula, frame, nodes=5, **SHORT)


def test_nodes_whose_weights_are_no_numbers_are_refused(frame):
    """They were said to need more time."""
    with pytest.raises(ArgumentError, match="nodes=255 is too large: give at most 179"):
        sgmc.logit("y ~ x + (1 | g)", frame, nodes=255, **SHORT)


@pytest.mark.parametrize("terms", ["(1 | g) + (x | g)", "(1 | g) + (1 | g)"])
def test_an_effect_stands_in_one_term(frame, terms):
    """Of two terms only the sum of the variances is known."""
    with pytest.raises(FormulaError, match=r"\(1 \| g\) is in more than one"):
        sgmc.logit(f"y ~ x + {terms}", frame, **SHORT)
