"""Names that other packages have for what is here, in one place: on results, in the module, as
arguments.

Where the meaning is the same, the name is taken for ours (tables `SAME_...`).  Else the error
names what to use (tables of texts).  No name of these tables is listed by ``dir()``.
"""

from collections.abc import Collection, Mapping
from functools import wraps
from operator import attrgetter
from typing import Any, NoReturn

from sgmc.spelling import nearest

# ---- results -------------------------------------------------------------------------------------

# name -> ours, with arguments; a dotted one is an attribute of the model
SAME_ON_RESULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "hdi": ("conf_int", {"method": "hdi"}),
    "eti": ("conf_int", {}),
    "confint": ("conf_int", {}),
    "posterior_interval": ("conf_int", {}),
    "vcov": ("cov_params", {}),
    "r_hat": ("rhat", {}),
    "bayes_R2": ("r2", {}),
    "posterior_summary": ("summary_frame", {}),
    **dict.fromkeys(
        ("to_dataframe", "to_pandas", "as_draws_df", "as_data_frame", "posterior_samples"),
        ("to_frame", {}),
    ),
    "plot_ppc": ("plot_pp_check", {}),
    "plot_autocorr": ("plot_acf", {}),
    "logLik": ("llf", {}),
    "df_residual": ("df_resid", {}),
    "fitted_values": ("fittedvalues", {}),
    "print": ("summary", {}),
    "variables": ("names", {}),
    "epred": ("posterior_epred", {}),
    "linpred": ("posterior_linpred", {}),
    "fixef": ("_fixef", {}),
    **{name: (f"model.{name}", {}) for name in ("formula", "exog_names", "endog_names", "family")},
}

TESTS = "use prob_positive, or hypothesis('x1 > 0')"
JOINT = "use hypothesis(), which takes linear inequalities joined by & and |, or contrast()"
ACCURACY = "compare posteriors by predictive accuracy instead: loo(), sgmc.compare()"
SHARE = "use r2(), the Bayesian one, or loo() for predictive accuracy"
SANDWICHES = "fit with cov_type='robust' (HC0), 'HC3' or 'cluster', then bse and cov_params()"
CLASSICAL = "the posterior's covariance is cov_params(), of coefficients whose prior counts"
SAMPLING = "draws come by sampling; see diagnostics(), chain_diagnostics() and warnings"
LEVERAGE = "loo().pareto_k shows how much single rows decide"
UNINFORMED = "a ConditionWarning names the directions that the data do not inform"
PLOTS = "use plot_pp_check(), or resid_pearson against what you like"

WITHOUT_MEANING = {  # of statsmodels' results
    **dict.fromkeys(("pvalues", "f_pvalue", "llr_pvalue", "fvalue"), TESTS),
    **dict.fromkeys(("tvalues", "zvalues"), "use prob_positive, or params / bse if you must"),
    **dict.fromkeys(
        (
            "f_test wald_test wald_test_terms t_test_pairwise score_test el_test conf_int_el "
            "compare_f_test compare_lm_test compare_lr_test llr im_ratio"
        ).split(),
        JOINT,
    ),
    **dict.fromkeys(
        ("aic", "bic", "aicc", "bic_llf", "bic_deviance", "info_criteria", "waic"), ACCURACY
    ),
    **dict.fromkeys(("prsquared", "pseudo_rsquared", "rsquared", "rsquared_adj"), SHARE),
    **dict.fromkeys(("normalized_cov_params", "use_t"), CLASSICAL),
    **dict.fromkeys(
        (
            "cov_kwds get_robustcov_results HC0_se HC1_se HC2_se HC3_se cov_HC0 cov_HC1 cov_HC2 "
            "cov_HC3"
        ).split(),
        SANDWICHES,
    ),
    **dict.fromkeys(
        "converged fit_history method mle_retvals mle_settings initialize set_null_options".split(),
        SAMPLING,
    ),
    **dict.fromkeys(("get_influence", "get_hat_matrix_diag", "outlier_test"), LEVERAGE),
    **dict.fromkeys(
        "plot_added_variable plot_ceres_residuals plot_partial_residuals plot_partregress".split(),
        PLOTS,
    ),
    **dict.fromkeys(
        (
            "resid_anscombe resid_anscombe_scaled resid_anscombe_unscaled resid_working "
            "resid_generalized wresid"
        ).split(),
        "use resid_response, resid_pearson or resid_deviance",
    ),
    **dict.fromkeys(
        (
            "mse_model mse_resid mse_total ssr centered_tss uncentered_tss pearson_chi2 llf_scaled"
        ).split(),
        "use deviance, or sums of resid_response and resid_pearson",
    ),
    **dict.fromkeys(("eigenvals", "condition_number"), UNINFORMED),
    "resid_dev": "it is resid_deviance here",
    "resid": "it is resid_response here",
    "mu": "it is fittedvalues here",
    **dict.fromkeys(("null", "llnull"), "use null_deviance, or fit 'y ~ 1' and sgmc.compare()"),
    "get_distribution": "use posterior_predict(), which has the coefficients' uncertainty too",
    "pred_table": "use pp_check(), or predict() > 0.5 against the outcomes",
}

