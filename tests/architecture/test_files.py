"""Files have one subject, public functions have docstrings, tests assert something."""

import ast
from importlib import import_module
from pathlib import Path

from .sources import PACKAGE, SOURCES, module_name

TESTS = Path(__file__).parents[1]
WIDTH, LENGTH = 100, 800  # columns of a line; lines beyond which a file has two subjects

WRITTEN = [
    p
    for p in PACKAGE.rglob("*")
    if p.suffix in (".py", ".pyx", ".pxd", ".inc", ".h")
    or p.suffix == ".c"
    and not p.name.startswith("_")
] + [*TESTS.rglob("*.py")]


def test_files_have_one_subject():
    for path in WRITTEN:
        lines = path.read_text().splitlines()
        assert len(lines) <= LENGTH and max(map(len, lines), default=0) <= WIDTH, path


def test_public_functions_and_classes_have_docstrings():
    for path in (p for p in SOURCES if p.suffix == ".py"):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree) or not tree.body, path
        for node in tree.body:
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
                continue
            if "overload" not in map(ast.unparse, node.decorator_list):
                assert ast.get_docstring(node), f"{path}: {node.name}"


def undocumented(path):
    """Public methods of a file without a docstring, be it of a method that they override."""
    return [
        f"{node.name}.{one.name}"
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        for one in node.body
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")
        if not ast.get_docstring(one)
        if not inherited(getattr(import_module(module_name(path)), node.name), one.name)
    ]


def inherited(cls, name):
    """Whether a base of a class documents a method."""
    return any(name in vars(base) and vars(base)[name].__doc__ for base in cls.__mro__)


def test_public_methods_have_docstrings_or_inherit_them():
    for path in (p for p in SOURCES if p.suffix == ".py"):
        assert undocumented(path) == [], path


def test_a_method_without_a_docstring_is_seen():
    class Base:
        def told(self):
            """Documented."""

    class Other(Base):
        def told(self):
            pass

        def untold(self):
            pass

    assert inherited(Other, "told") and not inherited(Other, "untold")


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
    helpers, before = set(), None
    while helpers != before:  # until no function asserts by another one more
        before = set(helpers)
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
