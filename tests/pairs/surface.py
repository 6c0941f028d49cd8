"""Every public name of results: compared with the reference, or why it needs none."""

COMPARED = {  # by which check of `checks`, or test of `test_alone`
    "predictions": "predict get_prediction fittedvalues zero_probability dispersion "
    "posterior_epred posterior_linpred",
    "effects": "predictions avg_predictions comparisons avg_comparisons slopes avg_slopes "
    "get_margeff",
    "densities": "log_lik resid_response residuals resid_pearson r2 llf",
    "simulated": "posterior_predict",
    "moments": "params bse cov_params conf_int prob_positive prob_direction summary_frame to_frame "
    "draws flat flat_weights weights linear contrast t_test hypothesis nobs df_model df_resid "
    "k_constant fe_params bse_fe names",
    "priors": "prior_summary priors",
    "levels": "ranef ranef_draws random_effects cov_re curve",
    "alone": "loo kfold reloo resume update save load",
}
NO_REFERENCE = {
    "words about other numbers": "summary summary2 header warnings verdict",
    "figures of compared numbers": "plot plot_acf plot_calibration plot_comparisons plot_effects "
    "plot_forest plot_loo_pit plot_pair plot_posterior plot_pp_check plot_predictions plot_rank "
    "plot_trace plot_ranef plot_smooth",
    "of the chains, not of the regression; tests/diagnostics": "accuracy arbiter chain_diagnostics "
    "diagnostics ess rhat mcse tail_index gradient_noise half_step ksd ksd_test fssd scored_draws "
    "thin_stein zv_means expect path_summary skeleton sampling_threshold judged_by "
    "interrupted starts step_size sampler seed tuning warmup memory",
    "reweights compared log densities; tests/results": "calibration loo_pit pp_check sensitivity",
    "of densities of draws; tests/results": "bayes_factor inclusion",
    "deviance of saturated models; tests/families": "deviance null_deviance resid_deviance",
    "of survival times; tests/survival": "survival quantiles resid_cox_snell",
    "of smooths, by the curve that is compared": "smooth smooths curve_draws freedom",
    "a container": "model cov_type to_arviz remove_data",
    "parts of the above that are not for users": "besides of_fit stand_in population_rows "
    "table_rows left_out check_factor check_groups columns_of effects_of_levels index_names "
    "auxiliary_at banked_dataset effects_at_draws effects_of_new level_effects levels_to_save "
    "fixed_rows kept_numbers moments_of_effects new_rows of_known_or_new prior_units "
    "parameter_draws rows_of_columns rows_of_fit saved_effects whole",
}


def names(table):
    """All names of a table."""
    return [name for some in table.values() for name in some.split()]
