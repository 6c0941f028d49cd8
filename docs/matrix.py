"""docs/matrix.md: what goes together, and why the rest does not.

``python docs/matrix.py`` tries every cell (`cells`), stores what came out in docs/matrix.json, and
writes the page; ``python docs/matrix.py page`` writes the page from what is stored.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path

import cells

from sgmc.registry import room

HERE = Path(__file__).resolve().parent
STORED, PAGE = HERE / "matrix.json", HERE / "matrix.md"
KINDS = {  # of reasons: their letter on the page, and what they mean
    "mathematics": ("M", "By mathematics: it has no meaning, or no method for it is known."),
    "limit": ("L", "A stated limit of a method or a size."),
    "not yet": ("N", "Not yet: nothing forbids it, it is not written."),
}
FAULT = "fault"

# ---- reasons -------------------------------------------------------------------------------------

# what reasons differ in that are one
ALIKE = (
    (r"<.*>[^,]*,", "MODEL,"),
    (r"\([^()]*\|[^()]*\)|\b[a-z]\w*\([^()]*\)", "TERM"),  # (1 | g), s(q), ridge(df=3)
    (r"TERM(?: \+ TERM)+", "TERM"),
    (r"(\w+)=(?:None|'[^']*')", r"\1="),
    (r"^\S+(?: with .* or \w+)?(?=:| needs | is of )", "METHOD"),
    (r"^METHOD: [A-Z].*? has ", "METHOD: MODEL has "),
    (r"[\w ]+, sampled too, .* limit", "AUXILIARY"),
    (r" \(not where .* given\)", ""),
)


def key(text):
    """A reason without what is only of its cell: names of families, samplers, priors and terms."""
    for pattern, word in ALIKE:
        text = re.sub(pattern, word, text)
    for some, word in ((room("families"), "FAMILY"), (room("samplers"), "SAMPLER")):
        text = re.sub(rf"\b(?:{'|'.join(sorted(some, key=len, reverse=True))})\b", word, text)
    return re.sub(r"\d+", "#", text)


def code(outcome, reasons):
    """A cell as it is stored; a reason by its number in `reasons`, a list of (kind, text)."""
    if isinstance(outcome, str):
        return outcome
    if isinstance(outcome, cells.Fault):
        return FAULT
    for number, (kind, text) in enumerate(reasons):
        if kind == outcome.because and key(text) == key(outcome.text):
            return number
    reasons.append((outcome.because, outcome.text))
    return len(reasons) - 1


def stored_of(outcomes):
    """What is stored of {cell: outcome}: reasons, and {table: {row: {column: code}}}."""
    reasons, tables = [], {}
    for cell, outcome in outcomes.items():
        row = tables.setdefault(cell.table, {}).setdefault(cell.row, {})
        row[cell.column] = code(outcome, reasons)
    return {"reasons": reasons, "tables": tables}


def read():
    """What is stored."""
    return json.loads(STORED.read_text())


def write(stored):
    """Store it, a row of a table in a line."""
    tables = [
        f"  {json.dumps(table)}: {{\n"
        + ",\n".join(f"   {json.dumps(row)}: {json.dumps(found)}" for row, found in rows.items())
        + "\n  }"
        for table, rows in stored["tables"].items()
    ]
    reasons = ",\n".join(f"  {json.dumps(one)}" for one in stored["reasons"])
    text = f'{{\n "reasons": [\n{reasons}\n ],\n "tables": {{\n'
    STORED.write_text(text + ",\n".join(tables) + "\n }\n}\n")


def differs(cell, outcome, stored):
    """What a cell is against what is stored of it, in words; empty where they agree."""
    found = stored["tables"].get(cell.table, {}).get(cell.row, {}).get(cell.column)
    reasons = [tuple(one) for one in stored["reasons"]]
    now = code(outcome, list(reasons))
    if now == found:
        return ""
    was = reasons[found] if isinstance(found, int) else found
    return f"{' / '.join(cell)}: stored {was!r}, now {outcome!r}"


# ---- tables --------------------------------------------------------------------------------------

# heading: (text below it, tables that stand there, whether their rows are columns of the page)
SECTIONS = {
    "Families and terms": ("A fit and its summary.", ("families",), False),
    "Ordered outcomes": (
        "`ordinal` by `kind=`, with `cs()` and `discrimination=`.",
        ("kinds of ordinal",),
        False,
    ),
    "Priors and terms": (
        "Priors of all slopes, `truncated` of one and `mvnormal` of two.",
        ("priors of ols", "priors of logit"),
        False,
    ),
    "Methods and families": (
        "Methods of results, without groups and smooths.",
        ("methods and families",),
        True,
    ),
    "Methods and terms": ("", tuple(f"methods of {one}" for one in cells.KINDS), False),
    "Tables and terms": (
        "Where rows come from, and what stands beside them.",
        ("tables of ols", "tables of logit"),
        False,
    ),
    "Tables and families": ("", ("tables and families",), True),
    "Options and terms": ("Arguments of a fit.", ("options of ols", "options of logit"), False),
    "Options and families": ("", ("options and families",), True),
    "Samplers and terms": ("`logit` by each sampler.", ("samplers and terms",), False),
    "Samplers and priors": ("`logit` by each sampler.", ("samplers and priors",), False),
    "Samplers and families": ("", ("samplers and families",), False),
    "Samplers and methods": (
        "What tells how far draws can be trusted; `logit`.",
        ("samplers and methods",),
        False,
    ),
}


def numbered(stored):
    """Marks of the reasons, M1, L1, N1, ..., in their order on the page."""
    counts, marks = Counter(), {}
    for _, tables, _ in SECTIONS.values():
        for number in (
            one
            for name in tables
            for row in stored["tables"][name].values()
            for one in row.values()
        ):
            if isinstance(number, int) and number not in marks:
                kind = stored["reasons"][number][0]
                counts[kind] += 1
                marks[number] = f"{KINDS[kind][0]}{counts[kind]}"
    return marks


def as_code(label):
    """A label in a cell of a table."""
    return "`" + label.replace("|", "\\|") + "`"


def shown(found, marks):
    """A cell of the page."""
    words = {cells.WORKS: "yes", cells.NONE: "", None: "", FAULT: "**fault**"}
    return marks[found] if isinstance(found, int) else words[found]


def transposed(rows):
    """{column: {row: code}}."""
    turned = {}
    for row, found in rows.items():
        for column, one in found.items():
            turned.setdefault(column, {})[row] = one
    return turned


def alike(rows, columns):
    """Rows that have the same cells, together: [(labels, cells)]."""
    found = {}
    for row, some in rows.items():
        found.setdefault(tuple(some.get(column) for column in columns), []).append(row)
    return [(labels, one) for one, labels in found.items()]


def grid(rows, marks):
    """A Markdown table; rows that are alike are one row, columns that are alike one column."""
    columns = alike(transposed(rows), list(rows))
    columns = [(labels, some) for labels, some in columns if set(some) != {cells.NONE}]
    kept = [labels[0] for labels, _ in columns]
    heads = [", ".join(map(as_code, labels)) for labels, _ in columns]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for labels, found in alike(rows, kept):
        label = ", ".join(map(as_code, labels))
        lines.append(f"| {label} | " + " | ".join(shown(one, marks) for one in found) + " |")
    return "\n".join(lines)


# ---- the page ------------------------------------------------------------------------------------

HEAD = """# What goes together

