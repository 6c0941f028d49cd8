"""Scores of rows at a centre: read where an anchor keeps them, else computed again.

For a table larger than memory, three numbers for each of all its rows would be written and read for
the few rows that mini-batches meet.
"""
import numpy as np

from libc.string cimport memcpy

from sgmc.core.numerics cimport simd
from sgmc.core.targets.target cimport (
    OK, Batch, Model, fetch_rows, last_predictors, scratch_size, subtract,
)


cdef class Centre:
    """Scores, predictors and curvatures at a centre.

    Parameters
    ----------
    model : Model
    place : array (dim,)
        The centre, in natural coordinates; it may be moved in place.
    kept : array (n width,)
        Scores there, empty where they are to be computed again.
    fully : bool
        Whether predictors and curvatures are wanted, too.
    """

    def __init__(self, Model model, place, kept, bint fully=False):
        w = model.width
        self.model, self.place, self.kept = model, place, kept
        self.computed = w > 0 and self.kept.shape[0] == 0
        rows = model.tile if self.computed else 0
        self.score = np.empty(rows * w)
        self.predictors = np.empty(rows * w if fully else 0)
        self.curvature = np.empty(rows * w * w if fully else 0)
        self.work = np.empty(scratch_size(model) if self.computed else 0)
        if self.computed:
            self.scratch.work = &self.work[0]
        self.scratch.bits, self.scratch.eta = NULL, NULL

    cdef int look(self, const Batch *tile, bint fully) except -1 nogil:
        self.scratch.eta = NULL
        self.model.scores(&self.place[0], tile, &self.scratch, &self.score[0], NULL)
        if fully:
            memcpy(&self.predictors[0],
                   last_predictors(self.model, &self.place[0], tile, &self.scratch),
                   tile.m * self.model.width * sizeof(double))
            self.model.curvatures(&self.place[0], tile, &self.scratch, &self.curvature[0])
        return OK

    cdef int subtract(self, const Batch *tile, double *r) except -1 nogil:
        if not self.computed:
            subtract(tile, self.model.width, &self.kept[0], r)
            return OK
        self.look(tile, False)
        simd.subtract(tile.m * self.model.width, &self.score[0], r)
        return OK

    cdef void fetch(self, const Batch *b) noexcept nogil:
        if self.kept.shape[0]:
            fetch_rows(b, &self.kept[0], self.model.width * sizeof(double))
