"""The terms of a formula, and their design fitted to chunks of rows, wherever these come from."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import patsy

from sgmc.arguments.data.limited import framed, is_records
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import (
    ColumnsLeftOutWarning,
    DataError,
    FormulaError,
    OutOfMemoryError,
    PowerWarning,
    SGMCError,
    SGMCWarning,
)
from sgmc.formula.data.chunks import COLUMN, Expression, PatsyChunk
from sgmc.formula.data.int_overflow import cure_of
from sgmc.formula.data.label_column import LabelColumn
from sgmc.formula.data.labels import (
    conversion_of,
    note_of_levels,
    number_of_dates,
    refuse_levels,
)
from sgmc.formula.data.undefined import refuse_filled
from sgmc.formula.designs.design import DesignSpec
from sgmc.formula.evaluation.bounds import known_width, refuse_wide
from sgmc.formula.evaluation.functions import CALLS_IN_PART, IN_PART
from sgmc.formula.evaluation.widths import declared
from sgmc.formula.outcomes import OUTCOMES, counts, pairs

if TYPE_CHECKING:
    from sgmc.formula.data.chunks import Chunk
    from sgmc.formula.data.undefined import Undefined
    from sgmc.formula.syntax.bars import Bar
    from sgmc.formula.syntax.parser import Parsed
    from sgmc.formula.syntax.smooths import SmoothCall


NOT_A_PAIR = (
    "{label} is counts of successes and failures, for models of 0 and 1 such as sgmc.logit: give "
    "one number a row"
)


class ParsedTerms:
    """Terms of a formula that is parsed, their names being columns or expressions.

    Parameters
    ----------
    parsed : Parsed
    outcome : {"binary", "numeric", "category", "ordered", "survival"}

    Attributes
    ----------
    left : Expression
        The response.
    response_columns, group_columns : list of str
        Columns of the response and of the factors of groups.
    complete : list of str
        Columns of the response that must hold a value: an end of an interval, given by its name,
        need not.
    counted : tuple of str
        Code of successes and failures, where the response is their counts.
    effects, curves : list
        Terms of each group term, and pairs of those of each smooth.
    """

    def __init__(self, parsed: "Parsed", outcome: str) -> None:
        self.parsed = parsed
        self.noted: dict[Any, Any] = {}  # column -> warning about its levels
        self.left = Expression(parsed, parsed.response)
        self.response_columns = list(self.left.inputs.values())
        partly = outcome == "survival" or parsed.response.startswith(CALLS_IN_PART)
        open_ = ends_by_name(parsed.response) if partly else set()
        self.complete = [name for place, name in self.left.inputs.items() if place not in open_]
        self.counted = parsed.summands if outcome == "binary" else ()
        if parsed.pair and not self.counted:
            raise parsed.error(NOT_A_PAIR.format(label=parsed.response))
        self.outcome = counts if self.counted else OUTCOMES[outcome]
        self.group_columns = [name for bar in parsed.bars for name in bar.columns]
        self.group_columns += [one.column for one in parsed.smooths if one.column is not None]
        self.effects = [self._effects(bar) for bar in parsed.bars]
        self.curves = [self._curve(one) for one in parsed.smooths]

    def fixed(self, others: list[str]) -> list[Any]:
        """Terms of the fixed part, the dot standing for the columns `others`."""
        return self._looked_up(self.parsed.terms(others))

    def _effects(self, bar: "Bar") -> list[Any]:
        """Terms left of the bar of a group term."""
        terms = self._looked_up(self.parsed.terms_of(bar.effects))
        if not terms:
            raise self.parsed.error(f"({bar.text}) has no effect: write (1 | g), or (0 + x | g)")
        if set(bar.columns) & {*self.response_columns}:
            raise self.parsed.error(f"({bar.text}): the response is a factor of groups too")
        return terms

    def _curve(self, call: "SmoothCall") -> list[list[Any]]:
        """Terms of the covariates of a smooth, labels aside, and of what it is multiplied by."""
        if call.column in self.response_columns:
            raise self.parsed.error(f"{call.text}: the response has the labels of a term too")
        codes = [call.code] if call.column is None else []
        codes += [] if call.by is None else [f"0 + {call.by}"]
        return [self._looked_up(self.parsed.terms_of(code)) for code in codes]

    def smooths(
        self, specs: Sequence[Any]
    ) -> "Iterator[tuple[SmoothCall, DesignSpec | LabelColumn, DesignSpec | None]]":
        """A `SmoothCall` with its designs each; FormulaError where a covariate is no number."""
        for call, terms in zip(self.parsed.smooths, self.curves):
            own, specs = list(specs[: len(terms)]), specs[len(terms) :]
            if call.column is not None:
                own.insert(0, LabelColumn.of(call))
            elif len(own[0].exog_names) != len(call.covariates) or own[0].categorical:
                raise self.parsed.error(
                    f"{call.text}: smooths are of numbers, one column each; a factor is a "
                    "predictor, or a group term such as (1 | g)"
                )
            yield call, *own, *[None] * (2 - len(own))

    @property
    def beside(self) -> list[list[Any]]:
        """Lists of terms besides those of the fixed part."""
        return [*self.effects, *(terms for one in self.curves for terms in one)]

    def inputs(self, terms: list[Any]) -> dict[str, str]:
        """Columns that lists of terms, and what is beside them, need: placeholder -> name."""
        used = factors_of([*terms, *(term for one in self.beside for term in one)])
        return self.parsed.names.inputs(" ".join(factor.name() for factor in used))

    def refuse_filled(self, terms: list[Any], counts: Mapping[str, int]) -> None:
        """FormulaError for expressions that ask for gaps of their columns; see
        `sgmc.formula.data.undefined.refuse_filled`.
        """
        used = factors_of([*terms, *(term for one in self.beside for term in one)])
        codes = [one.code for one in used if isinstance(one, Evaluated)] if counts else []
        codes += [self.parsed.offset] if self.parsed.offset else []
        refuse_filled([self.left, *(Expression(self.parsed, code) for code in codes)], counts)

    def _looked_up(self, terms: list[Any]) -> list[Any]:
        """Terms whose factors are columns by name, or expressions."""
        names = self.parsed.names

        def factor(written: Any) -> Any:
            inputs = names.inputs(written.code)
            if written.code not in inputs:
                return Evaluated(written.code, written.origin)
            if written.code == self.parsed.response or written.code in self.counted:
                raise self.parsed.error(f"the response {written.code} is a predictor too")
            return patsy.LookupFactor(COLUMN + written.code, origin=written.origin)

        return [patsy.Term([factor(written) for written in term.factors]) for term in terms]

    def response(self, columns: "Chunk") -> Any:
        """The response in the rows of a `Chunk`; counts are a frame."""
        if self.counted:
            names, functions = self.parsed.names, self.parsed.functions
            inputs = names.inputs(self.parsed.response)
            return pairs(self.counted, names.label, functions, columns, inputs)
        value = self.left.evaluate(columns)
        if is_records(value):
            return framed(value)
        if np.shape(value) != (columns.n_rows,):
            raise DataError(
                f"the response {self.left.label!r} must be one column of {columns.n_rows} values, "
                f"its shape is {np.shape(value)}"
            )
        return pd.Series(value)

    def design(
        self,
        terms: list[Any],
        levels_of: Callable[..., Any],
        chunks_of: "Callable[..., Iterator[Chunk]]",
    ) -> DesignSpec:
        """A design: levels, contrasts and stateful transforms.

        Parameters
        ----------
        terms : list of patsy.Term
        levels_of : function of str
            Levels of a column that is a factor by itself, None for numbers.
        chunks_of : function of int
            An iterator over `Chunk`, given how many columns the factors have together.

        Returns
        -------
        DesignSpec
        """
        factors = factors_of(terms)
        inputs = self.parsed.names.inputs(" ".join(factor.name() for factor in factors))
        whole = [factor.name() for factor in factors if isinstance(factor, patsy.LookupFactor)]
        levels = {key: levels_of(inputs[key.removeprefix(COLUMN)]) for key in whole}

        def chunks() -> Iterator[PatsyChunk]:
            for chunk in chunks_of(sum(map(known_width, factors))):
                yield PatsyChunk(chunk, inputs, levels)

        scope = patsy.EvalEnvironment([self.parsed.functions])
        try:
            with np.errstate(all="ignore"):
                if self.parsed.safe:
                    refuse_wide(terms, levels, chunks, scope, self.parsed.names)
                info = patsy.design_matrix_builders([terms], chunks, scope)[0]
        except patsy.PatsyError as error:
            raise self.parsed.error(self.of_patsy(error)) from error
        except (DataError, FormulaError, OSError, OutOfMemoryError, OutOfTime):
            raise
        except MemoryError as error:
            raise OutOfMemoryError(
                f"memory is exhausted: {self.largest(levels, inputs, factors)}"
            ) from error
        except Exception as error:  # whatever a stateful transform raises
            raise self.parsed.error(f"{type(error).__name__}: {error}") from error
        return DesignSpec(self.parsed, info, levels)

    def largest(
        self, levels: Mapping[str, Any], inputs: Mapping[str, str], factors: Iterable[Any]
    ) -> str:
        """The factor with most levels or columns, and what to do: a clause."""
        counts = {name: len(known or ()) for name, known in levels.items()}
        counts |= {one.name(): one.width for one in factors if one.name() not in levels}
        name = max(counts, key=counts.__getitem__, default="")
        if name in levels and counts[name]:
            column = inputs[name.removeprefix(COLUMN)]
            return f"column {column!r} has {counts[name]} levels; join rare ones, or leave it out"
        if counts.get(name, 0) > 1:
            label = self.parsed.names.quoted(name)
            return f"{label} has {counts[name]:,} columns; give fewer"
        return "of the formula's terms; use fewer"

    def of_patsy(self, error: Any) -> str:
        """What to say of patsy's error: that of the factor which it could not evaluate, if any."""
        cause, piece = error.__cause__, error.origin
        if cause is None or piece is None:
            return error.message + cure_of(error.message)
        kind = "" if isinstance(cause, SGMCError) else f"{type(cause).__name__}: "
        said = f"{kind}{cause}"
        code = patsy.EvalFactor(piece.code[piece.start : piece.end]).code
        if "truth value" in said:
            said = (
                "it takes a column for a single number; for max and min of columns write "
                "np.maximum and np.minimum, for if np.where"
            )
        return f"cannot evaluate {code!r}: {said}{cure_of(said)}"

    def factor_levels(
        self, name: str, found: str, held: Any, levels_of: Callable[..., Any]
    ) -> tuple[Any, ...] | None:
        """Levels of a column that is a factor by itself, None for numbers.

        Parameters
        ----------
        name : str
        found : str
            See `columns.kind`.
        held : str
            What it holds, for a message.
        levels_of : function
            Rows and levels of the column, of those that are used.
        """
        if found == "date":
            raise self.parsed.error(f"column {name!r} holds {number_of_dates(name, held)}")
        if found in ("complex", "other"):
            raise self.parsed.error(
                f"column {name!r} is no predictor: it holds {held}, neither real numbers nor text; "
                f"convert it{conversion_of(name, held)}"
            )
        if found == "number":
            return None
        rows, levels = levels_of()
        refuse_levels(name, found, rows, levels)
        if (note := note_of_levels(name, found, levels)) is not None:
            self.noted[name] = note
        return levels

    def notes(
        self, left_out: dict[str, str], undefined: "dict[str, Undefined]"
    ) -> list[SGMCWarning]:
        """What is not as a reader may expect, warnings: columns that the dot leaves out, text that
        is a factor, rows that expressions leave out.
        """
        found: list[SGMCWarning] = [left_out_warning(left_out)] if left_out else []
        if powers := self.parsed.powers:
            found.append(power_warning([self.parsed.names.quoted(code) for code in powers]))
        return [*found, *self.noted.values(), *(one.warning() for one in undefined.values())]


