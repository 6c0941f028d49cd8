"""What chains share of a centre, usually the mode."""
import numpy as np

from libc.string cimport memcpy

from sgmc.core.blas import one_blas_thread
from sgmc.core.bordered cimport Bordered
from sgmc.core.target cimport (
    Batch, Model, Scratch, all_rows, last_predictors, next_tile, scratch_size,
)


cdef class Anchor:
    """A centre with its scores, curvatures and full gradient, made once and shared by the chains.

    Parameters
    ----------
    model : Model
    centre : array (dim,)
        In natural coordinates, usually the mode.
    curvature : bool
        Keep row curvatures and their sum, the Hessian (second-order estimators).
    exact : array of int, optional
        Rows that estimators always compute, because no expansion at the centre serves them.
    """

    def __init__(self, Model model, centre, bint curvature=False, exact=()):
        cdef Py_ssize_t w = model.width, at = 0, most = max(model.gram_rows, model.tile)
        cdef Batch everything = all_rows(model.n), tile
        cdef Scratch s
        cdef double[::1] work = np.empty(scratch_size(model))
        self.centre = np.array(centre, dtype=float)
        self.full = np.zeros(model.dim)
        self.scores = np.empty(model.n * w)
        self.curvature = np.empty(model.n * w * w if curvature else 0)
        self.predictors = np.empty(model.n * w if curvature else 0)
        rows = model.dim if curvature else 0
        self.hessian = np.zeros((rows, rows))
        s.work, s.bits, s.eta = &work[0], NULL, NULL
        if w == 0 and curvature:
            raise NotImplementedError("this model has no curvatures")
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
                    model.curvatures(&self.centre[0], &tile, &s,
                                     &self.curvature[tile.start * w * w])
            at = 0
            while curvature and next_tile(&everything, most, &at, &tile):
                model.add_curvatures(&tile, &s, &self.curvature[tile.start * w * w],
                                     &self.hessian[0, 0])
        if curvature:
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


cdef mark(Anchor anchor, rows):
    """Fill in the rows that are always computed, as a list and as flags."""
    anchor.exact = np.array(rows, dtype=np.intp)
    flags = np.zeros(anchor.n if len(rows) else 0, dtype=np.int8)
    flags[np.asarray(anchor.exact)] = 1
    anchor.is_exact = flags
