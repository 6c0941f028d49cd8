"""The design of coefficients and effects together, factors as codes."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sgmc.formula.coded import CodedTable
from sgmc.models.crossed.effects import Blocks
from sgmc.models.regression.prepare import Table, copied


@dataclass(frozen=True)
class CrossedRows:
    """Rows as the compiled model reads them, sorted by the factor of most levels.

    Attributes
    ----------
    fixed : Table
        With the columns of the coefficients alone.
    table : Table
        With those of the effects, too, and empty ones in the places of their covariance.
    codes : array (n, factors) of int32
    Z : array (n, effects)
        Covariates, term by term.
    factor : array (effects,) of int
        Of each effect.
    blocks : Blocks
    """

    fixed: Table
    table: Table
    codes: np.ndarray
    Z: np.ndarray
    factor: np.ndarray
    blocks: Blocks

    @property
    def levels(self):
        """Levels of each factor."""
        return self.codes.max(axis=0).astype(np.intp) + 1

    def with_blocks(self, **changes):
        """The same rows with other coordinates of the effects, see `Blocks.replaced`."""
        return replace(self, blocks=self.blocks.replaced(**changes))

    def places(self, k):
        """Places of the effects of a factor among the parameters, (levels, effects)."""
        terms = [t for t, j in enumerate(self.blocks.start) if self.factor[j] == k]
        return np.column_stack([self.blocks.of_term(t) for t in terms])


def crossed_rows(data, crossing, loading, logs, dtype, centre):
    """Copy the design, and set the effects beside it.

    Parameters
    ----------
    data : RegressionData
    crossing : Crossing
    loading : Loading
    logs : int
        Auxiliary parameters.
    dtype : dtype
    centre : bool
        Whether means are taken off the columns of the design; covariates of effects stay.
    """
    names = [one.name for one in crossing.factors]
    levels = [len(one.index) for one in crossing.factors]
    terms = crossing.terms
    number = [names.index(term.factor) for term in terms]
    widths = [len(term.columns) for term in terms]
    order = np.argsort(crossing.codes[:, int(np.argmax(levels))], kind="stable")
    fixed = copied(data, order, dtype, centre)
    codes = np.ascontiguousarray(crossing.codes[order])
    Z = np.ascontiguousarray(np.concatenate([one.Z for one in terms], axis=1)[order], dtype=float)
    blocks = Blocks(loading, data.d, [levels[k] for k in number], widths, logs)
    X = joined(as_coded(fixed.X), codes, Z, number, blocks, blocks.size - logs)
    return CrossedRows(fixed, replace(fixed, X=X), codes, Z, np.repeat(number, widths), blocks)


def as_coded(X):
    """A design as a `CodedTable`."""
    if isinstance(X, CodedTable):
        return X
    n, d = X.shape
    none = np.empty((n, 0))
    return CodedTable(
        X,
        np.arange(d),
        none.astype(np.int32),
        sparse.csr_array((0, d)),
        none,
        np.empty(0, dtype=np.int32),
    )


def joined(X, codes, Z, number, blocks, width):
    """A `CodedTable` with a column for each effect of each level behind those of another, and with
    empty columns up to `width`.
    """
    parts = [grown(X.cells, width)]
    first, columns, multipliers, by = X.cells.shape[0], [X.codes], [X.factors], list(X.by)
    effect = 0
    for t, k in enumerate(number):
        for places in blocks.of_term(t).T:
            m = len(places)
            ones = np.ones(m), places, np.arange(m + 1)
            parts.append(sparse.csr_array(ones, shape=(m, width)))
            columns.append(codes[:, k : k + 1] + np.int32(first))
            first += m
            z = Z[:, effect : effect + 1]
            constant = bool((z == 1).all())
            by.append(-1 if constant else sum(part.shape[1] for part in multipliers))
            if not constant:
                multipliers.append(z)
            effect += 1
    cells = sparse.csr_array(sparse.vstack(parts, format="csr"))
    cells.indices, cells.indptr = cells.indices.astype(np.int32), cells.indptr.astype(np.int32)
    return CodedTable(
        X.numbers,
        X.places,
        np.ascontiguousarray(np.concatenate(columns, axis=1)),
        cells,
        np.ascontiguousarray(np.concatenate(multipliers, axis=1)),
        np.array(by, dtype=np.int32),
    )


def grown(cells, width):
    """The same cells in a wider design."""
    parts = cells.data, cells.indices, cells.indptr
    return sparse.csr_array(parts, shape=(cells.shape[0], width))
