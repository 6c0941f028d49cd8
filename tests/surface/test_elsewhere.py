"""Names of other packages: each of the tables is a hit, or names what to use instead."""

import importlib
import re

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc import elsewhere, spelling
from sgmc.arguments.declared.keywords import TABLE
from sgmc.errors import ArgumentError

# fits here are small, and many of their effects are none
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture(scope="module")
def df():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=200), "g": rng.choice(list("abcdefgh"), 200)})
    frame["y"] = (rng.random(200) < 1 / (1 + np.exp(-frame.x))).astype(int)
    frame["positive"] = rng.gamma(2, size=200)
    frame["share"] = rng.beta(2, 3, size=200)
    return frame


@pytest.fixture(scope="module")
def res(df):
    return sgmc.logit("y ~ x", df, seed=1, draws=250)


@pytest.fixture(scope="module")
def grouped(df):
    return sgmc.logit("y ~ x + (1 | g)", df, seed=1, draws=250)


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(elsewhere.SAME_ON_RESULTS))
def test_a_name_with_the_same_meaning_is_a_hit(res, name):
    ours, how = elsewhere.SAME_ON_RESULTS[name]
    found = getattr(res, name)
    if not callable(found) or ours == "model.family":
        assert found is not None
    elif not name.startswith("plot"):
        assert found() is not None
    assert name not in dir(res)


def test_hits_have_our_values(res, df):
    pd.testing.assert_frame_equal(res.hdi(), res.conf_int(method="hdi"))
    pd.testing.assert_frame_equal(res.confint(), res.conf_int())
    pd.testing.assert_frame_equal(res.vcov(), res.cov_params())
    pd.testing.assert_series_equal(res.bayes_R2(), res.r2())
    assert res.formula == "y ~ x" and res.exog_names == ["Intercept", "x"]
    assert res.logLik == res.llf


def test_fixef_leaves_sds_of_groups_out(grouped):
    assert list(grouped.fixef().index) == ["Intercept", "x"] and "sd(1|g)" in grouped.names
    pd.testing.assert_frame_equal(
        grouped.fixef(alpha=0.5), grouped.summary_frame(alpha=0.5).loc[["Intercept", "x"]]
    )


@pytest.mark.parametrize(
    "name", sorted({*elsewhere.OTHERWISE, *elsewhere.WITHOUT_MEANING, *elsewhere.OF_TERMS})
)
def test_any_other_name_of_the_tables_says_what_to_use(res, name):
    with pytest.raises(AttributeError) as caught:
        getattr(res, name)
    assert "has no attribute" not in str(caught.value) and name in str(caught.value)


def test_no_table_hides_a_name_of_ours(res):
    said = {*elsewhere.SAME_ON_RESULTS, *elsewhere.OTHERWISE, *elsewhere.WITHOUT_MEANING}
    assert said & {*dir(res)} == set()
    assert not {*elsewhere.SAME_ON_RESULTS} & {*elsewhere.OTHERWISE, *elsewhere.WITHOUT_MEANING}


def test_a_name_that_no_table_has(res):
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        res.nonsense


def test_other_models_have_the_names_too():
    y = np.random.default_rng(1).normal(size=(60, 1))
    fit = sgmc.GaussianMixture(y, 1).fit(draws=50, seed=1)
    assert fit.to_dataframe().shape == fit.to_frame().shape
    with pytest.raises(AttributeError, match="use draws, an array"):
        fit.as_draws


# ---- draws of E[y | x] ---------------------------------------------------------------------------


def test_draws_of_the_mean_average_to_predict(res, df):
    new = df[:7]
    draws = res.posterior_epred(new)
    assert draws.shape == (1000, 7)
    np.testing.assert_allclose(draws.mean(axis=0), res.predict(new), rtol=1e-12)
    eta = res.posterior_linpred(new)
    np.testing.assert_allclose(draws, 1 / (1 + np.exp(-eta)), rtol=1e-12)
    np.testing.assert_allclose(eta, res.flat @ np.stack([np.ones(7), new.x]), rtol=1e-12)
    assert res.posterior_epred(draws=10).shape == (10, 200)


