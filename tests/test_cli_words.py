"""The command line's priors, weights and subsets as text, and its JSON."""

import json

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.api.as_json import fact, finite
from sgmc.api.cli import main
from sgmc.api.prior_text import prior_of, sampler_of
from sgmc.errors import ArgumentError


@pytest.mark.parametrize(
    "text, expected",
    [
        ("flat", "flat"),
        ("normal(0, 1)", sgmc.normal(0, 1)),
        ("sgmc.normal(0, 1, autoscale=True)", sgmc.normal(0, 1, autoscale=True)),
        ("student_t(df=4)", sgmc.student_t(4)),
        ("truncated(normal(0, 1), low=0)", sgmc.truncated(sgmc.normal(0, 1), low=0)),
        (
            '{("x", "z"): mvnormal([0, 1], [[1, 0.5], [0.5, 1]])}',
            {("x", "z"): sgmc.mvnormal([0, 1], [[1, 0.5], [0.5, 1]])},
        ),
        ('{"x": flat(), "*": "laplace"}', {"x": sgmc.flat(), "*": "laplace"}),
    ],
)
def test_priors_as_text(text, expected):
    assert prior_of(text) == expected


@pytest.mark.parametrize(
    "text, says",
    [
        ("nromal(0, 1)", "no prior 'nromal'; did you mean 'normal'"),
        ("normal(0, 1", "cannot be read"),
        ("normal(x, 1)", "cannot be read"),
        ("normal(0, -1)", "scale"),
        ("normal(0, 1, 2, 3)", "cannot be read"),
        ("__import__('os').getcwd()", "no prior 'getcwd'"),
    ],
)
def test_priors_that_cannot_be_read(text, says):
    with pytest.raises(ArgumentError, match=says):
        prior_of(text)


def test_facts_are_numbers_where_they_are():
    assert [fact(one) for one in ("800", "0.26", "-1.5e-05", "-")] == [800, 0.26, -1.5e-05, None]
    assert [fact(one) for one in ("1 (derived)", "20/1000 x 4", "nan", "1e")] == [
        "1 (derived)", "20/1000 x 4", "nan", "1e",
    ]  # fmt: skip
    values = finite({"a": np.float64(np.nan), "b": [np.int64(2), np.inf], "c": True, 1: "x"})
    assert values == {"a": None, "b": [2.0, None], "c": True, "1": "x"}


def test_prior_weights_and_subset_reach_the_fit(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "w": rng.integers(1, 4, 300)})
    frame["y"] = (rng.random(300) < 0.5).astype(int)
    path = tmp_path / "table.tsv"
    frame.to_csv(path, sep="\t", index=False)
    chosen = ["--prior", '{"x": normal(0, 0.1)}', "--weights", "w", "--subset", "x > -1"]
    assert main(["fit", "y ~ x", str(path), "--seed", "1", "--json", *chosen]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)  # NaN is no JSON
    how = dict(weights="w", subset="x > -1", seed=1)
    expected = sgmc.logit("y ~ x", frame, prior={"x": sgmc.normal(0, 0.1)}, **how)
    assert found["coefficients"]["x"]["mean"] == pytest.approx(expected.params["x"], rel=1e-12)
    assert found["nobs"] == expected.nobs
    other = sgmc.logit("y ~ x", frame, **how)
    assert abs(other.bse["x"] / expected.bse["x"] - 1) > 0.1  # a prior that is dropped is seen


@pytest.mark.parametrize("text", ["sgmc.NUTS(target_accept=0.975)", " NUTS(target_accept=0.975)"])
def test_samplers_are_calls_as_advice_has_them(text):
    assert sampler_of(text) == sgmc.NUTS(target_accept=0.975)
    assert sampler_of("sgld-cv") == "sgld-cv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NUTZ()", "there is no sampler 'NUTZ'; did you mean 'NUTS'"),
        ("NUTS(target=0.9)", "NUTS has no parameter 'target'"),
        ("NUTS(", "cannot be read"),
        ("NUTS(metric=open('x'))", "cannot be read"),
        ("NUTS() + 1", "it is no call with named parameters.: write a name, or a call"),
        ("NUTS(0.975)", "it is no call with named parameters"),
        ("(lambda: 1)()", "there is no sampler ''"),
    ],
)
def test_what_is_no_sampler_is_refused_by_name(text, message):
    with pytest.raises(sgmc.errors.ArgumentError, match=message):
        sampler_of(text)


