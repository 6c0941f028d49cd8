"""Control variates around a fixed centre."""
from sgmc.core.contract cimport OK, Anchor, Batch, Gradient, row_of


cdef class ControlVariate(Gradient):
    """Control values are the row gradients at the anchor (Nemeth & Fearnhead 2021, section 3.1):

    g = dlog prior + sum_i dlog p_i(centre) + sum_batch scale w_i (dlog p_i(theta) - dlog p_i(centre)).
    """

    name = "cv"
    needs = ("anchor",)

    cdef int known(self, const double *theta, double *g) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.model.dim):
            g[j] += self.anchor.full[j]
        return OK

    cdef int correct(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        cdef Py_ssize_t i, k, row, w = self.model.width
        cdef const double *stored = &self.anchor.scores[0]
        if tile.rows == NULL:
            stored += tile.start * w
            for i in range(tile.m * w):
                r[i] -= stored[i]
            return OK
        for i in range(tile.m):
            row = row_of(tile, i)
            for k in range(w):
                r[i * w + k] -= stored[row * w + k]
        return OK

    cdef int correct_batch(self, const double *theta, const Batch *b, double *g) except -1 nogil:
        cdef Batch minus = b[0]
        minus.scale = -b.scale
        return self.model.add(&self.anchor.centre[0], &minus, &self.scratch, NULL, g)
