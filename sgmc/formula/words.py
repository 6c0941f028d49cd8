"""Words of R that are no functions of a row: ``cbind(successes, failures)`` left of the tilde, and
``offset(x)`` right of it.
"""

from sgmc.formula.bars import closing, written
from sgmc.formula.smooths import arguments

PAIR, OFFSET = "cbind", "offset"


def paired(tokens, error):
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
        raise error(
            f"{written(tokens)} has {len(parts)} parts: write 'cbind(successes, failures) ~ ...'"
        )
    return parts


def offsets(tokens, error):
    """Take the offsets off the right side of a formula.

    Returns
    -------
    rest : list of str
        Tokens without them; ``["1"]`` where nothing else is left.
    found : list of list of str
        Tokens between the parentheses of each.
    """
    rest, found, at, depth = [], [], 0, 0
    while at < len(tokens):
        if tokens[at : at + 2] == [OFFSET, "("] and (at == 0 or tokens[at - 1] != "."):
            end = closing(tokens, at + 1)
            before, after = tokens[at - 1] if at else "+", [*tokens, "+"][end + 1]
            text = written(tokens[at : end + 1])
            if depth or before != "+" or after not in "+-":
                raise error(f"{text} can only be added: write '... + {text}'")
            inside = arguments(tokens[at + 2 : end])
            if len(inside) != 1 or not inside[0]:
                raise error(f"{text}: an offset is one number a row, offset(x)")
            found.append(inside[0])
            if rest:
                rest.pop()  # the plus before it
            at = end + 1 + (not rest and after == "+")
            continue
        depth += (tokens[at] in "([{") - (tokens[at] in ")]}")
        rest.append(tokens[at])
        at += 1
    return rest or ["1"], found
