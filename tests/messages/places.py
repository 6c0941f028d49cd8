"""Places of the package that make a message: an error that is raised, or a warning.

A place is a ``raise`` of a call, or a call of one of the classes in `sgmc.errors`.  Not counted are
``NotImplementedError``, which marks methods that subclasses define, and errors of Python without
words, such as ``AttributeError(name)``.
"""

import ast
import builtins
import re
import textwrap
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "sgmc"  # the wheel has no Cython sources
SKIPPED = ("_names.py", "_cyutility.py", "errors.py")
RAISE = re.compile(r"^( *)raise (?=[\w.]+\()", re.M)
SCOPE = re.compile(r"^( *)(?:class|cdef class|def|cp?def [^\n(=]*?)\s*\b(\w+)\s*[(:]")


@dataclass(frozen=True)
class Place:
    """A place that makes a message.

    Parameters
    ----------
    file : str
        Path in the project.
    function : str
        Qualified name of the function around it.
    call : str
        The call that makes the message, as source on one line.
    lines : (int, int)
        First and last line.
    """

    file: str
    function: str
    call: str
    lines: tuple = field(compare=False, default=(0, 0))

    @property
    def key(self):
        """The name of the place, whatever lines it is on."""
        return f"{self.file} | {self.function} | {self.call}"

    @classmethod
    def of(cls, file, function, call, first):
        """Return the place of a parsed call; `first` is the number of the line before it."""
        words = " ".join(ast.unparse(call).split())
        return cls(file, function, words, (first + call.lineno, first + call.end_lineno))


def speaks(call):
    """Return whether a call that is raised makes a message."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name == "NotImplementedError":
        return False
    words = any(
        isinstance(part, ast.Constant) and isinstance(part.value, str) for part in ast.walk(call)
    )
    return words or not hasattr(builtins, name)


# ---- Python --------------------------------------------------------------------------------------


@cache
def classes():
    """Return the names of the package's errors and warnings."""
    tree = ast.parse((PACKAGE / "errors.py").read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.ClassDef))


class Finder(ast.NodeTransformer):
    """Find the places of a module; `wrap` returns what stands there instead of each call."""

    def __init__(self, file, wrap=lambda place, call: call):
        self.file, self.wrap = file, wrap
        self.places, self.scope, self.named = [], [], set()

    def scoped(self, node):
        """Visit a class or function with its name, and with the names it gives to classes."""
        before = self.named
        self.named = before | {
            target.id
            for one in ast.walk(node)
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.IfExp)
            for target in one.targets
            if isinstance(target, ast.Name) and {*parts(one.value)} & classes()
        }
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()
        self.named = before
        return node

    visit_ClassDef = visit_FunctionDef = scoped

    def visit_Raise(self, node):
        """A ``raise`` of a call."""
        if not isinstance(node.exc, ast.Call):
            return self.generic_visit(node)
        call, cause = node.exc, node.cause
        if speaks(call):
            node.exc = self.found(call)
        else:
            self.generic_visit(call)
        node.cause = cause and self.visit(cause)
        return node

    def visit_Call(self, node):
        """A call of a class, be it raised elsewhere."""
        if isinstance(node.func, ast.Name) and node.func.id in classes() | self.named:
            return self.found(node)
        return self.generic_visit(node)

    def found(self, call):
        """Note a place and return what stands there."""
        place = Place.of(self.file, ".".join(self.scope) or "module", call, 0)
        self.places.append(place)
        self.generic_visit(call)
        return self.wrap(place, call)


def parts(choice):
    """Return the names that a conditional expression chooses from."""
    for one in (choice.body, choice.orelse):
        if isinstance(one, ast.IfExp):
            yield from parts(one)
        elif isinstance(one, ast.Name):
            yield one.id


def of_python(source, file):
    """Return the places of Python code."""
    finder = Finder(file)
    finder.visit(ast.parse(source))
    return finder.places


# ---- Cython --------------------------------------------------------------------------------------


def of_cython(source, file):
    """Return the places of Cython code, by a scan of its text."""
    found = []
    for match in RAISE.finditer(source):
        words = statement(source[match.start() :])
        call = ast.parse(textwrap.dedent(words)).body[0].exc
        if not speaks(call):
            continue
        function = around(source[: match.start()], len(match.group(1)))
        found.append(Place.of(file, function, call, source.count("\n", 0, match.start())))
    return found


def statement(rest):
    """Return the first statement of a text: up to where its brackets are closed."""
    depth, quote, k = 0, "", 0
    while k < len(rest):
        letter = rest[k]
        if quote:
            if letter == "\\":
                k += 1
            elif letter == quote:
                quote = ""
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "\n" and depth == 0:
            break
        k += 1
    return rest[:k]


def around(before, indent):
    """Return the qualified name of the function around a line that is indented so far."""
    names = []
    for line in reversed(before.splitlines()):
        match = SCOPE.match(line)
        if match and len(match.group(1)) < indent:
            names.append(match.group(2))
            indent = len(match.group(1))
    return ".".join(reversed(names)) or "module"


# ---- the package ---------------------------------------------------------------------------------


def find(path, file):
    """Return the places of a source file."""
    reader = of_python if path.suffix == ".py" else of_cython
    return reader(path.read_text(), file)


@cache
def everywhere():
    """Return the places of the package, in order, each key once."""
    paths = sorted(
        path
        for path in PACKAGE.rglob("*")
        if path.suffix in (".py", ".pyx") and path.name not in SKIPPED
    )
    found = {}
    for path in paths:
        for place in find(path, path.relative_to(PACKAGE.parent).as_posix()):
            found.setdefault(place.key, place)
    return list(found.values())