Which families, terms, priors, tables, options, samplers and methods go together. Every cell below
was tried: a short fit of {n} rows, and the method. A cell is `yes`, or it has the mark of the
reason for which it is refused; [Reasons](#reasons) have the error's own words. Empty cells have no
results whose method could be tried. Rows and columns with equal cells are joined.

| | cells | yes | by mathematics (M) | a stated limit (L) | not yet (N) |
|---|---|---|---|---|---|
"""
LAST = """
The page is made by `python docs/matrix.py`, and a test holds it. `error.because` has the kind of a
refusal: `"mathematics"`, `"limit"` or `"not yet"`.
"""


def counts(tables, stored):
    """Numbers of cells: tried, that work, and refused by each kind of reason; faults."""
    found = Counter(
        stored["reasons"][one][0] if isinstance(one, int) else one
        for name in tables
        for row in stored["tables"][name].values()
        for one in row.values()
    )
    del found[cells.NONE]
    return found


def line(label, found):
    """A line of the table of counts."""
    numbers = [found.total(), found[cells.WORKS], *(found[kind] for kind in KINDS)]
    return f"| {label} | " + " | ".join(f"{one:,}" for one in numbers) + " |"


def page(stored):
    """The page of what is stored."""
    marks = numbered(stored)
    every = [name for _, tables, _ in SECTIONS.values() for name in tables]
    text = HEAD.format(n=cells.N)
    text += "\n".join(
        line(f"[{title}](#{title.lower().replace(' ', '-')})", counts(tables, stored))
        for title, (_, tables, _) in SECTIONS.items()
    )
    text += "\n" + line("all", counts(every, stored)) + "\n" + LAST
    for title, (told, tables, turned) in SECTIONS.items():
        text += f"\n## {title}\n" + (f"\n{told}\n" if told else "")
        for name in tables:
            rows = stored["tables"][name]
            if len(tables) > 1:
                text += f"\n`{name.rsplit(' ', 1)[1]}`:\n"
            text += "\n" + grid(transposed(rows) if turned else rows, marks) + "\n"
    return text + reasons_of(stored, marks)


def reasons_of(stored, marks):
    """The section of the reasons: the error's words of the first cell that has it."""
    text = "\n## Reasons\n"
    for kind, (letter, told) in KINDS.items():
        if not any(stored["reasons"][number][0] == kind for number in marks):
            continue
        text += f"\n### {letter}: {told.split(':')[0].rstrip('.').lower()}\n\n{told}\n\n"
        text += "| | the error of the first such cell |\n|---|---|\n"
        for number, mark in marks.items():
            if stored["reasons"][number][0] == kind:
                text += f"| {mark} | {as_text(stored['reasons'][number][1])} |\n"
    return text


def as_text(message):
    """An error's words in a table."""
    return re.sub(r"([|*_<`$])", r"\\\1", " ".join(message.split()))


def main(how):
    """Try the cells, unless the page alone is asked for, and write."""
    if how != "page":
        outcomes = {cell: cells.attempt(cell, call) for cell, call in cells.calls().items()}
        write(stored_of(outcomes))
        for cell, outcome in outcomes.items():
            if isinstance(outcome, cells.Fault):
                print(" / ".join(cell), outcome.text, sep="\n", file=sys.stderr)
    PAGE.write_text(page(read()))


if __name__ == "__main__":
    main(*sys.argv[1:] or [""])
