"""Through rows and draws in blocks: quantities of each row, and their averages."""

import numpy as np
import pandas as pd

from sgmc.arguments.messages import label_text
from sgmc.core.system import deadline
from sgmc.errors import DataError
from sgmc.results.effects.groups import Groups
from sgmc.results.effects.places import numbers_at, rows_at, thinned, variables_of
from sgmc.results.effects.quantities import shown_value
from sgmc.results.effects.sums import column_of, slopes_by_row, slopes_together, together
from sgmc.results.effects.table import NUMBERS, Summaries, beside

TAKEN = ("rowid", "term", "contrast", "group", *NUMBERS)


def blocks(results, places, quantity, link):
    """Triples of a `Piece`, a slice of it, and parts (kind, row, draw), with the draws' weights."""
    for piece in places.pieces():
        frames, numbers = quantity.frames(piece.frame)
        tables = [thinned(rows_at(results, one, piece.offset), places.n) for one in frames]
        first = tables[0]
        for start in range(0, first.n, first.block):
            deadline.check()
            at = slice(start, min(start + first.block, first.n))
            values = [numbers_at(rows, at, link) for rows in tables]
            some = None if numbers is None else sliced(numbers, at)
            yield piece, at, quantity.parts(values, some), first.weights


def sliced(numbers, at):
    """The same rows of one or several arrays."""
    return tuple(one[at] for one in numbers) if isinstance(numbers, tuple) else numbers[at]


def by_row(results, places, quantities, link, kinds, level):
    """A table with a line a row, kind and quantity; NaN where a variable is missing."""
    found, names = Summaries(level), variables_of(results)

    def add(k, piece, at, value, weights):
        """Rows of the k-th quantity, (kind, row, draw)."""
        quantity = quantities[k]
        shown = piece.frame[[name for name in names if name in piece.frame]].iloc[at]
        shown = beside(shown.assign(**quantity.cell), TAKEN)
        for j, one in enumerate(value):
            columns = {"rowid": piece.rows[at], **of_kind(kinds, j), **quantity.labels}
            head = pd.DataFrame(columns, index=shown.index)
            lines = pd.concat([head, shown], axis=1).set_axis(piece.labels[at])
            found.add(lines, one, weights, k, labelled=True)

    shared = slopes_together(results, places, quantities, link)
    for k, quantity in enumerate(quantities):
        if k in shared:
            continue
        for piece, at, parts, weights in blocks(results, places, quantity, link):
            add(k, piece, at, quantity.final(*parts), weights)
    own = [quantities[k].moves.term for k in shared]
    for piece, at, slope, rows in slopes_by_row(results, places, link, own) if shared else ():
        for k, j in shared.items():
            value = slope * rows.coefficients[:, j]
            if quantities[k].elastic:
                value *= column_of(rows.X[at], j)[:, None]
            add(k, piece, at, value[None], rows.weights)
    return found.table()


def of_kind(kinds, k):
    """The column that names the kind of outcome, where there are several."""
    return {} if kinds is None else {"group": kinds[k]}


def by_group(results, places, quantities, link, kinds, level):
    """A table with a line a group, kind and quantity."""
    found, by = Summaries(level), places.by
    every, error = together(results, places, quantities, link) or (None, 0.0)
    for k, quantity in enumerate(quantities):
        sums = every[k] if every else one_by_one(results, places, quantity, link)
        for key in ordered(results, sums.places, by):
            total, weight = sums.total[sums.places[key]], sums.weight[sums.places[key]]
            if weight == 0:
                raise DataError(f"the weights of {shown_key(by, key)} are all 0")
            value = quantity.final(*(total / weight))
            own = pd.DataFrame({**dict(zip(by, key)), **quantity.cell}, index=[0])
            own = beside(own, TAKEN)
            for j, one in enumerate(value):
                head = pd.DataFrame({**of_kind(kinds, j), **quantity.labels}, index=[0])
                found.add(pd.concat([head, own], axis=1), one[None], sums.draw_weights)
    out = found.table()
    out.attrs["draws_error"] = error
    return out


def one_by_one(results, places, quantity, link):
    """Sums of one quantity by group, from all of its tables at each draw."""
    sums, names = Groups(places.by), variables_of(results)
    for piece, at, parts, weights in blocks(results, places, quantity, link):
        weight = np.asarray(piece.weight[at])
        known = np.isfinite(sum(one.sum(axis=(0, 2)) for one in parts))
        if not known[weight > 0].all():
            refuse_unknown_rows(piece, at, known | (weight == 0), parts, quantity, names)
        if not known.all():
            parts, weight = [one[:, known] for one in parts], weight[known]
        sums.add(sums.codes(piece.by.iloc[at][known]), weight, parts)
        sums.draw_weights = weights
    return sums


def refuse_unknown_rows(piece, at, known, parts, quantity, names):
    """DataError for rows that have no value."""
    place = at.start + int(np.argmin(known))
    row = piece.rows[place]
    if any(np.isinf(one).any() for one in parts):
        raise DataError(f"row {row} of the data has an infinite value: leave it out, or rescale")
    own = piece.frame.iloc[place]
    complete = not own[[name for name in names if name in own]].isna().any()
    for name in {quantity.labels.get("term"), *quantity.cell} - {None}:
        if complete:  # it is what the variable was changed to that has no value
            frames, _ = quantity.frames(piece.frame.iloc[place : place + 1])
            values = [one[name].iloc[0] for one in frames]
            tried = " and ".join(dict.fromkeys(map(shown_value, values)))
            if any(value != value for value in values):
                raise DataError(
                    f"the values of {name!r} to compare are {tried}: give two numbers, "
                    f"variables={{{name!r}: [a, b]}}"
                )
            raise DataError(
                f"the changed values of {name!r} leave the domain of a term of the formula, such "
                f"as log({name}) or the edges of pd.cut({name}, ...): in row {row} they are "
                f"{tried}; compare values inside it, variables={{{name!r}: [a, b]}}, or take a "
                "smaller step"
            )
    raise DataError(
        f"row {row} of the data lacks a variable of the model, and an average needs all: leave "
        "such rows out, e.g. data.dropna()"
    )


def shown_key(by, key):
    """A group in words."""
    return ", ".join(f"{name}={label_text(value)}" for name, value in zip(by, key)) or "the rows"


def ordered(results, keys, by):
    """Keys of groups in order: levels of factors in theirs, others sorted."""
    from sgmc.results.effects.places import factors_of

    levels = {
        one.label: {level: k for k, level in enumerate(one.levels)}
        for one in factors_of(results)
        if one.is_column and one.levels is not None
    }

    def place(key):
        return tuple(levels.get(name, {}).get(value, value) for name, value in zip(by, key))

    try:
        return sorted(keys, key=place)
    except TypeError:  # labels of several types
        return sorted(keys, key=lambda key: tuple(map(str, key)))
