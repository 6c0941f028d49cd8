"""The half-spaces of coefficients in which single outcomes keep a likelihood from vanishing.

A coefficient vector that moves along delta for ever leaves the likelihood of a row positive if the
row's linear predictor moves to the side that its outcome allows: x'delta >= 0 for a success, <= 0
for a failure or a count of 0, = 0 for a positive count; for outcomes of several kinds x'(delta_y -
delta_k) >= 0 for every kind k.  A row's *margin* is that number: not negative where delta is
allowed.
"""

import numpy as np

from sgmc.core.designs.design import products
from sgmc.core.system.storage import is_large, made, spans, vector

CONSTRAINTS = 10_000  # of constraints of a sort, that are enough to choose from


class Sides:
    """Half-spaces of outcomes with one linear predictor.

    Parameters
    ----------
    X : array (n, d) or CSR array
    design : Design
        The same, as the kernels read it.
    basis : array (d, f)
        Coefficients delta = basis u, for the f directions u that are looked for.
    up, down : array (n,) of bool
        Whether a row's linear predictor may rise, and fall, without end.  Where both hold the row
        bounds no direction.
    """

    def __init__(self, X, design, basis, up, down):
        self.X, self.design, self.basis, self.up, self.down = X, design, basis, up, down

    def groups(self):
        """Return the places of constraints of each sort, as arrays; of a table larger than memory
        the first ones.
        """
        up, down = self.up, self.down
        return [
            first_places(up, self.X, lambda rows: up[rows] & ~down[rows]),
            first_places(up, self.X, lambda rows: down[rows] & ~up[rows]),
            first_places(up, self.X, lambda rows: ~up[rows] & ~down[rows]),
        ]

    def margins(self, delta):
        """Return each row's margin for coefficients (d,), inf for rows that bound none."""
        return made(len(self.up), self.X, lambda rows: self.margins_of(delta, rows))

    def margins_of(self, delta, rows):
        """The same for a slice of the rows."""
        up, down = self.up[rows], self.down[rows]
        margins = products(self.design, delta, rows.start, len(up))
        neither = ~(up | down)
        np.negative(margins, out=margins, where=down)  # in place: rows are many
        margins[neither] = -np.abs(margins[neither])
        margins[up & down] = np.inf
        return margins

    def normals(self, places):
        """Return the constraints as rows A u >= 0, and which of them are A u = 0."""
        A = self.X[places] @ self.basis
        A[self.down[places]] *= -1
        return A, ~(self.up | self.down)[places]

    def without(self, free):
        """Return the same without the constraints `free` (n,)."""
        up, down = (
            made(len(free), self.X, lambda rows, side=side: side[rows] | free[rows], bool)
            for side in (self.up, self.down)
        )
        return Sides(self.X, self.design, self.basis, up, down)

    def within(self, basis):
        """Return the same with another basis."""
        return Sides(self.X, self.design, basis, self.up, self.down)


def first_places(column, X, chosen):
    """Places of the rows for which chosen(rows) is true: all, or of a table larger than memory at
    least CONSTRAINTS where there are so many.
    """
    n = len(column)
    if not is_large(X, n):
        return np.flatnonzero(chosen(slice(0, n)))
    found, count = [], 0
    for rows in spans(n):
        found.append(rows.start + np.flatnonzero(chosen(rows)))
        count += len(found[-1])
        if count > CONSTRAINTS:
            break
    return np.concatenate(found)


def beyond(spaces, delta, least):
    """Whether the margin of each constraint exceeds a number, for coefficients (d,)."""
    margins = spaces.margins(delta)
    return made(len(margins), spaces.X, lambda rows: margins[rows] > least, bool)


