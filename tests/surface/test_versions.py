"""Versions for bug reports, and the command line's word on itself."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sgmc
from sgmc.api import cli, versions
from sgmc.arguments.declared.keywords import FORMULA, REGRESSION, rows

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_versions_are_printed(capsys):
    sgmc.show_versions()
    told = capsys.readouterr().out
    numpy = __import__("numpy")
    assert re.search(rf"^  numpy +{re.escape(numpy.__version__)}$", told, re.M)
    assert re.search(rf"^  sgmc +{re.escape(sgmc.__version__)}$", told, re.M)
    assert sys.version.split()[0] in told and "threads" in told.split("Linear algebra")[1]


def test_what_is_missing_is_named():
    assert versions.version("no-such-package-of-sgmc") == "not installed"


def test_every_dependency_is_listed():
    project = tomllib.loads(PROJECT.read_text())["project"]
    name = lambda text: re.match(r"[\w-]+", text).group()
    assert tuple(map(name, project["dependencies"])) == versions.REQUIRED
    tools = {"cython", "hypothesis", "mypy", "pytest", "pytest-xdist", "ruff", "setuptools"}
    extra = {name(text) for text in project["optional-dependencies"]["test-all"]} - tools
    assert extra == {*versions.OPTIONAL} | ({"arviz-stats"} & extra)


@pytest.mark.extended
def test_the_command_line_has_a_version():
    done = subprocess.run(
        [sys.executable, "-m", "sgmc", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"sgmc {sgmc.__version__}\n")


def test_options_of_a_fit_are_those_of_the_table(capsys):
    with pytest.raises(SystemExit):
        cli.main(["fit", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    for row in rows(FORMULA, REGRESSION):
        assert (f"--{row.name.replace('_', '-')} " in told) == (row.option is not None), row.name
    assert '--draws DRAWS Kept draws per chain (int >= 1, or "auto"; default: auto)' in told


@pytest.mark.parametrize(
    "name, told",
    [
        ("logit", "Bayesian logistic regression"),
        ("SGHMC", "leapfrog = 5  (1 .. 1000)"),
        ("batch-size", 'batch_size : int, from 1 to the number of rows, or "adaptive", optional'),
    ],
)
def test_describe(name, told, capsys):
    assert cli.main(["describe", name]) == cli.OK
    assert told in capsys.readouterr().out


def test_describe_of_what_there_is_not(capsys):
    assert cli.main(["describe", "logti"]) == cli.BAD_INPUT
    assert "nothing here is named 'logti'; did you mean 'logit'?" in capsys.readouterr().err
