"""Ratings from what users pass: a long table, a sparse matrix, or three columns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from sgmc.arguments.data.arrays import numeric, vector
from sgmc.arguments.messages import label_text, labels_text, value_text
from sgmc.errors import ArgumentError, DataError, NewLevelsWarning, warn
from sgmc.formula.data.levels import places_of

MAX_INDEX = 2**31 - 1  # users and items are numbered in 32 bits


@dataclass(frozen=True)
class RatingTable:
    """Who rated what, by number.

    Attributes
    ----------
    users, items : pandas.Index
        Labels, those with ratings first, sorted where they can be.
    user, item : array of int32 (n,)
        Places in them.
    value : array (n,) or None
    """

    users: pd.Index
    items: pd.Index
    user: np.ndarray
    item: np.ndarray
    value: np.ndarray | None

    @cached_property
    def codes(self):
        """One number a pair, (n,)."""
        return self.user.astype(np.int64) * len(self.items) + self.item

    def fresh(self, sizes):
        """New users and items, given how many have ratings."""
        return len(self.users) - sizes[0], len(self.items) - sizes[1]

    def moments(self, form):
        """Moments of order below this number are finite, of expected ratings of the pairs, (n,)."""
        users, items, _ = form["sizes"]
        of_user, of_item = form["moments"]
        return np.minimum(
            np.where(self.user >= users, of_user, np.inf),
            np.where(self.item >= items, of_item, np.inf),
        )


def rating_table(ratings, columns):
    """The ratings that a model is fitted to.

    Parameters
    ----------
    ratings : DataFrame, scipy sparse array, or (users, items, ratings)
        Of a sparse array all stored values are ratings, zeros too; users and items are its row and
        column numbers.
    columns : (str, str, str)
        Of a DataFrame.

    Raises
    ------
    DataError
        For missing columns, labels or numbers, and for users who rated an item twice.
    """
    user, item, value = three(ratings, columns, "ratings")
    if value is None:
        raise DataError("ratings are missing: give (users, items, ratings)")
    if not len(value):
        raise DataError("ratings has no rows")
    (i, users), (j, items) = numbered(user, columns[0]), numbered(item, columns[1])
    table = RatingTable(users, items, i, j, vector(f"ratings: column {columns[2]!r}", value))
    twice = pd.Series(table.codes).duplicated(keep=False).to_numpy()
    if twice.any():
        first = int(np.argmax(twice))
        raise DataError(
            f"ratings: user {label_text(users[i[first]])} rated item "
            f"{label_text(items[j[first]])} more than once ({int(twice.sum())} such rows "
            "in all); keep one rating a pair, e.g. their mean"
        )
    return table


def pair_table(pairs, columns, known, argument):
    """Pairs of users and items, with ratings where these are given; those without ratings in the
    fit are numbered after the others, one number a label.

    Parameters
    ----------
    pairs : as ratings of `rating_table`; a third column may be left out
    columns : (str, str, str)
    known : RatingTable or FactorInfo
        Whose labels are those with ratings.
    argument : str
        As it is called in messages.
    """
    user, item, value = three(pairs, columns, argument)
    value = None if value is None else vector(f"{argument}: column {columns[2]!r}", value)
    table = argument if hasattr(pairs, "columns") else None
    i, users = placed(user, known.users, columns[0], table)
    j, items = placed(item, known.items, columns[1], table)
    return RatingTable(users, items, i, j, value)


def three(ratings, columns, argument):
    """Columns of users, items and ratings (None where there are none), of equal length."""
    if hasattr(ratings, "tocoo"):
        stored = ratings.tocoo()
        return np.asarray(stored.row), np.asarray(stored.col), numeric(argument, stored.data)
    if hasattr(ratings, "columns"):
        return of_frame(ratings, columns, argument)
    if not isinstance(ratings, (tuple, list)) or len(ratings) not in (2, 3):
        raise DataError(
            f"{argument} must be a DataFrame with columns {', '.join(map(value_text, columns))}, a "
            f"scipy sparse array, or (users, items, ratings), one argument; it is "
            f"{type(ratings).__name__}"
        )
    parts = [one if hasattr(one, "dtype") else pd.Series(list(one)) for one in ratings]
    lengths = [np.shape(one) for one in parts]
    if len(set(lengths)) > 1 or len(lengths[0]) != 1:
        raise DataError(
            f"{argument}: users, items and ratings have shapes {', '.join(map(str, lengths))}; "
            "give vectors of equal length"
        )
    return (*parts, None) if len(parts) == 2 else tuple(parts)


def of_frame(frame, columns, argument):
    """The three columns of a table."""
    table = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    missing = [name for name in columns[:2] if name not in table.columns]
    if argument == "ratings" and columns[2] not in table.columns:
        missing.append(columns[2])
    if missing:
        raise DataError(
            f"{argument} has no column {missing[0]!r}; its columns are "
            f"{', '.join(map(repr, table.columns))}: say user=, item= and rating="
        )
    return (
        table[columns[0]],
        table[columns[1]],
        table[columns[2]] if columns[2] in table.columns else None,
    )


def numbered(labels, name):
    """Places (n,) and the labels that they are in, sorted where they can be."""
    refuse_missing(labels, name)
    try:
        places, found = pd.factorize(labels, sort=True)
    except TypeError:  # labels of several kinds, which have no order
        places, found = pd.factorize(np.asarray(labels, dtype=object))
    found = pd.Index(found, tupleize_cols=False)
    if len(found) > MAX_INDEX:
        raise ArgumentError(f"{len(found)} labels of {name!r} are too many: at most {MAX_INDEX}")
    return places.astype(np.int32), found


def placed(labels, known, name, table):
    """Places (n,) of labels among known ones and, after these, new ones; and all of them.

    Warns where all are new; see `places_of` for those of another type.
    """
    refuse_missing(labels, "users and items")
    asked = pd.Index(labels, tupleize_cols=False)
    at = places_of(asked, known, [name], table)
    strange = asked[at < 0]
    if not len(strange):
        return at.astype(np.int32), known
    new = strange.unique()
    if len(strange) == len(asked):
        warn(
            NewLevelsWarning(
                f"No label of {name!r} has ratings in the fit, and {len(new)} new "
                f"{'ones have' if len(new) > 1 else 'one has'} factors drawn from the prior: "
                f"{labels_text(new)}.",
                f"Check the labels; those of the fit are such as {labels_text(known[:3])}.",
            )
        )
    at[at < 0] = len(known) + new.get_indexer(strange)
    return at.astype(np.int32), pd.Index([*known, *new], tupleize_cols=False)


def refuse_missing(labels, name):
    """DataError for labels that are missing."""
    missing = pd.isna(np.asarray(labels) if not hasattr(labels, "isna") else labels)
    if np.any(missing):
        raise DataError(f"{name}: {int(np.sum(missing))} labels are missing; drop these rows first")