class CategoryHalfSpaces:
    """Half-spaces of outcomes of kinds 0, 1, .., K; constraint i (K + 1) + k is row i against kind
    k.

    Parameters
    ----------
    X, design, basis
        See `Sides`; coefficients are (K d,), equation by equation.
    y : array (n,)
        The kinds of the rows.
    bounding : array (n (K + 1),) of bool, optional
        Constraints that hold.  By default all but those of a row against its own kind.
    kept : array (n,) of bool, optional
        Rows that have constraints.  Default: all.
    """

    def __init__(self, X, design, basis, y, bounding=None, kept=None):
        self.X, self.design, self.basis, self.y = X, design, basis, y
        self.kinds = len(basis) // X.shape[1] + 1

        def against(rows):
            found = y[rows, None] != np.arange(self.kinds)
            return found if kept is None else found & kept[rows, None]

        self.bounding = self.each(against, bool) if bounding is None else bounding

    def each(self, values, dtype=float):
        """Numbers of the constraints, (n (K + 1),), from a function of a slice of the rows."""
        n, size = len(self.y), self.kinds
        if not is_large(self.X, n, size):
            return values(slice(0, n)).ravel()
        out = vector(n * size, self.X, dtype)
        for rows in spans(n):
            out[rows.start * size : rows.stop * size] = values(rows).ravel()
        return out

    def groups(self):
        """Return the places of constraints, an array for each outcome."""
        places = first_places(self.bounding, self.X, lambda some: self.bounding[some])
        kind = self.y[places // self.kinds]
        return [places[kind == k] for k in range(self.kinds)]

    def margins(self, delta):
        """Return each row's margin for coefficients (d,), inf for rows that bound none."""
        equations = delta.reshape(self.kinds - 1, -1)

        def apart(rows):
            kinds = self.y[rows].astype(np.intp)
            start, count = rows.start, len(kinds)
            eta = np.column_stack(
                [np.zeros(count), *(products(self.design, one, start, count) for one in equations)]
            )
            own = np.take_along_axis(eta, kinds[:, None], axis=1)
            holds = self.bounding[start * self.kinds : (start + count) * self.kinds]
            return np.where(holds, (own - eta).ravel(), np.inf)

        return self.each(apart)

    def normals(self, places):
        """Return the constraints as rows A u >= 0, and which of them are A u = 0."""
        rows, other = np.divmod(places, self.kinds)
        X, d = self.X[rows], self.X.shape[1]
        blocks = np.concatenate([np.zeros((1, d, self.basis.shape[1])), self.blocks()])
        pull = np.zeros((len(places), self.basis.shape[1]))
        for k in range(self.kinds):
            own, against = self.y[rows] == k, other == k
            pull[own] += X[own] @ blocks[k]
            pull[against] -= X[against] @ blocks[k]
        return pull, np.zeros(len(places), dtype=bool)

    def blocks(self):
        """Return the basis by equation, (K, d, f)."""
        return self.basis.reshape(self.kinds - 1, self.X.shape[1], -1)

    def without(self, free):
        """Return the half-spaces without those of some rows."""
        bounding = made(len(free), self.X, lambda some: self.bounding[some] & ~free[some], bool)
        return CategoryHalfSpaces(self.X, self.design, self.basis, self.y, bounding)

    def within(self, basis):
        """Return the half-spaces in another basis."""
        return CategoryHalfSpaces(self.X, self.design, basis, self.y, self.bounding)


def directions(free, intercept, shift, mean, sd):
    """Return the directions of coefficients that are free to move, in units of the columns' sds.

    Parameters
    ----------
    free : array (size,) of bool
        Of the coefficients, d an equation.
    intercept : int or None
        The column of ones.
    shift : array (d,)
        The prior of an intercept that is not free holds intercept + shift . slopes.
    mean, sd : array (d,)
        Moments of the columns.

    Returns
    -------
    array (size, number of free coefficients)
        Coefficients for a unit of each.  Where the intercept may follow, a slope's leaves the
        linear predictor at the columns' means where it is.
    """
    d, places = len(mean), np.flatnonzero(free)
    basis = np.zeros((len(free), len(places)))
    for k, place in enumerate(places):
        first, j = place - place % d, place % d
        constant = None if intercept is None else first + intercept
        held = 0.0
        if constant is not None and constant != place:
            held = mean[j] if free[constant] else shift[j]
        unit = np.hypot(sd[j], mean[j] - held)
        basis[place, k] = 1 / unit if unit > 0 else 1.0
        if held:
            basis[constant, k] -= held * basis[place, k]
    return basis
