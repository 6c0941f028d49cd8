"""Printed forms: text, HTML, LaTeX, CSV."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError, LowESSWarning, SGMCWarning
from sgmc.results.report.summary import BAD, GOOD, compact, in_line

from .votes import FORMULA, N


def numbered(names, seed=1, **how):
    """A small fit with these names."""
    rng = np.random.default_rng(seed)
    model = sgmc.Logit(rng.integers(0, 2, 1500), rng.normal(size=(1500, len(names))), names=names)
    with warnings.catch_warnings():
        # the Laplace approximation of 250 coefficients is a rough one
        warnings.simplefilter("ignore", SGMCWarning)
        return model.fit(seed=1, prior=sgmc.normal(0, 0.3), sampler="laplace", draws=300, **how)


@pytest.fixture(scope="module", params=["short", "long", "250"])
def printed(request):
    names = {
        "short": ["a", "b_1"],
        "250": [f"x_{j}" for j in range(250)],
        "long": [
            f"C(a_rather_long_name_of_a_factor, Treatment('reference'))[T.level & number {j}]"
            for j in range(5)
        ],
    }
    return numbered(names[request.param])


@pytest.mark.extended("250")
def test_text_is_as_wide_as_names_need(printed):
    text = printed.summary().as_text()
    lines = text.split("\n")
    long = max(map(len, printed.names)) > 16
    assert max(map(len, lines)) == (110 if long else 78) and str(printed.summary()) == text
    assert ("=" * 78 in lines) == (not long) and "Logit Posterior Summary" in lines[0]
    assert len(lines) < 90  # 250 coefficients are shown by blocks


def test_rows_of_the_text(printed):
    text = printed.summary().as_text()
    if len(printed.names) == 250:
        assert re.search(r"^x_0 \.\. \(5\)", text, re.M) and "min mean" in text and "max sd" in text
        return
    rows = [
        line
        for line in text.split("\n")
        if re.search(r"( +-?[\d.]+(e-?\d+)?){4} +[<>]?[\d.]+ +\d+ +\d\.\d{3}$", line)
    ]
    assert len(rows) == len(printed.names)
    for row, (_, values) in zip(rows, printed.summary_frame().iterrows()):
        numbers = [float(v.strip("<>")) for v in row.split()[-7:]]
        np.testing.assert_allclose(numbers, values, rtol=1e-3, atol=6e-4)
    stubs = [row.rsplit(maxsplit=7)[0] for row in rows]
    assert len(set(stubs)) == len(rows)  # cut names still differ


def test_html(printed):
    html = printed.summary().as_html()
    assert html.count("<table") == html.count("</table>") == 2 and printed._repr_html_() == html
    assert (
        '<td style="text-align: right">' in html and html.count("<th ") > len(printed.names) % 250
    )
    assert not re.search(r"&(?!\w+;|#\d+;|#x\w+;)", html)  # ampersands of names escaped


def test_a_name_is_cut_only_beyond_the_widest_line():
    name = "a_name_of_27_characters____"
    for names in ([name[:16], "b"], [name, name + "x"]):
        text = numbered(names).summary().as_text()
        assert all(f"\n{one} " in text for one in names) and ".." not in text


def test_decimal_points_are_beneath_each_other(printed):
    if len(printed.names) == 250:
        return
    lines = printed.summary().as_text().split("\n")
    rows = [line for line in lines if re.search(r" \d\.\d{3}$", line)]
    room = max(len(row.rsplit(maxsplit=7)[0]) for row in rows)
    points = [[at for at, sign in enumerate(row) if sign == "." and at > room] for row in rows]
    assert len(rows) > 1 and all(one == points[0] for one in points)


def test_in_line():
    found = in_line(["12.31", "-0.1234", "1234", "-", "6.1e-07"])
    assert found == ["12.31  ", "-0.1234", "1234     ", "-", "6.1e-07"]
    assert compact(-6.152e-4) == "-0.000615" and compact(6.152e-5) == "6.15e-05"


def test_the_verdict_in_html_is_coloured(data):
    with pytest.warns(LowESSWarning):
        few = sgmc.logit(FORMULA, data, seed=1, draws=60)
    bad, good = few._repr_html_(), sgmc.logit(FORMULA, data, seed=1)._repr_html_()
    assert f'color: {BAD}; font-weight: bold">Verdict: not trustworthy' in bad
    assert f'color: {GOOD}; font-weight: bold">Verdict: trustworthy. Means' in good
    assert GOOD not in bad and BAD not in good


def test_print_is_the_summary(data):
    found = sgmc.logit(FORMULA, data, seed=1)
    assert str(found) == str(found.summary()) and repr(found).startswith("<Logit posterior: ")


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_groups_and_smooths_have_blocks_of_their_own():
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"x": rng.normal(size=200), "g": rng.choice(list("abcdef"), 200)})
    df["y"] = np.sin(2 * df.x) + rng.normal(size=200)
    text = sgmc.ols("y ~ s(x) + (1 | g)", df, seed=1, draws=200).summary().as_text()
    names = [line.split()[0] for line in text.split("=\n")[2].split("\n")[2:-1]]
    assert names[0] == "Coefficients:" and names[1] == "Intercept" and "sigma" in names
    assert names[names.index("Groups:") :] == ["Groups:", "sd(1|g)", "Smooths:", "sd(s(x))"]
    assert not re.search(r"^sd\(.*0\.999", text, re.M)
    plain = sgmc.ols("y ~ x", df, seed=1).summary().as_text()
    assert "Coefficients:" not in plain


def test_long_formulas_take_several_lines():
    rng = np.random.default_rng(2)
    names = [f"predictor_{j}" for j in range(12)]
    df = pd.DataFrame(rng.normal(size=(100, 12)), columns=names)
    df["y"] = rng.normal(size=100)
    formula = "y ~ " + " + ".join(names)
    text = sgmc.ols(formula, df, seed=1).summary().as_text()
    head = text.split("=\n")[1]
    assert "predictor_0 + predictor_1" in head and " ..." in head
    assert max(map(len, text.split("\n"))) == 78


def test_forms_escape_awkward_names():
    fit = numbered(["a & b", "x_1<2>", "50%"])
    html, latex = fit.summary().as_html(), fit.summary().as_latex()
    assert "a &amp; b" in html and "x_1&lt;2&gt;" in html and "<2>" not in html
    assert r"a \& b" in latex and r"x\_1" in latex and r"50\%" in latex
    latex = numbered(["a^2 ~ b|c", "{d} $e$ f<>g", "#h \\i"]).summary(title="T^2_1").as_latex()
    for name in (
        r"a\textasciicircum{}2 \textasciitilde{} b\textbar{}c",
        r"\{d\} \$e\$ f\textless{}\textgreater{}g",
        r"\#h \textbackslash{}i",
        r"%\caption{T\textasciicircum{}2\_1}",
    ):
        assert name in latex, name


def test_latex(printed):
    latex = printed.summary().as_latex()
    for kind in ("center", "tabular"):
        assert latex.count(rf"\begin{{{kind}}}") == latex.count(rf"\end{{{kind}}}") == 2
    # underscores escaped
    assert not re.search(r"(?<!\\)[_%#]", re.sub(r"^%.*$", "", latex, flags=re.M))
    for body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", latex, re.S):
        rows = [line for line in body[1].split("\n") if "\\\\" in line]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(body[0]) - 1}


def test_csv(printed):
    lines = printed.summary().as_csv().split("\n")
    assert (
        any(
            line.replace(" ", "").startswith(",mean,sd,[0.025,0.975],P(>0),ess_bulk,r_hat")
            for line in lines
        )
        or len(printed.names) == 250
    )


def test_titles_and_names(results):
    names = [f"coefficient {j}" for j in range(6)]
    text = results.summary(yname="outcome", xname=names, title="My table", alpha=0.2).as_text()
    assert text.split("\n")[0].strip() == "My table"
    assert "outcome" in text
    assert "coefficient 5" in text
    assert "[0.1 " in text and "0.9]" in text
    assert "Success is y = 'yes' (the other level: 'no')." in text
    # not cut into paragraphs
    assert "intercept: normal(0, 2.5) at centred predictors." in results.summary().as_latex()


def test_warnings_stand_in_the_summary(data):
    with pytest.warns(LowESSWarning):
        few = sgmc.logit(FORMULA, data, seed=1, draws=60)
    text = few.summary().as_text()
    assert "[LowESSWarning]" in text
    assert "Use draws='auto'; it may take draws=" in " ".join(text.split())
    assert max(map(len, text.split("\n"))) <= 78
    assert [w.code for w in few.warnings] == ["LowESSWarning"]
    assert few.warnings[0].advice.startswith("Use draws='auto'")
    for form in (few.summary().as_html(), few.summary().as_latex()):
        assert "LowESSWarning" in form


@pytest.mark.parametrize(
    "how", [dict(chains=1, draws=4000), dict(draws=2, chains=1), dict(draws=1, chains=4)], ids=str
)
def test_summaries_of_few_chains_or_draws(data, how):
    if how["draws"] < 100:
        with pytest.warns(SGMCWarning):
            some = sgmc.logit("y ~ x1", data, seed=1, **how)
    else:
        some = sgmc.logit("y ~ x1", data, seed=1, **how)
    text = some.summary().as_text()
    assert "nan" not in text.lower().replace("nanmin", "") and max(map(len, text.split("\n"))) <= 78
    if how["chains"] == 1:
        assert "no R-hat (one chain)" in " ".join(text.split())
        assert some.rhat().isna().all()


def test_reprs(results):
    assert repr(results) == "<Logit posterior: 6 parameters, 4 chains x 1000 draws>"
    assert "<table" in results._repr_html_()


def test_missing_rows_are_counted(data):
    holes = data.copy()
    holes.loc[[3, 10, 77], "x1"] = np.nan
    some = sgmc.logit(FORMULA, holes, seed=1)
    assert some.nobs == N - 3
    assert "3 rows with missing values were dropped." in some.summary().as_text()
    with pytest.raises(DataError, match="x1"):
        sgmc.logit(FORMULA, holes, seed=1, missing="raise")
