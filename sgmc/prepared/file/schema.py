"""What a file of a prepared table may have: each of its facts, and each of its sections.

Checksums are no signatures: whoever has changed a file can seal it again.  Nothing that is read
from one becomes a type, a shape, a place or an argument that is not allowed here.  What rows may
hold is in `rows`, as files may be larger than memory.
"""

import reprlib
from dataclasses import dataclass

import numpy as np

from sgmc.core.system.files import Damaged
from sgmc.errors import (
    ColumnsLeftOutWarning,
    PowerWarning,
    RowsLeftOutWarning,
    TextNumbersWarning,
)
from sgmc.saved.designs import are_texts, is_text

FLOAT, SINGLE, LONG, INT, BYTES = (
    np.dtype(one).str for one in (np.float64, np.float32, np.int64, np.int32, np.uint8)
)  # of this machine: sections are mapped, and compiled code reads them
VECTORS = ("trials", "weights", "offset", "exposure", "se", "strata")  # that a table may have
ARGUMENTS = ("weights", "offset", "exposure", "se", "strata")  # that name a column
NOTES = {
    one.__name__: one
    for one in (ColumnsLeftOutWarning, PowerWarning, RowsLeftOutWarning, TextNumbersWarning)
}
ROWS_IN_FILE = 1 << 62


@dataclass(frozen=True)
class Rule:
    """What a fact may be.

    Attributes
    ----------
    wanted : str
        In words, for messages.
    holds : callable
        Whether a value of JSON is that.
    needed : bool
        Whether all files have it.
    """

    wanted: str
    holds: object
    needed: bool = True


def is_count(value):
    """Whether it is a number of rows."""
    return type(value) is int and 0 <= value < ROWS_IN_FILE


def is_seed(value):
    """Whether it is what `sgmc.arguments.seeds.entropy` returns."""
    return type(value) is int and value >= 0


def are_notes(values):
    """Whether it is what `writing.plain_notes` makes."""
    return isinstance(values, list) and all(
        are_texts(one) and len(one) == 3 and one[0] in NOTES for one in values
    )


def are_arguments(values):
    """Whether it is the arguments of `prepare` that fits take over."""
    if not isinstance(values, dict):
        return False
    holds = dict.fromkeys(ARGUMENTS, is_text) | {
        "missing": lambda value: value in ("drop", "raise"),
        "subset": lambda value: value is None or value is True or is_text(value),
    }
    return all(name in holds and holds[name](value) for name, value in values.items())


FACTS = {
    "kind": Rule("'design' or 'columns'", lambda value: value in ("design", "columns")),
    "formula": Rule("text", is_text),
    "safe": Rule("true or false", lambda value: type(value) is bool, needed=False),
    "columns": Rule(
        "a list of names, each once",
        lambda values: are_texts(values) and len(set(values)) == len(values),
    ),
    "dtype": Rule(f"{FLOAT!r} or {SINGLE!r}", lambda value: value in (FLOAT, SINGLE)),
    "n": Rule("a number of rows, at least 1", lambda value: is_count(value) and value > 0),
    "rows": Rule("a number of rows", is_count),
    "compressed": Rule("true or false", lambda value: type(value) is bool),
    "seed": Rule("a whole number, at least 0", is_seed),
    "dropped": Rule("a number of rows", is_count),
    "left_out": Rule(
        "reasons by the names of columns",
        lambda values: isinstance(values, dict) and are_texts([*values, *values.values()]),
    ),
    "notes": Rule(f"lists of one of {', '.join(NOTES)} and two texts", are_notes, needed=False),
    "arguments": Rule("the arguments of sgmc.prepare, names of columns", are_arguments),
}


@dataclass(frozen=True)
class Array:
    """What a section may be.

    Attributes
    ----------
    types : tuple of str
        As numpy writes them; none: the type of the file's numbers.
    axes : tuple of str
        Axes of the same name are of the same length; "n" is the number of rows.
    needed : bool
        Whether all files of the kind have it.
    """

    types: tuple
    axes: tuple
    needed: bool = True


def vector(axis, *types, needed=True):
    """An `Array` of one axis."""
    return Array(types or (FLOAT,), (axis,), needed)


SECTIONS = {
    "design": {
        "recipe": vector("bytes", BYTES),
        **{name: vector("d") for name in ("mean", "sd", "shift")},
        "scale": vector("d", needed=False),  # which earlier releases did not keep
        "X": Array((), ("n", "d"), needed=False),  # or the next three: see `recipe`
        "numbers": Array((), ("n", "p"), needed=False),
        "codes": Array((INT,), ("n", "t"), needed=False),
        "factors": Array((FLOAT,), ("n", "v"), needed=False),
        "y": vector("n"),
        **dict.fromkeys(VECTORS, vector("n", needed=False)),
        "order": vector("n", LONG),
    },
    "columns": {"recipe": vector("bytes", BYTES)},
}
KEPT = vector("n", FLOAT, LONG, INT, needed=False)  # a column, in a file of columns
PARTS = "dtype", "shape"  # of a section in the manifest, besides its place and checksum


def check_facts(facts, rules):
    """Raise Damaged where facts are not what they may be by their rules."""
    known(facts, rules, "fact")
    for name, value in facts.items():
        if not rules[name].holds(value):
            raise Damaged(
                f"is damaged: its {name!r} must be {rules[name].wanted}, not {reprlib.repr(value)}"
            )


def described_arrays(described, facts):
    """Types and shapes of the sections that a manifest describes, in its order.

    Parameters
    ----------
    described : dict
        Name -> what the manifest has of a section.
    facts : dict
        Which have been checked.

    Returns
    -------
    dict
        Name -> (dtype, shape).

    Raises
    ------
    Damaged
    """
    kept = range(len(facts["columns"]) if facts["kind"] == "columns" else 0)
    allowed = SECTIONS[facts["kind"]] | {f"column {k}": KEPT for k in kept}
    known(described, allowed, "section")
    lengths, found = {"n": facts["n"]}, {}
    for name, one in described.items():
        types, axes = allowed[name].types or (facts["dtype"],), allowed[name].axes
        dtype, shape = (one.get(part) if isinstance(one, dict) else None for part in PARTS)
        if dtype not in types:
            told = " or ".join(map(repr, types))
            raise Damaged(
                f"is damaged: its section {name!r} must be of the type {told}, not "
                f"{reprlib.repr(dtype)}"
            )
        fits = isinstance(shape, list) and len(shape) == len(axes) and all(map(is_count, shape))
        if not fits or any(lengths.setdefault(*pair) != pair[1] for pair in zip(axes, shape)):
            told = ", ".join(str(lengths.get(axis, "any")) for axis in axes)
            raise Damaged(
                f"is damaged: its section {name!r} must be of the shape ({told}), not "
                f"{reprlib.repr(shape)}"
            )
        found[name] = np.dtype(types[types.index(dtype)]), tuple(shape)
    return found


def known(given, rules, what):
    """Raise Damaged unless it is a dict of what there is a rule for, with all that is needed."""
    if not isinstance(given, dict):
        raise Damaged(f"is damaged: its manifest has no {what}s")
    for name in given:
        if name not in rules:
            raise Damaged(
                f"has a {what} {reprlib.repr(name)}, which this release does not know: prepare it "
                "again"
            )
    for name, rule in rules.items():
        if rule.needed and name not in given:
            raise Damaged(f"is damaged: it has no {what} {name!r}")
