"""Commands of the command line besides plain fits: saved fits and predictions, CSV, lists."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.api.as_json import SCHEMA
from sgmc.api.cli import main
from sgmc.arguments.declared.keywords import TABLE
from sgmc.registry import room

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
PAGE = Path(__file__).parents[1] / "docs" / "command-line.md"


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"x": rng.normal(size=300), "g": rng.choice(list("abcdef"), 300)})
    return df.assign(t=rng.uniform(1, 3, 300), y=rng.poisson(np.exp(0.3 * df.x)))


@pytest.fixture
def path(table, tmp_path):
    table.to_csv(tmp_path / "table.csv", index=False)
    return str(tmp_path / "table.csv")


def printed(capsys, *arguments):
    """What a command prints on the standard output."""
    assert main([*arguments]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    return out.out


def test_alone_it_helps(capsys):
    text = printed(capsys)
    assert text.startswith("usage: sgmc") and "examples:" in text
    assert all(f"\n    {name} " in text for name in ("fit", "predict", "datasets", "describe"))


def test_csv_has_the_table_of_coefficients(capsys, path, table):
    text = printed(capsys, "fit", "y ~ x", path, "--model", "poisson", "--seed", "1", "--csv")
    found = pd.read_csv(io.StringIO(text), index_col="parameter")
    expected = sgmc.poisson("y ~ x", table, seed=1).summary_frame()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert list(found.columns) == list(expected.columns)
    assert list(found.index) == list(expected.index)


@pytest.mark.parametrize("formula", ["y ~ x", "y ~ x + (1 | g)"], ids=["plain", "groups"])
def test_predictions_of_a_saved_fit(capsys, path, table, tmp_path, formula):
    fit, new = str(tmp_path / "a.fit"), str(tmp_path / "new.csv")
    table[:9].to_csv(new, index=False)
    printed(capsys, "fit", formula, path, "--model", "poisson", "--seed", "1", "--save", fit)
    loaded = sgmc.load(fit)
    found = pd.read_csv(io.StringIO(printed(capsys, "predict", fit, new)))
    assert list(found.columns) == ["row", "mean"] and list(found.row) == list(range(9))
    np.testing.assert_allclose(found["mean"], loaded.predict(table[:9]), rtol=1e-12)
    text = printed(capsys, "predict", fit, new, "--intervals", "--level", "0.8")
    wide = pd.read_csv(io.StringIO(text), index_col="row")
    expected = loaded.get_prediction(table[:9]).summary_frame(alpha=0.2)
    np.testing.assert_allclose(wide, expected, rtol=1e-12)
    assert list(wide.columns) == list(expected.columns)
    target = str(tmp_path / "out.csv")
    assert printed(capsys, "predict", fit, new, "--to", target) == f"{target}\n"
    np.testing.assert_allclose(pd.read_csv(target)["mean"], found["mean"], rtol=1e-12)


def test_offsets_and_exposures_of_new_rows(capsys, path, table, tmp_path):
    fit = str(tmp_path / "a.fit")
    how = ("--model", "poisson", "--seed", "1", "--exposure", "t")
    printed(capsys, "fit", "y ~ x", path, *how, "--save", fit)
    found = pd.read_csv(io.StringIO(printed(capsys, "predict", fit, path, "--exposure", "t")))
    expected = sgmc.load(fit).predict(table, exposure=table.t)
    np.testing.assert_allclose(found["mean"], expected, rtol=1e-12)
    assert main(["predict", fit, path]) == 2
    assert "fitted with an exposure: give --exposure COLUMN" in capsys.readouterr().err
    assert main(["predict", fit, path, "--exposure", "u"]) == 2
    assert "--exposure 'u': the data have no such column" in capsys.readouterr().err


def test_predictions_of_several_kinds(capsys, path, table, tmp_path):
    fit = str(tmp_path / "a.fit")
    printed(capsys, "fit", "g ~ x", path, "--model", "mnlogit", "--seed", "1", "--save", fit)
    found = pd.read_csv(io.StringIO(printed(capsys, "predict", fit, path)), index_col="row")
    assert list(found.columns) == list("abcdef")
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
    text = printed(capsys, "predict", fit, path, "--intervals")
    assert text.startswith("row,g,mean,mean_se") and text.count("\n") == 1 + 6 * 300


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["predict", "{path}", "{path}"], "is not a file written by Results.save"),
        (["predict", "{path}", "{path}", "--level", "0.9"], "--level is of --intervals"),
        (["describe", "sgdl"], "nothing here is named 'sgdl'; did you mean 'sgld'?"),
    ],
    ids=str,
)
def test_errors_of_commands(capsys, path, arguments, says):
    assert main([one.format(path=path) for one in arguments]) == 2
    assert says in capsys.readouterr().err


def test_models_by_other_names(capsys, path):
    how = ("--seed", "1", "--draws", "400", "--csv")
    same = printed(capsys, "fit", "x ~ y", path, "--model", "ols", *how)
    assert printed(capsys, "fit", "x ~ y", path, "--model", "lm", *how) == same
    assert main(["fit", "x ~ y", path, "--model", "glm"]) == 2
    assert "'glm' is not known; it is chosen by its family" in capsys.readouterr().err


def test_json_has_values(capsys, path, table):
    text = printed(capsys, "fit", "y ~ x", path, "--model", "poisson", "--seed", "1", "--json")
    found, expected = json.loads(text), sgmc.poisson("y ~ x", table, seed=1)
    assert found["schema"] == SCHEMA and found["sgmc"] == sgmc.__version__
    model, run = found["model"], found["run"]
    assert (model["name"], model["formula"], model["link"]) == ("poisson", "y ~ x", "log")
    assert (model["outcome"], model["rows"], model["rows_dropped"]) == ("y", 300, 0)
    assert (run["chains"], run["draws"], run["seed"]) == (4, 1000, 1)
    assert run["sampler"] == expected.sampler.name
    assert run["step_size"] == pytest.approx(expected.step_size, rel=1e-12)
    assert found["diagnostics"]["min_ess_bulk"] == pytest.approx(expected.ess().min(), rel=1e-9)
    assert found["diagnostics"]["max_r_hat"] == pytest.approx(expected.rhat().max(), rel=1e-9)


def test_rows_that_are_dropped_are_counted(capsys, table, tmp_path):
    table.assign(x=table.x.where(table.index > 4)).to_csv(tmp_path / "gaps.csv", index=False)
    how = ("--model", "poisson", "--seed", "1", "--json")
    found = json.loads(printed(capsys, "fit", "y ~ x", str(tmp_path / "gaps.csv"), *how))
    assert (found["model"]["rows"], found["model"]["rows_dropped"]) == (295, 5)


def test_the_page_has_every_key(capsys, path):
    text = printed(capsys, "fit", "y ~ x", path, "--model", "poisson", "--seed", "1", "--json")
    found, page = json.loads(text), PAGE.read_text().partition("## The keys of the JSON")[2]
    keys = [*found, *found["model"], *found["run"], *found["diagnostics"], *found["verdict"]]
    assert len(keys) > 40 and [key for key in keys if f"`{key}`" not in page] == []


def test_data_sets_are_listed(capsys):
    text = printed(capsys, "datasets")
    assert all(f"\n{name}: " in f"\n{text}" for name in sgmc.datasets.names())
    assert max(map(len, text.split("\n"))) <= 78


@pytest.mark.parametrize(
    "name, says",
    [
        ("logit", "Bayesian logistic regression"),
        ("batch-size", "batch_size : int"),
        ("normal", "normal(location: float = 0.0"),
        ("summary", "Results.summary(yname"),
        ("LowESSWarning", "Too few effective draws"),
        ("fair", "(data set, dataset:fair): Fair (1978)"),
        ("taylor", "taylor (gradients): "),
        ("block", "block (subsampling): "),
        ("prepare", "prepare("),
        ("s", "s() of a formula"),
        ("hdi", "hdi is conf_int here."),
        ("lm", "lm is ols here.\n\nBayesian linear regression"),
        ("random_state", "random_state is seed here."),
        ("pvalues", "pvalues has no meaning for a posterior; use prob_positive"),
        ("brm", "sgmc has no 'brm': a verb is a family"),
        ("adapt_delta", "adapt_delta= is none here; it is of a sampler"),
    ],
)
def test_any_name_is_described(capsys, name, says):
    text = printed(capsys, "describe", name)
    assert says in text and len(text.split()) > 5


def test_every_name_of_the_package_is_described():
    from sgmc.api.descriptions import description

    rooms = [name for kind in ("samplers", "families", "gradients") for name in room(kind)]
    for name in [*rooms, *(row.name for row in TABLE), *sgmc.__all__]:
        assert description(name)
