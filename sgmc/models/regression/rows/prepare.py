"""Rows in random order, in one table, or where the user has them;
with what the priors need to know of their columns.

A table is copied, row by row to a random place, where blocks of rows serve as minibatches, or where
it is to be centred, rotated or converted.  An array of the user's stays where it is, in its order,
if nothing of that is wanted: see `stays`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sgmc.arguments.data.tables import chunk_rows
from sgmc.core.random.rng import seed_sequence
from sgmc.core.system.storage import made
from sgmc.errors import NotSupported
from sgmc.models.regression.rows.data import as_floats
from sgmc.models.regression.rows.narrow import narrowed, refuse_rounded, refuse_squares

SHUFFLED_ROWS, CACHED_ROWS = 1 << 13, 1 << 11


@dataclass
class DesignTable:
    """The permuted copy of the data, or the data themselves.

    Attributes
    ----------
    X : array (n, d), CSR array or CodedTable
        Columns shifted by `shift` (all but the intercept).
    y : array (n,)
    trials, offset, weight, strata : array (n,) or None
        Of counts of successes y the trials; the rest as the user gave them.
    shift, mean, sd : array (d,)
        What was taken off; means of the columns as the user has them, or where else the intercept's
        prior holds; their sds.
    order : array (n,) or None
        Row i of the table is row order[i] of the user's, in which there may be others; None where
        they are the same.
    se : array (n,) or None
        Known standard errors of the outcomes.
    working : structured array (n,) or None
        What the kernel of a working likelihood takes of each row, in the place of the outcomes.
    """

    X: object
    y: np.ndarray
    trials: np.ndarray | None
    offset: np.ndarray | None
    weight: np.ndarray | None
    strata: np.ndarray | None
    shift: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    order: np.ndarray | None
    se: np.ndarray | None = None
    working: np.ndarray | None = None

    @property
    def nobs(self):
        """Observations: rows, or the sum of their frequency weights."""
        return len(self.y) if self.weight is None else float(self.weight.sum())

    @property
    def columns(self):
        """What a pass reads: design, outcomes, and what there is of offsets and weights."""
        return [self.X, self.response, self.offset, self.multiplicity]

    def first(self, n):
        """The first n rows: a sample, where rows are in random order."""
        return self.part(slice(n))

    def part(self, rows):
        """Some rows, by a slice or their numbers."""
        X, y, trials, offset, weight, strata, order, se, working = (
            None if part is None else part[rows]
            for part in (
                self.X,
                self.y,
                self.trials,
                self.offset,
                self.weight,
                self.strata,
                self.order,
                self.se,
                self.working,
            )
        )
        moments = self.shift, self.mean, self.sd
        return DesignTable(X, y, trials, offset, weight, strata, *moments, order, se, working)

    @property
    def given(self):
        """Whether X is the user's own array, in the user's order."""
        return self.order is None

    @cached_property
    def response(self):
        """Outcomes as the kernel takes them: of counts the shares of successes, 0 where nothing was
        tried.
        """
        if self.working is not None:
            return self.working
        if self.trials is None:
            return self.y

        def shares(rows):
            return self.y[rows] / np.maximum(self.trials[rows], 1)

        return made(len(self.y), self.X, shares)

    @cached_property
    def multiplicity(self):
        """How often the kernel counts a row: frequency weights times trials, or times precisions
        of outcomes with known errors; None where there are none of these.
        """
        if self.se is None and (self.trials is None or self.weight is None):
            return self.weight if self.trials is None else self.trials

        def times(rows):
            own = self.trials[rows] if self.se is None else self.se[rows] ** -2.0
            return own if self.weight is None else own * self.weight[rows]

        return made(len(self.y), self.X, times)


def stays(data, settings, precondition):
    """Whether the design is used where it is: C-contiguous, of the wanted dtype, and neither to be
    permuted nor rotated; or that of a prepared file.

    Rotation is left to a map where the array is lent, that is memory-mapped or read-only.
    """
    if data.prepared is not None:
        return True
    X = data.source
    fits = (
        isinstance(X, np.ndarray)
        and X.flags.c_contiguous
        and X.flags.aligned
        and X.dtype == settings.dtype
    )
    return fits and settings.subsample != "block" and (precondition is None or data.lent)


def prepare(data, entropy, dtype, centre):
    """Copy the design, chunk by chunk, straight into its permuted place; centre its columns
    where their linear predictor has an intercept.
    """
    return copied(data, permutation(data.n, entropy), dtype, centre)


def permutation(n, entropy):
    """A random order of n rows."""
    random = np.random.Generator(np.random.PCG64(seed_sequence(entropy, "permutation")))
    order = random.permutation(n)
    return order.astype(np.int32) if n <= np.iinfo(np.int32).max else order


def copied(data, order, dtype, centre):
    """`prepare` for a given order of the rows, (n,): row i of the table is row order[i]."""
    position = np.empty(data.n, dtype=order.dtype)
    position[order] = np.arange(data.n, dtype=order.dtype)
    weight = pick(data.weight, order)
    shift, kept = np.zeros(data.d), data.uncentred
    centre = centre and not kept.all()
    if data.sparse is not None:
        X = data.sparse[order]
        X.sum_duplicates()
        mean, sd = sparse_moments(X, weight)
    elif data.coded:
        places = data.source.spec.coding.numbers
        narrow = narrowed(data, dtype, centre, places)
        X = data.source.coded(position, dtype, change=narrow)
        mean, sd = X.moments(weight)
        mean[places], sd[places] = narrow.result() if narrow else dense_moments(X.numbers, weight)
        if centre:
            shift[places] = centred(X.numbers, mean[places], np.zeros(len(places), bool), narrow)
    else:
        narrow = narrowed(data, dtype, centre, np.arange(data.d))
        X = np.empty((data.n, data.d), dtype=dtype)
        data.fill(X, position, narrow)
        mean, sd = narrow.result() if narrow else dense_moments(X, weight)
        if centre:
            shift = centred(X, mean, kept, narrow)
    trials, offset, strata, se = (
        pick(column, order) for column in (data.trials, data.offset, data.strata, data.se)
    )
    y = as_floats(data.y[order])
    known = getattr(data.source, "order", None)  # of a prepared table: that of its source
    of_user = order if known is None else known[order]
    of_priors = centre_of(data, mean)
    table = DesignTable(X, y, trials, offset, weight, strata, shift, of_priors, sd, of_user, se)
    refuse_rounded(table, mean, data)
    refuse_squares(table, data.names, data.intercepts)
    return table


def centred(X, mean, constant, narrow=None):
    """Take the means off the columns in place, all but constant ones; what was taken off, with what
    `narrow` had taken off before.
    """
    before = narrow.origin if narrow else 0.0
    shift = np.where(constant, 0.0, mean - before).astype(X.dtype)
    step = min(chunk_rows(X.shape[1], SHUFFLED_ROWS), len(X))
    tiled = np.tile(shift, (step, 1))
    for a in range(0, len(X), step):
        X[a : a + step] -= tiled[: len(X) - a]
    return before + shift.astype(float)


def in_file(data, precondition):
    """The table of a prepared file, where it is.

    Raises
    ------
    NotSupported
        Where the coordinates are to be those of columns of which nothing was taken off.
    """
    found = data.prepared
    if precondition is None and found.shift.any():
        raise NotSupported(
            f"precondition=None with {found.path}: its columns are centred, and steps in the "
            "coefficients of other columns have other sizes; use precondition='diag'",
            because="limit",
        )
    columns = data.trials, data.offset, data.weight, data.strata
    moments = found.shift, centre_of(data, found.mean), found.sd
    table = DesignTable(found.X, data.y, *columns, *moments, found.order, data.se)
    refuse_rounded(table, found.mean, data)
    refuse_squares(table, data.names, data.intercepts)
    return table


def as_given(data):
    """The table of a design that `stays`: nothing is copied."""
    mean, sd = dense_moments(data.source, data.weight, CACHED_ROWS)
    table = DesignTable(
        data.source,
        as_floats(data.y),
        data.trials,
        data.offset,
        data.weight,
        data.strata,
        np.zeros(data.d),
        centre_of(data, mean),
        sd,
        None,
        data.se,
    )
    refuse_squares(table, data.names, data.intercepts)
    return table


def centre_of(data, mean):
    """At which values of the columns the intercept's prior holds: their means, (d,)."""
    return mean if data.units is None else data.units.mean


