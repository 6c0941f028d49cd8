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


@cache
def imports_that_run(path):
    """Return the dotted names that a source file imports, in functions too, but for types alone."""
    text = path.read_text()
    return python_imports_that_run(text, path) if path.suffix == ".py" else cython_imports(text)


def python_imports_that_run(text, path):
    """Return the dotted names that Python code imports, but for those of `TYPE_CHECKING`."""
    if "TYPE_CHECKING" in text:
        text = ast.unparse(WithoutTypes().visit(ast.parse(text)))
    return python_imports(text, path)


class WithoutTypes(ast.NodeTransformer):
    """Leaves out what only checkers of types read."""

    def visit_If(self, node):
        """Leave out the branch of `TYPE_CHECKING`."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            return self.generic_visit(node)
        return [ast.Pass(), *map(self.visit, node.orelse)]


def circles(graph):
    """Return the circles of a graph {name: names}: groups of names that reach each other, sorted.

    By Tarjan's algorithm (1972): a name whose walk comes back to none that was met before it ends a
    group.
    """
    met, back, stack, found = {}, {}, [], []

    def visit(name):
        met[name] = back[name] = len(met)
        stack.append(name)
        for other in sorted(graph[name] & graph.keys()):
            if other not in met:
                visit(other)
            if other in stack:
                back[name] = min(back[name], back[other])
        if back[name] == met[name]:
            place = stack.index(name)
            if len(stack) > place + 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for name in sorted(graph):
        if name not in met:
            visit(name)
    return sorted(found)