def test_draws_of_the_mean_have_the_effects_of_groups(grouped, df):
    # `predict` thins nothing here, but averages effects given each draw anew: Monte Carlo error of
    # a probability over 1000 draws, 0.5 / sqrt(1000) = 0.016 at most, four times
    np.testing.assert_allclose(
        grouped.posterior_epred(df[:5]).mean(axis=0), grouped.predict(df[:5]), atol=0.064
    )
    at_zero = grouped.posterior_linpred(df[:5], random=False)
    X = np.stack([np.ones(5), df.x[:5]])
    np.testing.assert_allclose(at_zero, grouped.flat[:, :2] @ X, rtol=1e-10)


def test_several_kinds_have_no_one_mean(df):
    fit = sgmc.mnlogit("g ~ x", df, seed=1, draws=20)
    with pytest.raises(
        sgmc.errors.NotSupported, match="posterior_epred needs outcomes that are numbers"
    ):
        fit.posterior_epred()


# ---- the module ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(elsewhere.SAME_IN_MODULE))
def test_a_name_of_the_module_with_the_same_meaning_is_ours(name):
    assert getattr(sgmc, name) is getattr(sgmc, elsewhere.SAME_IN_MODULE[name])
    assert name not in dir(sgmc)


@pytest.mark.parametrize("name", sorted({*elsewhere.IN_MODULE} - {"priors"}))
def test_any_other_name_of_the_module_says_what_to_use(name):
    with pytest.raises(AttributeError, match=f"sgmc has no '{name}': "):
        getattr(sgmc, name)


def test_no_table_hides_a_name_of_the_module():
    assert {*elsewhere.SAME_IN_MODULE, *elsewhere.IN_MODULE} & {*sgmc.__all__} == set()
    assert {*elsewhere.SAME_IN_MODULE.values()} <= {*sgmc.__all__}


@pytest.mark.parametrize("name", sorted(elsewhere.IN_DATASETS))
def test_names_of_data_sets(name):
    with pytest.raises(AttributeError, match=rf"{name}'; use sgmc.datasets.\w+\("):
        getattr(sgmc.datasets, name)


def texts():
    """All hints of the tables."""
    for table in (
        elsewhere.OTHERWISE,
        elsewhere.WITHOUT_MEANING,
        elsewhere.IN_MODULE,
        elsewhere.IN_DATASETS,
        elsewhere.FAMILIES_ELSEWHERE,
        elsewhere.ARGUMENTS,
        elsewhere.OF_METHODS,
        elsewhere.IN_SKLEARN,
    ):
        yield from table.values()


def test_what_hints_name_is_there():
    named = {name for text in texts() for name in re.findall(r"sgmc\.(\w+)(?!\w)", text)}
    assert len(named) > 15
    assert named <= {*sgmc.__all__, "sklearn"}
    arguments = [re.findall(r"\b(\w+)=", text) for text in elsewhere.ARGUMENTS.values()]
    # of glm, a sampler, summaries, quantreg
    of_others = {"family", "link", "target_accept", "level", "tau"}
    assert {name for one in arguments for name in one} - of_others <= {row.name for row in TABLE}


# ---- arguments -----------------------------------------------------------------------------------

VALUES = {
    "seed": 3,
    "threads": 1,
    "progress": False,
    "prior": {"x": sgmc.normal(0, 1)},
    "weights": np.ones(200),
    "chains": 2,
    "draws": 60,
    "warmup": 30,
    "init": np.zeros(2),
}


@pytest.mark.parametrize("name", sorted(elsewhere.SAME_ARGUMENTS))
def test_an_argument_with_the_same_meaning_is_a_hit(df, name):
    ours = elsewhere.SAME_ARGUMENTS[name]
    how = {"seed": 1, "draws": 50, "chains": 2, "time_limit": None}
    same = sgmc.logit("y ~ x", df, **{**how, ours: VALUES[ours]})
    how.pop(ours, None)
    found = sgmc.logit("y ~ x", df, **{**how, name: VALUES[ours]})
    np.testing.assert_array_equal(found.draws, same.draws)
    assert found.seed == same.seed


def test_all_cores_of_scikit_learn(df):
    found = sgmc.logit("y ~ x", df, seed=1, draws=50, n_jobs=-1)
    np.testing.assert_array_equal(found.draws, sgmc.logit("y ~ x", df, seed=1, draws=50).draws)
    with pytest.raises(ArgumentError, match="threads"):
        sgmc.logit("y ~ x", df, threads=-1)


