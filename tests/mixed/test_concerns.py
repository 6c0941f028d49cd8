"""Warnings about groups, by name and with advice."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, ConditionWarning, DataError, GroupsWarning, SGMCWarning

SHORT = dict(draws=50, warmup=50, seed=1)


def table(groups, rows, sd=1.0):
    rng = np.random.default_rng(4)
    g = np.repeat(np.arange(groups), rows)
    frame = pd.DataFrame({"g": g, "x": rng.normal(size=len(g)), "z": np.cos(g)})
    eta = 0.5 * frame.x + sd * rng.normal(size=groups)[g]
    frame["y"] = eta + rng.normal(size=len(g))
    frame["b"] = (rng.random(len(g)) < 1 / (1 + np.exp(-eta))).astype(int)
    return frame


def said(verb, formula, frame):
    with pytest.warns(sgmc.errors.SGMCWarning) as caught:
        results = getattr(sgmc, verb)(formula, frame, **SHORT)
    found = [w.message for w in caught if isinstance(w.message, GroupsWarning)]
    assert all("[GroupsWarning]" in str(results.summary()) for _ in found)
    return " ".join(map(str, found))


def test_one_row_a_group():
    assert "100 of 100 levels of g have a single row" in said(
        "ols", "y ~ x + (1 | g)", table(100, 1)
    )


def test_few_levels():
    assert "g has 1 level: sd(1|g) mainly" in said("ols", "y ~ x + (1 | g)", table(1, 40))
    assert "g has 3 levels" in said("ols", "y ~ x + (1 | g)", table(3, 20))
    assert "levels:" not in said("ols", "y ~ x + (1 | g)", table(4, 20))


def test_one_row_a_group_is_overdispersion_of_counts():
    frame = table(100, 1).assign(n=9)
    frame["k"] = np.random.default_rng(1).poisson(np.exp(frame.y))
    frame["s"], frame["f"] = frame.k.clip(upper=9), 9 - frame.k.clip(upper=9)
    assert "single row" not in said("poisson", "k ~ x + (1 | g)", frame)
    assert "single row" not in said("logit", "s + f ~ x + (1 | g)", frame)
    assert "single row" in said("negativebinomial", "k ~ x + (1 | g)", frame)


LABELS = {
    "logit": "b ~ x + (1 | g)",
    "probit": "b ~ x + (1 + x | g)",
    "cloglog": "b ~ x + (1 | g) + (1 | h)",
    "mnlogit": "c ~ x + (1 | g)",
    "ordinal": "c ~ x + (1 | h/g)",
}


def labelled(rows):
    frame = table(60, rows)
    return frame.assign(c=np.arange(len(frame)) % 3, h=np.arange(len(frame)) % 7)


@pytest.mark.parametrize("verb", LABELS)
def test_one_label_a_group_tells_nothing(verb):
    """Minutes of sampling ended in an intercept of -25,919."""
    with pytest.raises(DataError, match="each of the 60 levels of .* has one row, and a single"):
        getattr(sgmc, verb)(LABELS[verb], labelled(1), seed=1)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # few draws
@pytest.mark.parametrize(
    "formula, change, how",
    [
        ("b ~ x + (1 | g)", lambda df: pd.concat([df, df[:1]]), {}),
        ("b ~ x + (1 | g)", lambda df: df, {"weights": np.full(60, 2)}),
        ("b ~ x + (0 + x | g)", lambda df: df, {}),
        ("b ~ x + (1 | g)", lambda df: df, {"prior_only": True}),
    ],
    ids=["a second row of one", "rows that count twice", "slopes alone", "prior alone"],
)
def test_more_than_a_label_a_group_is_fitted(formula, change, how):
    fit = sgmc.logit(formula, change(labelled(1)), **SHORT, **how)
    assert fit.params.notna().all()


def test_outcomes_that_are_alike():
    frame = table(60, 3)
    frame["b"] = np.where(frame.g < 57, frame.g % 2, frame.index % 2)
    assert "57 of 60 levels of g are all alike" in said("logit", "b ~ x + (1 | g)", frame)


def test_slopes_that_vary_between_groups_only():
    text = said("ols", "y ~ z + (z | g)", table(20, 5))
    assert "z is the same in all rows of each level of g" in text


def test_sds_that_may_be_zero():
    assert "sd(1|g) may be zero" in said("ols", "y ~ x + (1 | g)", table(20, 5, sd=0.0))


def test_batches_are_of_groups():
    with pytest.raises(ArgumentError, match="batch_size=30 exceeds the 20 groups"):
        sgmc.ols("y ~ x + (1 | g)", table(20, 5), sampler="sgld", batch_size=30)


def test_nothing_is_said_of_good_groups():
    assert said("ols", "y ~ x + z + (1 | g)", table(40, 8)) == ""


@pytest.mark.extended
def test_conditioning_is_of_coefficients():
    """A correlation of effects that may be zero is known by its prior alone: that is told by
    `GroupsWarning`; collinear coefficients are still named.
    """
    frame = table(20, 3, sd=0.0)
    with pytest.warns(SGMCWarning):
        results = sgmc.logit("b ~ x + (1 + x | g)", frame, **SHORT)
    assert not any(isinstance(one, ConditionWarning) for one in results.warnings)
    with pytest.warns(SGMCWarning):
        results = sgmc.logit("b ~ x + twice + (1 | g)", frame.assign(twice=2 * frame.x), **SHORT)
    [found] = [one for one in results.warnings if isinstance(one, ConditionWarning)]
    assert "x" in str(found) and "twice" in str(found)