COMPARE = "use loo() of each fit, and sgmc.compare(a=, b=)"
DRAWS = "use draws, an array (chain, draw, parameter), or to_frame()"
STAN = "there is no Stan program; see diagnostics() and chain_diagnostics()"
CLASSES = "use predict(), the probability of the outcome that the summary names, > 0.5 for a class"
ESTIMATOR = "sgmc.sklearn has estimators with fit(), predict() and score()"
ADJUSTED_MEANS = (
    "use avg_predictions(variables='g'), of all rows set to each level; by='g' would average the "
    "rows of each level as they are"
)
EFFECTS = "use slopes(), comparisons() and predictions(), with avg_ before them for averages"
PRIORS_ALONE = (
    "fit with prior_only=True, then posterior_predict(df), of the table; models have it by "
    "themselves, as those of sgmc.OLS"
)
BY_VALUES = "use plot_predictions('x'), or predictions() for the numbers"
RESIDUALS = "use plot_pp_check() and plot_loo_pit(), of 0/1 plot_calibration(), or residuals()"
LEVELS = "use avg_comparisons('g') for levels of a factor, hypothesis('a > b') for parameters"
ROC = "use calibration(), or scikit-learn's roc_auc_score of fittedvalues"

OTHERWISE = {  # of brms, bambi, ArviZ, PyMC, R and scikit-learn
    "posterior": f"{DRAWS}; to_arviz().posterior is ArviZ's",
    **dict.fromkeys(
        ("as_draws", "as_draws_array", "as_draws_matrix", "as_matrix", "samples", "trace"), DRAWS
    ),
    **dict.fromkeys(("nsamples", "ndraws", "nchains", "niterations"), f"{DRAWS}: see its shape"),
    **dict.fromkeys(("idata", "to_inference_data", "to_netcdf"), "use to_arviz()"),
    "sample_stats": "use chain_diagnostics(), or to_arviz()",
    "posterior_predictive": "use posterior_predict(), or to_arviz(posterior_predictive=True)",
    "log_likelihood": "use log_lik(), or llf at the posterior means",
    "observed_data": "use to_arviz().observed_data",
    "mean": "use params, or to_frame().mean()",
    **dict.fromkeys(("sd", "std"), "use bse"),
    "scale": "use params['sigma'] ** 2, the variance of the errors, of models that have sigma",
    **dict.fromkeys(
        "prior_predictive sample_prior_predictive prior_predict prior_draws".split(), PRIORS_ALONE
    ),
    "simulate": "use posterior_predict()",
    **dict.fromkeys(("interpret", "marginaleffects", "margeff"), EFFECTS),
    **dict.fromkeys(("info", "describe"), "use summary(), or to_frame() for a table of the draws"),
    "sample": "use to_frame(), a table of the draws, or resume() for more",
    "eval_measures": ACCURACY,
    "vif": UNINFORMED,
    **dict.fromkeys(("roc_auc", "roc_curve", "auc"), ROC),
    "to_latex": "use summary().as_latex(), or summary_frame().to_latex() for numbers alone",
    **dict.fromkeys(
        ("to_markdown", "as_markdown"), "use summary_frame().to_markdown(), or summary().as_html()"
    ),
    **{
        name: f"use summary_frame().{name}(), or to_frame() for the draws"
        for name in ("to_csv", "to_json", "to_dict", "to_excel")
    },
    "to_html": "use summary().as_html(), or summary_frame().to_html() for numbers alone",
    **dict.fromkeys(("pickle", "to_pickle", "dump"), "use save(path), and sgmc.load(path)"),
    **dict.fromkeys(("contrasts", "pairwise"), LEVELS),
    **dict.fromkeys(("plot_residuals", "qqplot", "plot_qq"), RESIDUALS),
    **dict.fromkeys(("cooks_distance", "influence", "hatvalues"), LEVERAGE),
    "confusion_matrix": f"{CLASSES}, and scikit-learn's confusion_matrix",
    **dict.fromkeys(
        ("isSingular", "is_singular"),
        "the rows sd(...) of summary_frame() have intervals, which show how near zero they are",
    ),
    **dict.fromkeys(("cross_validate", "cross_val_score"), "use kfold(data, k=5), or loo()"),
    **dict.fromkeys(
        ("feature_importances_", "feature_importance"),
        "use avg_comparisons(), or params of a formula with scale(x)",
    ),
    **dict.fromkeys(("extract", "get_samples", "chains", "stack", "num_samples"), DRAWS),
    "ppc": "use pp_check(), or plot_pp_check()",
    **dict.fromkeys(("pareto_k", "plot_khat", "psis", "psis_loo"), "use loo().pareto_k"),
    "log_odds": "use posterior_linpred(new), draws of each row's; params are log odds ratios",
    **dict.fromkeys(("graph", "plot_model"), "use plot_forest(), model.formula, prior_summary()"),
    **dict.fromkeys(("prob", "probability"), TESTS),
    "plot_prior": f"use prior_summary(); for outcomes {PRIORS_ALONE}",
    "median": "use to_frame().median()",
    "var": "use bse ** 2, or cov_params()",
    "rope": "use hypothesis('x1 > -0.1 & x1 < 0.1')",
    **dict.fromkeys(("odds_ratios", "odds_ratio"), "use summary(exponentiate=True)"),
    "thin": "give thin= to the fit, or take to_frame().iloc[::2]",
    "data": "results have no table: keep your own",
    "quantile": "use to_frame().quantile(), or conf_int()",
    **dict.fromkeys(("coef", "coefficients"), "use params; with group terms also ranef()"),
    "VarCorr": "use cov_re with group terms; their sds are rows sd(...) of summary_frame()",
    "ngrps": "the summary has the numbers of levels; ranef() has a row for each",
    "sigma": "use params['sigma'] of models that have one",
    **dict.fromkeys(("conditional_effects", "marginal_effects", "ggpredict"), BY_VALUES),
    **dict.fromkeys(("plot_conditional_effects", "partial_dependence"), BY_VALUES),
    "plot_slopes": "use slopes() for the numbers, or plot_comparisons()",
    "mcmc_plot": "use plot(), plot_trace() or plot_posterior()",
    **dict.fromkeys(("plot_density", "plot_dist"), "use plot_posterior()"),
    "plot_energy": "use chain_diagnostics()",
    "plot_ess": "use ess() and mcse()",
    "plot_parallel": "use plot_pair()",
    "plot_loo": "use plot_loo_pit(), or loo().pareto_k",
    "plot_diagnostics": "use plot_trace(), plot_calibration() and plot_pp_check()",
    **dict.fromkeys(
        ("loo_compare", "add_criterion", "loo_model_weights", "model_weights", "anova"),
        f"{COMPARE} or sgmc.model_weights()",
    ),
    **dict.fromkeys(("drop1", "add1", "step"), f"{COMPARE}, or prior='horseshoe'"),
    "loo_R2": "use r2(), or loo()",
    **dict.fromkeys(("loo_predict", "loo_epred"), "use loo_pit(), loo() or kfold()"),
    "posterior_average": "use sgmc.model_weights() and a mean of predict() by them",
    **dict.fromkeys(
        ("posterior_smooths", "conditional_smooths"), "use smooth() for numbers, or plot_smooth()"
    ),
    **dict.fromkeys(("emmeans", "lsmeans", "estimate_means", "marginal_means"), ADJUSTED_MEANS),
    "emtrends": "use avg_slopes('x', by='g')",
    **dict.fromkeys(("tidy", "broom"), "use summary_frame()"),
    "glance": "use summary(r2=True, elpd=True), or nobs, llf and loo()",
    "augment": "use fittedvalues, residuals() and predictions(), which have the labels of the rows",
    **dict.fromkeys(("icc", "performance_icc"), "use cov_re and params: a share of variances"),
    "control_params": "use chain_diagnostics()",
    **dict.fromkeys(("terms", "model_matrix", "design_info", "dm"), "use model.formula"),
    "bayes_factor_models": "use bayes_factor() for a coefficient, or loo()",
    **dict.fromkeys(("stancode", "make_stancode", "stanfit", "nuts_params"), STAN),
    **dict.fromkeys(("standata", "make_standata", "launch_shinystan"), STAN),
    **dict.fromkeys(("divergences", "check_hmc_diagnostics"), "use chain_diagnostics(), warnings"),
    **dict.fromkeys(("neff_ratio", "ess_bulk", "n_eff", "neff"), "use ess()"),
    "ess_tail": "use ess('tail')",
    **dict.fromkeys(
        ("predictive_interval", "predict_interval", "prediction_interval"),
        "use get_prediction(new).summary_frame()",
    ),
    "predictive_error": "use residuals()",
    "fitted": "use fittedvalues, predict(new) or get_prediction(new).summary_frame()",
    "fit": "this is the result of a fit: sgmc.logit(formula, data), or resume() for more draws",
    **dict.fromkeys(("prior", "get_prior", "default_prior"), "use prior_summary()"),
    **dict.fromkeys(("get_params", "set_params"), ESTIMATOR),
    "score": f"use loo(), r2() or calibration(); {ESTIMATOR}",
    **dict.fromkeys(("coef_", "intercept_"), f"use params, or params['x1']; {ESTIMATOR}"),
    **dict.fromkeys(("predict_proba", "predict_log_proba", "decision_function"), CLASSES),
    "classes_": CLASSES,
    **dict.fromkeys(("feature_names_in_", "n_features_in_"), "use model.exog_names"),
}

