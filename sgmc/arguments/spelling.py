"""Names of coefficients and terms as users write them: with other spaces and quotes, backticks,
``^`` for ``**``, the parts of an interaction in another order.
"""

import re
from collections.abc import Iterable
from itertools import permutations

MOST_PARTS = 4  # of an interaction, whose orders are tried
TOKENS = re.compile(r"\w+|\*\*|[^\w\s]")
GAP = r"[\s`]*"
ANY_OF = {"**": r"(?:\*\*|\^)", "'": "['\"]", '"': "['\"]"}


def pattern(name: str) -> str:
    """Return a regular expression that matches a name in each of its spellings."""
    parts = parts_of(name)
    orders = [*permutations(parts)] if len(parts) <= MOST_PARTS else [parts]
    joined = "|".join(f"{GAP}:{GAP}".join(map(spellings, order)) for order in orders)
    single = joined
    if len(parts) > 1:  # each part may be between backticks of its own
        single = "|".join(r"\s*:\s*".join(map(ticked, order)) for order in orders)
    before = r"(?<![\w.])" if name[:1].isalnum() else ""  # not the end of a longer name
    # between two backticks, or none: one alone is left over, for the reader to refuse
    return rf"(?:`\s*(?:{joined})\s*`|(?<!`){before}(?:{single})(?!`))"


def spelled(written: str, names: Iterable[str]) -> list[str]:
    """Return those of some names that `written` is a spelling of, or is in backticks."""
    return [one for one in names if written == f"`{one}`"] or [
        one for one in names if within(one, written) and re.fullmatch(pattern(one), written.strip())
    ]


def within(name: str, text: str) -> bool:
    """Whether all words of a name are in a text, as in that of any of its spellings."""
    return all(word in text for word in re.findall(r"\w+", name))


def parts_of(name: str) -> list[str]:
    """The parts of an interaction: between colons that are in no brackets or quotes."""
    depth, quote, parts = 0, "", [""]
    for sign in name:
        if quote or sign in "'\"":
            quote = "" if sign == quote else quote or sign
        else:
            depth += (sign in "([{") - (sign in ")]}")
        if sign == ":" and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += sign
    return parts if all(part.strip() for part in parts) else [name]


def spellings(part: str) -> str:
    """A regular expression for one part; words of which only spaces are between stay apart."""
    found, last = "", ""
    for token in TOKENS.findall(part.replace("`", "")):
        gap = r"\s+" if word(last) and word(token) else GAP if last else ""
        found, last = found + gap + ANY_OF.get(token, re.escape(token)), token
    return found


def ticked(part: str) -> str:
    """A regular expression for one part, between two backticks or none."""
    found = spellings(part)
    return rf"(?:`\s*{found}\s*`|{found})"


def word(token: str) -> bool:
    """Whether a token is one of letters and digits."""
    return token[:1].isalnum() or token[:1] == "_"