def test_both_names_of_one_argument_are_refused(df):
    with pytest.raises(TypeError, match="got 'random_state', which is 'seed' here, more than once"):
        sgmc.logit("y ~ x", df, seed=1, random_state=1)
    with pytest.raises(TypeError, match="more than once"):
        sgmc.logit("y ~ x", df, random_seed=1, random_state=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda df, **how: sgmc.Logit.from_formula("y ~ x", df).fit(draws=20, **how),
        lambda df, **how: sgmc.sample(sgmc.Logit.from_formula("y ~ x", df), draws=20, **how),
        lambda df, **how: sgmc.GaussianMixture(df[["x"]].to_numpy(), 1).fit(draws=20, **how),
        lambda df, **how: sgmc.glm("y ~ x", df, family="binomial", draws=20, **how),
    ],
    ids=["fit", "sample", "model", "glm"],
)
def test_every_fit_takes_them(df, call):
    assert call(df, random_state=5).seed == 5


@pytest.mark.parametrize("name", sorted(elsewhere.ARGUMENTS))
def test_any_other_argument_of_the_table_says_what_to_use(df, name):
    with pytest.raises(TypeError, match=re.escape(f"argument '{name}'; ")) as caught:
        sgmc.logit("y ~ x", df, **{name: 1})
    assert elsewhere.ARGUMENTS[name] in str(caught.value)


# ---- arguments of methods ------------------------------------------------------------------------


def test_arguments_of_methods_by_other_names(res, df):
    new = df[:5]
    same = res.predict(new)
    for name in ("newdata", "data", "X"):
        pd.testing.assert_series_equal(res.predict(**{name: new}), same)
    pd.testing.assert_frame_equal(
        res.predictions(newdata=new), res.predictions(data=new), check_frame_type=False
    )
    simulated = res.posterior_predict(new, draws=7, seed=5)
    found = res.posterior_predict(newdata=new, ndraws=7, random_seed=5)
    np.testing.assert_array_equal(found, simulated)
    assert res.conf_int(var_names=["x"]).index.tolist() == ["x"]


def test_arguments_of_methods_of_groups_too(grouped, df):
    pd.testing.assert_series_equal(
        grouped.predict(newdata=df[:5], random=False), grouped.predict(df[:5], random=False)
    )


def test_both_names_of_an_argument_of_a_method_are_refused(res, df):
    with pytest.raises(TypeError, match=r"predict\(\) got 'newdata', which is 'exog' here, "):
        res.predict(exog=df, newdata=df)


@pytest.mark.parametrize(
    "method, argument, advice",
    [
        ("predict", "type", "posterior_linpred"),
        ("predict", "level", r"get_prediction\(new\).summary_frame\(level="),
        ("predict", "return_std", "get_prediction"),
        ("predict", "re_formula", "random=False"),
        ("summary", "digits", r"summary_frame\(\).round"),
        ("pp_check", "type", "plot_pp_check"),
        ("summary", "kind", r"ess\(\), mcse\(\)"),
        ("summary", "odds_ratio", "exponentiate=True"),
        ("avg_slopes", "hypothesis", "table.draws"),
        ("plot_predictions", "condition", "by='g'"),
        ("pp_check", "stat", "posterior_predict"),
        ("plot_pp_check", "group", "number of bins"),
        ("predict", "what", "which='sigma'"),
        ("loo", "pointwise", r"loo\(\).pareto_k"),
        ("summary", "detials", "did you mean 'details'"),
    ],
)
def test_other_arguments_of_methods_say_what_to_use(res, method, argument, advice):
    said = rf"^{method}\(\) got an unexpected keyword argument '{argument}'; .*{advice}"
    with pytest.raises(TypeError, match=said):
        getattr(res, method)(**{argument: 1})


def test_signatures_of_methods_are_their_own(res):
    import inspect

    assert list(inspect.signature(res.predict).parameters)[:2] == ["exog", "transform"]
    assert res.predict.__doc__ and "newdata" not in str(inspect.signature(res.predict))


@pytest.mark.parametrize(
    "name, meant",
    [
        ("parmas", "params"),  # two letters swapped
        ("sumary", "summary"),
        ("get_predictions", "get_prediction"),
        ("Logitt", "Logit"),
        ("logitt", "logit"),  # the case counts among those as near
        ("--modle", "--model"),
        ("drws", "draws"),  # one letter, as the name is short
        ("bose", "bse"),
        ("bsxy", None),  # two letters of a short name
        ("epred", None),  # near 'seed' by its letters
        ("std", None),  # near 'sd' and 'ksd'
        ("--level", None),
        ("to_latex", None),
        ("emmeans", None),
    ],
)
def test_only_misspellings_are_near(name, meant):
    known = "params summary seed ksd bse get_prediction Logit logit --model --seed draws to_frame"
    assert spelling.misspelt(name, [*known.split(), "TiedMeans"]) == meant