OF_TERMS = {  # what results have with some terms only
    **dict.fromkeys(("smooths", "smooth", "plot_smooth"), "smooths, such as s(x)"),
    **dict.fromkeys(
        "ranef ranef_draws plot_ranef random_effects cov_re fe_params bse_fe".split(),
        "group terms, such as (1 | g)",
    ),
}


FRAME = "summary_frame() has it: mean, mean_se, and ends of intervals"
ITS_DRAWS = "use res.posterior_epred(new) for draws of E[y | x], res.posterior_predict(new) for y"
NOT_KEPT = "results keep no model with data: it is what was given to the verb"
OF_PARTS: dict[str, dict[str, str]] = {  # what is asked of parts of results
    "Loo": {
        **dict.fromkeys(("elpd_loo", "elpd_waic", "estimates"), "use elpd and se"),
        **dict.fromkeys(("looic", "waic"), "use -2 * elpd"),
        **dict.fromkeys(("loo_i", "pointwise"), "use elpd_i, of the rows in rows"),
        "p_loo": "use p",
        "se_elpd_loo": "use se",
        **dict.fromkeys(("k", "diagnostics"), "use pareto_k, and good_k for its limit"),
        "n_data_points": "use n",
        "plot": "use res.plot_loo_pit() or res.plot_calibration()",
    },
    "Intervals": {
        **dict.fromkeys(("mean", "predicted", "predicted_value"), "use predicted_mean"),
        **dict.fromkeys(("se", "se_mean", "std", "sd", "var_pred_mean", "var_pred"), FRAME),
        **dict.fromkeys(("se_obs", "quantile", "to_frame", "values"), FRAME),
        "hdi": "use conf_int(level=0.9), or draws: res.posterior_epred(new)",
        "draws": ITS_DRAWS,
    },
    "PosteriorSummary": {
        "to_latex": "use as_latex()",
        "to_html": "use as_html()",
        **dict.fromkeys(
            ("as_markdown", "to_markdown"), "use res.summary_frame().to_markdown(), or as_html()"
        ),
        **dict.fromkeys(("to_csv", "to_frame"), "use as_csv(), or res.summary_frame()"),
    },
    "ModelInfo": {
        **dict.fromkeys(("exog", "endog", "data", "weights"), NOT_KEPT),
        "fit": "this is the model of a fit: res.resume(draws=1000), or call the verb again",
        "predict": "use res.predict(new)",
        **dict.fromkeys(("params", "nobs", "df_resid"), "results have it, as in res.nobs"),
        "n_obs": "use res.nobs",
        "k_params": "use len(res.params)",
        "link": "use family.link",
    },
}


