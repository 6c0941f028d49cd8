"""What a fit returns: every method against numpy on the draws, the printed forms, predictions, files."""
import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc import diagnostics
from sgmc.errors import ArgumentError, DataError, FormulaError, LowESSWarning, SGMCWarning

N = 500


def frame(n=N, seed=0):
    """Rows with numbers, a factor and an awkward name."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({"x1": rng.normal(size=n), "x10": rng.normal(size=n), "my var": rng.normal(size=n),
                       "g": rng.choice(["a", "b", "c"], n), "off": rng.uniform(-1, 1, n)})
    eta = 0.2 + 0.8 * df.x1 - 0.5 * df["my var"] + 0.6 * (df.g == "b")
    return df.assign(y=np.where(rng.random(n) < special.expit(eta), "yes", "no"))


FORMULA = "y ~ x1 + x10 + `my var` + g"


@pytest.fixture(scope="module")
def data():
    return frame()


@pytest.fixture(scope="module")
def results(data):
    return sgmc.logit(FORMULA, data, seed=1)


@pytest.fixture(scope="module")
def weighted(data):
    """Draws weighted by decreasing steps."""
    return sgmc.logit(FORMULA, data, seed=1, sampler="lmsgld", step_size=lambda t: 0.9 / (1 + t / 5000), thin=5, draws=2000)


@pytest.fixture(params=["equal weights", "step-size weights"])
def either(request, results, weighted):
    return results if request.param == "equal weights" else weighted


# ---- numbers --------------------------------------------------------------------------------------------------------------

def flat(results):
    """Draws (n, d) and their weights, summing to one."""
    draws = results.draws.reshape(-1, results.draws.shape[2])
    weights = np.ones(len(draws)) if results.weights is None else np.tile(results.weights, len(results.draws))
    return draws, weights / weights.sum()


def test_moments(either):
    draws, w = flat(either)
    mean = w @ draws
    centred = draws - mean
    covariance = (centred.T * w) @ centred / (1 - (w ** 2).sum())
    np.testing.assert_allclose(either.params, mean, rtol=1e-12)
    np.testing.assert_allclose(either.cov_params(), covariance, rtol=1e-9)
    np.testing.assert_allclose(either.bse, np.sqrt(np.diag(covariance)), rtol=1e-9)
    np.testing.assert_allclose(either.prob_positive, w @ (draws > 0), rtol=1e-12)
    names = ["Intercept", "g[T.b]", "g[T.c]", "x1", "x10", "my var"]
    assert sorted(either.names) == sorted(names) and either.params.index.tolist() == either.names
    assert either.cov_params().index.tolist() == either.cov_params().columns.tolist() == either.names


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_intervals(either, alpha):
    interval = either.conf_int(alpha)
    assert interval.columns.tolist() == [0, 1] and interval.index.tolist() == either.names
    draws, w = flat(either)
    below = np.array([[w[draws[:, j] < limit].sum() for limit in row] for j, row in enumerate(interval.to_numpy())])
    np.testing.assert_allclose(below, [[alpha / 2, 1 - alpha / 2]] * len(below), atol=2 / len(draws) ** 0.5 / 40)
    if either.weights is None:
        np.testing.assert_allclose(interval.T, np.quantile(draws, [alpha / 2, 1 - alpha / 2], axis=0), rtol=1e-12)
    pd.testing.assert_frame_equal(either.conf_int(alpha, cols=["x1"]), interval.loc[["x1"]])


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, float("nan")])
def test_alpha_out_of_range(results, alpha):
    for method in (results.conf_int, results.summary_frame, results.summary, results.get_prediction().summary_frame):
        with pytest.raises(ArgumentError, match="alpha"):
            method(alpha=alpha)


def test_summary_frame(either):
    table = either.summary_frame(alpha=0.1)
    assert table.columns.tolist() == ["mean", "sd", "[0.05", "0.95]", "P(>0)", "ess_bulk", "r_hat"]
    np.testing.assert_array_equal(table["mean"], either.params)
    np.testing.assert_array_equal(table[["[0.05", "0.95]"]], either.conf_int(0.1))
    np.testing.assert_array_equal(table[["sd", "P(>0)", "ess_bulk", "r_hat"]],
                                  np.column_stack([either.bse, either.prob_positive, either.ess(), either.rhat()]))


def test_diagnostics_are_those_of_plain_arrays(either):
    for method in ("bulk", "tail", "mean", "sd"):
        np.testing.assert_array_equal(either.ess(method), diagnostics.ess(either.draws, method=method, weights=either.weights))
    for method in ("mean", "sd"):
        np.testing.assert_array_equal(either.mcse(method), diagnostics.mcse(either.draws, method, weights=either.weights))
    np.testing.assert_array_equal(either.rhat(), diagnostics.rhat(either.draws))
    assert (either.ess() > 400).all() and (either.rhat() < 1.03).all() and (either.mcse() < 0.1 * either.bse).all()
    assert 0 < either.ksd() < 0.3


def test_ksd_tells_the_posterior_from_draws_twice_as_wide(data):
    X, y = np.column_stack([np.ones(N), data.x1, data.x10]), (data.y == "yes").to_numpy(float)
    results = sgmc.Logit(y, X).fit(seed=1, prior={"*": sgmc.normal(0, 2), "const": sgmc.normal(0, 2)})

    def ksd(draws):
        scores = (y - special.expit(draws @ X.T)) @ X - draws / 4
        return diagnostics.ksd(draws, scores, scale=results.bse.to_numpy())

    draws = results.draws[:, ::5].reshape(-1, 3)
    wide = results.params.to_numpy() + 2 * (draws - results.params.to_numpy())
    off = draws + 0.5 * results.bse.to_numpy()
    assert ksd(draws) < 0.5 * min(ksd(wide), ksd(off))
    assert ksd(draws) == pytest.approx(results.ksd(), rel=0.5)          # other draws, and a dense scale there


def test_facts(results, data):
    assert results.nobs == N and results.df_model == 5 and results.interrupted == "" and results.warnings == []
    assert results.model.formula == FORMULA and results.model.endog_names == "y" and results.model.exog_names == results.names
    assert results.draws.shape == (4, 1000, 6) and results.seed == 1


@pytest.mark.parametrize("name", ["pvalues", "tvalues", "aic", "bic", "f_test", "wald_test"])
def test_what_a_posterior_has_not(results, name):
    assert not hasattr(results, name)
    with pytest.raises(AttributeError, match=f"{name} .*(prob_positive|hypothesis|compare)"):
        getattr(results, name)


def test_unknown_attributes(results):
    with pytest.raises(AttributeError, match="'RegressionResults' object has no attribute 'parms'"):
        results.parms


def test_to_frame(either):
    table = either.to_frame()
    assert table.index.names == ["chain", "draw"] and len(table) == either.draws.shape[0] * either.draws.shape[1]
    np.testing.assert_array_equal(table.loc[(2, 7), either.names], either.draws[2, 7])
    assert ("weight" in table) == (either.weights is not None)
    if either.weights is not None:
        np.testing.assert_array_equal(table.loc[3, "weight"], either.weights)


def test_prior_summary(data):
    prior = {"x1": sgmc.student_t(4, 0, 1), "g": sgmc.laplace(0, 0.5), "my var": sgmc.normal(0, 1, autoscale=True)}
    table = sgmc.logit(FORMULA, data, prior=prior, seed=1, draws=2000).prior_summary()
    assert table.specified.to_dict() == {"Intercept": "normal(0, 2.5)", "g[T.b]": "laplace(0, 0.5)", "g[T.c]": "laplace(0, 0.5)",
                                         "x1": "student_t(4, 0, 1)", "x10": "normal(0, 2.5*)", "my var": "normal(0, 1*)"}
    assert table.used["my var"] == f"normal(0, {1 / data['my var'].std():.4g})" and table.used["x1"] == "student_t(4, 0, 1)"
    assert table.note["Intercept"] == "at centred predictors" and table.note["x1"] == ""
    named = sgmc.logit(FORMULA, data, prior={"Intercept": "flat"}, seed=1).prior_summary()
    assert named.specified["Intercept"] == "flat" and named.note["Intercept"] == ""


# ---- hypotheses -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("statement, weights, constant", [
    ("x1 > 0", {"x1": 1}, 0), ("x1 > x10", {"x1": 1, "x10": -1}, 0), ("2*x1 - 0.5 < x10/4", {"x1": 2, "x10": -0.25}, -0.5),
    ("`my var` + x1 >= 0.1", {"my var": 1, "x1": 1}, -0.1), ("g[T.b] > g[T.c]", {"g[T.b]": 1, "g[T.c]": -1}, 0),
    ("`g[T.b]` <= Intercept", {"g[T.b]": 1, "Intercept": -1}, 0), ("-(x1 + x10)*3 < -1e-1", {"x1": -3, "x10": -3}, 0.1),
    ("0 < x1", {"x1": -1}, 0), ("x10 - x1 > -my var", {"x10": 1, "x1": -1, "my var": 1}, 0)])
def test_hypothesis(either, statement, weights, constant):
    draws, w = flat(either)
    difference = constant + draws @ [weights.get(name, 0) for name in either.names]
    found = either.hypothesis(statement)
    mean = w @ difference
    assert found["mean"] == pytest.approx(mean, rel=1e-10)
    assert found["sd"] == pytest.approx(np.sqrt(w @ (difference - mean) ** 2 / (1 - (w ** 2).sum())), rel=1e-9)
    assert found["prob"] == pytest.approx(w @ ((difference < 0) if "<" in statement else (difference > 0)), abs=1e-12)
    assert w[difference < found["[0.025"]].sum() == pytest.approx(0.025, abs=0.001)
    assert w[difference < found["0.975]"]].sum() == pytest.approx(0.975, abs=0.001)


@pytest.mark.parametrize("statement, text", [
    ("x1 = 0", "probability zero"), ("x1", "must have one of"), ("0 < x1 < 1", "must have one of"), ("x11 > 0", "did you mean 'x1"),
    ("x1 * x10 > 0", "not linear"), ("x1 ** 2 > 0", "not linear"), ("1 / x1 > 0", "not linear"), ("x1 + > 0", "cannot read"),
    ("x1 / 0 > 1", "not linear"), ("exp(x1) > 1", "not linear"), ("x1 > ", "cannot read"), ("__import__('os') > 0", "not linear"),
    ("x1 == 0", "must have one of"), ("True > x1", "not linear")])
def test_hypotheses_refused(results, statement, text):
    with pytest.raises(ArgumentError, match=f"hypothesis.*{re.escape(text)}"):
        results.hypothesis(statement)


@pytest.mark.parametrize("names", [["x1", "x1:x2", "x2"], ["a b", "b", "a"], ["np.log(x)", "x", "log"], ["_c0_", "_c1_", "x_c0_"],
                                   ["x", "x²", "größe"]], ids=str)
def test_hypotheses_of_awkward_names(names):
    rng = np.random.default_rng(1)
    results = sgmc.Logit(rng.integers(0, 2, 200), rng.normal(size=(200, 3)), names=names).fit(seed=1)
    for j, name in enumerate(names):
        found = results.hypothesis(f"2*`{name}` > 0.1")
        assert found["mean"] == pytest.approx(2 * results.params.iloc[j] - 0.1, rel=1e-10)


# ---- printed --------------------------------------------------------------------------------------------------------------

def numbered(names, seed=1, **how):
    """A small fit with these names."""
    rng = np.random.default_rng(seed)
    model = sgmc.Logit(rng.integers(0, 2, 1500), rng.normal(size=(1500, len(names))), names=names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)          # the Laplace approximation of 250 coefficients is a rough one
        return model.fit(seed=1, prior=sgmc.normal(0, 0.3), sampler="laplace", draws=300, **how)


@pytest.fixture(scope="module", params=["short", "long", "250"])
def printed(request):
    names = {"short": ["a", "b_1"], "250": [f"x_{j}" for j in range(250)],
             "long": [f"C(a_rather_long_name_of_a_factor, Treatment('reference'))[T.level & number {j}]" for j in range(5)]}
    return numbered(names[request.param])


def test_text_is_78_columns_at_most(printed):
    text = printed.summary().as_text()
    lines = text.split("\n")
    assert max(map(len, lines)) <= 78 and str(printed.summary()) == text
    assert "=" * 78 in lines and "Logit Posterior Summary" in lines[0]
    assert len(lines) < 90                                    # 250 coefficients are shown by blocks


def test_rows_of_the_text(printed):
    text = printed.summary().as_text()
    if len(printed.names) == 250:
        assert re.search(r"^x_0 \.\. \(5\)", text, re.M) and "min mean" in text and "max sd" in text
        return
    rows = [line for line in text.split("\n") if re.search(r"( +-?[\d.]+(e-?\d+)?){5} +\d+ +\d\.\d{3}$", line)]
    assert len(rows) == len(printed.names)
    for row, (_, values) in zip(rows, printed.summary_frame().iterrows()):
        numbers = [float(v) for v in row.split()[-7:]]
        np.testing.assert_allclose(numbers, values, rtol=1e-3, atol=6e-4)
    stubs = [row[:78 - 62].strip() for row in rows]
    assert len(set(stubs)) == len(rows)                       # cut names still differ


def test_html(printed):
    html = printed.summary().as_html()
    assert html.count("<table") == html.count("</table>") == 2 and printed._repr_html_() == html
    assert "<td>" in html and html.count("<th>") > len(printed.names) % 250
    assert not re.search(r"&(?!\w+;|#\d+;|#x\w+;)", html)      # ampersands of names escaped


def test_forms_escape_awkward_names():
    fit = numbered(["a & b", "x_1<2>", "50%"])
    html, latex = fit.summary().as_html(), fit.summary().as_latex()
    assert "a &amp; b" in html and "x_1&lt;2&gt;" in html and "<2>" not in html
    assert r"a \& b" in latex and r"x\_1" in latex and r"50\%" in latex


def test_latex(printed):
    latex = printed.summary().as_latex()
    for kind in ("center", "tabular"):
        assert latex.count(rf"\begin{{{kind}}}") == latex.count(rf"\end{{{kind}}}") == 2
    assert not re.search(r"(?<!\\)[_%#]", re.sub(r"^%.*$", "", latex, flags=re.M))     # underscores escaped
    for body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", latex, re.S):
        rows = [line for line in body[1].split("\n") if "\\\\" in line]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(body[0]) - 1}


def test_csv(printed):
    lines = printed.summary().as_csv().split("\n")
    assert any(line.replace(" ", "").startswith(",mean,sd,[0.025,0.975],P(>0),ess_bulk,r_hat") for line in lines) or \
        len(printed.names) == 250


def test_titles_and_names(results):
    names = [f"coefficient {j}" for j in range(6)]
    text = results.summary(yname="outcome", xname=names, title="My table", alpha=0.2).as_text()
    assert text.split("\n")[0].strip() == "My table" and "outcome" in text and "coefficient 5" in text
    assert "[0.1 " in text and "0.9]" in text
    assert "Success is y = 'yes' (the other level: 'no')." in text
    assert "intercept: normal(0, 2.5) at centred predictors." in results.summary().as_latex()      # not cut into paragraphs


def test_warnings_stand_in_the_summary(data):
    with pytest.warns(LowESSWarning):
        few = sgmc.logit(FORMULA, data, seed=1, draws=60)
    text = few.summary().as_text()
    assert "[LowESSWarning]" in text and "Take draws=" in text and max(map(len, text.split("\n"))) <= 78
    assert [w.code for w in few.warnings] == ["LowESSWarning"] and few.warnings[0].advice.startswith("Take draws=")
    for form in (few.summary().as_html(), few.summary().as_latex()):
        assert "LowESSWarning" in form


@pytest.mark.parametrize("how", [dict(chains=1, draws=4000), dict(draws=2, chains=1), dict(draws=1, chains=4)], ids=str)
def test_summaries_of_few_chains_or_draws(data, how):
    if how["draws"] < 100:
        with pytest.warns(SGMCWarning):
            some = sgmc.logit("y ~ x1", data, seed=1, **how)
    else:
        some = sgmc.logit("y ~ x1", data, seed=1, **how)
    text = some.summary().as_text()
    assert "nan" not in text.lower().replace("nanmin", "") and max(map(len, text.split("\n"))) <= 78
    if how["chains"] == 1:
        assert "Max. R-hat:                         -" in text.replace("  -\n", " -\n") or re.search(r"Max\. R-hat: +-", text)
        assert some.rhat().isna().all()


def test_reprs(results):
    assert repr(results) == "<Logit posterior: 6 parameters, 4 chains x 1000 draws>"
    assert "<table" in results._repr_html_()


def test_missing_rows_are_counted(data):
    holes = data.copy()
    holes.loc[[3, 10, 77], "x1"] = np.nan
    some = sgmc.logit(FORMULA, holes, seed=1)
    assert some.nobs == N - 3 and "3 rows with missing values were dropped." in some.summary().as_text()
    with pytest.raises(DataError, match="x1"):
        sgmc.logit(FORMULA, holes, seed=1, missing="raise")


# ---- predictions ----------------------------------------------------------------------------------------------------------

def design(df, names):
    """The design of `frame`, by hand."""
    columns = {"Intercept": np.ones(len(df)), "g[T.b]": df.g == "b", "g[T.c]": df.g == "c"}
    return np.column_stack([columns.get(name, df.get(name)) for name in names]).astype(float)


def test_predict_averages_over_draws(either):
    new = frame(30, seed=5)
    draws, w = flat(either)
    p = special.expit(design(new, either.names) @ draws.T)
    np.testing.assert_allclose(either.predict(new), p @ w, rtol=1e-10)
    plug_in = special.expit(design(new, either.names) @ either.params.to_numpy())
    assert np.abs(either.predict(new) - plug_in).max() > 1e-4
    table = either.get_prediction(new).summary_frame(alpha=0.2)
    assert table.columns.tolist() == ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper"]
    np.testing.assert_allclose(table["mean"], p @ w, rtol=1e-10)
    np.testing.assert_allclose(table.mean_se, np.sqrt(((p - (p @ w)[:, None]) ** 2) @ w / (1 - (w ** 2).sum())), rtol=1e-9)
    for limit, share in (("mean_ci_lower", 0.1), ("mean_ci_upper", 0.9)):
        below = ((p < table[limit].to_numpy()[:, None]) * w).sum(axis=1)
        np.testing.assert_allclose(below, share, atol=0.002)


def test_predictions_carry_the_index(results):
    new = frame(4, seed=5).set_index(pd.Index(["p", "q", "r", "s"]))
    assert results.predict(new).index.tolist() == results.get_prediction(new).summary_frame().index.tolist() == list("pqrs")
    assert results.predict(new.iloc[:1]).iloc[0] == pytest.approx(results.predict(new).iloc[0], rel=1e-12)


@pytest.mark.parametrize("how", [{}, dict(sampler="mala"), dict(precondition="diag"), dict(precondition=None), dict(dtype="float32")],
                         ids=str)
def test_predict_without_new_data_is_that_of_the_data(data, how):
    fit = sgmc.logit("y ~ x1 + g", data, seed=1, draws=1500, **how)
    tolerance = 1e-5 if "dtype" in how else 1e-9
    np.testing.assert_allclose(fit.predict(), fit.predict(data), rtol=tolerance)
    np.testing.assert_allclose(fit.get_prediction().summary_frame(), fit.get_prediction(data).summary_frame(), rtol=20 * tolerance)
    calibration = fit.predict().mean() - (data.y == "yes").mean()      # an intercept with a weak prior: nearly unbiased
    assert abs(calibration) < 0.01


def test_rows_with_gaps_are_predicted_as_missing(results):
    new = frame(5, seed=5)
    new.loc[2, "x1"] = np.nan
    found = results.predict(new)
    assert found.isna().tolist() == [False, False, True, False, False]


def test_new_data_that_do_not_suit(results):
    new = frame(5, seed=5)
    with pytest.raises(FormulaError, match="no column 'x10'.*did you mean 'x1'"):
        results.predict(new.drop(columns="x10"))
    with pytest.raises(FormulaError, match="'g' has the level 'd'; known are 'a', 'b', 'c'"):
        results.predict(new.assign(g="d"))
    with pytest.raises(FormulaError, match="x1"):
        results.predict(new.assign(x1="text"))
    assert len(results.predict({name: new[name].to_numpy() for name in new})) == 5


def test_predictions_of_arrays(data):
    X = data[["x1", "x10"]].to_numpy()
    fit = sgmc.Logit((data.y == "yes").to_numpy(), X).fit(seed=1)
    expected = special.expit(X[:3] @ fit.flat.T).mean(axis=1)
    np.testing.assert_allclose(fit.predict(X[:3]), expected, rtol=1e-10)
    np.testing.assert_allclose(fit.predict(X[0]), expected[:1], rtol=1e-10)
    np.testing.assert_allclose(fit.predict(), fit.predict(X), rtol=1e-9)
    with pytest.raises(DataError, match="must have 2 columns: x1, x2"):
        fit.predict(np.ones((3, 5)))


def test_an_offset_is_asked_for(data):
    fit, new = sgmc.logit("y ~ x1", data, offset="off", seed=1), frame(6, seed=5)
    with pytest.raises(ArgumentError, match="offset="):
        fit.predict(new)
    eta = np.column_stack([np.ones(6), new.x1]) @ fit.flat.T
    np.testing.assert_allclose(fit.predict(new, offset=new.off), special.expit(eta + new.off.to_numpy()[:, None]).mean(axis=1), rtol=1e-10)
    np.testing.assert_allclose(fit.predict(new, offset=0), special.expit(eta).mean(axis=1), rtol=1e-10)
    np.testing.assert_allclose(fit.get_prediction(new, offset=1.0).summary_frame()["mean"], special.expit(eta + 1).mean(axis=1), rtol=1e-10)
    np.testing.assert_allclose(fit.predict(), fit.predict(data, offset=data.off), rtol=1e-9)
    with pytest.raises(DataError, match="offset has 3 values, the new data have 6 rows"):
        fit.predict(new, offset=[1, 2, 3])


# ---- files ----------------------------------------------------------------------------------------------------------------

def test_save_and_load(either, data, tmp_path):
    path = tmp_path / "fit.sgmc"
    either.save(path)
    other = sgmc.load(path)
    np.testing.assert_array_equal(other.draws, either.draws)
    assert str(other.summary()) == str(either.summary()) and repr(other) == repr(either)
    new = frame(20, seed=9)
    pd.testing.assert_series_equal(other.predict(new), either.predict(new))
    pd.testing.assert_series_equal(other.hypothesis("x1 > x10"), either.hypothesis("x1 > x10"))
    pd.testing.assert_frame_equal(other.prior_summary(), either.prior_summary())
    assert other.ksd() == either.ksd() and other.warnings == [] and other.sampler == either.sampler
    with pytest.raises(ArgumentError, match="new data"):
        other.predict()
    pd.testing.assert_series_equal(pickle.loads(pickle.dumps(other)).predict(new), either.predict(new))


def test_a_file_holds_no_data(tmp_path):
    n = 20_000
    df = frame(n).assign(x1=lambda t: np.round(t.x1, 3) + 1e-7)
    fit, path = sgmc.logit("y ~ x1 + g", df, seed=1, draws=1000), tmp_path / "fit.sgmc"
    fit.save(path)
    content = path.read_bytes()
    assert len(content) < 2 * fit.draws.nbytes + 80_000          # also in sampler coordinates; and the states of four chains
    for value in df.x1[:50]:
        assert np.float64(value).tobytes() not in content
    larger = sgmc.logit("y ~ x1 + g", pd.concat([df, df]), seed=1, draws=1000)
    assert abs(len(pickle.dumps(larger)) - len(content)) < 10_000


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x80\x04K\x01.", b"x1,x2\n1,2\n", pickle.dumps([1, 2]), pickle.dumps({"a": 1}),
                                     pickle.dumps({"sgmc": 1}), pickle.dumps({"sgmc": 99, "state": {}}), b"c__nowhere__\nf\n."],
                         ids=range(9))
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ArgumentError, match="other (is not a file written by Results.save|has format)"):
        sgmc.load(path)


def test_a_file_cut_short_is_refused(results, tmp_path):
    path = tmp_path / "cut"
    results.save(path)
    whole = path.read_bytes()
    for part in (0.01, 0.3, 0.999):
        path.write_bytes(whole[:int(part * len(whole))])
        with pytest.raises(ArgumentError, match="damaged"):
            sgmc.load(path)
    with pytest.raises(FileNotFoundError):
        sgmc.load(tmp_path / "nothing")


def test_pickles_and_copies(results, data):
    for other in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results), copy.copy(results)):
        pd.testing.assert_series_equal(other.params, results.params)
        pd.testing.assert_series_equal(other.predict(data), results.predict(data))
    warning = LowESSWarning("few", "take more")
    again = pickle.loads(pickle.dumps(warning))
    assert (again.message, again.advice, str(again), again.code) == ("few", "take more", "few take more", "LowESSWarning")


def test_results_do_not_change_with_use(results, data):
    before = results.draws.copy()
    for use in (results.summary, results.predict, results.cov_params, results.to_frame, results.get_prediction):
        use()
    table = results.to_frame()
    table.iloc[:] = 0
    np.testing.assert_array_equal(results.draws, before)
    np.testing.assert_array_equal(results.predict(), results.predict())


def test_diagnostics_gathers_what_single_methods_give(results):
    frame = results.diagnostics()
    assert list(frame.columns) == ["ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd"]
    np.testing.assert_array_equal(frame["ess_tail"], results.ess("tail"))
    np.testing.assert_array_equal(frame["mcse_sd"], results.mcse("sd"))
