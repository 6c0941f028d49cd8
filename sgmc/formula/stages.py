"""Category-specific effects of sequential models, ``y ~ x + cs(z)``: the columns of z once for each
stage, each time with coefficients of their own.
"""

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.arguments.types import Array, Floats, Ints
from sgmc.errors import FormulaError, NotSupported
from sgmc.formula.evaluation.safe import like
from sgmc.formula.parts import PartsSpec, PartsTable, bars_of, side_by_side
from sgmc.formula.table import Table

if TYPE_CHECKING:
    from sgmc.formula.designs.design import DesignSpec
    from sgmc.formula.evaluation.safe import SafeFormula

CALL = re.compile(r"(?<![\w.`])cs\s*\(")
QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`")


def taken(formula: "str | SafeFormula") -> tuple[str, list[str]]:
    """The right side of a formula without the terms ``cs(..)`` that are added to the others, and
    what is between their parentheses; one that is subtracted takes the same one out.
    """
    right = str(formula).partition("~")[2]
    blank = QUOTED.sub(lambda match: "_" * len(match[0]), right)
    inner: dict[str, str] = {}  # spaces aside
    rest, at = "", 0
    for match in CALL.finditer(blank):
        end, before = closing(blank, match.end()), blank[: match.start()]
        nested = before.count("(") + before.count("[") > before.count(")") + before.count("]")
        sign, after = before.rstrip()[-1:], blank[end:].lstrip()[:1]
        if not end or nested or sign not in ("", "+", "-") or after not in ("", "+", "-", "|"):
            continue  # left to the parser, which refuses it
        inside = right[match.end() : end - 1].strip()
        same = "".join(inside.split())
        if sign == "-" and same not in inner:
            raise FormulaError(
                f"cs({inside}) is taken out of {str(formula)!r}, and is not in it: leave it out"
            )
        inner[same] = inside
        if sign == "-":
            del inner[same]
        kept = right[at : match.start()].rstrip()
        rest, at = rest + (kept[:-1] if sign else kept), end
    rest += right[at:]
    first = rest.lstrip()
    return (first[1:] if first.startswith("+") else rest).strip() or "1", list(inner.values())


def closing(text: str, at: int) -> int:
    """The place behind the parenthesis that closes one before a place; 0 without it."""
    depth = 1
    for place in range(at, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place + 1
    return 0


def has_stages(formula: Any) -> bool:
    """Whether a formula has category-specific effects."""
    return bool(taken(formula)[1])


def split_stages(formula: "str | SafeFormula") -> tuple[Any, Any]:
    """The formulas of what is common to all stages, and of what is in each."""
    left = str(formula).partition("~")[0]
    right, inner = taken(formula)
    if not all(inner):
        raise FormulaError(f"cs() in {str(formula)!r} has no predictor: write cs(z)")
    if re.fullmatch(r"\s*(0|-\s*1)\s*", right):
        raise FormulaError(
            f"{str(formula)!r}: thresholds are the intercepts of the stages, and stay: leave '0 +' "
            "or '- 1' out"
        )
    terms = " + ".join(with_plus(one) for one in inner)
    return like(f"{left}~ {right}", formula), like(f"{left}~ {terms}", formula)


def as_one(formula: "str | SafeFormula") -> "str | SafeFormula":
    """The formula ``"y ~ x + z"`` of ``"y ~ x | z"`` and of ``"y ~ x + cs(z)"``, which needs the
    same columns; others as they are.
    """
    if has_stages(formula):
        first, other = split_stages(formula)
        return like(f"{first} + {str(other).partition('~')[2].strip()}", formula)
    response, predictors, bars = bars_of(formula)
    if not bars:
        return formula
    parts = [predictors[i + 1 : j] for i, j in zip([-1, *bars], [*bars, len(predictors)])]
    return like(f"{response}~{' + '.join(part.strip() for part in parts)}", formula)


def with_plus(inside: str) -> str:
    """Arguments of a call as a sum of terms."""
    blank, depth, out = QUOTED.sub(lambda match: "_" * len(match[0]), inside), 0, ""
    for sign, shown in zip(blank, inside):
        depth += (sign in "([{") - (sign in ")]}")
        out += " + " if sign == "," and depth == 0 else shown
    return out


class StagesSpec(PartsSpec):
    """The recipes of common columns, and of those that each stage has, as one: the latter less
    their means, so that priors of thresholds hold at these.

    Parameters
    ----------
    formula, specs, second
        As in `PartsSpec`.
    stages : list of str
        Names of the thresholds.
    centre : array
        Means of the columns of the second recipe.
    """

    def __init__(
        self,
        formula: str,
        specs: "tuple[DesignSpec, DesignSpec]",
        second: str,
        stages: Sequence[str],
        centre: Floats,
    ) -> None:
        super().__init__(formula, specs, second)
        first, other = specs
        self.stages, self.centre = list(stages), np.asarray(centre, dtype=float)
        self.expanded = f"{first.expanded} + cs({other.expanded.partition('~')[2].strip()})"
        own = [f"{name}[{stage}]" for name in other.exog_names for stage in stages]
        self.exog_names = first.exog_names + own
        moved = {
            f"cs({name})": slice(*(self.first + len(stages) * end for end in (at.start, at.stop)))
            for name, at in other.term_slices.items()
        }
        self.term_slices = {**first.term_slices, **moved}

    @property
    def predictor(self) -> Ints:
        """0 of a common column, k of one of stage k."""
        own = np.tile(np.arange(1, len(self.stages) + 1), len(self.centre))
        return np.append(np.zeros(self.first, dtype=int), own)

    @property
    def moved(self) -> Floats:
        """What thresholds (stage, ..) have of each coefficient (.., column) as they are printed, at
        a predictor of 0: columns less their means have as much of it at theirs.
        """
        means = np.append(np.zeros(self.first), np.repeat(self.centre, len(self.stages)))
        own = self.predictor == np.arange(1, len(self.stages) + 1)[:, None]
        return np.where(own, means, 0.0)

    def placed(self, part: int, block: Array) -> Array:
        return np.repeat(block - self.centre, len(self.stages), axis=1) if part else block

    def every(self, columns: Iterable[int]) -> list[int]:
        """Columns of all stages for some of the second recipe."""
        count = len(self.stages)
        return [self.first + count * j + k for j in columns for k in range(count)]

    @property
    def numbers(self) -> tuple[list[tuple[Any, ...]], list[bool]]:
        (members, alone), (own, single) = (one.numbers for one in self.specs)
        every = self.stages
        return (
            members + [one for one in own for _ in every],
            alone + [one for one in single for _ in every],
        )

    def columns_within(self, sets: Iterable[Set[Any]]) -> list[int]:
        first, other = (one.columns_within(sets) for one in self.specs)
        return first + self.every(other)


def joined_stages(
    formula: Any, second: str, read: Callable[..., Table], frame: Any, names: Callable[..., Any]
) -> PartsTable:
    """The `PartsTable` of a formula, of the rows that are complete in both of its parts.

    Parameters
    ----------
    formula : str
    second : str
        See `PartsSpec`.
    read : callable
        See `sgmc.formula.parts.joined`.
    frame : DataFrame
    names : function of tuple
        Names of the thresholds between levels.
    """
    table = side_by_side(split_stages(formula), read, frame)
    one, other = (part.spec for part in table.parts)
    refuse_unsuited(formula, table.parts[1], one)
    other = other.without_intercept()
    centre = means_of(other, table)
    spec = StagesSpec(formula, (one, other), second, names(one.levels), centre)
    return replace(table, spec=spec)


def refuse_unsuited(formula: Any, table: Table, common: "DesignSpec") -> None:
    """Refuse what effects of each stage cannot be of."""
    spec, text = table.spec, f"cs() in {str(formula)!r}"
    if table.bars or table.smooths:
        raise NotSupported(
            f"{text}: group terms and smooths are common to all stages, whose own effects are "
            "coefficients: write them outside of cs(), or a curve of each stage as cs(ns(x, df=4))",
            because="limit",
        )
    if spec.increments:
        raise NotSupported(
            f"{text}: monotonic effects are common to all stages, whose own effects are of either "
            "sign: write mo() outside of cs(), or give levels a coefficient each, by cs(C(x))",
            because="limit",
        )
    if spec.offset is not None:
        raise FormulaError(f"{text}: an offset has no coefficient: write it outside of cs()")
    if spec.exog_names == ["Intercept"]:
        raise FormulaError(
            f"{text} has no predictor: thresholds are the intercepts of the stages; write cs(z)"
        )
    if not spec.has_intercept:
        raise FormulaError(
            f"{text}: thresholds are the intercepts of the stages, and stay: leave '0 +' out"
        )
    twice = [name for name in spec.term_slices if name in common.term_slices]
    twice = [name for name in twice if name != "Intercept"]
    if twice:
        raise FormulaError(
            f"{text}: {twice[0]!r} is there without cs(), too, and only the sum of both effects "
            "can be known: leave one of them out"
        )


def means_of(spec: "DesignSpec", table: Table) -> Floats:
    """Means of the columns over the rows, as often as they count."""
    total, size = np.zeros(len(spec.exog_names)), 0.0
    weight = np.ones(len(table.rows)) if table.weights is None else table.weights
    for span, block in spec.blocks(table.frame, table.rows, CHUNK_ROWS, np.float64):
        total += weight[span] @ block
        size += weight[span].sum()
    return total / max(size, 1.0)
