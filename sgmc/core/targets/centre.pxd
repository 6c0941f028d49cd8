# What the rows of a batch have at a centre: kept by its anchor, or computed again
from sgmc.core.targets.anchor cimport Anchor
from sgmc.core.targets.target cimport Batch, Model, Scratch

# one per chain
cdef class Centre:
    cdef readonly Model model
    cdef readonly bint computed     # nothing is kept: scores are computed at each use
    cdef const double[::1] place, kept
    cdef double[::1] work, score, predictors, curvature
    cdef Scratch scratch            # points into work
    # of the rows of a tile, one behind the other; `fully`: predictors and curvatures, too
    cdef int look(self, const Batch *tile, bint fully) except -1 nogil
    # r_i -= score of row i at the centre
    cdef int subtract(self, const Batch *tile, double *r) except -1 nogil
    cdef void fetch(self, const Batch *b) noexcept nogil
