"""Control variates around a fixed centre."""
from sgmc.core.targets.centre cimport Centre
from sgmc.core.contract cimport (
    OK, Anchor, Batch, Gradient, Map, Model, Prior, Rng, Subsampler,
)


cdef class ControlVariate(Gradient):
    """Control values are the row gradients at the anchor (Nemeth & Fearnhead 2021, section 3.1):

    g = dlog prior + sum_i dlog p_i(centre) + sum_batch scale w_i (dlog p_i(theta) - dlog
    p_i(centre)).
    """

    name = "cv"
    needs = ("anchor",)
    recomputes = 1
    cdef Centre centre

    def __init__(self, Model model, Prior prior, Subsampler rows, Rng rng, *, Map map=None,
                 Anchor anchor not None):
        Gradient.__init__(self, model, prior, rows, rng, map=map, anchor=anchor)
        self.centre = Centre(model, anchor.centre, anchor.scores)

    cdef void fetch(self, const Batch *b) noexcept nogil:
        self.model.fetch(b)
        self.centre.fetch(b)

    cdef int known(self, const double *theta, double *g) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.model.dim):
            g[j] += self.anchor.full[j]
        return OK

    cdef int correct(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        return self.centre.subtract(tile, r)

    cdef int correct_batch(self, const double *theta, const Batch *b, double *g) except -1 nogil:
        cdef Batch minus = b[0]
        minus.scale = -b.scale
        return self.model.add(&self.anchor.centre[0], &minus, &self.scratch, NULL, g)

    cdef int corrected(self, const double *theta, const Batch *tile, double *g) except -1 nogil:
        return self.model.add_apart(theta, &self.anchor.centre[0], tile, &self.scratch, g)
