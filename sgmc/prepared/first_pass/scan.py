"""A formula read against rows that come in chunks: what `sgmc.formula.read` finds in all of them,
in a few passes.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.errors import DataError, warn
from sgmc.formula.data.chunks import Chunk
from sgmc.formula.data.columns import refuse_many_strata
from sgmc.formula.data.dot_columns import INDEX, is_unnamed
from sgmc.formula.data.labels import cure_of_text
from sgmc.formula.evaluation.functions import CALLS_IN_PART
from sgmc.formula.parts import has_bar
from sgmc.formula.reader import VALID
from sgmc.formula.stages import has_stages
from sgmc.formula.subsets import no_row, subset_columns
from sgmc.formula.terms import ParsedTerms, factors_of
from sgmc.prepared.first_pass.cells import Cells
from sgmc.prepared.first_pass.facts import Facts, of_chunk
from sgmc.prepared.first_pass.selection import (
    Selection,
    refuse_hoarding,
    refuse_looking_around,
    without_memory,
)

LABELLED = ("bool", "text", "category")  # kinds of responses that are places among levels


@dataclass(frozen=True)
class Found:
    """What the passes over a source have found.

    Attributes
    ----------
    spec : DesignSpec
    selection : Selection
        Of the rows that are used.
    facts : Facts
        Of these.
    left_out : dict
        Columns that the dot leaves out -> reason.
    notes : list of SGMCWarning
        What was warned of.
    levels : tuple or None
        Of the response.
    strata_levels : tuple or None
        Of strata that are no numbers.
    examples : Series
        Values of the response, see `outcome.as_outcome`.
    compressed : bool
        Whether rows are different ones with frequencies.
    """

    spec: object
    selection: Selection
    facts: Facts
    left_out: dict
    notes: list
    levels: tuple | None
    strata_levels: tuple | None
    examples: pd.Series
    compressed: bool = False

    def kept(self):
        """All of it without the source: columns and recipes of the selection, and the rest."""
        rest = {name: value for name, value in vars(self).items() if name != "selection"}
        return self.selection.columns, self.selection.specs, rest


@dataclass(frozen=True)
class Options:
    """How a source is read.

    Attributes
    ----------
    missing : {"drop", "raise"}
        What to do with rows that lack anything needed.
    compress : bool
        Whether equal rows are counted.
    limit : float
        Bytes that may be used besides chunks.
    """

    missing: str = "drop"
    compress: bool = True
    limit: float = math.inf


class Scan(ParsedTerms):
    """One reading of a formula against a source.

    Parameters
    ----------
    parsed : Parsed
    source : Source
    vectors : dict
        Argument such as "weights" -> its column.
    subset : str, function or None
    options : Options
    watch : function of iterable
        Yields what the iterable does, and shows how far it is.
    """

    def __init__(self, parsed, source, vectors, subset, options, watch):
        super().__init__(parsed, "binary")
        if parsed.offset and not in_columns(parsed):  # these keep its columns
            vectors = {**vectors, "offset": column_of_offset(parsed, vectors)}
        self.source, self.vectors, self.subset = source, vectors, subset
        self.options, self.watch = options, watch

    def found(self):
        """What the passes find, see `Found`, and a table of different rows with frequencies where
        they are few, or None.
        """
        terms, left_out, facts = self.chosen()
        expressions = without_memory(self.parsed, factors_of(terms))
        selection = self.selection(terms, expressions=expressions or ())
        factors = list(self.inputs(terms).values())
        cells = self.cells(selection)
        if facts is None or expressions or not cells.abandoned:
            facts = self.learn(selection, factors, cells=cells)
        self.refuse_filled(terms, facts.counts)
        facts.check("drop")
        spec = self.fitted(terms, selection, facts)
        if spec.expressions:
            later = self.selection(terms, (spec,))
            if expressions is None:
                of_later = self.cells(later)
                again = self.learn(later, factors, cells=of_later)
                if again.complete < facts.complete:  # levels follow from what is left
                    again.check("drop")
                    facts, cells = again, of_later
                    spec = self.fitted(terms, later, facts)
            selection = later
        facts.check(self.options.missing)
        self.check_vectors(facts)
        levels = None if self.counted else self.response_levels(facts)
        strata, examples = self.strata_levels(facts.strata), self.examples(facts)
        notes = self.notes(left_out, facts.undefined)
        for note in notes:
            warn(note)
        found = Found(spec, selection, facts, left_out, notes, levels, strata, examples)
        return found, cells.table(facts.complete)

    def cells(self, selection):
        """Where the different rows of a selection are counted; given up where that is not wanted,
        or where the first rows have too many.
        """
        beside = [name for argument, name in self.vectors.items() if argument != "weights"]
        cells = Cells([*selection.columns, *beside], self.vectors.get("weights"))
        # standard errors are weights of their own
        cells.abandoned = not self.options.compress or "se" in self.vectors
        for frame in self.source.chunks(columns=selection.names(self.source.columns)):
            rows = selection.gaps(frame)[0].complete()
            if len(rows):
                cells.try_out(frame.iloc[rows])
                break
        return cells

    def learn(self, selection, studied, complete=True, cells=None):
        """The `Facts` of all rows, by one pass, in which `Cells` are counted, too."""
        facts, known = Facts(), self.source.columns
        chunks = self.source.chunks(columns=selection.names(known, studied))
        for frame in self.watch(chunks):
            part, rows = of_chunk(selection, studied, frame, complete)
            facts.merge(part)
            if cells is not None:
                cells.add(frame.iloc[rows])
        if facts.rows == 0:
            raise DataError(f"the data are empty: {facts.rows} rows, {len(known)} columns")
        if facts.used == 0:
            raise no_row(facts.rows)
        return facts

    def selection(self, terms, specs=(), **how):
        """The rows that have what terms need, and a value of the response."""
        columns = [*self.response_columns, *self.inputs(terms).values(), *self.group_columns]
        columns = list(dict.fromkeys(columns))
        return Selection(self, columns, self.vectors, self.subset, specs, **how)

    def chosen(self):
        """Terms, columns that the dot leaves out -> reason, and facts of the complete rows where
        they are known already.
        """
        if not self.parsed.has_dot:
            return self.fixed([]), {}, None
        names = self.source.columns
        used = [value for name, value in self.vectors.items() if name != "strata"]
        used += subset_columns(self.subset, pd.DataFrame(columns=names))
        taken = {*self.response_columns, *self.group_columns, *used}
        candidates = [name for name in names if name not in taken]
        named = self.parsed.names.inputs(self.parsed.predictors).values()
        first = Selection(self, self.response_columns, self.vectors, self.subset)
        facts = self.learn(first, list(dict.fromkeys([*candidates, *named])), complete=False)
        others, left_out = dot_columns(facts, candidates)
        if names[0] in others and is_unnamed(names[0]) and facts.columns[names[0]].kind == "number":
            others.remove(names[0])
            left_out[names[0]] = INDEX
        terms = self.fixed(others)
        needed = (facts.columns[name] for name in self.inputs(terms).values())
        if facts.counts or any(column.missing for column in needed):
            facts = None
            # without what is missing in an expression of the response, as in memory
            complete = self.learn(self.selection(terms, response=False), others)
            if others and complete.counts and complete.complete:
                others, constant = dot_columns(complete, others)
                if constant:  # without these columns more rows are complete
                    left_out |= constant
                    terms = self.fixed(others)
        left_out = {name: reason for name, reason in left_out.items() if name not in named}
        return terms, left_out, facts

    def fitted(self, terms, selection, facts):
        """The design of the rows of a selection."""
        refuse_hoarding(self.parsed, factors_of(terms), facts.complete, self.options.limit)
        levels = partial(self.levels_of, facts)
        spec = self.design(terms, levels, partial(self.chunks, selection))
        for frame in self.source.chunks(columns=selection.names(self.source.columns)):
            if len(selection.gaps(frame)[0].complete()):
                refuse_looking_around(selection, spec, frame)
                break
        return spec

    def chunks(self, selection, factors):
        """The rows of a selection as `Chunk`s, for so many factors."""
        size = chunk_rows(factors, CHUNK_ROWS)
        for frame in self.source.chunks(columns=selection.names(self.source.columns)):
            rows = selection.gaps(frame)[0].complete()
            for start in range(0, len(rows), size):
                yield Chunk(frame, rows[start : start + size])

    def levels_of(self, facts, name):
        """Levels of a column that is a factor by itself, None for numbers."""
        column = facts.columns[name]
        return self.factor_levels(
            name, column.kind, column.held, lambda: (column.present, column.found_levels())
        )

    def check_vectors(self, facts):
        """Refuse weights and the like that are no numbers, or not such ones."""
        for argument, name in self.vectors.items():
            column = facts.columns[name]
            if argument == "strata" and column.kind != "number":
                continue
            if column.kind not in ("number", "bool"):
                cure = cure_of_text(pd.Series(list(column.levels), dtype=object, name=name))
                raise DataError(f"{argument} must be numeric, not {column.held}{cure}")
            VALID[argument](argument, np.array(facts.extremes[argument]))

    def strata_levels(self, strata):
        """Levels of strata, None for numbers."""
        if strata is None or strata.kind == "number":
            return None
        levels = strata.found_levels()
        refuse_many_strata("strata", levels)
        return levels

    def examples(self, facts):
        """Values of the response; of counts those of their sums."""
        if not self.counted:
            return facts.examples()
        inputs = self.parsed.names.inputs(self.parsed.response)
        for name in (inputs[code] for code in self.counted if code in inputs):
            column = facts.columns[name]
            if column.kind != "number":
                raise DataError(
                    f"column {name!r} of the response {self.parsed.response!r} must hold counts, "
                    f"it holds {column.held}"
                )
        return pd.Series([0.0, 1.0, 2.0])

    def response_levels(self, facts):
        """Levels of the response, None for numbers; DataError where it is neither."""
        response = facts.response
        if response.kind == "number":
            low, high = facts.extremes[response.name]
            if not np.isfinite([low, high]).all():
                raise DataError(f"the response {response.name!r} is infinite in some rows")
            return None
        if response.kind not in LABELLED:
            raise DataError(
                f"the response {response.name!r} holds {response.held}: it must be numbers, "
                "true/false or labels"
            )
        return response.found_levels()


def in_columns(parsed):
    """Whether a file of a formula keeps columns: rows of one design and of one number of each
    outcome are what a fit may read from the file.
    """
    return bool(
        parsed.bars
        or parsed.smooths
        or has_bar(parsed.formula)
        or has_stages(parsed.formula)
        or "Surv" in parsed.functions
        or parsed.response.startswith(CALLS_IN_PART)
    )


def dot_columns(facts, candidates):
    """Columns that the dot stands for, and the others -> reason; see `columns_for_dot`."""
    reasons = {name: facts.columns[name].reason_to_leave_out() for name in candidates}
    kept = [name for name, reason in reasons.items() if reason is None]
    return kept, {name: reason for name, reason in reasons.items() if reason is not None}


def column_of_offset(parsed, vectors):
    """The column that is the offset of a formula.

    Raises
    ------
    FormulaError
        Where it is an expression, or another offset is given.
    """
    column = parsed.names.inputs(parsed.offset).get(parsed.offset)
    if column is None or "offset" in vectors:
        raise parsed.error(
            f"offset({parsed.offset}): the offset of a prepared file is one column of the source: "
            "make it a column, and write offset(column) or give offset="
        )
    return column
