"""Python files are as ruff formats and checks them, with the settings of pyproject.toml."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUFF = (
    [sys.executable, "-m", "ruff"] if importlib.util.find_spec("ruff") else [shutil.which("ruff")]
)

pytestmark = pytest.mark.skipif(RUFF == [None], reason="ruff is not installed")


def ruff(*arguments, root=ROOT, **options):
    """Run ruff with the project's settings; its exit status and what it printed."""
    done = subprocess.run(
        [*RUFF, *arguments, "--no-cache", "--config", str(ROOT / "pyproject.toml")],
        cwd=root,
        capture_output=True,
        text=True,
        **options,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.cover(0)
@pytest.mark.parametrize("command", [("check", "--output-format=concise"), ("format", "--check")])
def test_ruff_finds_nothing(command):
    status, printed = ruff(*command, ".")
    assert status == 0, printed[-3000:]


@pytest.mark.parametrize(
    "code, rule",
    [
        ("import os\n", "F401"),
        ("x = 1  " + "# " * 50 + "\n", "E501"),
        ("def f(a=[]):\n    return a\n", "B006"),
        ("import sgmc\nimport numpy\n\nprint(sgmc, numpy)\n", "I001"),
    ],
)
def test_the_settings_see_what_is_wrong(code, rule):
    status, printed = ruff("check", "--output-format=concise", "-", input=code)
    assert status == 1 and rule in printed


def test_lines_that_could_be_joined_are_seen():
    assert ruff("format", "--check", "-", input="x = [\n    1\n]\n")[0] == 1
    assert ruff("format", "--check", "-", input="x = [1]\n")[0] == 0
