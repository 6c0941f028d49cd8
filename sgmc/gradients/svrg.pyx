"""Control variates around a centre that is moved to the chain now and then."""
import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from sgmc.core.targets.centre cimport Centre
from sgmc.core.contract cimport (
    OK, Anchor, Batch, Gradient, Map, Model, Prior, Rng, Subsampler, all_rows, next_tile,
)


cdef class Svrg(Gradient):
    """Control values are the row gradients at a centre, which every `epoch` estimates becomes theta
    (Dubey et al. 2016, SVRG-LD):

    g = dlog prior + sum_i dlog p_i(centre) + sum_batch scale w_i (dlog p_i(theta) - dlog
    p_i(centre)).

    The first centre is the anchor's.  A new one costs the gradients of all N rows.

    Parameters
    ----------
    epoch : int, optional
        Estimates from one centre; default ceil(N / n), in which as many rows are drawn as a new
        centre computes.
    """

    name = "svrg"
    needs = ("anchor",)
    recomputes = 1
    staleness = 2.0  # theta and an old centre are about independent: twice the variance of one
    row_cost = 2.0            # of two rows computed one is drawn, the other is for the next centre
    cdef readonly int64_t epoch, left
    cdef double[::1] centre, total, table     # the table is empty where rows are not kept
    cdef Centre here

    def __init__(self, Model model, Prior prior, Subsampler rows, Rng rng, *, Map map=None,
                 Anchor anchor not None, epoch=None):
        Gradient.__init__(self, model, prior, rows, rng, map=map, anchor=anchor)
        if epoch is not None and epoch < 1:
            raise ValueError(f"epoch={epoch} must be at least 1")
        self.epoch = self.left = (rows.n + rows.m - 1) // rows.m if epoch is None else epoch
        self.centre = np.array(anchor.centre)
        self.total, self.table = np.array(anchor.full), np.array(anchor.scores)
        self.here = Centre(model, self.centre, self.table)

    cdef void fetch(self, const Batch *b) noexcept nogil:
        self.model.fetch(b)
        self.here.fetch(b)

    cdef int prepare(self, const double *theta) except -1 nogil:
        if self.left == 0:
            memcpy(&self.centre[0], theta, self.model.dim * sizeof(double))
            self.expand()
            self.touched += self.model.n
            self.left = self.epoch
        self.left -= 1
        return OK

    cdef int expand(self) except -1 nogil:
        """Scores of all rows at the centre, and their sum;
        of models without scores the sum alone.
        """
        cdef Batch everything = all_rows(self.model.n), tile
        cdef Py_ssize_t at = 0, w = self.model.width
        cdef double *r
        memset(&self.total[0], 0, self.model.dim * sizeof(double))
        while next_tile(&everything, self.model.tile, &at, &tile):
            if w == 0:
                self.model.add(&self.centre[0], &tile, &self.scratch, NULL, &self.total[0])
                continue
            r = &self.residual[0] if self.here.computed else &self.table[tile.start * w]
            self.model.scores(&self.centre[0], &tile, &self.scratch, r, NULL)
            self.model.add_scores(&tile, &self.scratch, r, &self.total[0])
        return OK

    cdef int known(self, const double *theta, double *g) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.model.dim):
            g[j] += self.total[j]
        return OK

    cdef int correct(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        return self.here.subtract(tile, r)

    cdef int correct_batch(self, const double *theta, const Batch *b, double *g) except -1 nogil:
        cdef Batch minus = b[0]
        minus.scale = -b.scale
        return self.model.add(&self.centre[0], &minus, &self.scratch, NULL, g)

    def state(self):
        """The centre, and how many estimates it still serves."""
        return {**Gradient.state(self), "centre": np.array(self.centre), "left": self.left}

    def set_state(self, state):
        """Continue from a `state()`: what belongs to the centre is computed again,
        in the same order.
        """
        Gradient.set_state(self, state)
        if not 0 <= state["left"] <= self.epoch:
            raise ValueError(f"{state['left']} steps of an epoch of {self.epoch}")
        np.asarray(self.centre)[:], self.left = state["centre"], state["left"]
        self.expand()