def table_of(folder):
    """The path of a file with a number, counts and outcomes."""
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": rng.normal(size=60), "k": rng.integers(0, 3, 60)})
    df.assign(y=df.x + rng.normal(size=60), b=df.k > 0).to_csv(folder / "t.csv", index=False)
    return str(folder / "t.csv")


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "formula, options, title",
    [
        ("y ~ x", ["ols", "--sigma", "~ x"], "predictors of sigma"),
        ("y ~ x", ["lm", "--sigma", "2"], "Linear"),
        ("k ~ x", ["ordinal", "--kind=sequential"], "Sequential ordinal"),
        ("y ~ x", ["quantreg", "--tau", "0.9"], "tau 0.9"),
        ("y ~ x", ["rlm", "--df", "none"], "Student-t linear"),
    ],
)
def test_what_a_verb_has_for_itself(tmp_path, capsys, formula, options, title):
    data = table_of(tmp_path)
    assert main(["fit", formula, data, "--draws", "50", "--model", *options]) == 0
    assert title in capsys.readouterr().out


@pytest.mark.parametrize(
    "options, says",
    [
        (["--family", "poisson"], "as in --model poisson"),
        (["--kind", "sequential"], "it goes with --model ordinal"),
        (["--model", "ols", "--tau=0.9"], "it goes with --model quantreg"),
        (["--modle", "ols"], "did you mean '--model'"),
        (["--model", "ols", "--level", "0.9"], "in Python, summary(level=0.9)"),
        (["--model", "ols", "-o", "a"], "--save FIT writes the fit"),
        (["--quiet"], "progress goes to the standard error"),
        (["--format", "json"], "use --json or --csv"),
        (["--loo"], "it is in Python: res = sgmc.logit('y ~ x', df), then res.loo()"),
        (["-f", "b ~ x"], "FORMULA and DATA have no options"),
        (["--client", "x"], "client= is an argument in Python alone"),
        (["--draws", "abc"], "--draws: must be a whole number or auto, not 'abc'"),
        (["--seed", "x"], "--seed: must be a whole number, not 'x'"),
        (["--accuracy", "x"], "--accuracy: must be a number, not 'x'"),
    ],
)
def test_options_that_are_unknown_or_wrong(tmp_path, capsys, options, says):
    with pytest.raises(SystemExit):
        main(["fit", "b ~ x", table_of(tmp_path), *options])
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "command, says",
    [
        (["summary", "a.sgmcfit"], "sgmc.load('a.sgmcfit').summary()"),
        (["compare", "a", "b"], "sgmc.compare(a=res, b=other)"),
        (["plot", "a"], "res.plot_forest()"),
        (["ols", "y ~ x", "t.csv"], "use `sgmc fit FORMULA DATA --model ols`"),
        (["lm", "y ~ x", "t.csv"], "use `sgmc fit FORMULA DATA --model ols`"),
        (["nonsense"], "(choose from"),
        (["predict", "a", "t.csv", "-o", "out.csv"], "use --to FILE"),
    ],
)
def test_commands_that_there_are_not(capsys, command, says):
    with pytest.raises(SystemExit):
        main(command)
    assert says in capsys.readouterr().err


def test_numbers_without_a_model(tmp_path, capsys):
    assert main(["fit", "y ~ x", table_of(tmp_path)]) == 2
    assert "Without --model the model is logit; of other numbers" in capsys.readouterr().err
    assert main(["fit", "y ~ x", table_of(tmp_path), "--model", "logit"]) == 2
    assert "Without --model" not in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_prepared_files_of_any_name(tmp_path, capsys):
    data = table_of(tmp_path)
    assert main(["prepare", "b ~ x", data, str(tmp_path / "prepared")]) == 0
    assert main(["fit", "b ~ x", str(tmp_path / "prepared"), "--draws", "50"]) == 0
