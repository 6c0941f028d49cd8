"""Predictors of a second parameter for users: formulas, predictions of it, effects on it, files,
changed formulas, refusals.
"""

import pickle

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError, NotSupported
from sgmc.formula.outside import formula as outside

from .cases import FORMULAS, LAWS, fitted, table

TABLE = table("ols")
COUNTS = table("negativebinomial")


def of(formula="y ~ x", sigma="~ z", frame=TABLE, **how):
    """A quick fit."""
    return sgmc.ols(formula, frame, sigma=sigma, **{"seed": 1, **how})


def sigmas(results, frame):
    """Draws (draw, row) of sigma of "~ z", by hand."""
    c = results.flat[:, -2:]
    return np.exp(c[:, :1] + c[:, 1:] * frame.z.to_numpy())


def test_names_models_and_titles():
    results = fitted("ols")
    assert results.names == ["Intercept", "g[T.v]", "x", *(f"sigma:{k}" for k in (
        "Intercept", "g[T.v]", "z"))]  # fmt: skip
    assert results.df_model == 4 and isinstance(results.model.kind, type)
    made = sgmc.OLS.from_formula("y ~ x", TABLE, sigma="~ z")
    assert isinstance(made, sgmc.OLS)
    np.testing.assert_array_equal(made.fit(seed=1).draws, of().draws)
    glm = sgmc.glm("y ~ x", TABLE, family="gaussian", sigma="~ z", seed=1)
    np.testing.assert_array_equal(glm.draws, of().draws)
    assert of("y ~ 0 + x", "~ 0 + z").names == ["x", "sigma:z"]
    text = " ".join(str(of().summary()).split())
    assert "Linear with predictors of sigma" in text and "y ~ x, sigma ~ z" in text
    assert "sigma:... are of log sigma: exp of a slope is a ratio of sigmas" in text


def test_ratios_are_those_of_coefficients_of_logs():
    """Of normal outcomes those of sigma alone; of positive ones also those of means."""
    found = of().summary_frame(exponentiate=True)
    assert list(found.index) == ["sigma:Intercept", "sigma:z"]
    middle = np.exp(np.median(of().flat[:, -1]))
    assert found["ratio"]["sigma:z"] == pytest.approx(middle, rel=1e-9)
    lines = str(of().summary(exponentiate=True)).splitlines()
    (line,) = [one for one in lines if one.startswith("sigma:z")]
    assert float(line.split()[1]) == pytest.approx(middle, rel=1e-3)
    assert len(fitted("gamma").summary_frame(exponentiate=True)) == 6


def test_priors_of_log_sigma_have_no_unit_of_the_outcome():
    """At log sd(y), with 2.5, whatever the unit of y; slopes 2.5 an sd of z."""
    frame = TABLE.assign(y=40 * TABLE.y)
    found = of(frame=frame).prior_summary().used
    level = np.log(np.std(frame.y))
    assert found["sigma:Intercept"] == f"normal({level:.4g}, 2.5)"
    assert found["sigma:z"] == f"normal(0, {2.5 / np.std(TABLE.z, ddof=1):.4g})"
    assert found["x"] == f"normal(0, {2.5 * np.std(frame.y) / np.std(TABLE.x, ddof=1):.4g})"
    tight = of(prior={"sigma:z": sgmc.normal(0, 0.02), "*": sgmc.normal(0, 5)})
    assert abs(tight.params["sigma:z"]) < 0.1 < of().params["sigma:z"]


