"""Files that release the package agree with pyproject.toml; they are not part of the sdist."""

import re
import tomllib
from pathlib import Path

import pytest

import sgmc

ROOT = Path(__file__).parents[1]
HERE = (ROOT / ".github" / "workflows").is_dir()
pytestmark = pytest.mark.skipif(not HERE, reason="a source distribution has no such files")


def project():
    """pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pythons():
    """Versions of Python that the classifiers name."""
    found = re.findall(r"Python :: (3\.\d+)", "\n".join(project()["project"]["classifiers"]))
    return sorted(found, key=lambda version: int(version[2:]))


def test_tests_and_wheels_are_of_the_pythons_of_the_classifiers():
    matrix = re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/test.yml").read_text())
    assert re.findall(r"3\.\d+", matrix[1]) == pythons()
    built = project()["tool"]["cibuildwheel"]["build"]
    assert built == [f"cp{version.replace('.', '')}-*" for version in pythons()]


def test_the_recipe_requires_what_the_package_does():
    text = (ROOT / "recipe" / "recipe.yaml").read_text()
    run = text.split("  run:\n")[1].split("\n\n")[0]
    wanted = [re.sub(r">=", " >=", line) for line in project()["project"]["dependencies"]]
    assert re.findall(r"- (\S+ >=\S+)", run) == [
        f"python {project()['project']['requires-python']}",
        *wanted,
    ]
    assert f'version: "{sgmc.__version__}"' in text


def test_the_oldest_versions_are_those_of_pyproject():
    oldest = dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / ".ci/oldest.txt").read_text(), re.M))
    for line in project()["project"]["dependencies"]:
        name, version = line.split(">=")
        ours = [int(part) for part in version.split(".")]
        theirs = [int(part) for part in oldest[name].split(".")]
        assert theirs[: len(ours)] == ours, line


@pytest.mark.parametrize("name", ["test", "wheels", "docs"])
def test_workflows_run_what_there_is(name):
    """Paths of the repository that a workflow names exist."""
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
    for path in re.findall(
        r"(?<![\w/.])(?:tests|docs|\.ci|\.github)/[\w./-]+|pyproject.toml", text
    ):
        assert (ROOT / path).exists(), path
