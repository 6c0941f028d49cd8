"""Python files are as ruff formats and checks them, with the settings of pyproject.toml; rooms that
mypy does not check lack types.
"""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUFF = (
    [sys.executable, "-m", "ruff"] if importlib.util.find_spec("ruff") else [shutil.which("ruff")]
)

needs_ruff = pytest.mark.skipif(RUFF == [None], reason="ruff is not installed")


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
@needs_ruff
@pytest.mark.parametrize("command", [("check", "--output-format=concise"), ("format", "--check")])
def test_ruff_finds_nothing(command):
    status, printed = ruff(*command, ".")
    assert status == 0, printed[-3000:]


@needs_ruff
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


@needs_ruff
def test_lines_that_could_be_joined_are_seen():
    assert ruff("format", "--check", "-", input="x = [\n    1\n]\n")[0] == 1
    assert ruff("format", "--check", "-", input="x = [1]\n")[0] == 0


SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
UNTYPED = [
    name for one in SETTINGS["overrides"] if one.get("ignore_errors") for name in one["module"]
]


def lacks_types(path):
    """Whether a function of a Python file does not say what it returns."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(n, ast.FunctionDef) and n.returns is None for n in ast.walk(tree))


@pytest.mark.parametrize("room", UNTYPED)
def test_rooms_that_are_typed_leave_the_list(room):
    place = ROOT.joinpath(*room.removesuffix(".*").split("."))
    files = [place.with_suffix(".py"), *place.rglob("*.py")]
    assert any(path.exists() and lacks_types(path) for path in files)


NEGATIVE = re.compile(r"[\w\])]\[(?:[^\[\]:]*, *)?-\d+(?:, *[^\[\]:]*)?\]")


def test_compiled_modules_count_no_index_from_the_end():
    """`wraparound` is off: an index below zero is another place, or none, as Python's version has
    it; slices are Python's own.
    """
    assert NEGATIVE.search("eta[-1]") and NEGATIVE.search("x[0, -1]")
    assert not NEGATIVE.search("x[:-1]") and not NEGATIVE.search("[[1, -1], [-2]]")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "sgmc").rglob("*.pyx"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if NEGATIVE.search(line.split("#")[0])
    ]
    assert not found, "\n".join(found)
