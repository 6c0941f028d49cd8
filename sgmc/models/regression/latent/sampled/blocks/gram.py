"""Products C' W C of the design of coefficients and effects: what the precision of a Gaussian
approximation is made of, for other weights each time.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sgmc.formula.designs.coded import CodedTable


@dataclass(frozen=True)
class LevelPairs:
    """Pairs of levels of two factors that occur together.

    Attributes
    ----------
    row, column : array (cells,) of int
        Their levels.
    of : array (n,) of int
        The cell of each row of the table.
    """

    row: np.ndarray
    column: np.ndarray
    of: np.ndarray

    @classmethod
    def between(cls, a, b, levels):
        """The cells of two columns of codes; `levels` are those of the second factor."""
        joint = a.astype(np.int64) * levels + b
        used, of = np.unique(joint, return_inverse=True)
        return cls(used // levels, used % levels, of.astype(np.int32))

    def sums(self, values):
        """Sum of some values (n,) in each cell."""
        return np.bincount(self.of, values, len(self.row))


class Gram:
    """Products of a table with weights of its rows, w (n, k, k) for k linear predictors: of columns
    of predictors p and q those of w[:, p, q].

    Parameters
    ----------
    rows : CrossedRows
    """

    def __init__(self, rows):
        self.codes, self.Z, self.levels = rows.codes, rows.Z, rows.levels
        self.of_effect, self.of_column = rows.of_effects, rows.predictor[rows.dense]
        self.effects = [np.flatnonzero(rows.factor == k) for k in range(len(self.levels))]
        self.X = beside(as_sparse(rows.columns), rows.curves)
        # the columns of each predictor, together
        places = range(rows.predictors) if isinstance(self.X, np.ndarray) else ()
        self.columns = [np.flatnonzero(self.of_column == p) for p in places]
        several = len(self.columns) > 1
        self.parts = [np.ascontiguousarray(self.X[:, own]) for own in self.columns if several]
        self.alike, self.d = rows.alike, rows.blocks.d
        if self.alike is not None:
            self.shared = rows.curves[np.unique(self.alike, return_index=True)[1]]
        count = len(self.levels)
        self.cells = {
            (k, h): LevelPairs.between(self.codes[:, k], self.codes[:, h], self.levels[h])
            for k in range(count)
            for h in range(k + 1, count)
        }

    def fixed(self, w):
        """X' W X, (d, d), the columns of smooths behind those of coefficients."""
        if not isinstance(self.X, np.ndarray):  # of one predictor
            return (self.X.T @ sparse.diags_array(w[:, 0, 0]) @ self.X).toarray()
        if w.shape[1] == 1 and self.alike is not None:
            return self.by_different(w[:, 0, 0])
        if w.shape[1] == 1:
            return self.X.T @ (w[:, 0] * self.X)
        out = np.empty((self.X.shape[1],) * 2)
        for q, one in enumerate(self.parts):
            for p in range(q + 1):
                found = self.parts[p].T @ (w[:, p, [q]] * one)
                out[np.ix_(self.columns[p], self.columns[q])] = found
                out[np.ix_(self.columns[q], self.columns[p])] = found.T
        return out

    def by_different(self, w):
        """X' W X where many rows share their curves: by sums of the rows that do."""
        X, S, d = self.X[:, : self.d], self.shared, self.d
        out = np.empty((self.X.shape[1],) * 2)
        sums = [np.bincount(self.alike, w * x, len(S)) for x in X.T]
        out[:d, :d], out[:d, d:] = X.T @ (w[:, None] * X), np.reshape(sums, (d, len(S))) @ S
        out[d:, :d] = out[:d, d:].T
        out[d:, d:] = S.T @ (np.bincount(self.alike, w, len(S))[:, None] * S)
        return out

    def fixed_by_level(self, w, k):
        """Z_k' W X, (levels, effects, d)."""
        m, code = self.levels[k], self.codes[:, k]
        out = np.empty((m, len(self.effects[k]), self.X.shape[1]))
        for a, j in enumerate(self.effects[k]):
            each = w[:, self.of_effect[j]] * self.Z[:, [j]]  # by predictor
            if isinstance(self.X, np.ndarray):
                for c, (p, x) in enumerate(zip(self.of_column, self.X.T)):
                    out[:, a, c] = np.bincount(code, each[:, p] * x, m)
            else:
                v = each[:, 0]
                parts = v, (code, np.arange(len(v)))
                out[:, a] = (sparse.csr_array(parts, shape=(m, len(v))) @ self.X).toarray()
        return out

    def within(self, w, k):
        """Z_k' W Z_k of each level, (levels, effects, effects)."""
        m, code, own = self.levels[k], self.codes[:, k], self.effects[k]
        out = np.empty((m, len(own), len(own)))
        for a, i in enumerate(own):
            for b, j in enumerate(own[: a + 1]):
                out[:, a, b] = out[:, b, a] = np.bincount(code, self.product(w, i, j), m)
        return out

    def between(self, w, k, h):
        """Z_k' W Z_h in the cells of two factors: levels, levels, (cells, effects, effects)."""
        if k > h:
            column, row, found = self.between(w, h, k)
            return row, column, np.swapaxes(found, 1, 2)
        cells = self.cells[k, h]
        out = np.empty((len(cells.row), len(self.effects[k]), len(self.effects[h])))
        for a, i in enumerate(self.effects[k]):
            for b, j in enumerate(self.effects[h]):
                out[:, a, b] = cells.sums(self.product(w, i, j))
        return cells.row, cells.column, out

    def product(self, w, i, j):
        """Covariates of two effects times the weights of their predictors, (n,)."""
        return w[:, self.of_effect[i], self.of_effect[j]] * self.Z[:, i] * self.Z[:, j]


def beside(X, curves):
    """A design with the columns of smooths behind its own."""
    if isinstance(X, np.ndarray):
        return np.concatenate([X, curves], axis=1)
    return sparse.csr_array(sparse.hstack([X, curves])) if curves.shape[1] else X


def as_sparse(X):
    """A dense design as it is, a coded one as a CSR array."""
    if not isinstance(X, CodedTable):
        return np.asarray(X, dtype=float)
    n, d = X.shape
    numbers = sparse.csr_array(np.asarray(X.numbers, dtype=float))
    where = sparse.csr_array(
        (np.ones(len(X.places)), (np.arange(len(X.places)), X.places)), shape=(len(X.places), d)
    )
    total = sparse.csr_array(numbers @ where) if len(X.places) else sparse.csr_array((n, d))
    if X.ones >= 0:
        every = np.arange(n)
        total = total + sparse.csr_array((np.ones(n), (every, np.full(n, X.ones))), shape=(n, d))
    for t in range(len(X.by)):
        total = total + X.term(t)
    return sparse.csr_array(total)
