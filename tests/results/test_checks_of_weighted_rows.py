"""Predictive checks with frequency weights are those of the repeated rows."""

import numpy as np
import pandas as pd
import pytest

import sgmc


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    one = pd.DataFrame({"x": rng.normal(size=60), "w": rng.integers(10, 50, 60)})
    one["k"] = rng.poisson(np.exp(0.3 + 0.3 * one.x))
    one["o"] = pd.cut(one.k, [-1, 0, 1, 20], labels=["l", "m", "h"])
    return one, one.loc[one.index.repeat(one.w)].reset_index(drop=True)


@pytest.mark.parametrize(("verb", "formula"), [("poisson", "k ~ x"), ("ordinal", "o ~ x")])
def test_each_copy_of_a_row_has_an_outcome_of_its_own(verb, formula, rows):
    """By 500 simulated data sets ends of 95 % intervals are told to 8 % of their widths, and p to
    0.02; one outcome for all copies of a row would make the intervals five times as wide.
    """
    fit = getattr(sgmc, verb)
    found = fit(formula, rows[0], weights="w", seed=1).pp_check()
    wanted = fit(formula, rows[1], seed=1).pp_check()
    np.testing.assert_allclose(found.observed, wanted.observed)
    width = (wanted["0.975]"] - wanted["[0.025"]).to_numpy()
    for name in ("[0.025", "0.975]", "replicated"):
        assert (np.abs(found[name] - wanted[name]) < 0.25 * width).all()
    np.testing.assert_allclose(found.p, wanted.p, atol=0.09)


def test_figures_have_as_many(rows):
    """Copies of a row in a figure differ, too."""
    from sgmc.results.outcomes.criticism.ppc_figures import outcomes

    y, simulated = outcomes(sgmc.poisson("k ~ x", rows[0], weights="w", seed=1), 50, 1)
    assert len(y) == rows[0].w.sum() and y.mean() == pytest.approx(rows[1].k.mean())
    first = simulated[:, : rows[0].w[0]]
    assert (first.std(axis=1) > 0).mean() > 0.9