def left_out_warning(left_out: dict[str, str]) -> ColumnsLeftOutWarning:
    """The warning about columns (name -> reason) that the dot does not stand for."""
    listed = ", ".join(f"{name!r} ({reason})" for name, reason in left_out.items())
    return ColumnsLeftOutWarning(
        f"the dot leaves out {listed}.",
        "Name a column in the formula to use it, or to take it out.",
    )


def power_warning(codes: list[str]) -> PowerWarning:
    """The warning about powers of single columns, by their codes."""
    squares = ", ".join(f"I({code}**2)" for code in codes)
    return PowerWarning(
        f"powers in a formula are of sums, as in (a + b)**2: that of {', '.join(codes)} alone is "
        f"{'the column itself' if len(codes) == 1 else 'each column itself'}, as in R.",
        f"Write {squares} for the square, or poly({codes[0]}, 2).",
    )


def factors_of(terms: list[Any]) -> list[Any]:
    """The factors of some terms, each once."""
    return list(dict.fromkeys(factor for term in terms for factor in term.factors))


def ends_by_name(response: str) -> set[str]:
    """Names in the code of an outcome known in part that may lack a value: arguments by themselves
    of `cens`, `trunc` and intervals.  A comparison of what is missing would be false, not missing.
    """
    tree = ast.parse(response, mode="eval").body
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    found = set()
    for call in calls:
        called = call.func.id if isinstance(call.func, ast.Name) else ""
        # times and events need each other but for intervals, whose ends may be open
        given = [*call.args, *(one.value for one in call.keywords)]
        kinds = [one.value for one in given if isinstance(one, ast.Constant)]
        if called in IN_PART and (called != "Surv" or "interval2" in kinds):
            found |= {one.id for one in given if isinstance(one, ast.Name)}
    return found


class Evaluated(patsy.EvalFactor):
    """An expression of a formula for patsy: the clock is looked at before each chunk of rows, and
    whatever a transform raises names its expression.

    Attributes
    ----------
    width : int
        Columns that it makes by the constants in it; 1 where it has none.
    """

    @property
    def width(self) -> int:
        """See the class."""
        return declared(self.code)

    def memorize_chunk(self, state: dict[str, Any], which_pass: int, data: Any) -> None:
        """Learn from a part of the rows, in time."""
        deadline.check()
        super().memorize_chunk(state, which_pass, data)

    def memorize_finish(self, state: dict[str, Any], which_pass: int) -> None:
        """End a pass over the rows; errors of the user's functions name the term."""
        deadline.check()
        try:
            super().memorize_finish(state, which_pass)
        except MemoryError:
            raise
        except Exception as error:
            raise patsy.PatsyError("Error evaluating factor", self) from error

    def eval(self, memorize_state: dict[str, Any], data: Any) -> Any:
        """Evaluate the term, in time."""
        deadline.check()
        return super().eval(memorize_state, data)