def of_part(holder: Any, name: str) -> NoReturn:
    """Raise the AttributeError for a name that a part of results does not have: what to use, where
    the table has it.
    """
    unknown = f"{type(holder).__name__!r} object has no attribute {name!r}"
    for one in type(holder).__mro__:
        if told := OF_PARTS.get(one.__name__, {}).get(name):
            raise AttributeError(f"{unknown}; {told}")
    raise AttributeError(unknown + near(name, holder))


def attribute(results: Any, name: str) -> Any:
    """Return what results have by a name of another package.

    Raises
    ------
    AttributeError
        For other names; the message names what to use, where a table has it.
    """
    if name in SAME_ON_RESULTS:
        ours, how = SAME_ON_RESULTS[name]
        found = attrgetter(ours)(results)
        return with_arguments(found, how) if how else found
    if (told := on_results(name)) is not None:
        raise AttributeError(told)
    unknown = f"{type(results).__name__!r} object has no attribute {name!r}"
    if name in vars(results).get("names", ()):
        raise AttributeError(f"{unknown}; {of_parameter(name)}")
    raise AttributeError(unknown + near(name, results))


def of_parameter(name: object) -> str:
    """Return what has the mean and the draws of a parameter."""
    return f"use params[{name!r}], or to_frame()[{name!r}] for its draws"


def with_arguments(method: Any, how: Mapping[str, Any]) -> Any:
    """Return a method with other defaults, and with its documentation."""

    @wraps(method)
    def made(*given: Any, **named: Any) -> Any:
        return method(*given, **{**how, **named})

    return made


def near(name: str, holder: Any) -> str:
    """Return the end of a message about an unknown attribute: the public one that is near."""
    public = [] if name.startswith("_") else [one for one in dir(holder) if one[0] != "_"]
    return nearest(name, tuple(public))


def on_results(name: str) -> str | None:
    """Return the message for a name that results do not have; None for one that no table has."""
    if name in OF_TERMS:
        return f"{name} belongs to {OF_TERMS[name]}, and the model has none"
    if name in OTHERWISE:
        return f"{name} is not a name of results here; {OTHERWISE[name]}"
    if name not in WITHOUT_MEANING:
        return None
    said = (
        "is named otherwise"
        if WITHOUT_MEANING[name].startswith("it is")
        else "has no meaning for a posterior"
    )
    return f"{name} {said}; {WITHOUT_MEANING[name]}"


# ---- the module ----------------------------------------------------------------------------------

SEQUENTIAL = "use sgmc.ordinal(formula, data, kind='sequential')"
SAME_IN_MODULE = {
    **dict.fromkeys(("lm", "lmer", "linear", "linear_regression", "gaussian"), "ols"),
    **dict.fromkeys(("logistic", "logistic_regression", "bernoulli", "binomial"), "logit"),
    **dict.fromkeys(("nb", "negbin", "negative_binomial", "glm_nb", "nbinom"), "negativebinomial"),
    **dict.fromkeys(("multinomial", "multinom", "categorical", "softmax"), "mnlogit"),
    **dict.fromkeys(("polr", "clm", "cumulative", "ordered_logit", "cumlogit"), "ordinal"),
    **dict.fromkeys(("rq", "quantile_regression"), "quantreg"),
    **dict.fromkeys(("inverse_gaussian", "invgauss", "wald"), "inversegaussian"),
    **dict.fromkeys(
        ("zero_inflated", "zip", "zinb", "zeroinfl", "zero_inflated_poisson"), "zeroinflated"
    ),
    "hurdle_poisson": "hurdle",
    **dict.fromkeys(("glmer", "stan_glm"), "glm"),
    "Normal": "normal",
    "StudentT": "student_t",
    **dict.fromkeys(("HalfNormal", "halfnormal"), "half_normal"),
    **dict.fromkeys(("HalfStudentT", "half_student_t"), "half_t"),
    "Cauchy": "cauchy",
    "Exponential": "exponential",
    "LogNormal": "lognormal",
    "InverseGamma": "inverse_gamma",
    "Uniform": "uniform",
    "Dirichlet": "dirichlet",
    "Flat": "flat",
    "MvNormal": "mvnormal",
    **dict.fromkeys(("LKJ", "LKJCholeskyCov", "LKJCorr"), "lkj"),
    "double_exponential": "laplace",
    "loo_compare": "compare",
    **{f"{name}_regression": name for name in ("poisson", "gamma", "beta", "ordinal")},
}

