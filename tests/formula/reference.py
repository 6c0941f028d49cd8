"""Designs the slow way: the rules of docs/inputs.md and of R, a row and a column at a time.

Nothing here is sgmc's or patsy's.  Formulas are trees (`tree`), not text:

    ("column", name)  ("dot",)  ("log" | "square" | "center" | "positive", name)
    ("poly", name, degree)  ("C", name)  ("C", name, "Sum")  ("C", name, "Treatment", level)
    ("+" | "-" | ":" | "*" | "/", left, right)  ("**", tree, power)  ("0",)  ("1",)
    ("offset", name)
    ("ortho", name, degree)  ("bs", name, df)  ("mo", name): orthogonal polynomials, B-splines and
        steps between levels, whose values are those of tests/reference/designs.py, as are those of
        any new rows
"""

import itertools
import math
import re
from keyword import iskeyword

import numpy as np
import pandas as pd

from .trees import expanded, summands

NUMBER_TEXT = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
MOST_LEVELS = 50


class Refused(Exception):
    """The package has to raise an error of its own."""


class Unspecified(Exception):
    """It may: a function of what it is not for.  Another error than its own is a mistake."""


# ---- columns -------------------------------------------------------------------------------------


def values_of(column):
    """Python values of a column, None where it is missing; numbers are all floats if one is."""
    found = [None if is_gap(value) else value for value in column.astype(object)]
    if {type(value) for value in found if value is not None} == {int, float}:
        return [None if value is None else float(value) for value in found]
    return found


def is_gap(value):
    """Whether a value is missing."""
    return value is None or value is pd.NA or value is pd.NaT or value != value