@pytest.mark.parametrize(
    "a, b, many",
    [("ab", "ba", 1), ("abc", "abc", 0), ("ca", "abc", 3), ("", "abc", 3), ("Ab", "a", 1)],
)
def test_letters_that_differ(a, b, many):
    # "ca" to "abc" is 3 where no letter is moved twice, by the optimal string alignment
    assert spelling.letters(a, b) == spelling.letters(b, a) == many


@pytest.mark.parametrize(
    "name, says",
    [
        ("tidy", "of results, use summary_frame()"),
        ("glance", "of results, use summary(r2=True"),
        ("emmeans", "of results, use avg_predictions"),
        ("etable", "use pd.concat"),
        ("rhat", "it is a method of results"),
        ("feols", "effects of a factor are C(g)"),
    ],
)
def test_names_of_results_are_answered_by_the_module(name, says):
    with pytest.raises(AttributeError, match=re.escape(f"sgmc has no '{name}': {says}")):
        getattr(sgmc, name)


def test_a_parameter_asked_as_an_item_or_attribute(res):
    use = re.escape("use params['x'], or to_frame()['x'] for its draws")
    with pytest.raises(TypeError, match=f"results have no items; {use}"):
        res["x"]
    with pytest.raises(AttributeError, match=f"no attribute 'x'; {use}"):
        res.x


@pytest.mark.parametrize("name", sorted(elsewhere.REGRESSIONS_OF_PRIORS))
def test_a_prior_with_a_formula(name, df):
    with pytest.raises(ArgumentError, match=rf"^{name}\(\) is a prior; of a formula use sgmc\."):
        getattr(sgmc, name)("y ~ x", df)


def test_the_estimators_need_no_import_of_their_own():
    pytest.importorskip("sklearn")
    assert sgmc.sklearn is importlib.import_module("sgmc.sklearn")


def test_statements_of_parameters_that_mean_others(df):
    fit = sgmc.ols("positive ~ x + g", df, seed=1, draws=50)
    with pytest.raises(ArgumentError, match=r"'g' is a factor.*avg_comparisons\('g'\)"):
        fit.contrast("g")
    with pytest.raises(ArgumentError, match="join several by &, as in"):
        fit.hypothesis("Intercept > 0, x > 0")
    with pytest.raises(ArgumentError, match="which='link': posterior_linpred"):
        fit.predict(df, which="link")


def test_datagrid_by_names_of_others(res, df):
    grid = sgmc.datagrid(res, x=[0, 1])
    pd.testing.assert_frame_equal(sgmc.datagrid(model=res, x=[0, 1]), grid)
    pd.testing.assert_frame_equal(sgmc.datagrid(newdata=df, x=[0]), sgmc.datagrid(df, x=[0]))
    with pytest.raises(ArgumentError, match="datagrid needs a fit or a table first"):
        sgmc.datagrid(x=[0, 1])


def test_keys_of_priors_that_mean_all_coefficients(df):
    with pytest.raises(
        ArgumentError, match=r"neither a term .*: a prior of all coefficients .*'\*'"
    ):
        sgmc.ols("positive ~ x", df, prior={"b": sgmc.normal(0, 1)})


def test_standard_errors_of_coefficients_are_no_column(df):
    with pytest.raises(sgmc.errors.DataError, match="se= are known .*; use cov_type='HC3'"):
        sgmc.ols("positive ~ x", df, se="HC1")


def test_steps_before_draws(df):
    with pytest.raises(
        ArgumentError, match="tune=500 must be .*; steps before the draws are warmup"
    ):
        sgmc.logit("y ~ x", df, tune=500)


def test_models_that_are_called_as_verbs(res, df):
    for make in (lambda: sgmc.Model("y ~ x", df), lambda: type("Own", (sgmc.Model,), {})(df)):
        with pytest.raises(TypeError, match="it is a class to subclass.*sgmc.ols"):
            make()
    with pytest.raises(ArgumentError, match="of a fit see verdict"):
        sgmc.check_model(res)


