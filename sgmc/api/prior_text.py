"""Priors and samplers as text of the command line: a name, a call such as ``normal(0, 1)`` or
``sgmc.NUTS(target_accept=0.95)``; of priors a dict of these.
"""

import ast
from typing import Any

from sgmc import priors
from sgmc.arguments.choices import nearest
from sgmc.errors import ArgumentError
from sgmc.priors.names import MAKERS
from sgmc.registry import room


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


def sampler_of(text: str) -> Any:
    """Return what ``sampler=`` of a verb takes: names as they are, calls as specifications.

    Parameters
    ----------
    text : str
        ``nuts``, ``NUTS()`` or ``sgmc.NUTS(target_accept=0.95)``, as advice has it.

    Raises
    ------
    ArgumentError
        If it is neither.
    """
    if "(" not in text:
        return text
    makers = {one.__name__: one for one in room("samplers").values()}
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise SyntaxError("it is no call with named parameters")
        named: dict[Any, Any] = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(
            f"--sampler {text!r} cannot be read ({error}): write a name, or a call such as "
            "'NUTS(target_accept=0.95)'"
        ) from error
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name not in makers:
        raise ArgumentError(f"--sampler: there is no sampler {name!r}{nearest(name, makers)}")
    return makers[name](**named)


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
