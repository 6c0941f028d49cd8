"""Files are small, public functions have docstrings, tests assert something."""

import ast
from pathlib import Path

from .sources import PACKAGE, SOURCES

TESTS = Path(__file__).parents[1]
WIDTH, LENGTH = 100, 400  # columns of a line, lines of a file

WRITTEN = [
    p
    for p in PACKAGE.rglob("*")
    if p.suffix in (".py", ".pyx", ".pxd", ".inc", ".h")
    or p.suffix == ".c"
    and not p.name.startswith("_")
] + [*TESTS.rglob("*.py")]


def test_files_are_small():
    for path in WRITTEN:
        lines = path.read_text().splitlines()
        assert len(lines) <= LENGTH and max(map(len, lines), default=0) <= WIDTH, path


def test_public_functions_and_classes_have_docstrings():
    for path in (p for p in SOURCES if p.suffix == ".py"):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree) or not tree.body, path
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                assert ast.get_docstring(node), f"{path}: {node.name}"


def asserts(node, helpers):
    """Whether a function asserts: a statement, pytest.raises or warns, numpy's assert_...,
    or a helper that does.
    """
    for part in ast.walk(node):
        if isinstance(part, ast.Assert):
            return True
        name = getattr(
            getattr(part, "func", None), "attr", getattr(getattr(part, "func", None), "id", "")
        )
        if name in ("raises", "warns") or name.startswith("assert_") or name in helpers:
            return True
    return False


def without_assertion(source):
    """Names of the tests in it that assert nothing, be it by functions of the same file."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    helpers = set()
    for _ in functions:
        helpers |= {
            f.name for f in functions if not f.name.startswith("test_") and asserts(f, helpers)
        }
    return [f.name for f in functions if f.name.startswith("test_") and not asserts(f, helpers)]


def test_no_test_is_without_an_assertion():
    for path in sorted(TESTS.rglob("test_*.py")):
        assert without_assertion(path.read_text()) == [], path


def test_a_test_without_an_assertion_is_seen():
    code = (
        "def run(): return 1\ndef check(): assert run()\ndef test_a(): run()\ndef test_b(): "
        "check()\n"
        "def test_c():\n    with pytest.raises(E): run()"
    )
    assert without_assertion(code) == ["test_a"]
