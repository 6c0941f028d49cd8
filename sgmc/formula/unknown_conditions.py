"""Where a condition on columns is neither true nor false, as a value in it is missing: R's logic of
three values, in the place of NumPy's, for which ``nan != 2`` is true.
"""

import ast
import io
import re
import tokenize
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.types import Bools, Frame, Series

# of pandas' expressions, besides methods of columns
FUNCTIONS = ("abs", "sqrt", "exp", "expm1", "log", "log1p", "log10", "sin", "cos", "floor", "ceil")
WORDS = {"&": "and", "|": "or"}  # pandas gives these signs the precedence of the words


def unknown_rows(condition: str, frame: Frame, names: list[Any]) -> Bools:
    """Rows in which a condition is unknown.

    Parameters
    ----------
    condition : str
        As `DataFrame.eval` takes it.
    frame : DataFrame
    names : list
        Columns that it uses.
    """
    unknown = np.zeros(len(frame), dtype=bool)
    if not any(frame[name].isna().any() for name in names):
        return unknown
    scope: dict[str, Any] = {name: getattr(np, name) for name in FUNCTIONS}
    scope |= {str(name): with_unknown(frame[name]) for name in names}
    try:
        found = pd.Series(eval(compiled(condition, scope), {"__builtins__": {}}, scope))
        # what is no column of truth values is refused where the condition itself is evaluated
        return found.isna().to_numpy() if len(found) == len(frame) else unknown
    except Exception:  # code that columns with missing values of their own do not take
        return unknown


def with_unknown(column: Series) -> Series:
    """A column whose comparisons are missing where it is; ordered categories stay as they are, as
    their order is not that of their labels.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        if column.cat.ordered:
            return column
        column = column.astype(column.cat.categories.dtype)
    return column.convert_dtypes()


def compiled(condition: str, scope: dict[str, Any]) -> Any:
    """Code of a condition; columns in backticks and memberships are added to what it is evaluated
    in.
    """

    def placed(found: "re.Match[str]") -> str:
        place = f"_column_{len(scope)}"
        scope[place] = scope[found[1]]
        return place

    scope["_isin"] = is_in
    text = re.sub(r"`([^`]*)`", placed, condition).strip().replace("\n", " ")
    words = [
        (tokenize.NAME if one.string in WORDS else one.type, WORDS.get(one.string, one.string))
        for one in tokenize.generate_tokens(io.StringIO(text).readline)
    ]
    tree = ThreeValued().visit(ast.parse(tokenize.untokenize(words).strip(), mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<subset>", "eval")


def is_in(column: Series, values: Any) -> Series:
    """Membership, which is known of missing values, too: they are no member."""
    return column.isin(values).astype("boolean")


class ThreeValued(ast.NodeTransformer):
    """Words of logic become signs, which columns with missing values have rules for."""

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """``a and b`` is ``a & b``."""
        sign = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
        values = [self.visit(one) for one in node.values]
        return reduce(lambda a, b: ast.BinOp(a, sign, b), values)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """``not a`` is ``~a``."""
        sign = ast.Invert() if isinstance(node.op, ast.Not) else node.op
        return ast.UnaryOp(sign, self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> Any:
        """``a < b < c`` is ``(a < b) & (b < c)``; lists are sets of members."""
        sides = [self.visit(one) for one in (node.left, *node.comparators)]
        found = [self.one(*three) for three in zip(sides, node.ops, sides[1:])]
        return reduce(lambda a, b: ast.BinOp(a, ast.BitAnd(), b), found)

    @staticmethod
    def one(left: Any, sign: Any, right: Any) -> Any:
        """One comparison."""
        if isinstance(sign, ast.In | ast.NotIn) or isinstance(right, ast.List | ast.Tuple):
            member = ast.Call(ast.Name("_isin", ast.Load()), [left, right], [])
            negated = isinstance(sign, ast.NotIn | ast.NotEq)
            return ast.UnaryOp(ast.Invert(), member) if negated else member
        return ast.Compare(left, [sign], [right])