VERB_OF_GROUPS = "group terms such as (1 | g) are part of any formula: sgmc.ols, sgmc.logit, ..."
HALF_CAUCHY = "use half_t(1, scale), which is the half-Cauchy"
WEIGHTED = (
    "weights= of sgmc.ols are frequencies; known standard errors of the outcomes are se=, and "
    "variances that differ have predictors, sigma='~ z'"
)
ESTIMATORS = "use sgmc.sklearn, or a verb with a formula, such as sgmc.logit('y ~ x', df)"
BY_RESULTS = "it is a method of results, as in sgmc.logit('y ~ x', df)"
BESIDE = "use pd.concat({'a': one.summary_frame(), 'b': other.summary_frame()}, axis=1)"
ABSORBED = (
    "effects of a factor are C(g), or (1 | g), in any formula; standard errors by groups are "
    "cov_type='cluster', groups='g'"
)
NO_OPTIONS = "there are no global options: give arguments in the call"
SAMPLERS = "use sampler=sgmc.NUTS(), or another class of samplers, in a fit"
PRIORS = (
    "use sgmc.normal(0, 1), sgmc.student_t(3, 0, 2.5), ... as in prior={'x': sgmc.normal(0, 1)}"
)

IN_MODULE = {
    **dict.fromkeys(
        ("student", "t", "t_distribution"),
        "the prior is sgmc.student_t(df, location, scale), the regression sgmc.rlm(df=None)",
    ),
    **dict.fromkeys(("sratio", "cratio", "sequential"), SEQUENTIAL),
    "acat": f"models of adjacent categories are not here: {SEQUENTIAL}",
    "brm": "a verb is a family: sgmc.ols, sgmc.logit, ..., or sgmc.glm(family=)",
    **dict.fromkeys(("bf", "Formula"), "a formula is text: sgmc.ols('y ~ x', df)"),
    **dict.fromkeys(("as_factor", "factor", "C"), "write C(x) in the formula: 'y ~ C(x)'"),
    **dict.fromkeys(("get_prior", "default_prior"), "use prior_summary() of a fit"),
    **dict.fromkeys(
        ("make_stancode", "stancode", "make_standata"), "there is no Stan program; see sgmc.Model"
    ),
    **dict.fromkeys(
        ("beta_binomial", "betabinom"), "add effects of rows instead: 'cbind(k, m) ~ x + (1 | row)'"
    ),
    **dict.fromkeys(
        ("tweedie", "skew_normal", "gam_check"), "it is not here; sgmc.Model takes any likelihood"
    ),
    **dict.fromkeys(
        "stan_glmer stan_lmer mixedlm MixedLM BayesMixedGLM lme mixed".split(), VERB_OF_GROUPS
    ),
    **dict.fromkeys(("gam", "bam", "gamm"), "smooths such as s(x) are part of any formula"),
    **dict.fromkeys(("GLM", "Glm"), "use sgmc.glm(formula, data, family=), or a class: sgmc.Logit"),
    **dict.fromkeys("Prior prior set_prior priors PriorSpec dist distributions".split(), PRIORS),
    **dict.fromkeys(("half_cauchy", "HalfCauchy"), HALF_CAUCHY),
    **dict.fromkeys(
        ("coxph", "PHReg"), "use sgmc.survreg, of parametric times; Cox's model is not in here"
    ),
    **dict.fromkeys(("LogisticRegression", "LinearRegression", "Ridge", "Lasso"), ESTIMATORS),
    **dict.fromkeys(("BayesianRidge", "GammaRegressor", "PoissonRegressor"), ESTIMATORS),
    **dict.fromkeys(("wls", "WLS", "gls", "GLS"), WEIGHTED),
    "from_formula": "use a verb, sgmc.ols('y ~ x', df); classes such as sgmc.OLS have it, too",
    "interpret": f"{BY_RESULTS}: slopes(), comparisons(), predictions()",
    **dict.fromkeys(("set_option", "set_options", "options"), NO_OPTIONS),
    **dict.fromkeys(
        "modelsummary summary_col etable table stargazer texreg tab_model".split(), BESIDE
    ),
    **dict.fromkeys(("plot_model", "coefplot", "plot_coefs"), "use plot_forest() of results"),
    **dict.fromkeys("feols feglm fepois felm PanelOLS areg xtreg".split(), ABSORBED),
    **dict.fromkeys(
        ("iv2sls", "IV2SLS", "ivreg"), "instrumental variables are not part of this package"
    ),
    **dict.fromkeys(
        ("performance", "model_performance"), "use pp_check(), loo() and r2() of results"
    ),
    "help": "use help(sgmc.logit), or `sgmc describe logit` in a shell",
    **dict.fromkeys(
        "BayesianRegressor BayesianClassifier BayesianLinearRegression "
        "BayesianLogisticRegression".split(),
        "estimators are in sgmc.sklearn, such as sgmc.sklearn.BayesianLinearRegression()",
    ),
    "metrics": "use calibration() and loo() of results, or scikit-learn's metrics of predict()",
    **dict.fromkeys(
        ("read", "read_table"),
        "sgmc.load reads a saved fit, sgmc.open a prepared file; data of a verb may be a path",
    ),
    **dict.fromkeys(
        ("families", "family"),
        "a family is a verb, such as sgmc.poisson; `sgmc families` in a shell lists them",
    ),
    "sample_posterior_predictive": "use posterior_predict() of results",
    **dict.fromkeys(("nuts", "hmc", "MCMC", "mcmc"), SAMPLERS),
    **dict.fromkeys(
        ("weibull", "weibull_aft"), "use sgmc.survreg(formula, data), of times to an event"
    ),
    **dict.fromkeys(
        ("concat", "combine_models"), "chains are those of one fit: resume() of results adds draws"
    ),
    **dict.fromkeys(("regression", "regress"), "use a verb: sgmc.ols, sgmc.logit, ..."),
    **dict.fromkeys(
        "loo kfold slopes comparisons predictions r2 summary predict pp_check bayes_factor "
        "hypothesis ess rhat ranef residuals plot_trace plot_posterior plot_forest".split(),
        BY_RESULTS,
    ),
    **dict.fromkeys(("read_csv", "read_parquet"), "give a verb the path as its data"),
    **dict.fromkeys(("set_seed", "seed"), "give seed= in the call"),
    "save": "it is a method of results; sgmc.load reads the file",
    **dict.fromkeys(("load_dataset", "get_rdataset"), "use sgmc.datasets.load(name)"),
    "Surv2": "use sgmc.Surv",
}
IN_DATASETS = {
    **dict.fromkeys(
        "load_iris load_diabetes load_data load_dataset get fetch get_rdataset".split(),
        "use sgmc.datasets.load(name)",
    ),
    **dict.fromkeys(("list", "list_datasets", "available", "all"), "use sgmc.datasets.names()"),
}