def kind_of(column):
    """number, bool, text, category or date, or other for what is none of these."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "category"
    if str(column.dtype).startswith("datetime"):
        return "date"
    types = {type(value) for value in values_of(column) if value is not None}
    if str(column.dtype) in ("bool", "boolean") or types == {bool}:
        return "bool"
    if str(column.dtype) in ("string", "str") or types == {str}:
        return "text"
    if str(column.dtype) != "object" or (types and types <= {int, float}):
        return "number"
    return "other"


def levels_in(column, rows):
    """Levels among some rows: categories in their order, truth values both, others sorted."""
    values = values_of(column)
    found = {values[row] for row in rows if values[row] is not None}
    what = kind_of(column)
    if what == "category":
        return [level for level in column.cat.categories.tolist() if level in found]
    return [False, True] if what == "bool" else sorted(found)


def numbers_in_text(levels):
    """Whether text holds numbers: every level is one, none begins with a zero and a digit."""
    return (
        bool(levels)
        and not any(re.match(r"\s*0\d", level) for level in levels)
        and all(NUMBER_TEXT.fullmatch(level) for level in levels)
    )


# ---- factors -------------------------------------------------------------------------------------


def evaluated(factor, column):
    """Values of a factor a row: a list of floats, or of levels; None where missing."""
    head, values, what = factor[0], values_of(column), kind_of(column)
    if head == "column":
        if what in ("date", "other"):
            raise Refused(f"{what}")
        return [None if v is None else [float(v)] for v in values] if what == "number" else values
    if head == "C":
        if what in ("date", "other"):
            raise Unspecified("levels that are no labels")
        return values
    if what != "number":
        raise Unspecified("a function of what is no number")
    functions = {
        "log": lambda x: [math.nan if x < 0 else math.log(x) if x > 0 else -math.inf],
        "square": lambda x: [x * x],
        "center": lambda x: [x],
        "positive": lambda x: x > 0,
        "poly": lambda x: [math.prod([x] * k) for k in range(1, factor[2] + 1)],
    }
    out = [None if v is None else functions[head](float(v)) for v in values]
    if head == "positive":
        return out
    return [None if v is None or any(map(is_gap, v)) else v for v in out]


def levels_for(factor, column, rows):
    """Levels of a factor among the rows used, None for numbers."""
    if factor[0] == "positive":
        return [False, True]
    what = kind_of(column)
    if factor[0] == "C" or (factor[0] == "column" and what != "number"):
        levels = levels_in(column, rows)
        if factor[0] == "column" and what == "text" and numbers_in_text(levels):
            raise Refused("numbers stored as text")
        many = factor[0] == "column" and what != "bool" and len(levels) > MOST_LEVELS
        if many and len(rows) < 2 * len(levels):
            raise Refused("an identifier")
        return levels
    return None


def contrast(factor, levels, full):
    """Pairs of a suffix and the numbers of the levels under it."""
    unit = [[float(i == j) for i in range(len(levels))] for j in range(len(levels))]
    if factor[2:3] == ("Sum",):
        sums = [(f"[S.{levels[j]}]", [*unit[j][:-1], -1.0]) for j in range(len(levels) - 1)]
        return ([("[mean]", [1.0] * len(levels))] if full else []) + sums
    if full:
        return [(f"[{level}]", unit[j]) for j, level in enumerate(levels)]
    first = 0
    if factor[2:3] == ("Treatment",):
        if factor[3] not in levels:
            raise Refused("no such level")
        first = levels.index(factor[3])
    return [(f"[T.{level}]", unit[j]) for j, level in enumerate(levels) if j != first]


def codings(terms, numeric):
    """For each term, in the order of the design, its parts: factor -> whether it has a column a
    level.  What an earlier term with the same numbers spans is not spanned again.
    """
    groups = {frozenset(): []}
    for term in terms:
        groups.setdefault(frozenset(f for f in term if f in numeric), []).append(term)
    for some in groups.values():
        spanned = set()
        for term in sorted(some, key=len):
            categories = [f for f in term if f not in numeric]
            parts = []
            for size in range(len(categories) + 1):
                for subset in itertools.combinations(categories, size):
                    if frozenset(subset) not in spanned:
                        spanned.add(frozenset(subset))
                        parts.append(dict.fromkeys(subset, False))
            while joined(parts):
                pass
            yield term, parts


def joined(parts):
    """Join the first part that is another one without a factor to it, whose columns become one a
    level; whether there was one.
    """
    for short, long in itertools.combinations(range(len(parts)), 2):
        more = set(parts[long].items()) - set(parts[short].items())
        if len(more) == 1 and len(parts[long]) == len(parts[short]) + 1:
            parts[long] = {**parts[long], next(iter(more))[0]: True}
            del parts[short]
            return True
    return False


# ---- names ---------------------------------------------------------------------------------------


def quoted(name):
    """A column as formulas have it."""
    if name.isidentifier() and not iskeyword(name) and name != "Intercept":
        return name
    return f"Q({name!r})" if "`" in name or not name else f"`{name}`"


def label(factor, clean):
    """A factor in names of coefficients."""
    head, name = factor[0], quoted(factor[1])
    if head == "column":
        return factor[1] if clean else name
    inside = {
        "log": f"np.log({name})",
        "square": f"I({name} ** 2)",
        "center": f"center({name})",
        "positive": f"I({name} > 0)",
        "poly": f"poly({name}, {factor[2:] and factor[2]}, raw=True)",
        "ortho": f"poly({name}, {factor[2:] and factor[2]})",
        "mo": f"mo({name})",
        "bs": f"bs({name}, df={factor[2:] and factor[2]})",
        "C": f"C({name})",
    }
    if factor[2:3] == ("Sum",):
        return f"C({name}, Sum)"
    return f"C({name}, Treatment({factor[3]!r}))" if len(factor) > 3 else inside[head]


# ---- designs -------------------------------------------------------------------------------------


def used_columns(terms):
    """Columns that terms need."""
    return list(dict.fromkeys(factor[1] for term in terms for factor in term))


def has(tree, head):
    """Whether a tree has such a node."""
    return tree[0] == head or any(has(part, head) for part in tree[1:] if isinstance(part, tuple))


def reasons_against(frame, names, rows):
    """The columns that the dot takes."""
    kept = []
    for name in names:
        column = frame[name]
        values = values_of(column)
        found = [values[row] for row in rows if values[row] is not None]
        what = kind_of(column.iloc[rows]) if column.dtype == object else kind_of(column)
        if not found or what in ("date", "other"):
            continue
        levels = set(found)
        if what in ("text", "category"):
            wrong = what == "text" and len(levels) > 1 and numbers_in_text(list(levels))
            if not wrong and not 2 <= len(levels) <= MOST_LEVELS:
                continue
        elif len(levels) < 2:
            continue
        kept.append(name)
    return kept


def design(tree, frame, response, weights=None, subset=None):
    """Names, rows kept, the design, and the offset, or Refused."""
    if not frame.columns.is_unique or frame.empty:
        raise Refused("the frame")
    rows = [i for i in range(len(frame)) if subset is None or bool(frame[subset].iloc[i])]
    if not rows:
        raise Refused("no row in the subset")
    offsets = [part[1] for _, part in summands(tree) if part[0] == "offset"]
    for name in [*offsets, *([weights] if weights else [])]:
        if kind_of(frame[name]) not in ("number", "bool"):
            raise Refused("no numbers")
    needed = [response, *offsets, *([weights] if weights else [])]
    taken = {response, *offsets, weights, subset}

    def complete(names, among):
        gaps = {name: values_of(frame[name]) for name in names}
        return [row for row in among if all(gaps[name][row] is not None for name in names)]

    dot = []
    if has(tree, "dot"):
        dot = reasons_against(frame, [n for n in frame.columns if n not in taken], rows)
        _, terms = terms_checked(tree, dot)
        left = complete([*needed, *used_columns(terms)], rows)
        if left and len(left) < len(rows):
            dot = reasons_against(frame, dot, left)
    intercept, terms = terms_checked(tree, dot)
    if (response in dot) or any(("column", response) in term for term in terms):
        raise Refused("the response is a predictor")
    rows = complete([*needed, *used_columns(terms)], rows)
    if not rows:
        raise Refused("no complete row")
    y = values_of(frame[response])
    if not all(math.isfinite(float(y[row])) for row in rows):
        raise Refused("infinite response")
    places, frame, rows = rows, frame.iloc[rows], list(range(len(rows)))  # of the fit
    factors = list(dict.fromkeys(factor for term in terms for factor in term))
    values = {factor: evaluated(factor, frame[factor[1]]) for factor in factors}
    before = rows
    levels = {factor: levels_for(factor, frame[factor[1]], before) for factor in factors}
    rows = [row for row in rows if all(values[factor][row] is not None for factor in factors)]
    if not rows:
        raise Refused("no complete row")
    if len(rows) < len(before):
        levels = {factor: levels_for(factor, frame[factor[1]], rows) for factor in factors}
    if weights:
        w = [float(frame[weights].iloc[row]) for row in rows]
        if min(w) < 0 or not any(w) or not all(map(math.isfinite, w)):
            raise Refused("weights")
    for factor in factors:
        if factor[0] == "center":
            finite = [values[factor][row][0] for row in rows]
            finite = [x for x in finite if math.isfinite(x)]
            mean = math.fsum(x / len(finite) for x in finite) if finite else 0.0
            values[factor] = [None if v is None else [v[0] - mean] for v in values[factor]]
    names, columns = assembled(intercept, terms, values, levels, rows)
    X = np.array(columns).T.reshape(len(rows), len(columns))
    if not np.isfinite(X).all():
        raise Refused("infinite design")
    added = [sum(float(frame[name].iloc[row]) for name in offsets) for row in rows]
    if not all(map(math.isfinite, added)):
        raise Refused("infinite offset")
    return names, [places[row] for row in rows], X, np.array(added) if offsets else None


def terms_checked(tree, dot):
    """`expanded`, or Refused where there is none."""
    if has(tree, "dot") and not dot:
        raise Refused("the dot stands for no column")
    intercept, terms = expanded(tree, dot)
    if not intercept and not terms:
        raise Refused("no term")
    return intercept, terms


def columns_of_terms(intercept, terms, values, levels, rows):
    """The terms in the order of the design, each with the columns of its parts: a column is a list
    of (factor, suffix, numbers a row), whose product it is.
    """
    numeric = {factor for factor, known in levels.items() if known is None}
    ordered, found = list(codings([()] * intercept + terms, numeric)), []
    for term, parts in ordered:
        for part in parts:
            choices = []
            for factor in [f for f in term if f in numeric or f in part]:
                if factor in numeric:
                    width = len(next(values[factor][row] for row in rows))
                    choices.append(
                        [
                            (factor, f"[{k}]" * (width > 1), [values[factor][r][k] for r in rows])
                            for k in range(width)
                        ]
                    )
                    continue
                places = [levels[factor].index(values[factor][row]) for row in rows]
                choices.append(
                    [
                        (factor, suffix, [numbers[place] for place in places])
                        for suffix, numbers in contrast(factor, levels[factor], part[factor])
                    ]
                )
            if any(not some for some in choices):
                raise Refused("a single level")
            # the first factor varies fastest
            found += [reverse[::-1] for reverse in itertools.product(*reversed(choices))]
    return [term for term, _ in ordered], found


def assembled(intercept, terms, values, levels, rows):
    """Names and columns."""
    ordered, picked = columns_of_terms(intercept, terms, values, levels, rows)
    found = [
        (
            [(factor, suffix) for factor, suffix, _ in column],
            [math.prod(numbers[i] for *_, numbers in column) for i in range(len(rows))],
        )
        for column in picked
    ]

    def named(clean):
        return [
            ":".join(label(factor, clean) + suffix for factor, suffix in picked) or "Intercept"
            for picked, _ in found
        ]

    heads = [":".join(label(f, True) for f in term) or "Intercept" for term in ordered]
    names = named(True)
    if len(set(names)) < len(names) or len(set(heads)) < len(heads):
        names = named(False)
    return names, [column for _, column in found]
