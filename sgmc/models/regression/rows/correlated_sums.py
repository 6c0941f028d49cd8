"""What rows of normal outcomes tell of coefficients and of effects that are correlated, as sums."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.independent.integrated import Sums
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.rows.effect_sums import (
    MOST_A_DRAW,
    PRODUCTS_AT_ONCE,
    kept_effects,
    operations,
    root_and_left,
)

OF_GROUPS_AT_ONCE = 1 << 16  # numbers of groups' own products, which then stay in a cache


@dataclass(frozen=True)
class CorrelatedSums(Sums):
    """Sums over the rows of groups with some effects each, whose correlations are eta.

    With M_g = Z_g'W Z_g, P_g = Z_g'W(X, e) and b = Lambda z, effects leave of the products of the
    columns

        (X, e)'W(X, e) - sum_g P_g'C_g P_g,   C_g = Lambda (I + Lambda'M_g Lambda)^-1 Lambda'.

    Attributes
    ----------
    loading : Loading
        Lambda, of the sds themselves.
    whole : array (k, k)
        Products of the columns.
    told : array (kinds, q, q)
        M_g, of groups with the same one together.
    products : array (kinds pairs, pairs of columns)
        Products of the rows of P_g with each other, of the groups of a kind: of pairs a <= b of
        rows, twice those of two rows, and of pairs of columns.
    groups : array (kinds,)
        Of each kind.
    weight : float
    """

    loading: Loading
    whole: Floats
    told: Floats
    products: Floats
    groups: Floats
    weight: float

    @classmethod
    def of(
        cls, columns: Floats, Z: Floats, w: Floats, starts: Ints, loading: Loading
    ) -> "CorrelatedSums":
        """Of columns (n, k), covariates (n, q), weights and first rows of groups, with an end."""
        (n, k), q, begin = columns.shape, Z.shape[1], starts[:-1]
        weighed = w[:, None] * Z
        told = np.add.reduceat((weighed[:, :, None] * Z[:, None]).reshape(n, q * q), begin)
        pulls = np.add.reduceat((weighed[:, :, None] * columns[:, None]).reshape(n, q * k), begin)
        kinds, kind = np.unique(told, axis=0, return_inverse=True)
        (a, b), (i, j) = np.triu_indices(q), np.triu_indices(k)
        of_rows = pulls.reshape(-1, q, k)
        both = of_rows[:, a][..., i] * of_rows[:, b][..., j]
        both += of_rows[:, b][..., i] * of_rows[:, a][..., j] * (a < b)[:, None]
        products = np.zeros((len(kinds), *both.shape[1:]))
        np.add.at(products, kind.ravel(), both)
        return cls(
            Loading(loading.blocks),
            columns.T @ (w[:, None] * columns),
            kinds.reshape(-1, q, q),
            products.reshape(-1, len(i)),
            np.bincount(kind.ravel(), minlength=len(kinds)).astype(float),
            float(w.sum()),
        )

    @property
    def count(self) -> int:
        """Zero: effects are no parameters."""
        return 0

    @property
    def operations(self) -> float:
        """See `Sums`."""
        return 2.0 * self.products.size + 10.0 * self.told.size * self.told.shape[1]

    @property
    def at_once(self) -> int:
        """See `Sums`."""
        return max(1, OF_GROUPS_AT_ONCE // self.told.size)

    def of_few(self, ratios: Floats) -> tuple[Floats, Floats]:
        k, q = len(self.whole), self.loading.q
        root = self.loading.root(ratios)
        size = np.einsum("mai,mbj->ijmab", root, root).reshape(q, q, -1, q * q)
        size = size @ self.told.reshape(-1, q * q).T
        size[range(q), range(q)] += 1.0
        half, logs = eliminated(size, np.moveaxis(root, 0, -1)[..., None])
        share = np.stack(
            [(half[:, a] * half[:, b]).sum(axis=0) for a, b in zip(*np.triu_indices(q))], axis=-1
        )
        found = np.empty((len(ratios), k, k))
        i, j = np.triu_indices(k)
        found[:, i, j] = self.whole[i, j] - share.reshape(len(ratios), -1) @ self.products
        found[:, j, i] = found[:, i, j]
        return found, logs @ self.groups

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        return z


def eliminated(size: Floats, columns: Floats) -> tuple[Floats, Floats]:
    """Return L^-1 columns' and half the log determinants (..) of matrices A = LL' (q, q, ..), which
    are overwritten, and columns (k, q, ..): many small ones at once, one pivot after the other.
    """
    q, k = len(size), len(columns)
    out, determinants = np.empty((q, k, *size.shape[2:])), np.ones(size.shape[2:])
    for i in range(q):
        for row in range(i, q):
            for j in range(i):
                size[row, i] -= size[row, j] * size[i, j]
        determinants *= size[i, i]
        pivot = 1 / np.sqrt(size[i, i])
        size[i + 1 :, i] *= pivot
        out[i] = columns[:, i]
        for j in range(i):
            out[i] -= size[i, j] * out[j]
        out[i] *= pivot
    return out, 0.5 * np.log(determinants)


@dataclass(frozen=True)
class CorrelatedEffectSums(Sums):
    """Products of the columns of effects, of coefficients and of residuals e at some coefficients,
    where effects of a level may be correlated.

    Those of the levels of one term, which have products with each other in a level alone, are
    eliminated as in `CorrelatedSums`; all others have a root.

    Attributes
    ----------
    loading : Loading
        Of all terms, of the sds themselves.
    terms : tuple of (array (levels, width) of int, int)
        Places of the effects of each term among all, and its first sd; the first is eliminated.
    told : array (levels, width, width)
        Products of its columns with each other.
    beside : array (width, levels, k)
        With those of all other effects, of the coefficients and of e.
    products : array (k, k)
        Of these.
    weight : float
        Sum of the weights.
    """

    loading: Loading
    terms: tuple[tuple[Ints, int], ...]
    told: Floats
    beside: Floats
    products: Floats
    weight: float

    @classmethod
    def of(
        cls,
        columns: sparse.csr_array,
        weight: Floats,
        loading: Loading,
        terms: tuple[tuple[Ints, int], ...],
    ) -> "CorrelatedEffectSums":
        """Of the columns (n, effects + d + 1), and terms of which the first has effects of levels
        that are apart.
        """
        found = sparse.csr_array(columns.T @ (sparse.diags_array(weight) @ columns))
        first, rest = terms[0][0], [places.ravel() for places, _ in terms[1:]]
        count = sum(places.size for places, _ in terms)
        others = np.concatenate([*rest, np.arange(count, columns.shape[1])])
        beside = found[first.T.ravel()][:, others].toarray()
        levels, width = first.shape
        told = np.empty((levels, width, width))
        for a in range(width):
            for b in range(width):
                told[:, a, b] = found[first[:, a], first[:, b]] if levels else 0.0
        return cls(
            Loading(loading.blocks),
            terms,
            told,
            beside.reshape(width, levels, len(others)),
            found[others][:, others].toarray(),
            float(weight.sum()),
        )

    @property
    def count(self) -> int:
        """All effects."""
        return sum(places.size for places, _ in self.terms)

    @property
    def operations(self) -> float:
        """See `Sums`."""
        return operations(self.terms[0][0].size, len(self.products))

    def own_root(self, roots: Floats, t: int) -> Floats:
        """Return Lambda of a term, (m, width, width), of those of all."""
        places, first = self.terms[t]
        at = slice(first, first + places.shape[1])
        return roots[:, at, at]

    def roots(self, ratios: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return Lambda (m, q, q), the halves of `eliminated`, half the log determinants of what it
        leaves out, (m,), and the products of all else with what was told of these taken off,
        (m, k, k), other effects in units of their Lambda.
        """
        roots, k = self.loading.root(ratios), len(self.products)
        own = self.own_root(roots, 0)
        size = np.einsum("mai,gab,mbj->ijmg", own, self.told, own, optimize=True)
        size[range(len(size)), range(len(size))] += 1.0
        half, logs = eliminated(size, np.moveaxis(own, 0, -1)[..., None])
        P = np.empty((len(ratios), k, k))
        for m, at in enumerate(P):
            taken = np.einsum("iag,agk->igk", half[:, :, m], self.beside).reshape(-1, k)
            np.subtract(self.products, taken.T @ taken, out=at)
        self.scale(P, roots)
        self.scale(np.swapaxes(P, 1, 2), roots)
        return roots, half, logs.sum(axis=1), P

    def scale(self, P: Floats, roots: Floats) -> None:
        """Multiply rows of arrays (m, k, ..) that belong to other effects by their Lambda'."""
        begin = 0
        for t in range(1, len(self.terms)):
            levels, width = self.terms[t][0].shape
            at = slice(begin, begin + levels * width)
            rows = P[:, at].reshape(len(P), levels, width, -1)
            P[:, at] = np.einsum("mai,mlak->mlik", self.own_root(roots, t), rows).reshape(
                len(P), levels * width, -1
            )
            begin = at.stop

    @property
    def others(self) -> int:
        """Effects of other terms."""
        return self.count - self.terms[0][0].size

    @property
    def at_once(self) -> int:
        """See `Sums`."""
        return max(1, PRODUCTS_AT_ONCE // (self.products.size + self.beside.size))

    def of_few(self, ratios: Floats) -> tuple[Floats, Floats]:
        *_, logs, P = self.roots(ratios)
        root, left = root_and_left(P, self.others)
        own = np.diagonal(root[:, : self.others], axis1=1, axis2=2)
        return left, logs + np.log(own).sum(axis=1)

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        parts = [slice(a, a + self.at_once) for a in range(0, len(z), self.at_once)]
        return np.concatenate([self.few_effects(ratios[at], pull[at], z[at]) for at in parts])

    def few_effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        """Return `effects` of ratios whose roots are kept at once."""
        first, out = self.terms[0][0], np.empty((len(z), self.count))
        roots, half, _, P = self.roots(ratios)
        root, _ = root_and_left(P, self.others)
        rest = kept_effects(root, pull, z[:, first.size :])
        begin = 0
        for t, (places, _) in enumerate(self.terms[1:], 1):
            one = rest[:, begin : begin + places.size].reshape(len(z), *places.shape)
            out[:, places] = np.einsum("mai,mli->mla", self.own_root(roots, t), one)
            begin += places.size
        known = [out[:, places].reshape(len(z), -1) for places, _ in self.terms[1:]]
        left = np.concatenate([*(-one for one in known), pull], axis=1)
        pushed = np.einsum("agk,mk->amg", self.beside, left)
        noise = np.moveaxis(z[:, : first.size].reshape(len(z), *first.shape), 2, 0)
        own = np.einsum("iamg,amg->img", half, pushed) + noise
        out[:, first] = np.einsum("iamg,img->mga", half, own)
        return out


def correlated_effect_sums(
    columns: sparse.csr_array,
    weight: Floats,
    loading: Loading,
    terms: list[tuple[Ints, int]],
    apart: int,
) -> CorrelatedEffectSums | None:
    """Return the sums of rows; None where they are of so many effects that draws would take long.

    Parameters
    ----------
    columns : sparse array (n, effects + d + 1)
        Of the effects, the coefficients and the residuals at some of these.
    weight : array (n,)
    loading : Loading
    terms : list of (array (levels, width) of int, int)
        Places of the effects of each term, and its first sd.
    apart : int
        How many of the first terms are of levels: no row has two of a term.
    """
    if not apart:
        terms = [(np.empty((0, 1), dtype=int), 0), *terms]
    largest = max(range(max(apart, 1)), key=lambda t: terms[t][0].size)
    ordered = (terms[largest], *(one for t, one in enumerate(terms) if t != largest))
    k = columns.shape[1] - ordered[0][0].size
    if operations(ordered[0][0].size, k) > MOST_A_DRAW:
        return None
    return CorrelatedEffectSums.of(columns, weight, loading, ordered)


def signs_of_correlations(loading: Loading) -> tuple[tuple[int, int, int], ...]:
    """Return the place of each correlation's coordinate, and those of the sds whose signs it has,
    see `Axes`.
    """
    pairs = enumerate(loading.correlations())
    return tuple((loading.q + k, i, j) for k, (i, j) in pairs)
