"""The summary that an analyst reads: what is in it, what details add, and the glossary's words."""

import json
import re
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.api.as_json import as_json
from sgmc.results.report.shown import MODEL, RUN, with_commas

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"
RUN_WORDS = (
    "step size",
    "KSD (scores)",
    "Laplace approximation",
    "data passes",
    "gradient noise",
    "memory",
    "lmsgld-",
)


def table(n=600):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=n), "g": rng.choice(list("abcdef"), n)})
    frame["y"] = (rng.random(n) < 1 / (1 + np.exp(-5 * frame.x))).astype(int)
    return frame.assign(k=rng.poisson(2.0, n))


@cache
def fitted(kind):
    """Small fits of several kinds."""
    frame, how = table(), dict(seed=1, draws=300, threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
        if kind == "groups":
            return sgmc.poisson("k ~ x + (1 | g)", frame, **how)
        if kind == "robust":
            return sgmc.poisson("k ~ x", frame, cov_type="robust", **how)
        if kind == "path":
            return sgmc.logit("y ~ x", frame, sampler="zigzag", **how)
        if kind == "one chain":
            return sgmc.logit("y ~ x", frame, sampler="mala", chains=1, **how)
        return sgmc.logit("y ~ x", frame, sampler="lmsgld", **how)


def terms():
    """The entries of the glossary."""
    blocks = re.findall(r"```\{glossary\}\n(.*?)```", GLOSSARY.read_text(), re.S)
    lines = [line for block in blocks for line in block.split("\n")]
    return {line.lower() for line in lines if line and line[0] != " "}


KINDS = ["logit", "groups", "robust", "path", "one chain"]


@pytest.mark.parametrize("kind", KINDS)
def test_run_facts_are_details(kind):
    short, long = (str(fitted(kind).summary(details=on)) for on in (False, True))
    for word in RUN_WORDS:
        assert word.lower() not in short.lower(), word
    assert "Step size" in long or kind == "path"
    assert "KSD (scores)" in long and "Difference from Laplace approximation" in long
    assert max(map(len, long.split("\n"))) <= 78
    assert len(re.findall("^Sampling: ", short, re.M)) == 1
    for line in short.split("\n"):  # details add, and change nothing
        assert line in long.split("\n")


@pytest.mark.parametrize(
    "kind, line",
    [
        ("logit", r"lmsgld, mini-batches of \d+( \+ \d+ fixed)? rows; min. ESS [\d,]+; max. R-hat"),
        ("one chain", r"mala, exact MCMC on all rows; min. ESS \d+; no R-hat \(one chain\); KSD"),
        ("robust", r"laplace, draws of the Gaussian at its mode; min. ESS"),
        ("path", r"zigzag, exact MCMC on all rows; min. ESS"),
    ],
)
def test_the_line_on_sampling(kind, line):
    text = " ".join(str(fitted(kind).summary()).split())
    assert re.search(f"Sampling: {line}", text)


def test_order_of_the_lines():
    """Verdict, warnings, sampling, coding of the outcome, priors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
        frame = table().assign(y=lambda t: np.where(t.y == 1, "yes", "no"))
        few = sgmc.logit("y ~ x", frame, seed=1, draws=60)
    text = str(few.summary())
    marks = "Verdict: ", "[LowESSWarning]", "Sampling: ", "Success is ", "Prior "
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "prior, line",
    [
        (None, "Prior (slopes): normal(0, 2.5*); intercept"),
        (sgmc.normal(0, 1), "Prior (slopes): normal(0, 1); intercept"),
        ({"g": sgmc.normal(0, 1)}, ", ...: normal(0, 1); other slopes: normal(0, 2.5*); inter"),
        (
            {"x": "laplace", "g": sgmc.cauchy(0, 1)},
            "x: laplace(0, 2.5*); other slopes: cauchy(0, 1)",
        ),
        ({"x": sgmc.normal(0, 1)}, "Priors: x: normal(0, 1); other slopes: normal(0, 2.5*); inter"),
    ],
)
def test_priors_have_the_names_of_their_slopes(prior, line):
    res = sgmc.logit("k > 1 ~ x + g", table(6000), prior=prior, sampler="laplace", seed=1)
    text = " ".join(str(res.summary()).split())
    assert line in text
    assert ("[*] per sd of a number; of factor levels" in text) == ("*" in line)


def test_the_head():
    text = str(fitted("groups").summary())
    assert re.search(r"Outcome: +k +Rows: +600\n", text)
    assert re.search(r"Chains x draws: +4 x 300 +", text) and re.search(r"Groups: +6\n", text)
    assert re.search(r"Formula: +\S.*\S  Link: +log", text)
    assert (
        with_commas("41200 old + 39800 new in 1e5 of 123")
        == "41,200 old + 39,800 new in 1e5 of 123"
    )


def test_probabilities_are_never_nought_or_one():
    found = fitted("logit")
    assert found.prob_positive["x"] == 1.0
    text, latex = str(found.summary()), found.summary().as_latex()
    assert re.search(r"^x .* >0\.999 ", text, re.M) and re.search(
        r"textbf\{x\}.*\\textgreater\{\}0\.999", latex
    )
    assert "&gt;0.999" in found.summary().as_html()
    odds = str(found.summary(exponentiate=True))
    assert ">0.999" in odds and "1.000" not in odds.split("\n")[-12]


def test_words_are_in_the_glossary():
    known = terms()
    labels = {*RUN.values(), *MODEL.values(), "Chains x draws", "Seconds", "Model", "Covariance"}
    labels |= {"Formula", "Link", "R2 (sd)", "elpd (se)"}
    columns = {*"mean sd [0.025 0.975] P(>0) ess_bulk r_hat".split()}
    details = {"ess_tail", "k_hat", "mean err", "sd err", "low err", "high err", "mcse"}
    ratios = {"odds ratio", "rate ratio", "hazard ratio", "ratio of means", "ratio", "P(>1)"}
    beside = {"sd robust", "sd model", "ratio", "Integrated out", "Users x items", "Test RMSE"}
    words = labels | columns | details | ratios | beside
    assert {word.lower() for word in words} <= known
    for kind in KINDS:
        text = str(fitted(kind).summary(details=True))
        assert all(name in text for name in columns | details)
        text = re.sub("^(Coefficients|Groups|Smooths): +$", "", text, flags=re.M)  # of blocks
        shown = re.findall(r"^(\w[\w ./()-]*):  ", text, re.M) + re.findall(r"  (\w+):  ", text)
        assert {word.lower() for word in shown} <= known


def test_json_has_the_keys_that_it_had():
    found = json.loads(as_json(fitted("logit")))
    assert set(found["verdict"]) == {"trustworthy", "error", "text", "ends"}
    facts = {"Dep. Variable", "No. Observations", "Df Model", "Step size", "Minibatch", "Chains"}
    facts |= {"Warmup/Draws", "Data passes", "Time (s)", "Min. ESS bulk", "Max. R-hat"}
    assert facts | {"KSD (scores)", "From Laplace", "Grad-noise share"} <= set(found["facts"])
    assert any(note.startswith("Errors are estimated by scores") for note in found["notes"])


def test_measures_of_fit_on_request():
    found = fitted("logit")
    text = str(found.summary(r2=True, elpd=True))
    share, out = found.r2(), found.loo()
    assert f"R2 (sd):  {share['mean']:.3f} ({share['sd']:.3f})" in re.sub(" {2,}", "  ", text)
    assert f"elpd (se):  {out.elpd:.1f} ({out.se:.1f})" in re.sub(" {2,}", "  ", text)
    plain = str(found.summary())
    assert "R2 (sd)" not in plain and "elpd" not in plain
    mixture = sgmc.GaussianMixture(np.random.default_rng(1).normal(size=(60, 1)), 1)
    with pytest.raises(sgmc.errors.NotSupported, match="r2 and elpd are for regressions"):
        mixture.fit(draws=1000, seed=1).summary(r2=True)


def test_advice_is_given_once():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
        few = sgmc.logit("y ~ x", table(), seed=1, draws=30, chains=2)
    text = " ".join(str(few.summary()).split())
    assert few.verdict.advice and text.count(few.verdict.advice) == 1
    assert text.index(few.verdict.advice) < text.index("[LowESSWarning]")
    for one in few.warnings:
        assert f"[{one.code}] {one.message}" in text


@pytest.mark.parametrize(
    "value, text",
    [(201998.4, "201998"), (-1234567, "-1234567"), (2.3e7, "2.30e+07"), (0.00012, "0.000120")],
)
def test_large_numbers_keep_their_digits(value, text):
    from sgmc.results.report.summary import compact

    assert compact(value) == text


def test_long_formulas_break_between_terms():
    from sgmc.results.report.summary import in_lines

    formula = "many~" + "+".join(f"z{j:02d}" for j in range(12)) + "+I(x*1e+05)"
    lines = [line for _, line in in_lines("Formula", formula, 30)]
    assert lines[0] == "many ~ z00 + z01 + z02 + z03 +" and max(map(len, lines)) <= 30
    assert "1e+05" in " ".join(line for _, line in in_lines("Formula", formula, 60))


def test_html_has_names_on_the_left_and_decimal_points_beneath_each_other():
    html = fitted("groups").summary().as_html()
    assert re.search('<th style="text-align: left">x</th>', html)
    assert re.search('<th style="text-align: right">mean</th>', html)
    assert "<th>" not in html and "<td>" not in html
    assert html.count('<div style="overflow-x: auto"><table') == 2

    from sgmc.results.report.summary import table_html

    cells = "<tr>\n  <th>x</th> <td>29406  </td> <td>-1.3</td>\n</tr>"
    found = table_html(f'<table class="simpletable">\n{cells}\n</table>')
    assert "29406&#8200;&#8199;</td>" in found and "white-space: nowrap" in found


def test_what_notebooks_show_of_results_is_in_words():
    found = fitted("logit")
    assert repr(found.loo()) == f"<{found.loo()}>" and "elpd_loo" in repr(found.loo())
    assert "summary_frame() has means" in repr(found.get_prediction())
    assert repr(found.get_margeff()) == "<marginal effects of x: see summary(), summary_frame()>"
    assert str(found.get_margeff()) == str(found.get_margeff().summary())
    assert repr(found.model) == "<Logit model of a fit: y ~ x>"
