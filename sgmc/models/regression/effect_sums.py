"""What rows of normal outcomes tell of coefficients and of effects that have few sds, as sums."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dtrtrs

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.integrated import Sums

MOST_SCALES = 3  # sds of a table
MOST_A_DRAW = 2.5e7  # operations: some thousand draws take some seconds
PRODUCTS_AT_ONCE = 1 << 21  # numbers


@dataclass(frozen=True)
class EffectSums(Sums):
    """Products of the columns of effects, of coefficients and of residuals e at some coefficients.

    One of the effects, that of most levels, has a diagonal of products with itself, so that its
    levels cost a product each and not a root.

    Attributes
    ----------
    products : array (k, k)
        Of the columns of all other effects, of the coefficients and of e, by the weights.
    diagonal : array (m,)
        Of the columns of that effect with themselves; may be empty.
    beside : array (m, k)
        With the others.
    own : array (k - d - 1,) of int
        Number of the sd of each of the other effects.
    first : int
        Number of the sd of that effect.
    order : array (effects,) of int
        Where the effects stand, that effect's first.
    weight : float
    """

    products: Floats
    diagonal: Floats
    beside: Floats
    own: Ints
    first: int
    order: Ints
    weight: float

    @property
    def count(self) -> int:
        """All effects."""
        return len(self.order)

    @property
    def operations(self) -> float:
        """See `Sums`."""
        return operations(len(self.diagonal), len(self.products))

    def roots(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Return roots (m, k, k) of what that effect leaves of the products, the rows of all other
        effects in units of their sds: L and (L^-1 C)' of their own part and of the one with the
        coefficients, and the products (m, d + 1, d + 1) of what is left of these.
        """
        q, k = len(self.own), len(self.products)
        size = 1 + self.diagonal * (ratios[:, self.first, None] ** 2)
        P = np.broadcast_to(self.products, (len(ratios), k, k)).copy()
        if len(self.diagonal):
            scale = ratios[:, self.first, None] / np.sqrt(size)
            for at, one in zip(P, scale):
                beside = one[:, None] * self.beside
                at -= beside.T @ beside
        scale = ratios[:, self.own]
        P[:, :q] *= scale[:, :, None]
        P[:, :, :q] *= scale[:, None]
        P[:, range(q), range(q)] += 1.0
        rest = P[:, q:, q:].copy()
        P[:, range(q, k), range(q, k)] *= 2  # so that residuals of zero leave a root
        root = np.linalg.cholesky(P)
        half = root[:, q:, :q]
        return root[:, :, :q], rest - half @ np.swapaxes(half, 1, 2)

    def at(self, ratios: Floats) -> tuple[Floats, Floats]:
        step = max(1, PRODUCTS_AT_ONCE // self.products.size)
        parts = [self.root_and_log(ratios[a : a + step]) for a in range(0, len(ratios), step)]
        return tuple(np.concatenate(one) for one in zip(*parts))

    def root_and_log(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Return `at` of ratios whose roots are kept at once."""
        root, left = self.roots(ratios)
        q = len(self.own)
        logs = np.log(np.diagonal(root[:, :q], axis1=1, axis2=2)).sum(axis=1)
        logs += 0.5 * np.log1p(self.diagonal * ratios[:, self.first, None] ** 2).sum(axis=1)
        return left, logs

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        step = max(1, PRODUCTS_AT_ONCE // self.products.size)
        parts = [slice(a, a + step) for a in range(0, len(z), step)]
        return np.concatenate([self.few_effects(ratios[at], pull[at], z[at]) for at in parts])

    def few_effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        """Return `effects` of ratios whose roots are kept at once."""
        q, m = len(self.own), len(self.diagonal)
        root, _ = self.roots(ratios)
        half = np.einsum("nji,nj->ni", root[:, q:], pull) + z[:, m:]
        out = np.empty((len(z), m + q))
        for at, one, to in zip(root, half, out[:, m:]):
            to[:] = dtrtrs(at[:q].T, one)[0]
        out[:, m:] *= ratios[:, self.own]
        r = ratios[:, self.first, None]
        size = 1 + self.diagonal * r**2
        left = np.concatenate([-out[:, m:], pull], axis=1) @ self.beside.T
        out[:, :m] = r**2 / size * left + r / np.sqrt(size) * z[:, :m]
        back = np.empty_like(out)
        back[:, self.order] = out
        return back


def effect_sums(
    Z: sparse.csr_array,
    number: Ints,
    apart: Ints,
    X: sparse.csr_array,
    e: Floats,
    weight: Floats,
) -> EffectSums | None:
    """Return the sums of rows; None where they are of so many effects that draws would take long.

    Parameters
    ----------
    Z : sparse array (n, effects)
        Columns of the effects.
    number : array (effects,) of int
        Of the sd of each.
    apart : array (q,) of bool
        Whether no row has two effects of an sd.
    X : sparse array (n, d)
        Columns of the coefficients.
    e, weight : array (n,)
        Residuals at some coefficients, and weights.
    """
    largest = int(np.argmax(np.where(apart, np.bincount(number), -1)))
    one = (number == largest) & apart.any()
    first, rest = np.flatnonzero(one), np.flatnonzero(~one)
    if operations(len(first), len(rest) + X.shape[1] + 1) > MOST_A_DRAW:
        return None
    columns = sparse.csr_array(sparse.hstack([Z, X, e[:, None]]))
    found = sparse.csr_array(columns.T @ (sparse.diags_array(weight) @ columns))
    others = np.concatenate([rest, np.arange(len(number), columns.shape[1])])
    return EffectSums(
        products=found[others][:, others].toarray(),
        diagonal=found.diagonal()[first],
        beside=found[first][:, others].toarray(),
        own=number[rest],
        first=largest,
        order=np.concatenate([first, rest]),
        weight=float(weight.sum()),
    )


def operations(m: int, k: int) -> float:
    """Return floating-point operations for a point: of m effects with a product each, and k columns
    that have a root with each other.
    """
    return m * k**2 + k**3 / 3 + 30 * k**2