@pytest.mark.parametrize("formula", ["y ~ x", "y ~ x + offset(x)"])
def test_predictions_of_sigma_are_averages_of_its_draws(formula):
    """Of the fit, of new rows, and with intervals; an offset has no part in it."""
    results = of(formula)
    right = sigmas(results, TABLE)
    np.testing.assert_allclose(results.predict(which="sigma"), right.mean(axis=0), rtol=1e-9)
    few = TABLE[:9]
    np.testing.assert_allclose(
        results.predict(few, which="sigma"), right.mean(axis=0)[:9], rtol=1e-9
    )
    frame = results.get_prediction(few, which="sigma").summary_frame(0.1)
    assert list(frame) == ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"]
    ends = np.quantile(right[:, :9], [0.05, 0.95], axis=0)
    np.testing.assert_allclose(frame.iloc[:, 2:].T, ends, rtol=1e-9)
    np.testing.assert_allclose(frame.mean_se, right[:, :9].std(axis=0, ddof=1), rtol=1e-9)


def test_files_of_new_rows_have_predictions_of_sigma(tmp_path):
    results, place = of(offset="x"), tmp_path / "rows.csv"
    TABLE.to_csv(place, index=False)
    found = results.predict(str(place), which="sigma")
    np.testing.assert_allclose(found, sigmas(results, TABLE).mean(axis=0), rtol=1e-9)


def test_effects_on_sigma():
    """d sigma / dz = gamma sigma, averages over rows of each draw; x has no part in it."""
    results = of()
    draws = sigmas(results, TABLE)
    right = (draws * results.flat[:, -1:]).mean(axis=1)
    found = results.avg_slopes("z", of="sigma")
    np.testing.assert_allclose(found.estimate, right.mean(), rtol=1e-3)
    np.testing.assert_allclose(found.std_error, right.std(ddof=1), rtol=0.02)
    assert results.avg_slopes("x", of="sigma").estimate[0] == 0
    each = results.slopes("z", of="sigma")
    np.testing.assert_allclose(
        each.estimate, (draws * results.flat[:, -1:]).mean(axis=0), rtol=1e-6
    )
    ratio = results.avg_comparisons({"z": [0, 1]}, of="sigma", comparison="ratio")
    np.testing.assert_allclose(ratio.estimate, np.exp(results.flat[:, -1]).mean(), rtol=1e-9)
    link = results.predictions(of="sigma", type="link")
    np.testing.assert_allclose(link.estimate, np.log(draws).mean(axis=0), rtol=1e-9)
    average = results.avg_predictions(of="sigma").estimate
    np.testing.assert_allclose(average, draws.mean(), rtol=1e-4)
    mean = results.avg_slopes("x").estimate[0]
    assert mean == pytest.approx(results.params["x"], rel=1e-9)


def test_a_variable_of_both_parts_moves_in_both():
    results = of("y ~ x", "~ x")
    c = results.flat
    sigma = np.exp(c[:, 2:3] + c[:, 3:] * TABLE.x.to_numpy())
    found = results.avg_slopes("x", of="sigma").estimate[0]
    assert found == pytest.approx((sigma * c[:, 3:]).mean(), rel=1e-3)
    assert results.avg_slopes("x").estimate[0] == pytest.approx(c[:, 1].mean(), rel=1e-3)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.InfluenceWarning")