def test_a_typing_mistake_is_near_something(res):
    with pytest.raises(AttributeError, match="no attribute 'parmas'; did you mean 'params'"):
        res.parmas
    with pytest.raises(AttributeError, match="no attribute 'logitt'; did you mean 'logit'"):
        sgmc.logitt


@pytest.mark.parametrize("name", sorted(elsewhere.IN_SKLEARN))
def test_names_of_estimators(name):
    pytest.importorskip("sklearn")
    estimators = importlib.import_module("sgmc.sklearn")
    with pytest.raises(AttributeError, match=f"sgmc.sklearn has no '{name}'; use "):
        getattr(estimators, name)
    named = re.findall(r"\bBayesian\w+", elsewhere.IN_SKLEARN[name])
    assert named and {*named} <= {*estimators.__all__}


def test_models_to_compare_in_a_dict_or_a_list(res, df):
    small = sgmc.logit("y ~ 1", df, seed=1, draws=250)
    named = sgmc.compare(small=small, large=res)
    pd.testing.assert_frame_equal(sgmc.compare({"small": small, "large": res}), named)
    pd.testing.assert_frame_equal(sgmc.compare([small, res]), sgmc.compare(small, res))


# ---- intervals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["level", *elsewhere.INTERVALS])
def test_the_probability_of_intervals_by_any_name(res, name):
    pd.testing.assert_frame_equal(res.conf_int(**{name: 0.9}), res.conf_int(alpha=0.1))
    assert res.summary(**{name: 0.9}).as_text() == res.summary(alpha=0.1).as_text()
    pd.testing.assert_frame_equal(
        res.predictions(**{name: 0.9}), res.predictions(level=0.9), check_frame_type=False
    )


def test_a_probability_without_a_name_is_refused_where_it_is_that_of_the_interval(res, df):
    for call in (res.hdi, res.conf_int, res.summary_frame, res.get_prediction(df).summary_frame):
        with pytest.raises(ArgumentError, match=r"write level=0\.9 for intervals of 90 %"):
            call(0.9)
    with pytest.raises(ArgumentError, match="the probability of intervals is level="):
        res.summary(0.9)
    assert res.conf_int(0.1).equals(res.conf_int(level=0.9))
    assert res.hdi.__doc__ == res.conf_int.__doc__


def test_families_of_statsmodels_by_class_and_with_a_dispersion():
    families = pytest.importorskip("statsmodels.api").families
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"k": rng.poisson(2, 100)})
    known = sgmc.glm("k ~ 1", frame, family=families.NegativeBinomial(alpha=0.5), seed=1)
    same = sgmc.negativebinomial("k ~ 1", frame, alpha=0.5, seed=1)
    np.testing.assert_array_equal(known.draws, same.draws)
    with pytest.raises(ArgumentError, match="'inversepower' is not one of the gamma family"):
        sgmc.glm("k + 1 ~ 1", frame, family=families.Gamma)


def test_alpha_of_effects(res):
    pd.testing.assert_frame_equal(res.avg_slopes(alpha=0.1), res.avg_slopes(level=0.9))


def test_a_probability_in_per_cent_is_refused(res):
    with pytest.raises(ArgumentError, match="ci=95 must be .*level=0.9"):
        res.summary(ci=95)
    with pytest.raises(TypeError, match="twice, by 'level'"):
        res.conf_int(alpha=0.1, level=0.9)


def test_every_method_with_alpha_takes_level(grouped, res):
    import inspect

    found = 0
    for one in (type(grouped), type(res), type(res.get_prediction()), type(res.get_margeff())):
        for name, method in inspect.getmembers(one, callable):
            if name.startswith("_") or not inspect.isroutine(method):
                continue
            taken = inspect.signature(method).parameters
            if name != "frame" and {"alpha", "level"} & set(taken):  # one that others call
                assert {"alpha", "level"} <= set(taken), name
                found += 1
    assert found > 30


