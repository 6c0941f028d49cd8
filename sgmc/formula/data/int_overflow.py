"""Whole numbers in expressions of formulas that leave the range of int64, in which numpy's
arithmetic goes round without a word.

Ranges of integer columns are carried through an expression (interval arithmetic: Moore, Kearfott &
Cloud 2009, Introduction to Interval Analysis, section 2.2); only what might leave the range is
computed again with float64.  Expressions of floats alone cost nothing.
"""

import ast
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import patsy.builtins

from sgmc.arguments.types import Array
from sgmc.errors import FormulaError

RANGE = np.iinfo(np.int64)
ENOUGH_BITS = 200  # for any number that is surely out of range
# numpy's functions that are operators of Python, and those whose result is in the argument's range
SAME_AS: dict[str, Any] = {
    "add": ast.Add,
    "subtract": ast.Sub,
    "multiply": ast.Mult,
    "power": ast.Pow,
}
SAME_AS |= {"negative": ast.USub, "positive": ast.UAdd}
WITHIN = ("abs", "absolute", "minimum", "maximum", "clip")
INNER_NAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Call)


def refuse_int_overflow(
    code: str, functions: Mapping[str, Any], names: Mapping[str, Any], label: str
) -> None:
    """FormulaError where whole numbers of an expression leave the range of int64.

    Parameters
    ----------
    code : str
    functions : dict
        That it calls, by name.
    names : dict
        Placeholder -> values of a column.
    label : str
        Of the expression.
    """
    if any(is_whole(values) for values in names.values()):
        tree = tree_of(code)
        if any(isinstance(node, OPERATIONS) for node in ast.walk(tree)):
            with np.errstate(all="ignore"):
                Ranges(functions, names, label).of(tree)


@lru_cache(maxsize=256)
def tree_of(code: str) -> Any:
    """The tree of an expression."""
    return ast.parse(code, mode="eval").body


def is_whole(values: Any) -> bool:
    """Whether values are of int64, as all columns of integers are in formulas."""
    return getattr(values, "dtype", None) == np.int64