def test_second_parameters_of_all_families(name):
    results, law = fitted(name), LAWS[name]
    c = results.flat[:, 3:]
    d = table(name)
    right = np.exp(c[:, :1] + c[:, 1:2] * (d.g == "v").to_numpy(float) + c[:, 2:] * d.z.to_numpy())
    np.testing.assert_allclose(results.predict(which=law.parameter), right.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(results.predict(d[:7]), results.fittedvalues[:7], rtol=1e-7)
    drawn = results.posterior_predict(seed=3)
    assert np.isfinite(drawn).all()
    if law.verb != "survreg":
        assert 0.01 < results.pp_check(seed=3).p["sd"] < 0.99
    assert results.loo().elpd == pytest.approx(results.log_lik().mean(axis=0).sum(), abs=20)
    if law.verb == "survreg":
        half = results.quantiles(0.5)["quantile"]
        np.testing.assert_allclose(half, results.fittedvalues, rtol=1e-7)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.InfluenceWarning")
def test_residuals_have_the_rows_own_sigma():
    results = of()
    b = results.flat[:, :, None]
    right = (TABLE.y.to_numpy() - b[:, 0] - b[:, 1] * TABLE.x.to_numpy()) / sigmas(results, TABLE)
    np.testing.assert_allclose(results.resid_pearson, right.mean(axis=0), rtol=1e-9, atol=1e-9)
    table = sgmc.compare(both=of().loo(), one=sgmc.ols("y ~ x", TABLE, seed=1).loo())
    assert table.index[0] == "both"


def test_arguments_are_the_bar():
    """dispersion= of negativebinomial and zero= of zero-inflated counts and hurdles."""
    how = dict(seed=1)
    bar = sgmc.negativebinomial("y ~ x | z", COUNTS, **how)
    word = sgmc.negativebinomial("y ~ x", COUNTS, dispersion="~ z", **how)
    np.testing.assert_array_equal(bar.draws, word.draws)
    np.testing.assert_array_equal(word.dispersion(), word.predict(which="dispersion"))
    for verb in (sgmc.zeroinflated, sgmc.hurdle):
        bar, word = verb("y ~ x | z", COUNTS, **how), verb("y ~ x", COUNTS, zero="~ z", **how)
        np.testing.assert_array_equal(bar.draws, word.draws)
        own = word.predict(which="zero")
        np.testing.assert_array_equal(word.zero_probability(own=True), own)
        c = word.flat
        right = 1 / (1 + np.exp(-c[:, 2:3] - c[:, 3:] * COUNTS.z.to_numpy()))
        np.testing.assert_allclose(own, right.mean(axis=0), rtol=1e-9)


def test_changed_formulas_keep_the_other():
    results = of()
    more = results.update("~ . + g", TABLE)
    assert more.names == ["Intercept", "g[T.v]", "x", "sigma:Intercept", "sigma:z"]
    assert of("y ~ x + g").draws.tobytes() == more.draws.tobytes()
    other = results.update("~ .", TABLE, sigma="~ g")
    assert other.names == ["Intercept", "x", "sigma:Intercept", "sigma:g[T.v]"]
    assert results.update("~ .", TABLE, sigma=None).names == ["Intercept", "x", "sigma"]
    assert other.update("~ .", TABLE, sigma=2.0).names == ["Intercept", "x"]
    sure = {"x": sgmc.normal(0, 1), "z": sgmc.normal(0, 2), "*": sgmc.normal(0, 9)}
    less = sgmc.ols("y ~ x + z", TABLE, seed=1, prior=sure).update("~ . - z", TABLE)
    assert str(less.prior_summary().loc["x", "specified"]) == "normal(0, 1)"
    with pytest.raises(ArgumentError, match="'w' is neither a term nor a column"):
        less.update("~ .", TABLE, prior={"w": sgmc.normal(0, 1)})
    again = sgmc.ols("y ~ x", TABLE, seed=1).update("~ .", TABLE, sigma="~ z")
    np.testing.assert_array_equal(again.draws, results.draws)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.InfluenceWarning")
def test_folds_and_continued_fits_have_both_parts():
    results = of()
    assert results.kfold(TABLE, k=2, seed=1).elpd == pytest.approx(results.loo().elpd, abs=12)
    assert results.resume(draws=100).names == results.names


def test_files_and_pickles(tmp_path):
    for results in (of(), sgmc.rlm("y ~ x", TABLE, sigma="~ z", df=None, seed=1)):
        results.save(tmp_path / "fit.sgmc")
        for one in (sgmc.load(tmp_path / "fit.sgmc"), pickle.loads(pickle.dumps(results))):
            few = TABLE[:9]
            for which in ("mean", "sigma"):
                np.testing.assert_array_equal(
                    one.predict(few, which=which), results.predict(few, which=which)
                )
            assert one.model.options["sigma"] == "~ z"


def test_formulas_from_outside_are_looked_through():
    """Either formula makes both safe."""
    safe = outside("y ~ x", safe=True)
    np.testing.assert_array_equal(of(safe).draws, of().draws)
    for formula, sigma in ((safe, "~ print(z)"), ("y ~ print(x)", outside("~ z", safe=True))):
        with pytest.raises(FormulaError, match="safe formula"):
            of(formula, sigma)


@pytest.mark.extended
def test_rows_without_a_predictor_of_either_part_are_dropped():
    n = len(TABLE)
    frame = TABLE.assign(
        x=np.where(np.arange(n) < 20, np.nan, TABLE.x),
        z=np.where(np.arange(n) >= n - 20, np.nan, TABLE.z),
    )
    results = of(frame=frame)
    assert results.nobs == n - 40
    np.testing.assert_array_equal(results.draws, of(frame=TABLE[20:-20]).draws)


@pytest.mark.extended
def test_robust_sds_are_those_of_twice_the_rows():
    """Of a table whose second half repeats its first: clusters of equal rows have the sandwich, the
    model's own sds are too small by the root of two.  Errors: 5 %.
    """
    import pandas as pd

    n = len(TABLE)
    frame = pd.concat([TABLE, TABLE], ignore_index=True).assign(k=[*range(n)] * 2)
    own = of(frame=frame).bse
    clustered = of(frame=frame, cov_type="cluster", groups="k").bse
    once = of(cov_type="robust").bse
    np.testing.assert_allclose(clustered, once, rtol=0.08)
    assert np.abs(clustered / own - 1).max() > 0.2


REFUSED = {
    "no tilde": (FormulaError, "without a left side, such as '~ z'", lambda: of(sigma="z")),
    "left side": (FormulaError, "without a left side", lambda: of(sigma="y ~ z")),
    "two bars": (FormulaError, "without a left side", lambda: of(sigma="~ z | x")),
    "a bar beside": (ArgumentError, "leave one of them out", lambda: of("y ~ x | z")),
    "a bar": (FormulaError, "in parentheses", lambda: of("y ~ x | z", None)),
    "offset": (FormulaError, "would belong to sigma", lambda: of(sigma="~ offset(z)")),
    "se": (ArgumentError, "sigma beside se", lambda: of(se=np.ones(len(TABLE)))),
    "flat": (DataError, "may be improper", lambda: of(prior="flat")),
    "arrays": (
        ArgumentError,
        "belongs to from_formula",
        lambda: sgmc.OLS(TABLE.y, TABLE[["x"]], sigma="~ z"),
    ),
    "exponential": (
        ArgumentError,
        "known sigma of 1",
        lambda: sgmc.survreg("y ~ x", table("weibull"), dist="exponential", sigma="~ z"),
    ),
    "known beside": (
        ArgumentError,
        "alpha=0.5 is a known dispersion",
        lambda: sgmc.negativebinomial("y ~ x", COUNTS, alpha=0.5, dispersion="~ z"),
    ),
    "number": (
        ArgumentError,
        "a known dispersion is alpha=",
        lambda: sgmc.negativebinomial("y ~ x", COUNTS, dispersion=0.5),
    ),
    "both of counts": (
        ArgumentError,
        "leave one of them out",
        lambda: sgmc.hurdle("y ~ x | z", COUNTS, zero="~ z"),
    ),
    "no such parameter": (ArgumentError, "did you mean 'sigma'", lambda: of().predict(which="sgm")),
    "mean alone": (
        ArgumentError,
        "predictors of the mean alone",
        lambda: of(sigma=None).avg_slopes(of="sigma"),
    ),
    "deviance": (NotSupported, "needs a unit deviance", lambda: of().deviance),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_there_is_said_in_a_sentence(case):
    error, text, call = REFUSED[case]
    with pytest.raises(error, match=text):
        call()


def test_formulas_are_those_of_the_cases():
    assert fitted("gamma").model.formula == FORMULAS[0]
