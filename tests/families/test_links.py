"""`sgmc.glm` by family and link; positive outcomes, and errors with heavy tails."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import sgmc
from sgmc.api import verbs
from sgmc.errors import ArgumentError, DataError

from .tables import COUNTS, FAMILIES, HEAVY, LINKS


def shown(value):
    """A family or link without its address."""
    return f"{type(value).__name__}()" if isinstance(value, sm.families.Family) else str(value)


def links(distribution):
    """The links of a distribution as messages list them: its default first."""
    known = {f.link: f.default_link for f in FAMILIES.values() if f.distribution == distribution}
    return ", ".join(sorted(known, key=lambda link: not known[link]))


BINARY = {name for name, family in FAMILIES.items() if family.outcome == "binary"}


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "verb, family, link",
    [
        ("logit", "binomial", None),
        ("probit", "Binomial", "probit"),
        ("cloglog", sm.families.Binomial(LINKS.CLogLog()), None),
        ("loglog", "binomial", "loglog"),
        ("loglog", sm.families.Binomial(LINKS.LogLog()), None),
        ("cauchit", "binomial", "cauchit"),
        ("cauchit", "binomial", "cauchy"),
        ("cauchit", sm.families.Binomial(LINKS.Cauchy()), None),
        ("poisson", sm.families.Poisson(), None),
        ("logit", sm.families.Binomial, None),
        ("poisson", "poisson", "log"),
        ("negativebinomial", "negativebinomial", None),
        ("negativebinomial", sm.families.NegativeBinomial, None),
        ("ols", "gaussian", None),
        ("ols", sm.families.Gaussian(), "identity"),
        ("gaussianlog", sm.families.Gaussian(LINKS.Log()), None),
        ("gamma", "Gamma", None),
        ("gamma", sm.families.Gamma(LINKS.Log()), None),
        ("gamma", sm.families.Gamma, None),
        ("inversegaussian", "inverse.gaussian", "log"),
        ("inversegaussian", sm.families.InverseGaussian(LINKS.Log()), None),
    ],
    ids=shown,
)
def test_glm_is_the_verb_of_that_family_and_link(verb, family, link):
    counts = verb in ("poisson", "negativebinomial")
    frame = COUNTS.assign(
        y=COUNTS.y
        if counts
        else (COUNTS.y > 2).astype(int)
        if verb in BINARY
        else COUNTS.y + COUNTS.e
    )
    how = dict(seed=1, draws=500)
    found = sgmc.glm("y ~ x", frame, family=family, **(dict(link=link) if link else {}), **how)
    np.testing.assert_array_equal(found.draws, getattr(verbs, verb)("y ~ x", frame, **how).draws)


@pytest.mark.parametrize(
    "family, link, message",
    [
        ("gauss", None, "family='gauss' is not known; known: beta, binomial, .*, poisson"),
        (3, None, "family=3 is not known"),
        (
            "poisson",
            "identity",
            (
                "link='identity' is not one of the poisson family here; known: log .with "
                "'identity' the mean is not positive"
            ),
        ),
        (
            "gamma",
            "inverse_power",
            "known: log .with 'inverse_power' the mean is not positive for some coefficients",
        ),
        (
            sm.families.Gamma(),
            None,
            (
                "link='inversepower' is not one of the gamma family here; known: log .with "
                "'inversepower' the mean is"
            ),
        ),
        (
            sm.families.InverseGaussian(),
            None,
            "known: log .with 'inversesquared' the mean is not positive for some coefficients",
        ),
        (
            "gaussian",
            "inverse",
            f"link='inverse' is not one of the gaussian family here; known: {links('gaussian')}$",
        ),
        (
            sm.families.Binomial(LINKS.Log()),
            None,
            f"link='log' is not one of the binomial family here; known: {links('binomial')} .with "
            "'log' the mean is no probability for some coefficients",
        ),
        ("binomial", "identity", "no probability for some"),
        ("binomial", "inverse", "no probability for some"),
        ("binomial", "logti", f"known: {links('binomial')}$"),
    ],
)
def test_families_and_links_that_there_are_not(family, link, message):
    with pytest.raises(ArgumentError, match=message):
        sgmc.glm("y ~ x", COUNTS, family=family, link=link)


# ---- positive outcomes, and errors with heavy tails ----------------------------------------------


@pytest.mark.parametrize("verb", ["gamma", "inversegaussian"])
@pytest.mark.parametrize(
    "y, message",
    [
        ([0, 2, 3], "outcome 'y' must be positive; it has 0"),
        ([1, -2, 3], "it has -2"),
        ([2, 2, 2], "outcome 'y' is 2 in every row used"),
    ],
)
def test_outcomes_that_are_not_positive_are_refused(verb, y, message):
    with pytest.raises(DataError, match=message):
        getattr(verbs, verb)("y ~ x", pd.DataFrame({"y": y, "x": [1.0, 2, 4]}))


@pytest.mark.extended
@pytest.mark.parametrize("df", [None, 4.0, 7])
def test_results_keep_the_degrees_of_freedom(df, tmp_path):
    """Saved, loaded, predicted and resumed; `df` is a parameter where it is learned."""
    results = sgmc.rlm("y ~ x", HEAVY, df=df, seed=1, draws=500)
    results.save(tmp_path / "fit.sgmc")
    again = sgmc.load(tmp_path / "fit.sgmc")
    assert results.names == ["Intercept", "x", "sigma"] + ["df"] * (df is None)
    assert ("df 7" in str(again.summary())) == (df == 7)
    np.testing.assert_array_equal(again.predict(HEAVY), results.predict(HEAVY))
    np.testing.assert_array_equal(again.log_lik(HEAVY, "y"), results.log_lik(HEAVY, "y"))
    longer = sgmc.rlm("y ~ x", HEAVY, df=df, seed=1, draws=1000)
    np.testing.assert_array_equal(again.resume(draws=500, data=HEAVY).draws, longer.draws)
    arrays = sgmc.RLM(HEAVY.y, sm.add_constant(HEAVY[["x"]]), df=df).fit(seed=1, draws=500)
    np.testing.assert_array_equal(arrays.draws, results.draws)


def test_degrees_of_freedom_by_default_are_four():
    how = dict(seed=1, draws=200)
    np.testing.assert_array_equal(
        sgmc.rlm("y ~ x", HEAVY, **how).draws, sgmc.rlm("y ~ x", HEAVY, df=4, **how).draws
    )


@pytest.mark.parametrize("df", [0, -1, np.inf, np.nan, True, "4", [4]], ids=str)
def test_degrees_of_freedom_that_are_none(df):
    with pytest.raises(ArgumentError, match="must be a positive number; give None to learn it"):
        sgmc.rlm("y ~ x", HEAVY, df=df)


def test_outliers_move_normal_errors_more():
    wild = HEAVY.assign(y=HEAVY.y.where(HEAVY.x < 2, 300.0))
    normal, heavy = (verb("y ~ x", wild, seed=1).params["x"] for verb in (sgmc.ols, sgmc.rlm))
    assert abs(heavy - 0.5) < 0.2 < 2 < abs(normal - 0.5)
