"""Names of statsmodels' results that have no meaning for a posterior, or another name here, and
what to use instead.
"""

TESTS = "use prob_positive, or hypothesis('x1 > 0')"
JOINT = "use hypothesis(), which takes linear inequalities joined by & and |, or contrast()"
ACCURACY = "compare posteriors by predictive accuracy instead: loo(), sgmc.compare()"
SHARE = "use r2(), the Bayesian one, or loo() for predictive accuracy"
CLASSICAL = "the posterior's covariance is cov_params(), of coefficients whose prior counts"
SAMPLING = "draws come by sampling; see diagnostics(), chain_diagnostics() and warnings"
LEVERAGE = "loo(pointwise=True).pareto_k says how much single rows decide"
PLOTS = "use plot_pp_check(), or resid_pearson against what you like"

INSTEAD = {
    **dict.fromkeys(("pvalues", "f_pvalue", "llr_pvalue", "fvalue"), TESTS),
    **dict.fromkeys(("tvalues", "zvalues"), "use prob_positive, or params / bse if you must"),
    **dict.fromkeys(
        (
            "f_test",
            "wald_test",
            "wald_test_terms",
            "t_test_pairwise",
            "score_test",
            "el_test",
            "conf_int_el",
            "compare_f_test",
            "compare_lm_test",
            "compare_lr_test",
            "llr",
            "im_ratio",
        ),
        JOINT,
    ),
    **dict.fromkeys(
        ("aic", "bic", "aicc", "bic_llf", "bic_deviance", "info_criteria", "waic"), ACCURACY
    ),
    **dict.fromkeys(("prsquared", "pseudo_rsquared", "rsquared", "rsquared_adj"), SHARE),
    **dict.fromkeys(
        (
            "normalized_cov_params",
            "cov_type",
            "cov_kwds",
            "get_robustcov_results",
            "use_t",
            "HC0_se",
            "HC1_se",
            "HC2_se",
            "HC3_se",
            "cov_HC0",
            "cov_HC1",
            "cov_HC2",
            "cov_HC3",
        ),
        CLASSICAL,
    ),
    **dict.fromkeys(
        (
            "converged",
            "fit_history",
            "method",
            "mle_retvals",
            "mle_settings",
            "initialize",
            "set_null_options",
        ),
        SAMPLING,
    ),
    **dict.fromkeys(("get_influence", "get_hat_matrix_diag", "outlier_test"), LEVERAGE),
    **dict.fromkeys(
        ("plot_added_variable", "plot_ceres_residuals", "plot_partial_residuals"), PLOTS
    ),
    **dict.fromkeys(
        (
            "resid_anscombe",
            "resid_anscombe_scaled",
            "resid_anscombe_unscaled",
            "resid_working",
            "resid_generalized",
            "wresid",
        ),
        "use resid_response, resid_pearson or resid_deviance",
    ),
    **dict.fromkeys(
        (
            "mse_model",
            "mse_resid",
            "mse_total",
            "ssr",
            "centered_tss",
            "uncentered_tss",
            "pearson_chi2",
            "scale",
            "llf_scaled",
        ),
        "use deviance, or sums of resid_response and resid_pearson",
    ),
    **dict.fromkeys(
        ("eigenvals", "condition_number"),
        "a ConditionWarning says which directions the data do not inform",
    ),
    "resid_dev": "it is resid_deviance here",
    "resid": "it is resid_response here",
    "mu": "it is fittedvalues here",
    "null": "use null_deviance, or fit 'y ~ 1' and sgmc.compare()",
    "llnull": "use null_deviance, or fit 'y ~ 1' and sgmc.compare()",
    "get_distribution": "use posterior_predict(), which has the coefficients' uncertainty too",
    "pred_table": "use pp_check(), or predict() > 0.5 against the outcomes",
}

OF_TERMS = {  # what results have with some terms alone
    **dict.fromkeys(("smooths", "smooth", "plot_smooth"), "smooths, such as s(x)"),
    **dict.fromkeys(
        (
            "ranef",
            "ranef_draws",
            "plot_ranef",
            "random_effects",
            "cov_re",
            "fe_params",
            "bse_fe",
        ),
        "group terms, such as (1 | g)",
    ),
}


def refusal(name):
    """The message for a name that is not here: one of statsmodels, or one that belongs to terms
    which the model lacks; None where it is neither.
    """
    if name in OF_TERMS:
        return f"{name} belongs to {OF_TERMS[name]}, and the model has none"
    if name not in INSTEAD:
        return None
    said = (
        "is named otherwise"
        if INSTEAD[name].startswith("it is")
        else "has no meaning for a posterior"
    )
    return f"{name} {said}; {INSTEAD[name]}"
