"""How large the design of a formula from outside may be: found before it is made."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc.core.system import deadline
from sgmc.core.system.memory import Forecast, available
from sgmc.errors import FormulaError
from sgmc.formula.evaluation.code import MOST_BASIS, MOST_TENSOR, Refused

if TYPE_CHECKING:
    from sgmc.formula.syntax.parser import Names


MOST_TERMS = 5_000  # besides one for each column of the table
MOST_FACTORS = 8  # within a term: patsy's contrasts have 2^factors parts
MOST_WIDTH = 10_000  # columns of a design, besides one for each column of the table
MOST_OWN_LEVELS = 1_000  # of an expression: patsy's contrasts are dense, levels^2 numbers
MOST_TAKEN_OFF = 50  # group terms and smooths, each with a density or a basis of its own

LEAST_BYTES = 4  # of a number of a design


def too_large(what: str) -> FormulaError:
    """The FormulaError of a formula from outside that would make too much."""
    return FormulaError(
        f"the safe formula is too large: {what}. Name fewer interactions or columns, or give a "
        "formula of your own as plain text, which is not bounded (docs/security.md)"
    )


def refuse_large(bars: Sequence[Any], smooths: Sequence[Any]) -> None:
    """Raise `Refused` for too many group terms and smooths, or a smooth that is too large."""
    taken = [one.text for one in (*bars, *smooths)]
    if len(taken) > MOST_TAKEN_OFF:
        what = f"there are {len(taken)} group terms and smooths; at most {MOST_TAKEN_OFF} are read"
        raise Refused(taken[-1], what)
    for one in smooths:
        alone, sizes = len(one.covariates) == 1, one.kind.sizes
        most = MOST_BASIS if alone else MOST_TENSOR
        if math.prod(sizes) > most or min(sizes, default=0) < 0:
            of = "one covariate" if alone else "two covariates"
            what = f"a smooth of {of} has at most {most} basis functions"
            raise Refused(one.text, what)


def refuse_many(tree: Any, names: "Names") -> None:
    """FormulaError for a formula from outside with too many terms, before patsy makes them.

    Parameters
    ----------
    tree : patsy's ParseNode
    names : Names
        Of the columns.
    """
    terms, _ = size_of(tree, MOST_TERMS + len(names.columns))
    if terms > MOST_TERMS + len(names.columns):
        raise too_large(f"its operators make more than {MOST_TERMS + len(names.columns):,} terms")


def size_of(tree: Any, most: int) -> tuple[int, set[str]]:
    """(terms, factors) that patsy makes of a tree: how many before equal ones are joined, not
    beyond `most` + 1, and the codes of the factors.
    """
    if not tree.args:
        return 1, {tree.token.extra} if tree.type == "PYTHON_EXPR" else set()
    if tree.type == "**":
        (base, factors), power = size_of(tree.args[0], most), power_of(tree.args[1])
        terms = grown = base
        for _ in range(1, min(base, power)):
            grown = min(grown * base, most + 1)
            terms = min(terms + grown, most + 1)
            if terms > most:
                break
        return terms, factors
    sizes = [size_of(one, most) for one in tree.args]
    factors = set().union(*(found for _, found in sizes))
    terms = [count for count, _ in sizes]
    product = math.prod(terms) if tree.type in ("*", ":") else 0
    summed = sum(terms) if tree.type != ":" else 0
    return min(product + summed, most + 1), factors


def powers(tree: Any) -> list[str]:
    """Codes of the single factors of which a tree of patsy's has powers, each once."""
    base = tree.args[0] if tree.type == "**" else None
    own = [base.token.extra] if base is not None and base.type == "PYTHON_EXPR" else []
    return list(dict.fromkeys([*own, *(code for one in tree.args for code in powers(one))]))


def power_of(node: Any) -> int:
    """The exponent of a tree; 1 for what patsy refuses."""
    text = str(node.token.extra)
    return int(text) if text.isdecimal() and len(text) < 10 else 1


def refuse_beyond_memory(terms: list[Any], rows: int, names: "Names") -> None:
    """OutOfMemoryError for terms with more columns, by the constants in them, than memory holds.

    Parameters
    ----------
    terms : list of patsy.Term
    rows : int
    names : Names
        Of the columns.
    """
    widths = [math.prod(map(known_width, term.factors)) for term in terms]
    if max(widths, default=1) > 1:
        widest = terms[widths.index(max(widths))]
        label = names.quoted(widest.name())
        blame = f"{label} has {max(widths):,} columns, {rows:,} rows each; give fewer columns"
        design = {"design": float(LEAST_BYTES) * rows * sum(widths)}
        Forecast(design, blame, available()).refuse()


def known_width(factor: Any) -> int:
    """Columns of a factor that are known before it is evaluated: one of a column."""
    return getattr(factor, "width", 1)


def refuse_wide(
    terms: list[Any],
    levels: Mapping[str, Any],
    chunks: Callable[[], Iterable[Any]],
    scope: Any,
    names: "Names",
) -> None:
    """FormulaError for terms whose design is too wide, before patsy makes contrasts and names.

    Parameters
    ----------
    terms : list of patsy.Term
    levels : dict
        Levels of factors that are columns, None for numbers, by the factors' names.
    chunks : function
        Returns an iterator over chunks of the rows.
    scope : patsy.EvalEnvironment
    names : Names
        Of the columns.
    """
    widths, width, most = {}, 0, MOST_WIDTH + len(names.columns)
    for term in terms:
        if len(term.factors) > MOST_FACTORS:
            label = names.quoted(term.factors[0].name())
            raise too_large(
                f"an interaction of {label} has {len(term.factors)} factors, at most {MOST_FACTORS}"
            )
        for factor in term.factors:
            if factor.name() not in widths:
                known = factor.name() in levels
                own = len(levels[factor.name()] or ".") if known else None
                widths[factor.name()] = own or width_of(factor, chunks, scope, names)
        width += math.prod(widths[factor.name()] for factor in term.factors)
        if width > most:
            raise too_large(f"its design has more than {most:,} columns")


def width_of(factor: Any, chunks: Callable[[], Iterable[Any]], scope: Any, names: "Names") -> int:
    """Columns of a factor that is an expression: levels, or numbers of a row."""
    state: dict[str, Any] = {}
    found: set[Any] = set()
    for number in range(factor.memorize_passes_needed(state, scope)):
        for chunk in chunks():
            factor.memorize_chunk(state, number, chunk)
        factor.memorize_finish(state, number)
    for chunk in chunks():
        deadline.check()
        value = factor.eval(state, chunk)
        if np.ndim(value) > 1:
            return np.shape(value)[1]
        column = pd.Series(value)
        if pd.api.types.is_numeric_dtype(column.dtype) and column.dtype != bool:
            return 1
        categories = getattr(column, "cat", None)
        found |= {*(column.dropna().unique() if categories is None else categories.categories)}
        if len(found) > MOST_OWN_LEVELS:
            label = names.quoted(factor.name())
            raise too_large(f"{label} has more than {MOST_OWN_LEVELS:,} levels")
    return max(len(found), 1)
