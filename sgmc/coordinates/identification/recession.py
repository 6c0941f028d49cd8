"""Directions in which coefficients can go to infinity without the likelihood falling to zero:
directions of recession.

They exist where outcomes are separated (Albert & Anderson 1984, Biometrika 71, 1-10), and a linear
programme finds them: maximise the sum of the margins of `half_spaces` over |u_j| <= 1, none of them
negative (Konis 2007, Linear programming algorithms for detecting separated data in binary logistic
regression models, Oxford).  For counts: Correia, Guimaraes & Zylkin (2019, arXiv:1903.01633).

The programme is solved for some rows, a few times as many as there are coefficients, whose linear
predictors move in every direction: where these have no such direction, all rows have none.  Where
they have one, it is held against all rows; the rows that contradict it most join the programme, and
it is solved again.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sgmc.coordinates.identification.half_spaces import beyond
from sgmc.core.system.storage import is_large, made, spans

PER_COEFFICIENT = 2  # constraints of each sort to begin with, and how many join, a coefficient
LARGEST_PROGRAMME = 300  # coefficients; with more its cost would be a good part of a fit's
ROUNDS = 60  # of rows that join
# margins that count as 0, where linear predictors are about 1, by the bytes of a table's numbers
TOLERANCE = {8: 1e-6, 4: 1e-4}
COLLINEAR = {8: 1e-9, 4: 1e-6}  # relative singular values that do


@dataclass
class Programme:
    """Linear programmes over a growing part of the constraints.

    Parameters
    ----------
    spaces : Sides or Kinds
    bytes : int
        Of a number in the table.
    chosen : array of int, optional
        Places of the constraints to begin with, by default some of each sort.
    """

    spaces: object
    bytes: int = 8
    chosen: np.ndarray | None = None

    def __post_init__(self):
        self.most = PER_COEFFICIENT * self.spaces.basis.shape[1] + 2
        self.tolerance = TOLERANCE[self.bytes]
        if self.chosen is None:
            places = [evenly(places, self.most) for places in self.spaces.groups()]
            self.chosen = np.concatenate(places)

    def system(self):
        """Return the chosen constraints, a unit each, and which of them are equalities."""
        A, equal = self.spaces.normals(self.chosen)
        size = np.abs(A).max(axis=1, initial=0.0)
        kept = size > self.tolerance  # others are 0 up to rounding
        return A[kept] / size[kept, None], equal[kept]

    def aliased(self):
        """Return directions along which no linear predictor moves: collinearity.

        Returns
        -------
        array (f, k)
            Orthonormal.
        """
        f = self.spaces.basis.shape[1]
        for _ in range(ROUNDS):
            A, _ = self.system()
            _, size, vectors = linalg.svd(
                np.concatenate([A, np.zeros((max(f - len(A), 0), f))]), full_matrices=False
            )
            rank = int((size > COLLINEAR[self.bytes] * size.max(initial=0.0)).sum())
            null = vectors[rank:].T
            if rank == f:
                return null
            # a combination of them moves every predictor that any of them moves
            mixture = null @ np.cos(np.arange(f - rank))
            margins = self.margins(mixture / np.abs(mixture).max())

            def moved(rows, margins=margins):
                size = np.abs(margins[rows])
                return np.where(np.isfinite(size), -size, np.inf)

            if not self.join(made(len(margins), self.spaces.X, moved), -self.tolerance):
                return null
        return null

    def margins(self, u):
        """Return the margins of all constraints for a direction u."""
        return self.spaces.margins(self.spaces.basis @ u)

    def join(self, margins, least):
        """Take in the constraints with the smallest margins below `least`; return whether there are
        any that are new.
        """
        margins[self.chosen] = np.inf
        places = np.empty(0, dtype=int)
        large = is_large(self.spaces.X, len(margins))
        for rows in spans(len(margins)) if large else [slice(0, len(margins))]:
            found = rows.start + np.flatnonzero(margins[rows] < least)
            places = np.concatenate([places, found])
            if len(places) > self.most:
                places = places[np.argpartition(margins[places], self.most)[: self.most]]
        self.chosen = np.concatenate([self.chosen, places])
        return len(places) > 0

    def solved(self, solve, least=None):
        """Return the solution of a programme that all rows allow, or None.

        Parameters
        ----------
        solve : callable
            From the chosen constraints to a direction, or None where there is none.
        least : float, optional
            The smallest margin that is allowed; by default about 0, from below.
        """
        for _ in range(ROUNDS):
            u = solve(*self.system())
            if u is None:
                return None
            u = u / np.abs(u).max()
            if not self.join(self.margins(u), -self.tolerance if least is None else least):
                return u
        return None

    def direction(self):
        """Return a direction of recession along which some linear predictor moves, or None."""
        return self.solved(widest)

    def complete(self):
        """Return whether some direction moves every linear predictor to the side of its outcome."""
        return self.solved(clearest, least=1e-9) is not None

    def shortest(self, weights):
        """Return a direction of recession of few coefficients, or None.

        Parameters
        ----------
        weights : array (f,)
            Of the coefficients in its length, a sum of absolute values.
        """
        return self.solved(lambda A, equal: shortest(A, equal, weights))


def evenly(places, most):
    """Return at most so many of an array, evenly spaced."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(int)]


