"""What chains share of a centre, usually the mode."""
import numpy as np

from libc.string cimport memcpy

from sgmc.core.system.blas import one_blas_thread
from sgmc.core.targets.bordered cimport Bordered
from sgmc.core.system.storage import too_many
from sgmc.core.targets.target cimport (
    Batch, Model, Scratch, all_rows, last_predictors, next_tile, scratch_size,
)


cdef class Anchor:
    """A centre with its scores, curvatures and full gradient, made once and shared by the chains.

    Of a mapped table with many rows it keeps sums alone (`sgmc.core.system.storage`): the arrays of
    rows are empty, and `sgmc.core.targets.centre` computes what a batch needs of them.

    Parameters
    ----------
    model : Model
    centre : array (dim,)
        In natural coordinates, usually the mode.
    curvature : bool
        Keep row curvatures and their sum, the Hessian (second-order estimators).
    exact : array of int, optional
        Rows that estimators always compute, because no expansion at the centre serves them.
    hessian : array (dim, dim), optional
        Minus the Hessian of the log likelihood at the centre, of models without scores.
    """

    def __init__(self, Model model, centre, bint curvature=False, exact=(), hessian=None):
        cdef Py_ssize_t w = model.width
        self.centre = np.array(centre, dtype=float)
        self.full = np.zeros(model.dim)
        kept = 0 if too_many(model, w * (1 + (1 + w) * curvature)) else model.n
        self.scores = np.empty(kept * w)
        self.curvature = np.empty(kept * w * w if curvature else 0)
        self.predictors = np.empty(kept * w if curvature else 0)
        rows = model.dim if curvature else 0
        self.hessian = np.zeros((rows, rows))
        if w == 0 and curvature and hessian is None:
            raise NotImplementedError("this model has no curvatures")
        if kept or not w:
            keep(self, model, curvature and w > 0)
        else:
            sum_up(self, model, curvature)
        if hessian is not None:
            self.hessian = np.array(hessian, dtype=float)
            self.bend = Bordered(np.asarray(self.hessian))
        elif curvature:
            full = np.asarray(self.hessian)
            full += np.triu(full, 1).T
            self.bend = Bordered(full)
        self.n = model.n
        mark(self, exact)

    def with_exact(self, rows):
        """This anchor with such rows to be always computed; it shares the arrays."""
        cdef Anchor other = Anchor.__new__(Anchor)
        other.n, other.centre, other.full = self.n, self.centre, self.full
        other.scores, other.predictors = self.scores, self.predictors
        other.curvature, other.hessian, other.bend = self.curvature, self.hessian, self.bend
        mark(other, rows)
        return other

    def sums(self):
        """This anchor without what it keeps of the rows."""
        cdef Anchor other = Anchor.__new__(Anchor)
        other.n, other.centre, other.full = self.n, self.centre, self.full
        other.scores, other.predictors, other.curvature = (np.empty(0) for _ in range(3))
        other.hessian, other.bend = self.hessian, self.bend
        mark(other, self.exact)
        return other

    def rotated(self, L):
        """This anchor for the table X L, whose predictors start at those of the centre: what rows
        have is the same; it shares their arrays.
        """
        cdef Anchor other = Anchor.__new__(Anchor)
        other.n, other.centre = self.n, np.zeros(L.shape[1])
        other.full = L.T @ np.asarray(self.full)
        other.scores, other.predictors = self.scores, self.predictors
        other.curvature = self.curvature
        turned = L.T @ np.asarray(self.hessian) @ L
        other.hessian = np.ascontiguousarray((turned + turned.T) / 2)
        other.bend = Bordered(np.asarray(other.hessian))
        mark(other, ())
        return other


cdef keep(Anchor self, Model model, bint curvature):
    """Fill in what rows have at the centre, and the sums."""
    cdef Py_ssize_t w = model.width, at = 0, most = max(model.gram_rows, model.tile)
    cdef Batch everything = all_rows(model.n), tile
    cdef double[::1] work = np.empty(scratch_size(model))
    cdef Scratch s
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with one_blas_thread(), nogil:
        while next_tile(&everything, model.tile, &at, &tile):
            if w == 0:
                model.add(&self.centre[0], &tile, &s, NULL, &self.full[0])
                continue
            model.scores(&self.centre[0], &tile, &s, &self.scores[tile.start * w], NULL)
            if curvature:
                memcpy(&self.predictors[tile.start * w],
                       last_predictors(model, &self.centre[0], &tile, &s),
                       tile.m * w * sizeof(double))
            model.add_scores(&tile, &s, &self.scores[tile.start * w], &self.full[0])
            if curvature:
                model.curvatures(&self.centre[0], &tile, &s, &self.curvature[tile.start * w * w])
        at = 0
        while curvature and next_tile(&everything, most, &at, &tile):
            model.add_curvatures(&tile, &s, &self.curvature[tile.start * w * w],
                                 &self.hessian[0, 0])


cdef sum_up(Anchor self, Model model, bint curvature):
    """The sums of `keep` alone, by a pass that keeps nothing of the rows."""
    cdef Py_ssize_t w = model.width, at = 0, inside, most = max(model.gram_rows, model.tile)
    cdef Batch everything = all_rows(model.n), block, tile
    cdef double[::1] work = np.empty(scratch_size(model)), score = np.empty(model.tile * w)
    cdef double[::1] bent = np.empty(most * w * w)
    cdef Scratch s
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with one_blas_thread(), nogil:
        while next_tile(&everything, most, &at, &block):
            inside = 0
            while next_tile(&block, model.tile, &inside, &tile):
                model.scores(&self.centre[0], &tile, &s, &score[0], NULL)
                model.add_scores(&tile, &s, &score[0], &self.full[0])
                if curvature:
                    model.curvatures(&self.centre[0], &tile, &s,
                                     &bent[(tile.start - block.start) * w * w])
            if curvature:
                model.add_curvatures(&block, &s, &bent[0], &self.hessian[0, 0])


cdef mark(Anchor anchor, rows):
    """Fill in the rows that are always computed, in order, and where rows are kept as flags."""
    anchor.exact = np.array(rows, dtype=np.intp)
    flags = np.zeros(anchor.n if len(rows) and len(anchor.scores) else 0, dtype=np.int8)
    if len(flags):
        flags[np.asarray(anchor.exact)] = 1
    anchor.is_exact = flags
