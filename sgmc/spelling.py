"""Which of the known names a misspelt one is."""

from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=512)  # `hasattr` asks for the same names again and again
def nearest(name: str, public: tuple[str, ...]) -> str:
    """Return the end of the message: the name that is meant, if this one is misspelt."""
    found = misspelt(name, public)
    return f"; did you mean {found!r}?" if found else ""


def misspelt(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that differs least from another, by two letters at most, or by one
    where they are short; None where there is none.  The first letter is the same but for its case:
    other names that look alike, such as ``epred`` and ``seed``, mean other things.
    """
    bare = name.lstrip("-")  # of an option
    most, head = 2 if len(bare) > 4 else 1, bare[:1].casefold()
    alike = (one for one in known if one.lstrip("-")[:1].casefold() == head)
    # among those as near, one whose letters are only swapped, or whose case is the same
    near = [
        (letters(name, one), sorted(name) != sorted(one), bare[:1] not in one, one) for one in alike
    ]
    return min((one for one in near if one[0] <= most), default=(None,))[-1]


def letters(a: str, b: str) -> int:
    """Return how many letters differ: inserted, left out, replaced, or swapped with the next, none
    twice (optimal string alignment; Damerau, 1964, doi:10.1145/363958.363994).
    """
    a, b = a.casefold(), b.casefold()
    before, row = [0] * len(b), [*range(len(b) + 1)]
    for i in range(1, len(a) + 1):
        last, before, row = before, row, [i]
        for j in range(1, len(b) + 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a[i - 1] != b[j - 1])))
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 2 : j][::-1]:
                row[-1] = min(row[-1], last[j - 2] + 1)
    return row[-1]
