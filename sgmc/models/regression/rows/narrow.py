"""Digits of columns that are far from zero: what float32 leaves of them, and float64."""

import numpy as np

from sgmc.arguments.data.limited import is_records, numbers_of_ends
from sgmc.core.system.storage import made, mean_and_variance
from sgmc.errors import ConditionWarning, DataError
from sgmc.formula.designs.moments import Moments
from sgmc.models.regression.bases.family import MAX_SD
from sgmc.models.regression.rows.data import as_floats, unwrapped

DIGITS_LOST = 1e-4  # rounding errors, in sds of a column, from which on too few digits are left


class Narrow:
    """Blocks of a design on their way to a table of float32.

    Moments are those of what comes, in float64, and the means of the first rows are taken off
    before digits are lost; the rest of the means is small, and is taken off in the table.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the table.
    weight : array (n,) or None
        Frequency weights of the rows, in the order in which they come.
    centre : bool
        Whether columns are centred; if not, they stay as they are.
    constant : array (d,) of bool
        Columns of which nothing is taken off.
    """

    def __init__(self, dtype, weight, centre, constant):
        self.dtype, self.weight, self.constant = dtype, weight, constant
        self.centre, self.origin, self.moments = centre, None, None

    def __call__(self, block, span):
        """The rows `span` as they are written."""
        with np.errstate(over="ignore", invalid="ignore"):  # for the caller to report
            if self.origin is None:
                first = np.mean(block, axis=0, dtype=float)
                self.origin = np.where(np.isfinite(first) & ~self.constant, first, 0.0)
            apart = block - self.origin
            found = Moments.of(apart, None if self.weight is None else self.weight[span])
            self.moments = found if self.moments is None else self.moments.merge(found)
            return np.ascontiguousarray(apart if self.centre else block, dtype=self.dtype)

    def result(self):
        """Means and sds (n - 1) of the columns as the user has them."""
        return self.origin + self.moments.mean, self.moments.sd


def narrowed(data, dtype, centre, places):
    """A `Narrow` for the columns `places` of a design that float32 is wanted for; None where the
    table has float64.
    """
    if dtype != np.float32:
        return None
    return Narrow(dtype, data.weight, centre, data.uncentred[places])


def refuse_rounded(table, mean, data):
    """DataError where columns of float32 that are not centred have lost their digits; `mean` (d,)
    is that of these rows, before the shift.
    """
    if getattr(table.X, "dtype", None) != np.float32 or table.given:
        return
    rounded = lost(table.shift - mean, table.sd, np.float32)
    rounded[data.intercepts] = False  # the sd of a constant may be rounding errors of moments
    for j in np.flatnonzero(rounded):
        raise DataError(
            f"dtype='float32' rounds column {data.names[j]!r}, whose mean is {mean[j]:.3g} and "
            f"whose sd is {table.sd[j]:.3g}: it is not centred here. Use dtype='float64', or "
            "subtract its mean first"
        )


def refuse_far_outcomes(data, family, dtype):
    """DataError where the linear predictors that outcomes ask for are so far from zero that float32
    loses the digits by which they differ.

    Columns are centred, outcomes are not: an intercept near 1e8 is a multiple of 8 in float32.

    Parameters
    ----------
    data : RegressionData
    family : Family
    dtype : numpy.dtype
        Of the table, where it is not that of a prepared file.
    """
    kept = dtype if data.prepared is None else data.prepared.dtype
    if kept != np.float32 or data.sparse is not None or data.trials is not None:
        return
    family = unwrapped(family)
    offset = data.offset if family.identity else None

    def beyond(rows):
        y = numbers_of_ends(data.y[rows]) if is_records(data.y) else data.y[rows]
        y = family.numbers(as_floats(y))
        return y if offset is None else y - offset[rows]

    mean, variance = mean_and_variance(made(data.n, data.y, beyond), data.weight)
    if lost(*family.linear_moments(mean, variance), np.float32):
        less = "" if offset is None else " less the offset"
        raise DataError(
            f"dtype='float32' rounds the outcome {data.endog_name!r}{less}, whose mean is "
            f"{mean:.3g} and whose sd is {np.sqrt(variance):.3g}: outcomes are not centred. Use "
            "dtype='float64', or subtract the mean first"
        )


def refuse_squares(table, names, intercepts):
    """DataError where the squares of a column, of which curvatures are made, are no numbers."""
    for j in np.flatnonzero(~(np.abs(table.mean) < MAX_SD) | ~(table.sd < MAX_SD)):
        raise DataError(
            f"column {names[j]!r} has numbers so large that their squares overflow: rescale it"
        )
    tiny = table.sd < 1 / MAX_SD  # zero where squares have underflowed, or the column is constant
    for j in np.setdiff1d(np.flatnonzero(tiny), intercepts):
        if isinstance(table.X, np.ndarray) and 0 < np.ptp(table.X[:, j]) < 1 / MAX_SD:
            raise DataError(
                f"column {names[j]!r} has numbers that differ so little that the squares of their "
                "differences underflow: rescale it"
            )


def rounded(table, data):
    """A ConditionWarning, in a list, where numbers as they came have lost digits of what they
    differ by.

    Parameters
    ----------
    table : Table
    data : RegressionData
    """
    source = data.source
    single = isinstance(source, np.ndarray) and source.dtype == np.float32
    known = np.float32 if single else np.float64
    places = np.flatnonzero(lost(table.mean, table.sd, known))
    if not len(places):
        return []
    j = places[np.argmax(np.abs(table.mean[places]) / table.sd[places])]
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    digits = max(-np.log10(np.finfo(known).eps * abs(table.mean[j]) / table.sd[j]), 0.0)
    return [
        ConditionWarning(
            f"column {data.names[j]!r}{more} has numbers near {table.mean[j]:.3g} that differ by "
            f"about {table.sd[j]:.2g}: {np.dtype(known).name} keeps {digits:.0f} digits of these "
            "differences.",
            "Subtract the first value before numbers become floats, or use a larger unit, such as "
            "seconds for nanoseconds.",
        )
    ]


def lost(centre, sd, dtype):
    """Which columns, with values about `centre`, are rounded too much in a type."""
    return (sd > 0) & (np.finfo(dtype).eps * np.abs(centre) > DIGITS_LOST * sd)