# ---- priors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "theirs, ours",
    [
        (lambda: sgmc.normal(mu=1, sigma=2), sgmc.normal(1, 2)),
        (lambda: sgmc.normal(loc=1, scale=2), sgmc.normal(1, 2)),
        (lambda: sgmc.normal(mean=1, sd=2), sgmc.normal(1, 2)),
        (lambda: sgmc.Normal(mu=1, sigma=2), sgmc.normal(1, 2)),
        (lambda: sgmc.student_t(nu=4, mu=0, sigma=2), sgmc.student_t(4, 0, 2)),
        (lambda: sgmc.StudentT(nu=4, mu=0, sigma=2), sgmc.student_t(4, 0, 2)),
        (lambda: sgmc.cauchy(alpha=0, beta=2), sgmc.cauchy(0, 2)),
        (lambda: sgmc.laplace(mu=0, b=2), sgmc.laplace(0, 2)),
        (lambda: sgmc.half_normal(sigma=2), sgmc.half_normal(2)),
        (lambda: sgmc.half_t(nu=4, sigma=2), sgmc.half_t(4, 2)),
        (lambda: sgmc.exponential(lam=2), sgmc.exponential(rate=2)),
        (lambda: sgmc.gamma(alpha=2, beta=0.1), sgmc.gamma(2, rate=0.1)),
        (lambda: sgmc.inverse_gamma(alpha=2, beta=3), sgmc.inverse_gamma(2, 3)),
        (lambda: sgmc.lognormal(mu=1, sigma=2), sgmc.lognormal(1, 2)),
        (lambda: sgmc.uniform(lower=0, upper=2), sgmc.uniform(0, 2)),
        (lambda: sgmc.truncated(sgmc.normal(), lower=0), sgmc.truncated(sgmc.normal(), low=0)),
    ],
)
def test_priors_by_the_arguments_of_other_packages(theirs, ours):
    assert theirs() == ours


def test_both_names_of_an_argument_of_a_prior_are_refused():
    with pytest.raises(TypeError, match="got 'sigma', which is 'scale' here, more than once"):
        sgmc.normal(scale=1, sigma=2)


def test_priors_print_as_they_are_written():
    assert repr(sgmc.normal(0, 1)) == "normal(0, 1)"
    assert repr(sgmc.exponential(1)) == "exponential(1)"


# ---- priors and verbs of one name; what is swapped -----------------------------------------------


def test_gamma_is_a_prior_or_a_regression(df):
    assert sgmc.gamma(2, rate=0.1).family == "gamma"
    fit = sgmc.gamma("positive ~ x", df, seed=1, draws=50)
    same = sgmc.glm("positive ~ x", df, family="gamma", seed=1, draws=50)
    np.testing.assert_array_equal(fit.draws, same.draws)
    named = sgmc.gamma(formula="positive ~ x", data=df, seed=1, draws=50)
    np.testing.assert_array_equal(named.draws, same.draws)
    with pytest.raises(sgmc.errors.DataError, match="it is a formula, which comes before the data"):
        sgmc.gamma(df, "positive ~ x")


def test_beta_with_numbers_is_no_prior(df):
    with pytest.raises(ArgumentError, match=r"no prior of this name: .* sgmc.uniform\(0, 1\)"):
        sgmc.beta(2, 2)
    assert sgmc.beta("share ~ x", df, seed=1, draws=20).nobs == 200


def test_arrays_in_the_place_of_a_formula(df):
    X = np.column_stack([np.ones(200), df.x])
    with pytest.raises(ArgumentError, match=r"for arrays use sgmc.Logit\(y, X\)"):
        sgmc.logit(X, df.y)
    with pytest.raises(sgmc.errors.DataError, match=r"outcomes come first, as in Logit\(y, X\)"):
        sgmc.Logit(X, df.y)
    with pytest.raises(sgmc.errors.DataError, match="it is a formula, which comes before the data"):
        sgmc.logit(df, "y ~ x")


@pytest.mark.parametrize("name", sorted(elsewhere.SAME_FAMILIES))
def test_families_of_glm_by_other_names(df, name):
    from sgmc.api.verbs import links

    assert links(elsewhere.SAME_FAMILIES[name]) and not links(name)


def test_a_family_by_another_name_is_the_same(df):
    same = sgmc.logit("y ~ x", df, seed=1, draws=20)
    found = sgmc.glm("y ~ x", df, family="bernoulli", seed=1, draws=20)
    np.testing.assert_array_equal(found.draws, same.draws)


@pytest.mark.parametrize("name", sorted(elsewhere.FAMILIES_ELSEWHERE))
def test_families_that_are_verbs(df, name):
    with pytest.raises(ArgumentError, match=re.escape(elsewhere.FAMILIES_ELSEWHERE[name])):
        sgmc.glm("y ~ x", df, family=name)
