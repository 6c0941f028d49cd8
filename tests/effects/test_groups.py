"""Effects of fits with group terms: of a typical group, or of the groups of the rows."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

FORMULAS = ("y ~ x + t + (1 | g)", "y ~ x + t + (1 + x | g) + (1 | h)", "y ~ s(x) + t + (1 | g)")
SAME = dict(rtol=1e-9, atol=1e-12)  # the same draws, in another order of sums


@cache
def frame():
    """Outcomes in groups that differ much, so that effects at zero are others."""
    rng = np.random.default_rng(3)
    g, h = rng.integers(0, 12, 300), rng.integers(0, 5, 300)
    df = pd.DataFrame({"x": rng.normal(size=300), "t": rng.integers(0, 2, 300), "h": h})
    eta = df.x + df.t + 1.5 * rng.normal(size=12)[g] + 0.5 * rng.normal(size=5)[h]
    y = (rng.random(300) < 1 / (1 + np.exp(-eta))).astype(int)
    return df.assign(y=y, g=[f"g{k:02}" for k in g])


@cache
def fitted(formula=FORMULAS[0]):
    """A fit of few draws."""
    return sgmc.logit(formula, frame(), seed=1, draws=100, progress=False)


@pytest.mark.parametrize("formula", FORMULAS)
def test_effects_with_the_groups_of_the_rows_are_those_of_predicted_means(formula):
    res, df = fitted(formula), frame()
    low, high = (res.posterior_epred(df.assign(t=k)) for k in (0, 1))
    found = res.avg_comparisons({"t": [0, 1]}, random=True)
    np.testing.assert_allclose(found.draws[0], (high - low).mean(axis=1), **SAME)
    new = df.assign(t=1)
    np.testing.assert_allclose(res.predictions(new, random=True).draws, high.T, **SAME)
    by = res.avg_predictions(new, by="g", random=True)
    first = high[:, (df.g == "g00").to_numpy()].mean(axis=1)
    np.testing.assert_allclose(by.draws[0], first, **SAME)


def test_slopes_with_the_groups_of_the_rows_are_derivatives_at_their_effects():
    res = fitted()
    p = res.posterior_epred(frame())
    beta = res.flat[:, res.names.index("x")]
    by_hand = (p * (1 - p) * beta[:, None]).mean(axis=1)
    # a central difference of 1e-4 of the range: errors are of its square
    found = res.avg_slopes("x", random=True).draws[0]
    np.testing.assert_allclose(found, by_hand, rtol=1e-5)


def test_of_a_new_group_effects_are_drawn_from_the_population():
    res, new = fitted(), frame().head(2).assign(g="new")
    found = res.predictions(new, random=True, new_levels="sample")
    np.testing.assert_allclose(found.draws, res.posterior_epred(new, new_levels="sample").T, **SAME)
    with pytest.raises(ArgumentError, match="levels of g that the fit has not seen: 'new'"):
        res.predictions(new, random=True, new_levels="error")


def test_tables_print_whose_effects_they_have():
    res = fitted()
    assert "random=True takes the groups of the rows" in repr(res.avg_slopes("x"))
    assert "With the effects of the groups of the rows." in repr(res.avg_slopes("x", random=True))
    assert "typical group" in res.avg_predictions()._repr_html_()
    plain = sgmc.ols("y ~ x", frame(), draws=100, progress=False)
    assert "group" not in repr(plain.avg_slopes("x"))


def test_effects_of_groups_of_a_fit_without_them_are_refused():
    plain = sgmc.ols("y ~ x", frame(), draws=100, progress=False)
    with pytest.raises(ArgumentError, match="random=True: the model has no group terms"):
        plain.avg_slopes("x", random=True)
    with pytest.raises(ArgumentError, match="new_levels='sample' belongs to effects of groups"):
        fitted().avg_slopes("x", new_levels="sample")