IN_SKLEARN = {  # of `sgmc.sklearn`
    **dict.fromkeys(
        ("LogisticRegression", "SGDClassifier", "LogisticRegressionCV", "RidgeClassifier"),
        "use BayesianLogisticRegression, of two classes or more",
    ),
    **dict.fromkeys(
        ("LinearRegression", "BayesianRidge", "Ridge", "Lasso", "ElasticNet", "SGDRegressor"),
        "use BayesianLinearRegression; a penalty is its prior=",
    ),
    **{
        name: f"use Bayesian{name}"
        for name in ("PoissonRegressor", "GammaRegressor", "NegativeBinomialRegressor")
    },
    "OrdinalClassifier": "use BayesianOrdinalClassifier",
    "ARDRegression": "use BayesianLinearRegression(prior='horseshoe')",
}

SAME_FAMILIES = {  # of `glm`
    "bernoulli": "binomial",
    "normal": "gaussian",
    "nb": "negativebinomial",
    "negbin": "negativebinomial",
    "negbinomial": "negativebinomial",
    "nbinom": "negativebinomial",
    "wald": "inversegaussian",
    "invgauss": "inversegaussian",
}
FAMILIES_ELSEWHERE = {  # verbs of their own
    **dict.fromkeys(
        ("t", "student", "studentt"),
        "use sgmc.rlm(formula, data, df=None), which estimates the degrees of freedom",
    ),
    **dict.fromkeys(("multinomial", "categorical", "softmax"), "use sgmc.mnlogit(formula, data)"),
    **dict.fromkeys(
        ("cumulative", "ordinal", "ordered", "polr"), "use sgmc.ordinal(formula, data)"
    ),
    **dict.fromkeys(("sratio", "cratio", "sequential"), SEQUENTIAL),
    **dict.fromkeys(
        ("zeroinflatedpoisson", "zip", "zinb", "zeroinflatednegbinomial"),
        "use sgmc.zeroinflated(formula, data)",
    ),
    **dict.fromkeys(("hurdle", "hurdlepoisson"), "use sgmc.hurdle(formula, data)"),
    **dict.fromkeys(("quantile", "asymlaplace"), "use sgmc.quantreg(formula, data, tau=)"),
    **dict.fromkeys(("weibull", "lognormal", "exponential"), "use sgmc.survreg(formula, data)"),
    **dict.fromkeys(
        ("quasibinomial", "quasipoisson", "quasi"),
        "there is no quasi-likelihood: use cov_type='robust', or negativebinomial for counts",
    ),
    "tweedie": "it is not part of this package",
}


def in_module(name: str) -> str | None:
    """Return the message for a name that the module does not have, None where no table has it."""
    told = IN_MODULE.get(name)
    if told is None and (of_results := OTHERWISE.get(name) or WITHOUT_MEANING.get(name)):
        told = f"of results, {of_results}"
    elif told is None and name in SAME_ON_RESULTS:
        told = BY_RESULTS
    return f"sgmc has no {name!r}: {told}" if told else None


REGRESSIONS_OF_PRIORS = {  # what is meant by a prior's name with a formula
    "normal": "sgmc.ols(formula, data)",
    "lognormal": "sgmc.ols('log(y) ~ x', data), or sgmc.survreg of times to an event",
    "exponential": "sgmc.survreg(formula, data), of times to an event",
    **dict.fromkeys(("student_t", "cauchy"), "sgmc.rlm(formula, data, df=None)"),
    "laplace": "sgmc.quantreg(formula, data, tau=0.5)",
}


# ---- arguments -----------------------------------------------------------------------------------

