"""The design of coefficients and effects together, factors as codes."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sgmc.core.designs.design import Repeated64, design
from sgmc.formula.designs.coded import CodedTable, grown
from sgmc.models.regression.latent.densities.effects_prior import Blocks
from sgmc.models.regression.rows.prepare import DesignTable, copied, permutation

# rows by which it is told whether curves are alike in many, and rows to a different one, at least
ROWS_COMPARED, FEWEST_ALIKE = 1000, 8
FEWEST_COLUMNS = 8  # of curves, below which products with all rows take no longer


@dataclass(frozen=True)
class CrossedRows:
    """Rows as the compiled model reads them, sorted by the factor of most levels, or by what curves
    have alike in many rows, or for mini-batches in random order.

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
    curves : array (n, columns)
        Of the smooths, whose effects stand behind those of all levels.
    blocks : Blocks
    predictor : array (columns of `table`,) of int
        The linear predictor, 0 or 1, of each parameter; -1 of those that are in none.
    alike : array (n,) of int32, or None
        Number of each row's curves among the different ones, where many rows share them.
    """

    fixed: DesignTable
    table: DesignTable
    codes: np.ndarray
    Z: np.ndarray
    factor: np.ndarray
    curves: np.ndarray
    blocks: Blocks
    predictor: np.ndarray
    alike: np.ndarray | None = None

    @property
    def stored(self):
        """The storage of the table for the compiled model."""
        X, d = self.table.X, self.blocks.d
        if self.alike is None or not isinstance(X, np.ndarray) or X.dtype != np.float64:
            return design(X)
        return Repeated64(X, self.alike, d, d + self.curves.shape[1])

    @property
    def predictors(self):
        """How many linear predictors rows have."""
        return int(self.predictor.max()) + 1

    @property
    def columns(self):
        """The columns of all coefficients: of several equations those of the design for each."""
        X, d = self.fixed.X, self.blocks.d
        return X if X.shape[1] == d else np.tile(X, (1, d // X.shape[1]))

    @property
    def of_effects(self):
        """The linear predictor of each effect of a level, (effects,)."""
        blocks, count = self.blocks, len(self.factor)
        first = np.searchsorted(np.asarray(blocks.start), np.arange(count), side="right") - 1
        return self.predictor[np.asarray(blocks.first)[first]]

    @property
    def levels(self):
        """Levels of each factor."""
        return self.codes.max(axis=0).astype(np.intp) + 1

    @property
    def dense(self):
        """Places of the parameters that have columns of their own: coefficients and smooths."""
        d, end = self.blocks.d, self.blocks.d + self.blocks.effects
        return np.r_[0:d, end - self.curves.shape[1] : end]

    def with_blocks(self, **changes):
        """The same rows with other coordinates of the effects, see `Blocks.replaced`."""
        return replace(self, blocks=self.blocks.replaced(**changes))

    def widened(self, count):
        """The same rows with so many empty columns more, of parameters behind those of effects."""
        table, X = self.table, self.table.X
        if isinstance(X, CodedTable):
            X = replace(X, cells=grown(X.cells, X.shape[1] + count))
        else:
            X = np.concatenate([X, np.zeros((len(X), count))], axis=1, dtype=X.dtype)
        predictor = np.append(self.predictor, np.full(count, -1))
        blocks = self.blocks.replaced(more=count)
        return replace(self, table=replace(table, X=X), blocks=blocks, predictor=predictor)

    def places(self, k):
        """Places of the effects of a factor among the parameters, (levels, effects)."""
        starts = [j for j in self.blocks.start if j < len(self.factor)]
        terms = [t for t, j in enumerate(starts) if self.factor[j] == k]
        return np.column_stack([self.blocks.of_term(t) for t in terms])


def crossed_rows(data, columns, crossing, effects, log_params, settings, centre):
    """Copy the design, and set the effects beside it; of several equations each has the columns of
    the design.

    Parameters
    ----------
    data : RegressionData
    columns : array (coefficients,) of int
        The linear predictor of each coefficient.
    crossing : Crossing
    effects : CrossedEffects
    log_params : int
        Auxiliary parameters.
    settings : Settings
    centre : bool
        Whether means are taken off the columns of the design; covariates of effects stay.
    """
    names = [one.name for one in crossing.factors]
    levels = [len(one.index) for one in crossing.factors]
    terms = crossing.terms
    number, shared = [names.index(term.factor) for term in terms], None
    if settings.approximate:  # blocks of neighbours are to be samples of the rows
        order = permutation(data.n, settings.seed)
    elif levels:
        order = np.argsort(crossing.codes[:, int(np.argmax(levels))], kind="stable")
    else:
        shared = numbers_of(crossing.curves)
        order = np.arange(data.n) if shared is None else np.argsort(shared, kind="stable")
    fixed = copied(data, order, settings.dtype, centre)
    codes = np.ascontiguousarray(crossing.codes[order])
    none = np.empty((len(order), 0))
    Z = np.concatenate([none, *(one.Z for one in terms)], axis=1)[order]
    counts, widths = [levels[k] for k in number], [len(term.columns) for term in terms]
    blocks = Blocks(
        effects.loading,
        len(columns),
        counts + crossing.sizes,
        widths + [1] * len(crossing.sizes),
        log_params,
        spectrum=effects.spectrum,
    )
    factor, curves = np.repeat(np.array(number, dtype=int), widths), crossing.curves[order]
    width = blocks.size - log_params
    own = np.append(columns, crossing.predictors[blocks.number])
    predictor = np.append(own, np.full(width - len(own), -1))
    Z = np.ascontiguousarray(Z)
    shared = None if shared is None else np.ascontiguousarray(shared[order], dtype=np.int32)
    rows = CrossedRows(fixed, fixed, codes, Z, factor, curves, blocks, predictor, shared)
    return replace(rows, table=replace(fixed, X=whole(rows, number, width)))


def numbers_of(curves):
    """Number of each row (n,) among the different rows of a table; None where few are alike."""
    n, width = curves.shape
    if width < FEWEST_COLUMNS or n < FEWEST_ALIKE * ROWS_COMPARED:
        return None
    rows = np.ascontiguousarray(curves, dtype=float)
    rows = rows.view(np.dtype((np.void, width * rows.itemsize)))[:, 0]
    if len(np.unique(rows[:: n // ROWS_COMPARED])) > ROWS_COMPARED // 2:
        return None
    different, found = np.unique(rows, return_inverse=True)
    return found if FEWEST_ALIKE * len(different) <= n else None


def whole(rows, number, width):
    """The design of all parameters in so many columns, `number` being the factor of each term: an
    array where all of it is dense, else a `CodedTable`.
    """
    X, curves = rows.columns, rows.curves
    if len(number) or isinstance(X, CodedTable):
        return joined(
            with_numbers(as_coded(X), rows), rows.codes, rows.Z, number, rows.blocks, width
        )
    rest = np.zeros((len(X), width - X.shape[1] - curves.shape[1]))
    return np.concatenate([X, curves, rest], axis=1, dtype=X.dtype)


def with_numbers(X, rows):
    """A `CodedTable` with the smooths' columns among its numbers."""
    numbers = np.concatenate([X.numbers, rows.curves], axis=1, dtype=X.numbers.dtype)
    places = np.concatenate([X.places, rows.dense[rows.blocks.d :]])
    return replace(X, numbers=np.ascontiguousarray(numbers), places=places)


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
        X.ones,
    )
