"""The bad-input table: what is refused, or warned of, by which name and in which words, for
regression models of each kind.

``python -m tests.input.table`` prints every message as the user sees it.
"""

import warnings

from sgmc.errors import SGMCError, SGMCWarning

from .bad_arguments import OF_FIT, OF_OBJECTS
from .bad_data import OF_ARRAYS, OF_FORMULAS, OF_KEYWORDS
from .bad_outcomes import OF_CLASSES, OF_REALS
from .bad_results import OF_DOUBT, OF_RESULTS
from .cases import BINARY, CASES, REAL

GENERAL = [*OF_FIT, *OF_OBJECTS, *OF_ARRAYS, *OF_KEYWORDS, *OF_FORMULAS, *OF_RESULTS, *OF_DOUBT]
TABLE = [
    (case, entry)
    for case in CASES
    for entry in [
        *GENERAL,
        *(OF_CLASSES if case in BINARY else []),
        *(OF_REALS if case in REAL else []),
    ]
]


def main():
    """Print every message as the user sees it."""
    for case, entry in TABLE:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SGMCWarning)
            said = []
            try:
                entry.call(case)
            except (SGMCError, AttributeError, OSError, TypeError) as error:
                said = [error]
        for one in said + [w.message for w in caught]:
            print(f"{case!r}: {entry.label} -> {type(one).__name__}: {one}")


if __name__ == "__main__":
    main()
