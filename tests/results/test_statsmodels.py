"""Every name that users know from statsmodels' results: it is there with a posterior's meaning, or
says what to use instead.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.discrete.discrete_model import LogitResults
from statsmodels.genmod.generalized_linear_model import GLMResults
from statsmodels.regression.linear_model import RegressionResults

import sgmc
from sgmc.errors import ArgumentError

DESIGN = "y ~ x1 + x2 + g"
DONE = [
    "params",
    "bse",
    "cov_params",
    "conf_int",
    "t_test",
    "summary",
    "summary2",
    "summary_frame",
    "predict",
    "get_prediction",
    "fittedvalues",
    "resid_response",
    "resid_pearson",
    "resid_deviance",
    "llf",
    "deviance",
    "null_deviance",
    "nobs",
    "df_model",
    "df_resid",
    "k_constant",
    "save",
    "load",
    "remove_data",
    "prob_positive",
    "prob_direction",
    "hypothesis",
    "loo",
    "draws",
    "ess",
    "rhat",
    "mcse",
    "ksd",
    "diagnostics",
    "prior_summary",
    "posterior_predict",
    "log_lik",
    "pp_check",
    "plot_trace",
    "plot_posterior",
    "plot_acf",
    "to_arviz",
    "contrast",
]
MODEL = ["endog_names", "exog_names", "formula", "family"]
REFUSED = ["tvalues", "pvalues", "f_test", "wald_test", "aic", "bic"]


@pytest.fixture(scope="module")
def theirs(votes):
    """statsmodels' fit of the same formula."""
    return smf.glm(DESIGN, votes, family=sm.families.Binomial()).fit()


@pytest.fixture(scope="module")
def flat_prior(votes):
    """The posterior whose mode is the maximum of the likelihood."""
    return sgmc.logit(DESIGN, votes, prior="flat", seed=1, draws=4000)


@pytest.mark.parametrize("name", DONE)
def test_names_that_are_there(equal, name):
    assert getattr(equal, name) is not None


@pytest.mark.parametrize("name", MODEL)
def test_names_of_the_model(equal, name):
    assert getattr(equal.model, name)


@pytest.mark.parametrize("name", REFUSED)
def test_names_that_are_refused(equal, name):
    with pytest.raises(
        AttributeError, match=f"{name} has no meaning for a posterior; (use|compare) "
    ):
        getattr(equal, name)


@pytest.mark.parametrize(
    "cls", [GLMResults, LogitResults, RegressionResults], ids=lambda c: c.__name__
)
def test_no_name_of_statsmodels_is_left_unanswered(equal, cls):
    public = [name for name in dir(cls) if not name.startswith("_")]
    unanswered = []
    for name in public:
        try:
            getattr(equal, name)
        except AttributeError as error:
            unanswered += [name] if "has no attribute" in str(error) else []
    assert len(public) >= 40 and unanswered == []


@pytest.mark.parametrize("form", ["as_text", "as_html", "as_latex", "as_csv"])
def test_forms_of_the_summary(equal, form):
    assert "x1" in getattr(equal.summary(), form)()


def test_what_hints_name_is_there(equal):
    import re

    from sgmc.elsewhere import OF_TERMS, OTHERWISE, WITHOUT_MEANING

    of_others = {"fit", "score", "scale", "sd", *OF_TERMS}  # of estimators, formulas, terms
    holders = {"summary": equal.summary(), "summary_frame": pd.DataFrame, "to_frame": pd.DataFrame}
    for hint in [*OTHERWISE.values(), *WITHOUT_MEANING.values()]:
        for name in set(re.findall(r"(?<!\)\.)\b(\w+)\(", hint)) - of_others:
            assert hasattr(equal, name) or hasattr(sgmc, name), name
        for holder, name in re.findall(r"(\w+)\(\)\.(\w+)\(", hint):
            assert holder not in holders or hasattr(holders[holder], name), hint


# ---- numbers against statsmodels, with a flat prior ----------------------------------------------


