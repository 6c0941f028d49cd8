"""Words of R that are no functions of a row: ``cbind(successes, failures)`` left of the tilde, and
``offset(x)`` right of it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sgmc.formula.syntax.bars import closing, written
from sgmc.formula.syntax.calls import taken_off
from sgmc.formula.syntax.smooths import arguments

if TYPE_CHECKING:
    from sgmc.errors import FormulaError


PAIR, OFFSET = "cbind", "offset"


def paired(tokens: list[str], error: "Callable[[str], FormulaError]") -> list[list[str]] | None:
    """The tokens of successes and of failures of a response that is R's ``cbind``; else None.

    Parameters
    ----------
    tokens : list of str
        Of the response.
    error : function of str
        Makes the FormulaError of a message.
    """
    if tokens[:2] != [PAIR, "("] or closing(tokens, 1) != len(tokens) - 1:
        return None
    parts = arguments(tokens[2:-1])
    if len(parts) != 2 or not all(parts):
        kinds = (
            "; counts of several kinds are for mnlogit, a row a kind: long = "
            f"df.melt(id_vars=[...], value_vars={parts}, var_name='kind', value_name='n'), then "
            "sgmc.mnlogit('kind ~ ...', long, weights='n')"
        )
        raise error(
            f"{written(tokens)} has {len(parts)} parts: write 'cbind(successes, failures) ~ ...'"
            + kinds * (len(parts) > 2 and all(parts))
        )
    return parts


def offsets(
    tokens: list[str], error: "Callable[[str], FormulaError]"
) -> tuple[list[str], list[list[str]]]:
    """Take the offsets off the right side of a formula.

    Returns
    -------
    rest : list of str
        Tokens without them; ``["1"]`` where nothing else is left.
    found : list of list of str
        Tokens between the parentheses of each.
    """
    rest, calls = taken_off(tokens, is_offset, error)
    found = []
    for name, inside in calls:
        parts = arguments(inside)
        if len(parts) != 1 or not parts[0]:
            text = written([name, "(", *inside, ")"])
            raise error(f"{text}: an offset is one number a row, offset(x)")
        found.append(parts[0])
    return rest, found


def is_offset(tokens: list[str], at: int) -> bool:
    """Whether ``offset(`` begins at a place; a method of that name is none."""
    return tokens[at : at + 2] == [OFFSET, "("] and (at == 0 or tokens[at - 1] != ".")