def pick(values, order):
    """values[order], or None."""
    return None if values is None else values[order]


def dense_moments(X, weight=None, chunk=SHUFFLED_ROWS):
    """Means and sds (n - 1) of the columns in one pass over chunks, shifted by the first row
    against cancellation.

    Frequency weights count as so many rows.
    """
    n, d = X.shape
    first, second, total = np.zeros(d), np.zeros(d), 0.0
    step = min(chunk_rows(d, chunk), n)
    origin = np.tile(X[0].astype(float), (step, 1))  # numpy is slow where short rows are repeated
    for a in range(0, n, step):
        e = X[a : a + step] - origin[: n - a]
        w = np.ones(len(e)) if weight is None else weight[a : a + step]
        first += w @ e
        e *= e
        second += w @ e
        total += w.sum()
    spread = np.maximum(second - first**2 / total, 0.0)
    sd = np.sqrt(spread / max(total - 1, 1))
    sd[spread <= 1e-14 * second] = 0.0  # constant up to rounding
    return origin[0] + first / total, sd


def sparse_moments(X, weight=None):
    """Means and sds (n - 1) of the columns of a CSR array; weights as in `dense_moments`."""
    w = np.ones(X.shape[0]) if weight is None else weight
    mean = X.T @ w / w.sum()
    square = X.multiply(X).T @ w / w.sum()
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0) * w.sum() / max(w.sum() - 1, 1))