def test_fit_statistics(flat_prior, theirs):
    # at the posterior mean, which is off the maximum by the skewness, less than half a unit of log
    # likelihood
    assert theirs.llf - 0.5 < flat_prior.llf < theirs.llf
    assert flat_prior.deviance == pytest.approx(-2 * flat_prior.llf, rel=1e-10)
    assert flat_prior.null_deviance == pytest.approx(theirs.null_deviance, rel=1e-10)
    assert (flat_prior.df_resid, flat_prior.df_model, flat_prior.k_constant, flat_prior.nobs) == (
        395,
        4,
        1,
        400,
    )


@pytest.mark.parametrize(
    "how", [dict(offset="off"), dict(weights="count"), dict(offset="off", weights="count")], ids=str
)
def test_null_deviance_with_offset_and_weights(votes, how):
    fit = sgmc.logit(DESIGN, votes, seed=1, draws=1500, **how)
    other = smf.glm(
        DESIGN,
        votes,
        family=sm.families.Binomial(),
        offset=votes.off if "offset" in how else None,
        freq_weights=votes["count"] if "weights" in how else None,
    ).fit()
    assert fit.null_deviance == pytest.approx(other.null_deviance, rel=1e-7)
    assert other.deviance < fit.deviance < other.deviance + 1


@pytest.mark.parametrize(
    "name", ["fittedvalues", "resid_response", "resid_pearson", "resid_deviance"]
)
def test_fitted_values_and_residuals(flat_prior, theirs, name):
    ours, other = getattr(flat_prior, name), getattr(theirs, name)
    assert ours.shape == (400,)
    # averages over the posterior, theirs at the maximum: they differ by terms of order d / n; for
    # the Pearson ones by factors exp(var(eta) / 8), at most 1.08 in these rows
    np.testing.assert_allclose(
        ours, other, **(dict(rtol=0.08, atol=0.02) if name == "resid_pearson" else dict(atol=0.02))
    )
    assert np.corrcoef(ours, other)[0, 1] > 0.999


def test_no_constant(votes):
    assert sgmc.logit("y ~ x1 - 1", votes, seed=1).k_constant == 0


# ---- data left behind ----------------------------------------------------------------------------

NEEDING = [
    "fittedvalues",
    "resid_response",
    "resid_pearson",
    "resid_deviance",
    "llf",
    "deviance",
    "null_deviance",
    "loo",
    "log_lik",
    "pp_check",
]


@pytest.mark.parametrize("name", NEEDING)
def test_what_needs_the_data_says_so(votes, name, tmp_path):
    fit = sgmc.logit("y ~ x1", votes, seed=1)
    fit.save(tmp_path / "fit")
    loaded = sgmc.load(tmp_path / "fit")
    fit.remove_data()
    for one in (loaded, fit):
        with pytest.raises(ArgumentError, match=f"{name} needs the data of the fit"):
            value = getattr(one, name)
            value()


def test_results_go_on_without_their_data(votes):
    fit, same = (sgmc.logit("y ~ x1", votes, seed=1) for _ in range(2))
    fit.remove_data()
    pd.testing.assert_series_equal(fit.predict(votes), same.predict(votes))
    np.testing.assert_array_equal(
        fit.resume(draws=1000, data=votes).draws, same.resume(draws=1000).draws
    )
    with pytest.raises(ArgumentError, match="new data"):
        fit.predict()
    assert fit.posterior_predict(votes, draws=3).shape == (3, 400)


def test_summary2(equal):
    second = equal.summary2(title="Mine", yname="votes", float_format="%.2f")
    head, body = second.tables
    np.testing.assert_allclose(body, equal.summary_frame())
    assert "Mine" in second.as_text()
    assert "votes" in second.as_text()
    assert "Prior (slopes)" in second.as_text()
    assert list(equal.summary2(xname=list("abcde")).tables[1].index) == list("abcde")
    with pytest.raises(ArgumentError, match="xname"):
        equal.summary2(xname=["a"])


def test_predict_of_a_design(equal, votes):
    new = votes[:5].assign(**{"Intercept": 1.0, "g[T.b]": votes.g == "b", "g[T.c]": votes.g == "c"})
    design = new[equal.names].to_numpy(dtype=float)
    np.testing.assert_allclose(
        equal.predict(design, transform=False), equal.predict(votes[:5]), rtol=1e-10
    )
    np.testing.assert_allclose(
        equal.get_prediction(design, transform=False).predicted_mean,
        equal.predict(votes[:5]),
        rtol=1e-10,
    )
