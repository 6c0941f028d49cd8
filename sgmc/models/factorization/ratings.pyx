"""Ratings as rows of a model, and what factorisations of their matrix share."""
import numpy as np


from sgmc.core.contract cimport Batch, Model


cdef class Ratings(Model):
    """Rows are ratings y of item j by user i; theta begins with U (users, rank)
    and V (items, rank), row by row.

    All rows at once are gone through user by user, so that U_i stays in the fast cache; single ones
    in the order given, which is to be random where blocks of neighbours are minibatches.

    Parameters
    ----------
    user, item : array of int (n,)
    value : array (n,)
    sizes : (int, int, int)
        Users, items, rank.
    dim : int
        Parameters.
    """

    def __init__(self, user, item, value, sizes, Py_ssize_t dim):
        entry = np.dtype([("user", np.int32), ("item", np.int32), ("value", np.float64)])
        table = np.empty(len(value), dtype=entry)
        table["user"], table["item"], table["value"] = user, item, value
        self.table, self.sorted = table, table[np.lexsort((item, user))]
        self.users, self.items, self.rank = sizes
        self.n = self.tile = len(table)
        self.dim = dim

    nanoseconds = 3.0

    @property
    def reads(self):
        """Two factors; see `Model`."""
        return 2 * self.rank

    cdef const Entry *entries(self, const Batch *b, const Batch *tile) noexcept nogil:
        """All rows come in their sorted order; of a list, the table that it refers to."""
        if tile.rows != NULL:
            return &self.table[0]
        if b.m == self.n and b.weight == NULL:
            return &self.sorted[tile.start]
        return &self.table[tile.start]


cdef const Entry *entry_of(const Entry *first, const Batch *tile, Py_ssize_t i) noexcept nogil:
    """The i-th entry of a tile."""
    return first + (i if tile.rows == NULL else tile.rows[i])
