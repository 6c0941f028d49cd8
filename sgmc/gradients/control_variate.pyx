"""Control variates around a fixed centre."""
from sgmc.core.contract cimport OK, Batch, Gradient, fetch_rows, subtract


cdef class ControlVariate(Gradient):
    """Control values are the row gradients at the anchor (Nemeth & Fearnhead 2021, section 3.1):

    g = dlog prior + sum_i dlog p_i(centre) + sum_batch scale w_i (dlog p_i(theta) - dlog
    p_i(centre)).
    """

    name = "cv"
    needs = ("anchor",)
    recomputes = True

    cdef void fetch(self, const Batch *b) noexcept nogil:
        self.model.fetch(b)
        if self.model.width:
            fetch_rows(b, &self.anchor.scores[0], self.model.width * sizeof(double))

    cdef int known(self, const double *theta, double *g) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.model.dim):
            g[j] += self.anchor.full[j]
        return OK

    cdef int correct(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        subtract(tile, self.model.width, &self.anchor.scores[0], r)
        return OK

    cdef int correct_batch(self, const double *theta, const Batch *b, double *g) except -1 nogil:
        cdef Batch minus = b[0]
        minus.scale = -b.scale
        return self.model.add(&self.anchor.centre[0], &minus, &self.scratch, NULL, g)
