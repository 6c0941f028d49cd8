"""What rows of normal outcomes tell of coefficients and few effects, the effects of many levels
integrated out: those of most levels by their diagonal, others by a root.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.linalg.lapack import dtrtrs

from sgmc.arguments.types import Floats, Ints
from sgmc.core.system import deadline

NEARLY_DENSE = 0.25  # share of numbers of the coefficients' columns that are not zero


@dataclass(frozen=True, kw_only=True)
class Elimination:
    """Products of the columns of effects, of coefficients and of residuals e at some coefficients,
    by the weights.

    Effects are of three kinds.  No row has two of the first kind, so that their products with each
    other are a diagonal.  Those of the second kind have a root.  The others are kept, in front of
    the coefficients and the residuals: w numbers in all.

    Attributes
    ----------
    order : array (effects,) of int
        Where the effects stand: of the first kind, of the second, and those that are kept.
    number : array (effects,) of int
        Number of the sd of each, in this order.
    count : tuple of int
        Effects of the first and of the second kind.
    diagonal : array (m,)
        Of the first kind.
    across : CSR array (m, k)
        Of the first kind and the second.
    beside : array (m, w)
        Of the first kind and the rest.
    own : CSR array (k, k)
        Of the second kind.
    along : array (k, w)
        Of the second kind and the rest.
    rest : array (w, w)
    told : array (q,)
        The largest product of an effect with itself, by its sd.
    weight : float
        Sum of the weights.
    """

    order: Ints
    number: Ints
    count: tuple[int, int]
    diagonal: Floats
    across: sparse.csr_array
    beside: Floats
    own: sparse.csr_array
    along: Floats
    rest: Floats
    told: Floats
    weight: float

    @classmethod
    def of(
        cls,
        Z: sparse.csr_array,
        number: Ints,
        kinds: tuple[int, Ints],
        columns: sparse.csr_array,
        weight: Floats,
    ) -> "Elimination":
        """Return the products of rows.

        Parameters
        ----------
        Z : CSR array (n, effects)
            Columns of the effects.
        number : array (effects,) of int
            Of the sd of each.
        kinds : int, array of int
            Number of the sd of the first kind, and those of the second.
        columns : CSR array (n, d + 1)
            Of the coefficients, and the residuals.
        weight : array (n,)
        """
        first, second = number == kinds[0], np.isin(number, kinds[1])
        parts = [np.flatnonzero(one) for one in (first, second, ~(first | second))]
        one, two, kept = (sparse.csr_array(Z[:, at]) for at in parts)
        left = sparse.csr_array(sparse.hstack([kept, columns]))
        if left.nnz > NEARLY_DENSE * left.shape[0] * left.shape[1]:
            left = left.toarray()
        by_weight = sparse.diags_array(weight)
        first_by, second_by = one.T @ by_weight, two.T @ by_weight
        squares = Z.multiply(Z).T @ weight
        order = np.concatenate(parts)
        return cls(
            order=order,
            number=number[order],
            count=(len(parts[0]), len(parts[1])),
            diagonal=squares[parts[0]],
            across=sparse.csr_array(first_by @ two),
            beside=full(first_by @ left),
            own=sparse.csr_array(second_by @ two),
            along=full(second_by @ left),
            rest=full(left.T @ (by_weight @ left)),
            told=np.array([squares[number == j].max() for j in range(number.max() + 1)]),
            weight=float(weight.sum()),
        )

    @property
    def by_kind(self) -> list[Ints]:
        """Numbers of the sds of the effects of each kind, in their order."""
        return np.split(self.number, np.cumsum(self.count))

    @property
    def operations(self) -> float:
        """Floating-point operations of `without`."""
        k, w = self.count[1], len(self.rest)
        return k**3 / 3 + 2 * k**2 * w + k * w**2

    def shrunk(self, r: Floats) -> Floats:
        """Return what is taken off the products, as weights (m, ..) of the first kind, at ratios
        (..,) of its sd.
        """
        square = np.asarray(r) ** 2
        return square / (1 + np.multiply.outer(self.diagonal, square))

    def first_out(self, r: float) -> tuple[Floats, Floats, Floats, float]:
        """Return what the first kind leaves of the products, of the second kind, of it and the
        rest, and of the rest, and half a log of a determinant, at a ratio of its sd.
        """
        by, across = self.shrunk(r), self.across.T
        own = self.own - sparse.csr_array(across * by) @ self.across
        along = self.along - across @ (by[:, None] * self.beside)
        rest = self.rest - self.beside.T @ (by[:, None] * self.beside)
        return own.toarray(), along, rest, 0.5 * float(np.log1p(r**2 * self.diagonal).sum())

    def root(self, own: Floats, ratios: Floats) -> Floats:
        """Return L with L L' the precision of effects of the second kind in units of their sds, at
        ratios (k,) and products without the first kind.
        """
        deadline.check(operations=len(own) ** 3 / 3)
        precision = ratios[:, None] * own * ratios
        precision[np.diag_indices(len(own))] += 1.0
        return linalg.cholesky(precision, lower=True, overwrite_a=True, check_finite=False)

    def without(
        self, given: tuple[Floats, Floats, Floats, float], ratios: Floats
    ) -> tuple[Floats, float, Floats]:
        """Return what is left of the products of the rest, (w, w), half the log of a determinant,
        and the effects of the second kind that the rest leads to, (k, w).

        Parameters
        ----------
        given : tuple
            See `first_out`.
        ratios : array (k,)
            Of the effects of the second kind.
        """
        own, along, rest, log = given
        if not len(own):
            return rest, log, along
        L = self.root(own, ratios)
        half = dtrtrs(L, ratios[:, None] * along, lower=1)[0]
        means = ratios[:, None] * dtrtrs(L, half, lower=1, trans=1)[0]
        return rest - half.T @ half, log + float(np.log(np.diag(L)).sum()), means

    def precision_times(self, ratios: Floats, x: Floats) -> Floats:
        """Return the precision of effects of the second kind in units of their sds, the first ones
        integrated out, times vectors x_i, the columns of (k, n), at ratios (n, q).
        """
        first, second, _ = self.by_kind
        out = ratios[:, second].T * x
        by = self.shrunk(ratios[:, first[0]])
        out = self.own @ out - self.across.T @ (by * (self.across @ out))
        return x + ratios[:, second].T * out


def full(products: Floats | sparse.sparray) -> Floats:
    """Return products as an array."""
    return products.toarray() if sparse.issparse(products) else np.asarray(products)