def widest(A, equal):
    """Return u with the largest sum of margins A u, |u_j| <= 1, or None where it is 0."""
    if not len(A) or equal.all():
        return None
    pull = A[~equal].sum(axis=0)
    u = programme(-pull, A, equal, (-1, 1))
    return u if u is not None and (A[~equal] @ u).max() > 1e-6 else None


def clearest(A, equal):
    """Return u with the largest smallest margin, |u_j| <= 1, or None where that is 0."""
    if not len(A) or equal.any():
        return None
    f = A.shape[1]
    with_least = np.column_stack([A, -np.ones(len(A))])
    u = programme(-np.eye(f + 1)[f], with_least, equal, [(-1, 1)] * f + [(0, 1)])
    return u[:f] if u is not None and u[f] > 1e-7 else None


def shortest(A, equal, weights):
    """Return u of the least weighted sum of |u_j| whose margins have a mean of 1, or None."""
    if not len(A) or equal.all():
        return None
    pull = A[~equal].mean(axis=0)
    both = np.column_stack([A, -A])  # u = plus - minus
    u = programme(
        np.tile(weights, 2), both, equal, (0, None), (np.concatenate([pull, -pull])[None], [1.0])
    )
    return None if u is None else u[: len(pull)] - u[len(pull) :]


def programme(cost, A, equal, bounds, also=(None, ())):
    """Return the x with the least cost'x under A x >= 0, or = 0, and `also`; None without any."""
    from scipy.optimize import linprog

    matrix, values = also
    equalities = [part for part in (A[equal], matrix) if part is not None and len(part)]
    found = linprog(
        cost,
        A_ub=-A[~equal],
        b_ub=np.zeros((~equal).sum()),
        A_eq=np.concatenate(equalities) if equalities else None,
        b_eq=np.concatenate([np.zeros(equal.sum()), values]) if equalities else None,
        bounds=bounds,
        method="highs",
    )
    return found.x


def recessions(spaces, bytes, intercepts=()):
    """Yield directions of recession, coefficients (d,), until none is left.

    Each has few coefficients.  Constraints that it leaves behind bound those that follow no more,
    and collinear coefficients are left out.

    Parameters
    ----------
    spaces : Sides or Kinds
    bytes : int
        Of a number in the table.
    intercepts : sequence of int
        Places of coefficients that may come with a direction at no cost.
    """
    while True:
        found = independent(spaces, bytes)
        spaces, u = found.spaces, found.direction()
        if u is None:
            return
        other = np.ones(len(spaces.basis), dtype=bool)
        other[list(intercepts)] = False
        few = found.shortest(np.where(spaces.basis[other].any(axis=0), 1.0, 0.0))
        delta = spaces.basis @ (u if few is None else few)
        yield delta
        spaces = spaces.without(beyond(spaces, delta, TOLERANCE[bytes]))


def independent(spaces, bytes):
    """Return a `Programme` without as many directions of the basis as are collinear with others.

    Each direction that is left moves the linear predictor of a row that is chosen.
    """
    found = Programme(spaces, bytes)
    null = found.aliased()
    if not null.shape[1]:
        return found
    _, order = linalg.qr(null.T, mode="r", pivoting=True)
    rest = spaces.within(np.delete(spaces.basis, order[: null.shape[1]], axis=1))
    return Programme(rest, bytes, found.chosen)
