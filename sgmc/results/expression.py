"""Linear expressions in coefficient names, for hypotheses."""
import ast
import difflib
import re

import numpy as np

from sgmc.errors import ArgumentError

LARGEST = 1e300           # of the numbers in a statement


def linear(text, names, draws):
    """Draws of a linear expression such as ``2*x1 - `my var` + 0.5``.

    Names that are not identifiers are written in backticks; names like ``g[T.b]`` also as they stand.

    Parameters
    ----------
    text : str
    names : list of str
    draws : array (n, d)

    Raises
    ------
    ArgumentError
        For unknown names (with the nearest), or what is not linear.
    """
    code, used = text, {}
    for name in sorted(names, key=len, reverse=True):         # longest first: x10 before x1
        token = f"_c{names.index(name)}_"
        pattern = f"`{re.escape(name)}`" if re.search(r"\W", name) is None else f"`{re.escape(name)}`|{re.escape(name)}"
        code, count = re.subn(pattern, token, code)
        if count:
            used[token] = name
    try:
        tree = ast.parse(code.strip(), mode="eval").body
    except SyntaxError:
        raise ArgumentError(f"hypothesis: cannot read {text.strip()!r}; write awkward names in backticks") from None
    constant, weights = collect(tree, names, used, text)
    return constant + draws @ weights


def collect(node, names, used, text):
    """Constant and weights of a linear expression tree."""
    none = np.zeros(len(names))
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if abs(node.value) > LARGEST:
            raise ArgumentError(f"hypothesis: a number in {text.strip()!r} is too large, or infinite")
        return float(node.value), none
    if isinstance(node, ast.Name):
        name = used.get(node.id, node.id)
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            raise ArgumentError(f"hypothesis: {name!r} is not a coefficient"
                                + (f"; did you mean {near[0]!r}?" if near else f"; they are: {', '.join(names[:20])}"))
        return 0.0, np.eye(len(names))[names.index(name)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        constant, weights = collect(node.operand, names, used, text)
        return (-constant, -weights) if isinstance(node.op, ast.USub) else (constant, weights)
    if isinstance(node, ast.BinOp):
        a, u = collect(node.left, names, used, text)
        b, v = collect(node.right, names, used, text)
        if isinstance(node.op, ast.Add):
            return a + b, u + v
        if isinstance(node.op, ast.Sub):
            return a - b, u - v
        if isinstance(node.op, ast.Mult) and not (u.any() and v.any()):
            return a * b, a * v + b * u
        if isinstance(node.op, ast.Div) and not v.any() and b != 0:
            return a / b, u / b
    raise ArgumentError(f"hypothesis: {text.strip()!r} is not linear in the coefficients")
