"""Average effects of 8,000 rows against statsmodels' marginal effects, where posterior means are
estimates by maximum likelihood but for terms of order 1 / N.

Tolerances: 2 % of the effect and a tenth of its standard error; Monte Carlo errors of 2,000 draws
are a forty-fifth of it.
"""

import numpy as np
import pytest
import statsmodels.formula.api as smf

from .cases import OUTCOMES, fitted, table

FAMILIES = [
    "logit",
    *(pytest.param(one, marks=pytest.mark.extended) for one in ("probit", "poisson")),
]


def posterior(verb):
    return fitted(verb, draws=500)


def estimated(verb, formula=None):
    df = table()
    df = df.assign(b=df.b.astype(int), kind=df.kind.str[1:].astype(int))
    return getattr(smf, verb)(formula or f"{OUTCOMES[verb]} ~ x + z + g + b", df).fit(disp=0)


def assert_near(found, wanted, se):
    found, wanted, se = (np.asarray(one, dtype=float) for one in (found, wanted, se))
    assert (np.abs(found - wanted) <= 0.02 * np.abs(wanted) + 0.1 * se).all()


@pytest.mark.extended
@pytest.mark.parametrize("verb", FAMILIES)
def test_slopes_and_differences_of_labels(verb):
    res, wanted = posterior(verb), estimated(verb).get_margeff(dummy=True).summary_frame()
    found = res.avg_slopes().set_index(["term", "contrast"])
    names = {
        ("x", "dY/dX"): "x",
        ("z", "dY/dX"): "z",
        ("b", "True - False"): "b",
    }
    for place, name in names.items():
        own = found.loc[place]
        assert_near(own.estimate, wanted["dy/dx"][name], wanted["Std. Err."][name])
        assert own.std_error == pytest.approx(wanted["Std. Err."][name], rel=0.1)
        assert own.conf_low == pytest.approx(
            wanted["Conf. Int. Low"][name], abs=0.3 * own.std_error
        )


@pytest.mark.extended
def test_ols_slopes_are_coefficients():
    res = posterior("ols")
    found = res.avg_slopes(["x", "z"])
    np.testing.assert_allclose(found.estimate, res.params[["x", "z"]], rtol=1e-8)
    np.testing.assert_allclose(found.std_error, res.bse[["x", "z"]], rtol=1e-8)
    sm = estimated("ols")
    assert_near(found.estimate, sm.params[["x", "z"]], sm.bse[["x", "z"]])


@pytest.mark.extended
def test_kinds_of_outcomes():
    res, sm = posterior("mnlogit"), estimated("mnlogit")
    wanted = sm.get_margeff().summary_frame()
    slopes = res.avg_slopes(["x", "z"])
    found = slopes.set_index(["term", "group"])
    for k, kind in enumerate(("k0", "k1", "k2")):
        for name in "xz":
            own = wanted.xs(name, level="exog").iloc[k]
            assert_near(found.loc[name, kind].estimate, own["dy/dx"], own["Std. Err."])
    total = slopes.draws[:3].sum(axis=0)  # probabilities sum to one
    np.testing.assert_allclose(total, 0, atol=1e-9)


def test_differences_between_levels():
    """By statsmodels' predictions of two tables."""
    sm, df = estimated("logit"), table().assign(b=table().b.astype(int))
    wanted = (sm.predict(df.assign(g="b")) - sm.predict(df.assign(g="a"))).mean()
    found = posterior("logit").avg_comparisons("g").iloc[0]
    assert found.contrast == "b - a"
    assert_near(found.estimate, wanted, found.std_error)