class Ranges:
    """Ranges of the parts of one expression: pairs (least, largest) of Python's integers, None for
    what is not of whole numbers or not known.
    """

    def __init__(self, functions: Mapping[str, Any], names: Mapping[str, Any], label: str) -> None:
        self.functions, self.names, self.label = functions, names, label
        self.known: dict[Any, Any] = {}

    def of(self, node: Any) -> tuple[int, int] | None:
        """The range of a node; its parts are looked through, too."""
        if isinstance(node, ast.Constant):
            return (node.value, node.value) if isinstance(node.value, int) else None
        if isinstance(node, ast.Name):
            return self.column(node.id)
        if isinstance(node, INNER_NAMES):
            return None
        parts: list[Any] = [self.of(part) for part in parts_of(node)]
        kind = self.kind(node)
        if kind is None or not parts or None in parts[: 1 + (kind not in (ast.USub, ast.UAdd))]:
            return None
        if kind == "within":
            if None in parts:
                return None
            largest = max(abs(end) for one in parts for end in one)
            return -largest, largest
        if kind is ast.Pow and parts[1][0] < 0:
            if constant(node):
                return None
            self.refuse_fractions(node)
            parts[1] = (0, max(0, parts[1][1]))
        return self.checked(node, INTERVALS[kind](*parts[:2]))

    def refuse_fractions(self, node: Any) -> None:
        """FormulaError for a power with a negative exponent in some row."""
        exponent = node.right if isinstance(node, ast.BinOp) else node.args[1]
        if (self.values(exponent, self.names) < 0).any():
            raise FormulaError(
                f"{self.label!r}: negative powers of whole numbers are fractions, which numpy does "
                f"not compute from them: write the exponent with a point, x ** -1.0"
            )

    def values(self, node: Any, names: Mapping[str, Any]) -> Array:
        """The values of a part of the expression."""
        code = compile(ast.Expression(node), "<formula>", "eval")
        return np.asarray(eval(code, dict(self.functions), names))

    def column(self, place: str) -> tuple[int, int] | None:
        """The range of a column."""
        values: Any = self.names.get(place)
        if getattr(getattr(values, "dtype", None), "kind", "") == "b":
            return 0, 1
        if not is_whole(values):
            return None
        if place not in self.known:
            empty = not len(values)
            self.known[place] = (0, 0) if empty else (int(values.min()), int(values.max()))
        return self.known[place]

    def kind(self, node: Any) -> Any:
        """The operation of a node, "within" for one that leaves no range, None for any other."""
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            return type(node.op) if type(node.op) in INTERVALS else None
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        function: Any = node.func
        if isinstance(function, ast.Name):
            found = self.functions.get(function.id)
            return "within" if found in (abs, patsy.builtins.I) else self.of_numpy(found)
        if isinstance(function.value, ast.Name) and self.functions.get(function.value.id) is np:
            return self.of_numpy(getattr(np, function.attr, None))
        return None

    def of_numpy(self, function: Any) -> Any:
        """The same of one of numpy's functions."""
        if not isinstance(function, np.ufunc):
            return "within" if function is np.clip else None
        name = function.__name__
        return "within" if name in WITHIN else "square" if name == "square" else SAME_AS.get(name)

    def checked(self, node: Any, found: tuple[int, int]) -> tuple[int, int] | None:
        """A range; the one that there is, by float64, where it could be out of int64."""
        if RANGE.min <= found[0] and found[1] <= RANGE.max:
            return found
        if constant(node):  # of Python, with all digits
            return None
        numbers = {
            place: values.astype(np.float64) if is_whole(values) else values
            for place, values in self.names.items()
        }
        try:
            values = self.values(node, numbers).astype(np.float64)
        except Exception:  # what it is, is told where the whole expression is evaluated
            return None
        low, high = float(values.min()), float(values.max())
        if not (low >= RANGE.min and high < -float(RANGE.min)):
            raise FormulaError(
                f"{self.label!r}: its whole numbers leave the range of 64 bits (up to 9.2e18), and "
                f"would go round to wrong values; take {self.cure(node)}"
            )
        return math.floor(low), math.ceil(high)

    def cure(self, node: Any) -> str:
        """What to write, a clause."""
        places = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        names = [str(self.names[one].name) for one in places if is_whole(self.names.get(one))]
        name = names[0] if names else "x"
        return f"1.0 * {name} in the place of {name}, or give the column {name!r} as floats"


def cure_of(message: str) -> str:
    """What to do about an error of numpy's in the arithmetic of whole numbers: the end of a
    sentence, or nothing.
    """
    return ": write the exponent with a point, x ** -1.0" * ("negative integer powers" in message)


def parts_of(node: Any) -> list[Any]:
    """The parts of a node that have values."""
    if isinstance(node, ast.Call):
        inner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        first = [part for part in inner if not isinstance(part, ast.Name)]
        return [*node.args, *(one.value for one in node.keywords), *first]
    return [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]


def constant(node: Any) -> bool:
    """Whether a node has no name in it."""
    return not any(isinstance(part, ast.Name) for part in ast.walk(node))


def product(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The range of a product."""
    ends = [a * b for a in one for b in other]
    return min(ends), max(ends)


def power(base: tuple[int, int], exponent: tuple[int, int]) -> tuple[int, int]:
    """A range that has that of a power in it."""
    largest = max(1, *map(abs, base))
    bits = exponent[1] * math.log2(largest)
    top = 1 << ENOUGH_BITS if bits > ENOUGH_BITS else largest ** exponent[1]
    return (-top if base[0] < 0 else 0), top


INTERVALS = {
    ast.Add: lambda one, other: (one[0] + other[0], one[1] + other[1]),
    ast.Sub: lambda one, other: (one[0] - other[1], one[1] - other[0]),
    ast.Mult: product,
    ast.Pow: power,
    ast.USub: lambda one, *_: (-one[1], -one[0]),
    ast.UAdd: lambda one, *_: one,
    "square": lambda one, *_: power(one, (2, 2)),
}
