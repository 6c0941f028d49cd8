"""Control variates that switch themselves off far from their centre."""
import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from sgmc.core.targets.centre cimport Centre
from sgmc.core.contract cimport (
    OK, Anchor, Batch, Gradient, Map, Model, Prior, Rng, Subsampler,
)

cdef enum:
    LOOK = 5                        # estimates from one look at the noise to the next
cdef double NEWEST = 0.3            # weight of the newest look in the running means


cdef class Switched(Gradient):
    """The estimate of `cv` where its noise is the smaller one, else that of `simple` (Fearnhead et
    al. 2018 and Nemeth & Fearnhead 2021, section 3.1: far from the centre control variates add
    noise).

    At every fifth estimate the batch's row terms are summed with control values and without, and
    running means of both variances, c_j and s_j for each parameter, are renewed.  Control values
    are in use while the mean over j of (c_j - s_j) / (c_j + s_j) is negative, which no scaling of
    the parameters changes.  What is in use was decided by earlier batches, so that each estimate is
    unbiased, whichever it is.

    Attributes
    ----------
    on : bool
        Whether control values are in use; at first they are.
    """

    name = "switched"
    needs = ("anchor",)
    recomputes = 1
    cdef readonly bint on
    cdef Centre centre
    cdef bint looking
    cdef readonly int64_t estimates, seen     # estimates so far; rows at the last look
    # a tile's scores, or a row's control value; sums of the row terms and of their squares, and
    # running means of their variances, with control values and without
    cdef double[::1] terms
    cdef double[:, ::1] total, square, variance

    def __init__(self, Model model, Prior prior, Subsampler rows, Rng rng, *, Map map=None,
                 Anchor anchor not None):
        Gradient.__init__(self, model, prior, rows, rng, map=map, anchor=anchor)
        self.on, self.centre = True, Centre(model, anchor.centre, anchor.scores)
        self.terms = np.zeros(max(model.tile * model.width, model.dim))
        self.total, self.square = np.zeros((2, model.dim)), np.zeros((2, model.dim))
        self.variance = np.zeros((2, model.dim))

    cdef void fetch(self, const Batch *b) noexcept nogil:
        self.model.fetch(b)
        if self.on:
            self.centre.fetch(b)

    cdef int prepare(self, const double *theta) except -1 nogil:
        """Judge the last look, and decide whether this estimate is one."""
        if self.looking:
            self.judge()
        self.looking = self.estimates % LOOK == 0
        self.estimates += 1
        if self.model.width == 0:
            self.by_row = self.looking
            self.each = 2 if self.on or self.looking else 1
        if self.looking:
            memset(&self.total[0, 0], 0, 2 * self.model.dim * sizeof(double))
            memset(&self.square[0, 0], 0, 2 * self.model.dim * sizeof(double))
            self.seen = 0
        return OK

    cdef void judge(self) noexcept nogil:
        """Renew the running means by what the last look summed, and switch."""
        cdef Py_ssize_t j, k
        cdef double balance = 0, newest, both
        for j in range(self.model.dim):
            for k in range(2):
                newest = self.square[k, j] - self.total[k, j] * self.total[k, j] / self.seen
                if self.estimates > LOOK:
                    newest = self.variance[k, j] + NEWEST * (newest - self.variance[k, j])
                self.variance[k, j] = newest
            both = self.variance[0, j] + self.variance[1, j]
            if both > 0:
                balance += (self.variance[0, j] - self.variance[1, j]) / both
        self.on = balance <= 0

    cdef int remember(self, const Batch *tile, const double *r) except -1 nogil:
        cdef Py_ssize_t j
        if not self.looking:
            return OK
        self.seen += tile.m
        if self.model.width == 0:
            memset(&self.terms[0], 0, self.model.dim * sizeof(double))
            self.model.add(&self.anchor.centre[0], tile, &self.scratch, NULL, &self.terms[0])
            for j in range(self.model.dim):
                self.terms[j] = r[j] - self.terms[j]
            self.count(0, &self.terms[0])
            self.count(1, r)
            return OK
        memcpy(&self.terms[0], r, tile.m * self.model.width * sizeof(double))
        self.sum_up(tile, 1)
        self.centre.subtract(tile, &self.terms[0])
        return self.sum_up(tile, 0)

    cdef void count(self, Py_ssize_t k, const double *z) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(self.model.dim):
            self.total[k, j] += z[j]
            self.square[k, j] += z[j] * z[j]

    cdef int sum_up(self, const Batch *tile, Py_ssize_t k) except -1 nogil:
        self.model.add_scores(tile, &self.scratch, &self.terms[0], &self.total[k, 0])
        return self.model.add_squares(tile, &self.scratch, &self.terms[0], &self.square[k, 0])

    cdef int known(self, const double *theta, double *g) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.model.dim if self.on else 0):
            g[j] += self.anchor.full[j]
        return OK

    cdef int correct(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        if self.on:
            self.centre.subtract(tile, r)
        return OK

    cdef int correct_batch(self, const double *theta, const Batch *b, double *g) except -1 nogil:
        cdef Batch minus = b[0]
        minus.scale = -b.scale
        return self.model.add(&self.anchor.centre[0], &minus, &self.scratch, NULL,
                              g) if self.on else OK

    def state(self):
        """The switch, the running means, and what the last look summed."""
        return {**Gradient.state(self), "on": self.on, "estimates": self.estimates,
                "looked": [self.looking, self.seen], "variance": np.array(self.variance),
                "sums": np.array([self.total, self.square])}

    def set_state(self, state):
        """Continue from a `state()`."""
        Gradient.set_state(self, state)
        self.on, self.estimates = state["on"], state["estimates"]
        self.looking, self.seen = state["looked"]
        np.asarray(self.variance)[...] = state["variance"]
        np.asarray(self.total)[...], np.asarray(self.square)[...] = state["sums"]
