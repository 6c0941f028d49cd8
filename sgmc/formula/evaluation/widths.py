"""Columns that calls in a formula make, by the constants in them: known before anything is made."""

import ast
import math
import re
from functools import lru_cache
from typing import Any

COUNTS = dict.fromkeys(("bs", "cr", "cc", "ns"), "df") | {"poly": "degree"}
TENSOR = "te"  # of patsy: its columns are all products of those of its arguments
# patsy's name of a fitted transform, of its releases from 1.0 on and before
TRANSFORM = re.compile(r"_patsy_stobj\d*_+(\w+?)_+\d*_*")


def word_of(call: ast.Call) -> str:
    """The last name of what a call calls; of a fitted transform the word that it is fitted to."""
    function: Any = call.func
    if isinstance(function, ast.Name):
        return function.id
    if not isinstance(function, ast.Attribute):
        return ""
    of: Any = function.value
    of_fit = isinstance(of, ast.Name) and function.attr == "transform"
    return fitted_word(of.id) if of_fit else function.attr


def fitted_word(name: str) -> str:
    """The word of a fitted transform, by patsy's name for it; any other name as it is."""
    found = TRANSFORM.fullmatch(name)
    return found[1] if found else name


def own_columns(call: ast.Call) -> int:
    """Columns that a call of a basis makes by its constants, 1 where it gives none."""
    word = word_of(call)
    if word == TENSOR:
        return math.prod(map(columns_of, call.args))
    if word not in COUNTS:
        return 1
    knots = argument(call, 2, "knots") if COUNTS[word] == "df" else None
    return max(size(argument(call, 1, COUNTS[word])), length(knots), 1)


def degree_of(call: ast.Call) -> int:
    """The degree of a call of `bs` by its constants, 0 where it gives none."""
    return size(argument(call, 3, "degree"))


def argument(call: ast.Call, place: int, name: str) -> Any:
    """An argument of a call by its place or its name, None where it is not given."""
    if len(call.args) > place:
        return call.args[place]
    return next((one.value for one in call.keywords if one.arg == name), None)


def columns_of(node: Any) -> int:
    """The most columns that a part of an expression makes by its constants."""
    if isinstance(node, ast.Call):
        inside = [*node.args, *(one.value for one in node.keywords)]
        within = [] if word_of(node) == TENSOR else map(columns_of, inside)
        return max([own_columns(node), *within])
    return max([1, *map(columns_of, ast.iter_child_nodes(node))])


@lru_cache(maxsize=1024)
def declared(code: str) -> int:
    """Columns of an expression by its constants, at least 1; those that data decide on are none."""
    return columns_of(ast.parse(code.strip(), mode="eval"))


def size(node: Any) -> Any:
    """The size of a number, 0 for any other node."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    number: Any = node.value if isinstance(node, ast.Constant) else None
    return abs(number) if isinstance(number, int | float) else 0


def length(node: Any) -> int:
    """How many knots are written out."""
    return len(node.elts) if isinstance(node, ast.List | ast.Tuple) else 0