SAME_ARGUMENTS = {  # of fits
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
    **dict.fromkeys(("cores", "n_jobs"), "threads"),
    **dict.fromkeys(("progressbar", "progress_bar"), "progress"),
    "priors": "prior",
    **dict.fromkeys(("freq_weights", "sample_weight"), "weights"),
    **dict.fromkeys(("n_chains", "num_chains", "nchains"), "chains"),
    **dict.fromkeys(("num_samples", "n_samples", "n_draws", "num_draws"), "draws"),
    **dict.fromkeys(("num_warmup", "n_warmup", "burnin", "burn_in"), "warmup"),
    **dict.fromkeys(("initvals", "inits", "start_params", "initial_values"), "init"),
}

FORMULA_HAS = "write it in the formula"
OF_NUTS = "it is of a sampler: sampler=sgmc.NUTS(target_accept=0.9)"
PENALTY = "a penalty is a prior: prior='laplace', 'horseshoe' or sgmc.ridge()"
QUIET = "use progress=False for no progress, progress=True for a bar"

ARGUMENTS = {
    **dict.fromkeys(("iter", "niter"), "use draws=, kept draws per chain after warmup="),
    **dict.fromkeys(("verbose", "disp", "refresh", "silent", "quiet"), QUIET),
    **dict.fromkeys(("maxiter", "max_iter", "tol"), "use draws=, accuracy= or time_limit="),
    **dict.fromkeys(("method", "algorithm", "solver", "nuts_sampler", "backend"), "use sampler="),
    **dict.fromkeys(("target_accept", "adapt_delta", "max_treedepth", "control"), OF_NUTS),
    **dict.fromkeys(("learning_rate", "lr", "stepsize"), "use step_size="),
    "minibatch_size": "use batch_size=",
    **dict.fromkeys(("epochs", "n_epochs"), "use max_data_passes="),
    "var_weights": "weights= are frequencies; known standard errors are se=",
    "family": "a verb is a family; sgmc.glm(formula, data, family=, link=) takes both",
    "link": "a verb has one link; sgmc.glm(formula, data, family=, link=) takes both",
    **dict.fromkeys(("re_formula", "vc_formula", "random"), f"{FORMULA_HAS}: (1 | g)"),
    **dict.fromkeys(("fit_intercept", "hasconst", "intercept"), f"{FORMULA_HAS}: 'y ~ x - 1'"),
    **dict.fromkeys(("penalty", "C", "l1_ratio", "lambda_", "lam"), PENALTY),
    **dict.fromkeys(("na_action", "na.action", "dropna", "drop_na"), "use missing='drop'"),
    "robust": "use cov_type='robust', or sgmc.rlm for outliers",
    "cov_kwds": "use groups= with cov_type='cluster'",
    "sample_prior": "use prior_only=True",
    "nsamples": "use draws=",
    "alpha": "the level of intervals is summary(level=0.9); a penalty is a prior",
    "contrasts": f"{FORMULA_HAS}: C(g, Sum), or C(g, Treatment('a'))",
    **dict.fromkeys(("inference_method", "inference"), "use sampler="),
    **dict.fromkeys(
        ("noncentered", "center_predictors", "centered"),
        "nothing to choose: coordinates are chosen by the fit, predictors are centred inside",
    ),
    **dict.fromkeys(
        ("save_pars", "return_inferencedata", "idata_kwargs"),
        "all draws are kept; to_arviz() of the result converts them",
    ),
    "thinning": "use thin=",
    "device": "sgmc runs on CPUs; use threads=",
    "file": "use save() of the results, or checkpoint= for a run that goes on",
    **dict.fromkeys(("q", "quantile", "quantiles"), "sgmc.quantreg has tau="),
    **dict.fromkeys(
        ("cluster", "clusters", "vcov"),
        "use cov_type='cluster' with groups='g', cov_type='robust', or 'HC3'",
    ),
    **dict.fromkeys(
        ("REML", "reml"), "nothing to choose: sds of groups have priors, and are sampled"
    ),
}

INTERVALS = ("ci", "prob", "hdi_prob", "ci_prob", "cred_mass", "conf_level", "credible_level")

# of methods of results: theirs -> ours, the first that the method has
NEW_ROWS, CHOSEN = ("exog", "data", "new_data"), ("cols", "names", "variables")
SAME_OF_METHODS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("newdata", "new_data", "data", "X", "df", "exog"), NEW_ROWS),
    **dict.fromkeys(("var_names", "pars", "parameters", "params", "parm", "variable"), CHOSEN),
    **dict.fromkeys(("ndraws", "n_draws", "nsamples", "n_samples", "num_samples"), ("draws",)),
    "num_pp_samples": ("draws",),
    **dict.fromkeys(("random_state", "random_seed"), ("seed",)),
    **dict.fromkeys(("dydx", "wrt"), ("variables",)),
    "K": ("k",),
}

