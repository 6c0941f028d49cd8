"""Rows in random order, in one table, or where the user has them;
with what the priors need to know of their columns.

A table is copied, row by row to a random place, where blocks of rows serve as minibatches, or where
it is to be centred, rotated or converted.  An array of the user's stays where it is, in its order,
if nothing of that is wanted: see `stays`.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.core.rng import seed_sequence

CHUNK, SMALL_CHUNK = 1 << 14, 1 << 11
NUMBERS = 1 << 21  # a chunk of a wide table has fewer rows


@dataclass
class Table:
    """The permuted copy of the data, or the data themselves.

    Attributes
    ----------
    X : array (n, d) or CSR array
        Columns shifted by `shift` (all but the intercept).
    y : array (n,)
    trials, offset, weight, strata : array (n,) or None
        Of counts of successes y the trials; the rest as the user gave them.
    shift, mean, sd : array (d,)
        What was taken off, and moments of the columns as the user has them.
    order : array (n,) or None
        Row i of the table is row order[i] of the user's; None where they are the same.
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

    @property
    def given(self):
        """Whether X is the user's own array, in the user's order."""
        return self.order is None

    @property
    def response(self):
        """Outcomes as the kernel takes them: of counts the shares of successes, 0 where nothing was
        tried.
        """
        return self.y if self.trials is None else self.y / np.maximum(self.trials, 1)

    @property
    def multiplicity(self):
        """How often the kernel counts a row: frequency weights times trials,
        or None where there are neither.
        """
        if self.trials is None:
            return self.weight
        return self.trials if self.weight is None else self.trials * self.weight


def stays(data, settings, precondition):
    """Whether the design is used where it is: C-contiguous, of the wanted dtype, and neither to be
    permuted nor rotated.

    Rotation is left to a map where the array is lent, that is memory-mapped or read-only.
    """
    X = data.source
    fits = (
        isinstance(X, np.ndarray)
        and X.flags.c_contiguous
        and X.flags.aligned
        and X.dtype == settings.dtype
    )
    return fits and settings.subsample != "block" and (precondition is None or data.lent)


def prepare(data, entropy, dtype, centre):
    """Copy the design, chunk by chunk, straight into its permuted place; centre its columns if
    there is an intercept.
    """
    order = np.random.Generator(np.random.PCG64(seed_sequence(entropy, "permutation"))).permutation(
        data.n
    )
    position = np.empty(data.n, dtype=np.intp)
    position[order] = np.arange(data.n)
    weight = pick(data.weight, order)
    if data.sparse is not None:
        X = data.sparse[order]
        X.sum_duplicates()
        mean, sd = sparse_moments(X, weight)
        shift = np.zeros(data.d)
    else:
        X = np.empty((data.n, data.d), dtype=dtype)
        data.fill(X, position)
        mean, sd = dense_moments(X, weight)
        shift = np.zeros(data.d)
        if centre and data.intercept is not None:
            shift = mean.copy()
            shift[data.intercept] = 0.0
            for a in range(0, data.n, CHUNK):
                X[a : a + CHUNK] -= shift.astype(dtype)
            shift = shift.astype(dtype).astype(float)
    trials, offset, strata = (
        pick(column, order) for column in (data.trials, data.offset, data.strata)
    )
    return Table(X, data.y[order], trials, offset, weight, strata, shift, mean, sd, order)


def as_given(data):
    """The table of a design that `stays`: nothing is copied."""
    mean, sd = dense_moments(data.source, data.weight, SMALL_CHUNK)
    return Table(
        data.source,
        data.y,
        data.trials,
        data.offset,
        data.weight,
        data.strata,
        np.zeros(data.d),
        mean,
        sd,
        None,
    )


def pick(values, order):
    """values[order], or None."""
    return None if values is None else values[order]


def dense_moments(X, weight=None, chunk=CHUNK):
    """Means and sds (n - 1) of the columns in one pass over chunks, shifted by the first row
    against cancellation.

    Frequency weights count as so many rows.
    """
    n, d = X.shape
    origin, first, second, total = X[0].astype(float), np.zeros(d), np.zeros(d), 0.0
    step = max(1, min(chunk, NUMBERS // d))
    for a in range(0, n, step):
        e = X[a : a + step] - origin
        w = np.ones(len(e)) if weight is None else weight[a : a + step]
        first += w @ e
        second += np.einsum("i,ij,ij->j", w, e, e)
        total += w.sum()
    spread = np.maximum(second - first**2 / total, 0.0)
    sd = np.sqrt(spread / max(total - 1, 1))
    sd[spread <= 1e-14 * second] = 0.0  # constant up to rounding
    return origin + first / total, sd


def sparse_moments(X, weight=None):
    """Means and sds (n - 1) of the columns of a CSR array; weights as in `dense_moments`."""
    w = np.ones(X.shape[0]) if weight is None else weight
    mean = X.T @ w / w.sum()
    square = X.multiply(X).T @ w / w.sum()
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0) * w.sum() / max(w.sum() - 1, 1))
