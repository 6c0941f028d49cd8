"""Linear expressions in parameter names, for hypotheses and contrasts."""

import ast
import re

import numpy as np

from sgmc.arguments.names import parameter
from sgmc.arguments.spelling import pattern, within
from sgmc.errors import ArgumentError

LONGEST_PART = 200  # characters of a statement that a message shows
MAX_NUMBER = 1e300  # of the numbers in a statement


class Statement:
    """A text in parameter names, such as ``2*x1 - `my var` > 0.5``,
    whose names are read before its signs.

    Names are written in backticks, or as in the formula, such as ``g[T.b]`` and ``I(x**2)``.

    Parameters
    ----------
    text : str
    names : list of str
    what : str
        The method that was asked, for messages.

    Attributes
    ----------
    code : str
        The text with a token in the place of each name.
    """

    def __init__(self, text, names, what):
        self.names, self.what, self.code, self.used = names, what, text, {}
        for name in names:  # to the letter first: names may differ in these spaces alone
            if name != name.strip() and f"`{name}`" in self.code:
                token = f"_c{names.index(name)}_"
                self.code = self.code.replace(f"`{name}`", token)
                self.used[token] = name
        for name in sorted(names, key=len, reverse=True):  # longest first: x10 before x1
            if not within(name, text) or name != name.strip() in names:
                continue
            token, plain = f"_c{names.index(name)}_", re.search(r"\W", name) is None
            self.code, count = re.subn(f"`{name}`" if plain else pattern(name), token, self.code)
            if count:
                self.used[token] = name

    def combination(self, code):
        """Constant and weights (d,) of a part of the code.

        Raises
        ------
        ArgumentError
            For unknown names (with the nearest), or what is not linear.
        """
        self.part = code.strip()
        for token, name in self.used.items():
            self.part = self.part.replace(token, name)
        for name in re.findall(r"`([^`]+)`", code):
            self.unit(name)  # those known have become tokens: says which is not
        try:
            tree = ast.parse(code.strip(), mode="eval").body
            return self.collect(tree)
        except SyntaxError:
            raise self.refused("cannot read {}; write awkward names in backticks") from None
        except (RecursionError, MemoryError):  # of Python's reader: statements come from anywhere
            raise self.refused("{} has too many signs or brackets within each other") from None

    def refused(self, why):
        """The error that says why the part at hand cannot be read."""
        shown = self.part[:LONGEST_PART] + "..." * (len(self.part) > LONGEST_PART)
        return ArgumentError(f"{self.what}: {why.format(repr(shown))}")

    def collect(self, node):
        """Constant and weights of a linear expression tree."""
        none = np.zeros(len(self.names))
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            if abs(node.value) > MAX_NUMBER:
                raise self.refused("a number in {} is too large, or infinite")
            return float(node.value), none
        if isinstance(node, ast.Name):
            return 0.0, self.unit(self.used.get(node.id, node.id))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            constant, weights = self.collect(node.operand)
            return (-constant, -weights) if isinstance(node.op, ast.USub) else (constant, weights)
        if isinstance(node, ast.BinOp):
            a, u = self.collect(node.left)
            b, v = self.collect(node.right)
            if isinstance(node.op, ast.Add):
                return a + b, u + v
            if isinstance(node.op, ast.Sub):
                return a - b, u - v
            if isinstance(node.op, ast.Mult) and not (u.any() and v.any()):
                return a * b, a * v + b * u
            if isinstance(node.op, ast.Div) and not v.any() and b != 0:
                return a / b, u / b
        instead = (
            "join several by &, as in 'a > 0 & b > 0'"
            if "," in self.part
            else "for other functions take the draws, to_frame()"
        )
        raise self.refused("{} is not linear in the parameters; " + instead)

    def unit(self, name):
        """Weights of one parameter."""
        if name not in self.names and any(one.startswith(f"{name}[") for one in self.names):
            raise ArgumentError(
                f"{self.what}: {name!r} is a factor, which has parameters of its levels; compare "
                f"these by avg_comparisons({name!r})"
            )
        place = self.names.index(parameter(self.what, name, self.names))
        return np.eye(len(self.names))[place]


def difference(text, names):
    """Constant and weights of an expression, or of the two sides of an equation."""
    statement = Statement(text, names, "contrast")
    sides = statement.code.split("=")
    if len(sides) > 2 or not all(side.strip() for side in sides):
        raise ArgumentError(
            f"contrast: {text!r} must be one expression, such as 'x1 - x2', or two with = between "
            "them; give a list for several"
        )
    a, u = statement.combination(sides[0])
    b, v = statement.combination(sides[1]) if len(sides) == 2 else (0.0, np.zeros(len(names)))
    return a - b, u - v
