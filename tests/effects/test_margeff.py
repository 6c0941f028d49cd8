"""`get_margeff` against statsmodels' in 2,000 rows, and ratios of coefficients.

Tolerances: a seventh of a standard error, by which posterior means under a flat prior and estimates
differ in 2,000 rows, and 4 % of it: it is an sd of 4,000 draws.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import sgmc
from sgmc.errors import ArgumentError
from sgmc.results.effects import margeff

from .cases import OUTCOMES, fitted, table

N = 2000
HOWS = [
    dict(),
    dict(at="mean"),
    dict(at="median"),
    dict(at="zero"),
    dict(method="eydx"),
    dict(method="dyex"),
    dict(method="eyex", at="mean"),
    dict(dummy=True),
    dict(dummy=True, method="eydx", at="mean"),
    dict(count=True),
]


def whole(df):
    """The table with whole numbers in z, and codes where statsmodels needs them."""
    return df.assign(z=np.round(df.z), b=df.b.astype(int), kind=df.kind.str[1:].astype(int))


def fit(verb):
    return getattr(sgmc, verb)(
        f"{OUTCOMES[verb]} ~ x + z + g + b", whole(table(N)), seed=1, prior="flat"
    )


@pytest.fixture(scope="module")
def fits():
    return {}


def assert_same(res, verb, how):
    formula = f"{OUTCOMES[verb]} ~ x + z + g + b"
    wanted = getattr(smf, verb)(formula, whole(table(N))).fit(disp=0)
    names = [name for name in wanted.model.exog_names if name != "Intercept"]
    wanted, found = wanted.get_margeff(**how), res.get_margeff(**how)
    order = [names.index(name) for name in found.names]
    effect, se = np.asarray(wanted.margeff)[order], np.asarray(wanted.margeff_se)[order]
    # medians of columns of 0 and 1 are 0: so are their elasticities
    assert (np.abs(found.margeff - effect) <= se / 7 + 1e-12).all()
    assert (np.abs(found.margeff_se - se) <= 0.04 * se + 1e-12).all()


@pytest.mark.cover(1)
@pytest.mark.parametrize("how", HOWS, ids=str)
@pytest.mark.parametrize("verb", ["logit", "poisson"])
def test_marginal_effects_are_statsmodels(verb, how, fits):
    res = fits.setdefault(verb, None) or fit(verb)
    fits[verb] = res
    assert_same(res, verb, how)


@pytest.mark.extended
@pytest.mark.parametrize("how", HOWS[:4:3], ids=str)  # statsmodels has no others of several kinds
def test_marginal_effects_of_kinds(how, fits):
    res = fits.get("mnlogit") or fit("mnlogit")
    fits["mnlogit"] = res
    assert_same(res, "mnlogit", how)
    found = res.get_margeff(**how)
    frame = found.summary_frame()
    assert frame.loc[(1, "x"), "dy/dx"] == found.margeff[found.names.index("x"), 1]
    np.testing.assert_allclose(found.margeff.sum(axis=1), 0, atol=1e-9)


@pytest.mark.mistake("marginal effects: {mistake}")
@pytest.mark.parametrize("name", ["logit"])
@pytest.mark.parametrize("mistake", ["slope of the link", "effects at the mean of rows"])
def test_a_mistake_is_seen(name, mistake, fits, monkeypatch):
    res = fits.setdefault(name, None) or fit(name)
    if mistake == "slope of the link":
        of_block = margeff.of_block

        def wrong(rows, X, eta, weight, method, how):
            return of_block(rows, X, 0.5 * eta, weight, method, how)

        monkeypatch.setattr(margeff, "of_block", wrong)
    else:
        right = margeff.get_margeff
        monkeypatch.setattr(
            margeff, "get_margeff", lambda results, at, *rest: right(results, "mean", *rest)
        )
    with pytest.raises(AssertionError):
        assert_same(res, name, {})


def test_intervals_and_tables():
    found = fitted("logit", n=N).get_margeff()
    frame = found.summary_frame(0.2)
    low, high = np.quantile(found.draws, [0.1, 0.9], axis=0)
    np.testing.assert_allclose(found.conf_int(0.2), np.column_stack([low, high]))
    np.testing.assert_allclose(frame["Conf. Int. Low"], low)
    assert list(frame.index) == found.names and "Intercept" not in found.names
    text = found.summary().as_text()
    assert "dy/dx" in text and "overall" in text and f"{frame['dy/dx']['x']:.4f}" in text
    np.testing.assert_allclose(
        fitted("logit", n=N).get_margeff(data=table(N)).margeff, found.margeff
    )


@pytest.mark.extended
def test_weights_enter():
    res, df = fitted("logit", n=N, weights="w"), table(N)
    p = res.predictions().draws
    b = res.flat[:, res.names.index("x")]
    wanted = np.average(p * (1 - p) * b, axis=0, weights=df.w)
    place = res.get_margeff().names.index("x")
    np.testing.assert_allclose(res.get_margeff().draws[:, place], wanted, rtol=1e-7)


@pytest.mark.parametrize(
    "how, words",
    [
        (dict(at="all"), "at='all'"),
        (dict(method="dx"), "method='dx'"),
        (dict(dummy=True, method="eyex"), "dummy=True.*take method='dydx'"),
        (dict(count=True, at="zero"), "count=True"),
    ],
)
def test_what_is_refused(how, words):
    with pytest.raises(ArgumentError, match=words):
        fitted("logit", n=N).get_margeff(**how)


@pytest.mark.extended("mnlogit-odds ratio")
@pytest.mark.parametrize(
    "verb, name",
    [("logit", "odds ratio"), ("poisson", "rate ratio"), ("mnlogit", "odds ratio")],
)
def test_ratios(verb, name):
    res = fitted(verb, n=N)
    frame, count = res.summary_frame(0.1, exponentiate=True), res.flat.shape[1]
    draws = np.exp(res.flat)
    wanted = np.quantile(draws, [0.5, 0.05, 0.95], axis=0).T
    np.testing.assert_allclose(frame.iloc[:, :3], wanted, rtol=1e-3)
    assert list(frame.columns[:4]) == [name, "[0.05", "0.95]", "P(>1)"] and len(frame) == count
    text = res.summary(exponentiate=True).as_text()
    assert name in text and "P(>0)" not in text
    pd.testing.assert_frame_equal(frame, res.summary_frame(0.1, exponentiate=True))


def test_other_parameters_have_no_ratio():
    res = sgmc.glm("z ~ x", table(N), family="gamma", seed=1)
    frame = res.summary_frame(exponentiate=True)
    assert list(frame.index) == ["Intercept", "x"] and frame.columns[0] == "ratio of means"
    assert frame.attrs["left_out"] == ["dispersion"]
    text = " ".join(str(res.summary(exponentiate=True)).split())
    assert (
        "Not in the table: dispersion, as ratios are of coefficients; summary() has them." in text
    )
    assert "Not in the table" not in str(res.summary())
    alone = fitted("poisson", n=N)
    assert alone.summary_frame(exponentiate=True).attrs["left_out"] == []
    assert "Not in the table" not in str(alone.summary(exponentiate=True))


@pytest.mark.extended("probit")
@pytest.mark.parametrize("verb", ["ols", "probit"])
def test_ratios_without_a_meaning_are_refused(verb):
    res = fitted(verb, n=N)
    with pytest.raises(ArgumentError, match="exponentiate=True.*avg_comparisons"):
        res.summary(exponentiate=True)
    with pytest.raises(ArgumentError, match="exponentiate=True.*avg_comparisons"):
        res.summary_frame(exponentiate=True)