SCALE = "predict() is on the scale of outcomes, posterior_linpred() on that of the link"
INTERVAL = "get_prediction(new).summary_frame(level=0.9) has standard errors and intervals"
EFFECTS_LEFT_OUT = "with group terms, random=False predicts at effects of zero"
ROUNDING = "use summary_frame().round(3)"
OF_METHODS = {  # of all methods, or as method.argument of one
    **dict.fromkeys(("type", "which", "linear", "kind", "scale"), SCALE),
    **dict.fromkeys(("return_std", "se_fit", "interval"), INTERVAL),
    **{
        f"{method}.{name}": INTERVAL
        for method in ("predict", "get_prediction")
        for name in ("level", "alpha", *INTERVALS)
    },
    **dict.fromkeys(("re_formula", "include_group_specific", "re_form"), EFFECTS_LEFT_OUT),
    **dict.fromkeys(("allow_new_levels", "sample_new_groups"), "use new_levels="),
    **dict.fromkeys(("digits", "round_to", "float_format", "precision", "fmt"), ROUNDING),
    **{f"summary.{name}": "use summary_frame().loc[names]" for name in ("cols", "var_names")},
    "summary.kind": "summary_frame() has all numbers; see also ess(), mcse() and rhat()",
    **dict.fromkeys(("odds_ratio", "odds_ratios", "eform", "exp"), "use exponentiate=True"),
    "plot_predictions.condition": "name variables, as in plot_predictions('x', by='g')",
    "hypothesis": "table.draws, (row, draw), of what is returned has the draws of any difference",
    **dict.fromkeys(("atexog", "at_exog"), "use avg_slopes(data=), a table of the values"),
    "what": "use which='sigma' of models with predictors of it; get_prediction(new) has sds",
    **{
        f"{method}.{name}": "use plot_pp_check(kind='density'), 'rootogram' or 'groups'"
        for method in ("pp_check", "plot_pp_check")
        for name in ("type", "kind")
    },
    **{
        f"{method}.{name}": "groups= is a number of bins; compare a statistic, or means by a "
        "column, with those of posterior_predict()"
        for method in ("pp_check", "plot_pp_check")
        for name in ("stat", "group", "by")
    },
    "pointwise": "loo().elpd_i and loo().pareto_k are by row",
    **dict.fromkeys(("figsize", "backend", "color", "colors"), "draw on Axes of your own with ax="),
    "combined": "to_frame() has the draws of all chains",
    "transform": "use exponentiate=True, or to_frame() for draws to transform",
}

# of priors: ours -> theirs; of one function before those of all
SAME_OF_PRIORS: dict[str, dict[str, tuple[str, ...]]] = {
    "": {
        "location": ("mu", "loc", "mean", "m"),
        "scale": ("sigma", "sd", "std", "stddev"),
        "df": ("nu",),
        "low": ("lower", "lb", "minimum"),
        "high": ("upper", "ub", "maximum"),
    },
    "laplace": {"scale": ("b",)},
    "cauchy": {"location": ("alpha",), "scale": ("beta",)},
    "exponential": {"rate": ("lam", "lambda_")},
    "gamma": {"shape": ("alpha", "a"), "rate": ("beta",)},
    "inverse_gamma": {"shape": ("alpha",), "scale": ("beta",)},
    "lkj": {"eta": ("concentration",)},
}


# ---- the command line ----------------------------------------------------------------------------

IN_PYTHON = "it is in Python: res = sgmc.logit('y ~ x', df), then res.{}"
COMMANDS_ELSEWHERE = {
    **dict.fromkeys(
        ("summary", "show", "print"),
        "only `sgmc predict` reads a fit; in Python, sgmc.load('a.sgmcfit').summary()",
    ),
    "compare": IN_PYTHON.format("loo(), and sgmc.compare(a=res, b=other)"),
    "plot": IN_PYTHON.format("plot(), res.plot_forest(), ..."),
    **dict.fromkeys(("cv", "kfold"), IN_PYTHON.format("kfold(df)")),
    "help": "use `sgmc --help`, or `sgmc describe NAME`",
    "version": "use `sgmc --version`",
}
OPTIONS_ELSEWHERE = {  # of ``sgmc fit``, or as command.option of another
    **dict.fromkeys(("o", "out", "output"), "--save FIT writes the fit; results are printed"),
    **{f"predict.{name}": "use --to FILE" for name in ("o", "out", "output", "save")},
    **dict.fromkeys(
        ("f", "formula", "d", "data"), "FORMULA and DATA have no options: sgmc fit 'y ~ x' t.csv"
    ),
    **dict.fromkeys(
        ("level", "alpha", "prob"),
        "intervals are of 95 %; in Python, summary(level=0.9), and `sgmc predict --intervals` has "
        "--level",
    ),
    **dict.fromkeys(
        ("quiet", "verbose", "silent", "q", "v"),
        "progress goes to the standard error, and to terminals alone",
    ),
    "format": "use --json or --csv",
    **{name: IN_PYTHON.format(f"summary({name}=True)") for name in ("exponentiate", "r2", "elpd")},
    **{name: IN_PYTHON.format(f"{name}()") for name in ("loo", "kfold", "plot")},
}


def renamed(called: str, given: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return arguments of a fit by our names.

    Parameters
    ----------
    called : str
        What the user called, such as ``"logit()"``.
    given : dict
    known : collection of str
        Names that it takes, which are never replaced.

    Raises
    ------
    TypeError
        If one is given by both names.
    """
    out: dict[str, Any] = {}
    for name, value in given.items():
        ours = name if name in known else SAME_ARGUMENTS.get(name, name)
        if ours != name and ours not in known:  # it takes neither
            ours = name
        if ours in out or ours != name and ours in given:
            raise TypeError(f"{called} got {name!r}, which is {ours!r} here, more than once")
        # scikit-learn's and joblib's number for all cores
        all_cores = ours == "threads" and ours != name and value == -1
        out[ours] = None if all_cores else value
    return out
