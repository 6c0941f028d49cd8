from sgmc.core.contract cimport Batch, Model
from sgmc.models.factorization.products cimport Entry

cdef enum:
    TILE = 64  # rows whose factors stay in the fast cache between their two visits

# base of factorisations: theta begins with the users' factors, then the items', row by row
cdef class Ratings(Model):
    cdef readonly Py_ssize_t users, items, rank
    cdef Entry[::1] table         # rows as they are numbered
    cdef Entry[::1] sorted        # the same by user and item, for all rows at once
    # where those of a tile of b begin
    cdef const Entry *entries(self, const Batch *b, const Batch *tile) noexcept nogil

cdef const Entry *entry_of(const Entry *first, const Batch *tile, Py_ssize_t i) noexcept nogil
