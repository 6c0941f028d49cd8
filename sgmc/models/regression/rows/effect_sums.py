"""What rows of normal outcomes tell of coefficients and of effects that have few sds, as sums."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dtrtrs

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.independent.integrated import Sums
from sgmc.models.mixed.loading import Loading

MOST_SCALES = 3  # sds of a table
MOST_A_DRAW = 2.5e7  # operations: some thousand draws take some seconds
PRODUCTS_AT_ONCE = 1 << 21  # numbers
SHARES_AT_ONCE = 1 << 20  # groups times sds
MOST_GROUPED_NUMBERS = 1 << 24  # of the groups' products, and of the rows that they are made of


@dataclass(frozen=True)
class GroupSums(Sums):
    """Sums over the rows of the columns of the design and of residuals e at some coefficients,
    d + 1 columns in all.

    Attributes
    ----------
    within : array (d + 1, d + 1)
        Products of what is left of the columns by their regressions on Z in each group.
    between : array (kinds, (d + 1)^2)
        Products of Z_g'W (X, e), of groups with the same S_g together.
    told : array (kinds,)
        S_g.
    groups : array (kinds,)
        Of each kind.
    weight : float
        Sum of the weights.
    """

    within: Floats
    between: Floats
    told: Floats
    groups: Floats
    weight: float

    @classmethod
    def of(cls, X: Floats, e: Floats, z: Floats, w: Floats, starts: Floats) -> "GroupSums":
        """Of columns (n, d), residuals, covariate and weights (n,), and first rows of groups."""
        columns, sizes = np.column_stack([X, e]), np.diff(starts)
        told = np.add.reduceat(w * z**2, starts[:-1])
        products = np.add.reduceat((w * z)[:, None] * columns, starts[:-1], axis=0)
        slopes = products / np.where(told > 0, told, 1.0)[:, None]
        columns -= z[:, None] * np.repeat(slopes, sizes, axis=0)
        # of groups whose rows tell as much, sums do; equal sizes are common
        kinds, first, count = np.unique(np.sort(told), return_index=True, return_counts=True)
        products = products[np.argsort(told, kind="stable")]
        between = np.array(
            [products[a : a + m].T @ products[a : a + m] for a, m in zip(first, count)]
        )
        within = columns.T @ (w[:, None] * columns)
        return cls(within, between.reshape(len(kinds), -1), kinds, count, float(w.sum()))

    @property
    def count(self) -> int:
        """Zero: effects are no parameters."""
        return 0

    @property
    def operations(self) -> float:
        """See `Sums`."""
        return 2.0 * self.between.size

    def at(self, ratios: Floats) -> tuple[Floats, Floats]:
        k, size = len(self.within), max(1, SHARES_AT_ONCE // len(self.told))
        found, logs = np.empty((len(ratios), k, k)), np.empty(len(ratios))
        for a in range(0, len(ratios), size):
            at = slice(a, a + size)
            more = ratios[at] ** 2 * self.told
            share = 1 / ((1 + more) * np.where(self.told > 0, self.told, 1.0))
            found[at] = self.within + (share @ self.between).reshape(-1, k, k)
            logs[at] = 0.5 * np.log1p(more) @ self.groups
        return found, logs

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        return z


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
        k = len(self.products)
        size = 1 + self.diagonal * (ratios[:, self.first, None] ** 2)
        P = np.broadcast_to(self.products, (len(ratios), k, k)).copy()
        if len(self.diagonal):
            scale = ratios[:, self.first, None] / np.sqrt(size)
            for at, one in zip(P, scale):
                beside = one[:, None] * self.beside
                at -= beside.T @ beside
        return roots_of(P, self.of_others(ratios))

    def of_others(self, ratios: Floats) -> Floats:
        """Return the ratios of the sds of the other effects to sigma, (m, k - d - 1)."""
        return ratios[:, self.own]

    @property
    def at_once(self) -> int:
        """See `Sums`."""
        return max(1, PRODUCTS_AT_ONCE // self.products.size)

    def of_few(self, ratios: Floats) -> tuple[Floats, Floats]:
        root, left = self.roots(ratios)
        q = len(self.own)
        logs = np.log(np.diagonal(root[:, :q], axis1=1, axis2=2)).sum(axis=1)
        logs += 0.5 * np.log1p(self.diagonal * ratios[:, self.first, None] ** 2).sum(axis=1)
        return left, logs

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        parts = [slice(a, a + self.at_once) for a in range(0, len(z), self.at_once)]
        return np.concatenate([self.few_effects(ratios[at], pull[at], z[at]) for at in parts])

    def few_effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        """Return `effects` of ratios whose roots are kept at once."""
        q, m = len(self.own), len(self.diagonal)
        root, _ = self.roots(ratios)
        out = np.empty((len(z), m + q))
        out[:, m:] = kept_effects(root, pull, z[:, m:]) * self.of_others(ratios)
        r = ratios[:, self.first, None]
        size = 1 + self.diagonal * r**2
        left = np.concatenate([-out[:, m:], pull], axis=1) @ self.beside.T
        out[:, :m] = r**2 / size * left + r / np.sqrt(size) * z[:, :m]
        back = np.empty_like(out)
        back[:, self.order] = out
        return back


def roots_of(P: Floats, ratios: Floats) -> tuple[Floats, Floats]:
    """Return `root_and_left` of products P (m, k, k), the rows of the first q in units of their
    sds, (m, q).  P is overwritten.
    """
    q = ratios.shape[1]
    P[:, :q] *= ratios[:, :, None]
    P[:, :, :q] *= ratios[:, None]
    return root_and_left(P, q)


def root_and_left(P: Floats, q: int) -> tuple[Floats, Floats]:
    """Return roots (m, k, q) of products P (m, k, k), the first q of effects in units in which they
    are standard normal: L and (L^-1 C)' of their own part and of the one with the others, and the
    products (m, k - q, k - q) of what is left of these.  P is overwritten.
    """
    k = P.shape[1]
    P[:, range(q), range(q)] += 1.0
    rest = P[:, q:, q:].copy()
    P[:, range(q, k), range(q, k)] *= 2  # so that residuals of zero leave a root
    root = np.linalg.cholesky(P)
    half = root[:, q:, :q]
    return root[:, :, :q], rest - half @ np.swapaxes(half, 1, 2)


def kept_effects(root: Floats, pull: Floats, z: Floats) -> Floats:
    """Return effects (m, q) in units of their sds of `roots_of`, what leads from the others, (m,
    k - q), and standard normal numbers (m, q).
    """
    q, out = root.shape[2], np.empty(z.shape)
    if not q:
        return out
    half = np.einsum("nji,nj->ni", root[:, q:], pull) + z
    for at, one, to in zip(root, half, out):
        to[:] = dtrtrs(at[:q].T, one)[0]
    return out


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


def told_coordinates(loading: Loading, told: Floats) -> Loading | None:
    """Return coordinates of ratios that are their logs where rows tell them, with the squares (q,)
    of columns: a table needs them under priors that are far wider.  None without any.
    """
    return Loading(loading.blocks, told**-0.5) if (told > 0).all() else None
