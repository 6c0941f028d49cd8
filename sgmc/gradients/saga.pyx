"""Control values that follow the chain row by row."""
import numpy as np

from libc.string cimport memcpy

from sgmc.core.numerics cimport simd
from sgmc.core.contract cimport (
    OK, Anchor, Batch, Gradient, Map, Model, Prior, Rng, Subsampler, all_rows, fetch_rows,
    next_tile, row_of, subtract,
)
from sgmc.errors import NotSupported

# bytes of a chain's table: n x width scores, or n x dim gradients of models without scores
TABLE_LIMIT = 1 << 30


cdef class Saga(Gradient):
    """The control value of a row is its score t_i when it was last drawn (Dubey et al.
    2016, SAGA-LD):

    g = dlog prior + sum_i J_i' t_i + sum_batch scale w_i J_i' (r_i(theta) - t_i),  afterwards t_i =
    r_i(theta) for rows drawn.

    The table starts at the anchor and belongs to one chain.  It takes the batch over only before
    the next estimate, so that both visits of a row that is drawn twice are corrected by its old
    value, and the second changes nothing more.  Models without scores have a table of row gradients
    (J_i = I).  On a Gaussian target, whitened, the noise of one row is about 2 V1 + 1 for V1 with
    control values at the mode.

    Rows that are drawn in blocks have their last visits in common: at a distance of u n rows
    (u < 1) with probability (1 - u)/(1 + u).  The mean place of a block's visits then has the
    variance 2 int_0^1 (1 - u)^2/(1 + u) du = 8 log 2 - 5 posterior ones, for blocks of any length;
    it is noise of the gradient that only a smaller step, or subsample="uniform", makes harmless.

    Raises
    ------
    NotSupported
        Where the table exceeds TABLE_LIMIT.
    """

    name = "saga"
    needs = ("anchor",)
    block_noise = 8 * 0.6931471805599453 - 5
    # theta and the place of a row's last visit are about independent: twice the variance of one
    staleness = 2.0
    cdef Py_ssize_t size, waiting, first  # numbers a row; rows drawn last, and the first of them
    cdef bint listed                                          # those are `drawn`, not neighbours
    cdef double[::1] table, total, fresh
    cdef Py_ssize_t[::1] drawn

    def __init__(self, Model model, Prior prior, Subsampler rows, Rng rng, *, Map map=None,
                 Anchor anchor not None):
        Gradient.__init__(self, model, prior, rows, rng, map=map, anchor=anchor)
        self.by_row = True
        self.size = model.width if model.width else model.dim
        if 8 * model.n * self.size > TABLE_LIMIT:
            raise NotSupported(f"gradient='saga' keeps {self.size} numbers for each of {model.n} "
                               f"rows a chain, more than {TABLE_LIMIT / 2**30:.3g} GB; use "
                               "gradient='cv' or 'simple'", because="limit")
        self.table = self.row_scores() if model.width else self.row_gradients()
        self.total = np.array(anchor.full)
        self.fresh, self.drawn = np.empty(rows.m * self.size), np.empty(rows.m, dtype=np.intp)

    def replace_rows(self, Subsampler rows):
        # what the last batch brought is taken over first
        self.settle()
        Gradient.replace_rows(self, rows)
        self.fresh, self.drawn = np.empty(rows.m * self.size), np.empty(rows.m, dtype=np.intp)

    def row_scores(self):
        """Scores at the anchor's centre, row after row."""
        cdef double[::1] table
        cdef Batch everything = all_rows(self.model.n), tile
        cdef Py_ssize_t at = 0
        if self.anchor.scores.shape[0]:
            return np.array(self.anchor.scores)
        table = np.empty(self.model.n * self.size)
        while next_tile(&everything, self.model.tile, &at, &tile):
            self.model.scores(&self.anchor.centre[0], &tile, &self.scratch,
                              &table[tile.start * self.size], NULL)
        return table

    def row_gradients(self):
        """dlog p_i at the anchor's centre, row after row."""
        cdef double[::1] table = np.zeros(self.model.n * self.size)
        cdef Batch everything = all_rows(self.model.n), row
        cdef Py_ssize_t at = 0
        while next_tile(&everything, 1, &at, &row):
            self.model.add(&self.anchor.centre[0], &row, &self.scratch, NULL,
                           &table[row.start * self.size])
        return table

    cdef void fetch(self, const Batch *b) noexcept nogil:
        self.model.fetch(b)
        if self.table.shape[0]:
            fetch_rows(b, &self.table[0], self.size * sizeof(double))

    cdef int prepare(self, const double *theta) except -1 nogil:
        return self.settle()

    cdef int settle(self) except -1 nogil:
        """t_i = r_i for the rows drawn last; the total takes the differences,
        which for a second visit are zero.
        """
        cdef Py_ssize_t i, k, at = 0, size = self.size
        cdef double *new
        cdef Batch rows = all_rows(self.waiting), tile
        rows.start, rows.rows = self.first, &self.drawn[0] if self.listed else NULL
        while next_tile(&rows, self.model.tile, &at, &tile):
            new = &self.fresh[(at - tile.m) * size]
            if self.listed and consecutive(&tile):
                tile.start, tile.rows = tile.rows[0], NULL
            if tile.rows == NULL:                             # the fast form
                simd.exchange(tile.m * size, &self.table[tile.start * size], new)
            else:
                for i in range(tile.m):                       # in this order: a row may come twice
                    simd.exchange(size, &self.table[tile.rows[i] * size], new + i * size)
            if self.model.width:
                self.model.add_scores(&tile, &self.scratch, new, &self.total[0])
                continue
            for i in range(tile.m):
                for k in range(size):
                    self.total[k] += new[i * size + k]
        self.waiting = 0
        return OK

    cdef int known(self, const double *theta, double *g) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.model.dim):
            g[j] += self.total[j]
        return OK

    cdef int remember(self, const Batch *tile, const double *r) except -1 nogil:
        cdef Py_ssize_t i
        memcpy(&self.fresh[self.waiting * self.size], r, tile.m * self.size * sizeof(double))
        if self.waiting == 0:
            self.first, self.listed = tile.start, False
        if not self.listed and (tile.rows != NULL or tile.start != self.first + self.waiting):
            for i in range(self.waiting):
                self.drawn[i] = self.first + i
            self.listed = True
        if self.listed:
            for i in range(tile.m):
                self.drawn[self.waiting + i] = row_of(tile, i)
        self.waiting += tile.m
        return OK

    cdef int correct(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        subtract(tile, self.size, &self.table[0], r)
        return OK

    cdef int correct_batch(self, const double *theta, const Batch *b, double *g) except -1 nogil:
        cdef Py_ssize_t i, k
        cdef double c
        for i in range(b.m):
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            for k in range(self.size):
                g[k] -= c * self.table[row_of(b, i) * self.size + k]
        return OK

    def state(self):
        """The table and its total, the last batch taken over."""
        self.settle()
        return {**Gradient.state(self), "table": np.array(self.table),
                "total": np.array(self.total)}

    def set_state(self, state):
        """Continue from a `state()`."""
        Gradient.set_state(self, state)
        np.asarray(self.table)[:] = state["table"]
        np.asarray(self.total)[:], self.waiting = state["total"], 0


cdef bint consecutive(const Batch *b) noexcept nogil:
    """Whether a list of rows is start, start + 1, ..."""
    cdef Py_ssize_t i
    for i in range(b.m):
        if b.rows[i] != b.rows[0] + i:
            return False
    return True
