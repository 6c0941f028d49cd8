"""Formulas against data of a verb: a table in memory, or a prepared one."""

from dataclasses import replace

from sgmc import formula as front
from sgmc.errors import ArgumentError, FormulaError, NotSupported, SGMCError
from sgmc.formula.evaluation.safe import SafeFormula
from sgmc.formula.parts import has_bar, split
from sgmc.formula.stages import has_stages, split_stages
from sgmc.formula.syntax import parser
from sgmc.prepared.file.column_store import ColumnStore
from sgmc.prepared.file.sealed import SealedTable


def read(formula, data, *, outcome, scope, **given):
    """`sgmc.formula.read_with_deadline` of data in memory; of a prepared table, this with the
    outcomes of the family, its grouping and no rows left out, where the formula and what else was
    given are those that it was prepared with.

    Without a scope functions of the formula are those of the caller.

    Raises
    ------
    FormulaError, ArgumentError
        If they are not.
    """
    scope = front.caller_scope() if scope is None else scope
    if not isinstance(data, SealedTable):
        return front.read_with_deadline(formula, data, outcome=outcome, scope=scope, **given)
    refuse_others(formula, data, scope, given)
    if isinstance(data, ColumnStore):
        kept = data.beside
        table, grouping, partly = front.read_with_deadline(
            formula, data.frame(), outcome=outcome, scope=scope, **kept
        )
        # by which new rows find their offsets and weights
        return replace(table, arguments=data.arguments), grouping, partly
    table = data.of_outcome(outcome)
    return table, table.grouping(), ""


def refuse_others(formula, data, scope, given):
    """FormulaError or ArgumentError where a formula, or what else was given, is not what a table
    was prepared with.
    """
    if not same(formula, data, scope):
        raise FormulaError(
            f"{data.path} was prepared with the formula {data.formula!r}, not {formula!r}: give "
            "the same, or prepare the table again"
        )
    refuse_groups(given)
    for name, value in given.items():
        known = data.arguments.get(name)
        default = value is None or (name, value) == ("missing", "drop")
        made_for = name == "subset" and value is data.subset
        if default or made_for or (isinstance(value, str) and value == known):
            continue
        if (name, value) == ("missing", "raise") and not data.dropped:
            continue
        shown = repr(value) if isinstance(value, str) else "..."
        raise ArgumentError(
            f"{name}={shown} is not what {data.path} was prepared with, {name}={known!r}: leave "
            "it out, or prepare the table again"
        )


def refuse_groups(given):
    """NotSupported for clusters of rows that are in a file."""
    if given.get("groups") is not None:
        raise NotSupported(
            "groups does not apply to rows in a prepared file: fit rows that are read at once (see "
            "memory_limit), or a sample of them",
            because="limit",
        )


def same(formula, prepared, scope):
    """Whether a formula has the response and the predictors that a table was prepared with; one
    from outside may call other functions of the same names.
    """
    if isinstance(formula, SafeFormula) != isinstance(prepared.formula, SafeFormula):
        return False
    if formula == prepared.formula:
        return True
    theirs = parts_of(formula, prepared.columns, scope)
    try:
        ours = parts_of(prepared.formula, prepared.columns, scope)
    except SGMCError:  # a file may have any text
        return False
    return ours == theirs


def parts_of(formula, columns, scope):
    """What a formula is made of, of each of its parts, so that spaces do not count."""
    written = (formula,)
    if has_bar(formula) or has_stages(formula):
        written = split(formula, "") if has_bar(formula) else split_stages(formula)
    parsed = [parser.parse(one, columns, scope) for one in written]
    parts = ("response", "predictors", "bars", "smooths", "offset")
    return [[getattr(one, part) for part in parts] for one in parsed]
