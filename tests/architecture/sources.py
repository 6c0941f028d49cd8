"""The sources of the package: files, rooms, and what they import."""

import ast
import re
from functools import cache
from pathlib import Path

from .rooms import TABLE

PACKAGE = Path(__file__).resolve().parents[2] / "sgmc"  # the wheel has no Cython sources
SOURCES = sorted(
    path
    for path in PACKAGE.rglob("*")
    if path.suffix in (".py", ".pyx", ".pxd") and path.name not in ("_names.py", "_cyutility.py")
)


def module_name(path):
    """Return the dotted name of a source file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(name):
    """Return the room of a dotted name of the package: the longest line of the table it is in."""
    inside = "/".join(name.split(".")[1:])
    rooms = [room for room in TABLE if inside == room or inside.startswith(f"{room}/")]
    return max(rooms, key=len, default="")


@cache
def imports(path):
    """Return the dotted names that a source file imports, anywhere in it."""
    text = path.read_text()
    return python_imports(text, path) if path.suffix == ".py" else cython_imports(text)


def python_imports(text, path):
    """Return the dotted names that Python code imports; relative imports are refused."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {submodule(node.module, alias.name) for alias in node.names}
    return found


def cython_imports(text):
    """Return the dotted names that Cython code imports or cimports."""
    found = set()
    flat = re.sub(r"\\\n|\(([^)]*)\)", lambda m: (m.group(1) or "").replace("\n", " "), text)
    for module, names in re.findall(r"^\s*from ([\w.]+) c?import (.+)$", flat, re.M):
        parts = names.split("#")[0].split(",")
        found |= {submodule(module, part.split(" as ")[0].strip()) for part in parts}
    for names in re.findall(r"^\s*c?import (.+)$", flat, re.M):
        found |= {part.split(" as ")[0].strip() for part in names.split("#")[0].split(",")}
    return found


def submodule(module, name):
    """Return ``module.name`` if that is a module of the package, else ``module``."""
    base = PACKAGE.parent.joinpath(*module.split("."), name)
    files = (base.with_suffix(suffix) for suffix in (".py", ".pyx", ".pxd"))
    inside = module.split(".")[0] == "sgmc"
    return (
        f"{module}.{name}" if inside and (base.is_dir() or any(map(Path.exists, files))) else module
    )


def lazy(path, name):
    """Return whether a Python file imports `name` only within functions."""
    return path.suffix == ".py" and name not in imports_at_once(path)


@cache
def imports_at_once(path):
    """Return the dotted names that a Python file imports outside functions and classes, and not
    for types alone.
    """
    tree = ast.parse(path.read_text())
    at_once = ast.Module([node for node in tree.body if not waits(node)], [])
    return python_imports(ast.unparse(at_once), path)


def waits(node):
    """Return whether imports in a statement are not run with the module."""
    typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    return typing or isinstance(node, (ast.FunctionDef, ast.ClassDef))
