"""Labels of new rows among those of a fit: known ones, new ones, and known ones that are written
in another type.
"""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.messages import label_text
from sgmc.arguments.types import Index, Ints
from sgmc.errors import DataError
from sgmc.formula.data.labels import NUMBER

NUMBERS, TEXT, TRUTHS, DATES = "numbers", "text", "true and false", "dates"
TRUE_OR_FALSE = {"true": True, "false": False}
CURES = (  # conversions of labels, as pandas and as Python have them, and what they are made of
    ("{}.astype(int)", int, (TEXT, NUMBERS, TRUTHS)),
    ("{}.astype(float)", float, (TEXT, NUMBERS)),
    ("{}.astype(str)", str, (NUMBERS, TRUTHS, DATES)),
    ("{}.astype(int).astype(str)", lambda label: str(int(label)), (NUMBERS, TRUTHS)),
    ("{}.dt.strftime('%Y-%m-%d')", lambda label: label.strftime("%Y-%m-%d"), (DATES,)),
    ("{}.dt.strftime('%Y-%m-%d')", lambda label: label.strftime("%Y-%m-%d"), (DATES,)),
    ("{}.astype(bool)", bool, (NUMBERS,)),
    (
        "{}.map({{'True': True, 'False': False}})",
        lambda label: {"True": True, "False": False}[label],
        (TEXT,),
    ),
    ("pd.to_datetime({})", pd.Timestamp, (TEXT,)),
)


def places_of(
    asked: Index,
    known: Index,
    columns: tuple[str, ...],
    table: str | None = None,
    where: str = "the fit",
) -> Ints:
    """The place of each label among those of a fit, -1 of those that it has not seen.

    Parameters
    ----------
    asked : Index (n,)
        Missing ones are -1, too; a MultiIndex of combinations of several columns.
    known : Index
        Of each label once.
    columns : sequence of str
        Which the labels are of.
    table : str, optional
        How the user may write the table of `asked`, for a cure in pandas' words.
    where : str
        What has the known labels, in words.

    Raises
    ------
    DataError
        For labels that the fit has not seen and whose text it knows, such as ``"3"`` where the fit
        has 3: taken for new levels, they would change every prediction without a word.
    """
    places = known.get_indexer(asked)
    if (places >= 0).all() or asked.nlevels != known.nlevels:
        return places
    if known.nlevels == 1:
        refuse_other_types(asked[places < 0].dropna().unique(), known, columns[0], table, where)
    for name, those, ours in zip(columns, asked.levels, known.levels) if known.nlevels > 1 else ():
        refuse_other_types(those[ours.get_indexer(those) < 0], ours, name, table, where)
    return places


def refuse_other_types(
    strange: Index, known: Index, name: str, table: str | None, where: str
) -> None:
    """Raise a DataError for new labels that differ from known ones by their type alone."""
    if len({*kinds_in(strange), *kinds_in(known)}) < 2:
        return  # of one type, labels differ where their text does
    dates = DATES in kinds_in(strange) or DATES in kinds_in(known)
    there: dict[Any, Any] = {}
    for label in known:
        there.setdefault(meaning(label, dates), {})[kind_of(label)] = label
    pairs = []
    for label in strange:
        alike = there.get(meaning(label, dates), {})
        pairs += [(label, one) for kind, one in alike.items() if kind != kind_of(label)][:1]
    if not pairs:
        return
    (label, one), cure = pairs[0], cure_of(pairs, strange)
    way = f"write them as {where} has them, such as {label_text(one)}"
    if cure is not None and table is not None:
        column = f"{table}[{name!r}]"
        way = f"convert them first, {column} = {cure.format(column)}"
    raise DataError(
        f"labels of {name!r} are of another type than in {where}: {kind_of(label)} such as "
        f"{label_text(label)}, where {where} has {kind_of(one)} such as {label_text(one)}; they "
        f"would be taken for new levels: {way}"
    )


def kinds_in(labels: Index) -> set[str]:
    """Which of the kinds of `kind_of` some labels have, a set."""
    if isinstance(labels.dtype, np.dtype) and labels.dtype.kind in "iuf":
        return {NUMBERS}
    return {kind_of(label) for label in labels}


def kind_of(label: Any) -> str:
    """What a label is, in words; times with a zone are none of those without."""
    if isinstance(label, bool | np.bool_):
        return TRUTHS
    if isinstance(label, Number | Decimal):
        return NUMBERS
    if isinstance(label, str):
        return TEXT
    if isinstance(label, date | np.datetime64 | pd.Period):
        return f"{DATES} with a time zone" if getattr(label, "tzinfo", None) else DATES
    return f"values of type {type(label).__name__}"


def meaning(label: Any, dates: Any) -> Any:
    """What a label stands for whatever its type: equal, and of one hash, for 3, 3.0, "3" and "03".

    Unless there are `dates`, text is never taken for one.
    """
    if isinstance(label, str):
        text = label.strip()
        if NUMBER.fullmatch(text):
            return float(text) if set(text) & set(".eE") else int(text)
        return TRUE_OR_FALSE.get(text.lower(), moment(text) if dates else text)
    if isinstance(label, date | np.datetime64 | pd.Period):
        return moment(label)
    return label


def moment(label: Any) -> Any:
    """A date or its text as a time without a zone; text that is none as it is."""
    try:
        time = label.start_time if isinstance(label, pd.Period) else pd.Timestamp(label)
    except ValueError:
        return label
    return time.tz_localize(None) if time.tzinfo else time


def cure_of(pairs: Iterable[tuple[Any, Any]], strange: Index) -> str | None:
    """The conversion, in pandas' words, that makes known labels of those of another type, and that
    suits all labels; None where none of `CURES` does.

    Parameters
    ----------
    pairs : list of (label, known label)
    strange : Index
        All that the fit does not have as they are.
    """
    widths = {len(one) if isinstance(one, str) else 0 for _, one in pairs}
    padded = (
        f"{{}}.astype(int).astype(str).str.zfill({max(widths)})",
        lambda label: str(int(label)).zfill(max(widths)),
        (NUMBERS,),
    )
    for written, convert, kinds in (*CURES, padded):
        try:
            made = [convert(label) for label in strange if kind_of(label) in kinds]
            if len(made) == len(strange) and all(
                convert(label) == one and kind_of(convert(label)) == kind_of(one)
                for label, one in pairs
            ):
                return written
        except (ValueError, KeyError, TypeError, OverflowError):
            continue
    return None
