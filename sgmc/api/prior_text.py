"""Priors as text of the command line: a name, a call such as ``normal(0, 1)``, a dict of these."""

import ast
from typing import Any

from sgmc import priors
from sgmc.arguments.choices import nearest
from sgmc.errors import ArgumentError

MAKERS = (
    "normal", "student_t", "cauchy", "laplace", "horseshoe", "ridge", "r2d2", "flat", "gamma",
    "inverse_gamma", "lognormal", "exponential", "half_t", "half_normal", "lkj",
    "uniform", "truncated", "mvnormal",
)  # fmt: skip


def prior_of(text: str) -> Any:
    """Return what ``prior=`` of a verb takes.

    Parameters
    ----------
    text : str
        ``flat``, ``normal(0, 1)`` or ``{"x": flat(), "*": "laplace"}``.

    Raises
    ------
    ArgumentError
        If it is none of these.
    """
    if text.isidentifier():
        return text
    try:
        return value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError) as error:
        raise ArgumentError(
            f"--prior {text!r} cannot be read ({error}): write a name, 'normal(0, 1)', or "
            '\'{"x": flat(), "*": normal(0, 1)}\''
        ) from error


def value(node: ast.expr) -> Any:
    """What a node stands for: a prior, a dict of them, or a plain value."""
    if isinstance(node, ast.Dict):
        keys: list[Any] = node.keys
        return {ast.literal_eval(key): value(one) for key, one in zip(keys, node.values)}
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    if name not in MAKERS:
        raise ArgumentError(f"--prior: there is no prior {name!r}{nearest(name, MAKERS)}")
    given = [value(one) for one in node.args]
    named: dict[Any, Any] = {one.arg: value(one.value) for one in node.keywords}
    return getattr(priors, name)(*given, **named)
